"""C that is built on the fly: the limits of the machine, and calls repeated without Python."""

from __future__ import annotations

import ctypes
import functools
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import pythnn
from pythnn._library import native
from pythnn._table import FUNCTIONS

# Compiler options for the instruction set that is measured.
_TARGETS = {"avx512": ["-march=native"], "avx2": ["-march=x86-64-v3"], "baseline": []}


def build(source: str, *options: str) -> ctypes.CDLL:
    """The shared library of a C source."""
    compiler = [*shlex.split(os.environ.get("CC", "cc")), "-O3", "-shared", "-fPIC", *options]
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "library.so")
        command = [*compiler, "-x", "c", "-", "-o", str(library)]
        try:
            subprocess.run(command, input=source, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"The benchmarks need a C compiler with OpenMP (set CC to name one): {error}")
        return ctypes.CDLL(str(library))


class Limits:
    """Upper bounds, measured once each."""

    def __init__(self, level: str) -> None:
        source = Path(__file__).with_name("native.c").read_text()
        self._library = build(source, "-fopenmp", "-ffp-contract=fast", *_TARGETS[level])
        for name in ("peak_float", "peak_double", "copy"):
            getattr(self._library, name).restype = ctypes.c_double
        for name in ("peak_float_operations", "peak_double_operations"):
            getattr(self._library, name).restype = ctypes.c_int64

    @functools.cache  # noqa: B019 - there is one object, for the life of the process
    def flops_per_second(self, dtype: str, threads: int) -> float:
        """Multiply-adds in registers."""
        real = {"float32": "float", "float64": "double"}[dtype]
        peak = getattr(self._library, f"peak_{real}")
        rounds = 200_000  # a few milliseconds: short enough to be left alone sometimes
        best = min(peak(ctypes.c_int(threads), ctypes.c_int64(rounds)) for _ in range(300))
        operations: int = getattr(self._library, f"peak_{real}_operations")()
        return threads * rounds * operations / float(best)

    def cores(self, threads: int) -> float:
        """How many threads' worth of multiply-adds `threads` threads do at this moment."""

        def fastest(count: int) -> float:
            arguments = ctypes.c_int(count), ctypes.c_int64(200_000)
            return min(float(self._library.peak_float(*arguments)) for _ in range(10))

        return threads * fastest(1) / fastest(threads)

    @functools.cache  # noqa: B019
    def bytes_per_second(self, size: int, threads: int) -> float:
        """memcpy, reading and writing `size` bytes in all."""
        half = max(64 * threads, size // 2 // 64 * 64)
        source, target = np.ones(half, np.int8), np.ones(half, np.int8)
        rounds = max(1, 10_000_000 // half)
        arguments = (
            ctypes.c_int(threads),
            ctypes.c_void_p(target.ctypes.data),
            ctypes.c_void_p(source.ctypes.data),
            ctypes.c_int64(half),
            ctypes.c_int64(rounds),
        )
        best = min(self._library.copy(*arguments) for _ in range(60))
        return 2 * half * rounds / float(best)


_C_TYPES = {"int": "int", "int64": "int64_t", "double": "double", "bool": "_Bool"}


class Batch:
    """Calls of the C library, with the binding's guard, repeated in a loop in C."""

    def __init__(self, calls: list[tuple[str, tuple[Any, ...]]], dtype: str) -> None:
        real = {"float32": "Float", "float64": "Double"}[dtype]
        self._keep = calls
        pointers, body = [], []
        for i, (function, arguments) in enumerate(calls):
            guarded = pythnn.ffi.addressof(native, f"call_THNN_{real}{function}")
            kinds = [kind for _, kind, _, _ in FUNCTIONS[function][0]]
            types = ", ".join(_C_TYPES.get(kind, "void *") for kind in kinds)
            values = ", ".join(map(_literal, kinds, arguments))
            pointers.append(f"  int (*call{i})({types}) = (void *){_address(guarded)};\n")
            body.append(f"    call{i}({values});\n")
        self._library = build(
            "#include <stdint.h>\n#include <time.h>\n"
            "double run(int64_t n)\n{\n"
            "  struct timespec start, end;\n"
            f"{''.join(pointers)}"
            "  clock_gettime(CLOCK_MONOTONIC, &start);\n"
            f"  for (int64_t i = 0; i < n; i++) {{\n{''.join(body)}  }}\n"
            "  clock_gettime(CLOCK_MONOTONIC, &end);\n"
            "  return end.tv_sec - start.tv_sec + 1e-9 * (end.tv_nsec - start.tv_nsec);\n}\n"
        )
        self._library.run.restype = ctypes.c_double

    def seconds(self, n: int) -> float:
        """For n calls."""
        return float(self._library.run(ctypes.c_int64(n)))


def _address(pointer: Any) -> str:
    return hex(int(pythnn.ffi.cast("intptr_t", pointer)))


def _literal(kind: str, value: Any) -> str:
    if value is None:
        return "(void *)0"
    if kind in _C_TYPES:
        return str(int(value)) if kind == "bool" else repr(value)
    return f"(void *){_address(value._c)}"


class PeerBatches:
    """PyTorch's C++ functions, repeated in loops in C++; built in one piece."""

    def __init__(self, calls: dict[str, tuple[str, list[str]]]) -> None:
        """`calls` has, by name, an expression and the names of the tensors in it."""
        from torch.utils.cpp_extension import load_inline

        functions = [_PEER_HEADER]
        for name, (expression, tensors) in calls.items():
            given = "".join(f"  auto {t} = tensors[{i}];\n" for i, t in enumerate(tensors))
            functions.append(_PEER_FUNCTION.format(name=name, given=given, expression=expression))
        self._module: Any = load_inline(  # type: ignore[no-untyped-call]
            "pythnn_benchmarks", ["\n".join(functions)], functions=list(calls), verbose=False
        )

    def seconds(self, name: str, n: int, tensors: list[Any]) -> float:
        """For n calls."""
        return float(getattr(self._module, name)(n, tensors))


_PEER_HEADER = "#include <torch/extension.h>\n#include <chrono>\n"
_PEER_FUNCTION = """
double {name}(int64_t n, std::vector<at::Tensor> tensors)
{{
  c10::InferenceMode guard;
{given}  auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < n; i++) {expression};
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}}
"""

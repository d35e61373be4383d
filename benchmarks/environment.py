"""The process that measures, and the machine it runs on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# glibc maps and page-faults every large result of PyTorch anew until its thresholds have grown;
# with these it keeps the memory, which is the faster PyTorch.
_MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "4294967296",
}

# Variables that may choose BLAS kernels for another processor.
_UNWANTED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")

# What a processor without the better instruction sets would run: our loops, our BLAS, PyTorch.
_LEVELS = {
    "avx512": {"THNN_SIMD": "avx512"},
    "avx2": {
        "THNN_SIMD": "avx2",
        "OPENBLAS_CORETYPE": "Haswell",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
    "baseline": {
        "THNN_SIMD": "baseline",
        "OPENBLAS_CORETYPE": "Nehalem",
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    },
}
LEVELS = tuple(_LEVELS)

_SETTLED = "PYTHNN_BENCHMARKS_SETTLED"


def settle(level: str | None) -> None:
    """Starts this process again, once, with the environment that both sides need."""
    if os.environ.get(_SETTLED):
        return
    environment = {k: v for k, v in os.environ.items() if k not in _UNWANTED}
    environment.update(_MALLOC, **{_SETTLED: "1"})
    if level is not None:
        environment.update(_LEVELS[level])
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def import_torch() -> Any:
    """PyTorch, or an explanation."""
    try:
        import torch
    except ImportError:
        sys.exit(
            "The benchmarks compare with PyTorch, which is not installed. Install the CPU build:\n"
            "    pip install torch --index-url https://download.pytorch.org/whl/cpu\n"
            "or measure pythnn alone: python -m benchmarks --no-peer"
        )
    return torch


def facts(torch: Any | None) -> dict[str, str]:
    """What a figure depends on."""
    from pythnn import ffi, get_num_threads, lib

    def text(pointer: Any) -> str:
        return str(ffi.string(pointer).decode())

    found = {
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "instruction set": text(lib.THNN_simdLevelName()),
        "BLAS": f"{text(lib.THBlasName())}, kernels for {text(lib.THBlasCoreName())}",
        "threads by default": str(get_num_threads()),
        "compiler": compiler(),
        "commit": commit(),
        "load before": f"{os.getloadavg()[0]:.1f}",
        "Python": platform.python_version(),
    }
    if torch is not None:
        found["PyTorch"] = f"{torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"
    return found


def _processor() -> str:
    fields: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    name: str = fields.get("model name", platform.machine())
    if "cpu family" in fields:
        name += f" (family {fields['cpu family']}, model {fields['model']})"
    return name


def compiler() -> str:
    """The compiler of the library that is measured, by the note it left there."""
    import pythnn

    for folder in (str(Path(p).resolve()) for p in pythnn.__path__):
        for file in sorted(Path(folder).glob("_cffi*.so")):
            found = re.search(rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+", file.read_bytes())
            if found:
                return found[0].decode()
    return "unknown"


def commit() -> str:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "thnn", "pythnn")
        return git("rev-parse", "--short", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"

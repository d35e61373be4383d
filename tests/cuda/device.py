"""A libTHCUNN driven by ctypes: guarded calls, and tensors in its device memory.

The library is the emulated one, or the real one on a machine with a GPU. What functions there are,
and their arguments, comes from THCUNN.h. Errors of the library do not return, so every call goes
through a C function, made from the header, that catches them.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import headers
import numpy as np
import pytest

INCLUDE = Path(__file__).parents[2] / "thnn"
COMPILER = os.environ.get("CC", "cc").split()
EMULATED = os.environ.get("THCUNN_EMULATED") == "1"
PREFIXES = {"float": "THNN_Cuda", "double": "THNN_CudaDouble"}
TYPES: dict[str, np.dtype[Any]] = {
    "Cuda": np.dtype(np.float32),
    "CudaDouble": np.dtype(np.float64),
    "CudaLong": np.dtype(np.int64),
    "CudaInt": np.dtype(np.int32),
}
HOST_FUNCTION = re.compile(
    r"THNN_(Float|Double)[A-Z]\w*_(update|acc|backward|legacy|zero|renorm)\w*"
    r"|TH(Float|Double|Long|Int)(Storage|Tensor)_(newWithSize|newWithStorage|new|free)"
)
SCALARS: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "_Bool": ctypes.c_bool,
    "int": ctypes.c_int,
    "int64_t": ctypes.c_int64,
    "long": ctypes.c_long,
    "ptrdiff_t": ctypes.c_ssize_t,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


NO_DEVICE = ("cudaErrorNoDevice", "cudaErrorInsufficientDriver", "cudaErrorStubLibrary")
"""What CUDA says where there is no GPU, or no driver for one."""


class DeviceError(Exception):
    """An error that the library raised."""


class Storage(ctypes.Structure):
    """The beginning of a THC storage."""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_ssize_t)]


class TensorStruct(ctypes.Structure):
    """The beginning of a THC tensor."""

    _fields_ = [
        ("size", ctypes.POINTER(ctypes.c_int64)),
        ("stride", ctypes.POINTER(ctypes.c_int64)),
        ("nDimension", ctypes.c_int),
        ("storage", ctypes.POINTER(Storage)),
        ("storageOffset", ctypes.c_ssize_t),
    ]


GUARD = """
#include <setjmp.h>
#include <stdio.h>
#include <cuda/THCUNN.h>
#include <THNNExtra.h>
static jmp_buf caught;
static char text[TH_MESSAGE_LENGTH];
static void onError(const char *message, void *data)
{
  (void)data;
  snprintf(text, sizeof text, "%s", message);
  longjmp(caught, 1);
}
static void onArgumentError(int argument, const char *message, void *data)
{
  (void)argument;
  onError(message, data);
}
__attribute__((visibility("default"))) const char *guard_message(void) { return text; }
__attribute__((visibility("default"))) void guard_install(void)
{
  THSetErrorHandler(onError, NULL);
  THSetArgErrorHandler(onArgumentError, NULL);
}
"""


def guard_source(functions: Sequence[headers.Function]) -> str:
    """C code with a function guard_X for each X, which returns 1 when X raised an error."""
    parts = [GUARD]
    for function in functions:
        parameters = [headers.spell(p.ctype, p.name) for p in function.parameters]
        call = f"{function.name}({', '.join(p.name for p in function.parameters)})"
        if function.result != "void":
            parameters.append(f"{headers.spell(function.result, '*result')}")
            call = f"*result = {call}"
        parts.append(
            f'__attribute__((visibility("default"))) int guard_{function.name}'
            f"({', '.join(parameters)})\n"
            f"{{\n  if (setjmp(caught))\n    return 1;\n  {call};\n  return 0;\n}}\n"
        )
    return "\n".join(parts)


def ctype_of(name: str) -> Any:
    return ctypes.c_void_p if name.endswith("*") else SCALARS[name]


class Library:
    """The functions of a libTHCUNN, and of the libTHNN that it stands on.

    ``state`` is a THCState on the first device.
    """

    def __init__(self, path: str) -> None:
        text = headers.preprocess(COMPILER, [INCLUDE], ["cuda/THCUNN.h", "THNNExtra.h"])
        parsed = headers.parse(text, INCLUDE)
        self.functions = {
            f.name: f
            for f in parsed.functions
            if "Cuda" in f.name or f.name.startswith("THCState") or HOST_FUNCTION.fullmatch(f.name)
        }
        self._guards = self._compile(path)
        self._waits = getattr(ctypes.CDLL(path), "cuemu_waits", None)
        if (self._waits is not None) != EMULATED:
            raise RuntimeError("THCUNN_EMULATED=1 is for the emulated library, and for no other")
        self._guards.guard_message.restype = ctypes.c_char_p
        self._guards.guard_install()
        self.state = self.call("THCState_new", 0)

    def _compile(self, path: str) -> ctypes.CDLL:
        with tempfile.TemporaryDirectory() as folder:
            source, guards = Path(folder) / "guards.c", Path(folder) / "guards.so"
            source.write_text(guard_source(list(self.functions.values())))
            flags = ["-shared", "-fPIC", "-O1", f"-I{INCLUDE}", f"-Wl,-rpath,{Path(path).parent}"]
            command = [*COMPILER, *flags, str(source), "-Wl,--no-as-needed", path]
            subprocess.run([*command, "-o", str(guards)], check=True)
            return ctypes.CDLL(str(guards))

    def call(self, name: str, *values: Any) -> Any:
        """Calls a function; pointers are addresses or None."""
        function = self.functions[name]
        arguments = [ctype_of(p.ctype)(v) for p, v in zip(function.parameters, values, strict=True)]
        result = None
        if function.result != "void":
            result = ctype_of(function.result)()
            arguments.append(ctypes.byref(result))
        if getattr(self._guards, f"guard_{name}")(*arguments):
            raise DeviceError(self._guards.guard_message().decode())
        return None if result is None else result.value

    def synchronize(self) -> None:
        self.call("THCState_synchronize", self.state)

    def call_without_waiting(self, name: str, *values: Any) -> Any:
        """A call that must not wait for the device, which the emulation counts."""
        before = self.waits()
        result = self.call(name, *values)
        assert self.waits() == before, f"{name} waits for the device"
        return result

    def waits(self) -> int:
        """How often the device was waited for; a GPU does not say."""
        return int(self._waits()) if self._waits is not None else 0

    def implements(self, function: str) -> bool:
        return PREFIXES["float"] + function in self.functions


@functools.cache
def library() -> Library:
    """The library that THCUNN_LIBRARY names.

    Skips the module that asks where none is named or CUDA finds no device; anything else that is
    wrong with the library is an error.
    """
    path = os.environ.get("THCUNN_LIBRARY")
    try:
        if path is None:
            raise DeviceError("THCUNN_LIBRARY does not name a libTHCUNN")
        return Library(path)
    except DeviceError as error:
        is_absent = path is None or any(name in str(error) for name in NO_DEVICE)
        if os.environ.get("PYTHNN_REQUIRE_GPU") == "1" or not is_absent:
            raise
        pytest.skip(f"no device: {error}", allow_module_level=True)


class DeviceTensor:
    """A tensor in device memory with a storage of its own."""

    def __init__(
        self, library: Library, kind: str, values: np.ndarray | None, strides: list[int] | None
    ) -> None:
        self.library = library
        self.kind = kind
        self.dtype = TYPES[kind]
        if values is None or values.size == 0:
            self.address = self._call("Tensor_new")
            return
        values = values.astype(self.dtype)
        if strides is None:
            dense = np.ascontiguousarray(values)
            strides = [s // dense.itemsize for s in dense.strides]
        extent = 1 + sum((n - 1) * s for n, s in zip(values.shape, strides, strict=True))
        memory = np.full(extent, np.nan if self.dtype.kind == "f" else 10**6, self.dtype)
        self._view(memory, values.shape, strides)[...] = values
        storage = self._call("Storage_newWithSize", extent)
        self._call("Storage_copyFromHost", storage, memory.ctypes.data)
        sizes = (ctypes.c_int64 * values.ndim)(*values.shape)
        steps = (ctypes.c_int64 * values.ndim)(*strides)
        self.address = self._call(
            "Tensor_newWithStorage",
            storage,
            0,
            values.ndim,
            ctypes.addressof(sizes),
            ctypes.addressof(steps),
        )
        self._call("Storage_free", storage)

    def _call(self, name: str, *values: Any) -> Any:
        return self.library.call(f"TH{self.kind}{name}", self.library.state, *values)

    @staticmethod
    def _view(memory: np.ndarray, shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
        steps = [s * memory.itemsize for s in strides]
        view: np.ndarray = np.lib.stride_tricks.as_strided(memory, tuple(shape), steps)
        return view

    @property
    def struct(self) -> TensorStruct:
        return TensorStruct.from_address(self.address)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.struct.size[: self.struct.nDimension])

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(self.struct.stride[: self.struct.nDimension])

    @property
    def data(self) -> int:
        """The storage's device address; 0 without memory."""
        struct = self.struct
        return (struct.storage.contents.data or 0) if struct.storage else 0

    def memory(self) -> np.ndarray:
        """A host copy of the whole storage."""
        struct = self.struct
        if not struct.storage:
            return np.empty(0, self.dtype)
        storage = struct.storage.contents
        memory = np.empty(storage.size, self.dtype)
        self._call("Storage_copyToHost", ctypes.addressof(storage), memory.ctypes.data)
        return memory

    def read(self) -> np.ndarray:
        """A host copy of the elements; an empty tensor has shape (0,)."""
        if not self.shape:
            return np.empty(0, self.dtype)
        memory = self.memory()[self.struct.storageOffset :]
        return self._view(memory, self.shape, self.strides).copy()

    def snapshot(self) -> tuple[Any, ...]:
        return self.shape, self.strides, self.data, self.memory().tobytes()

    def free(self) -> None:
        self._call("Tensor_free", self.address)


class HostTensor:
    """A dense tensor of libTH with these values."""

    def __init__(self, library: Library, kind: str, values: np.ndarray | None) -> None:
        self.library = library
        self.kind = kind
        self.dtype = TYPES["Cuda" + kind.removeprefix("Float")]
        if values is None or values.size == 0:
            self.address = library.call(f"TH{kind}Tensor_new")
            return
        values = np.ascontiguousarray(values, self.dtype)
        storage = library.call(f"TH{kind}Storage_newWithSize", values.size)
        ctypes.memmove(Storage.from_address(storage).data, values.ctypes.data, values.nbytes)
        sizes = library.call("THLongStorage_newWithSize", values.ndim)
        shape = np.array(values.shape, np.int64)
        ctypes.memmove(Storage.from_address(sizes).data, shape.ctypes.data, shape.nbytes)
        new = f"TH{kind}Tensor_newWithStorage"
        self.address = library.call(new, storage, 0, sizes, None)
        library.call("THLongStorage_free", sizes)
        library.call(f"TH{kind}Storage_free", storage)

    def read(self) -> np.ndarray:
        """A copy of the elements; an empty tensor has shape (0,)."""
        struct = TensorStruct.from_address(self.address)
        shape = tuple(struct.size[: struct.nDimension])
        values = np.empty(shape or (0,), self.dtype)
        if values.size:
            data = struct.storage.contents.data + struct.storageOffset * values.itemsize
            ctypes.memmove(values.ctypes.data, data, values.nbytes)
        return values

    def free(self) -> None:
        self.library.call(f"TH{self.kind}Tensor_free", self.address)


def tensor_kind(ctype: str) -> str | None:
    """``Cuda`` for ``THCudaTensor *``, ``Float`` for ``THFloatTensor *``, None for other types."""
    match = re.fullmatch(r"TH(\w+)Tensor \*", ctype)
    return match[1] if match else None

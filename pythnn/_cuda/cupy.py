"""CuPy's current stream, memory pool and arrays, where the program has imported CuPy."""

from __future__ import annotations

import sys
import threading
import weakref
from typing import Any

import numpy as np

from .._errors import THNNError
from .package import Package, load

__all__ = [
    "array_over",
    "current_device",
    "current_stream",
    "imported",
    "is_exported",
    "library",
    "offer_memory",
    "take_error",
]


def imported() -> Any:
    """The module cupy if it has been imported, else None."""
    module = sys.modules.get("cupy")
    return module if hasattr(module, "ndarray") else None


def library() -> Any:
    """The module cupy, imported now if it was not yet.

    Raises THNNError where it, or pythnn's part for CUDA, is not installed.
    """
    load()
    try:
        import cupy
    except ImportError as error:
        wanted = "pip install cupy-cuda12x or cupy-cuda13x, by the CUDA version of nvidia-smi"
        raise THNNError(f"Arrays on a GPU are made by CuPy: {wanted} ({error})") from error
    return cupy


def current_stream(device: int) -> int:
    """CuPy's current stream on a device, as a cudaStream_t."""
    return int(imported().cuda.get_current_stream(device).ptr)


def current_device() -> int:
    """CuPy's current device; 0 without CuPy, and without a GPU, which is noticed later."""
    module = imported()
    try:
        return int(module.cuda.Device().id) if module else 0
    except RuntimeError:
        return 0


# ---- Memory
#
# A block is known by its address while the C library has it. An array that is made over it holds
# the block too, so what the library gives back meanwhile stays where it is.

_blocks: dict[int, Any] = {}
_errors = threading.local()


def take_error() -> BaseException | None:
    """What CuPy raised when this thread last asked it for memory; asked once."""
    error: BaseException | None = _errors.__dict__.pop("last", None)
    return error


def _remember(_: type[BaseException], error: BaseException, __: Any) -> None:
    _errors.last = error


def offer_memory(package: Package) -> None:
    """Lets the C library take memory from CuPy."""

    def allocate(size: int, device: int, _: Any) -> Any:
        module = imported()
        with module.cuda.Device(device):
            block = module.cuda.alloc(size)
        _blocks[int(block.ptr)] = block
        return package.ffi.cast("void *", int(block.ptr))

    def release(block: Any, *_: Any) -> int:
        _blocks.pop(int(package.ffi.cast("uintptr_t", block)), None)
        return 0

    define = package.ffi.def_extern
    define("pythnn_allocateBlock", error=package.ffi.NULL, onerror=_remember)(allocate)
    define("pythnn_releaseBlock", error=0)(release)


# ---- Arrays


class _Export:
    """What arrays over one block hold."""

    def __init__(self, *held: Any) -> None:
        self.held = held


_exports: weakref.WeakValueDictionary[int, _Export] = weakref.WeakValueDictionary()


def is_exported(address: int) -> bool:
    """Whether an array made by :func:`array_over` still looks at the storage at this address."""
    return address in _exports


def array_over(
    address: int,
    offset: int,
    nbytes: int,
    device: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: np.dtype[Any],
    owner: Any,
) -> Any:
    """A CuPy array over part of a storage, which `owner` keeps; offset and strides in bytes."""
    cupy = library()
    export = _exports.get(address)
    if export is None:
        export = _exports.setdefault(address, _Export(owner, _blocks.get(address)))
    memory = cupy.cuda.UnownedMemory(address, nbytes, export, device)
    start = cupy.cuda.MemoryPointer(memory, offset)
    return cupy.ndarray(shape, dtype, start, strides)

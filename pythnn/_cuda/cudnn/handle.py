"""cuDNN on a device: a handle for each thread, on CuPy's current stream."""

from __future__ import annotations

import ctypes
import threading
import weakref
from typing import Any

from ..._errors import THNNError
from .. import cupy
from .library import CudnnError, Library, load, missing

__all__ = ["Handle", "address", "dense", "handle_of", "is_dense", "is_there"]


class Handle:
    """A handle on a device, which belongs to a thread."""

    def __init__(self, library: Library, device: int) -> None:
        self.library, self.device = library, device
        pointer = ctypes.c_void_p()
        library.call("cudnnCreate", ctypes.byref(pointer))
        self.pointer = pointer.value
        at_end = weakref.finalize(self, library.status, "cudnnDestroy", pointer.value)
        at_end.atexit = False  # CUDA may be gone by then
        self._stream: int | None = None
        self.known: dict[Any, Any] = {}
        """What cuDNN has answered about a geometry."""

    def run(self, function: str, *arguments: Any) -> None:
        """Queues a function on CuPy's current stream."""
        stream = cupy.current_stream(self.device)
        if stream != self._stream:
            self.library.call("cudnnSetStream", self.pointer, stream or None)
            self._stream = stream
        self.library.call(function, self.pointer, *arguments)


class _Thread(threading.local):
    def __init__(self) -> None:
        self.handles: dict[int, Handle] = {}


_thread = _Thread()
_refusals: dict[int, str] = {}
"""By device, why cuDNN makes no handle there: it is asked once."""


def handle_of(device: int) -> Handle:
    """The thread's handle on a device, which is the current one.

    Raises THNNError where there is no cuDNN, or where it does not work.
    """
    found = _thread.handles.get(device)
    if found is None:
        library = load()
        if device in _refusals:
            raise THNNError(_refusals[device])
        try:
            found = _thread.handles[device] = Handle(library, device)
        except CudnnError as error:
            _refusals[device] = f"cuDNN ({library.name}) does not work on cuda:{device}: {error}"
            raise THNNError(_refusals[device]) from None
    return found


def is_there(device: int) -> bool:
    """Whether :func:`handle_of` has a handle; no error is made where not."""
    if device in _thread.handles:
        return True
    if missing() or device in _refusals:
        return False
    try:
        handle_of(device)
    except THNNError:
        return False
    return True


# ---- Arrays


def is_dense(array: Any) -> bool:
    """Whether the elements of an array of CuPy follow each other in memory."""
    step = array.dtype.itemsize
    for size, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def dense(array: Any) -> Any:
    """An array, or a dense copy of it."""
    return array if is_dense(array) else cupy.library().ascontiguousarray(array)


def address(array: Any) -> Any:
    """Where the elements of an array are; None for no array."""
    return None if array is None else array.data.ptr

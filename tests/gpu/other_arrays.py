"""Arrays on a device that say little of themselves, as those of other libraries."""

from __future__ import annotations

import ctypes
from typing import Any


class OnlyInterface:
    """An array of which nothing but the interface is known."""

    def __init__(self, array: Any, **changes: Any) -> None:
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        # Of the struct around it, DLManagedTensor, whose owner here is the array of Python.
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class OnlyDlpack:
    """A float32 array of which nothing but DLPack is known."""

    def __init__(self, array: Any, strides: tuple[int, ...] | None = None) -> None:
        self.array, self.streams = array, []
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        steps = strides and (ctypes.c_int64 * array.ndim)(*strides)
        self.tensor = DLTensor(
            array.data.ptr, 2, array.device.id, array.ndim, 2, 32, 1, shape, steps, 0
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self.array.device.id)

    def __dlpack__(self, stream: int | None = None) -> Any:
        self.streams.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

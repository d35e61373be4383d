"""Arrays of other libraries on a device, by ``__cuda_array_interface__`` or DLPack."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .package import load

__all__ = ["DeviceArray", "look_at"]

_DLPACK_TYPES = {0: "i", 1: "u", 2: "f", 6: "b"}
_LEGACY_STREAM = 1


@dataclass(frozen=True)
class DeviceArray:
    """Memory on a device as an array: strides in bytes, the stream that it is ready on."""

    value: Any
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    device_index: int
    read_only: bool
    stream: int | None
    """None: it is ready on any."""
    keep: Any

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    def same_memory(self, other: DeviceArray) -> bool:
        """Whether both are the same view of the same memory."""
        return (self.address, self.shape, self.strides, self.dtype) == (
            other.address,
            other.shape,
            other.strides,
            other.dtype,
        )


def _device_of(value: Any, address: int) -> int:
    """The device of an array; 0 for one without memory."""
    number = getattr(getattr(value, "device", None), "id", None)  # CuPy's, without asking CUDA
    if isinstance(number, int):
        return number
    package = load()
    pointer = package.ffi.cast("void *", address)
    found = int(package.value("THCState_deviceOfMemory", pointer)) if address else 0
    return max(found, 0)


def look_at(value: Any) -> DeviceArray:
    """What an array on a device is made of.

    Raises ValueError for what no tensor can be: masked arrays, elements that are no numbers.
    """
    interface = getattr(value, "__cuda_array_interface__", None)
    return _by_dlpack(value) if interface is None else _by_interface(value, interface)


def _dense(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    steps = [itemsize] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        steps[i] = steps[i + 1] * shape[i + 1]
    return tuple(steps)


def _by_interface(value: Any, interface: dict[str, Any]) -> DeviceArray:
    if interface.get("mask") is not None:
        raise ValueError("a masked array")
    address, read_only = interface["data"]
    dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
    strides = interface.get("strides")
    return DeviceArray(
        value=value,
        address=int(address or 0),
        shape=shape,
        strides=_dense(shape, dtype.itemsize) if strides is None else tuple(strides),
        dtype=dtype,
        device_index=_device_of(value, int(address or 0)),
        read_only=bool(read_only),
        stream=interface.get("stream"),
        keep=value,
    )


def _by_dlpack(value: Any) -> DeviceArray:
    package = load()
    capsule = value.__dlpack__(stream=_LEGACY_STREAM)
    tensor = package.native.pythnn_readCapsule(package.ffi.cast("void *", id(capsule)))
    if not tensor:
        raise ValueError("a DLPack capsule of another version")
    letter = _DLPACK_TYPES.get(tensor.typeCode)
    if letter is None or tensor.typeLanes != 1 or tensor.typeBits % 8:
        raise ValueError("an array of a type that numpy does not have")
    dtype = np.dtype(f"{letter}{tensor.typeBits // 8}")
    count = tensor.nDimension
    shape = tuple(package.ffi.unpack(tensor.size, count)) if count else ()
    strides = _dense(shape, dtype.itemsize)
    if tensor.stride and count:
        strides = tuple(d * dtype.itemsize for d in package.ffi.unpack(tensor.stride, count))
    return DeviceArray(
        value=value,
        address=tensor.data + tensor.byteOffset,
        shape=shape,
        strides=strides,
        dtype=dtype,
        device_index=tensor.deviceId,
        read_only=False,
        stream=_LEGACY_STREAM,
        keep=capsule,
    )

"""Arrays of other libraries on a device, by ``__cuda_array_interface__`` or DLPack."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .package import load

__all__ = ["DeviceArray", "look_at"]

_DLPACK_TYPES = {0: "i", 1: "u", 2: "f", 6: "b"}
_LEGACY_STREAM = 1
_MAX_DIMENSIONS = 64  # numpy's
_LARGEST = 2**63  # beyond what sizes and strides can be


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

    It is asked once, and what it answers is checked. Raises ValueError for what no tensor can be:
    masked arrays, elements that are no numbers, answers that make no sense.
    """
    interface = getattr(value, "__cuda_array_interface__", None)
    try:
        found = _by_dlpack(value) if interface is None else _by_interface(value, interface)
    except (AttributeError, LookupError, OverflowError, TypeError) as error:
        raise ValueError(f"one that does not say what it is ({error})") from error
    _check(found)
    return found


def _check(array: DeviceArray) -> None:
    """Raises ValueError unless sizes, strides and address can be those of an array."""
    extents = [(n - 1) * abs(d) for n, d in zip(array.shape, array.strides, strict=True)]
    if (
        any(size < 0 for size in array.shape)
        or max(array.shape, default=0) >= _LARGEST
        or not 0 <= array.address < 2 * _LARGEST
        or (array.size > 0 and not array.address)
        or (array.size > 0 and sum(extents) + array.itemsize >= _LARGEST)
    ):
        raise ValueError(f"one of shape {array.shape} at {array.address:#x}, which cannot be")


def _dense(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    steps = [itemsize] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        steps[i] = steps[i + 1] * shape[i + 1]
    return tuple(steps)


def _ints(values: Iterable[Any]) -> tuple[int, ...]:
    return tuple(map(operator.index, values))


def _by_interface(value: Any, interface: dict[str, Any]) -> DeviceArray:
    if interface.get("mask") is not None:
        raise ValueError("a masked array")
    address, read_only = interface["data"]
    dtype, shape = np.dtype(interface["typestr"]), _ints(interface["shape"])
    strides, stream = interface.get("strides"), interface.get("stream")
    address = operator.index(address or 0)
    return DeviceArray(
        value=value,
        address=address,
        shape=shape,
        strides=_dense(shape, dtype.itemsize) if strides is None else _ints(strides),
        dtype=dtype,
        device_index=_device_of(value, address),
        read_only=bool(read_only),
        stream=None if stream is None else operator.index(stream),
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
    if not 0 <= count <= _MAX_DIMENSIONS:
        raise ValueError(f"an array of {count} dimensions")
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

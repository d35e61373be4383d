"""Which arrays share memory, so that they share a storage in the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._library import ffi
from .._plain import MASKED, UNMASKED, base_of, is_masked, is_ndarray, plain
from ._errors import T7Error
from ._format import TORCH_NAMES

__all__ = ["Region", "Span", "regions_of", "storable"]

Array = NDArray[Any]


def storable(array: Array) -> Array:
    """The array itself, or a copy where Torch has no tensor of its layout.

    Raises T7Error for element types that Torch does not have, and for arrays with a mask.
    """
    if is_masked(array):
        raise T7Error(f"{MASKED} cannot be saved; save {UNMASKED}")
    array = plain(array)
    if array.dtype == np.bool_:
        array = array.view("u1")
    dtype = array.dtype.newbyteorder("<")
    if dtype not in TORCH_NAMES:
        raise T7Error(
            f"an array of {array.dtype} cannot be saved: Torch has tensors of uint8, int8, int16, "
            "int32, int64, float16, float32 and float64"
        )
    item = dtype.itemsize
    if array.size == 0:
        return np.empty(0, dtype)
    if array.dtype != dtype or any(
        stride < 0 or stride % item
        for size, stride in zip(array.shape, array.strides, strict=True)
        if size > 1
    ):
        array = np.ascontiguousarray(array, dtype)
    return array if array.ndim else array.reshape(1)


@dataclass
class Span:
    """Where memory begins and ends, as addresses."""

    start: int
    stop: int
    owner: Any  # keeps it alive

    @classmethod
    def of_elements(cls, array: Array) -> Span:
        """What the elements of an array spread over."""
        start: int = array.__array_interface__["data"][0]
        reach = sum((n - 1) * d for n, d in zip(array.shape, array.strides, strict=True) if n > 1)
        return cls(start, start + reach + array.itemsize, array)

    @classmethod
    def of_memory(cls, array: Array) -> Span:
        """The memory that an array is a view of, as far as it holds the same elements."""
        root, base = array, base_of(array)
        while is_ndarray(base) and plain(base).dtype == array.dtype:
            root, base = plain(base), base_of(base)
        if isinstance(base, ffi.buffer):  # memory of the C library
            root = np.frombuffer(base, array.dtype)
        span, mine = cls.of_elements(root), cls.of_elements(array)
        if any(stride < 0 for stride in root.strides):
            return mine
        inside = span.start <= mine.start and mine.stop <= span.stop
        return span if inside and not (mine.start - span.start) % array.itemsize else mine


@dataclass
class Region:
    """Memory that becomes one storage."""

    dtype: np.dtype[Any]
    start: int
    stop: int
    owners: list[Any] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Number of elements."""
        return (self.stop - self.start) // self.dtype.itemsize

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "typestr": self.dtype.str,
            "shape": (self.size,),
            "data": (self.start, True),
        }

    def elements(self) -> Array:
        """The elements, without copying them."""
        return np.asarray(self)


def regions_of(arrays: list[Array]) -> list[Region]:
    """The region of each array; arrays whose memory overlaps have the same."""
    spans = [Span.of_memory(array) for array in arrays]
    found: list[Region] = [None] * len(arrays)  # type: ignore[list-item]
    latest: dict[tuple[np.dtype[Any], int], Region] = {}
    for i in sorted(range(len(arrays)), key=lambda i: spans[i].start):
        span, dtype = spans[i], arrays[i].dtype
        # Elements that begin within those of another array share no storage with them.
        key = (dtype, span.start % dtype.itemsize)
        region = latest.get(key)
        if region is None or span.start >= region.stop:
            region = latest[key] = Region(dtype, span.start, span.stop)
        region.stop = max(region.stop, span.stop)
        region.owners.append(span.owner)
        found[i] = region
    return found

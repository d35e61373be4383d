"""Storages: memory of the C library that tensors share, and arrays over it."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import THNNError
from .._library import ffi, holding, native, own
from .kinds import DTYPES, KINDS, Array, Kind

__all__ = ["Storage", "dense_strides", "export", "is_shared", "strided"]

_BYTES = ffi.typeof("char *")
BLOCKS = ffi.addressof(native, "THBlockAllocator")
"""The allocator of memory that arrays can hold in its place."""


class Storage:
    """The memory that tensors share: see :attr:`Tensor.storage`.

    There is at most one object per storage at a time, so pickle and deepcopy keep sharing.
    """

    __slots__ = ("__weakref__", "_c", "_kind")

    _c: Any
    _kind: int

    def __init__(self) -> None:
        raise TypeError("a Storage comes from Tensor.storage")

    @classmethod
    def _of(cls, pointer: Any, kind: Kind) -> Storage:
        address = int(ffi.cast("intptr_t", pointer))
        known = _known_storages.get(address)
        if known is not None:
            return known
        self = object.__new__(cls)
        self._c = kind.hold_storage(pointer)
        self._kind = kind.index
        return _known_storages.setdefault(address, self)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return DTYPES[self._kind]

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self._c.size)

    def numpy(self) -> Array:
        """All elements as a one-dimensional array that shares the memory."""
        return export(KINDS[self._kind], self._c, 0, (self.size,), (1,))

    def __deepcopy__(self, memo: dict[int, Any]) -> Storage:
        return _storage_from(self._kind, self.numpy())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_storage_from, (self._kind, self.numpy()))

    def __repr__(self) -> str:
        address = int(ffi.cast("intptr_t", self._c.data))
        return f"<Storage of {self.size} {self.dtype} elements at {address:#x}>"


_known_storages: weakref.WeakValueDictionary[int, Storage] = weakref.WeakValueDictionary()


def _storage_from(kind: int, elements: Array) -> Storage:
    storage = Storage._of(KINDS[kind].new_storage(elements.size), KINDS[kind])
    storage.numpy()[...] = elements
    return storage


def export(
    kind: Kind, storage: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> Array:
    """An array over part of a storage; it keeps the memory alive, and in its place."""
    data = storage.data if storage else None
    if not data or 0 in shape:
        return np.empty((0,), kind.dtype)
    if storage.allocator == BLOCKS:
        owner = own(_BYTES, native.pythnn_ownBlock, data)
    elif not ord(storage.flag) & native.TH_STORAGE_RESIZABLE:
        owner = ffi.gc(ffi.cast(_BYTES, data), holding(kind.hold_storage(storage)))
    else:
        raise THNNError("the tensor's memory may move: it was not allocated by pythnn")
    item = kind.itemsize
    memory = ffi.buffer(owner, storage.size * item)
    steps = [stride * item for stride in strides]
    array: Array = np.ndarray(shape, kind.dtype, memory, offset * item, steps)
    return array


_references = native.value_THBlock_count  # which never fails


def is_shared(storage: Any) -> bool:
    """Whether the memory of a C storage is an array's, or arrays look at it."""
    if not storage or not storage.data:
        return False
    return bool(storage.allocator != BLOCKS or _references(storage.data) > 1)


def strided(
    kind: Kind, storage: Any, offset: int, shape: Sequence[int], strides: Sequence[int]
) -> Any:
    """A C tensor over a storage, which grows when it is too small."""
    tensor = kind.new(())
    sizes, steps = list(shape) or ffi.NULL, list(strides) or ffi.NULL
    kind.call("setStorageNd", tensor, storage, offset, len(shape), sizes, steps)
    return tensor


def dense_strides(shape: Sequence[int]) -> list[int]:
    """The strides of a contiguous tensor, in elements."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return strides[::-1]

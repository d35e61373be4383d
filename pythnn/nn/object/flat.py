"""One storage for all parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._tensor import Array, Storage, Tensor

__all__ = ["flatten", "runs"]


def _used(storage: Storage, tensors: list[Tensor]) -> Array:
    """Which elements of a storage tensors use, as bools."""
    mask = np.zeros(storage.size, bool)
    for tensor in tensors:
        # A dimension that repeats elements may be of any size, and adds none.
        sizes = [n if d else 1 for n, d in zip(tensor.shape, tensor.strides, strict=True)]
        np.ndarray(sizes, bool, mask.data, tensor.storage_offset, tensor.strides)[...] = True
    return mask


def _by_storage(tensors: list[Tensor]) -> dict[Storage, list[Tensor]]:
    """The storages in the order in which tensors first mention them; each tensor once."""
    inside: dict[Storage, list[Tensor]] = {}
    for tensor in {id(tensor): tensor for tensor in tensors}.values():
        storage = tensor.storage
        if storage is not None and tensor.size:
            inside.setdefault(storage, []).append(tensor)
    return inside


def runs(tensors: list[Tensor]) -> list[Any]:
    """One-dimensional arrays over the memory of tensors, with each of its elements in one of them.

    After ``getParameters`` there is one run, with the elements in the order of the flat array.
    """
    return [
        members[0].as_strided((stop - start,), (1,), start).array()
        for storage, members in _by_storage(tensors).items()
        for start, stop in _spans(storage, members)
    ]


def _spans(storage: Storage, tensors: list[Tensor]) -> list[tuple[int, int]]:
    """First elements of a storage that tensors use, and those where they end."""
    if not all(tensor.is_contiguous for tensor in tensors):
        edges = np.flatnonzero(np.diff(_used(storage, tensors), prepend=False, append=False))
        return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]
    spans: list[tuple[int, int]] = []
    for start, size in sorted((tensor.storage_offset, tensor.size) for tensor in tensors):
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], start + size)
        else:
            spans.append((start, start + size))
    return spans


def flatten(tensors: list[Tensor], dtype: np.dtype[Any], device: str) -> Any:
    """Moves tensors into one new storage and returns that; of this type and place without any.

    Storages follow each other as the tensors first mention them, without the elements that no
    tensor uses; tensors that overlapped before overlap after.
    """
    inside = _by_storage(tensors)
    masks = {storage: _used(storage, members) for storage, members in inside.items()}
    counts = {storage: int(mask.sum()) for storage, mask in masks.items()}
    elements = np.empty(sum(counts.values()), tensors[0].dtype if tensors else dtype)
    start = 0
    for storage, mask in masks.items():
        elements[start : start + counts[storage]] = storage.numpy()[mask]
        start += counts[storage]
    flat = Tensor(elements, device=tensors[0].device if tensors else device)
    start = 0
    for storage, members in inside.items():
        places = np.cumsum(masks[storage]) + (start - 1)
        start += counts[storage]
        for tensor in members:
            first = int(places[tensor.storage_offset])
            steps = [
                int(places[tensor.storage_offset + stride]) - first if size > 1 else 1
                for size, stride in zip(tensor.shape, tensor.strides, strict=True)
            ]
            tensor.set(flat.as_strided(tensor.shape, steps, first))
    return flat.array()

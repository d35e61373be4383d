"""One storage for all parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._tensor import Array, Storage, Tensor

__all__ = ["flatten"]


def _used(storage: Storage, tensors: list[Tensor]) -> Array:
    """Which elements of a storage tensors use, as bools."""
    mask = np.zeros(storage.size, bool)
    for tensor in tensors:
        # A dimension that repeats elements may be of any size, and adds none.
        sizes = [n if d else 1 for n, d in zip(tensor.shape, tensor.strides, strict=True)]
        np.ndarray(sizes, bool, mask.data, tensor.storage_offset, tensor.strides)[...] = True
    return mask


def flatten(tensors: list[Tensor], dtype: np.dtype[Any], device: str) -> Any:
    """Moves tensors into one new storage and returns that; of this type and place without any.

    Storages follow each other as the tensors first mention them, without the elements that no
    tensor uses; tensors that overlapped before overlap after.
    """
    inside: dict[Storage, list[Tensor]] = {}
    for tensor in {id(tensor): tensor for tensor in tensors}.values():  # each is moved once
        storage = tensor.storage
        if storage is not None and tensor.size:
            inside.setdefault(storage, []).append(tensor)
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

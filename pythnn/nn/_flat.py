"""One storage for all parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._tensor import Array, Storage, Tensor

__all__ = ["flatten"]


def _elements(tensor: Tensor) -> Array:
    """Where in its storage the elements of a tensor lie."""
    places = np.asarray(tensor.storage_offset)
    for size, stride in zip(tensor.shape, tensor.strides, strict=True):
        places = places[..., None] + np.arange(size) * stride
    return places.ravel()


def flatten(tensors: list[Tensor], dtype: np.dtype[Any], device: str) -> Any:
    """Moves tensors into one new storage and returns that; of this type and place without any.

    Storages follow each other as the tensors first mention them, without the elements that no
    tensor uses; tensors that overlapped before overlap after.
    """
    used: dict[Storage, Array] = {}
    for tensor in tensors:
        storage = tensor.storage
        if storage is not None and tensor.size:
            mask = used.setdefault(storage, np.zeros(storage.size, bool))
            mask[_elements(tensor)] = True
    starts, total = {}, 0
    for storage, mask in used.items():
        starts[storage] = total
        total += int(mask.sum())
    elements = np.empty(total, tensors[0].dtype if tensors else dtype)
    for storage, mask in used.items():
        part = slice(starts[storage], starts[storage] + int(mask.sum()))
        elements[part] = storage.numpy()[mask]
    flat = Tensor(elements, device=tensors[0].device if tensors else device)
    for tensor in tensors:
        storage = tensor.storage
        if storage is None or not tensor.size:
            continue
        places = np.cumsum(used[storage]) - 1 + starts[storage]
        first = int(places[tensor.storage_offset])
        steps = [
            int(places[tensor.storage_offset + stride]) - first if size > 1 else 1
            for size, stride in zip(tensor.shape, tensor.strides, strict=True)
        ]
        tensor.set(flat.as_strided(tensor.shape, steps, first))
    return flat.array()

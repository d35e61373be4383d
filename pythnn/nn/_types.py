"""Element types under Lua's names, and conversion that keeps sharing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import THNNArgumentError
from .._tensor import Storage, Tensor
from ._fields import Fields

__all__ = ["TYPES", "TYPE_NAMES", "TypeCache", "Typed", "dtype_of_type", "type_of_tensors"]

TYPES: dict[Any, np.dtype[Any]] = {
    "torch.FloatTensor": np.dtype(np.float32),
    "torch.DoubleTensor": np.dtype(np.float64),
}
TYPE_NAMES: dict[Any, str] = {dtype: name for name, dtype in TYPES.items()}


def dtype_of_type(type: Any) -> np.dtype[Any]:
    """The dtype for a Torch type name or anything that numpy takes for a dtype.

    Raises THNNArgumentError unless that is float32 or float64.
    """
    dtype = TYPES.get(type)
    if dtype is None:
        try:
            dtype = np.dtype(type)
        except TypeError:
            dtype = np.dtype(object)
    if dtype not in TYPE_NAMES:
        raise THNNArgumentError.expected(
            "type", 1, "type", "torch.FloatTensor or torch.DoubleTensor", repr(type)
        )
    return dtype


def type_of_tensors(fields: Fields) -> str:
    """The name of the type that the first tensor of real type has; Double without one."""
    pending = list(fields.__dict__.values())
    while pending:
        value = pending.pop(0)
        if isinstance(value, list):
            pending += value
        elif isinstance(value, Tensor) and value.dtype in TYPE_NAMES:
            return TYPE_NAMES[value.dtype]
    return "torch.DoubleTensor"


class Typed:
    """Something that can be converted."""

    def type(self, type: Any = None, tensorCache: TypeCache | None = None) -> Any:
        """Converts all tensors of real type; returns the object."""
        raise NotImplementedError


class TypeCache:
    """What has been converted to a type, so that shared memory stays shared."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.objects: set[Typed] = set()
        self.storages: dict[Storage, Tensor] = {}

    def convert(self, value: Any) -> Any:
        """A value with its float32 and float64 tensors converted."""
        if isinstance(value, Typed):
            return value.type(TYPE_NAMES[self.dtype], self)
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, list):
            value[:] = [self.convert(entry) for entry in value]
        if isinstance(value, dict):
            value.update({key: self.convert(entry) for key, entry in value.items()})
        return value

    def _tensor(self, tensor: Tensor) -> Tensor:
        if tensor.dtype == self.dtype or tensor.dtype not in TYPE_NAMES:
            return tensor
        storage = tensor.storage
        if storage is None or not tensor.size:
            return Tensor(dtype=self.dtype)
        if storage not in self.storages:
            with np.errstate(over="ignore"):  # what is too large becomes infinity, as in Lua
                self.storages[storage] = Tensor(storage.numpy(), dtype=self.dtype)
        flat = self.storages[storage]
        return flat.as_strided(tensor.shape, tensor.strides, tensor.storage_offset)

"""Element types under Lua's names, and conversion that keeps sharing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Storage, Tensor, kind_of_dtype
from .walks import MAX_DEPTH

__all__ = [
    "TYPES",
    "TypeCache",
    "Typed",
    "contents_of",
    "device_of_type",
    "dtype_of_type",
    "has_own_type",
    "type_of_tensors",
]

TYPES: dict[Any, np.dtype[Any]] = {
    "torch.FloatTensor": np.dtype(np.float32),
    "torch.DoubleTensor": np.dtype(np.float64),
    "torch.CudaTensor": np.dtype(np.float32),
    "torch.CudaDoubleTensor": np.dtype(np.float64),
}
TYPE_NAMES: dict[Any, str] = {
    dtype: name for name, dtype in TYPES.items() if not name.startswith("torch.Cuda")
}


def name_of_type(type: Any) -> str:
    """The Torch name for itself or for anything that numpy takes for a dtype.

    Raises THNNArgumentError unless that is float32 or float64.
    """
    if isinstance(type, str) and type in TYPES:
        return type
    try:
        name = TYPE_NAMES.get(np.dtype(type))
    except TypeError:
        name = None
    if name is None:
        raise THNNArgumentError.expected(
            "type", 1, "type", f"one of {', '.join(TYPES)}", repr(type)
        )
    return name


def dtype_of_type(type: Any) -> np.dtype[Any]:
    """The dtype for what :func:`name_of_type` takes."""
    return TYPES[name_of_type(type)]


def device_of_type(name: str) -> str:
    """Where tensors of a type are: "cpu", or CuPy's current device."""
    if not name.startswith("torch.Cuda"):
        return "cpu"
    from ..._cuda.cupy import current_device

    return f"cuda:{current_device()}"


def type_of_tensors(values: Iterable[Any]) -> str:
    """The name of the type that the first tensor of real type has; Double without one.

    Those among the values come first, then those of tables and objects among them.
    """
    pending, seen = list(values), set()
    while pending:
        value = pending.pop(0)
        if isinstance(value, Tensor) and value.dtype in TYPE_NAMES:
            return _type_of_tensor(value)
        if not isinstance(value, (list, Typed)) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, list):
            pending += value
        elif has_own_type(value):
            return str(value._type)
        else:
            pending += contents_of(value)
    return "torch.DoubleTensor"


def has_own_type(owner: Typed) -> bool:
    """Whether an object keeps its type, as modules do; that of criterions follows from others."""
    return not isinstance(type(owner)._type, property)


def contents_of(owner: Typed) -> list[Any]:
    """The values of an object's fields, its own tensors first."""
    return [*owner.__dict__["tensors"].__dict__.values(), *owner.__dict__.values()]


def _type_of_tensor(tensor: Tensor) -> str:
    on_device = tensor.is_cuda
    found: str = next(
        name
        for name, dtype in TYPES.items()
        if dtype == tensor.dtype and name.startswith("torch.Cuda") == on_device
    )
    return found


class Typed:
    """Something that can be converted."""

    _type: Any = "torch.DoubleTensor"
    type: Callable[..., Any]
    """Converts all tensors; returns the object."""


class TypeCache:
    """What has been converted to a type, so that shared memory stays shared.

    Tensors get the type's dtype, those of whole numbers too, and move to where it is.
    """

    def __init__(self, type: Any) -> None:
        self.name = name_of_type(type)
        self.dtype = TYPES[self.name]
        self.device = device_of_type(self.name)
        self.objects: set[Typed] = set()
        self.depth = 0  # objects in objects, of which this is being converted
        self.later: list[Typed] = []  # what is deeper than recursion goes
        self.storages: dict[tuple[Storage, bool], Tensor] = {}
        self.tensors: dict[tuple[int, bool], tuple[Tensor, Tensor]] = {}
        """By its id, a tensor and what it became: what was one tensor stays one."""

    def convert_rest(self) -> None:
        """Converts what was put off, at the end of a conversion."""
        while self.later:
            self.convert(self.later.pop())

    def convert(self, value: Any, keep: bool = False) -> Any:
        """A value with its tensors converted; with `keep`, those of tables too, they only move."""
        if isinstance(value, Typed):
            if self.depth >= MAX_DEPTH:
                self.later.append(value)
                return value
            self.depth += 1
            result = value.type(self.name, self)
            self.depth -= 1
            return result
        if isinstance(value, Tensor):
            made = value, self._tensor(value, keep)
            return self.tensors.setdefault((id(value), keep), made)[1]
        if isinstance(value, list):
            value[:] = [self.convert(entry, keep) for entry in value]
        if isinstance(value, dict):
            value.update({key: self.convert(entry, keep) for key, entry in value.items()})
        return value

    def empty(self, dtype: Any) -> Any:
        """A tensor without elements of another type; an array where there are no Tensors of it."""
        if kind_of_dtype(np.dtype(dtype)) is None:
            return np.empty(0, dtype)
        return Tensor(dtype=dtype, device=self.device)

    def _tensor(self, tensor: Tensor, keep: bool) -> Tensor:
        dtype = tensor.dtype if keep else self.dtype
        if tensor.dtype == dtype and tensor.device == self.device:
            return tensor
        storage = tensor.storage
        if storage is None or not tensor.size:
            return Tensor(dtype=dtype, device=self.device)
        if (storage, keep) not in self.storages:
            # What is too large becomes infinity, as in Lua; buffers may hold anything.
            with np.errstate(over="ignore", invalid="ignore"):
                elements = storage.numpy().astype(dtype)
            self.storages[storage, keep] = Tensor(elements, device=self.device)
        flat = self.storages[storage, keep]
        return flat.as_strided(tensor.shape, tensor.strides, tensor.storage_offset)

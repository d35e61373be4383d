"""Values that modules exchange: tensors, tables of tensors as lists, and numbers.

Users meet tensors as arrays, modules meet them as Tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._plain import is_masked, is_ndarray, plain
from ..._tensor import Tensor, is_on_device, kind_of_dtype
from ..._tensor import array_module as module_of_array

__all__ = [
    "DoubleStorage",
    "LongStorage",
    "array_module",
    "as_real",
    "cast",
    "describe",
    "holds",
    "holds_tensors",
    "is_array",
    "is_view",
    "list_of_storage",
    "sizes_of",
    "to_arrays",
    "to_tensors",
    "whole",
    "works_in_place",
]


class LongStorage(list[int]):
    """Sizes, where Lua has a LongStorage and not a table."""


def sizes_of(arguments: Sequence[Any]) -> LongStorage:
    """Sizes that were given one by one or as one list."""
    if len(arguments) == 1 and not isinstance(arguments[0], (int, float)):
        arguments = arguments[0]
    return LongStorage(int(size) for size in arguments)


class DoubleStorage(list[float]):
    """Numbers, where Lua has a DoubleStorage and not a table."""


def list_of_storage(array: np.ndarray[Any, Any]) -> list[Any] | None:
    """The elements of a storage as a list; None for types that have no such list."""
    if array.dtype == np.int64:
        return LongStorage(array.tolist())
    return DoubleStorage(array.tolist()) if array.dtype == np.float64 else None


def as_real(value: Any) -> Tensor:
    """A copy of numbers as a Tensor of real type, float64 unless they are float32."""
    array = value if is_masked(value) else np.asarray(value)  # which Tensor refuses
    return Tensor(array, dtype=array.dtype if array.dtype == np.float32 else np.float64)


def to_tensors(value: Any) -> Any:
    """Arrays as Tensors over the same memory, in tables too.

    Read-only arrays and those that no tensor can describe (negative strides, …) are copied; arrays
    of element types that Tensors do not have stay arrays.
    """
    if isinstance(value, Tensor):
        return value
    if is_ndarray(value):
        array = plain(value)
        if kind_of_dtype(array.dtype) is None:
            return array
        if is_masked(value):
            return Tensor(value)  # raises
        try:
            return Tensor.from_numpy(array)
        except THNNArgumentError:
            return Tensor(array)
    if isinstance(value, (list, tuple)):
        return [to_tensors(entry) for entry in value]
    if isinstance(value, dict):
        return {key: to_tensors(entry) for key, entry in value.items()}
    return _on_device(value) if is_on_device(value) else value


def _on_device(value: Any) -> Any:
    """An array on a device as a Tensor; itself if it has an element type that Tensors do not."""
    if kind_of_dtype(value.dtype) is None:
        return value
    try:
        return Tensor.from_array(value)
    except THNNArgumentError:
        return Tensor.from_array(value.copy())


def is_array(value: Any) -> bool:
    """Whether a value is an array, of numpy or on a device."""
    return is_ndarray(value) or (not isinstance(value, (Tensor, str)) and is_on_device(value))


def to_arrays(value: Any) -> Any:
    """Tensors as arrays over the same memory, in tables too."""
    if isinstance(value, Tensor):
        return value.array()
    if isinstance(value, (list, tuple)):
        return [to_arrays(entry) for entry in value]
    if isinstance(value, dict):
        return {key: to_arrays(entry) for key, entry in value.items()}
    if is_masked(value):
        return Tensor(value)  # raises
    return plain(value) if is_ndarray(value) else value


def is_view(tensor: Tensor, array: Any) -> bool:
    """Whether an array is the same view of the same memory as a tensor."""
    array = plain(array) if is_ndarray(array) else array
    strides = tuple(stride * array.itemsize for stride in tensor.strides)
    interface = "__cuda_array_interface__" if tensor.is_cuda else "__array_interface__"
    return bool(
        tensor.dtype == array.dtype
        and tensor.shape == array.shape
        and tensor.address == getattr(array, interface, {"data": (None,)})["data"][0]
        and strides == array.strides
    )


def whole(array: Any) -> Any:
    """Numbers as indices; what is none, such as NaN, becomes one that is too small or large."""
    with np.errstate(invalid="ignore"):
        return array.astype(np.int64)


def cast(value: Any, dtype: np.dtype[Any]) -> Any:
    """A value whose tensors have this dtype, those of whole numbers too."""
    if isinstance(value, list):
        return [cast(entry, dtype) for entry in value]
    if isinstance(value, np.ndarray):  # of a type that Tensors do not have
        return Tensor(value, dtype=dtype)
    return value.astype(dtype) if isinstance(value, Tensor) and value.dtype != dtype else value


def describe(value: Any) -> str:
    """A value in words: an array's shape, a table's size, else the type."""
    if isinstance(value, (Tensor, np.ndarray)):
        return f"a {value.dtype} tensor of {value.shape}"
    if isinstance(value, (list, tuple, dict)):
        return f"a table of {len(value)}"
    return (
        repr(value) if isinstance(value, (bool, int, float, type(None))) else type(value).__name__
    )


def holds(value: Any, kinds: Any) -> bool:
    """Whether a value is, or a table holds, something of these types."""
    if isinstance(value, kinds):
        return True
    if isinstance(value, (list, tuple)):
        return any(holds(entry, kinds) for entry in value)
    return isinstance(value, dict) and any(holds(entry, kinds) for entry in value.values())


def holds_tensors(value: Any) -> bool:
    """Whether a value is, or a table holds, a Tensor or an array."""
    if isinstance(value, (list, tuple)):
        return any(map(holds_tensors, value))
    if isinstance(value, dict):
        return any(map(holds_tensors, value.values()))
    return isinstance(value, Tensor) or is_array(value)


def array_module(value: Any) -> Any:
    """The array library (`xp`) of an array, or of the first one in a table."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return module_of_array(value)


def works_in_place(module: Any, value: Any) -> bool:
    """Whether a layer changes a value where it lies: if it is to, and no element is in two places.

    What :class:`Replicate` gives has such elements, which would be changed several times.
    """
    if not module.inplace:
        return False
    sizes = zip(value.shape, value.strides, strict=True)
    return all(stride or size == 1 for size, stride in sizes)

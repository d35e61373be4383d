"""What the bodies of functions are made of: results, sizes, axes, and what does not fit."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._calls.recorded import Recorded
from .._tensor import Tensor, array_module

__all__ = [
    "Array",
    "Indices",
    "Real",
    "Size",
    "Unfit",
    "Written",
    "axis_of",
    "check_shape",
    "dense",
    "from_one",
    "integer",
    "is_list",
    "like",
    "new",
    "new_indices",
    "number",
    "on_host",
    "pair",
    "shaped",
    "single",
    "sizes_of",
    "triple",
    "whole",
    "zeros",
]

Array: TypeAlias = NDArray[Any]
"""What functions return: numpy's arrays, or CuPy's for arguments on a CUDA device."""
Real: TypeAlias = Any
"""What functions take: an array, or what numpy makes one of; float32 or float64."""
Indices: TypeAlias = Any
"""Ints in an array or a list, counted from 0."""
Written: TypeAlias = NDArray[Any]
"""An array that is written in place."""
Size: TypeAlias = int | Sequence[int]
"""One int for all dimensions, or one for each."""

_INT64 = np.dtype(np.int64)


class Unfit(Exception):  # noqa: N818 - users meet the THNNArgumentError that it becomes
    """An argument does not fit: its name, what was wanted, what was found."""

    def __init__(self, argument: str, wanted: str, found: str) -> None:
        super().__init__(argument, wanted, found)
        self.argument, self.wanted, self.found = argument, wanted, found


def on_host(array: Any) -> bool:
    """Whether an array is numpy's, or stands for one while a call is recorded."""
    return type(array) is np.ndarray or type(array) is Recorded


# ---- Results. On a device the C functions give them their shape, and CuPy the memory.


def new(shape: Sequence[int], beside: Any) -> Array:
    """Room for a result of this shape, with the type and in the place of an array."""
    made: Array = _room(shape, beside, beside.dtype)
    return made


def like(array: Any) -> Array:
    """Room for a result of the shape of an array."""
    made: Array = _room(array.shape, array, array.dtype)
    return made


def new_indices(shape: Sequence[int], beside: Any) -> Array:
    """Room for indices."""
    made: Array = _room(shape, beside, _INT64)
    return made


def _room(shape: Sequence[int], beside: Any, dtype: np.dtype[Any]) -> Any:
    if type(beside) is np.ndarray:
        try:
            return np.empty(shape, dtype)
        except ValueError:  # a negative size, or too many elements: the C functions say why
            return Tensor(dtype=dtype)
    if type(beside) is Recorded:
        return beside.recording.room(shape, dtype)
    return Tensor(dtype=dtype, device=f"cuda:{beside.device.id}")


def shaped(found: Any, shape: Sequence[int]) -> Array:
    """A result in another shape of as many elements."""
    array: Array = (found.array() if isinstance(found, Tensor) else found).reshape(shape)
    return array


def zeros(shape: int | Sequence[int], beside: Any) -> Any:
    """Zeros, to be added to, with the type and in the place of an array."""
    if type(beside) is np.ndarray:
        return np.zeros(shape, beside.dtype)
    if type(beside) is Recorded:
        return beside.recording.room(shape, beside.dtype, zeros=True)
    return array_module(beside).zeros(shape, beside.dtype)


def from_one(indices: Any) -> Array:
    """Indices that a C function wrote, from 1, as ones that count from 0."""
    array: Array = indices.array() if isinstance(indices, Tensor) else indices
    array -= 1
    return array


def dense(array: Any) -> Array:
    """The array itself if its elements are one after the other, else a copy."""
    is_recorded = type(array) is Recorded
    made: Array = array.dense() if is_recorded else array_module(array).ascontiguousarray(array)
    return made


# ---- Arguments


def check_shape(name: str, array: Any, shape: Sequence[int]) -> None:
    """Raises unless an array has this shape."""
    if array.shape != shape:
        raise Unfit(name, f"shape {tuple(shape)}", f"shape {tuple(array.shape)}")


def axis_of(array: Any, axis: Any, name: str = "axis") -> int:
    """An axis, counted from 0."""
    count = array.ndim
    if type(axis) is not int:
        axis = whole(name, "an int", axis)
    if not -count <= axis < count:
        wanted = f"an axis from {-count} to {count - 1}" if count else "an array with dimensions"
        raise Unfit(name, wanted, f"{axis}")
    found: int = axis + count if axis < 0 else axis
    return found


def single(name: str, value: Any) -> int:
    """The size of the only dimension."""
    return value if type(value) is int else sizes_of(name, value, 1)[0]


def pair(name: str, value: Any) -> tuple[int, int]:
    """Height and width."""
    if type(value) is int:
        return value, value
    if type(value) is tuple and len(value) == 2 and type(value[0]) is type(value[1]) is int:
        return value
    first, second = sizes_of(name, value, 2)
    return first, second


def triple(name: str, value: Any) -> tuple[int, int, int]:
    """Depth, height and width."""
    if type(value) is int:
        return value, value, value
    if type(value) is tuple and len(value) == 3 and set(map(type, value)) == {int}:
        return value
    first, second, third = sizes_of(name, value, 3)
    return first, second, third


def sizes_of(name: str, value: Any, count: int) -> tuple[int, ...]:
    """One int for each of several dimensions, from one for all or from as many."""
    wanted = f"an int or {count} int{'s' if count > 1 else ''}"
    if not is_list(value):
        return (whole(name, wanted, value),) * count
    if len(value) != count:
        raise Unfit(name, wanted, repr(value))
    return tuple(whole(name, wanted, entry, value) for entry in value)


def is_list(value: Any) -> bool:
    """Whether a value has entries; a string and an array without dimensions have none."""
    if type(value) in (tuple, list):  # what most are; to ask for any sequence takes far longer
        return True
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def whole(name: str, wanted: str, value: Any, given: Any = None) -> int:
    """An int, which bools and floats are not."""
    try:
        if not isinstance(value, (bool, np.bool_)):
            found: int = operator.index(value)
            return found
    except TypeError:
        pass
    raise Unfit(name, wanted, repr(value if given is None else given))


def number(name: str, wanted: str, value: Any, given: Any = None) -> float:
    """A number, which bools are not; an array without dimensions holds one."""
    is_number = isinstance(value, numbers.Real) or getattr(value, "shape", None) == ()
    if is_number and not isinstance(value, (bool, np.bool_)):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
    raise Unfit(name, wanted, repr(value if given is None else given))


def integer(name: str, value: Any) -> int:
    """An int."""
    found: int = value if type(value) is int else whole(name, "an int", value)
    return found

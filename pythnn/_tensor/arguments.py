"""What the arguments of a Tensor's methods have to be: element types, ints, sizes, arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._errors import THNNArgumentError
from .._overlap import overlaps_itself
from .kinds import DTYPE_NAMES, Array, Kind, kind_of_dtype

__all__ = ["ints", "one_int", "refused_array", "shape_of", "steps_in", "wanted_kind"]


def wanted_kind(function: str, position: int, dtype: DTypeLike) -> Kind:
    """The kind with this dtype, which is an argument of a function."""
    found = np.dtype(dtype)
    kind = kind_of_dtype(found)
    if kind is None:
        raise THNNArgumentError.expected(function, position, "dtype", DTYPE_NAMES, str(found))
    return kind


def ints(function: str, position: int, name: str, values: Sequence[Any]) -> tuple[int, ...]:
    """Ints given as separate arguments or as one sequence."""
    if len(values) == 1 and isinstance(values[0], (tuple, list, range)):
        values = values[0]
    try:
        numbers = tuple(map(operator.index, values))
    except TypeError:
        numbers = (2**63,)
    if numbers and (min(numbers) < -(2**63) or max(numbers) >= 2**63):
        raise THNNArgumentError.expected(function, position, name, "64-bit ints", repr(values))
    return numbers


def one_int(function: str, position: int, name: str, value: Any) -> int:
    """An int of 64 bits."""
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    (number,) = ints(function, position, name, (value,))
    return number


def shape_of(function: str, position: int, values: Sequence[Any]) -> tuple[int, ...]:
    """Sizes of a tensor; () for an empty one."""
    sizes = ints(function, position, "shape", values)
    if sizes in ((), (0,)):
        return ()
    if min(sizes) < 1:
        raise THNNArgumentError.expected(
            function, position, "shape", "sizes from 1 on, or (0,) for an empty tensor", repr(sizes)
        )
    return sizes


def refused_array(
    found: str, wanted: str = "a writable array with positive strides"
) -> THNNArgumentError:
    """The error about an array that no tensor can be over."""
    return THNNArgumentError.expected("Tensor.from_numpy", 1, "array", wanted, found)


def steps_in(array: Array) -> list[int]:
    """The strides of an array in elements; raises where they do not part all elements."""
    shape, item = array.shape or (1,), array.itemsize
    strides = array.strides or (item,)
    wanted = [d for n, d in zip(shape, strides, strict=True) if n > 1]
    if not array.flags.aligned or any(d <= 0 or d % item for d in wanted):
        raise refused_array(f"strides of {array.strides} bytes")
    if overlaps_itself(array):
        raise refused_array("elements that share memory")
    return [d // item if n > 1 else 1 for n, d in zip(shape, strides, strict=True)]

"""What the arguments of a Tensor's methods have to be: element types, ints and sizes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._errors import THNNArgumentError
from .kinds import DTYPE_NAMES, Kind, kind_of_dtype

__all__ = ["ints", "shape_of", "wanted_kind"]


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

"""Calls that allocate what they return: beside their arguments, on the CPU or a CUDA device."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._tensor import KINDS, Tensor, array_module, is_on_device

__all__ = [
    "INDICES",
    "OUT",
    "Array",
    "Real",
    "Sum",
    "as_array",
    "call",
    "calls",
    "from_one",
    "from_zero",
    "numbers",
    "optional",
    "real",
    "zeros",
]

Array: TypeAlias = NDArray[Any]
"""What functions return: numpy's arrays, or CuPy's for arguments on a CUDA device."""
Real: TypeAlias = Any
"""What functions take: an array, or what numpy makes one of; float32 or float64."""


_REALS = (np.float32, np.float64)


class _New:
    """Stands for a tensor that the called function gives its shape."""

    def __init__(self, dtype: np.dtype[Any] | None = None) -> None:
        self.dtype = dtype


OUT = _New()
INDICES = _New(np.dtype(np.int64))


class Sum:
    """Stands for zeros, in an array's shape unless another is given, that are added to."""

    def __init__(self, like: Any, shape: Sequence[int] | None = None) -> None:
        self.shape = like.shape if shape is None else shape


def as_array(x: Any) -> Any:
    """An array: itself, also on a device, or what numpy makes of it."""
    return x if type(x) is np.ndarray or is_on_device(x) else np.asarray(x)


def real(x: Any) -> Any:
    """An array of real numbers; integers become float64."""
    array = x if type(x) is np.ndarray else as_array(x)
    return array.astype(np.float64) if array.dtype.kind in "iub" else array


def optional(x: Any) -> Any:
    """The same, but None stays."""
    return None if x is None else real(x)


def zeros(shape: int | Sequence[int], like: Any) -> Any:
    """Zeros with the element type, and in the place, of an array."""
    module = np if type(like) is np.ndarray else array_module(like)
    return module.zeros(shape, like.dtype)


def from_zero(indices: Any) -> Any:
    """Indices that count from 0 as the C functions count, from 1."""
    return as_array(indices).astype(np.int64) + 1


def from_one(indices: Any) -> Any:
    """Indices of the C functions, from 1, as ones that count from 0."""
    indices -= 1
    return indices


def numbers(name: str, value: int | Sequence[int], count: int) -> tuple[int, ...]:
    """One int for all dimensions, or one for each."""
    try:
        return (operator.index(value),) * count  # type: ignore[arg-type]
    except TypeError:
        pass
    values = tuple(map(operator.index, value))  # type: ignore[arg-type]
    if len(values) != count:
        raise ValueError(f"{name}: expected an int or {count} ints, found {value!r}")
    return values


_KINDS = {kind.dtype: kind for kind in KINDS}


def _empty(dtype: np.dtype[Any], device: str | None) -> Tensor:
    """An empty Tensor, on the CPU without the checks that a user's needs."""
    if device is not None:
        return Tensor(dtype=dtype, device=device)
    kind = _KINDS[dtype]
    return Tensor._of(kind.new(()), kind)


def calls(function: Callable[..., None], *arguments: Any) -> Any:
    """Calls a C function on real arrays; returns a tuple of what stood for results."""
    like = next(a for a in arguments if getattr(a, "dtype", None) in _REALS)
    device = None if isinstance(like, np.ndarray) else f"cuda:{like.device.id}"
    given: list[Any] = []
    results: list[Any] = []
    for argument in arguments:
        if isinstance(argument, _New):
            given.append(_empty(argument.dtype or like.dtype, device))
            results.append(given[-1])
        elif isinstance(argument, Sum):
            given.append(zeros(argument.shape, like))
            results.append(given[-1])
        else:
            given.append(argument)
    function(None, *given)
    return tuple(r.array() if isinstance(r, Tensor) else r for r in results)


def call(function: Callable[..., None], *arguments: Any) -> Array:
    """The same for functions with one result."""
    result: Array
    (result,) = calls(function, *arguments)
    return result

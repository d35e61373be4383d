"""Where the arrays of a call are: in the CPU's memory, or all on one CUDA device."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import NoneType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .._calls import describe
from .._errors import THNNArgumentError
from .._tensor import Tensor, is_on_device

__all__ = ["anywhere"]

P = ParamSpec("P")
R = TypeVar("R")

_NEVER_ON_DEVICE = frozenset({np.ndarray, NoneType, bool, int, float, list, str})
_ARRAYS = ("Array", "Real", "Any", "tuple[Array", "tuple[Real")
"""What the annotations of parameters that are arrays begin with."""


def anywhere(function: Callable[P, R]) -> Callable[P, R]:
    """Lets a function of numpy's arrays work on arrays of one CUDA device as well.

    There it gets CuPy's, over the same memory, and works with their device as the current one.
    Lists and numbers become arrays there. Parameters are arrays by their annotations.
    """

    @functools.wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        for value in (*given, *named.values()) if named else given:
            if type(value) not in _NEVER_ON_DEVICE and _is_on_device(value):
                result: R = _call_on_device(function, given, named)
                return result
        return function(*given, **named)

    return call


def _is_on_device(value: Any) -> bool:
    return any(map(_is_on_device, value)) if isinstance(value, tuple) else is_on_device(value)


def _is_on_host(value: Any) -> bool:
    """Whether a value is an array in the CPU's memory."""
    if isinstance(value, np.generic):
        return False
    return isinstance(value, Tensor) or hasattr(value, "__array__")


@functools.cache
def _signature(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, int]]:
    """The signature, and the positions from 1 of the parameters that are arrays."""
    signature = inspect.signature(function)
    names = enumerate(signature.parameters.values(), 1)
    return signature, {p.name: i for i, p in names if str(p.annotation).startswith(_ARRAYS)}


def _call_on_device(function: Any, given: Any, named: Any) -> Any:
    from .._cuda.cupy import library

    cupy = library()
    signature, positions = _signature(function)
    bound = signature.bind(*given, **named)
    arrays = {name: bound.arguments[name] for name in positions if name in bound.arguments}
    places = _Places(function.__name__, positions)
    for name, value in arrays.items():
        for entry in value if isinstance(value, tuple) else (value,):
            places.look(name, entry)
    with cupy.cuda.Device(places.device):
        for name, value in arrays.items():
            bound.arguments[name] = _there(cupy, value)
        return function(*bound.args, **bound.kwargs)


class _Places:
    """Sees to it that all arrays of a call are where the first one is."""

    def __init__(self, function: str, positions: dict[str, int]) -> None:
        self.function, self.positions = function, positions
        self.first = ""
        self.device: int | None = None
        """None: the CPU's memory."""

    def look(self, name: str, value: Any) -> None:
        """Raises THNNArgumentError when an array is elsewhere."""
        if is_on_device(value):
            device: int | None = _device_of(value)
            found = f"one on cuda:{device}"
        elif _is_on_host(value):
            device, found = None, f"{describe(value)} in the CPU's memory"
        else:
            return
        if not self.first:
            self.first, self.device = name, device
        elif device != self.device:
            place = "in the CPU's memory" if self.device is None else f"on cuda:{self.device}"
            raise THNNArgumentError.expected(
                f"functional.{self.function}",
                self.positions[name],
                name,
                f"an array {place}, like '{self.first}'",
                found,
            )


def _device_of(value: Any) -> int:
    from .._cuda.arrays import look_at

    index: int | None = getattr(value, "device_index", None)  # a Tensor's
    return look_at(value).device_index if index is None else index


def _there(cupy: Any, value: Any) -> Any:
    """A value as CuPy's array on the current device; None stays."""
    if value is None or isinstance(value, cupy.ndarray):
        return value
    if isinstance(value, tuple) and any(map(_is_on_device, value)):
        return tuple(_there(cupy, entry) for entry in value)
    if isinstance(value, Tensor):
        return value.array()
    if is_on_device(value) and not hasattr(value, "__cuda_array_interface__"):
        return cupy.from_dlpack(value)
    return cupy.asarray(value)

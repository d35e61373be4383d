"""The calls that cases of functions on arrays make, with numpy's arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from pythnn import functional

from .functional_cases import Case, F

__all__ = ["Call", "calls_of"]

Call = tuple[str, tuple[Any, ...], dict[str, Any]]
"""A function's name and its arguments."""
_ARRAYS = ("Real", "Indices", "Written")


class _Listener:
    """In the place of pythnn.functional: notes the calls, and makes them."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(functional, name)

        def call(*given: Any, **named: Any) -> Any:
            self.calls.append((name, *_as_arrays(function, given, named)))
            return function(*given, **named)

        return call


def _as_arrays(
    function: Any, given: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with numpy's arrays in the place of numbers and lists of them."""
    bound = inspect.signature(function).bind(*given, **named)
    parameters = inspect.signature(function).parameters
    first = next((v for v in bound.arguments.values() if isinstance(v, np.ndarray)), None)
    for name, value in bound.arguments.items():
        kind = str(parameters[name].annotation)
        if kind.startswith(_ARRAYS) and value is not None:
            is_index = kind.startswith("Indices")
            dtype = np.int64 if is_index or first is None else first.dtype
            bound.arguments[name] = np.asarray(value, dtype, "C")
    return bound.args, bound.kwargs


def calls_of(case: Case) -> list[Call]:
    """Those of the function and of its gradient; each function once."""
    F.target = listener = _Listener()
    try:
        output = case.forward(*case.arrays)
        case.backward(np.ones_like(output), *case.arrays)
    finally:
        F.target = functional
    return list({call[0]: call for call in listener.calls}.values())

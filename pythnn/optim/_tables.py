"""What the methods share: tables of settings and of state, decays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import THNNArgumentError
from .._plain import MASKED, UNMASKED, is_masked, is_ndarray, plain

__all__ = ["Array", "Evaluated", "OpFunc", "Table", "decayed", "dot", "option", "prepared", "rate"]

Array = NDArray[Any]
OpFunc = Callable[[Array], tuple[Any, Array]]
"""A function of the parameters that gives its value and its gradient."""
Table = dict[str, Any]
Evaluated = tuple[Array, list[Any]]
"""The parameters, and the values of the function at the points where it was called."""


def prepared(
    method: str, opfunc: OpFunc, x: Array, config: Table | None, state: Table | None
) -> tuple[OpFunc, Array, Table, Table]:
    """The arguments of a method: arrays as plain ones, settings and state one table or two.

    Raises THNNArgumentError when `x` cannot be changed in place, or an array has a mask.
    """
    if is_ndarray(x):
        x = _unmasked(method, 2, "x", x)
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    if kind != "f" or not getattr(getattr(x, "flags", None), "writeable", True):
        found = f"{type(x).__name__} of {x.dtype}" if kind is not None else type(x).__name__
        raise THNNArgumentError.expected(
            f"optim.{method}", 2, "x", "a writable array of real numbers", found
        )

    def evaluate(parameters: Array) -> tuple[Any, Array]:
        value, gradient = opfunc(parameters)
        if is_ndarray(gradient):
            gradient = _unmasked(method, 1, "opfunc", gradient)
        return value, gradient

    settings = {} if config is None else config
    return evaluate, x, settings, settings if state is None else state


def _unmasked(method: str, position: int, name: str, array: Array) -> Array:
    """The array as a plain one; THNNArgumentError for one with a mask."""
    if is_masked(array):
        raise THNNArgumentError.expected(f"optim.{method}", position, name, UNMASKED, MASKED)
    return plain(array)


def option(config: Table, name: str, default: Any) -> Any:
    """A setting, or its default where there is none or None."""
    value = config.get(name)
    return default if value is None else value


def decayed(config: Table, x: Array, gradient: Array) -> Array:
    """The gradient with that of ``weightDecay`` / 2 x^2."""
    decay = option(config, "weightDecay", 0)
    return gradient + decay * x if decay else gradient


def rate(config: Table, state: Table, default: float) -> Any:
    """The learning rate of this call, which is counted in ``evalCounter``.

    ``learningRate`` / (1 + calls before * ``learningRateDecay``).
    """
    calls = option(state, "evalCounter", 0)
    state["evalCounter"] = calls + 1
    slowing = 1 + calls * option(config, "learningRateDecay", 0)
    return option(config, "learningRate", default) / slowing


def dot(first: Array, second: Array) -> float:
    """The dot product, summed in float64."""
    return float((first * second).sum(dtype=np.float64))

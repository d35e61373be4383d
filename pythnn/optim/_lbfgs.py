"""L-BFGS."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ._tables import Array, OpFunc, Table, dot, option, prepared

__all__ = ["lbfgs"]

_CURVED = 1e-10  # steps with less curvature are not remembered


def _length(vector: Array) -> float:
    return float(abs(vector).sum(dtype=np.float64))


def _direction(gradient: Array, corrections: Any, scale: float) -> Array:
    """Minus the gradient times the inverse Hessian that the corrections tell of (two loops)."""
    direction, factors = -gradient, []
    for change, step in reversed(corrections):
        factor = dot(step, direction) / dot(change, step)
        direction -= factor * change
        factors.append(factor)
    direction *= scale
    for (change, step), factor in zip(corrections, reversed(factors), strict=True):
        direction += step * (factor - dot(change, direction) / dot(change, step))
    return direction


def lbfgs(
    opfunc: OpFunc, x: Array, config: Table | None = None, state: Table | None = None
) -> tuple[Array, list[Any], int]:
    """Steps of limited-memory BFGS, until one of its limits is reached.

    Settings: ``maxIter`` (20 steps), ``maxEval`` (1.25 maxIter calls), ``tolFun`` (1e-5: the L1
    norm of the gradient that is small enough), ``tolX`` (1e-9: of a step, and change of the value),
    ``nCorrection`` (100 steps to remember), ``learningRate`` (1, the length of steps),
    ``lineSearch`` (a function of opfunc, x, step length, direction, value, gradient, slope along
    the direction and ``lineSearchOptions``, that returns value, gradient, x, step length, calls).
    Returns `x`, changed in place, the values at all points, and the number of calls. J. Nocedal and
    S. Wright, "Numerical optimization", algorithm 7.4.
    """
    opfunc, x, config, state = prepared("lbfgs", opfunc, x, config, state)
    most_steps = option(config, "maxIter", 20)
    most_calls = option(config, "maxEval", most_steps * 1.25)
    small_gradient, small_step = option(config, "tolFun", 1e-5), option(config, "tolX", 1e-9)
    search, learning_rate = config.get("lineSearch"), option(config, "learningRate", 1)
    value, gradient = opfunc(x)
    gradient = gradient.copy()
    values, calls = [value], 1
    state["funcEval"] = option(state, "funcEval", 0) + 1
    if _length(gradient) <= small_gradient:
        return x, values, calls
    direction, length = state.get("d"), state.get("t")
    corrections = deque(
        zip(state.get("old_dirs", []), state.get("old_stps", []), strict=True),
        int(option(config, "nCorrection", 100)),
    )
    scale = option(state, "Hdiag", 1)
    for step_number in range(1, int(most_steps) + 1):
        if direction is None:
            direction = -gradient
            length = min(1.0, 1 / _length(gradient)) * learning_rate
        else:
            change, step = gradient - state["g_old"], direction * length
            curvature = dot(change, step)
            if curvature > _CURVED:
                corrections.append((change, step))
                scale = curvature / dot(change, change)
            direction = _direction(gradient, corrections, scale)
            length = learning_rate
        state["nIter"] = option(state, "nIter", 0) + 1
        state["g_old"], value_before = gradient, value
        slope = dot(gradient, direction)
        if slope > -small_step:
            break
        new_calls = 0
        if search is not None:
            value, gradient, found, length, new_calls = search(
                opfunc, x, length, direction, value, gradient, slope,
                config.get("lineSearchOptions"),
            )  # fmt: skip
            x[...] = found
            values.append(value)
        else:
            x += length * direction
            if step_number < most_steps:
                value, gradient = opfunc(x)
                new_calls = 1
                values.append(value)
        gradient = gradient.copy()
        calls += new_calls
        state["funcEval"] += new_calls
        if (
            calls >= most_calls
            or _length(gradient) <= small_gradient
            or _length(direction) * length <= small_step
            or abs(value - value_before) < small_step
        ):
            break
    state.update(d=direction, t=length, Hdiag=scale)
    state["old_dirs"] = [change for change, _ in corrections]
    state["old_stps"] = [step for _, step in corrections]
    return x, values, calls

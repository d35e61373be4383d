"""Adam."""

from __future__ import annotations

import math

import numpy as np

from ._tables import Array, Evaluated, OpFunc, Table, decayed, option, prepared

__all__ = ["adam"]


def adam(
    opfunc: OpFunc, x: Array, config: Table | None = None, state: Table | None = None
) -> Evaluated:
    """One step along the mean of the gradients over the root of the mean of their squares.

    Settings: ``learningRate`` (1e-3), ``learningRateDecay`` (0), ``beta1`` (0.9), ``beta2``
    (0.999), ``epsilon`` (1e-8), ``weightDecay`` (0). Returns `x`, changed in place, and the value
    there before. D. Kingma and J. Ba, "Adam: a method for stochastic optimization", 2014.
    """
    opfunc, x, config, state = prepared("adam", opfunc, x, config, state)
    beta1, beta2 = option(config, "beta1", 0.9), option(config, "beta2", 0.999)
    steps = option(state, "t", 0)
    size = option(config, "learningRate", 1e-3)
    size /= 1 + steps * option(config, "learningRateDecay", 0)
    value, gradient = opfunc(x)
    gradient = decayed(config, x, gradient)
    for name in ("m", "v"):
        if state.get(name) is None:
            state[name] = np.zeros_like(x)
    mean, squares = state["m"], state["v"]
    mean *= beta1
    mean += (1 - beta1) * gradient
    squares *= beta2
    squares += (1 - beta2) * gradient * gradient
    state["t"] = steps = steps + 1
    size *= math.sqrt(1 - beta2**steps) / (1 - beta1**steps)
    x -= size * mean / (np.sqrt(squares) + option(config, "epsilon", 1e-8))
    return x, [value]

"""AdaMax."""

from __future__ import annotations

import numpy as np

from ._tables import Array, Evaluated, OpFunc, Table, option, prepared

__all__ = ["adamax"]


def adamax(
    opfunc: OpFunc, x: Array, config: Table | None = None, state: Table | None = None
) -> Evaluated:
    """One step along the mean of the gradients over the largest of them, which slowly fades.

    Settings: ``learningRate`` (0.002), ``beta1`` (0.9), ``beta2`` (0.999), ``epsilon`` (1e-38).
    Returns `x`, changed in place, and the value there before. D. Kingma and J. Ba, "Adam: a method
    for stochastic optimization", 2014, section 7.1.
    """
    opfunc, x, config, state = prepared("adamax", opfunc, x, config, state)
    beta1, beta2 = option(config, "beta1", 0.9), option(config, "beta2", 0.999)
    value, gradient = opfunc(x)
    for name in ("m", "u"):
        if state.get(name) is None:
            state[name] = np.zeros_like(x)
    mean, largest = state["m"], state["u"]
    mean *= beta1
    mean += (1 - beta1) * gradient
    largest *= beta2
    np.maximum(largest, abs(gradient) + option(config, "epsilon", 1e-38), out=largest)
    state["t"] = steps = option(state, "t", 0) + 1
    x -= option(config, "learningRate", 0.002) / (1 - beta1**steps) * mean / largest
    return x, [value]

"""AdaDelta."""

from __future__ import annotations

import numpy as np

from ._tables import Array, Evaluated, OpFunc, Table, decayed, option, prepared

__all__ = ["adadelta"]


def adadelta(
    opfunc: OpFunc, x: Array, config: Table | None = None, state: Table | None = None
) -> Evaluated:
    """One step along the gradient, as long as steps have been for gradients of this size.

    Settings: ``rho`` (0.9, how slowly means follow), ``eps`` (1e-6), ``weightDecay`` (0). Returns
    `x`, changed in place, and the value there before. M. Zeiler, "ADADELTA: an adaptive learning
    rate method", 2012.
    """
    opfunc, x, config, state = prepared("adadelta", opfunc, x, config, state)
    rho, small = option(config, "rho", 0.9), option(config, "eps", 1e-6)
    value, gradient = opfunc(x)
    gradient = decayed(config, x, gradient)
    for name in ("paramVariance", "accDelta"):
        if state.get(name) is None:
            state[name] = np.zeros_like(x)
    squares, steps = state["paramVariance"], state["accDelta"]
    squares *= rho
    squares += (1 - rho) * gradient * gradient
    step = np.sqrt(steps + small) / np.sqrt(squares + small) * gradient
    x -= step
    steps *= rho
    steps += (1 - rho) * step * step
    state["evalCounter"] = option(state, "evalCounter", 0) + 1
    return x, [value]

"""AdaGrad."""

from __future__ import annotations

import numpy as np

from ._tables import Array, Evaluated, OpFunc, Table, decayed, prepared, rate

__all__ = ["adagrad"]

_SMALL = 1e-10  # added to what steps are divided by


def adagrad(
    opfunc: OpFunc, x: Array, config: Table | None = None, state: Table | None = None
) -> Evaluated:
    """One step along the gradient over the root of the sum of all squares so far.

    Settings: ``learningRate`` (1e-3), ``learningRateDecay`` (0), ``weightDecay`` (0). Returns `x`,
    changed in place, and the value there before. J. Duchi et al., "Adaptive subgradient methods for
    online learning and stochastic optimization", 2011.
    """
    opfunc, x, config, state = prepared("adagrad", opfunc, x, config, state)
    value, gradient = opfunc(x)
    gradient = decayed(config, x, gradient)
    if state.get("paramVariance") is None:
        state["paramVariance"] = np.zeros_like(x)
    squares = state["paramVariance"]
    squares += gradient * gradient
    x -= rate(config, state, 1e-3) * gradient / (np.sqrt(squares) + _SMALL)
    return x, [value]

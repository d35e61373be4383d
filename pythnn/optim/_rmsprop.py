"""RMSprop."""

from __future__ import annotations

import numpy as np

from ._tables import Array, Evaluated, OpFunc, Table, decayed, option, prepared

__all__ = ["rmsprop"]


def rmsprop(
    opfunc: OpFunc, x: Array, config: Table | None = None, state: Table | None = None
) -> Evaluated:
    """One step along the gradient over the root of the mean of its squares.

    Settings: ``learningRate`` (1e-2), ``alpha`` (0.99, how slowly the mean follows), ``epsilon``
    (1e-8), ``initialMean`` (0), ``weightDecay`` (0). Returns `x`, changed in place, and the value
    there before. T. Tieleman and G. Hinton, lecture 6.5 of "Neural networks for machine learning",
    2012.
    """
    opfunc, x, config, state = prepared("rmsprop", opfunc, x, config, state)
    alpha = option(config, "alpha", 0.99)
    value, gradient = opfunc(x)
    gradient = decayed(config, x, gradient)
    if state.get("m") is None:
        state["m"] = np.full_like(x, option(config, "initialMean", 0))
    squares = state["m"]
    squares *= alpha
    squares += (1 - alpha) * gradient * gradient
    divisor = np.sqrt(squares) + option(config, "epsilon", 1e-8)
    x -= option(config, "learningRate", 1e-2) * gradient / divisor
    return x, [value]

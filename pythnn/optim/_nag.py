"""Nesterov's accelerated gradient."""

from __future__ import annotations

import numpy as np

from .._errors import THNNArgumentError
from ._tables import Array, Evaluated, OpFunc, Table, decayed, option, prepared, rate

__all__ = ["nag"]


def nag(
    opfunc: OpFunc, x: Array, config: Table | None = None, state: Table | None = None
) -> Evaluated:
    """One step: first with the momentum, then down the gradient at the new place.

    Settings: ``learningRate`` (1e-3), ``learningRateDecay`` (0), ``weightDecay`` (0), ``momentum``
    (0.9), ``learningRates`` (factors for each parameter). Returns `x`, changed in place, and the
    value after the step with the momentum. I. Sutskever et al., "On the importance of
    initialization and momentum in deep learning", 2013.
    """
    opfunc, x, config, state = prepared("nag", opfunc, x, config, state)
    momentum = option(config, "momentum", 0.9)
    if momentum <= 0:
        raise THNNArgumentError.expected(
            "optim.nag", 3, "config", "momentum above 0", f"{momentum}"
        )
    if state.get("dfdx") is None:
        state["dfdx"] = np.zeros_like(x)
    velocity = state["dfdx"]
    velocity *= momentum
    x += velocity
    value, gradient = opfunc(x)
    step = rate(config, state, 1e-3) * decayed(config, x, gradient)
    if config.get("learningRates") is not None:
        step = config["learningRates"] * step
    x -= step
    velocity -= step
    return x, [value]

"""Stochastic gradient descent."""

from __future__ import annotations

from .._errors import THNNArgumentError
from ._tables import Array, Evaluated, OpFunc, Table, decayed, option, prepared, rate

__all__ = ["sgd"]


def sgd(
    opfunc: OpFunc, x: Array, config: Table | None = None, state: Table | None = None
) -> Evaluated:
    """One step down the gradient, with or without momentum.

    Settings: ``learningRate`` (1e-3), ``learningRateDecay`` (0), ``weightDecay`` (0),
    ``weightDecays`` (one for each parameter, instead), ``momentum`` (0), ``dampening`` (momentum),
    ``nesterov`` (False: wants momentum and no dampening), ``learningRates`` (factors for each
    parameter). Returns `x`, changed in place, and the value there before.
    """
    opfunc, x, config, state = prepared("sgd", opfunc, x, config, state)
    momentum = option(config, "momentum", 0)
    dampening = option(config, "dampening", momentum)
    nesterov = option(config, "nesterov", False)
    if nesterov and (momentum <= 0 or dampening != 0):
        raise THNNArgumentError.expected(
            "optim.sgd", 3, "config", "momentum above 0 and dampening 0 with nesterov",
            f"{momentum} and {dampening}",
        )  # fmt: skip
    value, gradient = opfunc(x)
    if config.get("weightDecays") is None:
        step = decayed(config, x, gradient)
    else:
        step = gradient + config["weightDecays"] * x
    if momentum:
        if state.get("dfdx") is None:
            state["dfdx"] = step.copy()
        else:
            state["dfdx"] *= momentum
            state["dfdx"] += (1 - dampening) * step
        step = step + momentum * state["dfdx"] if nesterov else state["dfdx"]
    if config.get("learningRates") is not None:
        step = config["learningRates"] * step
    x -= rate(config, state, 1e-3) * step
    return x, [value]

"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from ._tables import Array, OpFunc, Table, option, prepared

__all__ = ["asgd"]


def asgd(
    opfunc: OpFunc, x: Array, config: Table | None = None, state: Table | None = None
) -> tuple[Array, list[Any], Array]:
    """One step down the gradient, and the average of the parameters over the steps.

    Settings: ``eta0`` (1e-4, the first step size), ``lambda`` (1e-4, weight decay), ``alpha``
    (0.75, how fast steps become smaller), ``t0`` (1e6, the step at which averaging begins). Returns
    `x`, changed in place, the value there before, and the averaged parameters. L. Bottou,
    "Stochastic gradient descent tricks", 2012.
    """
    opfunc, x, config, state = prepared("asgd", opfunc, x, config, state)
    eta0, decay = option(config, "eta0", 1e-4), option(config, "lambda", 1e-4)
    eta, weight = option(state, "eta_t", eta0), option(state, "mu_t", 1)
    steps = option(state, "t", 0) + 1
    value, gradient = opfunc(x)
    x *= 1 - decay * eta
    x -= eta * gradient
    if state.get("ax") is None or weight == 1:
        state["ax"] = x.copy()
    else:
        state["ax"] += weight * (x - state["ax"])
    state["t"] = steps
    state["eta_t"] = eta0 / (1 + decay * eta0 * steps) ** option(config, "alpha", 0.75)
    state["mu_t"] = 1 / max(1, steps - option(config, "t0", 1e6))
    return x, [value], state["ax"]

"""Resilient backpropagation."""

from __future__ import annotations

import numpy as np

from ._tables import Array, Evaluated, OpFunc, Table, option, prepared

__all__ = ["rprop"]


def rprop(
    opfunc: OpFunc, x: Array, config: Table | None = None, state: Table | None = None
) -> Evaluated:
    """Steps of a size of its own for each parameter, against the sign of its gradient.

    A size grows while the sign stays, and shrinks when it changes. Settings: ``stepsize`` (0.1, the
    first), ``etaplus`` (1.2), ``etaminus`` (0.5), ``stepsizemax`` (50), ``stepsizemin`` (1e-6),
    ``niter`` (1 step). Returns `x`, changed in place, and the values before each step. M.
    Riedmiller and H. Braun, "A direct adaptive method for faster backpropagation learning", 1993.
    """
    opfunc, x, config, state = prepared("rprop", opfunc, x, config, state)
    smallest, largest = option(config, "stepsizemin", 1e-6), option(config, "stepsizemax", 50)
    if state.get("delta") is None:
        sizes, before = np.full_like(x, option(config, "stepsize", 0.1)), np.zeros_like(x)
    else:
        sizes, before = state["stepsize"], state["delta"]
    values = []
    for _ in range(int(option(config, "niter", 1))):
        value, gradient = opfunc(x)
        values.append(value)
        turns = np.sign(gradient * before)
        grow, shrink = option(config, "etaplus", 1.2), option(config, "etaminus", 0.5)
        sizes *= np.where(turns > 0, grow, np.where(turns < 0, shrink, 1)).astype(x.dtype)
        np.clip(sizes, smallest, largest, out=sizes)
        before = np.where(turns < 0, 0, gradient).astype(x.dtype)
        x -= np.sign(before) * sizes
    state["stepsize"], state["delta"] = sizes, before
    return x, values

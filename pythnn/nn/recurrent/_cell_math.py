"""The formulas of LSTM and GRU cells, forward and back, on rows of samples."""

from __future__ import annotations

from typing import Any

from ..object.values import array_module

__all__ = ["GRU_GATES", "LSTM_GATES", "gru_back", "gru_step", "lstm_back", "lstm_step"]

LSTM_GATES = 4
"""Input, forget and output gates, and the new cell, in the columns of weights in this order."""
GRU_GATES = 3
"""Reset and update gates, and the new state."""


def _sigmoid(xp: Any, value: Any) -> Any:
    return (1 + xp.tanh(value / 2)) / 2  # which does not overflow


def lstm_step(x: Any, h: Any, c: Any, weight: Any, bias: Any, projection: Any) -> tuple[Any, ...]:
    """Gates, output and cell; without `x`, `bias` has the products with the input in it."""
    xp = array_module(h)
    given = h if x is None else xp.concatenate([x, h], 1)
    sums = given @ weight + bias
    size = c.shape[1]
    gates = xp.empty_like(sums)
    gates[:, : 3 * size] = _sigmoid(xp, sums[:, : 3 * size])
    gates[:, 3 * size :] = xp.tanh(sums[:, 3 * size :])
    i, f, o, g = (gates[:, k * size : (k + 1) * size] for k in range(LSTM_GATES))
    next_c = f * c + i * g
    next_h = o * xp.tanh(next_c)
    return gates, next_h if projection is None else next_h @ projection, next_c


def lstm_back(gates: Any, c: Any, next_c: Any, dh: Any, dc: Any) -> tuple[Any, Any]:
    """The gradients before the functions of the gates, and of the cell before."""
    xp = array_module(gates)
    size = c.shape[1]
    i, f, o, g = (gates[:, k * size : (k + 1) * size] for k in range(LSTM_GATES))
    shown = xp.tanh(next_c)
    dc = dc + dh * o * (1 - shown * shown)
    parts = [dc * g * i * (1 - i), dc * c * f * (1 - f), dh * shown * o * (1 - o),
             dc * i * (1 - g * g)]  # fmt: skip
    return xp.concatenate(parts, 1), dc * f


def gru_step(x: Any, h: Any, weight: Any, bias: Any) -> tuple[Any, Any]:
    """Gates and output; without `x`, `bias` has the products with the input in it."""
    xp = array_module(h)
    size = h.shape[1]
    sums = bias if x is None else x @ weight[: x.shape[1]] + bias
    below = weight if x is None else weight[x.shape[1] :]
    gates = xp.empty_like(sums)
    gates[:, : 2 * size] = _sigmoid(xp, sums[:, : 2 * size] + h @ below[:, : 2 * size])
    r, u = gates[:, :size], gates[:, size : 2 * size]
    new = xp.tanh(sums[:, 2 * size :] + (r * h) @ below[:, 2 * size :])
    gates[:, 2 * size :] = new
    return gates, (1 - u) * new + u * h


def gru_back(x: Any, h: Any, gates: Any, weight: Any, dh: Any) -> tuple[Any, Any, Any]:
    """The gradients before the functions of the gates, of the input and of the output before."""
    xp = array_module(gates)
    size, inputs = h.shape[1], x.shape[1]
    r, u, new = (gates[:, k * size : (k + 1) * size] for k in range(GRU_GATES))
    of_new = dh * (1 - u) * (1 - new * new)
    of_update = dh * (h - new) * u * (1 - u)
    through = of_new @ weight[inputs:, 2 * size :].T
    of_reset = through * h * r * (1 - r)
    da = xp.concatenate([of_reset, of_update, of_new], 1)
    before = dh * u + through * r + da[:, : 2 * size] @ weight[inputs:, : 2 * size].T
    return da, da @ weight[:inputs].T, before

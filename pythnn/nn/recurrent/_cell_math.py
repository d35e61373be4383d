"""The formulas of LSTM and GRU cells, forward and back, on rows of samples."""

from __future__ import annotations

from typing import Any

from ... import thnn
from ..object.values import array_module
from ._products import add_product, over

__all__ = [
    "GRU_GATES", "LSTM_GATES", "gru_back", "gru_step", "lstm_cell", "lstm_cell_back", "swapped",
]  # fmt: skip

LSTM_GATES = 4
"""Input, forget and output gates, and the new cell, in the columns of weights in this order."""
GRU_GATES = 3
"""Reset and update gates, and the new state."""


def _sigmoid(xp: Any, value: Any) -> Any:
    return (1 + xp.tanh(value / 2)) / 2  # which does not overflow


def swapped(values: Any, out: Any = None) -> Any:
    """The columns of gates with the last two gates in the other order, in `out` or a new array.

    The new cell comes last in the columns of weights, but before the output gate in what the fused
    cell takes.
    """
    made = array_module(values).empty_like(values) if out is None else out
    size = values.shape[-1] // LSTM_GATES
    made[..., : 2 * size] = values[..., : 2 * size]
    made[..., 2 * size : 3 * size] = values[..., 3 * size :]
    made[..., 3 * size :] = values[..., 2 * size : 3 * size]
    return made


def lstm_cell(gates: Any, hidden: Any, c: Any, next_h: Any, next_c: Any) -> None:
    """Writes output and cell; `gates` has the sums of inputs, and gets the gates' values."""
    thnn.LSTMFused_updateOutput(
        None, over(gates), over(hidden), None, None, over(c), over(next_h), over(next_c)
    )


def lstm_cell_back(
    gates: Any, da: Any, c: Any, next_c: Any, dh: Any, dc: Any, dc_before: Any
) -> None:
    """Writes the gradients before the functions of the gates, and of the cell before."""
    given = over(c), over(next_c), over(dh), over(dc)
    thnn.LSTMFused_updateGradInput(None, over(gates), over(da), *given, over(dc_before))


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


def gru_back(h: Any, gates: Any, below: Any, dh: Any) -> tuple[Any, Any]:
    """The gradients before the functions of the gates, and of the output before.

    `below` are the rows of the weight for the output before.
    """
    xp = array_module(gates)
    size = h.shape[1]
    r, u, new = (gates[:, k * size : (k + 1) * size] for k in range(GRU_GATES))
    of_new = dh * (1 - u) * (1 - new * new)
    of_update = dh * (h - new) * u * (1 - u)
    through = of_new @ below[:, 2 * size :].T
    of_reset = through * h * r * (1 - r)
    da = xp.concatenate([of_reset, of_update, of_new], 1)
    before = dh * u + through * r
    return da, add_product(before, da[:, : 2 * size], below[:, : 2 * size].T)

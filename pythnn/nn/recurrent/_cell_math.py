"""The formulas of LSTM and GRU cells, forward and back, on rows of samples."""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import thnn
from ..._products import multiply
from ..object.values import array_module

__all__ = [
    "GRU_GATES", "LSTM_GATES", "GruWeights", "gru_back", "gru_step", "lstm_cell", "lstm_cell_back",
    "lstm_steps", "lstm_steps_back", "rows_of", "swap", "turned",
]  # fmt: skip

LSTM_GATES = 4
"""Input, forget and output gates, and the new cell, in the columns of weights in this order."""
GRU_GATES = 3
"""Reset and update gates, and the new state."""


def _sigmoid(xp: Any, value: Any) -> Any:
    return (1 + xp.tanh(value / 2)) / 2  # which does not overflow


def rows_of(value: Any) -> Any:
    """All but the last dimension as one."""
    return value.reshape(-1, value.shape[-1])


# ---- LSTM


def swap(values: Any) -> Any:
    """Exchanges the last two gates in the columns of values, in their memory; returns them.

    The new cell comes last in the columns of weights, but before the output gate in what the fused
    cell takes.
    """
    size = values.shape[-1] // LSTM_GATES
    kept = values[..., 2 * size : 3 * size].copy()
    values[..., 2 * size : 3 * size] = values[..., 3 * size :]
    values[..., 3 * size :] = kept
    return values


def turned(weight: Any) -> Any:
    """The columns of a weight as rows, in the fused cell's order."""
    line = 64 // weight.itemsize  # rows that share a line of the cache in the result
    size = weight.shape[1] // LSTM_GATES
    made = array_module(weight).empty(weight.shape[::-1], weight.dtype)
    for at in range(0, len(weight), line):
        rows, part = weight[at : at + line].T, made[:, at : at + line]
        part[: 2 * size] = rows[: 2 * size]
        part[2 * size : 3 * size] = rows[3 * size :]
        part[3 * size :] = rows[2 * size : 3 * size]
    return made


def _in_order(weight: Any) -> Any:
    """A weight with its columns in the fused cell's order."""
    size = weight.shape[1] // LSTM_GATES
    parts = weight[:, : 2 * size], weight[:, 3 * size :], weight[:, 2 * size : 3 * size]
    return array_module(weight).concatenate(parts, 1)


def lstm_cell(gates: Any, hidden: Any, c: Any, next_h: Any, next_c: Any) -> None:
    """Writes output and cell; `gates` has the sums of inputs, and gets the gates' values."""
    thnn.LSTMFused_updateOutput(None, gates, hidden, None, None, c, next_h, next_c)


def lstm_cell_back(
    gates: Any, da: Any, c: Any, next_c: Any, dh: Any, dc: Any, dc_before: Any
) -> None:
    """Writes the gradients before the functions of the gates, and of the cell before."""
    thnn.LSTMFused_updateGradInput(None, gates, da, c, next_c, dh, dc, dc_before)


def lstm_steps(gates: Any, fed_back: Any, states: Any, cells: Any) -> bool:
    """Computes all steps in one call, where that is possible; returns whether it is.

    `gates`, time x batch x gates, has the sums of inputs in the fused cell's order and gets the
    gates' values; the first of `states` and `cells`, (time + 1) x batch x size, are those before.
    """
    if not gates.size:
        return False
    weight = _in_order(fed_back).T  # dense columns, which the steps read as they lie
    thnn.LSTMSteps_updateOutput(None, gates, weight, None, None, states, cells, False)
    return True


def lstm_steps_back(
    gates: Any, fed_back: Any, cells: Any, of_output: Any, dc: Any
) -> tuple[Any, Any] | None:
    """The gradients before the functions of all gates, and of the state before; None as above.

    `dc`, the gradient of the last cell, becomes that of the cell before.
    """
    if not gates.size:
        return None
    xp = array_module(gates)
    da, dh = xp.empty_like(gates), xp.zeros_like(of_output[0])
    weight = turned(fed_back)
    thnn.LSTMSteps_updateGradInput(None, gates, weight, cells, of_output, da, dh, dc, False)
    return da, dh


# ---- GRU


class GruWeights(NamedTuple):
    """What multiplies the output before: for both gates, and for the new state."""

    gates: Any
    new: Any

    @classmethod
    def of(cls, weight: Any) -> GruWeights:
        """The parts of the rows of a weight for the output before."""
        size = weight.shape[0]
        xp = array_module(weight)
        parts = weight[:, : 2 * size], weight[:, 2 * size :]
        return cls(*(xp.ascontiguousarray(part) for part in parts))


def gru_step(sums: Any, h: Any, weights: GruWeights) -> tuple[Any, Any]:
    """Gates and output, of the products with the input and the bias."""
    xp = array_module(h)
    size = h.shape[1]
    gates = xp.empty_like(sums)
    gates[:, : 2 * size] = _sigmoid(xp, sums[:, : 2 * size] + multiply(h, weights.gates))
    r, u = gates[:, :size], gates[:, size : 2 * size]
    new = xp.tanh(sums[:, 2 * size :] + multiply(r * h, weights.new))
    gates[:, 2 * size :] = new
    return gates, (1 - u) * new + u * h


def gru_back(h: Any, gates: Any, weights: GruWeights, dh: Any) -> tuple[Any, Any]:
    """The gradients before the functions of the gates, and of the output before."""
    xp = array_module(gates)
    size = h.shape[1]
    r, u, new = (gates[:, k * size : (k + 1) * size] for k in range(GRU_GATES))
    of_new = dh * (1 - u) * (1 - new * new)
    of_update = dh * (h - new) * u * (1 - u)
    through = multiply(of_new, weights.new.T)
    of_reset = through * h * r * (1 - r)
    da = xp.concatenate([of_reset, of_update, of_new], 1)
    before = dh * u + through * r
    return da, before + multiply(da[:, : 2 * size], weights.gates.T)

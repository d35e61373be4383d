"""The cells of recurrent layers, on rows of samples."""

from __future__ import annotations

from typing import Any

from ... import thnn

__all__ = [
    "GRU_GATES", "LSTM_GATES", "add_product_of_rows", "lstm_cell", "lstm_cell_back", "rows_of",
    "swap",
]  # fmt: skip

LSTM_GATES = 4
"""Input, forget and output gates, and the new cell, in the columns of weights in this order."""
GRU_GATES = 3
"""Reset and update gates, and the new state."""


def rows_of(value: Any) -> Any:
    """All but the last dimension of a dense array or Tensor as one."""
    view = value.reshape if hasattr(value, "reshape") else value.view
    return view(-1, value.shape[-1])


def add_product_of_rows(total: Any, rows: Any, others: Any, factor: float) -> None:
    """Adds `factor` rows^T others to a matrix."""
    thnn.Linear_accGradParameters(None, others, rows, None, None, None, total, None, None, factor)


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


def lstm_cell(gates: Any, hidden: Any, c: Any, next_h: Any, next_c: Any) -> None:
    """Writes output and cell; `gates` has the sums of inputs, and gets the gates' values."""
    thnn.LSTMFused_updateOutput(None, gates, hidden, None, None, c, next_h, next_c)


def lstm_cell_back(
    gates: Any, da: Any, c: Any, next_c: Any, dh: Any, dc: Any, dc_before: Any
) -> None:
    """Writes the gradients before the functions of the gates, and of the cell before."""
    thnn.LSTMFused_updateGradInput(None, gates, da, c, next_c, dh, dc, dc_before)

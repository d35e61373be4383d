"""Cells of recurrent networks, one step from the products of their matrices on."""

from __future__ import annotations

from .. import thnn
from ._arrays import OUT, Array, Real, calls, real
from ._places import anywhere

__all__ = ["gru_cell", "gru_cell_backward", "lstm_cell", "lstm_cell_backward"]


@anywhere
def gru_cell(
    x: Real, hidden: Real, state: Real, biases: tuple[Real, Real] | None = None
) -> tuple[Array, Array]:
    """A GRU's new state. THNN's GRUFused.

    r = sigmoid(x_r + hidden_r), z likewise, n = tanh(x_n + r hidden_n), each with its biases;
    the new state is n + z (state - n).

    Parameters
    ----------
    x : batch x (3 units)
        The input weight's product with the input; parts r, z, n.
    hidden : batch x (3 units)
        The recurrent weight's product with the state.
    state : batch x units
    biases : two of (3 units,), optional
        Those of `x` and of `hidden`.

    Returns the new state, and what the backward function needs.

    >>> gru_cell(np.zeros((1, 3)), np.zeros((1, 3)), np.ones((1, 1)))[0]
    array([[0.5]])
    """
    first, second = (None, None) if biases is None else map(real, biases)
    found: tuple[Array, Array] = calls(
        thnn.GRUFused_updateOutput, real(x), real(hidden), first, second, real(state), OUT, OUT
    )
    return found


@anywhere
def gru_cell_backward(grad_output: Real, storage: Array) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `hidden` and `state`; those of the biases are sums over the batch.

    `storage` as :func:`gru_cell` returned it second.
    """
    found: tuple[Array, Array, Array] = calls(
        thnn.GRUFused_updateGradInput, OUT, OUT, real(grad_output), OUT, storage
    )
    return found


@anywhere
def lstm_cell(
    x: Real, hidden: Real, cell: Real, biases: tuple[Real, Real] | None = None
) -> tuple[Array, Array, Array]:
    """An LSTM's new output and cell state. THNN's LSTMFused.

    i, f and o are sigmoid(x + hidden), c is tanh(x + hidden), each with its biases; the new cell
    state is f cell + i c, the output o tanh of that.

    Parameters
    ----------
    x : batch x (4 units)
        The input weight's product with the input; parts i, f, c, o.
    hidden : batch x (4 units)
        The recurrent weight's product with the output before.
    cell : batch x units
    biases : two of (4 units,), optional
        Those of `x` and of `hidden`.

    Returns the output, the new cell state, and the gates, which the backward function needs.

    >>> lstm_cell(np.zeros((1, 4)), np.zeros((1, 4)), np.ones((1, 1)))[1]
    array([[0.5]])
    """
    gates = real(x).copy()
    first, second = (None, None) if biases is None else map(real, biases)
    output, after = calls(
        thnn.LSTMFused_updateOutput, gates, real(hidden), first, second, real(cell), OUT, OUT
    )
    return output, after, gates


@anywhere
def lstm_cell_backward(
    grad_output: Real, grad_after: Real, cell: Real, after: Real, gates: Array
) -> tuple[Array, Array]:
    """The gradients of `x` and `cell`.

    That of `hidden` is the same as that of `x`, those of the biases are sums over the batch.
    `grad_after` is the gradient of the new cell state `after`; the last two arguments as
    :func:`lstm_cell` returned them.
    """
    found: tuple[Array, Array] = calls(
        thnn.LSTMFused_updateGradInput,
        gates, OUT, real(cell), real(after), real(grad_output), real(grad_after), OUT,
    )  # fmt: skip
    return found

"""Cells of recurrent networks: one step, given the products of their matrices."""

from __future__ import annotations

from .. import thnn
from ._arrays import Array, Real, Unfit, check_shape, like, new
from ._front import function

__all__ = ["gru_cell", "gru_cell_backward", "lstm_cell", "lstm_cell_backward"]


def _biases(x: Array, biases: tuple[Array, Array] | None) -> tuple[Array | None, Array | None]:
    if biases is None:
        return None, None
    for bias in biases:
        if bias.shape != x.shape[1:]:
            raise Unfit("biases", f"two of shape {x.shape[1:]}", f"shape {tuple(bias.shape)}")
    return biases


@function(x="batch gates", hidden="batch gates", state="batch units")
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
    check_shape("x", x, (len(state), 3 * state.shape[1]))
    first, second = _biases(x, biases)
    output, storage = like(state), new((len(state), 5 * state.shape[1]), x)
    thnn.GRUFused_updateOutput(None, x, hidden, first, second, state, output, storage)
    return output, storage


@function(per_sample=(0, 1, 2), grad_output="batch units", storage="batch entries")
def gru_cell_backward(grad_output: Real, storage: Real) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `hidden` and `state`; those of the biases are sums over the batch.

    `storage` as :func:`gru_cell` returned it second.
    """
    batch, units = grad_output.shape
    check_shape("storage", storage, (batch, 5 * units))
    grad_x, grad_hidden = new((batch, 3 * units), storage), new((batch, 3 * units), storage)
    grad_state = like(grad_output)
    thnn.GRUFused_updateGradInput(None, grad_x, grad_hidden, grad_output, grad_state, storage)
    return grad_x, grad_hidden, grad_state


@function(x="batch gates", hidden="batch gates", cell="batch units")
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
    check_shape("x", x, (len(cell), 4 * cell.shape[1]))
    first, second = _biases(x, biases)
    gates, output, after = x.copy(), like(cell), like(cell)
    thnn.LSTMFused_updateOutput(None, gates, hidden, first, second, cell, output, after)
    return output, after, gates


@function(
    per_sample=(0, 1),
    cell="batch units",
    after="batch units",
    grad_output="batch units",
    grad_after="batch units",
    gates="batch entries",
)
def lstm_cell_backward(
    grad_output: Real, grad_after: Real, cell: Real, after: Real, gates: Real
) -> tuple[Array, Array]:
    """The gradients of `x` and `cell`.

    That of `hidden` is the same as that of `x`, those of the biases are sums over the batch.
    `grad_after` is the gradient of the new cell state `after`; the last two arguments as
    :func:`lstm_cell` returned them.
    """
    check_shape("gates", gates, (len(cell), 4 * cell.shape[1]))
    grad_x, grad_cell = like(gates), like(cell)
    thnn.LSTMFused_updateGradInput(
        None, gates, grad_x, cell, after, grad_output, grad_after, grad_cell
    )
    return grad_x, grad_cell

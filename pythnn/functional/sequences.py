"""Recurrent layers over sequences: plain ones, LSTM and GRU, as cuDNN defines them.

`x` is time x batch x features, a state (layers x directions) x batch x units. `parameters` has for
each layer, for each direction (forwards first) the arrays ``(w_ih, w_hh, b_ih, b_hh)``, or
``(w_ih, w_hh)`` without biases: the weight of the layer's input, (gates x units) x features, that
of the state, (gates x units) x units, and two biases, (gates x units,). Gates lie one after the
other:
i, f, g, o of an LSTM; r, z, n of a GRU. A layer's input is the output of the one before, with both
directions side by side. The parameters may be grouped by layers or not: their gradients come in
tuples that are nested like them.
"""

from __future__ import annotations

from typing import Any

from ._arrays import Array, Real, Unfit
from ._cells import Gru, Lstm, Plain
from ._front import function
from ._nested import Nested
from ._sequences import Saved, backward, forward

__all__ = ["gru", "gru_backward", "lstm", "lstm_backward", "rnn", "rnn_backward"]


@function(takes_empty=True)
def rnn(
    x: Real,
    h0: Real | None,
    parameters: Nested,
    *,
    layers: int = 1,
    bidirectional: bool = False,
    nonlinearity: str = "tanh",
) -> tuple[Array, Array, Saved]:
    """h = tanh(w_ih x + b_ih + w_hh h + b_hh), step by step. RNNSteps.

    Parameters
    ----------
    x : time x batch x features
    h0 : (layers x directions) x batch x units
        The states before the first steps; None stands for zeros.
    parameters : for each layer, for each direction, (w_ih, w_hh, b_ih, b_hh) or (w_ih, w_hh)
        units x features, units x units, (units,) and (units,).
    layers : int
    bidirectional : bool
        Whether each layer also goes through the sequence from its end.
    nonlinearity : "tanh" or "relu"

    Returns the output, time x batch x (directions x units), the states after the last steps, and
    what the backward function needs. That refers to `x` and the parameters, which must not change.

    >>> one = np.ones((1, 1))
    >>> y, hn, _ = rnn([[[1.0]], [[2.0]]], [[[0.0]]], [(one, one)], nonlinearity="relu")
    >>> y.ravel(), hn.ravel()
    (array([1., 3.]), array([3.]))
    """
    if nonlinearity not in ("tanh", "relu"):
        raise Unfit("nonlinearity", "'tanh' or 'relu'", repr(nonlinearity))
    cell = Plain(nonlinearity)
    y, last, saved = forward(cell, x, [h0], parameters, layers, bidirectional, "h0")
    return y, last[0], saved


@function(takes_empty=True)
def rnn_backward(
    grad_y: Real | None, grad_hn: Real | None, saved: Saved
) -> tuple[Array, Array, Any]:
    """The gradients of `x`, `h0` and `parameters`, these nested as they were.

    `saved` as :func:`rnn` returned it; None stands for a gradient of zeros.
    """
    grad_x, first, of_parameters = backward(Plain, grad_y, [grad_hn], saved, "grad_hn")
    return grad_x, first[0], of_parameters


@function(takes_empty=True)
def lstm(
    x: Real,
    h0: tuple[Real | None, Real | None] | None,
    parameters: Nested,
    *,
    layers: int = 1,
    bidirectional: bool = False,
) -> tuple[Array, tuple[Array, Array], Saved]:
    """c = f c + i g and h = o tanh(c), step by step. LSTMSteps.

    i, f and o are sigmoids and g is the tanh of w_ih x + b_ih + w_hh h + b_hh, each with its rows.

    Parameters
    ----------
    x : time x batch x features
    h0 : (h0, c0), each (layers x directions) x batch x units
        The outputs and the cells' states before the first steps; None stands for zeros, also in
        the pair.
    parameters : for each layer, for each direction, (w_ih, w_hh, b_ih, b_hh) or (w_ih, w_hh)
        4 units x features, 4 units x units, (4 units,) and (4 units,); gates i, f, g, o.
    layers : int
    bidirectional : bool
        Whether each layer also goes through the sequence from its end.

    Returns the output, time x batch x (directions x units), both states after the last steps, and
    what the backward function needs. That refers to `x` and the parameters, which must not change.

    >>> zero, weight = np.zeros((1, 1, 1)), np.zeros((4, 1))
    >>> y, (hn, cn), _ = lstm(zero, (zero, zero + 2), [(weight, weight)])
    >>> cn
    array([[[1.]]])
    """
    y, last, saved = forward(Lstm(), x, h0 or (None, None), parameters, layers, bidirectional, "h0")
    return y, (last[0], last[1]), saved


@function(takes_empty=True)
def lstm_backward(
    grad_y: Real | None, grad_hn: tuple[Real | None, Real | None] | None, saved: Saved
) -> tuple[Array, tuple[Array, Array], Any]:
    """The gradients of `x`, of the pair of states and of `parameters`, these nested as they were.

    `saved` as :func:`lstm` returned it; None stands for a gradient of zeros, also in the pair.
    """
    last = (None, None) if grad_hn is None else grad_hn
    grad_x, first, of_parameters = backward(Lstm, grad_y, last, saved, "grad_hn")
    return grad_x, (first[0], first[1]), of_parameters


@function(takes_empty=True)
def gru(
    x: Real,
    h0: Real | None,
    parameters: Nested,
    *,
    layers: int = 1,
    bidirectional: bool = False,
) -> tuple[Array, Array, Saved]:
    """h = n + z (h - n), step by step. GRUSteps.

    r and z are sigmoids of w_ih x + b_ih + w_hh h + b_hh, each with its rows, and n is
    tanh(w_ih x + b_ih + r (w_hh h + b_hh)).

    Parameters
    ----------
    x : time x batch x features
    h0 : (layers x directions) x batch x units
        The states before the first steps; None stands for zeros.
    parameters : for each layer, for each direction, (w_ih, w_hh, b_ih, b_hh) or (w_ih, w_hh)
        3 units x features, 3 units x units, (3 units,) and (3 units,); gates r, z, n.
    layers : int
    bidirectional : bool
        Whether each layer also goes through the sequence from its end.

    Returns the output, time x batch x (directions x units), the states after the last steps, and
    what the backward function needs. That refers to `x` and the parameters, which must not change.

    >>> zero, weight = np.zeros((1, 1, 1)), np.zeros((3, 1))
    >>> gru(zero, zero + 2, [(weight, weight)])[0]
    array([[[1.]]])
    """
    y, last, saved = forward(Gru(), x, [h0], parameters, layers, bidirectional, "h0")
    return y, last[0], saved


@function(takes_empty=True)
def gru_backward(
    grad_y: Real | None, grad_hn: Real | None, saved: Saved
) -> tuple[Array, Array, Any]:
    """The gradients of `x`, `h0` and `parameters`, these nested as they were.

    `saved` as :func:`gru` returned it; None stands for a gradient of zeros.
    """
    grad_x, first, of_parameters = backward(Gru, grad_y, [grad_hn], saved, "grad_hn")
    return grad_x, first[0], of_parameters

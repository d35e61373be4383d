"""The cells of recurrent layers: one direction of one layer, for all steps.

The states before and after all steps lie in one array, so that the products of the input for all
steps are one product, and the gradient of the recurrent weight is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from .. import thnn
from ._arrays import Array, zeros
from ._axes import empty

__all__ = ["Gru", "Lstm", "Plain", "Run", "Weights"]

Weights: TypeAlias = Sequence[Any]
"""Of a direction of a layer: those of its input and of its state, and two biases or twice None."""


class Run(NamedTuple):
    """What one direction of a layer has computed."""

    weights: Weights
    reverse: bool
    x: Array
    states: Array
    """(time + 1) x batch x units; that before the first step comes first, in reverse last."""
    kept: Any
    """What the cell keeps for its gradient."""

    @property
    def output(self) -> Array:
        """The states after each step."""
        return self.states[:-1] if self.reverse else self.states[1:]

    @property
    def before(self) -> Array:
        """The states before each step."""
        return self.states[1:] if self.reverse else self.states[:-1]


Gradients: TypeAlias = tuple[Array, list[Array], list[Array]]
"""Of the input, of the states before the first step and of the weights."""


# ---- Products of all steps, as rows of a matrix


def _rows(array: Array) -> Array:
    return array.reshape(-1, array.shape[2])


def _product(x: Array, weight: Array, bias: Array | None) -> Array:
    """x @ weight.T + bias, for all steps and samples."""
    steps, batch, features = x.shape
    rows = weight.shape[0]
    output = empty((steps * batch, rows), x)
    if output.size:
        thnn.Linear_updateOutput(None, x.reshape(-1, features), output, weight, bias, None)
    return output.reshape(steps, batch, rows)


def _add_to_weight(grad: Array, x: Array, weight: Array, bias: Array | None) -> Any:
    """The gradients of a weight and a bias, from rows."""
    grad_weight = zeros(weight.shape, weight)
    grad_bias = None if bias is None else zeros(bias.shape, bias)
    if grad.size:
        thnn.Linear_accGradParameters(
            None, x, grad, None, weight, grad_bias, grad_weight, grad_bias, None, 1.0
        )
    return grad_weight, grad_bias


def _through_products(run: Run, to_input: Array, to_state: Array) -> tuple[Array, list[Array]]:
    """The gradients of the input and of the weights, from those of both products."""
    of_input, of_state, input_bias, state_bias = run.weights
    x, grads = _rows(run.x), _rows(to_input)
    grads_of_state = grads if to_state is to_input else _rows(to_state)
    grad_x = empty(run.x.shape, run.x)
    if grads.size:
        thnn.Linear_updateGradInput(None, x, grads, _rows(grad_x), of_input)
    before = _rows(run.before)
    one, of_input_bias = _add_to_weight(grads, x, of_input, input_bias)
    if grads_of_state is grads and input_bias is not None:  # the biases have one gradient
        other, _ = _add_to_weight(grads, before, of_state, None)
        of_state_bias = of_input_bias.copy()
    else:
        other, of_state_bias = _add_to_weight(grads_of_state, before, of_state, state_bias)
    found = [one, other]
    return grad_x, found if input_bias is None else [*found, of_input_bias, of_state_bias]


# ---- Cells


def _states(x: Array, first: Array, reverse: bool) -> Array:
    """Room for the states, with the one before the first step."""
    batch, units = first.shape
    states = empty((x.shape[0] + 1, batch, units), x)
    states[-1 if reverse else 0] = first
    return states


def _carried(run: Run, grad: Array | None) -> Array:
    """A copy of the gradient of a last state."""
    states = run.states
    carried = empty(states.shape[1:], states)
    carried[...] = 0 if grad is None else grad
    return carried


class Plain:
    """h = tanh(w_ih x + b_ih + w_hh h + b_hh), or the same with max(…, 0)."""

    gates = 1
    states = 1
    name = "rnn"

    def __init__(self, nonlinearity: str) -> None:
        self.is_relu = nonlinearity == "relu"

    def run(self, of: Weights, x: Array, start: Sequence[Array], reverse: bool) -> Run:
        """All steps of one direction."""
        of_input, of_state, input_bias, state_bias = of
        projected = _product(x, of_input, input_bias)
        states = _states(x, start[0], reverse)
        if projected.size:
            thnn.RNNSteps_updateOutput(
                None, projected, of_state, state_bias, states, self.is_relu, reverse
            )
        return Run(of, reverse, x, states, None)

    def backward(
        self, run: Run, grad_output: Array | None, grad_last: Sequence[Array | None]
    ) -> Gradients:
        """From the gradients of the output and of the last state."""
        states = run.states
        carried = _carried(run, grad_last[0])
        grads = empty((states.shape[0] - 1, *carried.shape), states)
        if grads.size:
            thnn.RNNSteps_updateGradInput(
                None, states, run.weights[1], grad_output, grads, carried, self.is_relu,
                run.reverse,
            )  # fmt: skip
        grad_x, of_weights = _through_products(run, grads, grads)
        return grad_x, [carried], of_weights


class Lstm:
    """i, f, o = sigmoid, g = tanh of the sums; c = f c + i g, h = o tanh(c)."""

    gates = 4
    states = 2
    name = "lstm"

    def run(self, of: Weights, x: Array, start: Sequence[Array], reverse: bool) -> Run:
        """All steps of one direction."""
        of_input, of_state, input_bias, state_bias = of
        gates = _product(x, of_input, None)
        states = _states(x, start[0], reverse)
        cells = _states(x, start[1], reverse)
        if gates.size:
            thnn.LSTMSteps_updateOutput(
                None, gates, of_state, input_bias, state_bias, states, cells, reverse
            )
        return Run(of, reverse, x, states, (gates, cells))

    def backward(
        self, run: Run, grad_output: Array | None, grad_last: Sequence[Array | None]
    ) -> Gradients:
        """From the gradients of the output and of the last states."""
        gates, cells = run.kept
        carried, carried_cell = _carried(run, grad_last[0]), _carried(run, grad_last[1])
        grads = empty(gates.shape, gates)
        if gates.size:
            thnn.LSTMSteps_updateGradInput(
                None, gates, run.weights[1], cells, grad_output, grads, carried, carried_cell,
                run.reverse,
            )  # fmt: skip
        grad_x, of_weights = _through_products(run, grads, grads)
        return grad_x, [carried, carried_cell], of_weights


class Gru:
    """r, z = sigmoid of the sums, n = tanh(w x + b + r (w h + b)); h = n + z (h - n)."""

    gates = 3
    states = 1
    name = "gru"

    def run(self, of: Weights, x: Array, start: Sequence[Array], reverse: bool) -> Run:
        """All steps of one direction."""
        of_input, of_state, input_bias, state_bias = of
        projected = _product(x, of_input, None)
        states = _states(x, start[0], reverse)
        steps, batch, rows = projected.shape
        kept = empty((steps, batch, rows // 3 * 5), x)
        if projected.size:
            thnn.GRUSteps_updateOutput(
                None, projected, of_state, input_bias, state_bias, states, kept, reverse
            )
        return Run(of, reverse, x, states, kept)

    def backward(
        self, run: Run, grad_output: Array | None, grad_last: Sequence[Array | None]
    ) -> Gradients:
        """From the gradients of the output and of the last state."""
        kept = run.kept
        carried = _carried(run, grad_last[0])
        steps, batch, units = kept.shape[0], *carried.shape
        to_input = empty((steps, batch, 3 * units), kept)
        to_state = empty((steps, batch, 3 * units), kept)
        if kept.size:
            thnn.GRUSteps_updateGradInput(
                None, kept, run.weights[1], grad_output, to_input, to_state, carried, run.reverse
            )
        grad_x, of_weights = _through_products(run, to_input, to_state)
        return grad_x, [carried], of_weights

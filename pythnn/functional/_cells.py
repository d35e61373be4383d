"""The cells of recurrent layers: one direction of one layer, for all steps.

The states before and after all steps lie in one array, so that the products of the input for all
steps are one product, and the gradient of the recurrent weight is another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .. import thnn
from .._tensor import array_module
from ._arrays import Array, zeros
from ._axes import empty

__all__ = ["Gru", "Lstm", "Plain", "Run", "Weights"]


class Weights(NamedTuple):
    """The parameters of one direction of a layer."""

    input: Array
    state: Array
    input_bias: Array | None = None
    state_bias: Array | None = None


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


# ---- Products of all steps, as rows of a matrix


def _rows(array: Array) -> Array:
    return array.reshape(array.shape[0] * array.shape[1], array.shape[2])


def _product(x: Array, weight: Array, bias: Array | None) -> Array:
    """x @ weight.T + bias, for all steps and samples."""
    output = empty((*x.shape[:2], weight.shape[0]), x)
    if output.size:
        thnn.Linear_updateOutput(None, _rows(x), _rows(output), weight, bias, None)
    return output


def _product_backward(grad: Array, x: Array, weight: Array) -> Array:
    """The gradient of `x`."""
    grad_x = empty(x.shape, x)
    if grad.size:
        thnn.Linear_updateGradInput(None, _rows(x), _rows(grad), _rows(grad_x), weight)
    return grad_x


def _weight_gradients(
    grad: Array, x: Array, weight: Array, bias: Array | None
) -> tuple[Array, Array | None]:
    """The gradients of a weight and a bias."""
    grad_weight = zeros(weight.shape, weight)
    grad_bias = None if bias is None else zeros(bias.shape, bias)
    if grad.size:
        thnn.Linear_accGradParameters(
            None, _rows(x), _rows(grad), None, weight, grad_bias, grad_weight, grad_bias, None, 1.0
        )
    return grad_weight, grad_bias


# ---- Cells


class Plain:
    """h = tanh(w_ih x + b_ih + w_hh h + b_hh), or the same with max(…, 0)."""

    gates = 1
    states = 1
    name = "rnn"

    def __init__(self, nonlinearity: str) -> None:
        self.is_relu = nonlinearity == "relu"

    def run(self, of: Weights, x: Array, start: Sequence[Array], reverse: bool) -> Run:
        """All steps of one direction."""
        xp = array_module(x)
        projected = _product(x, of.input, of.input_bias)
        states = _states(x, start[0], reverse)
        product, add, tanh = thnn.Linear_updateOutput, xp.add, thnn.Tanh_updateOutput
        steps = zip(*_ordered(reverse, projected), *_pairs(states, reverse), strict=True)
        for gate, before, after in steps if x.shape[1] else ():
            product(None, before, after, of.state, of.state_bias, None)
            add(after, gate, out=after)
            if self.is_relu:
                xp.maximum(after, 0, out=after)
            else:
                tanh(None, after, after)
        return Run(of, reverse, x, states, None)

    def backward(
        self, run: Run, grad_output: Array | None, grad_last: Sequence[Array | None]
    ) -> tuple[Array, list[Array], list[Array | None]]:
        """The gradients of x, of the state before and of the weights."""
        output = run.output
        xp = array_module(output)
        slope = (output > 0).astype(output.dtype) if self.is_relu else 1 - output * output
        grads = _gradients(run, grad_output)
        carried = _carried(run, grad_last[0])
        product = thnn.Linear_updateGradInput
        steps = zip(*_ordered(not run.reverse, grads, slope), strict=True)
        for grad, slope_now in steps if output.shape[1] else ():
            xp.add(grad, carried, out=grad)
            xp.multiply(grad, slope_now, out=grad)
            product(None, carried, grad, carried, run.weights.state)
        of_weights = _gradients_of_weights(run, grads, grads)
        return _product_backward(grads, run.x, run.weights.input), [carried], of_weights


class Lstm:
    """i, f, o = sigmoid, g = tanh of the sums; c = f c + i g, h = o tanh(c)."""

    gates = 4
    states = 2
    name = "lstm"

    def run(self, of: Weights, x: Array, start: Sequence[Array], reverse: bool) -> Run:
        """All steps of one direction."""
        gates = _product(x, of.input, None)
        states, cells = (_states(x, first, reverse) for first in start)
        if gates.size:
            thnn.LSTMSteps_updateOutput(
                None, gates, of.state, of.input_bias, of.state_bias, states, cells, reverse
            )
        return Run(of, reverse, x, states, (gates, cells))

    def backward(
        self, run: Run, grad_output: Array | None, grad_last: Sequence[Array | None]
    ) -> tuple[Array, list[Array], list[Array | None]]:
        """The gradients of x, of the states before and of the weights."""
        gates, cells = run.kept
        carried, carried_cell = (_carried(run, grad) for grad in grad_last)
        grad_gates = empty(gates.shape, gates)
        if gates.size:
            thnn.LSTMSteps_updateGradInput(
                None, gates, run.weights.state, cells, grad_output, grad_gates, carried,
                carried_cell, run.reverse,
            )  # fmt: skip
        of_weights = _gradients_of_weights(run, grad_gates, grad_gates)
        grad_x = _product_backward(grad_gates, run.x, run.weights.input)
        return grad_x, [carried, carried_cell], of_weights


class Gru:
    """r, z = sigmoid of the sums, n = tanh(w x + b + r (w h + b)); h = n + z (h - n)."""

    gates = 3
    states = 1
    name = "gru"

    def run(self, of: Weights, x: Array, start: Sequence[Array], reverse: bool) -> Run:
        """All steps of one direction."""
        projected = _product(x, of.input, None)
        states = _states(x, start[0], reverse)
        units = states.shape[2]
        kept = empty((*x.shape[:2], 5 * units), x)
        if projected.size:
            thnn.GRUSteps_updateOutput(
                None, projected, of.state, of.input_bias, of.state_bias, states, kept, reverse
            )
        return Run(of, reverse, x, states, kept)

    def backward(
        self, run: Run, grad_output: Array | None, grad_last: Sequence[Array | None]
    ) -> tuple[Array, list[Array], list[Array | None]]:
        """The gradients of x, of the state before and of the weights."""
        kept = run.kept
        carried = _carried(run, grad_last[0])
        to_input = empty((*kept.shape[:2], 3 * carried.shape[1]), kept)
        to_hidden = empty(to_input.shape, kept)
        if kept.size:
            thnn.GRUSteps_updateGradInput(
                None, kept, run.weights.state, grad_output, to_input, to_hidden, carried,
                run.reverse,
            )  # fmt: skip
        of_weights = _gradients_of_weights(run, to_input, to_hidden)
        return _product_backward(to_input, run.x, run.weights.input), [carried], of_weights


def _states(x: Array, first: Array, reverse: bool) -> Array:
    """Room for the states, with the one before the first step."""
    states = empty((len(x) + 1, *first.shape), x)
    states[-1 if reverse else 0] = first
    return states


def _ordered(reverse: bool, *arrays: Array) -> Iterator[list[Array]]:
    """The steps of arrays, in the order of a direction."""
    for array in arrays:
        steps = list(array)
        yield steps[::-1] if reverse else steps


def _pairs(states: Array, reverse: bool) -> tuple[list[Array], list[Array]]:
    """The states before and after each step, in the order of a direction."""
    (steps,) = _ordered(reverse, states)
    return steps[:-1], steps[1:]


def _gradients(run: Run, grad_output: Array | None) -> Array:
    """A copy of the gradient of a direction's output, which may be changed."""
    output = run.output
    if grad_output is None:
        return zeros(output.shape, output)  # type: ignore[no-any-return]
    grads = empty(output.shape, output)
    grads[...] = grad_output
    return grads


def _carried(run: Run, grad: Array | None) -> Array:
    """A copy of the gradient of a last state."""
    shape = run.states.shape[1:]
    carried: Array = zeros(shape, run.states)
    if grad is not None:
        carried[...] = grad
    return carried


def _gradients_of_weights(run: Run, to_input: Array, to_hidden: Array) -> list[Array | None]:
    of = run.weights
    of_input = _weight_gradients(to_input, run.x, of.input, of.input_bias)
    of_state = _weight_gradients(to_hidden, run.before, of.state, of.state_bias)
    found = [of_input[0], of_state[0], of_input[1], of_state[1]]
    return found if of.input_bias is not None else found[:2]

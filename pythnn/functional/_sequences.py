"""Recurrent layers: each direction of each layer as one product for all steps, and its steps.

The states before and after all steps lie in one array, so that the gradient of the recurrent weight
is one product too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from .. import thnn
from .._tensor import array_module
from ._arrays import Array, Unfit, check_shape, zeros
from ._axes import empty
from ._nested import leaves, rebuilt

__all__ = ["Saved", "backward", "forward"]


class Weights(NamedTuple):
    """The parameters of one direction of a layer."""

    input: Array
    state: Array
    input_bias: Array | None
    state_bias: Array | None


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


class Saved(NamedTuple):
    """What a backward function needs: arguments, which must not have changed, and all states."""

    cell: Any
    runs: list[list[Run]]
    """By layer and direction."""
    parameters: Any


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
        bias = of.input_bias
        if bias is not None:
            bias = bias + of.state_bias
        gates = _product(x, of.input, bias)
        states, cells = (_states(x, first, reverse) for first in start)
        hidden = empty(gates.shape[1:], x)
        product, cell = thnn.Linear_updateOutput, thnn.LSTMFused_updateOutput
        steps = zip(
            *_ordered(reverse, gates), *_pairs(states, reverse), *_pairs(cells, reverse),
            strict=True,
        )  # fmt: skip
        weight = of.state
        for gate, before, after, cell_before, cell_after in steps if x.shape[1] else ():
            product(None, before, hidden, weight, None, None)
            cell(None, gate, hidden, None, None, cell_before, after, cell_after)
        return Run(of, reverse, x, states, (gates, cells))

    def backward(
        self, run: Run, grad_output: Array | None, grad_last: Sequence[Array | None]
    ) -> tuple[Array, list[Array], list[Array | None]]:
        """The gradients of x, of the states before and of the weights."""
        gates, cells = run.kept
        xp = array_module(gates)
        grads = _gradients(run, grad_output)
        carried, carried_cell = (_carried(run, grad) for grad in grad_last)
        grad_gates = empty(gates.shape, gates)
        product, cell = thnn.Linear_updateGradInput, thnn.LSTMFused_updateGradInput
        # Backward the cells after a step come first.
        after, before = _pairs(cells, not run.reverse)
        steps = zip(
            *_ordered(not run.reverse, grads, gates, grad_gates), after, before, strict=True
        )
        weight = run.weights.state
        for grad, gate, to_gate, cell_after, cell_before in steps if gates.shape[1] else ():
            xp.add(carried, grad, out=carried)
            cell(None, gate, to_gate, cell_before, cell_after, carried, carried_cell, carried_cell)
            product(None, carried, to_gate, carried, weight)
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
        hidden = empty(projected.shape[1:], x)
        product, cell = thnn.Linear_updateOutput, thnn.GRUFused_updateOutput
        steps = zip(*_ordered(reverse, projected, kept), *_pairs(states, reverse), strict=True)
        weight, biases = of.state, of[2:]
        for gate, storage, before, after in steps if x.shape[1] else ():
            product(None, before, hidden, weight, None, None)
            cell(None, gate, hidden, *biases, before, after, storage)
        return Run(of, reverse, x, states, kept)

    def backward(
        self, run: Run, grad_output: Array | None, grad_last: Sequence[Array | None]
    ) -> tuple[Array, list[Array], list[Array | None]]:
        """The gradients of x, of the state before and of the weights."""
        kept = run.kept
        xp = array_module(kept)
        grads = _gradients(run, grad_output)
        carried = _carried(run, grad_last[0])
        through = empty(carried.shape, carried)
        units = carried.shape[1]
        to_input = empty((*kept.shape[:2], 3 * units), kept)
        to_hidden = empty(to_input.shape, kept)
        product, cell = thnn.Linear_updateGradInput, thnn.GRUFused_updateGradInput
        steps = zip(*_ordered(not run.reverse, grads, kept, to_input, to_hidden), strict=True)
        weight = run.weights.state
        for grad, storage, of_input, of_hidden in steps if kept.shape[1] else ():
            xp.add(carried, grad, out=grad)
            cell(None, of_input, of_hidden, grad, through, storage)
            product(None, carried, of_hidden, carried, weight)
            xp.add(carried, through, out=carried)
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


# ---- All layers


def _check_start(cell: Any, x: Array, start: Sequence[Array], count: int, name: str) -> int:
    """The number of units; raises unless input and states fit."""
    if x.ndim != 3 or not x.shape[2]:
        raise Unfit("x", "time x batch x features", f"shape {tuple(x.shape)}")
    for i, state in enumerate(start):
        argument = name if cell.states == 1 else f"{name}[{i}]"
        units = start[0].shape[-1] if start[0].ndim == 3 else 0
        fits = state.ndim == 3 and state.shape == (count, x.shape[1], units) and units > 0
        if not fits:
            size = units if units and i else "units"
            wanted = f"{count} (layers and directions) x {x.shape[1]} (batch) x {size}"
            raise Unfit(argument, wanted, f"shape {tuple(state.shape)}")
    return int(start[0].shape[2])


_NAMES = ("w_ih", "w_hh", "b_ih", "b_hh")


def _weights(cell: Any, parameters: Any, sizes: Sequence[int], directions: int) -> list[Weights]:
    """The parameters of each direction of each layer, whose shapes are right."""
    layers, units, features = sizes
    flat = list(leaves("parameters", parameters))
    each, rest = divmod(len(flat), layers * directions)
    if rest or each not in (2, 4):
        count = layers * directions
        wanted = f"{count} times (w_ih, w_hh, b_ih, b_hh), or (w_ih, w_hh)"
        raise Unfit("parameters", wanted, f"{len(flat)} arrays")
    rows = cell.gates * units
    made = []
    for i in range(layers * directions):
        inputs = features if i < directions else directions * units
        shapes = ((rows, inputs), (rows, units), (rows,), (rows,))
        own = flat[i * each : (i + 1) * each]
        for (path, array), name, shape in zip(own, _NAMES, shapes, strict=False):
            if array.shape != shape:
                place = f"layer {i // directions}" + (", in reverse" if i % directions else "")
                wanted = f"{name} of {place}: shape {shape}"
                raise Unfit(path, wanted, f"shape {tuple(array.shape)}")
        arrays = [array for _, array in own]
        made.append(Weights(*arrays, *[None] * (4 - each)))
    return made


def forward(
    cell: Any, x: Array, start: Sequence[Array], parameters: Any, layers: int, both: bool, name: str
) -> tuple[Array, list[Array], Saved]:
    """The output, the last states and what the backward function needs."""
    if layers < 1:
        raise Unfit("layers", "at least 1", f"{layers}")
    directions = 2 if both else 1
    units = _check_start(cell, x, start, layers * directions, name)
    weights = _weights(cell, parameters, (layers, units, x.shape[2]), directions)
    xp = array_module(x)
    last = [empty(state.shape, state) for state in start]
    runs: list[list[Run]] = []
    output = xp.ascontiguousarray(x)
    for layer in range(layers):
        runs.append([])
        for direction in range(directions):
            i = layer * directions + direction
            first = [xp.ascontiguousarray(state[i]) for state in start]
            run = cell.run(weights[i], output, first, direction == 1)
            runs[-1].append(run)
            last[0][i] = run.states[0 if run.reverse else -1]
            if cell.states == 2:
                last[1][i] = run.kept[1][0 if run.reverse else -1]
        outputs = [run.output for run in runs[-1]]
        output = xp.concatenate(outputs, axis=2) if both else outputs[0]
    # The states are kept: what users get is theirs.
    return output if both else output.copy(), last, Saved(cell, runs, parameters)


def _check_kind(name: str, grad: Array | None, beside: Array) -> None:
    """Raises unless a gradient has the type and the place of what was computed forwards."""
    if grad is None:
        return
    if type(grad) is not type(beside):
        place = "in the CPU's memory" if type(beside) is np.ndarray else "on the device"
        raise Unfit(name, f"an array {place}, where 'saved' lies", "one elsewhere")
    if grad.dtype != beside.dtype:
        raise Unfit(name, f"an array of {beside.dtype}, like 'saved'", f"one of {grad.dtype}")


def backward(
    cell: Any, grad_output: Array | None, grad_last: Sequence[Array | None], saved: Any, name: str
) -> tuple[Array, list[Array], Any]:
    """The gradients of the input, of the first states and of the parameters, in their form."""
    if type(saved) is not Saved or type(saved.cell) is not cell:
        wanted = f"what functional.{cell.name} returned third"
        found = f"that of functional.{saved.cell.name}" if type(saved) is Saved else repr(saved)
        raise Unfit("saved", wanted, found)
    runs = saved.runs
    directions, run = len(runs[0]), runs[-1][0]
    _check_kind("grad_y", grad_output, run.states)
    for grad in grad_last:
        _check_kind(name, grad, run.states)
    steps, batch, units = run.output.shape
    if grad_output is not None:
        check_shape("grad_y", grad_output, (steps, batch, directions * units))
    shape = (len(runs) * directions, batch, units)
    for i, grad in enumerate(grad_last):
        if grad is not None:
            check_shape(name if saved.cell.states == 1 else f"{name}[{i}]", grad, shape)
    first = [empty(shape, run.states) for _ in grad_last]
    gradients: list[list[Array | None]] = []
    grad_input: Array | None = grad_output
    for layer in range(len(runs) - 1, -1, -1):
        inputs = []
        for direction, run in enumerate(runs[layer]):
            i = layer * directions + direction
            own = grad_input
            if own is not None and directions == 2:
                own = own[:, :, direction * units : (direction + 1) * units]
            last = [None if grad is None else grad[i] for grad in grad_last]
            grad_x, before, of_weights = saved.cell.backward(run, own, last)
            for to, grad in zip(first, before, strict=True):
                to[i] = grad
            inputs.append(grad_x)
            gradients.insert(direction, of_weights)
        grad_input = inputs[0] + inputs[1] if directions == 2 else inputs[0]
    flat = [grad for of_weights in gradients for grad in of_weights]
    return cast("Array", grad_input), first, rebuilt(saved.parameters, iter(flat))

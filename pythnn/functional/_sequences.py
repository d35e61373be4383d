"""Recurrent layers: all directions of all layers, whose cells are those of ``_cells.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NoReturn, cast

import numpy as np

from .._calls.recorded import Kept
from .._tensor import array_module
from ._arrays import Array, Unfit, check_shape, zeros
from ._axes import empty
from ._cells import Run
from ._nested import flattened, leaves, rebuilt

__all__ = ["Saved", "backward", "forward"]


class Saved(Kept):
    """What a backward function needs: arguments, which must not have changed, and all states."""

    cell: Any
    runs: list[list[Run]]
    """By layer and direction."""
    parameters: Any

    def __init__(self, cell: Any, runs: list[list[Run]], parameters: Any) -> None:
        super().__init__()
        self.cell, self.runs, self.parameters = cell, runs, parameters

    def __reduce__(self) -> Any:
        return Saved, (self.cell, self.runs, self.parameters)

    def mapped(self, to: Callable[[Any], Any]) -> Saved:
        def run_of(run: Run) -> Run:
            kept = tuple(map(to, run.kept)) if type(run.kept) is tuple else to(run.kept)
            weights = [to(weight) for weight in run.weights]
            return Run(weights, run.reverse, to(run.x), to(run.states), kept)

        runs = [[run_of(run) for run in layer] for layer in self.runs]
        return Saved(self.cell, runs, rebuilt(self.parameters, map(to, flattened(self.parameters))))


def _given(x: Array, start: Sequence[Array | None], parameters: Any, count: int) -> list[Array]:
    """The first states, with zeros in place of those that are None."""
    states = [state for state in start if state is not None]
    flat = flattened(parameters)
    beside = states[0] if states else flat[1] if len(flat) > 1 else x
    shape = (count, x.shape[1] if x.ndim == 3 else 1, max((1, *beside.shape[-1:])))
    return [zeros(shape, x) if state is None else state for state in start]


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


@lru_cache(maxsize=256)
def _fit(
    gates: int,
    layers: int,
    directions: int,
    x: tuple[int, ...],
    starts: tuple[tuple[int, ...], ...],
    parameters: tuple[tuple[int, ...], ...],
) -> bool:
    """Whether input, first states and parameters of these shapes fit each other."""
    start = starts[0]
    return (
        len(start) == len(x) == 3
        and start[:2] == (layers * directions, x[1])
        and starts[-1] == start
        and start[2] * x[2] > 0
        and parameters == _shapes(gates, layers, start[2], x[2], directions, len(parameters))
    )


def _shapes(
    gates: int, layers: int, units: int, features: int, directions: int, count: int
) -> tuple[tuple[int, ...], ...] | None:
    """The shapes of so many parameters, in their order; None if there is another number of them."""
    runs = layers * directions
    if count not in (2 * runs, 4 * runs):
        return None
    rows, found = gates * units, []
    for i in range(runs):
        inputs = features if i < directions else directions * units
        found += [(rows, inputs), (rows, units), (rows,), (rows,)][: count // runs]
    return tuple(found)


def _refuse(parameters: Any, wanted: Any, runs: int, directions: int) -> NoReturn:
    """Raises for the first of the parameters that has not the shape that is wanted of it."""
    flat = list(leaves("parameters", parameters))
    if wanted is None:
        count = f"{runs} times (w_ih, w_hh, b_ih, b_hh), or (w_ih, w_hh)"
        raise Unfit("parameters", count, f"{len(flat)} arrays")
    each = len(flat) // runs
    number = next(n for n, (_, array) in enumerate(flat) if array.shape != wanted[n])
    i, path, array = number // each, *flat[number]
    place = f"layer {i // directions}" + (", in reverse" if i % directions else "")
    shape = f"{_NAMES[number % each]} of {place}: shape {wanted[number]}"
    raise Unfit(path, shape, f"shape {tuple(array.shape)}")


def forward(
    cell: Any,
    x: Array,
    start: Sequence[Array | None],
    parameters: Any,
    layers: int,
    both: bool,
    name: str,
) -> tuple[Array, list[Array], Saved]:
    """The output, the last states and what the backward function needs."""
    if layers < 1:
        raise Unfit("layers", "at least 1", f"{layers}")
    directions = 2 if both else 1
    count = layers * directions
    first, last_state = start[0], start[-1]
    if first is None or last_state is None:
        start = _given(x, start, parameters, count)
        first, last_state = start[0], start[-1]
    flat = flattened(parameters)
    shapes = tuple([array.shape for array in flat])
    starts = (first.shape, last_state.shape)
    if not _fit(cell.gates, layers, directions, x.shape, starts, shapes):
        units = _check_start(cell, x, cast("list[Array]", start), count, name)
        wanted = _shapes(cell.gates, layers, units, x.shape[2], directions, len(flat))
        _refuse(parameters, wanted, count, directions)
    weights = flat if len(flat) == 4 * count else _with_biases(flat)
    if count > 1:
        given = cast("list[Array]", start)
        return _all_runs(cell, x, given, weights, layers, directions, parameters)
    run = cell.run(weights, x, (first[0], last_state[0]), False)
    states = run.states
    ends = [states[-1:].copy()]
    if cell.states == 2:
        ends.append(run.kept[1][-1:].copy())
    # The states are kept: what users get is theirs.
    return states[1:].copy(), ends, Saved(cell, [[run]], parameters)


def _with_biases(flat: Sequence[Array]) -> list[Any]:
    """Weights without biases, with None in their place."""
    found: list[Any] = []
    for i in range(0, len(flat), 2):
        found += [flat[i], flat[i + 1], None, None]
    return found


def _all_runs(
    cell: Any,
    x: Array,
    start: Sequence[Array],
    weights: Sequence[Any],
    layers: int,
    directions: int,
    parameters: Any,
) -> tuple[Array, list[Array], Saved]:
    """What `forward` returns, of several layers or directions."""
    last = [empty(state.shape, state) for state in start]
    runs: list[list[Run]] = []
    output = x
    for layer in range(layers):
        runs.append([])
        for direction in range(directions):
            i = layer * directions + direction
            first = [state[i] for state in start]
            run = cell.run(weights[4 * i : 4 * i + 4], output, first, direction == 1)
            runs[-1].append(run)
            end = 0 if direction else -1
            last[0][i] = run.states[end]
            if cell.states == 2:
                last[1][i] = run.kept[1][end]
        outputs = [run.output for run in runs[-1]]
        output = outputs[0]
        if directions == 2:
            output = array_module(x).concatenate(outputs, axis=2)
    # The states are kept: what users get is theirs.
    return output if directions == 2 else output.copy(), last, Saved(cell, runs, parameters)


def _check_like(beside: Array, name: str, grad: Array, shape: tuple[int, ...]) -> None:
    """Raises unless a gradient has this shape, and the type and the place of what was computed."""
    if type(grad) is not type(beside):
        place = "in the CPU's memory" if type(beside) is np.ndarray else "on the device"
        raise Unfit(name, f"an array {place}, where 'saved' lies", "one elsewhere")
    if grad.dtype != beside.dtype:
        raise Unfit(name, f"an array of {beside.dtype}, like 'saved'", f"one of {grad.dtype}")
    if grad.shape != shape:
        check_shape(name, grad, shape)


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
    states = run.states
    after, batch, units = states.shape
    shape = (len(runs) * directions, batch, units)
    if grad_output is not None:
        _check_like(states, "grad_y", grad_output, (after - 1, batch, directions * units))
    for i, grad in enumerate(grad_last):
        if grad is not None:
            of = name if saved.cell.states == 1 else f"{name}[{i}]"
            _check_like(states, of, grad, shape)
    if shape[0] == 1:
        last = [None if grad is None else grad[0] for grad in grad_last]
        grad_x, before, flat = saved.cell.backward(run, grad_output, last)
        return grad_x, [grad[None] for grad in before], rebuilt(saved.parameters, iter(flat))
    return _back_through(saved, grad_output, grad_last, shape)


def _back_through(
    saved: Saved, grad_output: Array | None, grad_last: Sequence[Array | None], shape: Any
) -> tuple[Array, list[Array], Any]:
    """What `backward` returns, of several layers or directions."""
    runs = saved.runs
    directions, units = len(runs[0]), shape[2]
    first = [empty(shape, runs[0][0].states) for _ in grad_last]
    gradients: list[list[Array]] = []
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

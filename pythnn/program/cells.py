"""Cells of LSTMs that a graph spells out with a layer for each function, as one step.

A graph as of char-rnn adds two products, cuts the sums into gates, and computes with these element
by element: a dozen steps, each of which reads and writes memory. They are recognised by what they
compute, in whatever order and with whatever views. The numbers are the same but for rounding
errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._tensor import Tensor
from ..graph.functions import functions
from ..graph.operations import Buffer, Constant, Kernel, Operation, View
from .uses import argument, users
from .weights import Weights

__all__ = ["join_cells"]

_APPLIED = {"Sigmoid_updateOutput": "sigmoid", "Tanh_updateOutput": "tanh"}
_COMBINED = {"Tensor.cadd": "sum", "Tensor.cmul": "product"}
_LINEAR = "Linear_updateOutput"
_CELL = "LSTMFused_updateOutput"
_GATES = 4


@dataclass(eq=False)
class _Value:
    """What a matrix holds: an expression, in which what is computed otherwise is a leaf."""

    kind: str
    """``sum``, ``product``, ``sigmoid``, ``tanh``, ``columns`` or ``leaf``."""
    of: tuple[_Value, ...]
    view: View
    """Where it was computed, or read first."""
    begin: int = 0
    """The first one of the columns."""

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.view.shape[-1]


@dataclass
class _Cell:
    """A cell of an LSTM."""

    products: tuple[_Value, ...]
    """What it adds: products of its input and of its output before."""
    order: tuple[int, ...]
    """Which quarters of these are the input and the forget gate, the new state, the output gate."""
    before: _Value
    kept: _Value
    """What is left of the state before."""
    after: _Value
    output: _Value


def join_cells(
    operations: Sequence[Operation], results: Iterable[View], weights: Weights
) -> list[Operation]:
    """The operations, with cells of LSTMs as one each.

    That is, where nobody else reads what they compute on the way, and linear layers make the
    products. Their weights' rows are put into the order of the cell's function once for all sizes.
    """
    kept = list(operations)
    read_later = {view.buffer for view in results}
    values = _Values()
    for operation in operations:
        value = values.follow(operation)
        cell = None if value is None else _cell(value)
        if cell is not None:
            kept = _joined(kept, cell, values, read_later, weights) or kept
    return kept


# ---- What operations compute


class _Values:
    """What matrices hold, as operations are followed one after the other."""

    def __init__(self) -> None:
        self._held: dict[Buffer, _Value] = {}
        self._copies: dict[Buffer, list[Buffer]] = {}
        self.makers: dict[_Value, Operation] = {}
        self.followed: set[int] = set()
        """The ids of operations whose values are known."""

    def follow(self, operation: Operation) -> _Value | None:
        """The value that an operation computes; None where it is a leaf."""
        value = self._computed(operation) if isinstance(operation, Kernel) else None
        for view in operation.writes:
            self._forget(view.buffer)
        if value is None:
            return None
        made = operation.writes[0].buffer
        self._held[made] = value
        self.followed.add(id(operation))
        if value.view.buffer is made:
            self.makers[value] = operation
        else:
            self._copies.setdefault(value.view.buffer, []).append(made)
        return value

    def fills(self, operation: Operation, buffer: Buffer) -> bool:
        """Whether an operation whose value is known writes a buffer."""
        return id(operation) in self.followed and operation.writes[0].buffer is buffer

    def _forget(self, buffer: Buffer) -> None:
        """Forgets what a buffer holds that is written, and that others hold what was in it."""
        for copy in self._copies.pop(buffer, []):
            if copy in self._held and self._held[copy].view.buffer is buffer:
                del self._held[copy]
        self._held.pop(buffer, None)

    def _computed(self, kernel: Kernel) -> _Value | None:
        if len(kernel.writes) != 1 or not kernel.writes[0].is_whole:
            return None
        made = kernel.writes[0]
        if kernel.function == "Tensor.copy" and kernel.reads:
            source = self._read(kernel.reads[0])
            return source if source and source.view.shape == made.shape else None
        if kernel.function in _APPLIED:
            operands = [self._read(kernel.reads[0])]
            kind = _APPLIED[kernel.function]
        elif kernel.function in _COMBINED and len(kernel.reads) == 2:
            if kernel.function == "Tensor.cadd" and kernel.arguments[2] != 1:
                return None
            operands, kind = [self._read(view) for view in kernel.reads], _COMBINED[kernel.function]
        else:
            return None
        of = tuple(one for one in operands if one and one.view.shape == made.shape)
        return _Value(kind, of, made) if len(of) == len(operands) else None

    def _read(self, view: View) -> _Value | None:
        """What a matrix holds; None for other views, and for columns of what is not known."""
        if len(view.shape) != 2:
            return None
        if view.is_whole:
            if view.buffer not in self._held:
                self._held[view.buffer] = _Value("leaf", (), view)
            return self._held[view.buffer]
        whole = self._held.get(view.buffer)
        rows, width = view.shape
        if whole is None or whole.view.shape[0] != rows or view.strides != (whole.width, 1):
            return None
        return _columns(whole, view, view.offset) if view.offset + width <= whole.width else None


def _columns(value: _Value, view: View, begin: int) -> _Value:
    """Some columns of a value, as a function of columns."""
    if value.kind in _APPLIED.values():
        return _Value(value.kind, (_columns(value.of[0], view, begin),), view)
    if value.kind == "columns":
        return _Value("columns", value.of, view, value.begin + begin)
    return _Value("columns", (value,), view, begin)


# ---- Which of them are cells


def _cell(output: _Value) -> _Cell | None:
    """The cell whose output a value is: sigmoid(o) tanh(after)."""
    for opening, activated in _pairs(output, "product"):
        if activated.kind != "tanh":
            continue
        after = activated.of[0]
        for kept, added in _pairs(after, "sum"):
            for forget, before in _pairs(kept, "product"):
                for entry, new in _pairs(added, "product"):
                    total = _gated(entry, forget, new, opening)
                    if total is not None:
                        products, order = total
                        return _Cell(products, order, before, kept, after, output)
    return None


def _pairs(value: _Value, kind: str) -> list[tuple[_Value, _Value]]:
    """Both orders of what is added or multiplied; none if a value is something else."""
    if value.kind != kind:
        return []
    first, second = value.of
    return [(first, second), (second, first)]


def _gated(*gates: _Value) -> tuple[tuple[_Value, ...], tuple[int, ...]] | None:
    """What is added and cut into these gates, and which quarters they are."""
    if [one.kind for one in gates] != ["sigmoid", "sigmoid", "tanh", "sigmoid"]:
        return None
    parts = [one.of[0] for one in gates]
    if any(one.kind != "columns" for one in parts):
        return None
    total, units = parts[0].of[0], parts[0].width
    begins = [one.begin for one in parts]
    is_cut = total.kind == "sum" and total.width == _GATES * units
    if not is_cut or sorted(begins) != [n * units for n in range(_GATES)]:
        return None
    if any(one.of[0] is not total or one.width != units for one in parts):
        return None
    return total.of, tuple(begin // units for begin in begins)


# ---- Joining them


def _joined(
    operations: list[Operation],
    cell: _Cell,
    values: _Values,
    read_later: set[Buffer],
    weights: Weights,
) -> list[Operation] | None:
    """The operations with one in the place of a cell's; None if others read what these compute."""
    made = [cell.output, cell.after]
    ends = [operations.index(values.makers[one]) for one in made]
    gone: set[int] = set()
    for one, end in zip(made, ends, strict=True):
        steps = users(operations[: end + 1])[one.view.buffer]
        if not all(values.fills(step, one.view.buffer) for step in steps):
            return None
        gone |= {id(step) for step in steps}
    begin = operations.index(values.makers[cell.kept])
    written = {view.buffer for one in operations[begin : ends[1]] for view in one.writes}
    if cell.before.view.buffer in written:
        return None
    products = [one.view for one in cell.products]
    joined = Kernel(
        _CELL,
        [None, *products, None, None, cell.before.view, cell.output.view, cell.after.view],
        [*products, cell.before.view],
        [cell.output.view, cell.after.view, products[0]],
        f"{values.makers[cell.kept].place} to {values.makers[cell.output].place}",
    )
    kept = [joined if one is values.makers[cell.after] else one for one in operations]
    kept = _without_unread([one for one in kept if id(one) not in gone], values, read_later)
    used = users(kept)
    for view in products:
        layer, *readers = used[view.buffer]
        if not _is_layer(layer, view) or readers != [joined] or view.buffer in read_later:
            return None
        kept = [_ordered(one, cell.order, weights) if one is layer else one for one in kept]
    return kept


def _without_unread(
    operations: list[Operation], values: _Values, read_later: set[Buffer]
) -> list[Operation]:
    """The operations but those whose values nobody reads any more."""
    while True:
        unread = {
            buffer
            for buffer, steps in users(operations).items()
            if buffer not in read_later and all(values.fills(step, buffer) for step in steps)
        }
        if not unread:
            return operations
        operations = [one for one in operations if one.writes[0].buffer not in unread]


def _is_layer(operation: Operation, made: View) -> bool:
    """Whether an operation is a linear layer with known parameters that makes a matrix."""
    if not isinstance(operation, Kernel) or operation.function != _LINEAR:
        return False
    weight, bias = argument(operation, "weight"), argument(operation, "bias")
    known = isinstance(weight, Constant) and (bias is None or isinstance(bias, Constant))
    return known and operation.writes[0] == made


def _ordered(layer: Operation, order: tuple[int, ...], weights: Weights) -> Kernel:
    """A linear layer whose results are in another order of quarters."""
    assert isinstance(layer, Kernel)  # noqa: S101 (_is_layer)
    names = [name for name in ("weight", "bias") if argument(layer, name) is not None]
    given = [argument(layer, name).value for name in names]
    made = weights.folded(
        given, (_CELL, order), lambda: tuple(_in_order(one, order) for one in given)
    )
    arguments = list(layer.arguments)
    for name, value in zip(names, made, strict=True):
        place = functions[_LINEAR].index_of(name)
        assert place is not None  # noqa: S101 (it has both)
        arguments[place] = value
    return replace(layer, arguments=arguments)


def _in_order(parameter: Tensor, order: tuple[int, ...]) -> Constant:
    """A parameter of a linear layer with its rows in another order of quarters."""
    quarters = np.split(parameter.numpy(), _GATES)
    return Constant(Tensor(np.concatenate([quarters[n] for n in order])))

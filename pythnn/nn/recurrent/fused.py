"""Steps of LSTMs and GRUs through the cells of C, several at once where they are given together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ... import thnn
from ..._tensor import Tensor
from ..linear.linear import Linear
from ..object.tables import add_into
from ._cell_math import (
    GRU_GATES,
    LSTM_GATES,
    add_product_of_rows,
    lstm_cell,
    lstm_cell_back,
    rows_of,
)
from .simple import LinearNoBias
from .step import add_gru_gradient

if TYPE_CHECKING:
    from ..object.module import Module
    from .step import StepGRU, StepLSTM

__all__ = [
    "Formulas", "GruOfLinear", "GruOfStep", "LstmOfLinear", "LstmOfStep", "OneStep", "Run",
    "empty", "is_like", "is_product", "is_replaced",
]  # fmt: skip


def empty(like: Tensor, *shape: int) -> Tensor:
    """A Tensor to write, of the type and on the device of another."""
    return Tensor(dtype=like.dtype, device=like.device).resize(*shape)


# ---- Whether a module is as it was made

_REPLACEABLE = frozenset(("updateOutput", "updateGradInput", "accGradParameters", "backward"))
_SETTINGS = (
    "offset",
    "length",
    "index",
    "dimension",
    "nInputDims",
    "size",
    "addend",
    "negate",
    "p",
)


def is_replaced(module: Any) -> bool:
    """Whether an object has methods of its own for computing."""
    return not _REPLACEABLE.isdisjoint(module.__dict__)


def is_like(module: Module, pattern: Any, holes: dict[int, int], found: dict[int, Module]) -> bool:
    """Whether a module computes what another does.

    `holes` has the ids of modules of the pattern in whose place may be any; `found` gets these, by
    what `holes` has for them.
    """
    if id(pattern) in holes:
        found[holes[id(pattern)]] = module
        return True
    own, other = module.__dict__, pattern.__dict__
    if type(module) is not type(pattern) or is_replaced(module):
        return False
    if "modules" in other:
        inside, wanted = own["modules"], other["modules"]
        return len(inside) == len(wanted) and all(
            is_like(one, two, holes, found) for one, two in zip(inside, wanted, strict=True)
        )
    return all(own.get(name) == other[name] for name in _SETTINGS if name in other)


def is_product(module: Any, outputs: int, biased: bool) -> bool:
    """Whether a module is the plain product of a cell, of so many numbers."""
    own = module.tensors
    return (
        type(module) is (Linear if biased else LinearNoBias)
        and not is_replaced(module)
        and own.weight is not None
        and own.weight.shape[0] == outputs
        and (own.bias is not None) == biased
    )


# ---- What was computed


@dataclass
class Run:
    """Steps that were computed together: what came of them, time first."""

    formulas: Formulas
    states: Tensor
    """Outputs before and after the steps: (steps + 1) x batch x units."""
    cells: Any
    """The same of an LSTM's cells, else None."""
    kept: list[Tensor]
    """What the way back needs: steps x batch x ..."""
    slopes: Tensor | None = None
    """The gradients before the functions of the gates: steps x batch x columns."""
    start: int = 0
    """The first step's place among those that were computed together."""

    def __len__(self) -> int:
        return int(self.states.shape[0]) - 1

    def only(self, place: int) -> Run:
        """One step of these."""
        if len(self) == 1:
            return self
        cells = None if self.cells is None else self.cells.narrow(0, place, 2)
        return replace(
            self,
            states=self.states.narrow(0, place, 2),
            cells=cells,
            kept=[one.narrow(0, place, 1) for one in self.kept],
            slopes=self.room().narrow(0, place, 1),
        )

    def room(self) -> Tensor:
        """The gradients before the functions, to be written."""
        if self.slopes is None:
            steps, batch, _ = self.states.shape
            self.slopes = empty(self.states, steps - 1, batch, self.formulas.columns)
        return self.slopes

    def before(self) -> Tensor:
        """The outputs before the steps."""
        return self.states.narrow(0, 0, len(self))


@dataclass
class OneStep:
    """A step by itself: the state before and after it; a Run once something goes back through."""

    formulas: Formulas
    past: list[Tensor]
    state: list[Tensor]
    kept: list[Tensor]
    run: Run | None = None

    def __len__(self) -> int:
        return 1

    def only(self, _: int) -> Run:
        """The step as a run."""
        if self.run is None:
            states = []
            for pair in zip(self.past, self.state, strict=True):
                states.append(empty(pair[1], 2, *pair[1].shape))
                for place, one in enumerate(pair):
                    states[-1].select(0, place).copy_from(one)
            cells = states[1] if len(states) > 1 else None
            self.run = Run(self.formulas, states[0], cells, self.kept)
        return self.run


class Formulas(ABC):
    """The formulas of a cell, with the parameters of a module."""

    units: int
    columns: int
    """The number of gates times that of units."""
    inputs: int

    @property
    @abstractmethod
    def weight(self) -> Tensor:
        """The weight for the input, or one of them."""

    @abstractmethod
    def run(self, x: Tensor, states: Tensor, cells: Tensor | None) -> list[Tensor]:
        """Computes the steps of `x`, steps x batch x inputs; returns what the way back needs.

        `states` and `cells` have what was before the first step, and get the rest.
        """

    def one(self, x: Tensor, past: list[Tensor]) -> tuple[Run | OneStep, list[Tensor]]:
        """Computes one step of batch x inputs from a state; returns what came of it, and the state.

        All are of batch x units.
        """
        batch = x.shape[0]
        rooms = [empty(x, 2, batch, self.units) for _ in past]
        for room, one in zip(rooms, past, strict=True):
            room.select(0, 0).copy_from(one)
        cells = rooms[1] if len(rooms) > 1 else None
        run = Run(
            self, rooms[0], cells, self.run(x.contiguous().view(1, batch, -1), rooms[0], cells)
        )
        return run, [room.select(0, 1) for room in rooms]

    @abstractmethod
    def back(self, run: Run, shown: Tensor, dh: Tensor, dc: Tensor | None) -> Tensor:
        """The gradient of the input, from the last step to the first.

        `shown` is that of the outputs; `dh` and `dc` are those of the last output and cell from
        later steps, and become those of the first step's state before. Writes the run's slopes.
        """

    @abstractmethod
    def gather(self, run: Run, x: Tensor, scale: float) -> None:
        """Adds the gradients of the parameters, from the run's slopes."""


# ---- Cells whose products are linear layers


def _reorder(to: Any, values: Any) -> None:
    """Copies arrays with the middle two of four gates in the last dimension exchanged.

    FastLSTM has the new cell before the forget gate, C's cells after it.
    """
    size = values.shape[-1] // LSTM_GATES
    to[..., :size], to[..., 3 * size :] = values[..., :size], values[..., 3 * size :]
    to[..., size : 2 * size] = values[..., 2 * size : 3 * size]
    to[..., 2 * size : 3 * size] = values[..., size : 2 * size]


def _in_other_order(values: Tensor) -> Tensor:
    """A copy whose middle two of four gates are exchanged."""
    made = empty(values, *values.shape)
    _reorder(made.array(), values.array())
    return made


def _times(slopes: Tensor, weight: Tensor) -> Tensor:
    """Steps of rows times a matrix."""
    steps, batch, _ = slopes.shape
    found = empty(slopes, steps * batch, weight.shape[1])
    thnn.Linear_updateGradInput(None, found, rows_of(slopes), found, weight)
    return found.view(steps, batch, -1)


class LstmOfLinear(Formulas):
    """FastLSTM's: one product of all gates for the input, and one for the output before."""

    def __init__(self, of_input: Linear, of_output: Linear) -> None:
        self.of_input, self.of_output = of_input, of_output
        self.columns, self.inputs = self.weight.shape
        self.units = self.columns // LSTM_GATES

    @property
    def weight(self) -> Tensor:
        found: Tensor = self.of_input.tensors.weight
        return found

    def _fed_back(self) -> Tensor:
        """The weight for the output before, its rows in the order of C's cells."""
        weight = self.of_output.tensors.weight
        return _in_other_order(weight.view(1, -1)).view(weight.shape)

    def run(self, x: Tensor, states: Tensor, cells: Any) -> list[Tensor]:
        steps, batch, _ = x.shape
        own, sums = self.of_input.tensors, empty(x, steps * batch, self.columns)
        thnn.Linear_updateOutput(None, rows_of(x), sums, own.weight, own.bias, None)
        gates, weight = _in_other_order(sums.view(steps, batch, -1)), self._fed_back()
        thnn.LSTMSteps_updateOutput(None, gates, weight, None, None, states, cells, False)
        return [gates]

    def one(self, x: Tensor, past: list[Tensor]) -> tuple[OneStep, list[Tensor]]:
        batch, own, weight = x.shape[0], self.of_input.tensors, self.of_output.tensors.weight
        sums, hidden = (empty(x, batch, self.columns) for _ in range(2))
        thnn.Linear_updateOutput(None, x, sums, own.weight, own.bias, None)
        thnn.Linear_updateOutput(None, past[0], hidden, weight, None, None)
        gates = empty(x, 1, batch, self.columns)
        values = gates.array()[0]
        _reorder(values, add_into(sums, hidden).array())
        state = [empty(x, batch, self.units) for _ in range(2)]
        lstm_cell(values, hidden.zero().array(), past[1].array(), *(one.array() for one in state))
        return OneStep(self, past, state, [gates]), state

    def back(self, run: Run, shown: Tensor, dh: Tensor, dc: Any) -> Tensor:
        (gates,), cells, slopes = run.kept, run.cells, run.room()
        found = empty(gates, *gates.shape)
        if len(run) > 1:
            weight = self._fed_back()
            thnn.LSTMSteps_updateGradInput(None, gates, weight, cells, shown, found, dh, dc, False)
            slopes.copy_from(_in_other_order(found))
        else:
            add_into(dh, shown.select(0, 0))
            before, after = (cells.select(0, t) for t in (0, 1))
            lstm_cell_back(gates.select(0, 0), found.select(0, 0), before, after, dh, dc, dc)
            slopes.copy_from(_in_other_order(found))
            weight = self.of_output.tensors.weight
            thnn.Linear_updateGradInput(None, dh, slopes.select(0, 0), dh, weight)
        return _times(slopes, self.weight)

    def gather(self, run: Run, x: Tensor, scale: float) -> None:
        slopes = rows_of(run.room())
        self.of_input.accGradParameters(rows_of(x), slopes, scale)
        self.of_output.accGradParameters(rows_of(run.before()), slopes, scale)


class GruOfLinear(Formulas):
    """GRU's: products of reset and update gates, and two of the new state.

    Reset and update gates are products of the input and of the output before; the new state has
    one of the input, and one of the output before times the reset gate.
    """

    def __init__(self, *products: Linear) -> None:
        self.of_input, self.of_output, self.new_input, self.new_output = products
        self.inputs, self.units = self.weight.shape[1], self.new_output.tensors.weight.shape[0]
        self.columns = GRU_GATES * self.units

    @property
    def weight(self) -> Tensor:
        found: Tensor = self.of_input.tensors.weight
        return found

    def _joined(self, name: str, *products: Linear) -> Tensor:
        """Parameters of two products, the rows of one after those of the other."""
        parts = [getattr(product.tensors, name) for product in products]
        made = empty(parts[0], self.columns, *parts[0].shape[1:])
        for first, part in zip((0, 2 * self.units), parts, strict=True):
            made.narrow(0, first, part.shape[0]).copy_from(part)
        return made

    def _fed_back(self) -> Tensor:
        """The weight for the output before as SeqGRU has it: units x gates."""
        rows = self._joined("weight", self.of_output, self.new_output)
        return empty(rows, self.units, self.columns).copy_from(rows.transpose(0, 1))

    def run(self, x: Tensor, states: Tensor, cells: Any) -> list[Tensor]:
        steps, batch, _ = x.shape
        weight, bias = (
            self._joined(name, self.of_input, self.new_input) for name in ("weight", "bias")
        )
        gates, reset = empty(x, steps, batch, self.columns), empty(x, steps, batch, self.units)
        thnn.Linear_updateOutput(None, rows_of(x), rows_of(gates), weight, None, None)
        thnn.SeqGRU_updateOutput(None, gates, self._fed_back(), bias, None, states, reset)
        return [gates, reset]

    def one(self, x: Tensor, past: list[Tensor]) -> tuple[OneStep, list[Tensor]]:
        size, before = self.units, past[0].array()
        sums = self._sums(x, past[0], self.of_input, self.of_output)
        thnn.Sigmoid_updateOutput(None, sums, sums)
        values, reset = sums.array(), empty(x, x.shape[0], size)
        reset.array()[...] = values[:, :size] * before
        new = self._sums(x, reset, self.new_input, self.new_output)
        thnn.Tanh_updateOutput(None, new, new)
        gates, after, now = (
            empty(x, 1, x.shape[0], self.columns),
            empty(x, *reset.shape),
            new.array(),
        )
        after.array()[...] = now + values[:, size:] * (before - now)
        all_gates = gates.array()[0]
        all_gates[:, : 2 * size], all_gates[:, 2 * size :] = values, now
        return OneStep(self, past, [after], [gates, reset.unsqueeze(0)]), [after]

    def _sums(self, x: Tensor, h: Tensor, of_input: Linear, of_output: Linear) -> Tensor:
        """Both products of one step."""
        own, weight = of_input.tensors, of_output.tensors.weight
        sums, past = (empty(x, x.shape[0], weight.shape[0]) for _ in range(2))
        thnn.Linear_updateOutput(None, x, sums, own.weight, own.bias, None)
        thnn.Linear_updateOutput(None, h, past, weight, None, None)
        found: Tensor = add_into(sums, past)
        return found

    def back(self, run: Run, shown: Tensor, dh: Tensor, dc: Any) -> Tensor:
        slopes = run.room()
        if len(run) > 1:
            thnn.SeqGRU_updateGradInput(
                None, run.kept[0], self._fed_back(), None, run.states, shown, slopes, dh
            )
            return _times(slopes, self._joined("weight", self.of_input, self.new_input))
        self._back_one(run, shown, slopes.array()[0], dh)
        size, rows = 2 * self.units, slopes.select(0, 0)
        dx, more = (empty(dh, dh.shape[0], self.inputs) for _ in range(2))
        for made, first, product in ((dx, 0, self.of_input), (more, size, self.new_input)):
            part = rows.narrow(1, first, product.tensors.weight.shape[0]).contiguous()
            thnn.Linear_updateGradInput(None, made, part, made, product.tensors.weight)
        add_into(dx, more)
        return dx.unsqueeze(0)

    def _back_one(self, run: Run, shown: Tensor, da: Any, dh: Tensor) -> None:
        """Writes the gradients before the functions, and that of the output before in `dh`."""
        size = self.units
        add_into(dh, shown.select(0, 0))
        g, h, gates = dh.array(), run.states.select(0, 0).array(), run.kept[0].array()[0]
        r, u, n = (gates[:, place * size : (place + 1) * size] for place in range(GRU_GATES))
        of_new, through = (empty(dh, *dh.shape) for _ in range(2))
        of_new.array()[...] = g * (1 - u) * (1 - n * n)
        thnn.Linear_updateGradInput(None, through, of_new, through, self.new_output.tensors.weight)
        of_reset = through.array()
        of_gates, past = empty(dh, dh.shape[0], 2 * size), empty(dh, *dh.shape)
        both = of_gates.array()
        both[:, :size] = of_reset * h * r * (1 - r)
        both[:, size:] = g * (h - n) * u * (1 - u)
        da[:, : 2 * size], da[:, 2 * size :] = both, of_new.array()
        thnn.Linear_updateGradInput(None, past, of_gates, past, self.of_output.tensors.weight)
        g *= u
        g += of_reset * r
        add_into(dh, past)

    def gather(self, run: Run, x: Tensor, scale: float) -> None:
        slopes, first = rows_of(run.room()), 2 * self.units
        given, before, reset = (rows_of(one) for one in (x, run.before(), run.kept[1].contiguous()))
        parts = [slopes.narrow(1, at, size).contiguous()
                 for at, size in ((0, first), (first, self.units))]  # fmt: skip
        self.of_input.accGradParameters(given, parts[0], scale)
        self.of_output.accGradParameters(before, parts[0], scale)
        self.new_input.accGradParameters(given, parts[1], scale)
        self.new_output.accGradParameters(reset, parts[1], scale)


# ---- Cells with the parameters of SeqLSTM and SeqGRU


class _OfStep(Formulas):
    """The cell of StepLSTM or StepGRU: the weight has rows for the input and the output before."""

    def __init__(self, step: StepLSTM | StepGRU) -> None:
        self.step = step
        rows, self.columns = self.weight.shape
        self.units = self.columns // step._gates
        self.inputs = rows - self.units

    @property
    def weight(self) -> Tensor:
        found: Tensor = self.step.tensors.weight
        return found

    def _parts(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """The rows for the input, and for the output before."""
        return weight.narrow(0, 0, self.inputs), weight.narrow(0, self.inputs, self.units)

    def _products(self, x: Tensor) -> Tensor:
        gates = empty(x, *x.shape[:2], self.columns)
        rows = rows_of(gates)
        thnn.Linear_updateGradInput(None, rows, rows_of(x), rows, self._parts(self.weight)[0])
        return gates

    def _of_input(self, slopes: Tensor) -> Tensor:
        steps, batch, _ = slopes.shape
        found = empty(slopes, steps, batch, self.inputs)
        weight = self._parts(self.weight)[0]
        thnn.Linear_updateOutput(None, rows_of(slopes), rows_of(found), weight, None, None)
        return found

    def gather(self, run: Run, x: Tensor, scale: float) -> None:
        slopes = run.room()
        of_input, fed_back = self._parts(self.step.tensors.gradWeight)
        add_product_of_rows(of_input, rows_of(x), rows_of(slopes), scale)
        self._gather_fed_back(fed_back, run, rows_of(slopes), scale)
        self.step.add_to_bias(slopes, scale)

    @abstractmethod
    def _gather_fed_back(self, gradient: Tensor, run: Run, slopes: Tensor, scale: float) -> None:
        """Adds the gradient of the rows of the weight for the output before."""


class LstmOfStep(_OfStep):
    """StepLSTM's, without a projection."""

    def run(self, x: Tensor, states: Tensor, cells: Any) -> list[Tensor]:
        gates, own = self._products(x), self.step.tensors
        weight = self._parts(self.weight)[1]
        thnn.SeqLSTM_updateOutput(None, gates, weight, own.bias, None, states, cells)
        return [gates]

    def back(self, run: Run, shown: Tensor, dh: Tensor, dc: Any) -> Tensor:
        weight, slopes = self._parts(self.weight)[1], run.room()
        thnn.SeqLSTM_updateGradInput(
            None, run.kept[0], weight, None, run.cells, shown, slopes, dh, dc
        )
        return self._of_input(slopes)

    def _gather_fed_back(self, gradient: Tensor, run: Run, slopes: Tensor, scale: float) -> None:
        add_product_of_rows(gradient, rows_of(run.before()), slopes, scale)


class GruOfStep(_OfStep):
    """StepGRU's."""

    def run(self, x: Tensor, states: Tensor, cells: Any) -> list[Tensor]:
        gates, reset = self._products(x), empty(x, *x.shape[:2], self.units)
        weight, bias = self._parts(self.weight)[1], self.step.tensors.bias
        thnn.SeqGRU_updateOutput(None, gates, weight, bias, None, states, reset)
        return [gates, reset]

    def back(self, run: Run, shown: Tensor, dh: Tensor, dc: Any) -> Tensor:
        weight, slopes = self._parts(self.weight)[1], run.room()
        thnn.SeqGRU_updateGradInput(None, run.kept[0], weight, None, run.states, shown, slopes, dh)
        return self._of_input(slopes)

    def _gather_fed_back(self, gradient: Tensor, run: Run, slopes: Tensor, scale: float) -> None:
        add_gru_gradient(gradient, rows_of(run.before()), rows_of(run.kept[1]), slopes, scale)

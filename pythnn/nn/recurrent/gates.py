"""Steps of rnn's LSTM, whose gates are modules of their own and may look at the cell."""

from __future__ import annotations

from typing import Any

from ... import thnn
from ..._tensor import Tensor, array_module
from ..linear.linear import Linear
from ..linear.scaling import CMul
from ..object.tables import add_into
from ._cell_math import LSTM_GATES, lstm_cell, lstm_cell_back, rows_of
from .fused import Formulas, Run, empty

__all__ = ["LstmOfGates"]

_INPUT, _FORGET, _NEW, _OUTPUT = range(LSTM_GATES)
"""The places of gates in rows, those of C's cells."""


class LstmOfGates(Formulas):
    """LSTM's: two products for each gate, and peepholes of input, forget and output gates or none.

    A peephole adds a multiple of the cell: of that before for input and forget gates, of the new
    one for the output gate, which C's cell therefore does not compute.
    """

    def __init__(
        self, of_input: list[Linear], of_output: list[Linear], peepholes: list[CMul]
    ) -> None:
        self.of_input, self.of_output = of_input, of_output
        self.peepholes = dict(zip((_INPUT, _FORGET, _OUTPUT), peepholes, strict=False))
        self.units, self.inputs = self.weight.shape
        self.columns = LSTM_GATES * self.units

    @property
    def weight(self) -> Tensor:
        found: Tensor = self.of_input[0].tensors.weight
        return found

    def _joined(self, name: str, products: list[Linear]) -> Tensor:
        """The parameters of all gates, the rows of one after those of the other."""
        parts = [getattr(product.tensors, name) for product in products]
        made = empty(parts[0], self.columns, *parts[0].shape[1:])
        for gate, part in enumerate(parts):
            made.narrow(0, gate * self.units, self.units).copy_from(part)
        return made

    def _columns(self, values: Any, gate: int) -> Any:
        """A gate's columns of an array of all."""
        return values[..., gate * self.units : (gate + 1) * self.units]

    def _looks(self, gate: int) -> Any:
        """The factors of a gate's peephole."""
        return self.peepholes[gate].tensors.weight.array().reshape(-1)

    # ---- Forwards

    def run(self, x: Tensor, states: Tensor, cells: Any) -> list[Tensor]:
        steps, batch, _ = x.shape
        gates = empty(x, steps, batch, self.columns)
        if steps == 1:
            self._add_products(x, states, gates)
            hidden = empty(x, batch, self.columns).zero()
            self._step(gates, hidden, states, cells, 0)
            return [gates]
        weight, bias = (self._joined(name, self.of_input) for name in ("weight", "bias"))
        fed_back = self._joined("weight", self.of_output)
        thnn.Linear_updateOutput(None, rows_of(x), rows_of(gates), weight, bias, None)
        if not self.peepholes:
            thnn.LSTMSteps_updateOutput(None, gates, fed_back, None, None, states, cells, False)
            return [gates]
        hidden = empty(x, batch, self.columns)
        for step in range(steps):
            thnn.Linear_updateOutput(None, states.select(0, step), hidden, fed_back, None, None)
            self._step(gates, hidden, states, cells, step)
        return [gates]

    def _add_products(self, x: Tensor, states: Tensor, gates: Tensor) -> None:
        """The sums of one step, gate by gate: its weights are read where they are."""
        sums, past = (empty(x, x.shape[1], self.units) for _ in range(2))
        to, h = gates.array()[0], states.select(0, 0)
        for gate, (given, fed_back) in enumerate(zip(self.of_input, self.of_output, strict=True)):
            own = given.tensors
            thnn.Linear_updateOutput(None, x.select(0, 0), sums, own.weight, own.bias, None)
            thnn.Linear_updateOutput(None, h, past, fed_back.tensors.weight, None, None)
            self._columns(to, gate)[...] = add_into(sums, past).array()

    def _step(self, gates: Tensor, hidden: Tensor, states: Any, cells: Any, step: int) -> None:
        """A step from the sums of the input and of the output before."""
        before, after = cells.select(0, step), cells.select(0, step + 1)
        row, shown = gates.select(0, step), states.select(0, step + 1)
        if not self.peepholes:
            lstm_cell(row, hidden, before, shown, after)
            return
        values, c = row.array(), before.array()
        for gate in (_INPUT, _FORGET):
            part = self._columns(values, gate)
            part += self._looks(gate) * c
        output = self._columns(values, _OUTPUT) + self._columns(hidden.array(), _OUTPUT)
        lstm_cell(row, hidden, before, shown, after)
        new, xp = after.array(), array_module(c)
        output += self._looks(_OUTPUT) * new
        # The logistic function by tanh, which does not overflow.
        opened = (1 + xp.tanh(output / 2)) / 2
        self._columns(values, _OUTPUT)[...] = opened
        shown.array()[...] = opened * xp.tanh(new)

    # ---- Backwards

    def back(self, run: Run, shown: Tensor, dh: Tensor, dc: Any) -> Tensor:
        (gates,), slopes = run.kept, run.room()
        if len(run) == 1:
            add_into(dh, shown.select(0, 0))
            self._step_back(run, 0, slopes, dh, dc)
            return self._times_weights(slopes, dh)
        fed_back = self._joined("weight", self.of_output)
        if self.peepholes:
            for step in reversed(range(len(run))):
                add_into(dh, shown.select(0, step))
                self._step_back(run, step, slopes, dh, dc)
                thnn.Linear_updateGradInput(None, dh, slopes.select(0, step), dh, fed_back)
        else:
            thnn.LSTMSteps_updateGradInput(
                None, gates, fed_back, run.cells, shown, slopes, dh, dc, False
            )
        rows, found = rows_of(slopes), empty(dh, *gates.shape[:2], self.inputs)
        thnn.Linear_updateGradInput(
            None, rows_of(found), rows, rows_of(found), self._joined("weight", self.of_input)
        )
        return found

    def _step_back(self, run: Run, step: int, slopes: Tensor, dh: Tensor, dc: Tensor) -> None:
        """Writes the slopes of a step, and makes `dc` the gradient of the cell before."""
        row, slope = run.kept[0].select(0, step), slopes.select(0, step)
        before, after = (run.cells.select(0, step + i) for i in range(2))
        of_cell = dc.array()
        if self.peepholes:
            opened, shown = (
                self._columns(row.array(), _OUTPUT),
                array_module(of_cell).tanh(after.array()),
            )
            of_cell += self._looks(_OUTPUT) * (dh.array() * shown * opened * (1 - opened))
        lstm_cell_back(row, slope, before, after, dh, dc, dc)
        for gate in (_INPUT, _FORGET) if self.peepholes else ():
            of_cell += self._looks(gate) * self._columns(slope.array(), gate)

    def _times_weights(self, slopes: Tensor, dh: Tensor) -> Tensor:
        """The gradient of the input of one step; that of the output before in `dh`."""
        dh.zero()
        found = empty(dh, dh.shape[0], self.inputs).zero()
        for to, products in ((found, self.of_input), (dh, self.of_output)):
            part = empty(to, *to.shape)
            for gate, product in enumerate(products):
                rows = self._slopes_of(slopes, gate)
                thnn.Linear_updateGradInput(None, part, rows, part, product.tensors.weight)
                add_into(to, part)
        return found.unsqueeze(0)

    def _slopes_of(self, slopes: Tensor, gate: int) -> Tensor:
        """A gate's slopes, steps and batch as rows."""
        rows: Tensor = rows_of(slopes)
        return rows.narrow(1, gate * self.units, self.units).contiguous()

    def gather(self, run: Run, x: Tensor, scale: float) -> None:
        given, before = rows_of(x), rows_of(run.before())
        cells = run.cells.narrow(0, 0, len(run)), run.cells.narrow(0, 1, len(run))
        for gate, (product, fed_back) in enumerate(zip(self.of_input, self.of_output, strict=True)):
            slopes = self._slopes_of(run.room(), gate)
            product.accGradParameters(given, slopes, scale)
            fed_back.accGradParameters(before, slopes, scale)
            if gate in self.peepholes:
                seen = rows_of(cells[gate == _OUTPUT])
                self.peepholes[gate].accGradParameters(seen, slopes, scale)

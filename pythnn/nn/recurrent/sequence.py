"""Modules that compute a whole sequence themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _random, thnn
from ..._errors import THNNArgumentError
from ..._products import add_product, multiply
from ..._tensor import Tensor
from ..object.object import register
from ..object.values import describe
from ._cell_math import (
    GRU_GATES,
    LSTM_GATES,
    add_product_of_rows,
    lstm_cell,
    lstm_cell_back,
    rows_of,
    swap,
)
from .step import Weights, add_gru_gradient, as_mask

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SeqGRU", "SeqLSTM", "SeqLSTMP"]


class _Sequence(Weights, ABC, kernel=True):
    """A whole sequence: time x batch x inputs; with `batchfirst`, batch x time x inputs."""

    batchfirst: Any = False
    maskzero: Any = False
    _remember: Any = "neither"
    userPrevOutput: Any = None
    userPrevCell: Any = None
    userNextGradCell: Any = None
    _states = ("h0",)

    def _settings(self) -> None:
        self.batchfirst = False
        self.maskzero = False
        self._remember = "neither"

    # ---- State

    def remember(self, mode: str | None = None) -> Self:
        """Goes on from the last state: in "train", "eval", "both" (by default) or "neither"."""
        self._remember = mode or "both"
        return self

    def forget(self) -> Self:
        """Starts from a state of zeros, or the user's; returns itself."""
        for name in ("_last_output", "_last_cell"):
            self.tensors.__dict__.pop(name, None)
        return self

    def maskZero(self, nInputDim: int = 1) -> Self:
        """Has samples of zeros as padding; returns itself."""
        self.maskzero = True
        if self.field("v2") is not None:  # of torch/rnn, whose second version needs a mask
            self.v2 = False
        return self

    def setZeroMask(self, zeroMask: Any) -> Self:
        """Sets which samples of which step are padding: time x batch; returns itself."""
        self.zeroMask = zeroMask
        return self

    def _remembers(self) -> bool:
        mode = "eval" if self.train is False else "train"
        return self._remember in ("both", mode)

    def _begin(self, state: Any, given: Any, last: str, users: str) -> bool:
        """Writes the state before the first step; returns whether it is one of zeros.

        That is the one before in the input, the last one, or the user's.
        """
        found = given
        if found is None and self._remembers():
            found = self.field(last)
        if found is None:
            found = self.field(users)
        if found is None:
            state.zero()
            return True
        if found.size != state.size:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input",
                f"a batch of {found.size // state.shape[-1]}, as the state that it goes on from"
                " (forget() ends that)", f"a batch of {state.shape[0]}",
            )  # fmt: skip
        state.copy_from(found.view(state.shape))
        return False

    # ---- The form of inputs

    def _split(self, input: Any) -> tuple[list[Any], Any]:
        """States given in a table before the sequence, and the sequence."""
        if isinstance(input, list):
            return list(input[:-1]), input[-1]
        return [], input

    def _by_time(self, value: Any) -> Any:
        turned = self._is_batch_first() and value.ndim == 3
        return (value.transpose(0, 1) if turned else value).contiguous()

    def _is_batch_first(self) -> bool:
        return bool(self.batchfirst)

    def _given(self, input: Any) -> tuple[list[Any], Any]:
        """States given in a table before the sequence; the sequence, time x batch x inputs."""
        states, sequence = self._split(input)
        inputs = self.tensors.weight.shape[0] - self._fed_back()
        if getattr(sequence, "ndim", 0) not in (2, 3) or sequence.shape[-1] != inputs:
            order = "batch x time" if self._is_batch_first() else "time x batch"
            wanted = f"{order} x {inputs}, or time x {inputs}"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", wanted, describe(sequence)
            )
        return states, self._batch(self._by_time(sequence))

    def _batch(self, value: Any) -> Any:
        """A value of time x features as that of a batch of one."""
        return value.unsqueeze(1) if value.ndim == 2 else value

    def _weights(self) -> tuple[Any, Any]:
        """The rows of the weight for the input, and for the output before."""
        weight, outputs = self.tensors.weight, self._fed_back()
        inputs = weight.shape[0] - outputs
        return weight.narrow(0, 0, inputs), weight.narrow(0, inputs, outputs)

    @abstractmethod
    def _fed_back(self) -> int:
        """The size of the output, which the next step gets."""

    def _mask(self, x: Any) -> Any:
        """1 for each sample that is padding, time x batch; None where none are."""
        given = self.field("zeroMask")
        if given is not None and given is not False:
            found = as_mask(given, x.shape[:2])
        elif self.maskzero:
            found = (x.array() == 0).all(2)
        else:
            return None
        return Tensor.from_array(found.astype(x.dtype)).to(x.device)

    def _products(self, x: Any) -> Any:
        """The products of the input for all steps, in ``gates``."""
        of_input, _ = self._weights()
        gates = self.result("gates", x).resize(*x.shape[:2], of_input.shape[1])
        rows = rows_of(gates)
        thnn.Linear_updateGradInput(None, rows, rows_of(x), rows, of_input)
        return gates

    def _formed(self, name: str, value: Any, input: Any) -> Any:
        """A result, time x batch x features, in the form of the input: the field of that name."""
        _, sequence = self._split(input)
        if sequence.ndim == 2:
            return value.select(1, 0)
        if not self._is_batch_first():
            return value
        steps, batch, features = value.shape
        made = self.result(name, value).resize(batch, steps, features)
        return made.copy_from(value.transpose(0, 1))

    # ---- Going back

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = self._go_back(input, gradOutput)[0]
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self._gather(self._go_back(input, gradOutput)[1], scale)

    def backward(self, input: Any, gradOutput: Any, scale: Any = 1) -> Any:
        self.tensors.gradInput, gradients = self._go_back(input, gradOutput)
        self._gather(gradients, scale)
        return self.tensors.gradInput

    @abstractmethod
    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        """The gradient of the input, and what `_gather` takes."""

    @abstractmethod
    def _gather(self, gradients: Any, scale: Any) -> None:
        """Adds the gradients of the parameters."""

    def _of_input(self, da: Any, x: Any, input: Any) -> Any:
        """The gradient of the input, from those before the functions of gates."""
        dx = self.result("grad_x", x).resize(*x.shape)
        of_input, _ = self._weights()
        thnn.Linear_updateOutput(None, rows_of(da), rows_of(dx), of_input, None, None)
        return self._formed("gradInput", dx, input)

    def _add_for_input(self, x: Any, da: Any, scale: Any) -> None:
        """Adds the gradients of the rows of the weight for the input, and of the bias."""
        gradient = self.tensors.gradWeight
        add_product_of_rows(gradient.narrow(0, 0, x.shape[2]), rows_of(x), rows_of(da), scale)
        self.add_to_bias(da, scale)

    def _before(self) -> tuple[Any, int]:
        """The outputs before all steps, and the first step whose output before is not zeros."""
        states = self.tensors._output
        first = 1 if self.__dict__.get("_from_zeros") else 0
        return states.narrow(0, first, states.shape[0] - 1 - first), first

    def clearState(self) -> Self:
        self.clear("gates", "cell", "h0", "c0", "buffer1", "buffer2", "buffer3", "grad_a_buffer",
                   "grad_h0", "grad_c0", "grad_x", "_output", "_cells")  # fmt: skip
        self.forget()
        return super().clearState()

    def _own_fields(self) -> dict[str, Any]:
        return {n: value for n, value in super()._own_fields().items() if n != "_from_zeros"}

    def __repr__(self) -> str:
        sizes = self.tensors.weight.shape[0] - self._fed_back(), self._fed_back()
        return f"{self.typename()}({sizes[0]} -> {sizes[1]})"


@register
class SeqLSTM(_Sequence, kernel=True):
    """An LSTM without peepholes over a whole sequence, from a state of zeros.

    Input: time x batch x inputsize, or time x inputsize; with ``batchfirst``, batch before time.
    With ``maskzero``, samples of zeros are padding: the state after them is zeros.
    """

    _gates = LSTM_GATES
    parameterFields = (
        ("weight", "gradWeight"), ("bias", "gradBias"), ("weightO", "gradWeightO"),
    )  # fmt: skip

    def __init__(self, inputsize: int, hiddensize: int, outputsize: int | None = None) -> None:
        super().__init__()
        self.inputsize, self.hiddensize = inputsize, hiddensize
        self.outputsize = hiddensize if outputsize is None else outputsize
        if self.outputsize != hiddensize:
            shape = hiddensize, self.outputsize
            self.tensors.weightO = Tensor.zeros(*shape, dtype=np.float64)
            self.tensors.gradWeightO = Tensor.zeros(*shape, dtype=np.float64)
        self._settings()
        self._make(inputsize, self.outputsize, hiddensize)
        for name in ("cell", "gates", "h0", "c0", "buffer1", "buffer2", "buffer3",
                     "grad_a_buffer", "grad_h0", "grad_c0", "grad_x"):  # fmt: skip
            self.assign(name, Tensor(dtype=np.float64))
        self.tensors.gradInput = [Tensor(dtype=np.float64) for _ in range(3)]

    def reset(self, stdv: Any = None) -> Any:
        super().reset(stdv)
        size = self._hidden()
        self.tensors.bias.narrow(0, size, size).fill(1)  # so that cells are kept at first
        if self.field("weightO") is not None:
            shape = self.tensors.weightO.shape
            deviation = 1 / np.sqrt(sum(shape)) if stdv is None else stdv
            self.tensors.weightO.copy_from(_random.normal(shape, 0, deviation))
        return self

    def _hidden(self) -> int:
        return int(self.tensors.weight.shape[1]) // LSTM_GATES

    def _fed_back(self) -> int:
        projection = self.field("weightO")
        return self._hidden() if projection is None else int(projection.shape[1])

    def updateOutput(self, input: Any) -> Any:
        given, x = self._given(input)
        steps, batch, _ = x.shape
        states = self.result("_output", x).resize(steps + 1, batch, self._fed_back())
        cells = self.result("_cells", x).resize(steps + 1, batch, self._hidden())
        for name, state in (("h0", states), ("c0", cells)):
            self.assign(name, state.select(0, 0))
        of_output = given[-1] if given else None
        self.__dict__["_from_zeros"] = self._begin(
            self.tensors.h0, of_output, "_last_output", "userPrevOutput"
        )
        of_cell = given[0] if len(given) > 1 else None
        self._begin(self.tensors.c0, of_cell, "_last_cell", "userPrevCell")
        gates, mask, bias = self._products(x), self._mask(x), self.tensors.bias
        if self.field("weightO") is None:
            fed_back = self._weights()[1]
            thnn.SeqLSTM_updateOutput(None, gates, fed_back, bias, mask, states, cells)
        else:
            self._project(gates.array(), states.array(), cells.array(), mask)
        output, cell = (one.narrow(0, 1, steps) for one in (states, cells))
        self.assign("cell", cell)
        if self._remembers():
            self.assign("_last_output", output.select(0, steps - 1).clone())
            self.assign("_last_cell", cell.select(0, steps - 1).clone())
        self.tensors.output = self._formed("output", output, input)
        return self.tensors.output

    def starts_from_zeros(self) -> bool:
        """Whether each call is about the input alone, time first, of which nothing is padding."""
        others = ("weightO", "userPrevOutput", "userPrevCell")
        return (
            all(self.field(name) is None for name in others)
            and not (self._is_batch_first() or self.maskzero or self._remembers())
            and self.field("zeroMask") in (None, False)
        )

    def _project(self, gates: Any, states: Any, cells: Any, mask: Any) -> None:
        """Computes step after step, with projected outputs."""
        fed_back, projection = self._weights()[1].array(), self.tensors.weightO.array()
        gates += self.tensors.bias.array()
        padding = None if mask is None else mask.array() != 0
        for t, gate in enumerate(swap(gates)):
            hidden, shown = swap(multiply(states[t], fed_back)), 0 * cells[t]
            lstm_cell(gate, hidden, cells[t], shown, cells[t + 1])
            multiply(shown, projection, states[t + 1])
            if padding is not None:
                gate[padding[t]] = states[t + 1][padding[t]] = cells[t + 1][padding[t]] = 0
        swap(gates)

    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        given, x = self._given(input)
        gates, cells, mask = self.tensors.gates, self.tensors._cells, self._mask(x)
        shown = self._batch(self._by_time(gradOutput))
        da = self.result("grad_a_buffer", x).resize(*gates.shape)
        dh = self.result("grad_h0", x).resize(x.shape[1], self._fed_back()).zero()
        dc = self.result("grad_c0", x).resize(*cells.shape[1:]).zero()
        if self.field("userNextGradCell") is not None:
            dc.copy_from(self.field("userNextGradCell").view(dc.shape))
        if self.field("weightO") is None:
            fed_back = self._weights()[1]
            thnn.SeqLSTM_updateGradInput(None, gates, fed_back, mask, cells, shown, da, dh, dc)
        else:
            shown = shown.clone()
            self._project_back(gates, cells, shown, da, dh, dc, mask)
        dx = self._of_input(da, x, input)
        return [*[dc, dh][2 - len(given) :], dx] if given else dx, (x, da, shown)

    def _project_back(
        self, gates: Any, cells: Any, shown: Any, da: Any, dh: Any, dc: Any, mask: Any
    ) -> None:
        """Goes back step after step.

        Adds to `shown`, the gradients of outputs, what comes from later steps; makes `dc`, the
        gradient of the last cell, that of the cell before, and `dh` that of the output before.
        """
        gates, cells, shown, da, dh, dc = (one.array() for one in (gates, cells, shown, da, dh, dc))
        fed_back, projection = self._weights()[1].array(), self.tensors.weightO.array()
        padding = None if mask is None else mask.array() != 0
        gates = swap(gates.copy())
        for t in reversed(range(len(gates))):
            if padding is not None:
                shown[t][padding[t]] = dc[padding[t]] = 0
            of_cell = multiply(shown[t], projection.T)
            lstm_cell_back(gates[t], da[t], cells[t], cells[t + 1], of_cell, dc, dc)
            before = multiply(swap(da[t]), fed_back.T)
            if t:
                shown[t - 1] += before
            else:
                dh[...] = before

    def _gather(self, gradients: Any, scale: Any) -> None:
        x, da, shown = gradients
        self._add_for_input(x, da, scale)
        before, first = self._before()
        if first < len(da):
            fed_back = self.tensors.gradWeight.narrow(0, x.shape[2], self._fed_back())
            rest = da.narrow(0, first, len(da) - first)
            add_product_of_rows(fed_back, rows_of(before), rows_of(rest), scale)
        if self.field("weightO") is not None:
            size = self._hidden()
            gates, cell = (
                rows_of(one.contiguous()).array() for one in (self.tensors.gates, self.tensors.cell)
            )
            plain = gates[:, 2 * size : 3 * size] * np.tanh(cell)
            total = self.tensors.gradWeightO.array()
            add_product(total, plain.T, rows_of(shown).array(), scale)


@register
class SeqLSTMP(SeqLSTM, kernel=True):
    """SeqLSTM whose output, which the next step gets, is a projection of `hiddensize` numbers."""

    def __init__(self, inputsize: int, hiddensize: int, outputsize: int | None = None) -> None:
        super().__init__(inputsize, hiddensize, outputsize)


@register
class SeqGRU(_Sequence, kernel=True):
    """A GRU over a whole sequence, from a state of zeros; inputs as of SeqLSTM."""

    _gates = GRU_GATES

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__()
        self.inputSize, self.outputSize = inputSize, outputSize
        self.seqLength = self.miniBatch = 1
        self._settings()
        self._make(inputSize, outputSize, outputSize)
        for name in ("gates", "h0", "buffer1", "buffer2", "buffer3", "grad_a_buffer", "grad_h0",
                     "grad_x"):  # fmt: skip
            self.assign(name, Tensor(dtype=np.float64))
        self.tensors.gradInput = [Tensor(dtype=np.float64) for _ in range(2)]

    def _fed_back(self) -> int:
        return int(self.tensors.weight.shape[1]) // GRU_GATES

    def updateOutput(self, input: Any) -> Any:
        given, x = self._given(input)
        steps, batch, _ = x.shape
        states = self.result("_output", x).resize(steps + 1, batch, self._fed_back())
        self.assign("h0", states.select(0, 0))
        self.__dict__["_from_zeros"] = self._begin(
            self.tensors.h0, given[-1] if given else None, "_last_output", "userPrevOutput"
        )
        gates, reset = self._products(x), self.result("buffer1", x)
        thnn.SeqGRU_updateOutput(
            None, gates, self._weights()[1], self.tensors.bias, self._mask(x), states, reset
        )
        output = states.narrow(0, 1, steps)
        if self._remembers():
            self.assign("_last_output", output.select(0, steps - 1).clone())
        self.tensors.output = self._formed("output", output, input)
        return self.tensors.output

    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        given, x = self._given(input)
        gates, states = self.tensors.gates, self.tensors._output
        da = self.result("grad_a_buffer", x)
        dh = self.result("grad_h0", x).resize(*states.shape[1:]).zero()
        thnn.SeqGRU_updateGradInput(
            None, gates, self._weights()[1], self._mask(x), states,
            self._batch(self._by_time(gradOutput)), da, dh,
        )  # fmt: skip
        dx = self._of_input(da, x, input)
        return [dh, dx] if given else dx, (x, da)

    def _gather(self, gradients: Any, scale: Any) -> None:
        x, da = gradients
        self._add_for_input(x, da, scale)
        before, first = self._before()
        size = self._fed_back()
        fed_back = self.tensors.gradWeight.narrow(0, x.shape[2], size)
        if first < len(da):
            rest = len(da) - first
            reset, slopes = (one.narrow(0, first, rest) for one in (self.tensors.buffer1, da))
            add_gru_gradient(fed_back, rows_of(before), rows_of(reset), rows_of(slopes), scale)

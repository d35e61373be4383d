"""Modules that compute a whole sequence themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _random
from ..._errors import THNNArgumentError
from ..._products import add_product, multiply
from ..._tensor import Tensor
from ..object.object import register
from ..object.values import array_module, describe, to_arrays
from ._cell_math import (
    GRU_GATES,
    LSTM_GATES,
    GruWeights,
    gru_back,
    gru_step,
    lstm_cell,
    lstm_cell_back,
    lstm_steps,
    lstm_steps_back,
    rows_of,
    swap,
)
from .step import Weights, as_mask, gather_gru

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SeqGRU", "SeqLSTM", "SeqLSTMP"]


class _Sequence(Weights):
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

    def _start(self, last: str, given: str, zeros: Any) -> Any:
        found = self.field(last) if self._remembers() else None
        if found is None:
            found = self.field(given)
        if found is None:
            return zeros
        return to_arrays(found).reshape(zeros.shape)

    # ---- The form of inputs

    def _split(self, input: Any) -> tuple[list[Any], Any]:
        """States given in a table before the sequence, and the sequence."""
        if isinstance(input, list):
            return list(input[:-1]), input[-1]
        return [], input

    def _by_time(self, value: Any) -> Any:
        return value.swapaxes(0, 1) if self._is_batch_first() and value.ndim == 3 else value

    def _is_batch_first(self) -> bool:
        return bool(self.batchfirst)

    def _given(self, input: Any) -> tuple[list[Any], Any]:
        states, sequence = self._split(input)
        inputs = self.weight.shape[0] - self._fed_back()
        if getattr(sequence, "ndim", 0) not in (2, 3) or sequence.shape[-1] != inputs:
            order = "batch x time" if self._is_batch_first() else "time x batch"
            wanted = f"{order} x {inputs}, or time x {inputs}"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", wanted, describe(sequence)
            )
        x = self._by_time(sequence)
        return states, x[:, None] if x.ndim == 2 else x

    def _fed_back(self) -> int:
        """The size of the output, which the next step gets."""
        raise NotImplementedError

    def _mask(self, x: Any) -> Any:
        """Which samples are padding, time x batch; None where none are."""
        given = self.field("zeroMask")
        if given is not None and given is not False:
            return as_mask(given, x.shape[:2])
        return (x == 0).all(2) if self.maskzero else None

    def _formed(self, value: Any, input: Any) -> Any:
        """A result, time x batch x features, in the form of the input."""
        _, sequence = self._split(input)
        if sequence.ndim == 2:
            return value[:, 0]
        return array_module(value).ascontiguousarray(self._by_time(value))

    # ---- Going back

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = self._go_back(input, gradOutput)[0]
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self._gather(self._go_back(input, gradOutput)[1], scale)

    def backward(self, input: Any, gradOutput: Any, scale: Any = 1) -> Any:
        self.gradInput, gradients = self._go_back(input, gradOutput)
        self._gather(gradients, scale)
        return self.gradInput

    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        raise NotImplementedError

    def _gather(self, gradients: Any, scale: Any) -> None:
        raise NotImplementedError

    def clearState(self) -> Self:
        self.clear("gates", "cell", "h0", "c0", "buffer1", "buffer2", "buffer3", "grad_a_buffer")
        self.forget()
        return super().clearState()

    def __repr__(self) -> str:
        sizes = self.weight.shape[0] - self._fed_back(), self._fed_back()
        return f"{self.typename()}({sizes[0]} -> {sizes[1]})"


@register
class SeqLSTM(_Sequence):
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
        self.bias[size : 2 * size] = 1  # so that cells are kept at first
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

    def _projection(self) -> Any:
        return self.weightO if self.field("weightO") is not None else None

    def _states_before(self, input: Any, x: Any) -> tuple[Any, Any]:
        states, _ = self._split(input)
        xp = array_module(x)
        h = xp.zeros((x.shape[1], self._fed_back()), x.dtype)
        c = xp.zeros((x.shape[1], self._hidden()), x.dtype)
        h, c = (
            self._start("_last_output", "userPrevOutput", h),
            self._start("_last_cell", "userPrevCell", c),
        )
        if states:
            h = states[-1]
        return h, states[0] if len(states) > 1 else c

    def updateOutput(self, input: Any) -> Any:
        _, x = self._given(input)
        xp = array_module(x)
        h, c = self._states_before(input, x)
        self.assign("h0", h)
        self.assign("c0", c)
        steps, batch, inputs = x.shape
        states = xp.empty((steps + 1, batch, self._fed_back()), x.dtype)
        cells = xp.empty((steps + 1, batch, self._hidden()), x.dtype)
        states[0], cells[0] = h, c
        sums = multiply(rows_of(xp.ascontiguousarray(x)), self.weight[:inputs])
        sums += self.bias
        gates = swap(sums).reshape(steps, batch, -1)
        mask, fed_back = self._mask(x), self.weight[inputs:]
        plain = mask is None and self._projection() is None
        if not (plain and lstm_steps(gates, fed_back, states, cells)):
            self._run(gates, fed_back, states, cells, mask)
        output, cell = states[1:], cells[1:]
        self.assign("gates", gates)
        self.assign("cell", cell)
        self.assign("_output", output)
        if self._remembers():
            self.assign("_last_output", output[-1].copy())
            self.assign("_last_cell", cell[-1].copy())
        self.output = self._formed(output, input)
        return self.output

    def _run(self, gates: Any, fed_back: Any, states: Any, cells: Any, mask: Any) -> None:
        """Computes step after step: gates, in place of the sums of inputs, states and cells."""
        xp, projection = array_module(gates), self._projection()
        hidden = xp.empty_like(gates[0])
        for t, gate in enumerate(gates):
            multiply(states[t], fed_back, hidden)
            shown = states[t + 1] if projection is None else xp.empty_like(cells[0])
            lstm_cell(gate, swap(hidden), cells[t], shown, cells[t + 1])
            if projection is not None:
                multiply(shown, projection, states[t + 1])
            if mask is not None:
                gate[mask[t]] = states[t + 1][mask[t]] = cells[t + 1][mask[t]] = 0

    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        states, x = self._given(input)
        xp = array_module(x)
        out_gradient = self._by_time(gradOutput)
        out_gradient = out_gradient[:, None] if out_gradient.ndim == 2 else out_gradient
        weight, inputs = self.weight, x.shape[2]
        cells = xp.concatenate([self.c0[None], self.cell])
        shown = xp.array(out_gradient, order="C")
        dc = xp.zeros_like(cells[0])
        if self.field("userNextGradCell") is not None:
            dc += to_arrays(self.field("userNextGradCell"))
        mask, found = self._mask(x), None
        if mask is None and self._projection() is None:
            found = lstm_steps_back(self.gates, weight[inputs:], cells, shown, dc)
        da, dh = found or self._run_back(weight[inputs:], cells, shown, dc, mask)
        swap(da)
        dx = multiply(rows_of(da), weight[:inputs].T).reshape(x.shape)
        dx = self._formed(dx, input)
        return [*[dc, dh][2 - len(states) :], dx] if states else dx, (x, da, shown)

    def _run_back(
        self, fed_back: Any, cells: Any, shown: Any, dc: Any, mask: Any
    ) -> tuple[Any, Any]:
        """Goes back step after step.

        Adds to `shown`, the gradients of outputs, what comes from later steps, and makes `dc`, the
        gradient of the last cell, that of the cell before. Returns the gradients before the
        functions of the gates, in the fused cell's order, and of the state before.
        """
        gates, projection = self.gates, self._projection()
        da = array_module(gates).empty_like(gates)
        for t in reversed(range(len(gates))):
            if mask is not None:
                shown[t][mask[t]] = dc[mask[t]] = 0
            dh = shown[t] if projection is None else multiply(shown[t], projection.T)
            lstm_cell_back(gates[t], da[t], cells[t], cells[t + 1], dh, dc, dc)
            before = multiply(swap(da[t].copy()), fed_back.T)
            if t:
                shown[t - 1] += before
        return da, before

    def _gather(self, gradients: Any, scale: Any) -> None:
        x, da, shown = gradients
        inputs, gradient = x.shape[2], self.gradWeight
        add_product(gradient[:inputs], rows_of(array_module(x).ascontiguousarray(x)).T,
                    rows_of(da), scale)  # fmt: skip
        add_product(gradient[inputs:], self.h0.T, da[0], scale)
        if len(da) > 1:
            output = to_arrays(self.field("_output"))
            add_product(gradient[inputs:], rows_of(output[:-1]).T, rows_of(da[1:]), scale)
        self.add_to_bias(da, scale)
        if self.field("weightO") is not None:
            size = self._hidden()
            gates, cell = rows_of(self.gates), rows_of(self.cell)
            plain = gates[:, 3 * size :] * array_module(cell).tanh(cell)
            add_product(self.gradWeightO, plain.T, rows_of(shown), scale)


@register
class SeqLSTMP(SeqLSTM):
    """SeqLSTM whose output, which the next step gets, is a projection of `hiddensize` numbers."""

    def __init__(self, inputsize: int, hiddensize: int, outputsize: int | None = None) -> None:
        super().__init__(inputsize, hiddensize, outputsize)


@register
class SeqGRU(_Sequence):
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
        states, x = self._given(input)
        xp = array_module(x)
        steps, batch, inputs = x.shape
        size = self._fed_back()
        h = self._start("_last_output", "userPrevOutput", xp.zeros((batch, size), x.dtype))
        if states:
            h = states[-1]
        self.assign("h0", h)
        mask = self._mask(x)
        output = xp.empty((steps, batch, size), x.dtype)
        gates = xp.empty((steps, batch, GRU_GATES * size), x.dtype)
        sums = multiply(rows_of(xp.ascontiguousarray(x)), self.weight[:inputs])
        sums += self.bias
        sums, weights = sums.reshape(gates.shape), GruWeights.of(self.weight[inputs:])
        for t in range(steps):
            gates[t], h = gru_step(sums[t], h, weights)
            if mask is not None:
                gates[t][mask[t]] = h[mask[t]] = 0
            output[t] = h
        self.assign("gates", gates)
        self.assign("_output", output)
        if self._remembers():
            self.assign("_last_output", h.copy())
        self.output = self._formed(output, input)
        return self.output

    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        states, x = self._given(input)
        xp = array_module(x)
        out_gradient = self._by_time(gradOutput)
        out_gradient = out_gradient[:, None] if out_gradient.ndim == 2 else out_gradient
        gates, mask, weight = self.gates, self._mask(x), self.weight
        hidden = xp.concatenate([self.h0[None], to_arrays(self.field("_output"))[:-1]])
        da, inputs = xp.empty_like(gates), x.shape[2]
        dh, weights = xp.zeros_like(hidden[0]), GruWeights.of(weight[inputs:])
        for t in reversed(range(x.shape[0])):
            dh = dh + out_gradient[t]
            if mask is not None:
                dh = dh * ~mask[t][:, None]
            da[t], dh = gru_back(hidden[t], gates[t], weights, dh)
            if mask is not None:
                dh = dh * ~mask[t][:, None]
        dx = multiply(rows_of(da), weight[:inputs].T)
        found = self._formed(dx.reshape(x.shape), input)
        return [dh, found] if states else found, (x, hidden, gates, da)

    def _gather(self, gradients: Any, scale: Any) -> None:
        *given, da = gradients
        gather_gru(self, given, da, scale)

"""Modules that compute a whole sequence themselves, and what they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _random
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, describe, to_arrays
from ._cell_math import GRU_GATES, LSTM_GATES, gru_back, gru_step, lstm_back, lstm_step

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "SeqGRU", "SeqLSTM", "SeqLSTMP", "StepGRU",
    "StepLSTM",
]  # fmt: skip


class _Weights(Module):
    """Parameters of cells: weight (inputs + outputs) x gates, bias; drawn from a normal."""

    _gates: int

    def _make(self, inputs: int, fed_back: int, hidden: int) -> None:
        shape = (inputs + fed_back, self._gates * hidden)
        for name, size in (("weight", shape), ("bias", shape[1:])):
            self.assign(name, Tensor.zeros(*size, dtype=np.float64))
            self.assign(f"grad{name.capitalize()}", Tensor.zeros(*size, dtype=np.float64))
        self.reset()

    def reset(self, stdv: Any = None) -> Any:
        """Draws the weight from a normal distribution, by default of 1 / sqrt(outputs + inputs)."""
        weight = self.tensors.weight
        deviation = 1 / np.sqrt(weight.shape[0]) if stdv is None else stdv
        self.tensors.bias.zero()
        weight.copy_from(_random.normal(weight.shape, 0, deviation))
        return self

    def _add_gradient(self, given: Any, da: Any, scale: Any) -> None:
        """Adds the gradients for rows of inputs and rows of gradients before the functions."""
        self.gradWeight += scale * (
            given.reshape(-1, given.shape[-1]).T @ da.reshape(-1, da.shape[-1])
        )
        self.gradBias += scale * da.reshape(-1, da.shape[-1]).sum(0)


def _table(name: str, input: Any, sizes: tuple[int, ...]) -> None:
    """Refuses what is no table of batches of these sizes."""
    if (
        not isinstance(input, list)
        or len(input) != len(sizes)
        or any(
            getattr(one, "ndim", 0) not in (1, 2) or one.shape[-1] != size
            for one, size in zip(input, sizes, strict=True)
        )
    ):
        wanted = "a table of " + ", ".join(f"[batch x] {size}" for size in sizes)
        raise THNNArgumentError.expected(name, 1, "input", wanted, describe(input))


def _as_mask(given: Any, shape: tuple[int, ...]) -> Any:
    """Which samples are padding, of a mask of numbers, in one shape."""
    array = given.numpy() if isinstance(given, Tensor) else np.asarray(given)
    return array.astype(bool).reshape(shape)


class _Step(_Weights):
    """One step: {input, output before[, cell before]}."""

    def _empty(self, inputs: int) -> None:
        """Sets the fields that only a file or a call gives values."""
        self.maskzero = False
        self.v2 = True
        self.tensors.gates = Tensor(dtype=np.float64)
        self.tensors.gradInput = [Tensor(dtype=np.float64) for _ in range(inputs)]

    def _padding(self, input: Any) -> Any:
        """Which samples are padding: by the mask that was given, or else those of zeros."""
        rows = input[0].reshape(-1, input[0].shape[-1])
        given = self.field("zeroMask")
        if given is not None and given is not False:
            return _as_mask(given, rows.shape[:1])
        return (rows == 0).all(1) if self.field("maskzero") else None

    def maskZero(self, nInputDim: int = 1) -> Self:
        """Has samples of zeros as padding; returns itself."""
        self.maskzero = True
        self.v2 = False
        return self

    def setZeroMask(self, zeroMask: Any) -> Self:
        """Sets which samples are padding, True or 1 for each; returns itself."""
        self.zeroMask = zeroMask
        return self

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = self._go_back(input, gradOutput)[0]
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        _, given, da = self._go_back(input, gradOutput)
        self._gather(given, da, scale)

    def backward(self, input: Any, gradOutput: Any, scale: Any = 1) -> Any:
        self.gradInput, given, da = self._go_back(input, gradOutput)
        self._gather(given, da, scale)
        return self.gradInput

    def _gather(self, given: Any, da: Any, scale: Any) -> None:
        self._add_gradient(given, da, scale)

    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        raise NotImplementedError


@register
class StepLSTM(_Step):
    """A step of an LSTM without peepholes: {input, output, cell} to {output, cell}."""

    _gates = LSTM_GATES
    maskzero: Any = False

    def __init__(self, inputsize: int, hiddensize: int, outputsize: int | None = None) -> None:
        super().__init__()
        self.inputsize, self.hiddensize = inputsize, hiddensize
        self.outputsize = hiddensize if outputsize is None else outputsize
        if self.outputsize != hiddensize:
            shape = hiddensize, self.outputsize
            self.tensors.weightO = Tensor.zeros(*shape, dtype=np.float64)
            self.tensors.gradWeightO = Tensor.zeros(*shape, dtype=np.float64)
        self._make(inputsize, self.outputsize, hiddensize)
        self._empty(3)
        self.tensors.output = [Tensor(dtype=np.float64) for _ in range(2)]

    parameterFields = (
        ("weight", "gradWeight"), ("bias", "gradBias"), ("weightO", "gradWeightO"),
    )  # fmt: skip

    def reset(self, stdv: Any = None) -> Any:
        super().reset(stdv)
        if self.field("weightO") is not None:
            shape = self.tensors.weightO.shape
            deviation = 1 / np.sqrt(sum(shape)) if stdv is None else stdv
            self.tensors.weightO.copy_from(_random.normal(shape, 0, deviation))
        return self

    def _run(self, input: Any) -> Any:
        sizes = int(self.inputsize), int(self.outputsize), int(self.hiddensize)
        _table(self.typename(), input, sizes)
        x, h, c = (one.reshape(-1, one.shape[-1]) for one in input)
        return x, h, c, *lstm_step(x, h, c, self.weight, self.bias, self._projection())

    def _projection(self) -> Any:
        return self.weightO if self.field("weightO") is not None else None

    def updateOutput(self, input: Any) -> Any:
        *_, next_h, next_c = self._run(input)
        mask = self._padding(input)
        if mask is not None:
            next_h[mask] = next_c[mask] = 0
        single = input[0].ndim == 1
        self.output = [next_h[0], next_c[0]] if single else [next_h, next_c]
        return self.output

    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        x, h, c, gates, _, next_c = self._run(input)
        dh, dc = (one.reshape(-1, one.shape[-1]) for one in gradOutput)
        mask = self._padding(input)
        if mask is not None:
            dh, dc = dh * ~mask[:, None], dc * ~mask[:, None]
        projection = self._projection()
        plain = dh if projection is None else dh @ projection.T
        da, dc = lstm_back(gates, c, next_c, plain, dc)
        both = da @ self.weight.T
        cut = x.shape[1]
        found = [both[:, :cut], both[:, cut:], dc]
        if input[0].ndim == 1:
            found = [one[0] for one in found]
        xp = array_module(x)
        return found, xp.concatenate([x, h], 1), [da, (gates, next_c, dh)]

    def _gather(self, given: Any, da: Any, scale: Any) -> None:
        da, (gates, next_c, dh) = da
        self._add_gradient(given, da, scale)
        if self._projection() is not None:
            size = next_c.shape[1]
            shown = gates[:, 2 * size : 3 * size] * array_module(next_c).tanh(next_c)
            self.gradWeightO += scale * (shown.T @ dh)


@register
class StepGRU(_Step):
    """A step of a GRU: {input, output before} to the output."""

    _gates = GRU_GATES
    maskzero: Any = False

    def __init__(self, inputsize: int, outputsize: int) -> None:
        super().__init__()
        self.inputsize, self.outputsize = inputsize, outputsize
        self._make(inputsize, outputsize, outputsize)
        self._empty(2)

    def _run(self, input: Any) -> Any:
        _table(self.typename(), input, (int(self.inputsize), int(self.outputsize)))
        x, h = (one.reshape(-1, one.shape[-1]) for one in input)
        return x, h, *gru_step(x, h, self.weight, self.bias)

    def updateOutput(self, input: Any) -> Any:
        *_, next_h = self._run(input)
        mask = self._padding(input)
        if mask is not None:
            next_h[mask] = 0
        self.output = next_h[0] if input[0].ndim == 1 else next_h
        return self.output

    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        x, h, gates, _ = self._run(input)
        dh = gradOutput.reshape(-1, gradOutput.shape[-1])
        mask = self._padding(input)
        if mask is not None:
            dh = dh * ~mask[:, None]
        da, dx, before = gru_back(x, h, gates, self.weight, dh)
        found = [dx, before]
        if input[0].ndim == 1:
            found = [one[0] for one in found]
        return found, (x, h, gates), da

    def _gather(self, given: Any, da: Any, scale: Any) -> None:
        _gather_gru(self, given, da, scale)


def _gather_gru(module: Any, given: Any, da: Any, scale: Any) -> None:
    """Adds the gradients of a GRU's parameters, for rows of inputs, states, gates."""
    x, h, gates = (one.reshape(-1, one.shape[-1]) for one in given)
    da = da.reshape(-1, da.shape[-1])
    inputs, size = x.shape[1], h.shape[1]
    gradient = module.gradWeight
    gradient[:inputs] += scale * (x.T @ da)
    gradient[inputs:, : 2 * size] += scale * (h.T @ da[:, : 2 * size])
    gradient[inputs:, 2 * size :] += scale * ((gates[:, :size] * h).T @ da[:, 2 * size :])
    module.gradBias += scale * da.sum(0)


class _Sequence(_Weights):
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
            return _as_mask(given, x.shape[:2])
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
        mask, projection = self._mask(x), self._projection()
        steps, batch, inputs = x.shape
        output = xp.empty((steps, batch, self._fed_back()), x.dtype)
        cell = xp.empty((steps, batch, self._hidden()), x.dtype)
        gates = xp.empty((steps, batch, LSTM_GATES * self._hidden()), x.dtype)
        weight = self.weight
        sums = x.reshape(-1, inputs) @ weight[:inputs] + self.bias
        sums = sums.reshape(gates.shape)
        for t in range(steps):
            gates[t], h, c = lstm_step(None, h, c, weight[inputs:], sums[t], projection)
            if mask is not None:
                gates[t][mask[t]] = h[mask[t]] = c[mask[t]] = 0
            output[t], cell[t] = h, c
        self.assign("gates", gates)
        self.assign("cell", cell)
        self.assign("_output", output)
        if self._remembers():
            self.assign("_last_output", h.copy())
            self.assign("_last_cell", c.copy())
        self.output = self._formed(output, input)
        return self.output

    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        states, x = self._given(input)
        xp = array_module(x)
        out_gradient = self._by_time(gradOutput)
        out_gradient = out_gradient[:, None] if out_gradient.ndim == 2 else out_gradient
        steps, batch, inputs = x.shape
        weight, gates, cell, output = (
            self.weight,
            self.gates,
            self.cell,
            to_arrays(self.field("_output")),
        )
        projection, mask = self._projection(), self._mask(x)
        da = xp.empty_like(gates)
        shown = xp.zeros((steps, batch, self._fed_back()), x.dtype)
        dh = xp.zeros_like(shown[0])
        dc = xp.zeros_like(cell[0])
        if self.field("userNextGradCell") is not None:
            dc = dc + to_arrays(self.field("userNextGradCell"))
        c0 = self.c0
        for t in reversed(range(steps)):
            dh = dh + out_gradient[t]
            if mask is not None:
                dh, dc = dh * ~mask[t][:, None], dc * ~mask[t][:, None]
            shown[t] = dh
            before = cell[t - 1] if t else c0
            plain = dh if projection is None else dh @ projection.T
            da[t], dc = lstm_back(gates[t], before, cell[t], plain, dc)
            dh = da[t] @ weight[inputs:].T
        dx = self._formed(da @ weight[:inputs].T, input)
        hidden = xp.concatenate([self.h0[None], output[:-1]])
        found = [*[dc, dh][2 - len(states) :], dx] if states else dx
        return found, (xp.concatenate([x, hidden], 2), da, shown)

    def _gather(self, gradients: Any, scale: Any) -> None:
        given, da, shown = gradients
        self._add_gradient(given, da, scale)
        if self.field("weightO") is not None:
            size = self._hidden()
            gates, cell = self.gates.reshape(-1, LSTM_GATES * size), self.cell.reshape(-1, size)
            plain = gates[:, 2 * size : 3 * size] * array_module(cell).tanh(cell)
            self.gradWeightO += scale * (plain.T @ shown.reshape(plain.shape[0], -1))


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
        sums = (x.reshape(-1, inputs) @ self.weight[:inputs] + self.bias).reshape(gates.shape)
        weight = self.weight[inputs:]
        for t in range(steps):
            gates[t], h = gru_step(None, h, weight, sums[t])
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
        da, dx = xp.empty_like(gates), xp.empty_like(x)
        dh = xp.zeros_like(hidden[0])
        for t in reversed(range(x.shape[0])):
            dh = dh + out_gradient[t]
            if mask is not None:
                dh = dh * ~mask[t][:, None]
            da[t], dx[t], dh = gru_back(x[t], hidden[t], gates[t], weight, dh)
            if mask is not None:
                dh = dh * ~mask[t][:, None]
        found = self._formed(dx, input)
        return [dh, found] if states else found, (x, hidden, gates, da)

    def _gather(self, gradients: Any, scale: Any) -> None:
        *given, da = gradients
        _gather_gru(self, given, da, scale)

"""One step of an LSTM or a GRU, with the parameters that whole sequences have too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _random, thnn
from ..._errors import THNNArgumentError
from ..._products import add_product, multiply
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, describe
from ._cell_math import (
    GRU_GATES,
    LSTM_GATES,
    add_product_of_rows,
    lstm_cell,
    lstm_cell_back,
    rows_of,
    swap,
)

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["StepGRU", "StepLSTM"]


class Weights(Module):
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
        add_product(self.gradWeight, rows_of(given).T, rows_of(da), scale)
        self.add_to_bias(da, scale)

    def add_to_bias(self, da: Any, scale: Any) -> None:
        """Adds the gradient of the bias for rows of gradients before the functions."""
        sums = Tensor(dtype=da.dtype, device=self.tensors.gradBias.device)
        thnn.Reduction_updateOutput(None, rows_of(da), sums, None, 1, False, 0)
        gradient = self.tensors.gradBias.array()
        gradient += scale * sums.array()


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


def as_mask(given: Any, shape: tuple[int, ...]) -> Any:
    """Which samples are padding, of a mask of numbers, in one shape."""
    array = given.cpu().numpy() if isinstance(given, Tensor) else np.asarray(given)
    return array.astype(bool).reshape(shape)


class _Step(Weights, ABC):
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
            return array_module(rows).asarray(as_mask(given, rows.shape[:1]))
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

    @abstractmethod
    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        """The gradient of the input, and what `_gather` takes."""


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
        x, h, c = (rows_of(one) for one in input)
        xp, projection = array_module(x), self._projection()
        given = xp.concatenate([x, h], 1)
        gates, hidden = swap(multiply(given, self.weight) + self.bias), xp.zeros_like
        next_h, next_c = xp.empty_like(c), xp.empty_like(c)
        lstm_cell(gates, hidden(gates), c, next_h, next_c)
        shown = next_h if projection is None else multiply(next_h, projection)
        return x, h, c, gates, shown, next_c

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
        plain = dh if projection is None else multiply(dh, projection.T)
        xp = array_module(x)
        da, dc_before = xp.empty_like(gates), xp.empty_like(c)
        lstm_cell_back(gates, da, c, next_c, plain, dc, dc_before)
        both = multiply(swap(da), self.weight.T)
        cut = x.shape[1]
        found = [both[:, :cut], both[:, cut:], dc_before]
        if input[0].ndim == 1:
            found = [one[0] for one in found]
        return found, xp.concatenate([x, h], 1), [da, (gates, next_c, dh)]

    def _gather(self, given: Any, da: Any, scale: Any) -> None:
        da, (gates, next_c, dh) = da
        self._add_gradient(given, da, scale)
        if self._projection() is not None:
            size = next_c.shape[1]
            shown = gates[:, 3 * size :] * array_module(next_c).tanh(next_c)
            add_product(self.gradWeightO, shown.T, dh, scale)


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
        weight, inputs = self.weight, x.shape[1]
        xp = array_module(x)
        states, reset = xp.empty((2, *h.shape), h.dtype), xp.empty((1, *h.shape), h.dtype)
        states[0] = h
        gates = multiply(x, weight[:inputs])[None]
        thnn.SeqGRU_updateOutput(
            None, gates, weight[inputs:], self.bias, self._mask(input), states, reset
        )
        return x, states, gates, reset

    def _mask(self, input: Any) -> Any:
        """1 for each sample that is padding; None where none is."""
        mask = self._padding(input)
        return None if mask is None else mask[None].astype(input[0].dtype)

    def updateOutput(self, input: Any) -> Any:
        next_h = self._run(input)[1][1]
        self.output = next_h[0] if input[0].ndim == 1 else next_h
        return self.output

    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        x, states, gates, reset = self._run(input)
        weight, inputs = self.weight, x.shape[1]
        da, dh = array_module(x).empty_like(gates), gradOutput.reshape(states[0].shape).copy()
        thnn.SeqGRU_updateGradInput(
            None, gates, weight[inputs:], self._mask(input), states, None, da, dh
        )
        found = [multiply(da[0], weight[:inputs].T), dh]
        if input[0].ndim == 1:
            found = [one[0] for one in found]
        return found, (x, states[0], reset[0]), da[0]

    def _gather(self, given: Any, da: Any, scale: Any) -> None:
        (x, h, reset), gradient = given, self.gradWeight
        inputs = x.shape[1]
        add_product_of_rows(gradient[:inputs], x, da, scale)
        add_gru_gradient(gradient[inputs:], h, reset, da, scale)
        self.add_to_bias(da, scale)


def add_gru_gradient(gradient: Any, h: Any, reset: Any, da: Any, scale: Any) -> None:
    """Adds the gradient of the rows of a GRU's weight for the output before.

    `h` are rows of outputs before, `reset` the same times the reset gate, `da` gradients before the
    functions of the gates.
    """
    size = h.shape[1]
    for rows, first, count in ((h, 0, 2 * size), (reset, 2 * size, size)):
        if isinstance(da, Tensor):
            parts = [one.narrow(1, first, count) for one in (gradient, da)]
        else:
            parts = [one[:, first : first + count] for one in (gradient, da)]
        add_product_of_rows(parts[0], rows, parts[1], scale)

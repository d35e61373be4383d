"""The classes of cudnn without a twin in nn: recurrent layers, and softmax of volumes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ... import _random
from ..._errors import THNNArgumentError
from ..._products import multiply, product
from ..._tensor import Tensor
from ..activation.softmax import LogSoftMax, SoftMax
from ..criterion.classes import ClassNLLCriterion
from ..criterion.criterion import Criterion
from ..object.initial import draw
from ..object.module import Module
from ..object.values import array_module, describe, to_arrays
from . import register_in

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "BGRU", "BLSTM", "GRU", "LSTM", "RNN", "BatchBRNNReLU", "RNNReLU", "RNNTanh",
    "SpatialCrossEntropyCriterion", "VolumetricCrossEntropyCriterion", "VolumetricLogSoftMax",
    "VolumetricSoftMax",
]  # fmt: skip

_GATES = {"CUDNN_RNN_RELU": 1, "CUDNN_RNN_TANH": 1, "CUDNN_LSTM": 4, "CUDNN_GRU": 3}


def _logistic(xp: Any, value: Any) -> Any:
    return (1 + xp.tanh(value / 2)) / 2


class _Pass:
    """One layer in one direction, and what its last forward call has to keep."""

    def __init__(self, mode: str, weights: list[Any]) -> None:
        self.mode = mode
        self.given, self.fed_back, self.bias, self.second_bias = weights

    def forward(self, x: Any, h: Any, c: Any) -> tuple[Any, Any, Any]:
        """The outputs of all steps, and the last states."""
        xp, size = array_module(x), h.shape[1]
        self.x, self.start, self.cells = x, h, [c]
        sums = product(x, self.given.T) + self.bias
        self.outputs = xp.empty((*x.shape[:2], size), x.dtype)
        self.gates = xp.empty((*x.shape[:2], self.given.shape[0] // size, size), x.dtype)
        self.inner: list[Any] = []
        for t in range(len(x)):
            fed = multiply(h, self.fed_back.T) + self.second_bias
            h, c = self._step(xp, sums[t], fed, h, c, self.gates[t])
            self.outputs[t] = h
            self.cells.append(c)
            self.inner.append(fed[:, -size:])
        return self.outputs, h, c

    def _step(self, xp: Any, given: Any, fed: Any, h: Any, c: Any, gates: Any) -> tuple[Any, Any]:
        size = h.shape[1]
        if self.mode == "CUDNN_LSTM":
            parts = given + fed
            i, f, g, o = (parts[:, k * size : (k + 1) * size] for k in range(4))
            i, f, o, g = (*(_logistic(xp, one) for one in (i, f, o)), xp.tanh(g))
            c = f * c + i * g
            gates[...] = xp.stack([i, f, g, o], 1)
            return o * xp.tanh(c), c
        if self.mode == "CUDNN_GRU":
            r = _logistic(xp, given[:, :size] + fed[:, :size])
            u = _logistic(xp, given[:, size : 2 * size] + fed[:, size : 2 * size])
            n = xp.tanh(given[:, 2 * size :] + r * fed[:, 2 * size :])
            gates[...] = xp.stack([r, u, n], 1)
            return (1 - u) * n + u * h, c
        sums = given + fed
        out = xp.maximum(sums, 0) if self.mode == "CUDNN_RNN_RELU" else xp.tanh(sums)
        gates[...] = out[:, None]
        return out, c

    def backward(self, gradient: Any, dh: Any, dc: Any) -> tuple[Any, Any, Any, list[Any]]:
        """The gradients of the inputs, of both first states, and of the parameters."""
        xp, steps = array_module(gradient), len(gradient)
        of_given = xp.empty((*self.x.shape[:2], self.given.shape[0]), self.x.dtype)
        of_fed = xp.empty_like(of_given)
        for t in reversed(range(steps)):
            before = self.outputs[t - 1] if t else self.start
            da, db, dh, dc = self._step_back(xp, t, before, dh + gradient[t], dc)
            of_given[t], of_fed[t] = da, db
            dh = dh + multiply(db, self.fed_back)
        hidden = xp.concatenate([self.start[None], self.outputs[:-1]])
        flat_given, flat_fed = (one.reshape(-1, one.shape[2]) for one in (of_given, of_fed))
        parameters = [
            multiply(flat_given.T, self.x.reshape(-1, self.x.shape[2])),
            multiply(flat_fed.T, hidden.reshape(-1, hidden.shape[2])),
            flat_given.sum(0),
            flat_fed.sum(0),
        ]
        return product(of_given, self.given), dh, dc, parameters

    def _step_back(self, xp: Any, t: int, h: Any, dh: Any, dc: Any) -> tuple[Any, Any, Any, Any]:
        """Gradients of both sums, of the state before where no product is, and of the cell."""
        gates = [self.gates[t][:, k] for k in range(self.gates.shape[2])]
        if self.mode == "CUDNN_LSTM":
            i, f, g, o = gates
            shown = xp.tanh(self.cells[t + 1])
            dc = dc + dh * o * (1 - shown * shown)
            parts = [dc * g * i * (1 - i), dc * self.cells[t] * f * (1 - f), dc * i * (1 - g * g),
                     dh * shown * o * (1 - o)]  # fmt: skip
            da = xp.concatenate(parts, 1)
            return da, da, 0, dc * f
        if self.mode == "CUDNN_GRU":
            r, u, n = gates
            of_new = dh * (1 - u) * (1 - n * n)
            of_update = dh * (h - n) * u * (1 - u)
            of_reset = of_new * self.inner[t] * r * (1 - r)
            da = xp.concatenate([of_reset, of_update, of_new], 1)
            return da, xp.concatenate([of_reset, of_update, of_new * r], 1), dh * u, dc
        out = gates[0]
        slope = (out > 0).astype(out.dtype) if self.mode == "CUDNN_RNN_RELU" else 1 - out * out
        return dh * slope, dh * slope, 0, dc


@register_in("cudnn")
class RNN(Module):
    """A recurrent network of `numLayers` layers whose parameters are one vector, ``weight``.

    Input: time x batch x inputSize, with `batchFirst` batch x time; output: hiddenSize numbers for
    each direction. The vector has, for each layer and direction, the weights of the input for each
    gate and then those of the state; after all of these likewise the biases, two for each gate.
    ``hiddenInput`` and ``cellInput``, layers and directions x batch x hiddenSize, are the states to
    start from; ``rememberStates`` goes on from the last. `dropout` is between layers.
    """

    mode: str = "CUDNN_RNN_RELU"
    bidirectional: str = "CUDNN_UNIDIRECTIONAL"
    numDirections: int = 1
    hiddenInput: Any = None
    cellInput: Any = None
    gradHiddenOutput: Any = None
    gradCellOutput: Any = None
    rememberStates: Any = False
    dropout: Any = 0
    _mode: ClassVar[str] = "CUDNN_RNN_RELU"
    _directions: ClassVar[int] = 1

    def __init__(
        self,
        inputSize: int,
        hiddenSize: int,
        numLayers: int,
        batchFirst: bool = False,
        dropout: float = 0,
        rememberStates: bool = False,
    ) -> None:
        super().__init__()
        self.datatype = "CUDNN_DATA_DOUBLE"
        self.inputSize, self.hiddenSize, self.numLayers = inputSize, hiddenSize, numLayers
        self.seqLength = self.miniBatch = 1
        self.numDirections = self._directions
        if self._directions > 1:
            self.bidirectional = "CUDNN_BIDIRECTIONAL"
        else:
            self.bidirectional = "CUDNN_UNIDIRECTIONAL"
        self.inputMode, self.mode = "CUDNN_LINEAR_INPUT", self._mode
        self.dropout, self.seed = dropout, 0x01234567
        self.batchFirst, self.rememberStates = bool(batchFirst), bool(rememberStates)
        self.sync = True
        self.inputPacked = False
        for name in ("weight", "gradWeight"):
            self.assign(name, Tensor.zeros(self._count(), dtype=np.float64))
        self.reset()

    def reset(self, stdv: Any = None) -> Any:
        """Draws all parameters from [-s, s]: s = sqrt(3) stdv, by default 1 / sqrt(hiddenSize)."""
        draw(stdv, int(self.hiddenSize), self.tensors.weight)
        return self

    def resetStates(self) -> None:
        """Starts from states of zeros."""
        for name in ("hiddenInput", "cellInput"):
            self.tensors.__dict__.pop(name, None)

    def forget(self) -> Self:
        """Starts from states of zeros; returns itself."""
        self.resetStates()
        return self

    # ---- The vector of parameters

    def _shapes(self) -> list[list[tuple[int, ...]]]:
        """For each layer and direction, the shapes of both weights and both biases."""
        hidden, directions = int(self.hiddenSize), int(self.numDirections)
        rows = _GATES[self.mode] * hidden
        shapes = []
        for layer in range(int(self.numLayers)):
            inputs = hidden * directions if layer else int(self.inputSize)
            shapes += [[(rows, inputs), (rows, hidden), (rows,), (rows,)]] * directions
        return shapes

    def _count(self) -> int:
        return sum(int(np.prod(shape)) for shapes in self._shapes() for shape in shapes)

    def _parts(self, vector: Any) -> list[list[Any]]:
        """Views of a vector, for each layer and direction: both weights, both biases."""
        if vector.size != self._count():
            raise THNNArgumentError.expected(
                self.typename(), 1, "weight", f"{self._count()} numbers", str(vector.size)
            )
        shapes, flat = self._shapes(), vector.reshape(-1)
        found: list[list[Any]] = [[] for _ in shapes]
        place = 0
        for kinds in ((0, 1), (2, 3)):
            for parts, of_layer in zip(found, shapes, strict=True):
                for kind in kinds:
                    size = int(np.prod(of_layer[kind]))
                    parts.append(flat[place : place + size].reshape(of_layer[kind]))
                    place += size
        return found

    # ---- Computing

    def _by_time(self, value: Any) -> Any:
        return value.swapaxes(0, 1) if self.field("batchFirst") else value

    def _given(self, input: Any) -> Any:
        if getattr(input, "ndim", 0) != 3 or input.shape[2] != int(self.inputSize):
            order = "batch x time" if self.field("batchFirst") else "time x batch"
            wanted = f"{order} x {self.inputSize}"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        return self._by_time(input)

    def _states(self, name: str, like: Any) -> Any:
        """States for each layer and direction; zeros where there are none."""
        shape = len(self._shapes()), like.shape[1], int(self.hiddenSize)
        found = self.field(name)
        if found is None or not found.size:
            return array_module(like).zeros(shape, like.dtype)
        return to_arrays(found).reshape(shape)

    def updateOutput(self, input: Any) -> Any:
        x = self._given(input)
        xp = array_module(x)
        hidden, cells = self._states("hiddenInput", x), self._states("cellInput", x)
        directions = int(self.numDirections)
        passes, last = [], []
        noises: list[Any] = []
        parts = self._parts(self.weight)
        for layer in range(int(self.numLayers)):
            outputs = []
            if layer and self.dropout and self.train is not False:
                kept = 1 - self.dropout
                noise = xp.asarray(_random.bernoulli(x.shape, kept), x.dtype) / kept
                noises.append(noise)
                x = x * noise
            for direction in range(directions):
                place = layer * directions + direction
                one = _Pass(self.mode, parts[place])
                order = slice(None, None, -1 if direction else 1)
                found, h, c = one.forward(x[order], hidden[place], cells[place])
                outputs.append(found[order])
                passes.append(one)
                last.append((h, c))
            x = xp.concatenate(outputs, 2)
        self.__dict__["_passes"], self.__dict__["_noises"] = passes, noises
        for i, name in enumerate(("hiddenOutput", "cellOutput")):
            self.assign(name, xp.stack([states[i] for states in last]))
        if self.rememberStates:
            self.assign("hiddenInput", self.hiddenOutput.copy())
            if self.mode == "CUDNN_LSTM":
                self.assign("cellInput", self.cellOutput.copy())
        self.output = xp.ascontiguousarray(self._by_time(x))
        return self.output

    def _back(self, input: Any, gradOutput: Any) -> tuple[Any, list[list[Any]]]:
        gradient = self._by_time(gradOutput)
        xp = array_module(gradient)
        passes, directions = self.__dict__["_passes"], int(self.numDirections)
        dh, dc = (self._states(n, gradient) for n in ("gradHiddenOutput", "gradCellOutput"))
        found: list[Any] = [None] * len(passes)
        starts: list[Any] = [None] * len(passes)
        for layer in reversed(range(int(self.numLayers))):
            total: Any = 0
            size = int(self.hiddenSize)
            for direction in range(directions):
                place = layer * directions + direction
                order = slice(None, None, -1 if direction else 1)
                part = gradient[order, :, direction * size : (direction + 1) * size]
                dx, h, c, found[place] = passes[place].backward(part, dh[place], dc[place])
                total = total + dx[order]
                starts[place] = (h, c)
            noises = self.__dict__["_noises"]
            gradient = total * noises[layer - 1] if layer and noises else total
        for i, name in enumerate(("gradHiddenInput", "gradCellInput")):
            self.assign(name, xp.stack([states[i] for states in starts]))
        return xp.ascontiguousarray(self._by_time(gradient)), found

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput, self.__dict__["_slopes"] = self._back(input, gradOutput)
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        slopes = self.__dict__.pop("_slopes", None) or self._back(input, gradOutput)[1]
        parts = self._parts(self.gradWeight)
        for of_layer, mine in zip(slopes, parts, strict=True):
            for slope, part in zip(of_layer, mine, strict=True):
                part += scale * slope

    def clearState(self) -> Self:
        """Empties what the next call computes; returns itself."""
        for name in ("_passes", "_noises", "_slopes"):
            self.__dict__.pop(name, None)
        for name in ("hiddenOutput", "cellOutput", "gradHiddenInput", "gradCellInput"):
            self.tensors.__dict__.pop(name, None)
        return super().clearState()

    def _own_fields(self) -> dict[str, Any]:
        inner = ("_passes", "_noises", "_slopes")
        return {name: value for name, value in super()._own_fields().items() if name not in inner}

    def __repr__(self) -> str:
        return f"{self.typename()}({self.inputSize} -> {self.hiddenSize}, {self.numLayers} layers)"


@register_in("cudnn")
class RNNReLU(RNN):
    """RNN with the larger of the sum and 0 as the state."""


@register_in("cudnn")
class RNNTanh(RNN):
    """RNN with tanh of the sum as the state."""

    _mode = "CUDNN_RNN_TANH"


@register_in("cudnn")
class LSTM(RNN):
    """RNN of LSTM cells; gates are those of input, forgetting, new cell and output."""

    _mode = "CUDNN_LSTM"


@register_in("cudnn")
class GRU(RNN):
    """RNN of GRU cells, whose gates are those of reset, update and new state."""

    _mode = "CUDNN_GRU"


@register_in("cudnn")
class BLSTM(LSTM):
    """LSTM in both directions."""

    _directions = 2


@register_in("cudnn")
class BGRU(GRU):
    """GRU in both directions."""

    _directions = 2


@register_in("cudnn")
class BatchBRNNReLU(RNN):
    """RNNReLU in both directions."""

    _directions = 2


class _OfVolumes(Module):
    """A softmax over the planes of [batch x] planes x depth x height x width."""

    _inner: ClassVar[type[Module]]

    def _planes(self, value: Any) -> Any:
        if getattr(value, "ndim", 0) not in (4, 5):
            wanted = "[batch x] planes x depth x height x width"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(value))
        return value.reshape(*value.shape[:-2], -1)

    def _layer(self, input: Any) -> Any:
        layer = self._inner()
        layer.forward(self._planes(input))
        return layer

    def updateOutput(self, input: Any) -> Any:
        self.output = self._layer(input).output.reshape(input.shape)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        found = self._layer(input).backward(self._planes(input), self._planes(gradOutput))
        self.gradInput = found.reshape(input.shape)
        return self.gradInput


@register_in("cudnn")
class VolumetricSoftMax(_OfVolumes):
    """SoftMax over the planes of [batch x] planes x depth x height x width."""

    _inner = SoftMax


@register_in("cudnn")
class VolumetricLogSoftMax(_OfVolumes):
    """LogSoftMax over the planes of [batch x] planes x depth x height x width."""

    _inner = LogSoftMax


@register_in("cudnn")
class SpatialCrossEntropyCriterion(Criterion):
    """CrossEntropyCriterion of every pixel, the mean: batch x classes x height x width.

    The target has the class of each pixel, batch x height x width; `weights` are those of classes.
    """

    _dims: ClassVar[int] = 4

    def __init__(self, weights: ArrayLike | None = None) -> None:
        super().__init__()
        self.nll = ClassNLLCriterion(weights)

    def _given(self, input: Any, target: Any) -> tuple[Any, Any]:
        """A row of scores for each pixel, and the classes."""
        if getattr(input, "ndim", 0) != self._dims or target.size * input.shape[1] != input.size:
            wanted = f"scores of {self._dims} dimensions, and a target of each pixel"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        xp = array_module(input)
        rows = xp.ascontiguousarray(xp.moveaxis(input, 1, -1)).reshape(-1, input.shape[1])
        return rows, target.reshape(-1)

    def _logarithms(self, rows: Any) -> Any:
        xp = array_module(rows)
        rows = rows - rows.max(1, keepdims=True)
        return rows - xp.log(xp.exp(rows).sum(1, keepdims=True))

    def updateOutput(self, input: Any, target: Any) -> Any:
        rows, classes = self._given(input, target)
        self.output = self.nll.forward(self._logarithms(rows), classes)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        rows, classes = self._given(input, target)
        logarithms, xp = self._logarithms(rows), array_module(rows)
        self.nll.forward(logarithms, classes)
        slope = self.nll.backward(logarithms, classes)
        gradient = slope - xp.exp(logarithms) * slope.sum(1, keepdims=True)
        shape = (input.shape[0], *input.shape[2:], input.shape[1])
        self.gradInput = xp.ascontiguousarray(xp.moveaxis(gradient.reshape(shape), -1, 1))
        return self.gradInput


@register_in("cudnn")
class VolumetricCrossEntropyCriterion(SpatialCrossEntropyCriterion):
    """SpatialCrossEntropyCriterion of batch x classes x depth x height x width."""

    _dims = 5

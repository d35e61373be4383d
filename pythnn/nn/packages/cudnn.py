"""The classes of cudnn without a twin in nn: recurrent layers, and softmax of volumes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ... import _random
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ...functional._cells import Gru, Lstm, Plain
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


_CELLS: dict[str, Plain | Lstm | Gru] = {
    "CUDNN_RNN_RELU": Plain("relu"),
    "CUDNN_RNN_TANH": Plain("tanh"),
    "CUDNN_LSTM": Lstm(),
    "CUDNN_GRU": Gru(),
}


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
        cell = _CELLS[self.mode]
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
            x = xp.ascontiguousarray(x)
            for reverse in (False, True)[:directions]:
                place = layer * directions + reverse
                start = [hidden[place], cells[place]]
                one = cell.run(parts[place], x, start, reverse)
                outputs.append(one.output)
                passes.append(one)
                end = 0 if reverse else -1
                is_lstm = self.mode == "CUDNN_LSTM"
                last.append((one.states[end], one.kept[1][end] if is_lstm else start[1]))
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
        cell = _CELLS[self.mode]
        dh, dc = (self._states(n, gradient) for n in ("gradHiddenOutput", "gradCellOutput"))
        found: list[Any] = [None] * len(passes)
        starts: list[Any] = [None] * len(passes)
        for layer in reversed(range(int(self.numLayers))):
            total: Any = 0
            size = int(self.hiddenSize)
            for direction in range(directions):
                place = layer * directions + direction
                part = gradient[:, :, direction * size : (direction + 1) * size]
                dx, states, found[place] = cell.backward(
                    passes[place], part, (dh[place], dc[place])
                )
                total = total + dx
                starts[place] = (states[0], states[1] if len(states) > 1 else dc[place])
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

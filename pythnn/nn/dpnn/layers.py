"""Layers and containers of dpnn."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _random
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..activation.pointwise import Tanh
from ..activation.rectifier import ReLU
from ..containers.branching import Concat, DepthConcat
from ..containers.container import Sequential
from ..containers.decorator import Decorator
from ..convolution.spatial import SpatialConvolution
from ..criterion.criterion import Criterion
from ..linear.lookup import LookupTable
from ..normalization.batch import SpatialBatchNormalization
from ..object.module import Module
from ..object.object import register
from ..object.tables import dimension
from ..object.values import array_module
from ..pooling.spatial import SpatialMaxPooling

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ArgMax", "BinaryLogisticRegression", "CategoricalEntropy", "Clip", "Dictionary",
    "FireModule", "Inception", "Serial",
    "SpatialBinaryConvolution", "SpatialFeatNormalization", "TotalDropout",
]  # fmt: skip


@register
class Clip(Module):
    """Limits values to `minval` to `maxval`; the gradient passes as if it did not."""

    def __init__(self, minval: float, maxval: float) -> None:
        super().__init__()
        self.minval, self.maxval = minval, maxval

    def updateOutput(self, input: Any) -> Any:
        self.output = array_module(input).clip(input, self.minval, self.maxval)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput.copy()
        return self.gradInput


@register
class ArgMax(Module):
    """The index, from 1, of the largest value along a dimension, by default the last.

    An input of more than `nInputDim` dimensions is a batch. Output: the dimension is left out, but
    for vectors, of which it is one number. Without `asLong` it has the input's type.
    """

    nInputDim: int | None = None

    def __init__(self, dim: int = -1, nInputDim: int | None = None, asLong: bool = True) -> None:
        super().__init__()
        self.dim, self.asLong = dim, bool(asLong)
        self.nInputDim = nInputDim
        if asLong:
            self.tensors.output = Tensor(dtype=np.int64)

    def updateOutput(self, input: Any) -> Any:
        is_batch = self.nInputDim is not None and input.ndim > self.nInputDim
        sizes = input.ndim - 1 if is_batch else None
        axis = dimension(self.typename(), int(self.dim), input.ndim, sizes)
        found = (input.argmax(axis) + 1).reshape(
            (*input.shape[:axis], *input.shape[axis + 1 :]) or 1
        )
        self.output = found.astype(np.int64 if self.asLong else input.dtype)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = array_module(input).zeros_like(input)
        return self.gradInput


@register
class TotalDropout(Module):
    """In training, sets the whole input to 0 with probability `p`."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def updateOutput(self, input: Any) -> Any:
        self.noise = 1
        if self.train is not False:
            self.noise = int(_random.bernoulli((1,), 1 - self.p)[0])
        self.output = input * input.dtype.type(self.noise)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput * gradOutput.dtype.type(self.noise)
        return self.gradInput


@register
class Serial(Decorator, kernel=True):
    """Does what the module inside does; in Lua it also says how to save it."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.dpnn_typename = self.typename()

    def heavySerial(self) -> Self:
        """Returns itself."""
        return self

    mediumSerial = lightSerial = heavySerial


@register
class Dictionary(LookupTable, kernel=True):
    """LookupTable of `dictSize` rows; with `accUpdate` it has no gradient of its own."""

    def __init__(self, dictSize: int, embeddingSize: int, accUpdate: bool = False) -> None:
        super().__init__(dictSize, embeddingSize)
        self.accUpdate = bool(accUpdate)
        if accUpdate:
            self.accUpdateOnly()


@register
class Inception(Decorator, kernel=True):
    """The inception block of OpenFace: columns of convolutions and pooling, joined by DepthConcat.

    For each i, a column has a 1 x 1 convolution of `inputSize` planes to ``reduceSize[i]`` and one
    of ``kernelSize[i]`` to ``outputSize[i]``, each with `transfer` after it, and between them batch
    normalization where `batchNorm` is set. The next number of `reduceSize` makes a column of `pool`
    and a 1 x 1 convolution, the one after it a column of that alone; None for either leaves out the
    convolution of the one or the whole other column.
    """

    def __init__(
        self,
        inputSize: int,
        outputSize: Sequence[int],
        reduceSize: Sequence[int | None],
        reduceStride: Sequence[int] = (),
        kernelSize: Sequence[int] = (5, 3),
        kernelStride: Sequence[int] = (1, 1),
        poolSize: int = 3,
        poolStride: int = 1,
        pool: Module | None = None,
        transfer: Module | None = None,
        batchNorm: bool = False,
        padding: bool = True,
    ) -> None:
        columns = DepthConcat(2)
        super().__init__(columns)
        self.inputSize = inputSize
        self.outputSize, self.kernelSize = list(outputSize), list(kernelSize)
        self.kernelStride, self.reduceStride = list(kernelStride), list(reduceStride)
        self.reduceSize = list(reduceSize)
        self.poolSize, self.poolStride = poolSize, poolStride
        self.pool = pool or SpatialMaxPooling(poolSize, poolSize, poolStride, poolStride)
        self.transfer = transfer or ReLU()
        self.padding = bool(padding)
        if batchNorm:
            self.batchNorm = True
        for i, (size, outputs) in enumerate(zip(self.kernelSize, self.outputSize, strict=True)):
            column = Sequential()
            reduced = self._reduce(column, i, batchNorm)
            side, stride = size // 2 if padding else 0, self.kernelStride[i]
            column.add(SpatialConvolution(reduced, outputs, size, size, stride, stride, side, side))
            columns.add(self._activate(column, outputs, batchNorm))
        place = len(self.kernelSize)
        column = Sequential(copy.deepcopy(self.pool))
        self._reduce(column, place, batchNorm)
        columns.add(column)
        last = Sequential()
        self._reduce(last, place + 1, batchNorm)
        if last.modules:
            columns.add(last)

    def _reduce(self, column: Sequential, place: int, normal: bool) -> int:
        """Adds a 1 x 1 convolution where `reduceSize` has a number; returns the planes."""
        planes = self.reduceSize[place] if place < len(self.reduceSize) else None
        if planes is None:
            return self.inputSize
        stride = self.reduceStride[place] if place < len(self.reduceStride) else 1
        column.add(SpatialConvolution(self.inputSize, planes, 1, 1, stride, stride))
        self._activate(column, planes, normal)
        return planes

    def _activate(self, column: Sequential, planes: int, normal: bool) -> Sequential:
        if normal:
            column.add(SpatialBatchNormalization(planes))
        return column.add(copy.deepcopy(self.transfer))

    def _upgrade(self) -> None:
        module = self.field("module")
        if not self.field("modules") and module is not None:
            self.modules = [module]


@register
class FireModule(Decorator, kernel=True):
    """SqueezeNet's block: 1 x 1 convolutions to s1x1 planes, then 1 x 1 and 3 x 3 ones, joined."""

    def __init__(
        self, nInputPlane: int, s1x1: int, e1x1: int, e3x3: int, activation: str = "ReLU"
    ) -> None:
        self.nInputPlane, self.s1x1, self.e1x1, self.e3x3 = nInputPlane, s1x1, e1x1, e3x3
        self.activation = activation
        functions = {"ReLU": ReLU, "Tanh": Tanh}
        if activation not in functions:
            raise THNNArgumentError.expected(
                self.typename(), 5, "activation", "'ReLU' or 'Tanh'", repr(activation)
            )
        function = functions[activation]
        self.squeeze = SpatialConvolution(nInputPlane, s1x1, 1, 1)
        self.expand = Concat(2)
        self.expand.add(SpatialConvolution(s1x1, e1x1, 1, 1))
        self.expand.add(SpatialConvolution(s1x1, e3x3, 3, 3, 1, 1, 1, 1))
        made = Sequential(self.squeeze, function(), self.expand, function())
        super().__init__(made)
        self.module = made


@register
class SpatialBinaryConvolution(SpatialConvolution, kernel=True):
    """Convolution with weights of one size: their signs, times the mean size of each filter's.

    There is no bias. For gradInput the sizes are those of each input plane.
    """

    def _make_parameters(self) -> None:
        super()._make_parameters()
        self.noBias()
        taps = math.prod(self._window())
        self.iwh, self.owh = self.nInputPlane * taps, self.nOutputPlane * taps

    def _with_signs(self, axes: tuple[int, ...], method: Any, *arguments: Any) -> Any:
        """Calls a method with the signs of the weights, times their mean size along the axes."""
        kept = self.tensors.weight
        array = kept.array().reshape(
            int(self.nOutputPlane), int(self.nInputPlane), int(self.kH), int(self.kW)
        )
        signs = array_module(array).sign(array) * abs(array).mean(axes, keepdims=True)
        self.tensors.weight = Tensor(signs.reshape(kept.shape), device=kept.device)
        try:
            return method(*arguments)
        finally:
            self.tensors.weight = kept

    def updateOutput(self, input: Any) -> Any:
        return self._with_signs((1, 2, 3), super().updateOutput, input)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self._with_signs((0, 2, 3), super().updateGradInput, input, gradOutput)


@register
class SpatialFeatNormalization(Module):
    """Subtracts a mean from each plane and divides by a deviation; no parameters are learnt."""

    def __init__(self, mean: ArrayLike, std: ArrayLike | None = None) -> None:
        super().__init__()
        self.mean = np.array(mean, np.float64)
        self.std = np.ones_like(self.mean) if std is None else np.array(std, np.float64)

    def updateOutput(self, input: Any) -> Any:
        shape = (-1, 1, 1)
        self.output = (input - self.mean.reshape(shape)) / self.std.reshape(shape)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput / self.std.reshape(-1, 1, 1)
        return self.gradInput


@register
class CategoricalEntropy(Module):
    """Passes probabilities on; backward adds the gradient that raises the entropy of their mean."""

    def __init__(self, scale: float = 1, minEntropy: float | None = None) -> None:
        super().__init__()
        self.scale, self.minEntropy = scale, minEntropy

    minEntropy: float | None = None

    def updateOutput(self, input: Any) -> Any:
        self.output = input
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        xp = array_module(input)
        total = input.sum(0) / input.sum()
        logarithm = xp.log(total + 1e-8)
        self.entropy = float(-(total * logarithm).sum())
        self.gradInput = gradOutput.copy()
        if self.minEntropy is None or self.entropy < self.minEntropy:
            self.gradInput = gradOutput + (logarithm + 1) * self.scale / input.sum()
        return self.gradInput


@register
class BinaryLogisticRegression(Criterion):
    """log(1 + exp(-target input)) for targets of -1 and 1, the mean over samples."""

    def __init__(self, sizeAverage: bool = True) -> None:
        super().__init__()
        self.sizeAverage = bool(sizeAverage)

    def _count(self, input: Any) -> int:
        return input.size if self.sizeAverage else 1

    def updateOutput(self, input: Any, target: Any) -> Any:
        xp = array_module(input)
        values = xp.logaddexp(0, -input * target.reshape(input.shape))
        self.output = float(values.sum()) / self._count(input)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        wanted = target.reshape(input.shape)
        gradient = -wanted / (1 + array_module(input).exp(wanted * input))
        self.gradInput = gradient / self._count(input)
        return self.gradInput

"""Layers that compute distances and angles between vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._errors import THNNArgumentError
from ..._products import multiply
from ..._tensor import Tensor
from ..object.initial import draw
from ..object.module import Module
from ..object.object import register
from ..object.tables import same_sizes
from ..object.values import array_module
from .cosine import SMALL, cosine

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Cosine", "CosineDistance", "Euclidean", "PairwiseDistance", "WeightedEuclidean"]


def _rows(name: str, input: Any, size: int) -> Any:
    """The input as a batch of vectors of a size; THNNArgumentError for other inputs."""
    if input.ndim > 2 or input.shape[-1] != size:
        raise THNNArgumentError.expected(name, 1, "input", f"[batch x] {size}", f"{input.shape}")
    return array_module(input).atleast_2d(input)


@register
class CosineDistance(Module):
    """The cosine of the angle between corresponding rows of two tensors.

    Input: a table of two tensors of [batch x] size; output: batch, or one element.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gradInput = [np.empty(0), np.empty(0)]

    def updateOutput(self, input: Any) -> Any:
        self.output, _ = cosine(self.typename(), input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        _, gradients = cosine(self.typename(), input)
        factor = gradOutput.reshape(-1, 1)
        self.gradInput = [(factor * gradient).reshape(input[0].shape) for gradient in gradients]
        return self.gradInput


@register
class PairwiseDistance(Module):
    """The distance in the `p`-norm between corresponding rows of two tensors.

    Input: a table of two tensors of [batch x] size; output: batch, or one element.
    """

    _SMALL: ClassVar[float] = 1e-6
    """Added to distances that gradients are divided by."""

    def __init__(self, p: float = 2) -> None:
        super().__init__()
        self.tensors.gradInput = []
        self.tensors.diff = Tensor(dtype=np.float64)
        self.norm = p

    def updateOutput(self, input: Any) -> Any:
        first, second = same_sizes(self.typename(), input)
        difference = array_module(input).atleast_2d(first - second)
        self.assign("diff", difference)
        self.output = (abs(difference) ** self.norm).sum(1) ** (1 / self.norm)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        difference, power = self.diff, self.norm - 1
        divisor = (self.output[:, None] + self._SMALL) ** power
        slopes = array_module(input).sign(difference) * abs(difference) ** power / divisor
        gradient = (slopes * gradOutput.reshape(-1, 1)).reshape(input[0].shape)
        self.gradInput = [gradient, -gradient]
        return self.gradInput

    def clearState(self) -> Self:
        self.clear("diff")
        return super().clearState()


@register
class Cosine(Module):
    """The cosine of the angle between the input and each row of weight.

    Input: [batch x] inputSize; output: [batch x] outputSize; weight: outputSize x inputSize.
    """

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__()
        own = self.tensors
        own.weight = Tensor.zeros(outputSize, inputSize, dtype=np.float64)
        own.gradWeight = Tensor.zeros(outputSize, inputSize, dtype=np.float64)
        self.reset()

    def reset(self, stdv: Any = None) -> None:
        """Draws weight from [-s, s]: s = sqrt(3) stdv, by default 1 / sqrt(outputSize)."""
        weight = self.tensors.weight
        draw(stdv, weight.shape[0], weight)

    def _lengths(self, input: Any) -> tuple[Any, Any, Any]:
        """The input as a batch, its lengths and those of the rows of weight, as columns."""
        xp = array_module(input)
        weight = self.weight
        rows = _rows(self.typename(), input, weight.shape[1])
        lengths = (xp.sqrt((x * x).sum(1, keepdims=True)) + SMALL for x in (rows, weight))
        return rows, *lengths

    def updateOutput(self, input: Any) -> Any:
        rows, lengths, weight_lengths = self._lengths(input)
        output = multiply(rows, (self.weight / weight_lengths).T) / lengths
        self.output = output.reshape(*input.shape[:-1], -1)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        rows, lengths, weight_lengths = self._lengths(input)
        gradient = gradOutput.reshape(len(rows), -1)
        along = (gradient * self.output).sum(1, keepdims=True) / lengths
        gradInput = (multiply(gradient, self.weight / weight_lengths) - along * rows) / lengths
        self.gradInput = gradInput.reshape(input.shape)
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        rows, lengths, weight_lengths = self._lengths(input)
        gradient = gradOutput.reshape(len(rows), -1)
        along = (gradient * self.output).sum(0)[:, None] / weight_lengths
        towards = multiply(gradient.T, rows / lengths)
        # Lua Torch does not scale this gradient.
        self.gradWeight += (towards - along * self.weight) / weight_lengths


class _Centres(Module):
    """The distance of the input to each column of weight.

    Input: [batch x] inputSize; output: [batch x] outputSize; weight: inputSize x outputSize.
    """

    _SMALL: ClassVar[float] = 1e-7
    """Added to distances that gradients are divided by."""

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__()
        for name in (name for pair in self.parameterFields for name in pair):
            setattr(self.tensors, name, Tensor.zeros(inputSize, outputSize, dtype=np.float64))
        self.reset()

    def reset(self, stdv: Any = None) -> None:
        """Draws weight from [-s, s]: s = sqrt(3) stdv, by default 1 / sqrt(inputSize)."""
        weight = self.tensors.weight
        draw(stdv, weight.shape[0], weight)

    def _scales(self) -> Any:
        """What the differences are multiplied by: inputSize x outputSize."""
        return 1

    def _differences(self, input: Any) -> Any:
        """The differences as they are: batch x inputSize x outputSize."""
        return _rows(self.typename(), input, len(self.weight))[:, :, None] - self.weight

    def _slopes(self, input: Any, gradOutput: Any) -> Any:
        """The gradient of the scaled differences: batch x inputSize x outputSize."""
        factor = gradOutput / (self.output + self._SMALL)
        scaled = self._differences(input) * self._scales()
        return scaled * factor.reshape(-1, 1, self.weight.shape[1])

    def updateOutput(self, input: Any) -> Any:
        scaled = self._differences(input) * self._scales()
        lengths = array_module(input).sqrt((scaled * scaled).sum(1))
        self.output = lengths.reshape(*input.shape[:-1], -1)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        slopes = self._slopes(input, gradOutput) * self._scales()
        self.gradInput = slopes.sum(2).reshape(input.shape)
        return self.gradInput


@register
class Euclidean(_Centres):
    """The Euclidean distance of the input to each column of weight.

    Input: [batch x] inputSize; output: [batch x] outputSize; weight: inputSize x outputSize.
    """

    parameterFields = (("weight", "gradWeight"),)

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__(inputSize, outputSize)
        self.tensors.gradInput = Tensor.zeros(inputSize, dtype=np.float64)
        self.tensors.output = Tensor.zeros(outputSize, dtype=np.float64)
        self.fastBackward = True

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self.gradWeight -= scale * self._slopes(input, gradOutput).sum(0)


@register
class WeightedEuclidean(_Centres):
    """Like Euclidean, with all differences multiplied by ``diagCov`` (inputSize x outputSize)."""

    parameterFields = (("weight", "gradWeight"), ("diagCov", "gradDiagCov"))

    def reset(self, stdv: Any = None) -> None:
        """Draws weight from [-s, s] and sets diagCov to 1.

        s = sqrt(3) stdv, by default 1 / sqrt(inputSize).
        """
        super().reset(stdv)
        self.tensors.diagCov.fill(1)

    def _scales(self) -> Any:
        return self.diagCov

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        slopes, differences = self._slopes(input, gradOutput), self._differences(input)
        self.gradWeight -= scale * (slopes * self.diagCov).sum(0)
        self.gradDiagCov += scale * (slopes * differences).sum(0)

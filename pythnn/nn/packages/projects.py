"""Classes that projects around public models define for themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _random
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..convolution.spatial import SpatialConvolution
from ..criterion.criterion import Criterion
from ..linear.linear import Linear
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, describe

__all__ = [
    "BinActiveZ", "FeatExpander", "LinearNB", "Sampler", "SpatialConvolutionUpsample",
    "TripletEmbeddingCriterion",
]  # fmt: skip


@register
class BinActiveZ(Module):
    """The signs of values, as in XNOR-Net; the gradient passes where they are between -1 and 1."""

    def updateOutput(self, input: Any) -> Any:
        self.output = array_module(input).sign(input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput * (abs(input) < 1)
        return self.gradInput


@register
class FeatExpander(Module):
    """Repeats each row of batch x features `n` times, one after the other, as in neuraltalk2."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def updateOutput(self, input: Any) -> Any:
        if input.ndim != 2:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "batch x features", describe(input)
            )
        self.output = array_module(input).repeat(input, int(self.n), 0)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput.reshape(len(input), int(self.n), -1).sum(1)
        return self.gradInput


@register
class LinearNB(Linear):
    """Linear without a bias, under the name that it has in lstm-char-cnn."""

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__(inputSize, outputSize, False)


@register
class Sampler(Module):
    """Draws from normal distributions of {means, logarithms of variances}, in variational nets."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors.gradInput = [Tensor(dtype=np.float64), Tensor(dtype=np.float64)]

    def updateOutput(self, input: Any) -> Any:
        if not isinstance(input, list) or len(input) != 2 or input[0].shape != input[1].shape:
            wanted = "a table of means and logarithms of variances, of one shape"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        means, logarithms = input
        xp = array_module(means)
        self.assign("eps", xp.asarray(_random.normal(means.shape, 0, 1), means.dtype))
        self.output = means + xp.exp(logarithms / 2) * self.eps
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        deviation = array_module(gradOutput).exp(input[1] / 2)
        self.gradInput = [gradOutput + 0, gradOutput * self.eps * deviation / 2]
        return self.gradInput


@register
class SpatialConvolutionUpsample(SpatialConvolution, kernel=True):
    """A convolution whose planes are rows of larger images, `factor` times as high and as wide.

    Output: [batch x] nOutputPlane x factor height x factor width, which is the convolution's output
    of factor^2 nOutputPlane planes in another shape. The kernel's sides are odd.
    """

    def __init__(
        self, nInputPlane: int, nOutputPlane: int, kW: int, kH: int, factor: int = 2
    ) -> None:
        if kW % 2 == 0 or kH % 2 == 0:
            raise THNNArgumentError.expected(
                self.typename(), 3, "kW", "odd sides of the kernel", f"{kW} x {kH}"
            )
        planes = nOutputPlane * factor * factor
        super().__init__(nInputPlane, planes, kW, kH, 1, 1, (kW - 1) // 2, (kH - 1) // 2)
        self.factor = factor
        self.nInputPlaneU, self.nOutputPlaneU = nInputPlane, nOutputPlane

    def updateOutput(self, input: Any) -> Any:
        found, factor = super().updateOutput(input), int(self.factor)
        height, width = (factor * size for size in input.shape[-2:])
        self.tensors.output = found.view((*found.shape[:-3], -1, height, width))
        return self.tensors.output

    def _of_convolution(self, input: Any, gradOutput: Any) -> Any:
        return gradOutput.contiguous().view((*input.shape[:-3], -1, *input.shape[-2:]))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return super().updateGradInput(input, self._of_convolution(input, gradOutput))

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        super().accGradParameters(input, self._of_convolution(input, gradOutput), scale)


@register
class TripletEmbeddingCriterion(Criterion):
    """The mean of max(0, d(a, p) + alpha - d(a, n)) for {a, p, n}, as OpenFace trains with.

    d is the squared distance of corresponding rows; there is no target.
    """

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = alpha
        self.tensors.gradInput = [Tensor(dtype=np.float64) for _ in range(3)]

    def _excess(self, input: Any) -> Any:
        """By how much each row is on the wrong side; 0 where it is not."""
        if (
            not isinstance(input, list)
            or len(input) != 3
            or len({one.shape for one in input}) > 1
            or input[0].ndim != 2
        ):
            wanted = "a table of three tensors, batch x features"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        anchor, like, unlike = input
        near, far = (((anchor - one) ** 2).sum(1) for one in (like, unlike))
        return array_module(anchor).maximum(near + self.alpha - far, 0)

    def updateOutput(self, input: Any, target: Any = None) -> Any:
        self.output = float(self._excess(input).mean())
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        anchor, like, unlike = input
        factor = (self._excess(input) > 0)[:, None] * anchor.dtype.type(2 / len(anchor))
        self.gradInput = [
            factor * (unlike - like), factor * (like - anchor), factor * (anchor - unlike),
        ]  # fmt: skip
        return self.gradInput

"""Normalisation of planes by weighted neighbourhoods, all planes together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from .. import tables
from ..activation.pointwise import Sqrt, Square
from ..activation.rectifier import Threshold
from ..containers.container import Sequential
from ..convolution.connected import SpatialConvolutionMap
from ..convolution.spatial import SpatialConvolution
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module
from ..padding.border import SpatialZeroPadding
from ..shape.shape import Replicate
from ..table.arithmetic import CDivTable, CSubTable

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "SpatialContrastiveNormalization",
    "SpatialDivisiveNormalization",
    "SpatialSubtractiveNormalization",
]


def _add_sum(network: Sequential, module: Module, kernel: Any) -> None:
    """Adds a convolution with this kernel for all planes."""
    module.weight[...] = kernel
    module.bias[...] = 0
    network.add(module)


class _LocalNormalization(Module, kernel=True):
    """A layer that weighs neighbourhoods with a kernel, of one or two dimensions.

    ``coef`` makes up for what the border lacks: it is the sum of the weights inside the image.
    """

    def _set_kernel(self, nInputPlane: int, kernel: Any, per_axis: float) -> None:
        """Keeps the kernel, scaled so that it adds up to 1 / nInputPlane, or `per_axis` if 1-D."""
        weights = np.ones((9, 9)) if kernel is None else np.array(kernel, np.float64)
        if weights.ndim not in (1, 2) or not all(size % 2 for size in weights.shape):
            raise THNNArgumentError.expected(
                self.typename(), 2, "kernel", "1 or 2 dimensions of odd size",
                f"shape {weights.shape}",
            )  # fmt: skip
        total = 1 / nInputPlane if weights.ndim == 2 else per_axis
        self.nInputPlane = nInputPlane
        self.tensors.kernel = Tensor(weights * (total / weights.sum()))
        self.tensors.coef = Tensor.zeros(1, 1, 1, dtype=np.float64)

    def _weighted_sums(self, *before: Module) -> Sequential:
        """A network that puts the weighted sum of its neighbourhood in the place of an element."""
        kernel, planes = self.kernel, self.nInputPlane
        height, width = kernel.shape[0], kernel.shape[-1]
        network = Sequential()
        for module in before:
            network.add(module)
        network.add(SpatialZeroPadding(width // 2, width // 2, height // 2, height // 2))
        if kernel.ndim == 2:
            _add_sum(network, SpatialConvolution(planes, 1, width, height), kernel)
        else:
            along = SpatialConvolutionMap(tables.oneToOne(planes), width, 1)
            _add_sum(network, along, kernel)
            _add_sum(network, SpatialConvolution(planes, 1, 1, height), kernel.reshape(-1, 1))
        network.add(Replicate(planes, 1, 3))
        return network

    def _update_coef(self, input: Any) -> None:
        if input.ndim not in (3, 4) or input.shape[-3] != self.nInputPlane:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"[batch x] {self.nInputPlane} x height x width",
                f"shape {input.shape}",
            )  # fmt: skip
        coef, batch, (planes, height, width) = self.tensors.coef, input.shape[:-3], input.shape[-3:]
        if coef.shape != (*batch, planes, 1, height, width) or coef.dtype != input.dtype:
            ones = Tensor.empty(input.shape[-3:], dtype=input.dtype).fill(1).to(input.device)
            inside = self.meanestimator.updateOutput(ones).array()
            shape = (*batch, *inside.shape)
            self.tensors.coef = Tensor(array_module(inside).broadcast_to(inside, shape))


@register
class SpatialSubtractiveNormalization(_LocalNormalization, kernel=True):
    """output = input - weighted mean of the neighbourhood in all planes.

    Input: [batch x] nInputPlane x height x width; `kernel` is by default 9 x 9 ones.
    """

    def __init__(self, nInputPlane: int = 1, kernel: ArrayLike | None = None) -> None:
        super().__init__()
        self._set_kernel(nInputPlane, kernel, 1 / nInputPlane)
        self.meanestimator = self._weighted_sums()
        self.subtractor = CSubTable()
        self.divider = CDivTable()

    def updateOutput(self, input: Any) -> Any:
        self._update_coef(input)
        own = self.tensors
        own.localsums = self.meanestimator.updateOutput(input)
        own.adjustedsums = self.divider.updateOutput([own.localsums, own.coef])
        own.output = self.subtractor.updateOutput([input, own.adjustedsums])
        return own.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        own = self.tensors
        direct, adjusted = self.subtractor.updateGradInput([input, own.adjustedsums], gradOutput)
        sums = self.divider.updateGradInput([own.localsums, own.coef], adjusted)[0]
        through = self.meanestimator.updateGradInput(input, sums)
        gradInput = self.result("gradInput", input).resize(input.shape)
        return gradInput.copy_from(direct.array() + through.array())

    def clearState(self) -> Self:
        self.clear("ones", "_coef", "localsums", "adjustedsums")
        self.meanestimator.clearState()
        return super().clearState()


@register
class SpatialDivisiveNormalization(_LocalNormalization, kernel=True):
    """output = input / weighted standard deviation of the neighbourhood in all planes.

    Input: [batch x] nInputPlane x height x width; `kernel` is by default 9 x 9 ones. `thresval`, by
    default `threshold`, takes the place of deviations up to `threshold`.
    """

    def __init__(
        self,
        nInputPlane: int = 1,
        kernel: ArrayLike | None = None,
        threshold: float = 1e-4,
        thresval: float | None = None,
    ) -> None:
        super().__init__()
        self._set_kernel(nInputPlane, kernel, 1 / math.sqrt(nInputPlane))
        self.threshold = threshold
        self.thresval = threshold if thresval is None else thresval
        self.meanestimator = self._weighted_sums()
        self.stdestimator = self._weighted_sums(Square()).add(Sqrt())
        self.normalizer = CDivTable()
        self.divider = CDivTable()
        self.thresholder = Threshold(self.threshold, self.thresval)

    def updateOutput(self, input: Any) -> Any:
        self._update_coef(input)
        own = self.tensors
        own.localstds = self.stdestimator.updateOutput(input)
        own.adjustedstds = self.divider.updateOutput([own.localstds, own.coef])
        own.thresholdedstds = self.thresholder.updateOutput(own.adjustedstds)
        own.output = self.normalizer.updateOutput([input, own.thresholdedstds])
        return own.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        own = self.tensors
        divided = [input, own.thresholdedstds]
        direct, gradient = self.normalizer.updateGradInput(divided, gradOutput)
        gradient = self.thresholder.updateGradInput(own.adjustedstds, gradient)
        gradient = self.divider.updateGradInput([own.localstds, own.coef], gradient)[0]
        through = self.stdestimator.updateGradInput(input, gradient)
        gradInput = self.result("gradInput", input).resize(input.shape)
        return gradInput.copy_from(direct.array() + through.array())

    def clearState(self) -> Self:
        self.clear("ones", "_coef", "localstds", "adjustedstds", "thresholdedstds")
        self.meanestimator.clearState()
        self.stdestimator.clearState()
        return super().clearState()


@register
class SpatialContrastiveNormalization(Module, kernel=True):
    """SpatialSubtractiveNormalization and then SpatialDivisiveNormalization."""

    def __init__(
        self,
        nInputPlane: int = 1,
        kernel: ArrayLike | None = None,
        threshold: float = 1e-4,
        thresval: float | None = None,
    ) -> None:
        super().__init__()
        self.nInputPlane = nInputPlane
        self.threshold = threshold
        self.thresval = threshold if thresval is None else thresval
        subtractive = SpatialSubtractiveNormalization(nInputPlane, kernel)
        divisive = SpatialDivisiveNormalization(nInputPlane, kernel, threshold, self.thresval)
        self.tensors.kernel = subtractive.tensors.kernel = divisive.tensors.kernel
        self.normalizer = Sequential().add(subtractive).add(divisive)

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = self.normalizer.forward(input)
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = self.normalizer.backward(input, gradOutput)
        return self.tensors.gradInput

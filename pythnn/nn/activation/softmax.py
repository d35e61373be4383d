"""Layers that make probabilities of numbers.

They normalise over the only dimension of a vector, the second of a batch of vectors, the planes of
[batch x] planes x height x width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import thnn
from ..._tensor import Tensor
from ..object.kernel import OutputKernel
from ..object.module import Module
from ..object.object import register

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LogSoftMax", "SoftMax", "SoftMin", "SpatialLogSoftMax", "SpatialSoftMax"]


@register
class SoftMax(OutputKernel):
    """output = exp(input) / sum exp(input)."""

    _function = "SoftMax"


@register
class LogSoftMax(OutputKernel):
    """output = log(exp(input) / sum exp(input))."""

    _function = "LogSoftMax"


@register
class SpatialSoftMax(OutputKernel):
    """output = exp(input) / sum exp(input)."""

    _function = "SoftMax"


@register
class SpatialLogSoftMax(OutputKernel):
    """output = log(exp(input) / sum exp(input))."""

    _function = "LogSoftMax"


@register
class SoftMin(Module, kernel=True):
    """output = exp(-input) / sum exp(-input)."""

    def updateOutput(self, input: Any) -> Any:
        output = self.result("output", input)
        thnn.SoftMax_updateOutput(None, Tensor(-input.array()), output)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput, output = self.result("gradInput", input), self.tensors.output
        thnn.SoftMax_updateGradInput(None, input, gradOutput, gradInput, output)
        gradient = gradInput.array()
        gradient *= -1
        del gradient  # or the next call would spare its memory
        return gradInput

    def clearState(self) -> Self:
        self.clear("mininput")
        return super().clearState()

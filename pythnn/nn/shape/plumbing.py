"""Layers that pass values on, or nothing at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._shown import LINE, shown
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.tables import zeros_like
from ..object.values import array_module

__all__ = ["Collapse", "Constant", "Contiguous", "Identity", "PrintSize", "ZeroGrad"]


@register
class Identity(Module, kernel=True):
    """output = input, the same memory; any value or table."""

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = input
        return input

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = gradOutput
        return gradOutput


@register
class ZeroGrad(Module, kernel=True):
    """output = input, the same memory; gradInput = 0."""

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = input
        return input

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = zeros_like(input)
        return self.tensors.gradInput


def _sizes(value: Any) -> Any:
    """The sizes of a tensor, or of the entries of a table."""
    if isinstance(value, list):
        return [_sizes(entry) for entry in value]
    return value.shape if isinstance(value, Tensor) else type(value).__name__


@register
class PrintSize(Module, kernel=True):
    """output = input, the same memory; prints the sizes of the input and of the gradient."""

    def __init__(self, prefix: str = "PrintSize") -> None:
        super().__init__()
        self.prefix = prefix

    def updateOutput(self, input: Any) -> Any:
        print(f"{shown(self.prefix, LINE)}:input\n{_sizes(input)}")
        self.tensors.output = input
        return input

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        print(f"{shown(self.prefix, LINE)}:gradOutput\n{_sizes(gradOutput)}")
        self.tensors.gradInput = gradOutput
        return gradOutput


@register
class Contiguous(Module, kernel=True):
    """output = input, copied only when it is not contiguous."""

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = input.contiguous()
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = gradOutput.contiguous()
        return self.tensors.gradInput


@register
class Collapse(Module, kernel=True):
    """Merges the last `nInputDim` dimensions into one."""

    def __init__(self, nInputDim: int) -> None:
        super().__init__()
        self.nInputDim = nInputDim

    def updateOutput(self, input: Any) -> Any:
        batch = input.shape[: max(input.ndim - self.nInputDim, 0)]
        self.tensors.output = input.contiguous().view(*batch, -1)
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = gradOutput.contiguous().view(input.shape)
        return self.tensors.gradInput


@register
class Constant(Module):
    """output = `value`, whatever the input.

    With `nInputDim`, an input with more dimensions is a batch: the value is repeated for each of
    its samples.
    """

    nInputDim: int | None = None

    def __init__(self, value: ArrayLike, nInputDim: int | None = None) -> None:
        super().__init__()
        self.tensors.value = Tensor(np.atleast_1d(np.asarray(value, np.float64)))
        self.nInputDim = nInputDim

    def updateOutput(self, input: Any) -> Any:
        value = self.value
        if self.nInputDim is not None and input.ndim > self.nInputDim:
            value = array_module(input).broadcast_to(value, (input.shape[0], *value.shape))
        self.output = value.copy()
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = zeros_like(input)
        return self.gradInput

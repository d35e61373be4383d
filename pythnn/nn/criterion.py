"""Criterion, the base of all losses, and the losses that compare element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import thnn
from .._tensor import Tensor
from ._object import Object, register, type_of_tensors

__all__ = ["Criterion", "MSECriterion"]


@register
class Criterion(Object, kernel=True):
    """A loss: a number for an input and a target.

    A criterion overrides ``updateOutput``, which sets and returns the number ``output``, and
    ``updateGradInput``. Class targets are numbers from 1.
    """

    _results = ("gradInput",)

    def __init__(self) -> None:
        self.tensors.gradInput = Tensor(dtype=np.float64)
        self.output: Any = 0

    @property
    def _type(self) -> str:
        """The type of the tensors; Lua's criterions have no such field."""
        return type_of_tensors(self.tensors)

    @_type.setter
    def _type(self, name: str) -> None:
        pass

    def updateOutput(self, input: Any, target: Any) -> Any:
        """Computes and returns ``output``."""

    def updateGradInput(self, input: Any, target: Any) -> Any:
        """Computes and returns ``gradInput``."""

    def forward(self, input: Any, target: Any) -> Any:
        """The loss."""
        return self.updateOutput(input, target)

    def backward(self, input: Any, target: Any) -> Any:
        """The gradient of the loss with respect to the input."""
        return self.updateGradInput(input, target)

    def __call__(self, input: Any, target: Any) -> Any:
        """The loss, and the gradient of the input."""
        return self.forward(input, target), self.backward(input, target)

    def loss_tensor(self, like: Tensor) -> Tensor:
        """The field ``output_tensor``, one element, for a kernel to write the loss to."""
        return self.result("output_tensor", like).resize(1)


@register
class MSECriterion(Criterion, kernel=True):
    """Mean, or without `sizeAverage` sum, of (input - target)^2 over all elements."""

    def __init__(self, sizeAverage: bool = True) -> None:
        super().__init__()
        self.sizeAverage = sizeAverage

    def updateOutput(self, input: Any, target: Any) -> Any:
        loss = self.loss_tensor(input)
        thnn.MSECriterion_updateOutput(None, input, target, loss, self.sizeAverage)
        self.output = loss.item()
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        gradInput = self.result("gradInput", input)
        thnn.MSECriterion_updateGradInput(None, input, target, gradInput, self.sizeAverage)
        return gradInput

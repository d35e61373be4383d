"""Criterion, the base of all losses."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ... import thnn
from ..._tensor import Tensor
from ..object.object import Object, register
from ..object.types import contents_of, type_of_tensors

__all__ = ["Criterion", "KernelCriterion"]


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
        """The type of the tensors, here or inside; Lua's criterions have no such field."""
        return type_of_tensors(contents_of(self))

    @_type.setter
    def _type(self, name: str) -> None:
        pass

    def updateOutput(self, input: Any, target: Any) -> Any:
        """Computes and returns ``output``."""

    def updateGradInput(self, input: Any, target: Any) -> Any:
        """Computes and returns ``gradInput``."""

    def forward(self, input: Any, target: Any = None) -> Any:
        """The loss."""
        return self.updateOutput(input, target)

    def backward(self, input: Any, target: Any = None) -> Any:
        """The gradient of the loss with respect to the input."""
        return self.updateGradInput(input, target)

    def __call__(self, input: Any, target: Any = None) -> Any:
        """The loss, and the gradient of the input."""
        return self.forward(input, target), self.backward(input, target)

    def loss_tensor(self, like: Tensor) -> Tensor:
        """The field ``output_tensor``, one element, for a kernel to write the loss to."""
        return self.result("output_tensor", like).resize(1)


class KernelCriterion(Criterion, kernel=True):
    """A loss that the C functions of one name compute."""

    _function: ClassVar[str]
    """The name: ``MSECriterion`` for ``MSECriterion_updateOutput`` and its twin."""

    def __init__(self, sizeAverage: bool = True) -> None:
        super().__init__()
        self.sizeAverage = sizeAverage

    def wanted(self, input: Tensor, target: Any) -> Tensor:
        """The target in the form that the functions take."""
        tensor: Tensor = target
        return tensor

    def settings(self, input: Tensor) -> tuple[Any, ...]:
        """What the functions take after the tensors."""
        return (self.sizeAverage,)

    def _run(self, step: str, input: Tensor, target: Any, result: Tensor) -> None:
        function = getattr(thnn, f"{self._function}_{step}")
        function(None, input, self.wanted(input, target), result, *self.settings(input))

    def updateOutput(self, input: Any, target: Any) -> Any:
        loss = self.loss_tensor(input)
        self._run("updateOutput", input, target, loss)
        self.output = loss.item()
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        gradInput = self.result("gradInput", input).resize(input.shape)
        self._run("updateGradInput", input, target, gradInput)
        return gradInput

"""Layers that mix or compare the entries of a table."""

from __future__ import annotations

from typing import Any

from ..._errors import THNNArgumentError
from ..criterion.criterion import Criterion
from ..object.module import Module
from ..object.object import register
from ..object.values import LongStorage, array_module

__all__ = ["CriterionTable", "MixtureTable"]


@register
class MixtureTable(Module):
    """output = sum over i of gater[i] expert[i], for an input of a gater and the experts.

    The gater is [batch x] n. The experts are a table of n tensors [batch x] …, or one tensor that
    has them along dimension `dim`: by default the first after that of the batch.
    """

    dim: int | None = None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim
        self.size = LongStorage()
        self.size2 = LongStorage()
        self.batchSize = 0
        self.backwardSetup = False
        self.tensors.gradInput = []

    def _stacked(self, input: Any) -> tuple[Any, Any, int]:
        """Gater and experts in shapes that multiply, and the axis of the experts."""
        gater, experts = input
        axis = gater.ndim - 1
        if isinstance(experts, (list, tuple)):
            experts = array_module(gater).stack(experts, axis)
        elif self.dim is not None:
            axis = self.dim - 1
        shape = [1] * experts.ndim
        if gater.ndim == 2:
            shape[0] = gater.shape[0]
        if axis < len(shape):
            shape[axis] = gater.shape[-1]
        if axis >= len(shape) or shape[axis] != experts.shape[axis]:
            raise THNNArgumentError.expected(
                self.typename(),
                1,
                "input",
                f"as many experts as the gater has columns, {gater.shape[-1]}",
                f"experts of {experts.shape}",
            )
        return gater.reshape(shape), experts, axis

    def updateOutput(self, input: Any) -> Any:
        gater, experts, axis = self._stacked(input)
        self.output = (gater * experts).sum(axis)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        xp = array_module(gradOutput)
        gater, experts, axis = self._stacked(input)
        gradient = xp.expand_dims(gradOutput, axis)
        kept = {axis} if input[0].ndim == 1 else {0, axis}
        others = tuple(a for a in range(experts.ndim) if a not in kept)
        of_experts = gater * gradient
        if isinstance(input[1], (list, tuple)):
            of_experts = [part.copy() for part in xp.moveaxis(of_experts, axis, 0)]
        of_gater = (experts * gradient).sum(others).reshape(input[0].shape)
        self.gradInput = [of_gater, of_experts]
        return self.gradInput


@register
class CriterionTable(Module, kernel=True):
    """A criterion as a module: the input is a table of input and target."""

    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        self.criterion = criterion
        self.tensors.gradInput = [criterion.field("gradInput")]

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = self.criterion.updateOutput(*input)
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = [self.criterion.updateGradInput(*input)]
        return self.tensors.gradInput

"""The classes of waifu2x's networks that nn lacks."""

from __future__ import annotations

from typing import Any

from ..._errors import THNNArgumentError
from ..object.module import Module
from ..object.values import describe
from . import register_in

__all__ = ["InplaceClip01", "LeakyReLU", "ScaleTable"]


@register_in("w2nn")
class LeakyReLU(Module):
    """output = input where it is positive, else `negative_scale` times it."""

    def __init__(self, negative_scale: float = 0.333) -> None:
        super().__init__()
        self.negative_scale = negative_scale

    def _slopes(self, input: Any) -> Any:
        kind = input.dtype.type
        positive = input > 0
        return positive + ~positive * kind(self.negative_scale)

    def updateOutput(self, input: Any) -> Any:
        self.output = input * self._slopes(input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput * self._slopes(input)
        return self.gradInput


@register_in("w2nn")
class InplaceClip01(Module):
    """Limits values to 0 to 1, in the input's memory; the gradient passes as if it did not."""

    def updateOutput(self, input: Any) -> Any:
        input.clip(0, 1, out=input)
        self.output = input
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput
        return self.gradInput


@register_in("w2nn")
class ScaleTable(Module):
    """Scales planes: {batch x planes x height x width, batch x planes x 1 x 1} to their product."""

    def _given(self, input: Any) -> tuple[Any, Any]:
        if (
            not isinstance(input, list)
            or len(input) != 2
            or input[0].ndim != 4
            or input[1].shape != (*input[0].shape[:2], 1, 1)
        ):
            wanted = "a table of batch x planes x height x width and batch x planes x 1 x 1"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        return input[0], input[1]

    def updateOutput(self, input: Any) -> Any:
        images, factors = self._given(input)
        self.output = images * factors
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        images, factors = self._given(input)
        of_factors = (gradOutput * images).sum((2, 3), keepdims=True)
        self.gradInput = [gradOutput * factors, of_factors]
        return self.gradInput

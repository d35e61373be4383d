"""Layers that pass values on as they are."""

from __future__ import annotations

from typing import Any

from ._object import register
from .module import Module

__all__ = ["Identity"]


@register
class Identity(Module, kernel=True):
    """output = input, the same memory; any value or table."""

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = input
        return input

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = gradOutput
        return gradOutput

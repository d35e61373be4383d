"""Layers that act on every element alone."""

from __future__ import annotations

from typing import Any

from .. import thnn
from .._errors import THNNArgumentError
from ._object import register
from .module import Module

__all__ = ["ReLU", "Threshold"]


@register
class Threshold(Module, kernel=True):
    """output = input where it exceeds `th`, else `v`; with `ip` in the input's memory."""

    def __init__(self, th: Any = 1e-6, v: Any = 0, ip: bool = False) -> None:
        super().__init__()
        self.threshold = th
        self.val = v
        self.inplace = bool(ip)
        self.validateParameters()

    def validateParameters(self) -> None:
        """Raises THNNArgumentError for settings that work in place and cannot be undone."""
        if self.inplace and self.val > self.threshold:
            raise THNNArgumentError.expected(
                "nn.Threshold", 2, "v", "at most th when in place", repr(self.val)
            )

    def updateOutput(self, input: Any) -> Any:
        self.validateParameters()
        output = self.result("output", input)
        thnn.Threshold_updateOutput(None, input, output, self.threshold, self.val, self.inplace)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.validateParameters()
        gradInput = self.result("gradInput", input)
        thnn.Threshold_updateGradInput(
            None, input, gradOutput, gradInput, self.threshold, self.val, self.inplace
        )
        return gradInput


@register
class ReLU(Threshold):
    """output = max(input, 0); with `p` in the input's memory."""

    def __init__(self, p: bool = False) -> None:
        super().__init__(0, 0, p)

"""Layers that are linear in a vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.initial import draw
from ..object.module import Module
from ..object.object import register

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Linear"]


@register
class Linear(Module, kernel=True):
    """output = weight input + bias.

    Input: [batch x] inputSize; output: [batch x] outputSize; weight: outputSize x inputSize.
    """

    # Sharing parameters does not ask for gradients that add up first.
    sharedAccUpdateGradParameters = Module.defaultAccUpdateGradParameters

    def __init__(self, inputSize: int, outputSize: int, bias: bool = True) -> None:
        super().__init__()
        own = self.tensors
        own.weight = Tensor.zeros(outputSize, inputSize, dtype=np.float64)
        own.gradWeight = Tensor.zeros(outputSize, inputSize, dtype=np.float64)
        own.bias = Tensor.zeros(outputSize, dtype=np.float64) if bias else None
        own.gradBias = Tensor.zeros(outputSize, dtype=np.float64) if bias else None
        self.reset()

    def noBias(self) -> Self:
        """Does without the bias; returns itself."""
        self.tensors.bias = self.tensors.gradBias = None
        return self

    def reset(self, stdv: Any = None) -> Any:
        """Draws all parameters from [-s, s]: s = sqrt(3) stdv, by default 1 / sqrt(inputSize)."""
        own = self.tensors
        draw(stdv, own.weight.shape[1], own.weight, own.bias)
        return self

    def updateOutput(self, input: Any) -> Any:
        own, output = self.tensors, self.result("output", input)
        if input.ndim > 2:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "[batch x] inputs", f"{input.ndim} dimensions"
            )
        self._kernel("Linear_updateOutput", None, input, output, own.weight, own.bias, None)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input)
        weight = self.tensors.weight
        self._kernel("Linear_updateGradInput", None, input, gradOutput, gradInput, weight)
        return gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        own = self.tensors
        self._kernel(
            "Linear_accGradParameters", None, input, gradOutput, None, own.weight, own.bias,
            own.gradWeight, own.gradBias, None, scale,
        )  # fmt: skip

    def __repr__(self) -> str:
        outputs, inputs = self.tensors.weight.shape
        without = "" if self.tensors.bias is not None else " without bias"
        return f"{self.typename()}({inputs} -> {outputs}){without}"

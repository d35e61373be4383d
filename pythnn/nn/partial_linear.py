"""A linear layer of which only some outputs are computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._tensor import Tensor
from ._object import register, registry
from .branching import ParallelTable
from .container import Sequential
from .module import Module, TensorLists
from .plumbing import Identity

__all__ = ["PartialLinear"]


@register
class PartialLinear(Module):
    """output = weight input + bias, for the outputs of a partition only.

    Input: batch x inputsize; output: batch x partition. The weight is that of a LookupTable in
    ``network``; bias: 1 x outputsize.
    """

    def __init__(self, inputsize: int, outputsize: int, bias: bool = True) -> None:
        super().__init__()
        own = self.tensors
        pick = registry["nn.LookupTable"](outputsize, inputsize)
        pairs = ParallelTable().add(Identity()).add(pick)
        self.network = Sequential().add(pairs).add(registry["nn.MM"](False, True))
        own.bias = Tensor.zeros(1, outputsize, dtype=np.float64) if bias else None
        own.gradBias = Tensor.zeros(1, outputsize, dtype=np.float64) if bias else None
        self.inputsize = inputsize
        self.outputsize = outputsize
        own.allcolumns = Tensor(np.arange(1.0, outputsize + 1))
        self.resetPartition()

    def setPartition(self, indices: Any) -> None:
        """Chooses the outputs, counted from 1."""
        self.tensors.partition = Tensor(np.asarray(indices, self.dtype))

    def resetPartition(self) -> None:
        """Chooses all outputs."""
        self.tensors.partition = self.tensors.allcolumns

    @property
    def _columns(self) -> Any:
        return self.partition.astype(np.int64) - 1

    def updateOutput(self, input: Any) -> Any:
        output = self.network.forward([input, self.partition])
        self.output = output if self.bias is None else output + self.bias[:, self._columns]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = self.network.updateGradInput([input, self.partition], gradOutput)[0]
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self.network.accGradParameters([input, self.partition], gradOutput, scale)
        if self.gradBias is not None:
            np.add.at(self.gradBias[0], self._columns, scale * gradOutput.sum(0))

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.network.accUpdateGradParameters([input, self.partition], gradOutput, lr)
        if self.bias is not None:
            np.add.at(self.bias[0], self._columns, -lr * gradOutput.sum(0))

    def sharedAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.accUpdateGradParameters(input, gradOutput, lr)

    def parameterTensors(self) -> TensorLists | None:
        parameters, gradients = self.network.parameterTensors() or ([], [])
        bias, gradBias = self.tensors.bias, self.tensors.gradBias
        if bias is not None:
            parameters, gradients = [*parameters, bias], [*gradients, gradBias]
        return parameters, gradients

    def reset(self, stdv: Any = None) -> None:
        self.network.reset(stdv)

    def clearState(self) -> Any:
        self.network.clearState()
        return super().clearState()

    def __repr__(self) -> str:
        without = "" if self.bias is not None else " without bias"
        return f"{self.typename()}({self.inputsize} -> {self.outputsize}){without}"

"""A linear layer of which some outputs are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..containers.branching import ParallelTable
from ..containers.container import Sequential
from ..object.module import Module
from ..object.object import register
from ..object.parameters import TensorLists
from ..object.types import device_of_type
from ..object.values import whole
from ..shape.plumbing import Identity
from ..shape.scatter import add_slices
from .lookup import LookupTable
from .product import MM

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["PartialLinear"]


@register
class PartialLinear(Module):
    """Linear that computes only the outputs in a partition (by default all of them).

    Input: batch x inputsize; output: batch x outputs of the partition.
    """

    def __init__(self, inputsize: int, outputsize: int, bias: bool = True) -> None:
        super().__init__()
        table = LookupTable(outputsize, inputsize)
        self.network = Sequential().add(ParallelTable().add(Identity()).add(table))
        self.network.add(MM(False, True))
        self.network.tensors.gradInput = []
        if bias:
            self.tensors.bias = Tensor.zeros(1, outputsize, dtype=np.float64)
            self.tensors.gradBias = Tensor.zeros(1, outputsize, dtype=np.float64)
        self.inputsize = inputsize
        self.outputsize = outputsize
        self.allcolumns = np.arange(1.0, outputsize + 1)
        self.resetPartition()

    def setPartition(self, indices: Any) -> Self:
        """Chooses the outputs to compute, counted from 1; returns itself."""
        device = device_of_type(self._type)
        self.assign("partition", Tensor(indices, dtype=self.dtype, device=device))
        return self

    def resetPartition(self) -> Self:
        """Computes all outputs; returns itself."""
        return self.setPartition(self.allcolumns)

    def _places(self) -> Any:
        return whole(self.partition) - 1

    def parameterTensors(self) -> TensorLists | None:
        parameters, gradients = self.network.parameterTensors() or ([], [])
        if self.tensors.bias is not None:
            return [*parameters, self.tensors.bias], [*gradients, self.tensors.gradBias]
        return parameters, gradients

    def updateOutput(self, input: Any) -> Any:
        if input.ndim != 2 or input.shape[1] != self.inputsize:
            wanted = f"batch x {self.inputsize}"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", wanted, f"shape {input.shape}"
            )
        output = self.network.forward([input, self.partition])
        if self.tensors.bias is not None:
            output += self.bias[:, self._places()]
        self.output = output
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = self.network.updateGradInput([input, self.partition], gradOutput)[0]
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self.network.accGradParameters([input, self.partition], gradOutput, scale)
        if self.tensors.bias is not None:
            add_slices(self.gradBias[0], 0, self._places(), scale * gradOutput.sum(0))

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.network.accUpdateGradParameters([input, self.partition], gradOutput, lr)
        if self.tensors.bias is not None:
            add_slices(self.bias[0], 0, self._places(), -lr * gradOutput.sum(0))

    sharedAccUpdateGradParameters = accUpdateGradParameters

    def __repr__(self) -> str:
        without = "" if self.tensors.bias is not None else " without bias"
        return f"{self.typename()}({self.inputsize} -> {self.outputsize}){without}"

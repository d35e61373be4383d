"""Layers that multiply the matrices and vectors of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._products import multiply, product
from ..._tensor import Tensor
from ..object.initial import draw
from ..object.module import Module
from ..object.object import register
from ..object.tables import same_sizes

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MM", "MV", "Bilinear", "DotProduct"]


class _OfPairs(Module):
    """A layer whose input is a table of two tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.gradInput = [np.empty(0), np.empty(0)]

    def _pair(self, input: Any, *dimensions: tuple[int, int]) -> tuple[Any, Any]:
        """The two, if they have one of these pairs of dimensions, and as many samples."""
        first, second = input
        if (first.ndim, second.ndim) not in dimensions or (
            (first.ndim, second.ndim) != dimensions[0] and len(first) != len(second)
        ):
            wanted = " or ".join(f"{one} and {other}" for one, other in dimensions)
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"tensors of {wanted} dimensions, of equal batches",
                f"{first.shape} and {second.shape}",
            )  # fmt: skip
        return first, second

    def _check_product(self, matrix: Any, rows: int, input: Any) -> None:
        """Refuses to multiply a matrix by something with a number of rows that does not fit."""
        if matrix.shape[-1] != rows:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "factors that fit together",
                f"{input[0].shape} and {input[1].shape}",
            )  # fmt: skip


@register
class MM(_OfPairs):
    """The product of two matrices, or of each pair in two batches.

    `transA` and `transB` transpose the first and the second.
    """

    def __init__(self, transA: bool = False, transB: bool = False) -> None:
        super().__init__()
        self.transA = transA
        self.transB = transB

    def _factors(self, input: Any) -> tuple[Any, Any]:
        a, b = self._pair(input, (2, 2), (3, 3))
        return a.swapaxes(-1, -2) if self.transA else a, b.swapaxes(-1, -2) if self.transB else b

    def updateOutput(self, input: Any) -> Any:
        a, b = self._factors(input)
        self._check_product(a, b.shape[-2], input)
        self.output = product(a, b)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        a, b = self._factors(input)
        turned = gradOutput.swapaxes(-1, -2)
        self.gradInput = [
            product(b, turned) if self.transA else product(gradOutput, b.swapaxes(-1, -2)),
            product(turned, a) if self.transB else product(a.swapaxes(-1, -2), gradOutput),
        ]
        return self.gradInput


@register
class MV(_OfPairs):
    """The product of a matrix and a vector, or of each pair in two batches.

    `trans` transposes the matrix.
    """

    def __init__(self, trans: bool = False) -> None:
        super().__init__()
        self.trans = trans

    def _factors(self, input: Any) -> tuple[Any, Any]:
        matrix, vector = self._pair(input, (2, 1), (3, 2))
        return matrix.swapaxes(-1, -2) if self.trans else matrix, vector

    def updateOutput(self, input: Any) -> Any:
        matrix, vector = self._factors(input)
        self._check_product(matrix, vector.shape[-1], input)
        self.output = product(matrix, vector[..., None])[..., 0]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        matrix, vector = self._factors(input)
        rows, columns = (vector, gradOutput) if self.trans else (gradOutput, vector)
        self.gradInput = [
            rows[..., None] * columns[..., None, :],
            product(gradOutput[..., None, :], matrix)[..., 0, :],
        ]
        return self.gradInput


@register
class DotProduct(_OfPairs):
    """The dot product of two vectors, or of each pair in two batches: one element, or batch."""

    def updateOutput(self, input: Any) -> Any:
        first, second = same_sizes(self.typename(), list(self._pair(input, (1, 1), (2, 2))))
        self.output = (first * second).sum(-1, keepdims=first.ndim == 1)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        first, second = self._pair(input, (1, 1), (2, 2))
        factor = gradOutput.reshape(*first.shape[:-1], 1)
        self.gradInput = [factor * second, factor * first]
        return self.gradInput


@register
class Bilinear(_OfPairs):
    """output[o] = first weight[o] second + bias[o], for each pair in two batches.

    Input: {batch x inputSize1, batch x inputSize2}; output: batch x outputSize; weight:
    outputSize x inputSize1 x inputSize2.
    """

    def __init__(
        self, inputSize1: int, inputSize2: int, outputSize: int, bias: bool = True
    ) -> None:
        super().__init__()
        own, shape = self.tensors, (outputSize, inputSize1, inputSize2)
        own.weight = Tensor.zeros(shape, dtype=np.float64)
        own.gradWeight = Tensor.zeros(shape, dtype=np.float64)
        own.bias = Tensor.zeros(outputSize, dtype=np.float64) if bias else None
        own.gradBias = Tensor.zeros(outputSize, dtype=np.float64) if bias else None
        self.reset()

    def reset(self, stdv: Any = None) -> Any:
        """Draws all parameters from [-s, s]: s = sqrt(3) stdv, by default 1 / sqrt(inputSize1)."""
        own = self.tensors
        draw(stdv, own.weight.shape[1], own.weight, own.bias)
        return self

    def _inputs(self, input: Any) -> tuple[Any, Any]:
        first, second = self._pair(input, (2, 2))
        wanted = (len(first), *self.weight.shape[1:])
        if (*first.shape, second.shape[1]) != wanted or len(second) != len(first):
            raise THNNArgumentError.expected(
                self.typename(), 1, "input",
                "batch x {1} and batch x {2}".format(*self.weight.shape),
                f"{first.shape} and {second.shape}",
            )  # fmt: skip
        return first, second

    @staticmethod
    def _forms(rows: Any, weight: Any) -> Any:
        """The sum over the first dimension of a weight of three, for rows of factors."""
        flat = weight.reshape(weight.shape[0], -1)
        return multiply(rows, flat).reshape(len(rows), *weight.shape[1:])

    def updateOutput(self, input: Any) -> Any:
        first, second = self._inputs(input)
        forms = self._forms(first, self.weight.swapaxes(0, 1))
        output = product(forms, second[..., None])[..., 0]
        self.output = output if self.bias is None else output + self.bias
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        first, second = self._inputs(input)
        forms = self._forms(gradOutput, self.weight)
        self.gradInput = [
            product(forms, second[..., None])[..., 0],
            product(first[:, None], forms)[:, 0],
        ]
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        first, second = self._inputs(input)
        outer = (gradOutput[:, :, None] * first[:, None, :]).reshape(len(first), -1)
        # Lua Torch scales the gradient of bias only.
        self.gradWeight += multiply(outer.T, second).reshape(self.gradWeight.shape)
        if self.bias is not None:
            self.gradBias += scale * gradOutput.sum(0)

    def sharedAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.defaultAccUpdateGradParameters(input, gradOutput, lr)

    def __repr__(self) -> str:
        outputs, first, second = self.tensors.weight.shape
        without = "" if self.tensors.bias is not None else " without bias"
        return f"{self.typename()}({first}x{second} -> {outputs}){without}"

    def clearState(self) -> Self:
        self.clear("buff1", "buff2")
        return super().clearState()

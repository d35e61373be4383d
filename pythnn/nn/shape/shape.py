"""Layers that give the same elements another shape or order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.tables import dimension
from ..object.values import LongStorage, sizes_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Replicate", "Reshape", "Squeeze", "Transpose", "Unsqueeze", "View"]


class _SameElements(Module, kernel=True):
    """A layer whose output is a view of the input."""

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = gradient = viewed(gradOutput, input.shape)
        return gradient


def viewed(tensor: Any, sizes: Sequence[int]) -> Any:
    """The elements in another shape: a view where they are contiguous, else one of a copy."""
    return (tensor if tensor.is_contiguous else tensor.clone()).view(sizes)


@register
class Reshape(_SameElements, kernel=True):
    """Reshapes the input; the sizes are given as numbers or as one list.

    With a last argument of True the first dimension of the input is a batch, and stays; with False
    it is not. Without, it is one when the input has more elements than the shape, or a first
    dimension of size 1. An input that is not contiguous is copied.
    """

    batchMode: bool | None = None

    def __init__(self, *sizes: int | bool | Sequence[int]) -> None:
        super().__init__()
        given = list(sizes)
        if given and isinstance(given[-1], bool):
            self.batchMode = bool(given.pop())
        self.size = sizes_of(given)
        if any(size < 1 for size in self.size):
            raise THNNArgumentError.expected(
                self.typename(), 1, "sizes", "sizes from 1 on", f"{list(self.size)}"
            )
        self.nelement = math.prod(self.size)
        self.batchsize = LongStorage([0, *self.size])

    def updateOutput(self, input: Any) -> Any:
        is_batch = self.batchMode
        if is_batch is None:
            is_batch = input.size != self.nelement or input.shape[0] == 1
        if is_batch:
            self.batchsize[0] = input.shape[0]
        self.tensors.output = output = viewed(input, self.batchsize if is_batch else self.size)
        return output

    def __repr__(self) -> str:
        return f"{self.typename()}({'x'.join(map(str, self.size))})"


@register
class View(_SameElements, kernel=True):
    """Reshapes the input; the sizes are given as numbers or as one list, and one may be -1.

    An input with more elements, or with more dimensions than ``setNumInputDims`` said, is a batch.
    The input must be contiguous: put a Contiguous, or use Reshape, where it is not.
    """

    numInputDims: int | None = None

    def __init__(self, *sizes: int | Sequence[int]) -> None:
        super().__init__()
        self.resetSize(*sizes)

    def resetSize(self, *sizes: int | Sequence[int]) -> Self:
        """Chooses another shape; returns the layer."""
        self.size = sizes_of(sizes)
        if self.size.count(-1) > 1 or any(size < 1 and size != -1 for size in self.size):
            wanted = "sizes from 1 on, and at most one -1"
            raise THNNArgumentError.expected(
                self.typename(), 1, "sizes", wanted, f"{list(self.size)}"
            )
        self.numElements = math.prod(size for size in self.size if size != -1)
        return self

    def _upgrade(self) -> None:
        self.resetSize(self.size)

    def setNumInputDims(self, numInputDims: int) -> Self:
        """Says how many dimensions one sample has; returns the layer."""
        self.numInputDims = numInputDims
        return self

    def _batch(self, input: Tensor) -> int | None:
        """The number of samples; None when the input is one."""
        first = max(input.ndim - (self.numInputDims or input.ndim), 0)
        elements = math.prod(input.shape[first:])
        if elements % self.numElements:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"sizes for {list(self.size)}", f"{input.shape}"
            )
        samples = 1 if -1 in self.size else elements // self.numElements
        samples *= math.prod(input.shape[:first])
        return None if samples == 1 and first == 0 else samples

    def updateOutput(self, input: Any) -> Any:
        if not input.is_contiguous:
            wanted = "contiguous memory (add nn.Contiguous before)"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", wanted, f"strides of {input.strides}"
            )
        samples = self._batch(input)
        sizes = self.size if samples is None else [samples, *self.size]
        self.tensors.output = input.view(*sizes)
        return self.tensors.output

    def __repr__(self) -> str:
        return f"{self.typename()}({', '.join(map(str, self.size))})"


@register
class Squeeze(_SameElements, kernel=True):
    """Removes dimension `dim` if it has size 1; without `dim`, all dimensions of size 1.

    With `numInputDims`, inputs with one dimension more are batches: `dim` is one more, and that of
    the batch stays.
    """

    dim: int | None = None
    numInputDims: int | None = None

    def __init__(self, dim: int | None = None, numInputDims: int | None = None) -> None:
        super().__init__()
        self.dim = dim
        self.numInputDims = numInputDims

    def setNumInputDims(self, numInputDims: int) -> Self:
        """Says how many dimensions one sample has; returns the layer."""
        self.numInputDims = numInputDims
        return self

    def updateOutput(self, input: Any) -> Any:
        if self.dim is not None:
            axis = dimension(self.typename(), self.dim, input.ndim, self.numInputDims)
            output = input.squeeze(axis)
        else:
            output = input.squeeze()
            is_batch = self.numInputDims is not None and input.ndim == self.numInputDims + 1
            if is_batch and input.shape[0] == 1:
                output = input.view(1, *output.shape)
        self.tensors.output = output
        return output


@register
class Unsqueeze(_SameElements, kernel=True):
    """Inserts a dimension of size 1 at `pos`.

    With `numInputDims`, the dimensions that inputs have more stay in front.
    """

    numInputDims: int | None = None

    def __init__(self, pos: int, numInputDims: int | None = None) -> None:
        super().__init__()
        self.pos = pos
        self.numInputDims = numInputDims

    def setNumInputDims(self, numInputDims: int) -> Self:
        """Says how many dimensions one sample has; returns the layer."""
        self.numInputDims = numInputDims
        return self

    def updateOutput(self, input: Any) -> Any:
        batch = input.ndim - (self.numInputDims or input.ndim)
        axis = self.pos - 1 + batch
        if batch < 0 or not 0 <= axis <= input.ndim:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"a place for dimension {self.pos}", f"{input.shape}"
            )
        self.tensors.output = input.unsqueeze(axis)
        return self.tensors.output

    def __repr__(self) -> str:
        return f"{self.typename()}(dim {self.pos})"


@register
class Transpose(Module, kernel=True):
    """Exchanges pairs of dimensions, one pair after the other.

    Inputs with more dimensions than ``setNumInputDims`` said are batches: the pairs mean the last.
    """

    numInputDims: int | None = None

    def __init__(self, *permutations: Sequence[int]) -> None:
        super().__init__()
        for position, pair in enumerate(permutations, 1):
            if len(pair) != 2:
                raise THNNArgumentError.expected(
                    self.typename(), position, "permutations", "two dimensions", f"{list(pair)}"
                )
        self.permutations = [list(pair) for pair in permutations]

    def setNumInputDims(self, numInputDims: int) -> Self:
        """Says how many dimensions one sample has; returns the layer."""
        self.numInputDims = numInputDims
        return self

    def exchanged(self, tensor: Tensor, pairs: Any) -> Tensor:
        """A view of a tensor with pairs of dimensions exchanged."""
        batch = tensor.ndim - (self.numInputDims or tensor.ndim)
        for first, second in pairs:
            tensor = tensor.transpose(first - 1 + batch, second - 1 + batch)
        return tensor

    def updateOutput(self, input: Any) -> Any:
        view = self.exchanged(input, self.permutations)
        return self.result("output", view).resize(view.shape).copy_from(view)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        view = self.exchanged(gradOutput, reversed(self.permutations))
        return self.result("gradInput", view).resize(view.shape).copy_from(view)


@register
class Replicate(Module, kernel=True):
    """Repeats the input `nf` times along a new dimension `dim`, without copying it.

    Inputs with more than `ndim` dimensions are batches, and `dim` is one more.
    """

    ndim: int | None = None

    def __init__(self, nf: int, dim: int = 1, ndim: int | None = None) -> None:
        super().__init__()
        self.nfeatures = nf
        self.dim = dim
        self.ndim = ndim

    def _axis(self, input: Tensor) -> int:
        axis = self.dim - 1 + (self.ndim is not None and input.ndim > self.ndim)
        if not 0 <= axis <= input.ndim:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"a place for dimension {self.dim}", f"{input.shape}"
            )
        return axis

    def updateOutput(self, input: Any) -> Any:
        axis = self._axis(input)
        shape = [*input.shape[:axis], self.nfeatures, *input.shape[axis:]]
        self.tensors.output = input.unsqueeze(axis).expand(shape)
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input).resize(input.shape)
        return gradInput.copy_from(gradOutput.array().sum(self._axis(input)))

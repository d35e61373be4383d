"""Layers that take parts of the input, or add some."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.tables import dimension
from ..object.values import LongStorage, array_module, whole
from .scatter import add_slices

__all__ = ["Index", "MaskedSelect", "Narrow", "OneHot", "Padding", "Select"]


class _Part(Module, ABC, kernel=True):
    """A copy of a view of the input."""

    @abstractmethod
    def part(self, whole: Tensor, input: Tensor) -> Tensor:
        """The view of a tensor of the input's shape."""

    def updateOutput(self, input: Any) -> Any:
        part = self.part(input, input)
        return self.result("output", input).resize(part.shape).copy_from(part)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input).resize(input.shape).zero()
        self.part(gradInput, input).copy_from(gradOutput)
        return gradInput


@register
class Narrow(_Part, kernel=True):
    """Selects `length` slices along a dimension, beginning with slice `offset`.

    A negative length counts from the end: -1 is up to the last slice. A negative offset means all
    slices but the last `length`. Negative dimensions count from the last.
    """

    def __init__(self, dimension: int, offset: int, length: int = 1) -> None:
        super().__init__()
        self.dimension = dimension
        self.index = offset
        self.length = length

    def part(self, whole: Tensor, input: Tensor) -> Tensor:
        axis = dimension(self.typename(), self.dimension, input.ndim)
        size, index, length = input.shape[axis], self.index, self.length
        if length < 0:
            length += size - index + 2
        if index < 0:
            index, length = 1, size - length
        return whole.narrow(axis, index - 1, length)


@register
class Select(_Part, kernel=True):
    """Selects the slice at `index` (negative from the end); the output lacks that dimension."""

    def __init__(self, dimension: int, index: int) -> None:
        super().__init__()
        self.dimension = dimension
        self.index = index

    def part(self, whole: Tensor, input: Tensor) -> Tensor:
        axis = dimension(self.typename(), self.dimension, input.ndim)
        size = input.shape[axis]
        place = self.index - 1 if self.index > 0 else size + self.index
        if not 0 <= place < size or input.ndim == 1:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input",
                f"2 dimensions or more, with index {self.index} in dimension {self.dimension}",
                f"{input.shape}",
            )  # fmt: skip
        return whole.select(axis, place)


@register
class Padding(Module):
    """Appends `pad` slices of `value` along a dimension, or prepends them if `pad` is negative.

    They stand before the input's slice `index`, or after the slice at that place from the end. With
    `nInputDim`, inputs with one dimension more are batches, and `dim` is one more.
    """

    nInputDim: int | None = None

    def __init__(
        self, dim: int, pad: int, nInputDim: int | None = None, value: float = 0, index: int = 1
    ) -> None:
        super().__init__()
        self.value = value
        self.index = index
        self.dim = dim
        self.pad = pad
        self.nInputDim = nInputDim
        self.outputSize = LongStorage()

    def _place(self, input: Any) -> tuple[int, int]:
        """The dimension, and how many slices come before the padding."""
        axis = dimension(self.typename(), self.dim, input.ndim, self.nInputDim)
        size = input.shape[axis]
        before = size - self.index + 1 if self.pad > 0 else self.index - 1
        if not 0 <= before <= size:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"a slice {self.index}", f"{input.shape}"
            )
        return axis, before

    def updateOutput(self, input: Any) -> Any:
        xp = array_module(input)
        axis, before = self._place(input)
        shape = [*input.shape[:axis], abs(self.pad), *input.shape[axis + 1 :]]
        first, last = xp.split(input, [before], axis)
        self.output = xp.concatenate([first, xp.full(shape, self.value, input.dtype), last], axis)
        self.outputSize = LongStorage(self.output.shape)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        xp = array_module(gradOutput)
        axis, before = self._place(input)
        first, _, last = xp.split(gradOutput, [before, before + abs(self.pad)], axis)
        self.gradInput = xp.concatenate([first, last], axis)
        return self.gradInput


def _places(name: str, indices: Any, size: int) -> Any:
    """Indices from 0, for those from 1; THNNArgumentError for others than 1 to `size`."""
    places = whole(array_module(indices).asarray(indices)) - 1
    if places.size and not (places.min() >= 0 and places.max() < size):
        raise THNNArgumentError.expected(
            name,
            1,
            "input",
            f"indices from 1 to {size}",
            f"{int(places.min()) + 1} to {int(places.max()) + 1}",
        )
    return places


@register
class Index(Module):
    """Selects slices along a dimension by indices; the input is {tensor, indices}."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dimension = dimension
        self.gradInput = [np.empty(0), np.empty(0)]

    def _slices(self, input: Any) -> tuple[int, Any]:
        """The dimension and the indices, both from 0."""
        tensor, indices = input
        axis = dimension(self.typename(), self.dimension, tensor.ndim)
        if indices.ndim != 1:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input[2]", "one dimension", f"{indices.shape}"
            )
        return axis, _places(self.typename(), indices, tensor.shape[axis])

    def updateOutput(self, input: Any) -> Any:
        axis, places = self._slices(input)
        self.output = array_module(input).take(input[0], places, axis)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        xp, tensor = array_module(input), input[0]
        axis, places = self._slices(input)
        gradient = xp.zeros_like(tensor)
        if places.size:
            add_slices(gradient, axis, places, gradOutput)
        self.gradInput = [gradient, xp.zeros(places.shape, tensor.dtype)]
        return self.gradInput


@register
class MaskedSelect(Module):
    """Selects the elements where a mask is not 0, as a vector; the input is {tensor, mask}."""

    _of_fixed_type = ("_gradMask", "_maskIndexBuffer", "_maskIndexBufferCPU", "_maskIndices")

    def __init__(self) -> None:
        super().__init__()
        own = self.tensors
        own._maskIndices = Tensor(dtype=np.int64)
        own._maskIndexBuffer = Tensor(dtype=np.int64)
        own._maskIndexBufferCPU = Tensor(dtype=np.float32)
        own._gradBuffer = Tensor(dtype=np.float64)
        own._gradMask = np.empty(0, np.uint8)

    def _chosen(self, input: Any) -> Any:
        tensor, mask = input
        if mask.size != tensor.size:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input[2]", f"a mask of {tensor.shape}", f"{mask.shape}"
            )
        return mask.reshape(tensor.shape) != 0

    def updateOutput(self, input: Any) -> Any:
        self.output = input[0][self._chosen(input)]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        tensor, mask = input
        xp = array_module(tensor)
        gradient = xp.zeros_like(tensor)
        gradient[self._chosen(input)] = gradOutput
        self.gradInput = [gradient, xp.zeros_like(mask)]
        return self.gradInput


class _Rows(Module):
    def __init__(self, outputSize: int) -> None:
        super().__init__()
        self.outputSize = outputSize

    def updateOutput(self, input: Any) -> Any:
        xp = array_module(input)
        places = _places(self.typename(), input, self.outputSize)
        self.output = (places[..., None] == xp.arange(self.outputSize)).astype(self.dtype)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        shape = (0,) if np.isscalar(input) else input.shape
        self.gradInput = array_module(input).zeros(shape, self.dtype)
        return self.gradInput


@register
class OneHot(_Rows, kernel=True):
    """Turns each index into a row of `outputSize` numbers: 1 at the index, 0 elsewhere.

    Input: indices from 1, or one number.
    """

    def updateOutput(self, input: Any) -> Any:
        output = self.result("output", self.dtype)
        if type(input) is not Tensor or output.is_cuda or not input.size:
            return super().updateOutput(input)
        places = _places(self.typename(), input.numpy(), self.outputSize)
        output.resize(*places.shape, self.outputSize)
        rows = output.numpy()
        np.equal(places[..., None], np.arange(self.outputSize), out=rows, casting="unsafe")
        del rows  # or the next call would spare its memory
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if type(input) is not Tensor:
            return super().updateGradInput(input, gradOutput)
        return self.result("gradInput", self.dtype).resize(input.shape).zero()

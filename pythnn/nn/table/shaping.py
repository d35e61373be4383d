"""Layers that take tables apart and put them together."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.tables import are_alike, copied, dimension, zeros_like
from ..object.values import LongStorage, array_module

__all__ = [
    "FlattenTable",
    "JoinTable",
    "NarrowTable",
    "SelectTable",
    "SplitTable",
    "ZipTable",
    "ZipTableOneToMany",
]


class _Joined(Module):
    dimension: int
    nInputDims: int | None = None

    def _axis(self, input: Any) -> int:
        return dimension(self.typename(), self.dimension, input[0].ndim, self.nInputDims)

    def updateOutput(self, input: Any) -> Any:
        axis, size = self._axis(input), list(input[0].shape)
        size[axis] = sum(entry.shape[axis] for entry in input)
        self.size = LongStorage(size)
        output = self.room("output", input[0], size)
        array_module(input).concatenate(input, axis, out=output)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        axis, start = self._axis(input), 0
        total = sum(entry.shape[axis] for entry in input)
        if gradOutput.ndim <= axis or gradOutput.shape[axis] != total:
            raise THNNArgumentError.expected(
                self.typename(),
                2,
                "gradOutput",
                f"size {total} in dimension {axis + 1}",
                f"{gradOutput.shape}",
            )
        gradients = self.rooms("gradInput", input)
        for gradient in gradients:
            end = start + gradient.shape[axis]
            gradient[...] = gradOutput[(slice(None),) * axis + (slice(start, end),)]
            start = end
        return gradients


@register
class JoinTable(_Joined, kernel=True):
    """Joins the entries of a table along a dimension.

    With `nInputDims`, inputs with one dimension more are batches, and the dimension is one more.
    """

    _emptied_by_type: ClassVar = {"gradInput": None}

    def __init__(self, dimension: int, nInputDims: int | None = None) -> None:
        super().__init__()
        self.size = LongStorage()
        self.dimension = dimension
        self.nInputDims = nInputDims
        self.tensors.gradInput = []

    def updateOutput(self, input: Any) -> Any:
        axis = self._axis(input)
        if not _fit(input, axis):
            return super().updateOutput(input)
        size = list(input[0].shape)
        size[axis] = sum(entry.shape[axis] for entry in input)
        output = self.result("output", input[0])
        if any(entry is output for entry in input):
            return super().updateOutput(input)
        start = 0
        if self.__dict__.get("size") != size:
            self.size = LongStorage(size)
        if output.shape != tuple(size):
            output.resize(size)
        for entry in input:
            part = output._view("narrow", axis, start, entry.shape[axis])
            part._call("copy", entry._open())
            start += entry.shape[axis]
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        axis, start = self._axis(input), 0
        total = sum(entry.shape[axis] for entry in input)
        fits = _fit([*input, gradOutput], axis) and gradOutput.shape[axis] == total
        if not fits:
            return super().updateGradInput(input, gradOutput)
        gradients = self.results("gradInput", input)
        for gradient in gradients:
            part = gradOutput._view("narrow", axis, start, gradient.shape[axis])
            gradient._call("copy", part._open())
            start += gradient.shape[axis]
        return gradients


def _fit(entries: Any, axis: int) -> bool:
    """Whether these are Tensors on the host of one type, and of one shape but for a dimension."""
    shapes = set()
    for one in entries:
        if type(one) is not Tensor:
            return False
        shape = one.shape
        shapes.add((one._kind, len(shape) > axis, shape[:axis], shape[axis + 1 :]))
    return len(shapes) == 1 and shapes.pop()[1]


class _Split(Module):
    dimension: int
    nInputDims: int | None = None

    def _axis(self, input: Any) -> int:
        return dimension(self.typename(), self.dimension, input.ndim, self.nInputDims)

    def updateOutput(self, input: Any) -> Any:
        axis = self._axis(input)
        if input.ndim == 1:
            self.output = input.tolist()
        else:
            self.output = list(array_module(input).moveaxis(input, axis, 0))
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        xp = array_module(input)
        axis = self._axis(input)
        gradient = xp.zeros_like(input)
        slices = xp.moveaxis(gradient, axis, 0)
        if len(gradOutput) != len(slices):
            raise THNNArgumentError.expected(
                self.typename(), 2, "gradOutput", f"{len(slices)} entries", f"{len(gradOutput)}"
            )
        for i, entry in enumerate(gradOutput):
            slices[i] = xp.asarray(entry).reshape(slices[i].shape)
        self.gradInput = gradient
        return self.gradInput


@register
class SplitTable(_Split, kernel=True):
    """Splits a tensor along a dimension into a table of views; a vector into numbers.

    With `nInputDims`, inputs with one dimension more are batches, and the dimension is one more.
    """

    def __init__(self, dimension: int, nInputDims: int | None = None) -> None:
        super().__init__()
        self.dimension = dimension
        self.nInputDims = nInputDims

    def updateOutput(self, input: Any) -> Any:
        if type(input) is not Tensor or input.ndim == 1:
            return super().updateOutput(input)
        axis = self._axis(input)
        count = input.shape[axis]
        self.tensors.output = [input._view("select", axis, i) for i in range(count)]
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if type(input) is not Tensor or input.ndim == 1 or not isinstance(gradOutput, list):
            return super().updateGradInput(input, gradOutput)
        axis = self._axis(input)
        shape = input.shape[:axis] + input.shape[axis + 1 :]
        fits = len(gradOutput) == input.shape[axis] and all(
            type(one) is Tensor and one._kind == input._kind and one.shape == shape
            for one in gradOutput
        )
        if not fits:
            return super().updateGradInput(input, gradOutput)
        gradInput = self.result("gradInput", input)
        gradInput._call("resizeAs", input._open())
        for i, entry in enumerate(gradOutput):
            gradInput._view("select", axis, i)._call("copy", entry._open())
        return gradInput


@register
class SelectTable(Module, kernel=True):
    """Selects the entry of a table at an index (from 1; negative from the end) or at a name."""

    _emptied_by_type: ClassVar = {"output": None, "gradInput": None}

    def __init__(self, index: int | str) -> None:
        super().__init__()
        self.index: Any = index
        self.tensors.gradInput = []

    def place(self, input: Any) -> Any:
        """The index of the entry, from 0, or its name; THNNArgumentError where there is none."""
        if isinstance(input, dict):
            place, known = self.index, self.index in input
        else:
            place = self.index + len(input) if self.index < 0 else self.index - 1
            known = 0 <= place < len(input)
        if not known:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"a table with an entry {self.index!r}", "none there"
            )
        return place

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = input[self.place(input)]
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        place = self.place(input)
        is_plain = isinstance(input, list) and all(type(one) is Tensor for one in input)
        if is_plain and are_alike([input[place], gradOutput]):
            gradients = self.results("gradInput", input)
            for gradient in gradients:
                gradient._call("zero")
            gradients[place]._call("copy", gradOutput._open())
            return gradients
        gradients = zeros_like(input)
        gradients[place] = copied(gradOutput)
        self.tensors.gradInput = gradients
        return gradients

    def __repr__(self) -> str:
        return f"{self.typename()}({self.index})"


@register
class NarrowTable(Module, kernel=True):
    """Selects `length` entries of a table, beginning with entry `offset`."""

    _emptied_by_type: ClassVar = {"output": None, "gradInput": None}

    def __init__(self, offset: int, length: int = 1) -> None:
        super().__init__()
        self.offset = offset
        self.length = length
        self.tensors.output = []
        self.tensors.gradInput = []

    def updateOutput(self, input: Any) -> Any:
        first = self.offset - 1
        self.tensors.output = input[first : first + max(self.length, 0)]
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradients = zeros_like(input)
        first = self.offset - 1
        for i in range(max(self.length, 0)):
            gradients[first + i] = copied(gradOutput[i])
        self.tensors.gradInput = gradients
        return gradients


def _leaves(value: Any) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    return [leaf for entry in value for leaf in _leaves(entry)]


@register
class FlattenTable(Module, kernel=True):
    """Flattens nested tables into one table of all their tensors."""

    _emptied_by_type: ClassVar = {"output": None, "gradInput": None}

    def __init__(self) -> None:
        super().__init__()
        self.tensors.output = []
        self.input_map: list[Any] = []
        self.tensors.gradInput = []

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = _leaves(input)
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        count = len(_leaves(input))
        if len(gradOutput) != count:
            raise THNNArgumentError.expected(
                self.typename(), 2, "gradOutput", f"{count} entries", f"{len(gradOutput)}"
            )
        gradients = iter(gradOutput)

        def nested(value: Any) -> Any:
            return [nested(e) for e in value] if isinstance(value, list) else next(gradients)

        self.tensors.gradInput = nested(input)
        return self.tensors.gradInput


@register
class ZipTable(Module, kernel=True):
    """Exchanges the rows and columns of a table of tables."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors.output = []
        self.tensors.gradInput = []

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = [list(column) for column in zip(*input, strict=True)]
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = [list(row) for row in zip(*gradOutput, strict=True)]
        return self.tensors.gradInput


@register
class ZipTableOneToMany(Module):
    """Turns {x, {a, b, …}} into {{x, a}, {x, b}, …}."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors.output = []
        self.tensors.gradInput = []
        self.tensors.gradInputEl = Tensor(dtype=np.float64)

    def updateOutput(self, input: Any) -> Any:
        one, many = input
        self.output = [[one, entry] for entry in many]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        total = zeros_like(input[0])
        for gradient, _ in gradOutput:
            total += gradient
        self.gradInput = [total, [gradient for _, gradient in gradOutput]]
        return self.gradInput

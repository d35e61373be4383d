"""Layers that compute element by element on the entries of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.tables import copied, same_sizes
from ..object.values import array_module

__all__ = [
    "CAddTable",
    "CAddTensorTable",
    "CDivTable",
    "CMaxTable",
    "CMinTable",
    "CMulTable",
    "CSubTable",
]


class _OnTable(Module):
    """A layer whose input is a table of tensors with the same number of elements."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors.gradInput = []

    def entries(self, input: Any) -> list[Any]:
        return same_sizes(self.typename(), input)


@register
class CAddTable(_OnTable):
    """output = sum of the entries; with `ip` in the first one's memory."""

    inplace: bool | None = None

    def __init__(self, ip: bool | None = None) -> None:
        super().__init__()
        self.inplace = ip

    def updateOutput(self, input: Any) -> Any:
        first, *others = self.entries(input)
        if self.inplace:
            total = self.output = first
        else:
            total = self.room("output", first)
            total[...] = first
        for entry in others:
            total += entry
        return total

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if self.inplace:
            first, *others = (gradOutput.reshape(entry.shape) for entry in input)
            self.gradInput = [first, *copied(others)]
            return self.gradInput
        gradients = self.rooms("gradInput", input)
        for gradient in gradients:
            gradient[...] = gradOutput.reshape(gradient.shape)
        return gradients


@register
class CSubTable(_OnTable):
    """output = first entry - second."""

    def updateOutput(self, input: Any) -> Any:
        first, second = self.entries(input)
        self.output = first - second
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        first, second = input
        self.gradInput = [
            gradOutput.reshape(first.shape).copy(),
            -gradOutput.reshape(second.shape),
        ]
        return self.gradInput


@register
class CMulTable(_OnTable):
    """output = product of the entries."""

    def updateOutput(self, input: Any) -> Any:
        first, *others = self.entries(input)
        product = first.copy()
        for entry in others:
            product *= entry
        self.output = product
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        entries = self.entries(input)
        gradients = []
        for i, own in enumerate(input):
            gradient = gradOutput.reshape(entries[0].shape).copy()
            for j, entry in enumerate(entries):
                if j != i:
                    gradient *= entry
            gradients.append(gradient.reshape(own.shape))
        self.gradInput = gradients
        return self.gradInput


@register
class CDivTable(_OnTable):
    """output = first entry / second."""

    def updateOutput(self, input: Any) -> Any:
        first, second = self.entries(input)
        self.output = first / second
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        first, second = self.entries(input)
        gradient = gradOutput.reshape(first.shape)
        through = -gradient * first / (second * second)
        self.gradInput = [gradient / second, through.reshape(input[1].shape)]
        return self.gradInput


class _Extreme(_OnTable):
    """The extreme of the entries; of equal ones the first gets the gradient."""

    _index: str
    _values: str
    _choice: str

    def __init__(self) -> None:
        super().__init__()
        for name in (self._index, "mask", self._values, "gradMaxVals"):
            setattr(self.tensors, name, Tensor(dtype=np.float64))

    def updateOutput(self, input: Any) -> Any:
        xp = array_module(input)
        entries = xp.stack(self.entries(input))
        chosen = getattr(xp, self._choice)(entries, 0)
        self.assign(self._index, (chosen + 1).astype(entries.dtype))
        self.output = xp.take_along_axis(entries, chosen[None], 0)[0]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        chosen = getattr(self, self._index) - 1
        gradient = gradOutput.reshape(chosen.shape)
        self.gradInput = [
            (gradient * (chosen == i)).reshape(entry.shape) for i, entry in enumerate(input)
        ]
        return self.gradInput


@register
class CMaxTable(_Extreme):
    """output = largest of the entries."""

    _index, _values, _choice = "maxIdx", "maxVals", "argmax"


@register
class CMinTable(_Extreme):
    """output = smallest of the entries."""

    _index, _values, _choice = "minIdx", "minVals", "argmin"


@register
class CAddTensorTable(Module):
    """output[i] = tensor + table[i], for an input of a tensor and a table."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors.gradInput = []

    def updateOutput(self, input: Any) -> Any:
        tensor, table = input
        self.output = [tensor + entry for entry in table]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if len(gradOutput) != len(input[1]):
            raise THNNArgumentError.expected(
                self.typename(), 2, "gradOutput", f"{len(input[1])} entries", f"{len(gradOutput)}"
            )
        self.gradInput = [sum(gradOutput[1:], gradOutput[0]), copied(gradOutput)]
        return self.gradInput

"""Layers that compute element by element on the entries of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.fields import reusable
from ..object.module import Module
from ..object.object import register
from ..object.tables import are_alike, copied, same_sizes
from ..object.values import array_module, works_in_place

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

    def _output(self, input: Any) -> Tensor | None:
        """The Tensor to write results to; None where arrays have to do for these entries."""
        if not isinstance(input, list) or not input or not are_alike(input):
            return None
        output = self.result("output", input[0])
        if any(entry is output for entry in input):  # which a result would overwrite too early
            return None
        output._call("resizeAs", input[0]._open())
        return output


class _Sums(_OnTable):
    inplace: bool | None

    def updateOutput(self, input: Any) -> Any:
        first, *others = self.entries(input)
        if works_in_place(self, first):
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
class CAddTable(_Sums, kernel=True):
    """output = sum of the entries; with `ip` in the first one's memory."""

    inplace: bool | None = None

    def __init__(self, ip: bool | None = None) -> None:
        super().__init__()
        self.inplace = ip

    def updateOutput(self, input: Any) -> Any:
        in_place = self.inplace and are_alike(input) and works_in_place(self, input[0])
        total = input[0] if in_place else self._output(input)
        if total is None:
            return super().updateOutput(input)
        self.tensors.output, before = total, input[0]
        if len(input) == 1 and not in_place:
            total._call("copy", before._open())
        for entry in input[1:]:
            total._call("cadd", before._open(), 1, entry._open())
            before = total
        return total

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if not are_alike([*input, gradOutput]):
            return super().updateGradInput(input, gradOutput)
        held = self.tensors.gradInput
        known = held if isinstance(held, list) else []
        # What was made in place may be a gradOutput, which is not to be written to.
        known = [None if one is gradOutput else one for one in known]
        if self.inplace:
            gradients = self._gradients_beside(gradOutput, known[1 : len(input)], len(input) - 1)
        else:
            self.tensors.gradInput = known
            gradients = self.results("gradInput", input)
        for gradient in gradients:
            if gradient is not gradOutput:
                gradient._call("copy", gradOutput._open())
        return gradients

    def _gradients_beside(self, first: Tensor, known: list[Any], count: int) -> list[Tensor]:
        """The table of gradients of which the first is there; others are those known."""
        known += [None] * (count - len(known))
        others = [reusable(one, first.dtype) for one in known]
        for other in others:
            other._call("resizeAs", first._open())
        gradients = self.tensors.gradInput = [first, *others]
        return gradients


class _Differences(_OnTable):
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
class CSubTable(_Differences, kernel=True):
    """output = first entry - second."""

    def updateOutput(self, input: Any) -> Any:
        output = self._output(input) if len(input) == 2 else None
        if output is None:
            return super().updateOutput(input)
        first, second = input
        output._call("cadd", first._open(), -1, second._open())
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if len(input) != 2 or not are_alike([*input, gradOutput]):
            return super().updateGradInput(input, gradOutput)
        of_first, of_second = self.results("gradInput", input)
        of_first._call("copy", gradOutput._open())
        of_second._call("mul", gradOutput._open(), -1)
        return self.tensors.gradInput


class _Products(_OnTable):
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
class CMulTable(_Products, kernel=True):
    """output = product of the entries."""

    def updateOutput(self, input: Any) -> Any:
        output = self._output(input) if len(input) > 1 else None
        if output is None:
            return super().updateOutput(input)
        before = input[0]
        for entry in input[1:]:
            output._call("cmul", before._open(), entry._open())
            before = output
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if len(input) < 2 or not are_alike([*input, gradOutput]):
            return super().updateGradInput(input, gradOutput)
        gradients = self.results("gradInput", input)
        for i, gradient in enumerate(gradients):
            before = gradOutput
            for entry in (*input[:i], *input[i + 1 :]):
                gradient._call("cmul", before._open(), entry._open())
                before = gradient
        return gradients


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

"""Layers that add a parameter to the elements of the input, or multiply them by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.initial import draw
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, sizes_of

__all__ = ["Add", "CAdd", "CMul", "Mul"]


class _OneParameter(Module):
    """A layer with one parameter, spread over the elements of the input."""

    _field: ClassVar[str]
    _gradient: ClassVar[str]

    def _make(self, shape: Any) -> None:
        for name in (self._field, self._gradient):
            setattr(self.tensors, name, Tensor.zeros(shape, dtype=np.float64))
        self.reset()

    def reset(self, stdv: Any = None) -> None:
        """Draws the parameter from [-s, s]: s = sqrt(3) stdv, by default 1 / sqrt(its size)."""
        parameter = self.field(self._field)
        draw(stdv, parameter.size, parameter)

    def type(self, type: Any = None, tensorCache: Any = None) -> Any:
        if type is not None:
            self.clearState()
        return super().type(type, tensorCache)

    def _spread(self, input: Any) -> Any:
        """The parameter in a shape that numpy spreads over the input as Lua does.

        It has a value for each element of the input, or of one sample of a batch; or as many
        dimensions as the input, of which those of size 1 are spread.
        """
        parameter = self.field(self._field).array()
        if parameter.size == input.size:
            return parameter.reshape(input.shape)
        if parameter.size == 1:
            return parameter.reshape((1,) * input.ndim)
        if parameter.ndim == input.ndim:
            fits = all(n in (1, m) for n, m in zip(parameter.shape, input.shape, strict=True))
        else:
            fits = parameter.size * len(input) == input.size
            parameter = parameter.reshape(1, *input.shape[1:]) if fits else parameter
        if not fits:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"a shape for {parameter.shape}", f"{input.shape}"
            )
        return parameter

    def _add_gradient(self, values: Any, scale: Any) -> None:
        """Adds values of the shape of the input to the gradient, where their parameter is."""
        shape = self._spread(values).shape
        axes = tuple(i for i, size in enumerate(shape) if size == 1)
        gradient = self.field(self._gradient).array()
        gradient += scale * values.sum(axes).reshape(gradient.shape)


class _Sum(_OneParameter):
    """output = input + bias."""

    _field, _gradient = "bias", "gradBias"

    def updateOutput(self, input: Any) -> Any:
        output = self.room("output", input)
        return array_module(input).add(input, self._spread(input), out=output)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.room("gradInput", input)
        gradInput[...] = gradOutput.reshape(input.shape)
        return gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self._add_gradient(gradOutput.reshape(input.shape), scale)


@register
class Add(_Sum):
    """output = input + bias, where bias has `inputSize` elements, or one with `scalar`.

    Input: [batch x] inputSize, in any shape.
    """

    scalar: bool | None = None

    def __init__(self, inputSize: int, scalar: bool | None = None) -> None:
        super().__init__()
        self.scalar = scalar
        self.tensors._ones = Tensor(np.ones(1))
        self._make(1 if scalar else inputSize)


@register
class CAdd(_Sum):
    """output = input + bias; the sizes of bias are given as numbers or as one list.

    Input: the shape of bias, a batch of such, or as many dimensions, where bias is spread along
    those in which it has size 1.
    """

    def __init__(self, *size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = sizes_of(size)
        self.tensors.output = Tensor.zeros(self.size, dtype=np.float64)
        self._make(self.size)


class _Product(_OneParameter):
    """output = input times weight."""

    _field, _gradient = "weight", "gradWeight"

    def updateOutput(self, input: Any) -> Any:
        output = self.room("output", input)
        return array_module(input).multiply(input, self._spread(input), out=output)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradient, gradInput = gradOutput.reshape(input.shape), self.room("gradInput", input)
        return array_module(input).multiply(gradient, self._spread(input), out=gradInput)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self._add_gradient(input * gradOutput.reshape(input.shape), scale)


@register
class Mul(_Product):
    """output = input times a single weight."""

    def __init__(self) -> None:
        super().__init__()
        self._make(1)


@register
class CMul(_Product):
    """output = input times weight; the sizes of weight are given as numbers or as one list.

    Input: the shape of weight, a batch of such, or as many dimensions, where weight is spread along
    those in which it has size 1.
    """

    def __init__(self, *size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = sizes_of(size)
        self.tensors.output = Tensor.zeros(self.size, dtype=np.float64)
        self._make(self.size)

"""Layers that are a function of every element alone, or the identity with another gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.tables import are_alike
from ..object.values import array_module, works_in_place
from .pointwise import Tanh

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "AddConstant",
    "Exp",
    "GradientReversal",
    "L1Penalty",
    "Log",
    "MulConstant",
    "Power",
    "SoftSign",
    "TanhShrink",
]

ieee = np.errstate(all="ignore")
"""For functions whose infinities and NaN are results."""


@register
class Exp(Module):
    """output = exp(input)."""

    @ieee
    def updateOutput(self, input: Any) -> Any:
        return array_module(input).exp(input, out=self.room("output", input))

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.room("gradInput", input)
        return array_module(input).multiply(self.output, gradOutput, out=gradInput)


@register
class Log(Module):
    """output = log(input)."""

    @ieee
    def updateOutput(self, input: Any) -> Any:
        return array_module(input).log(input, out=self.room("output", input))

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return array_module(input).divide(gradOutput, input, out=self.room("gradInput", input))


@register
class Power(Module):
    """output = input^p."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.pow = p

    @ieee
    def updateOutput(self, input: Any) -> Any:
        output = self.room("output", input)
        return array_module(input).power(input, float(self.pow), out=output)

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.room("gradInput", input)
        array_module(input).power(input, float(self.pow - 1), out=gradInput)
        gradInput *= gradOutput
        gradInput *= self.pow
        return gradInput


@register
class SoftSign(Module):
    """output = input / (1 + |input|)."""

    @ieee
    def updateOutput(self, input: Any) -> Any:
        output = self.room("output", input)
        array_module(input).abs(input, out=output)
        output += 1
        return array_module(input).divide(input, output, out=output)

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.room("gradInput", input)
        array_module(input).abs(input, out=gradInput)
        gradInput += 1
        gradInput *= gradInput
        return array_module(input).divide(gradOutput, gradInput, out=gradInput)

    def clearState(self) -> Self:
        self.clear("temp", "tempgrad")
        return super().clearState()


@register
class TanhShrink(Module):
    """output = input - tanh(input)."""

    def __init__(self) -> None:
        super().__init__()
        self.tanh = Tanh()

    @ieee
    def updateOutput(self, input: Any) -> Any:
        output = self.room("output", input)
        return array_module(input).subtract(input, self.tanh.updateOutput(input), out=output)

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput, through = self.room("gradInput", input), self.tanh.updateGradInput
        return array_module(input).subtract(gradOutput, through(input, gradOutput), out=gradInput)


class _WithConstant(Module):
    """A layer with a number, or a tensor that the input's last dimensions fit."""

    def __init__(self, constant_scalar: ArrayLike, ip: bool = False) -> None:
        super().__init__()
        self.constant_scalar = constant_scalar
        self.inplace = bool(ip)

    def _changed(self, operation: str, value: Any, result: Any) -> Any:
        """What an operation with the constant makes of a value, in an array for it."""
        constant: Any = self.constant_scalar
        if type(constant) in (int, float) and value.dtype.kind == "f":
            # NumPy 1 would compute in float64 with what is too large for float32.
            with np.errstate(over="ignore"):
                constant = value.dtype.type(constant)
        return getattr(array_module(value), operation)(value, constant, out=result)

    def _result(self, name: str, value: Any) -> Any:
        """Where the field for what is made of a value is: in its memory when in place."""
        if works_in_place(self, value):
            self.assign(name, value)
            return value
        return self.room(name, value)

    def _is_number_for(self, value: Any) -> bool:
        """Whether libTH can compute with a Tensor and the constant, as a number of its type."""
        if type(value) is not Tensor or value.dtype.kind != "f":
            return False
        constant: Any = self.constant_scalar
        return type(constant) in (int, float) and abs(constant) <= _LARGEST

    def _written(self, name: str, value: Tensor) -> Tensor:
        """The Tensor of a field for what is made of a value: that itself when in place."""
        if not works_in_place(self, value):
            return self.result(name, value)
        setattr(self.tensors, name, value)
        return value


_LARGEST = float(np.finfo(np.float32).max)


class _Moved(_WithConstant):
    def updateOutput(self, input: Any) -> Any:
        return self._changed("add", input, self._result("output", input))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self._result("gradInput", gradOutput)
        if works_in_place(self, input):
            self._changed("subtract", input, input)
        if gradInput is not gradOutput:
            gradInput[...] = gradOutput
        return gradInput


@register
class AddConstant(_Moved, kernel=True):
    """output = input + a number, or a tensor that the input's last dimensions fit.

    In place, the backward call restores the input.
    """

    def updateOutput(self, input: Any) -> Any:
        if not self._is_number_for(input):
            return super().updateOutput(input)
        output = self._written("output", input)
        output._call("add", input._open(), self.constant_scalar)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if not self._is_number_for(input) or not are_alike([input, gradOutput]):
            return super().updateGradInput(input, gradOutput)
        gradInput = self._written("gradInput", gradOutput)
        if works_in_place(self, input):
            input._call("sub", input._open(), self.constant_scalar)
        if gradInput is not gradOutput:
            gradInput._call("resizeAs", gradOutput._open())
            gradInput._call("copy", gradOutput._open())
        return gradInput


class _Scaled(_WithConstant):
    @ieee
    def updateOutput(self, input: Any) -> Any:
        return self._changed("multiply", input, self._result("output", input))

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self._result("gradInput", gradOutput)
        self._changed("multiply", gradOutput, gradInput)
        if works_in_place(self, input):
            self._changed("divide", input, input)
        return gradInput


@register
class MulConstant(_Scaled, kernel=True):
    """output = input times a number; in place, the backward call restores the input."""

    def updateOutput(self, input: Any) -> Any:
        if not self._is_number_for(input):
            return super().updateOutput(input)
        output = self._written("output", input)
        output._call("mul", input._open(), self.constant_scalar)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if not self._is_number_for(input) or not are_alike([input, gradOutput]):
            return super().updateGradInput(input, gradOutput)
        gradInput = self._written("gradInput", gradOutput)
        gradInput._call("mul", gradOutput._open(), self.constant_scalar)
        if works_in_place(self, input):
            input._call("div", input._open(), self.constant_scalar)
        return gradInput


@register
class GradientReversal(Module):
    """output = input, the same memory; gradInput = -lambda gradOutput."""

    def __init__(self, lambda_: float = 1) -> None:
        super().__init__()
        self.setLambda(lambda_)

    def setLambda(self, lambda_: float) -> None:
        """Sets the factor of the gradient, a number whose negative it is."""
        self.assign("lambda", lambda_)

    def updateOutput(self, input: Any) -> Any:
        self.output = input
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.room("gradInput", gradOutput)
        return array_module(input).multiply(gradOutput, -self.field("lambda"), out=gradInput)


@register
class L1Penalty(Module):
    """output = input, the same memory; adds the gradient of `l1weight` sum |input|.

    With `sizeAverage` the weight is divided by the number of elements; without `provideOutput` the
    gradient is that of the penalty alone. The penalty is in ``loss``.
    """

    def __init__(
        self, l1weight: float, sizeAverage: bool = False, provideOutput: bool = True
    ) -> None:
        super().__init__()
        self.l1weight = l1weight
        self.sizeAverage = bool(sizeAverage)
        self.provideOutput = provideOutput

    def _factor(self, input: Any) -> Any:
        return self.l1weight / max(input.size, 1) if self.sizeAverage else self.l1weight

    def updateOutput(self, input: Any) -> Any:
        self.loss = self._factor(input) * float(abs(input).sum(dtype=np.float64))
        self.output = input
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = array_module(input).sign(input, out=self.room("gradInput", input))
        gradInput *= self._factor(input)
        if self.provideOutput:
            gradInput += gradOutput
        return gradInput

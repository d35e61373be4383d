"""Layers that are a function of every element alone, or the identity with another gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._object import register
from ._values import array_module
from .module import Module
from .pointwise import Tanh

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
        self.output = array_module(input).exp(input)
        return self.output

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = self.output * gradOutput
        return self.gradInput


@register
class Log(Module):
    """output = log(input)."""

    @ieee
    def updateOutput(self, input: Any) -> Any:
        self.output = array_module(input).log(input)
        return self.output

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = 1 / input * gradOutput
        return self.gradInput


@register
class Power(Module):
    """output = input^p."""

    def __init__(self, p: Any) -> None:
        super().__init__()
        self.pow = p

    @ieee
    def updateOutput(self, input: Any) -> Any:
        self.output = input ** float(self.pow)
        return self.output

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = input ** float(self.pow - 1) * gradOutput * self.pow
        return self.gradInput


@register
class SoftSign(Module):
    """output = input / (1 + |input|)."""

    @ieee
    def updateOutput(self, input: Any) -> Any:
        self.output = input / (1 + abs(input))
        return self.output

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput / (1 + abs(input)) ** 2
        return self.gradInput

    def clearState(self) -> Any:
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
        self.output = input - self.tanh.updateOutput(input)
        return self.output

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput - self.tanh.updateGradInput(input, gradOutput)
        return self.gradInput


class _WithConstant(Module):
    """A layer with a number, or a tensor that the input's last dimensions fit."""

    def __init__(self, constant_scalar: Any, ip: bool = False) -> None:
        super().__init__()
        self.constant_scalar = constant_scalar
        self.inplace = bool(ip)

    def _changed(self, operation: str, value: Any) -> Any:
        """What an operation with the constant makes of a value, in its memory when in place."""
        result = value if self.inplace else None
        return getattr(array_module(value), operation)(value, self.constant_scalar, out=result)


@register
class AddConstant(_WithConstant):
    """output = input + a number, or a tensor that the input's last dimensions fit.

    In place, the backward call restores the input.
    """

    def updateOutput(self, input: Any) -> Any:
        self.output = self._changed("add", input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if self.inplace:
            self._changed("subtract", input)
        self.gradInput = gradOutput if self.inplace else gradOutput.copy()
        return self.gradInput


@register
class MulConstant(_WithConstant):
    """output = input times a number; in place, the backward call restores the input."""

    @ieee
    def updateOutput(self, input: Any) -> Any:
        self.output = self._changed("multiply", input)
        return self.output

    @ieee
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = self._changed("multiply", gradOutput)
        if self.inplace:
            self._changed("divide", input)
        return self.gradInput


@register
class GradientReversal(Module):
    """output = input, the same memory; gradInput = -lambda gradOutput."""

    def __init__(self, lambda_: Any = 1) -> None:
        super().__init__()
        self.setLambda(lambda_)

    def setLambda(self, lambda_: Any) -> None:
        """Sets the factor of the gradient, a number whose negative it is."""
        self.assign("lambda", lambda_)

    def updateOutput(self, input: Any) -> Any:
        self.output = input
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput * -self.field("lambda")
        return self.gradInput


@register
class L1Penalty(Module):
    """output = input, the same memory; adds the gradient of `l1weight` sum |input|.

    With `sizeAverage` the weight is divided by the number of elements; without `provideOutput` the
    gradient is that of the penalty alone. The penalty is in ``loss``.
    """

    def __init__(
        self, l1weight: Any, sizeAverage: bool = False, provideOutput: bool = True
    ) -> None:
        super().__init__()
        self.l1weight = l1weight
        self.sizeAverage = bool(sizeAverage)
        self.provideOutput = provideOutput

    def _factor(self, input: Any) -> Any:
        return self.l1weight / input.size if self.sizeAverage else self.l1weight

    def updateOutput(self, input: Any) -> Any:
        self.loss = self._factor(input) * float(abs(input).sum(dtype=np.float64))
        self.output = input
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = array_module(input).sign(input) * self._factor(input)
        self.gradInput = gradInput + gradOutput if self.provideOutput else gradInput
        return self.gradInput

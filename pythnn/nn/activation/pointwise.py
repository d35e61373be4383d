"""Layers that are a C function of every element alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._errors import THNNArgumentError
from ..object.kernel import Kernel, OutputKernel
from ..object.object import register

__all__ = [
    "Abs",
    "Clamp",
    "GatedLinearUnit",
    "HardShrink",
    "HardTanh",
    "LogSigmoid",
    "Sigmoid",
    "SoftPlus",
    "SoftShrink",
    "Sqrt",
    "Square",
    "Tanh",
]


@register
class Abs(Kernel):
    """output = |input|."""

    _function = "Abs"


@register
class HardTanh(Kernel):
    """output = input, limited to the range from `min_value` to `max_value`."""

    _function = "HardTanh"
    _settings = ("min_val", "max_val", "inplace")

    def __init__(self, min_value: float = -1, max_value: float = 1, inplace: bool = False) -> None:
        super().__init__()
        self.min_val = min_value
        self.max_val = max_value
        self.inplace = bool(inplace)
        if not min_value < max_value:
            raise THNNArgumentError.expected(
                self.typename(), 2, "max_value", f"above min_value, {min_value}", str(max_value)
            )


@register
class Clamp(HardTanh):
    """output = input, limited to the range from `min_value` to `max_value`."""

    def __init__(self, min_value: float = -1, max_value: float = 1) -> None:
        super().__init__(min_value, max_value)


class _Shrink(Kernel):
    """0 where |input| is at most `lam`."""

    _settings = ("lambda",)

    def __init__(self, lam: float = 0.5) -> None:
        super().__init__()
        self.assign("lambda", lam)


@register
class HardShrink(_Shrink):
    """output = input where |input| exceeds `lam`, else 0."""

    _function = "HardShrink"


@register
class SoftShrink(_Shrink):
    """output = input moved by `lam` towards 0 where |input| exceeds `lam`, else 0."""

    _function = "SoftShrink"


@register
class Sigmoid(OutputKernel):
    """output = 1 / (1 + exp(-input))."""

    _function = "Sigmoid"


@register
class LogSigmoid(Kernel, kernel=True):
    """output = log(1 / (1 + exp(-input)))."""

    _function = "LogSigmoid"
    _scratch = ("buffer",)

    def updateOutput(self, input: Any) -> Any:
        output = self.result("output", input)
        self._run("updateOutput", input, output, None)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input)
        self._run("updateGradInput", input, gradOutput, gradInput, None)
        return gradInput


@register
class Tanh(OutputKernel):
    """output = tanh(input)."""

    _function = "Tanh"


@register
class SoftPlus(OutputKernel):
    """output = log(1 + exp(beta input)) / beta; the input itself where beta input exceeds 20."""

    _function = "SoftPlus"
    _settings = ("beta", "threshold")

    def __init__(self, beta: float = 1) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = 20


@register
class Square(Kernel):
    """output = input^2."""

    _function = "Square"

    def __init__(self, args: None = None) -> None:
        super().__init__()


@register
class Sqrt(OutputKernel, kernel=True):
    """output = sqrt(input + b), with the gradient 0 where the output is 0."""

    _function = "Sqrt"

    def __init__(self, b: float = 0) -> None:
        super().__init__()
        self.eps = b

    def updateOutput(self, input: Any) -> Any:
        output = self.result("output", input)
        self._run("updateOutput", input, output, last=(self.eps,))
        return output


@register
class GatedLinearUnit(Kernel):
    """output = first half * sigmoid(second half), along `dim`, by default the last dimension."""

    _function = "GatedLinear"

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def _run(self, step: str, *tensors: Any, last: Sequence[Any] = ()) -> None:
        super()._run(step, *tensors, self.field("dim") or tensors[0].ndim, last=last)

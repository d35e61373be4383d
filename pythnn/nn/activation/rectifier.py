"""Layers that pass positive numbers and change the others."""

from __future__ import annotations

from typing import Any

from ... import _random
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..containers.branching import ConcatTable
from ..containers.container import Sequential
from ..object.kernel import Kernel, OutputKernel
from ..object.object import register
from ..shape.plumbing import Identity
from ..table.shaping import JoinTable
from .scalar import MulConstant

__all__ = ["ELU", "CReLU", "LeakyReLU", "PReLU", "RReLU", "ReLU", "ReLU6", "Threshold"]


@register
class Threshold(Kernel, kernel=True):
    """output = input where it exceeds `th`, else `v`; with `ip` in the input's memory."""

    _function = "Threshold"
    _settings = ("threshold", "val", "inplace")

    def __init__(self, th: float = 1e-6, v: float = 0, ip: bool = False) -> None:
        super().__init__()
        self.threshold = th
        self.val = v
        self.inplace = bool(ip)
        self.validateParameters()

    def validateParameters(self) -> None:
        """Raises THNNArgumentError for settings that work in place and cannot be undone."""
        if self.inplace and self.val > self.threshold:
            raise THNNArgumentError.expected(
                "nn.Threshold", 2, "v", "at most th when in place", repr(self.val)
            )

    def updateOutput(self, input: Any) -> Any:
        self.validateParameters()
        output = self.result("output", input)
        self._run("updateOutput", input, output)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.validateParameters()
        gradInput = self.result("gradInput", input)
        self._run("updateGradInput", input, gradOutput, gradInput)
        return gradInput


@register
class ReLU(Threshold):
    """output = max(input, 0); with `p` in the input's memory."""

    def __init__(self, p: bool = False) -> None:
        super().__init__(0, 0, p)


@register
class ReLU6(Kernel):
    """output = input, limited to the range from 0 to 6."""

    _function = "HardTanh"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = bool(inplace)

    def _rest(self, step: str) -> list[Any]:
        return [0, 6, self.inplace]


@register
class LeakyReLU(Kernel):
    """output = input where it is positive, else `negval` times it."""

    _function = "LeakyReLU"
    _settings = ("negval", "inplace")

    def __init__(self, negval: float = 0.01, ip: bool = False) -> None:
        super().__init__()
        self.negval = negval
        self.inplace = bool(ip)

    def __repr__(self) -> str:
        return f"{self.typename()}({self.negval:g})"


@register
class ELU(OutputKernel):
    """output = input where it is positive, else alpha (exp(input) - 1)."""

    _function = "ELU"
    _settings = ("alpha", "inplace")

    def __init__(self, alpha: float = 1, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = bool(inplace)

    def __repr__(self) -> str:
        return f"{self.typename()} (alpha:{self.alpha:f})"


@register
class PReLU(Kernel, kernel=True):
    """output = input where it is positive, else weight times it.

    There is a weight for each of `nOutputPlane` planes, or with 0 one for all.
    """

    _function = "PReLU"
    _settings = ("nOutputPlane",)
    _scratch = ("gradWeightBuf", "gradWeightBuf2")

    def __init__(self, nOutputPlane: int = 0) -> None:
        super().__init__()
        self.nOutputPlane = nOutputPlane
        self.tensors.weight = Tensor.empty(nOutputPlane or 1, dtype="float64").fill(0.25)
        self.tensors.gradWeight = Tensor.zeros(nOutputPlane or 1, dtype="float64")

    def updateOutput(self, input: Any) -> Any:
        output = self.result("output", input)
        self._run("updateOutput", input, output, self.tensors.weight)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input)
        self._run("updateGradInput", input, gradOutput, gradInput, self.tensors.weight)
        return gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        own = self.tensors
        tensors = (input, gradOutput, None, own.weight, own.gradWeight, None, None)
        self._run("accGradParameters", *tensors, last=(scale,))


@register
class RReLU(Kernel, kernel=True):
    """output = input where it is positive, else a factor times it.

    In training the factors, in ``noise``, are drawn from [l, u); in use all are (l + u) / 2.
    """

    _function = "RReLU"
    _settings = ("lower", "upper", "train", "inplace")
    _scratch = ("noise",)

    def __init__(self, l: float = 1 / 8, u: float = 1 / 3, ip: bool = False) -> None:  # noqa: E741
        super().__init__()
        self.lower = l
        self.upper = u
        if l > u:
            raise THNNArgumentError.expected("nn.RReLU", 1, "l", f"at most u, {u}", str(l))
        self.tensors.noise = Tensor(dtype="float64")
        self.train = True
        self.inplace = bool(ip)

    def updateOutput(self, input: Any) -> Any:
        output, noise = self.result("output", input), self.result("noise", input)
        self._run("updateOutput", input, output, noise, last=(_random.default_generator(),))
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input)
        self._run("updateGradInput", input, gradOutput, gradInput, self.tensors.noise)
        return gradInput

    def __repr__(self) -> str:
        return f"{self.typename()} (l:{self.lower:f}, u:{self.upper:f})"


@register
class CReLU(Sequential, kernel=True):
    """Joins max(input, 0) and max(-input, 0) along the first of `nInputDims` dimensions.

    An input with one dimension more is a batch.
    """

    def __init__(self, nInputDims: int, inplace: bool = False) -> None:
        super().__init__()
        self.nInputDims = nInputDims
        self.inplace = bool(inplace)
        self.add(ConcatTable().add(Identity()).add(MulConstant(-1)))
        self.add(JoinTable(2)).add(ReLU(self.inplace))

    def _batch(self, value: Any) -> Any:
        """A value as a batch, of one when it is none."""
        return value if value.ndim > self.nInputDims else value.unsqueeze(0)

    def updateOutput(self, input: Any) -> Any:
        output = super().updateOutput(self._batch(input))
        self.tensors.output = output if input.ndim > self.nInputDims else output.select(0, 0)
        return self.tensors.output

    def _down(self, method: str, input: Any, gradOutput: Any, *arguments: Any) -> Any:
        gradient = super()._down(method, self._batch(input), self._batch(gradOutput), *arguments)
        return gradient if input.ndim > self.nInputDims else gradient.select(0, 0)

    def __repr__(self) -> str:
        return "CReLU()"

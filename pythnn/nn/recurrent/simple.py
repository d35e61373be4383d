"""Small layers that recurrent modules are made of."""

from __future__ import annotations

from typing import Any

from ..._errors import THNNArgumentError
from ..linear.linear import Linear
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module

__all__ = ["LinearNoBias", "SAdd", "SeqReverseSequence"]


@register
class LinearNoBias(Linear, kernel=True):
    """Linear without a bias."""

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__(inputSize, outputSize, False)


@register
class SAdd(Module):
    """output = input + addend; with `negate`, -(input + addend)."""

    negate: Any = False

    def __init__(self, addend: float, negate: bool = False) -> None:
        super().__init__()
        self.addend = addend
        self.negate = bool(negate)

    def updateOutput(self, input: Any) -> Any:
        total = input + input.dtype.type(self.addend)
        self.output = -total if self.negate else total
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = -gradOutput if self.negate else gradOutput.copy()
        return self.gradInput


@register
class SeqReverseSequence(Module):
    """Reverses the order along the dimension `dim`, counted from 1."""

    def __init__(self, dim: int = 1) -> None:
        super().__init__()
        self.dim = dim

    def _turned(self, value: Any) -> Any:
        place = int(self.dim) - 1
        if not 0 <= place < value.ndim:
            wanted = f"at least {self.dim} dimensions"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", wanted, f"shape {value.shape}"
            )
        return array_module(value).flip(value, place).copy()

    def updateOutput(self, input: Any) -> Any:
        self.output = self._turned(input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = self._turned(gradOutput)
        return self.gradInput

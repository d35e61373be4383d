"""What convolutions of all dimensions have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._table import FUNCTIONS
from ..._tensor import Tensor
from ..object.initial import draw
from ..object.window import Windowed, comma

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Convolution", "TransposedConvolution"]


@cache
def _no_scratch(function: str) -> list[None]:
    """None for each scratch tensor of a function, which takes them after the parameters."""
    return [None for _, _, role, _ in FUNCTIONS[function][0] if role == "scratch"]


class Convolution(Windowed, kernel=True):
    """A layer with a weight and a bias, which C functions take before its settings."""

    _scratch = ("finput", "fgradInput", "_input", "_gradOutput")

    nInputPlane: int
    nOutputPlane: int

    def _allocate(self, weight: Sequence[int], bias: Sequence[int]) -> None:
        """Makes the parameters, of these shapes, and draws them."""
        own = self.tensors
        own.weight = Tensor.zeros(*weight, dtype=np.float64)
        own.bias = Tensor.zeros(*bias, dtype=np.float64)
        own.gradWeight = Tensor.zeros(*weight, dtype=np.float64)
        own.gradBias = Tensor.zeros(*bias, dtype=np.float64)
        self.reset()

    def noBias(self) -> Self:
        """Does without the bias; returns itself."""
        self.tensors.bias = self.tensors.gradBias = None
        return self

    def _inputs_of_an_output(self) -> int:
        """The number of inputs that the initial weights are scaled for."""
        return math.prod(self._sizes("k")) * self.nInputPlane

    def reset(self, stdv: Any = None) -> Any:
        """Draws all parameters from [-s, s]; returns itself.

        s = sqrt(3) stdv, by default 1 / sqrt(inputs of an output).
        """
        draw(stdv, self._inputs_of_an_output(), self.tensors.weight, self.tensors.bias)
        return self

    def _rest(self, step: str) -> list[Any]:
        return [*_no_scratch(f"{self._function}_{step}"), *super()._rest(step)]

    def updateOutput(self, input: Any) -> Any:
        output, own = self.result("output", input), self.tensors
        self._run("updateOutput", input, output, own.weight, own.bias)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input)
        self._run("updateGradInput", input, gradOutput, gradInput, self.tensors.weight)
        return gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        gradients = self.tensors.gradWeight, self.tensors.gradBias
        self._run("accGradParameters", input, gradOutput, *gradients, last=(scale,))

    # ---- Text

    def _steps_text(self) -> str:
        """Steps and padding, where they are not the usual ones."""
        steps, padding = self._sizes("d"), self._sizes("pad")
        text = f", {comma(steps)}" if any(padding) or set(steps) != {1} else ""
        return f"{text}, {comma(padding)}" if any(padding) else text

    def _extra_text(self) -> str:
        """What a class says after that."""
        return ""

    def __repr__(self) -> str:
        window = "x".join(map(str, self._sizes("k")))
        planes = f"{self.nInputPlane} -> {self.nOutputPlane}"
        without = "" if self.tensors.bias is not None else " without bias"
        inside = f"{planes}, {window}{self._steps_text()}{self._extra_text()}"
        return f"{self.typename()}({inside}){without}"


class TransposedConvolution(Convolution, kernel=True):
    """A convolution that goes from its output to its input.

    Instead of a tensor the input may be a table of it and of a tensor whose last dimensions have
    the output's size: the fields adj… are then not used.
    """

    def _adjustments(self, input: Any) -> list[int]:
        """What is added to the smallest size of the output along each axis."""
        if not isinstance(input, list):
            return self._sizes("adj")
        wanted = dict(zip("WHT", reversed(input[1].shape), strict=False))
        sizes = zip(self._axes, self._sizes("k"), self._sizes("d"), self._sizes("pad"), strict=True)
        return [(wanted[axis] + 2 * pad - k) % d for axis, k, d, pad in sizes]

    def updateOutput(self, input: Any) -> Any:
        image = input[0] if isinstance(input, list) else input
        output, own = self.result("output", image), self.tensors
        adjustments = self._adjustments(input)
        self._run("updateOutput", image, output, own.weight, own.bias, last=adjustments)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        is_table = isinstance(input, list)
        image = input[0] if is_table else input
        held = self.field("gradInput")
        if isinstance(held, list):
            self.assign("gradInput", held[0])
        gradInput, adjustments = self.result("gradInput", image), self._adjustments(input)
        weight = self.tensors.weight
        self._run("updateGradInput", image, gradOutput, gradInput, weight, last=adjustments)
        if not is_table:
            return gradInput
        unused = Tensor.zeros(*input[1].shape, dtype=input[1].dtype)
        self.tensors.gradInput = [gradInput, unused]
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        image = input[0] if isinstance(input, list) else input
        gradients = self.tensors.gradWeight, self.tensors.gradBias
        last = (*self._adjustments(input), scale)
        self._run("accGradParameters", image, gradOutput, *gradients, last=last)

    def _extra_text(self) -> str:
        adjustments = self._sizes("adj")
        return f", {comma(adjustments)}" if any(adjustments) else ""

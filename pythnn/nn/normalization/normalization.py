"""Normalisation of vectors, and of planes by their neighbours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import THNNArgumentError
from ..activation.scalar import MulConstant
from ..containers.branching import ConcatTable
from ..containers.container import Sequential
from ..linear.scaling import Add, CMul
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module
from ..shape.plumbing import Identity
from ..shape.reduction import Mean
from ..shape.scatter import put_along_axis
from ..shape.shape import Replicate
from ..table.arithmetic import CSubTable

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LayerNormalization", "Normalize", "SpatialCrossMapLRN"]


@register
class Normalize(Module):
    """output = input / norm for each vector of [batch x] size.

    norm = (sum |input|^p + eps)^(1/p), with p infinity max |input| + eps.
    """

    def __init__(self, p: float, eps: float = 1e-10) -> None:
        super().__init__()
        if p <= 0:
            raise THNNArgumentError.expected("nn.Normalize", 1, "p", "a number above 0", str(p))
        self.p = p
        self.eps = eps

    def updateOutput(self, input: Any) -> Any:
        if input.ndim > 2:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "[batch x] size", f"shape {input.shape}"
            )
        sizes = abs(input)
        if math.isinf(self.p):
            norm = sizes.max(-1, keepdims=True) + self.eps
        else:
            normp = (sizes**self.p).sum(-1, keepdims=True) + self.eps
            self.assign("normp", normp)
            norm = normp ** (1 / self.p)
        self.assign("norm", norm)
        self.output = input / norm
        return self.output

    @np.errstate(all="ignore")
    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        xp, norm = array_module(input), self.norm
        along = (input * gradOutput).sum(-1, keepdims=True)
        sizes = abs(input)
        if math.isinf(self.p):
            direction = xp.zeros_like(input)
            largest = xp.expand_dims(sizes.argmax(-1), -1)
            put_along_axis(direction, largest, xp.take_along_axis(input, largest, -1), -1)
            slope = direction / (norm * norm)
        else:
            # As in Lua Torch, eps keeps powers below 0 finite.
            base = sizes + self.eps if self.p < 2 else sizes
            slope = input * base ** (self.p - 2) / self.normp
        self.gradInput = (gradOutput - slope * along) / norm
        return self.gradInput

    def clearState(self) -> Self:
        self.clear("_output", "_indices", "_gradInput", "buffer", "norm", "normp", "cross")
        return super().clearState()

    def __repr__(self) -> str:
        p = f"{int(self.p)}" if self.p % 1 == 0 else f"{self.p:f}"
        return f"{self.typename()}({p})"


@register
class LayerNormalization(Sequential, kernel=True):
    """output = (input - mean) / standard deviation of each vector of [batch x] nOutput.

    With `affine` a weight multiplies each element, at first 1, and `bias` is added. As in Lua
    Torch, the means of a batch are laid out against its elements column by column: a vector gets
    the means of others too. Give it one vector at a time where that matters.
    """

    def __init__(
        self, nOutput: int, bias: float = 0, eps: float = 1e-10, affine: bool = True
    ) -> None:
        super().__init__()
        mean = Sequential().add(Mean(1, 1)).add(Replicate(nOutput, 1, 1))
        self.add(ConcatTable().add(Identity()).add(mean))
        self.add(CSubTable())
        self.add(Normalize(2, eps))
        self.add(MulConstant(math.sqrt(nOutput)))
        if affine:
            weight, shift = CMul(nOutput), Add(nOutput, False)
            weight.tensors.weight.fill(1)
            shift.tensors.bias.fill(bias)
            self.add(weight).add(shift)

    @property
    def features(self) -> int:
        """The size of what is normalised."""
        repeated: int = self.modules[0].modules[1].modules[1].nfeatures  # that of the means
        return repeated

    def updateOutput(self, input: Any) -> Any:
        if input.shape[-1] != self.features:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"[batch x] {self.features}", f"shape {input.shape}"
            )
        return super().updateOutput(input)


@register
class SpatialCrossMapLRN(Module, kernel=True):
    """output = input / scale^beta, where scale = k + alpha / size * sum of squares.

    The sum goes over `size` neighbouring planes of [batch x] planes x height x width.
    """

    def __init__(self, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def _settings(self) -> tuple[Any, ...]:
        return self.size, self.alpha, self.beta, self.k

    def updateOutput(self, input: Any) -> Any:
        output, scale = self.result("output", input), self.result("scale", input)
        name = "SpatialCrossMapLRN_updateOutput"
        self._kernel(name, None, input, output, scale, *self._settings())
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        own, gradInput = self.tensors, self.result("gradInput", input)
        results = gradInput, own.scale, own.output
        name = "SpatialCrossMapLRN_updateGradInput"
        self._kernel(name, None, input, gradOutput, *results, *self._settings())
        return gradInput

    def clearState(self) -> Self:
        self.clear("scale", "paddedRatio", "accumRatio")
        return super().clearState()

"""Poolings of sequences: [batch x] frames x features."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import THNNArgumentError
from ..object.kernel import Kernel
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module
from ..shape.scatter import put_along_axis
from .pooling import MaxPooling

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["TemporalDynamicKMaxPooling", "TemporalMaxPooling"]


@register
class TemporalMaxPooling(MaxPooling):
    """Max pooling of each feature over kW frames with stride dW (by default kW)."""

    _function = "TemporalMaxPooling"
    _axes = ("W",)
    _settings = ("kW", "dW")

    def __init__(self, kW: int, dW: int | None = None) -> None:
        super().__init__()
        self.kW = kW
        self.dW = kW if dW is None else dW

    def _set_sizes_of(self, input: Any) -> None:
        pass

    __repr__ = Kernel.__repr__


@register
class TemporalDynamicKMaxPooling(Module):
    """The k largest elements of each feature, in their order in time.

    k is `minK`, or `factor` times the number of frames, rounded up, if that is larger.
    """

    def __init__(self, minK: int, factor: float = 0) -> None:
        super().__init__()
        self.minK = minK
        self.factor = factor

    def updateOutput(self, input: Any) -> Any:
        axis, xp = input.ndim - 2, array_module(input)
        if axis not in (0, 1):
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "2 or 3 dimensions", f"shape {input.shape}"
            )
        frames = input.shape[axis]
        k = max(self.minK, math.ceil(self.factor * frames))
        if k > frames:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"at least {k} frames", f"{frames}"
            )
        largest = xp.flip(xp.argsort(input, axis=axis), axis=axis)
        places = xp.sort(largest[..., :k, :], axis=axis)
        self.assign("indices", places.astype(np.int64) + 1)
        self.output = xp.take_along_axis(input, places, axis)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = array_module(input).zeros_like(input)
        put_along_axis(gradInput, self.indices - 1, gradOutput, input.ndim - 2)
        self.gradInput = gradInput
        return gradInput

    def clearState(self) -> Self:
        self.clear("indices")
        return super().clearState()

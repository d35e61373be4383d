"""Weighted sums over windows, plane by plane."""

from __future__ import annotations

import math
from typing import Any

from ..convolution.convolution import Convolution
from ..object.module import Module
from ..object.object import register

__all__ = ["SpatialSubSampling", "TemporalSubSampling"]


class _SubSampling(Convolution):
    """output = weight * sum of the window + bias, with one weight and bias for each plane."""

    def _inputs_of_an_output(self) -> int:
        return math.prod(self._sizes("k"))

    __repr__ = Module.__repr__


@register
class SpatialSubSampling(_SubSampling):
    """output = weight * sum of each kW x kH window + bias, of [batch x] planes x height x width."""

    _function = "SpatialSubSampling"
    _settings = ("kW", "kH", "dW", "dH")

    def __init__(self, nInputPlane: int, kW: int, kH: int, dW: int = 1, dH: int = 1) -> None:
        super().__init__()
        self.nInputPlane = nInputPlane
        self._set_sizes(k=(kW, kH), d=(dW, dH))
        self._allocate((nInputPlane,), (nInputPlane,))


@register
class TemporalSubSampling(_SubSampling):
    """output = weight * sum of each window of kW frames + bias, of frames x inputFrameSize."""

    _function = "TemporalSubSampling"
    _axes = ("W",)

    def __init__(self, inputFrameSize: int, kW: int, dW: int = 1) -> None:
        super().__init__()
        self.inputFrameSize = inputFrameSize
        self.kW = kW
        self.dW = dW
        self._allocate((inputFrameSize,), (inputFrameSize,))

    def _rest(self, step: str) -> list[Any]:
        size = [self.inputFrameSize] if step == "updateOutput" else []
        return [self.kW, self.dW, *size]

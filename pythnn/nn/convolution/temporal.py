"""Convolutions of sequences: [batch x] frames x features."""

from __future__ import annotations

from typing import Any

from ..object.module import Module
from ..object.object import register
from .convolution import Convolution

__all__ = ["TemporalConvolution", "TemporalRowConvolution"]


@register
class TemporalConvolution(Convolution, kernel=True):
    """1-D convolution of [batch x] frames x inputFrameSize with kernel kW and stride dW.

    weight: outputFrameSize x (inputFrameSize * kW); output: [batch x] (frames - kW) // dW + 1 x
    outputFrameSize.
    """

    _function = "TemporalConvolution"
    _axes = ("W",)

    def __init__(self, inputFrameSize: int, outputFrameSize: int, kW: int, dW: int = 1) -> None:
        super().__init__()
        self.inputFrameSize = inputFrameSize
        self.outputFrameSize = outputFrameSize
        self.kW = kW
        self.dW = dW
        self._allocate((outputFrameSize, inputFrameSize * kW), (outputFrameSize,))

    sharedAccUpdateGradParameters = Module.defaultAccUpdateGradParameters

    def _inputs_of_an_output(self) -> int:
        return self.kW * self.inputFrameSize

    def _rest(self, step: str) -> list[Any]:
        sizes = [self.inputFrameSize, self.outputFrameSize] if step == "updateOutput" else []
        return [self.kW, self.dW, *sizes]

    __repr__ = Module.__repr__


@register
class TemporalRowConvolution(Convolution):
    """1-D convolution of each feature by itself, with kernel kW and stride dW.

    Input: [batch x] frames x inputFrameSize, or with `featFirst` [batch x] inputFrameSize x frames;
    weight: inputFrameSize x 1 x kW; the output has (frames - kW) // dW + 1 frames.
    """

    _function = "TemporalRowConvolution"
    _axes = ("W",)

    def __init__(self, inputFrameSize: int, kW: int, dW: int = 1, featFirst: bool = False) -> None:
        super().__init__()
        self.inputFrameSize = inputFrameSize
        self.kW = kW
        self.dW = dW
        self.featFirst = bool(featFirst)
        self._allocate((inputFrameSize, 1, kW), (inputFrameSize,))

    def _inputs_of_an_output(self) -> int:
        return self.kW * self.inputFrameSize

    def _rest(self, step: str) -> list[Any]:
        return [None, None, self.kW, self.dW, self.field("padW") or 0, bool(self.featFirst)]

    def __repr__(self) -> str:
        step = f", {self.dW}" if self.dW != 1 else ""
        without = "" if self.tensors.bias is not None else " without bias"
        return f"{self.typename()}({self.inputFrameSize}, {self.kW}{step}){without}"

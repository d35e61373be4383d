"""Convolutions of planes: [batch x] planes x height x width."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.object import register
from ..object.window import repeat_last
from .convolution import Convolution, TransposedConvolution

__all__ = [
    "SpatialConvolution",
    "SpatialConvolutionLocal",
    "SpatialConvolutionMM",
    "SpatialDepthWiseConvolution",
    "SpatialDilatedConvolution",
    "SpatialFullConvolution",
]

SIZES = ("kW", "kH", "dW", "dH", "padW", "padH")


class _SpatialConvolution(Convolution):
    """A convolution with the usual arguments."""

    _settings: ClassVar[tuple[str, ...]] = SIZES

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int = 1,
        dH: int = 1,
        padW: int = 0,
        padH: int | None = None,
    ) -> None:
        super().__init__()
        self.nInputPlane = nInputPlane
        self.nOutputPlane = nOutputPlane
        self._set_sizes(k=(kW, kH), d=(dW, dH), pad=repeat_last(padW, padH))
        self._make_parameters()

    def _make_parameters(self) -> None:
        self._allocate((self.nOutputPlane, self.nInputPlane, *self._window()), (self.nOutputPlane,))


@register
class SpatialConvolution(_SpatialConvolution):
    """2-D convolution with kernel kW x kH, stride dW and dH, and zero padding padW and padH.

    weight: nOutputPlane x nInputPlane x kH x kW; output: [batch x] nOutputPlane x
    (height + 2 padH - kH) // dH + 1 x (width + 2 padW - kW) // dW + 1. `padH` is by default `padW`.
    """

    _function = "SpatialConvolutionMM"


@register
class SpatialConvolutionMM(_SpatialConvolution):
    """SpatialConvolution with a weight of nOutputPlane x (nInputPlane * kH * kW)."""

    _function = "SpatialConvolutionMM"

    def _make_parameters(self) -> None:
        taps = math.prod(self._window())
        self._allocate((self.nOutputPlane, self.nInputPlane * taps), (self.nOutputPlane,))


@register
class SpatialDepthWiseConvolution(_SpatialConvolution, kernel=True):
    """2-D convolution of each input plane by itself, with `nOutputPlane` kernels per plane.

    weight: nOutputPlane x (nInputPlane * kH * kW), from the first call on with four dimensions;
    bias: nOutputPlane x nInputPlane; output: [batch x] (nInputPlane * nOutputPlane) x …
    """

    _function = "SpatialDepthWiseConvolution"

    def _make_parameters(self) -> None:
        taps = math.prod(self._window())
        weight = (self.nOutputPlane, self.nInputPlane * taps)
        self._allocate(weight, (self.nOutputPlane, self.nInputPlane))

    def _unfold_weight(self, name: str) -> None:
        weight = self.field(name)
        shape = (self.nOutputPlane, self.nInputPlane, *self._window())
        if weight.shape != shape:
            setattr(self.tensors, name, weight.view(shape))

    def updateOutput(self, input: Any) -> Any:
        self._unfold_weight("weight")
        return super().updateOutput(input)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self._unfold_weight("gradWeight")
        super().accGradParameters(input, gradOutput, scale)


@register
class SpatialDilatedConvolution(SpatialConvolution):
    """SpatialConvolution with dilation: the taps of a kernel are dilationW and dilationH apart."""

    _function = "SpatialDilatedConvolution"
    _settings = (*SIZES, "dilationW", "dilationH")

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int = 1,
        dH: int = 1,
        padW: int = 0,
        padH: int | None = None,
        dilationW: int = 1,
        dilationH: int = 1,
    ) -> None:
        super().__init__(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
        self._set_sizes(dilation=(dilationW, dilationH))

    def _extra_text(self) -> str:
        return ", {},{}".format(*self._sizes("dilation"))


@register
class SpatialFullConvolution(TransposedConvolution):
    """Transposed 2-D convolution: every input pixel adds a kW x kH patch to the output.

    weight: nInputPlane x nOutputPlane x kH x kW; output: [batch x] nOutputPlane x
    (height - 1) dH - 2 padH + kH + adjH x (width - 1) dW - 2 padW + kW + adjW.
    """

    _function = "SpatialFullConvolution"
    _settings = SIZES

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int = 1,
        dH: int = 1,
        padW: int = 0,
        padH: int = 0,
        adjW: int = 0,
        adjH: int = 0,
    ) -> None:
        super().__init__()
        self.nInputPlane = nInputPlane
        self.nOutputPlane = nOutputPlane
        self._set_sizes(k=(kW, kH), d=(dW, dH), pad=(padW, padH), adj=(adjW, adjH))
        if adjW > dW - 1 or adjH > dH - 1:
            raise THNNArgumentError.expected(
                self.typename(), 9, "adjW, adjH", f"less than dW, dH ({dW}, {dH})",
                f"{adjW}, {adjH}",
            )  # fmt: skip
        self.tensors.ones = Tensor(dtype=np.float64)
        self._allocate((nInputPlane, nOutputPlane, *self._window()), (nOutputPlane,))


@register
class SpatialConvolutionLocal(Convolution):
    """2-D convolution with another kernel at each position; only for images of iW x iH.

    weight: oH x oW x nOutputPlane x nInputPlane x kH x kW; bias: nOutputPlane x oH x oW; output:
    [batch x] nOutputPlane x oH x oW. `padH` is by default `padW`.
    """

    _function = "SpatialConvolutionLocal"
    _settings = (*SIZES, "iW", "iH", "oW", "oH")

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        iW: int,
        iH: int,
        kW: int,
        kH: int,
        dW: int = 1,
        dH: int = 1,
        padW: int = 0,
        padH: int | None = None,
    ) -> None:
        super().__init__()
        self.nInputPlane = nInputPlane
        self.nOutputPlane = nOutputPlane
        self._set_sizes(k=(kW, kH), d=(dW, dH), pad=repeat_last(padW, padH), i=(iW, iH))
        self.oW = (iW + 2 * self.padW - kW) // dW + 1
        self.oH = (iH + 2 * self.padH - kH) // dH + 1
        if self.oW < 1 or self.oH < 1:
            raise THNNArgumentError.expected(
                self.typename(), 5, "kW, kH", "a window that fits the image", f"{kW}, {kH}"
            )
        places = (self.oH, self.oW)
        self._allocate((*places, nOutputPlane, nInputPlane, kH, kW), (nOutputPlane, *places))

    def __repr__(self) -> str:
        image = "x".join(map(str, self._sizes("i")))
        window = "x".join(map(str, self._sizes("k")))
        planes = f"{self.nInputPlane} -> {self.nOutputPlane}"
        return f"{self.typename()}({planes}, {image}, {window}{self._steps_text()})"

"""Convolutions of volumes: [batch x] planes x time x height x width."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.object import register
from ..object.window import VOLUME, repeat_last
from .convolution import Convolution, TransposedConvolution

__all__ = ["VolumetricConvolution", "VolumetricDilatedConvolution", "VolumetricFullConvolution"]

STEPS = ("dT", "dW", "dH", "padT", "padW", "padH")


@register
class VolumetricConvolution(Convolution):
    """3-D convolution with kernel kT x kW x kH, stride dT, dW and dH, and zero padding.

    weight: nOutputPlane x nInputPlane x kT x kH x kW; output: [batch x] nOutputPlane x
    (time + 2 padT - kT) // dT + 1 x … The padding is by default that of the axis before.
    """

    _function = "VolumetricConvolution"
    _axes = VOLUME
    _settings: ClassVar[tuple[str, ...]] = STEPS

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kT: int,
        kW: int,
        kH: int,
        dT: int = 1,
        dW: int = 1,
        dH: int = 1,
        padT: int = 0,
        padW: int | None = None,
        padH: int | None = None,
    ) -> None:
        super().__init__()
        self.nInputPlane = nInputPlane
        self.nOutputPlane = nOutputPlane
        self._set_sizes(k=(kT, kW, kH), d=(dT, dW, dH), pad=repeat_last(padT, padW, padH))
        self._allocate((nOutputPlane, nInputPlane, *self._window()), (nOutputPlane,))


@register
class VolumetricDilatedConvolution(VolumetricConvolution):
    """VolumetricConvolution with dilation: the taps of a kernel are dilation elements apart."""

    _function = "VolumetricDilatedConvolution"
    _settings = ("kT", "kW", "kH", *STEPS, "dilationT", "dilationW", "dilationH")

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kT: int,
        kW: int,
        kH: int,
        dT: int = 1,
        dW: int = 1,
        dH: int = 1,
        padT: int = 0,
        padW: int | None = None,
        padH: int | None = None,
        dilationT: int = 1,
        dilationW: int = 1,
        dilationH: int = 1,
    ) -> None:
        super().__init__(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH)
        self._set_sizes(dilation=(dilationT, dilationW, dilationH))

    def _extra_text(self) -> str:
        return ", {},{},{}".format(*self._sizes("dilation"))


@register
class VolumetricFullConvolution(TransposedConvolution):
    """Transposed 3-D convolution: every input element adds a kT x kW x kH block to the output.

    weight: nInputPlane x nOutputPlane x kT x kH x kW; output: [batch x] nOutputPlane x
    (time - 1) dT - 2 padT + kT + adjT x …
    """

    _function = "VolumetricFullConvolution"
    _axes = VOLUME
    _settings = STEPS

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kT: int,
        kW: int,
        kH: int,
        dT: int = 1,
        dW: int = 1,
        dH: int = 1,
        padT: int = 0,
        padW: int = 0,
        padH: int = 0,
        adjT: int = 0,
        adjW: int = 0,
        adjH: int = 0,
    ) -> None:
        super().__init__()
        self.nInputPlane = nInputPlane
        self.nOutputPlane = nOutputPlane
        adjustments, steps = (adjT, adjW, adjH), (dT, dW, dH)
        self._set_sizes(k=(kT, kW, kH), d=steps, pad=(padT, padW, padH), adj=adjustments)
        if any(adj >= d for adj, d in zip(adjustments, steps, strict=True)):
            raise THNNArgumentError.expected(
                self.typename(), 12, "adjT, adjW, adjH", f"less than dT, dW, dH {steps}",
                f"{adjustments}",
            )  # fmt: skip
        for name in ("ones", "finput", "fgradInput"):
            setattr(self.tensors, name, Tensor(dtype=np.float64))
        self._allocate((nInputPlane, nOutputPlane, *self._window()), (nOutputPlane,))

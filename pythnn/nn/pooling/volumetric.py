"""Poolings of volumes: [batch x] planes x time x height x width."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..._tensor import Tensor
from ..object.object import register
from ..object.window import VOLUME
from .pooling import FractionalMaxPooling, MaxPooling, MaxUnpooling, Pooling

__all__ = [
    "VolumetricAveragePooling",
    "VolumetricDilatedMaxPooling",
    "VolumetricFractionalMaxPooling",
    "VolumetricMaxPooling",
    "VolumetricMaxUnpooling",
]

SIZES = ("kT", "kW", "kH", "dT", "dW", "dH", "padT", "padW", "padH")


def _or_windows(windows: tuple[int, ...], *steps: int | None) -> list[int]:
    """Steps that are by default as large as the windows."""
    return [k if d is None else d for k, d in zip(windows, steps, strict=True)]


@register
class VolumetricMaxPooling(MaxPooling):
    """Max pooling over kT x kW x kH windows with stride dT, dW and dH.

    The steps are by default the window's sizes; padding counts as -infinity. Each of ``indices``
    packs the place in the window into three bytes.
    """

    _function = "VolumetricMaxPooling"
    _axes = VOLUME
    _settings: ClassVar[tuple[str, ...]] = (*SIZES, "ceil_mode")

    def __init__(
        self,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = None,
        dW: int | None = None,
        dH: int | None = None,
        padT: int = 0,
        padW: int = 0,
        padH: int = 0,
    ) -> None:
        super().__init__()
        windows = (kT, kW, kH)
        steps = _or_windows(windows, dT, dW, dH)
        self._set_sizes(k=windows, d=steps, pad=(padT, padW, padH))
        self.floor()
        self.tensors.indices = Tensor(dtype=np.int64)


@register
class VolumetricDilatedMaxPooling(VolumetricMaxPooling):
    """VolumetricMaxPooling with dilation: the elements of a window are dilation elements apart."""

    _function = "VolumetricDilatedMaxPooling"
    _settings = (*SIZES, "dilationT", "dilationW", "dilationH", "ceil_mode")

    def __init__(
        self,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = None,
        dW: int | None = None,
        dH: int | None = None,
        padT: int = 0,
        padW: int = 0,
        padH: int = 0,
        dilationT: int = 1,
        dilationW: int = 1,
        dilationH: int = 1,
    ) -> None:
        super().__init__(kT, kW, kH, dT, dW, dH, padT, padW, padH)
        self._set_sizes(dilation=(dilationT, dilationW, dilationH))

    def _extra_text(self) -> str:
        return ", {},{},{}".format(*self._sizes("dilation"))


@register
class VolumetricAveragePooling(Pooling):
    """Average pooling over kT x kW x kH windows with stride dT, dW and dH.

    The steps are by default the window's sizes.
    """

    _function = "VolumetricAveragePooling"
    _axes = VOLUME
    count_include_pad: bool = True

    def __init__(
        self,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = None,
        dW: int | None = None,
        dH: int | None = None,
    ) -> None:
        super().__init__()
        windows = (kT, kW, kH)
        self._set_sizes(k=windows, d=_or_windows(windows, dT, dW, dH))

    def _rest(self, step: str) -> list[Any]:
        sizes = self._sizes("k") + self._sizes("d") + self._sizes("pad")
        return [*sizes, self.ceil_mode, self.count_include_pad]


@register
class VolumetricFractionalMaxPooling(FractionalMaxPooling):
    """Max pooling over windows at random positions; the last axis of the input is time.

    Input: [batch x] planes x height x width x time. `arg1`, `arg2` and `arg3` are the output's
    time, width and height, or in (0, 1) their ratios to the input's.
    """

    _function = "VolumetricFractionalMaxPooling"
    _axes = VOLUME
    _order = "HWT"

    def __init__(
        self, poolSizeT: int, poolSizeW: int, poolSizeH: int, arg1: float, arg2: float, arg3: float
    ) -> None:
        super().__init__((poolSizeT, poolSizeW, poolSizeH), (arg1, arg2, arg3))


@register
class VolumetricMaxUnpooling(MaxUnpooling):
    """Undoes a VolumetricMaxPooling: puts elements where its last call took them, among zeros."""

    _function = "VolumetricMaxUnpooling"
    _axes = VOLUME

    def __init__(self, poolingModule: VolumetricMaxPooling) -> None:
        super().__init__(poolingModule, VolumetricMaxPooling)

    def setParams(self) -> None:
        super().setParams()
        self._set_sizes(d=self.pooling._sizes("d"), pad=self.pooling._sizes("pad"))

    def _rest(self, step: str) -> list[Any]:
        return super()._rest(step) + self._sizes("d") + self._sizes("pad")

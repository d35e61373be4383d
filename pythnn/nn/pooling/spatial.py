"""Poolings of planes: [batch x] planes x height x width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._tensor import Tensor
from ..object.kernel import Kernel
from ..object.object import register
from .pooling import FractionalMaxPooling, MaxPooling, MaxUnpooling, Pooling

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "SpatialAdaptiveAveragePooling",
    "SpatialAdaptiveMaxPooling",
    "SpatialAveragePooling",
    "SpatialDilatedMaxPooling",
    "SpatialFractionalMaxPooling",
    "SpatialMaxPooling",
    "SpatialMaxUnpooling",
]

SIZES = ("kW", "kH", "dW", "dH", "padW", "padH")


@register
class SpatialMaxPooling(MaxPooling):
    """Max pooling over kW x kH windows with stride dW and dH.

    The steps are by default the window's sizes; padW and padH elements around count as -infinity.
    """

    _function = "SpatialMaxPooling"
    _settings: ClassVar[tuple[str, ...]] = (*SIZES, "ceil_mode")

    def __init__(
        self,
        kW: int,
        kH: int,
        dW: int | None = None,
        dH: int | None = None,
        padW: int = 0,
        padH: int = 0,
    ) -> None:
        super().__init__()
        steps = (kW if dW is None else dW, kH if dH is None else dH)
        self._set_sizes(k=(kW, kH), d=steps, pad=(padW, padH))
        self.floor()
        self.tensors.indices = Tensor(dtype=np.int64)


@register
class SpatialDilatedMaxPooling(SpatialMaxPooling):
    """SpatialMaxPooling with dilation: elements of a window are dilationW and dilationH apart."""

    _function = "SpatialDilatedMaxPooling"
    _settings = (*SIZES, "dilationW", "dilationH", "ceil_mode")

    def __init__(
        self,
        kW: int,
        kH: int,
        dW: int | None = None,
        dH: int | None = None,
        padW: int = 0,
        padH: int = 0,
        dilationW: int = 1,
        dilationH: int = 1,
    ) -> None:
        super().__init__(kW, kH, dW, dH, padW, padH)
        self._set_sizes(dilation=(dilationW, dilationH))

    def _extra_text(self) -> str:
        return ", {},{}".format(*self._sizes("dilation"))


@register
class SpatialAveragePooling(Pooling, kernel=True):
    """Average pooling over kW x kH windows with stride dW and dH, and zero padding.

    Padding counts as elements unless ``setCountExcludePad`` was called. With the field ``divide``
    false the result is the sum.
    """

    _function = "SpatialAveragePooling"
    _settings = (*SIZES, "ceil_mode", "count_include_pad")
    count_include_pad: bool = True

    def __init__(
        self, kW: int, kH: int, dW: int = 1, dH: int = 1, padW: int = 0, padH: int = 0
    ) -> None:
        super().__init__()
        self._set_sizes(k=(kW, kH), d=(dW, dH), pad=(padW, padH))
        self.floor()
        self.setCountIncludePad()
        self.divide = True

    def setCountIncludePad(self) -> Self:
        """Counts padding as elements; returns itself."""
        self.count_include_pad = True
        return self

    def setCountExcludePad(self) -> Self:
        """Leaves padding out of the mean; returns itself."""
        self.count_include_pad = False
        return self

    def _summed(self, means: Any) -> Any:
        if not self.divide:
            means.array()[...] *= self.kW * self.kH
        return means

    def updateOutput(self, input: Any) -> Any:
        return self._summed(super().updateOutput(input))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self._summed(super().updateGradInput(input, gradOutput))


@register
class SpatialAdaptiveMaxPooling(MaxPooling):
    """Max pooling to an output of W x H: the windows cover the input evenly."""

    _function = "SpatialAdaptiveMaxPooling"

    def __init__(self, W: int, H: int) -> None:
        super().__init__()
        self.W = W
        self.H = H

    def _rest(self, step: str) -> list[Any]:
        return [self.W, self.H] if step == "updateOutput" else []

    def _set_sizes_of(self, input: Any) -> None:
        pass

    __repr__ = Kernel.__repr__


@register
class SpatialAdaptiveAveragePooling(Kernel):
    """Average pooling to an output of W x H: the windows cover the input evenly."""

    _function = "SpatialAdaptiveAveragePooling"

    def __init__(self, W: int, H: int) -> None:
        super().__init__()
        self.W = W
        self.H = H

    def _rest(self, step: str) -> list[Any]:
        return [self.W, self.H] if step == "updateOutput" else []


@register
class SpatialFractionalMaxPooling(FractionalMaxPooling):
    """Max pooling over poolSizeW x poolSizeH windows at random positions.

    `arg1` and `arg2` are the output's width and height, or in (0, 1) their ratios to the input's.
    """

    _function = "SpatialFractionalMaxPooling"
    _order = "HW"

    def __init__(self, poolSizeW: int, poolSizeH: int, arg1: float, arg2: float) -> None:
        super().__init__((poolSizeW, poolSizeH), (arg1, arg2))


@register
class SpatialMaxUnpooling(MaxUnpooling):
    """Undoes a SpatialMaxPooling: puts elements where its last call took them from, among zeros."""

    _function = "SpatialMaxUnpooling"

    def __init__(self, poolingModule: SpatialMaxPooling) -> None:
        super().__init__(poolingModule, SpatialMaxPooling)

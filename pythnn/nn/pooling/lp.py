"""Poolings that take a norm."""

from __future__ import annotations

from typing import Any

from ..activation.pointwise import Sqrt, Square
from ..activation.scalar import MulConstant, Power
from ..containers.container import Sequential
from ..object.kernel import Kernel
from ..object.object import register
from .spatial import SpatialAveragePooling

__all__ = ["FeatureLPPooling", "SpatialLPPooling"]


@register
class FeatureLPPooling(Kernel, kernel=True):
    """(sum input^power)^(1/power) of `width` features, `stride` apart.

    Input: features [x any [x any]], with `batch_mode` batch x features [x any [x any]].
    """

    _function = "FeatureLPPooling"

    def __init__(
        self, width: int, stride: int, power: float, batch_mode: bool | None = None
    ) -> None:
        super().__init__()
        self.width = width
        self.stride = stride
        self.power = power
        self.batch_mode = bool(batch_mode)

    def _rest(self, step: str) -> list[Any]:
        return [self.power, self.width, self.stride, self.batch_mode]

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input)
        self._run("updateGradInput", gradOutput, input, self.tensors.output, gradInput)
        return gradInput

    def __repr__(self) -> str:
        sizes = f"w{self.width} s{self.stride} power {self.power:g} batch {self.batch_mode:d}"
        return f"{self.typename()}({sizes})"


@register
class SpatialLPPooling(Sequential):
    """(sum input^pnorm)^(1/pnorm) of each kW x kH window of [batch x] planes x height x width.

    The steps dW and dH are by default the window's sizes.
    """

    def __init__(
        self,
        nInputPlane: int,
        pnorm: float,
        kW: int,
        kH: int,
        dW: int | None = None,
        dH: int | None = None,
    ) -> None:
        super().__init__()
        self.kW = kW
        self.kH = kH
        self.dW = kW if dW is None else dW
        self.dH = kH if dH is None else dH
        self.add(Square() if pnorm == 2 else Power(pnorm))
        self.add(SpatialAveragePooling(kW, kH, self.dW, self.dH))
        self.add(MulConstant(kW * kH))
        self.add(Sqrt() if pnorm == 2 else Power(1 / pnorm))

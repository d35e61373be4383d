"""Layers that put something around planes and volumes."""

from __future__ import annotations

from typing import Any, ClassVar

from ..._errors import THNNArgumentError
from ..object.kernel import Kernel
from ..object.module import Module
from ..object.object import register

__all__ = [
    "SpatialReflectionPadding",
    "SpatialReplicationPadding",
    "SpatialZeroPadding",
    "VolumetricReplicationPadding",
]


class _Border(Module):
    """A layer with a width for each side; those not given are the first."""

    _sides: ClassVar[tuple[str, ...]] = ("pad_l", "pad_r", "pad_t", "pad_b")
    _names: ClassVar[tuple[str, ...]] = ("l", "r", "t", "b")

    def _set_sides(self, first: int, *others: int | None) -> None:
        widths = [first, *(first if width is None else width for width in others)]
        for name, width in zip(self._sides, widths, strict=True):
            setattr(self, name, width)

    def __repr__(self) -> str:
        widths = [getattr(self, name) for name in self._sides]
        named = zip(self._names, widths, strict=True)
        return f"{self.typename()}({', '.join(f'{name}={width}' for name, width in named)})"


class _PlaneBorder(_Border):
    def __init__(
        self,
        pad_l: int,
        pad_r: int | None = None,
        pad_t: int | None = None,
        pad_b: int | None = None,
    ) -> None:
        super().__init__()
        self._set_sides(pad_l, pad_r, pad_t, pad_b)


@register
class SpatialReflectionPadding(_PlaneBorder, Kernel):
    """Mirrors [batch x] planes x height x width at its outermost rows and columns."""

    _function = "SpatialReflectionPadding"
    _settings = _Border._sides


@register
class SpatialReplicationPadding(_PlaneBorder, Kernel):
    """Repeats the outermost rows and columns of [batch x] planes x height x width."""

    _function = "SpatialReplicationPadding"
    _settings = _Border._sides


@register
class VolumetricReplicationPadding(_Border, Kernel):
    """Repeats the outermost slices of [batch x] planes x depth x height x width."""

    _function = "VolumetricReplicationPadding"
    _sides = ("pleft", "pright", "ptop", "pbottom", "pfront", "pback")
    _settings = _sides
    _names = ("left", "right", "top", "bottom", "front", "back")

    def __init__(
        self,
        pleft: int,
        pright: int | None = None,
        ptop: int | None = None,
        pbottom: int | None = None,
        pfront: int | None = None,
        pback: int | None = None,
    ) -> None:
        super().__init__()
        self._set_sides(pleft, pright, ptop, pbottom, pfront, pback)


@register
class SpatialZeroPadding(_PlaneBorder):
    """Pads [batch x] planes x height x width with zeros; negative padding crops."""

    def _places(self, height: int, width: int) -> tuple[Any, Any, tuple[int, int]]:
        """What of the input is kept, where it goes in the output, and the output's size."""
        sides = [(self.pad_t, self.pad_b, height), (self.pad_l, self.pad_r, width)]
        kept = tuple(slice(max(-before, 0), size - max(-after, 0)) for before, after, size in sides)
        sizes = [before + size + after for before, after, size in sides]
        placed = tuple(
            slice(max(before, 0), full - max(after, 0))
            for (before, after, _), full in zip(sides, sizes, strict=True)
        )
        return (..., *kept), (..., *placed), (sizes[0], sizes[1])

    def updateOutput(self, input: Any) -> Any:
        if input.ndim not in (3, 4):
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "3 or 4 dimensions", f"shape {input.shape}"
            )
        kept, placed, sizes = self._places(*input.shape[-2:])
        if min(sizes) < 1:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "an image larger than what is cut off",
                f"shape {input.shape}",
            )  # fmt: skip
        output = self.room("output", input, (*input.shape[:-2], *sizes))
        output[...] = 0
        output[placed] = input[kept]
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        kept, placed, _ = self._places(*input.shape[-2:])
        gradInput = self.room("gradInput", input)
        gradInput[...] = 0
        gradInput[kept] = gradOutput[placed]
        return gradInput

"""Layers that make planes and volumes larger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ... import thnn
from ..._errors import THNNArgumentError
from ..object.kernel import Kernel
from ..object.module import Module
from ..object.object import register
from ..object.values import LongStorage

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["PixelShuffle", "SpatialUpSamplingBilinear", "SpatialUpSamplingNearest", "UpSampling"]


def _checked_factor(name: str, factor: Any) -> int:
    if isinstance(factor, (dict, list, tuple, str)) or factor < 1 or int(factor) != factor:
        raise THNNArgumentError.expected(name, 1, "scale", "a whole number from 1 on", repr(factor))
    return int(factor)


class _UpSampling(Kernel, kernel=True):
    """A layer that keeps the sizes of its last input and output."""

    scale_factor: int | None = None
    odepth: int | None = None
    oheight: int | None = None
    owidth: int | None = None
    _max_dims: ClassVar[int] = 4

    def __init__(self, params: int | dict[str, int]) -> None:
        super().__init__()
        if isinstance(params, dict):
            for name in ("odepth", "oheight", "owidth"):
                if name in params:
                    setattr(self, name, int(params[name]))
            if self.oheight is None or self.owidth is None:
                raise THNNArgumentError.expected(
                    self.typename(), 1, "params", "owidth and oheight", repr(params)
                )
        else:
            self.scale_factor = _checked_factor(self.typename(), params)
        self.inputSize = LongStorage([0] * self._max_dims)
        self.outputSize = LongStorage([0] * self._max_dims)

    def setSize(self, input: Any) -> None:
        """Computes ``outputSize`` for an input."""
        factor, wanted = self.scale_factor, (self.odepth, self.oheight, self.owidth)
        sizes = [
            size * factor if factor is not None else fixed or 0
            for size, fixed in zip(input.shape[2:], wanted[5 - input.ndim :], strict=True)
        ]
        if 0 in sizes:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "4 dimensions, without odepth", f"shape {input.shape}"
            )
        self.inputSize = LongStorage(input.shape)
        self.outputSize = LongStorage([*input.shape[:2], *sizes])

    def _check_dims(self, input: Any, *dims: int) -> None:
        if input.ndim not in dims:
            wanted = " or ".join(map(str, dims))
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"{wanted} dimensions", f"shape {input.shape}"
            )

    def _interpolate(self, function: str, input: Any) -> Any:
        self.setSize(input)
        output = self.result("output", input)
        self._kernel(f"{function}_updateOutput", None, input, output, *self.outputSize[2:])
        return output

    def _interpolate_back(self, function: str, input: Any, gradOutput: Any) -> Any:
        self.setSize(input)
        gradInput = self.result("gradInput", input)
        sizes = (*self.inputSize, *self.outputSize[2:])
        getattr(thnn, f"{function}_updateGradInput")(None, gradOutput, gradInput, *sizes)
        return gradInput

    def _sizes_text(self) -> str:
        if self.scale_factor is not None:
            return str(self.scale_factor)
        sizes = (self.odepth, self.oheight, self.owidth)
        return ", ".join(str(size) for size in sizes if size is not None)


@register
class SpatialUpSamplingNearest(_UpSampling):
    """Repeats each element of [batch x] planes x height x width `scale` times along both axes."""

    _function = "SpatialUpSamplingNearest"
    _settings = ("scale_factor",)

    def __init__(self, scale: int) -> None:
        super().__init__(_checked_factor(self.typename(), scale))


@register
class SpatialUpSamplingBilinear(_UpSampling, kernel=True):
    """Enlarges [batch x] planes x height x width by bilinear interpolation; corners stay corners.

    `params` is a factor, or a dict with the output's ``owidth`` and ``oheight``.
    """

    def updateOutput(self, input: Any) -> Any:
        self._check_dims(input, 3, 4)
        if input.ndim == 4:
            return self._interpolate("SpatialUpSamplingBilinear", input)
        output = self._interpolate("SpatialUpSamplingBilinear", input.unsqueeze(0))
        self.tensors.output = output.select(0, 0)
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        function = "SpatialUpSamplingBilinear"
        if input.ndim == 4:
            return self._interpolate_back(function, input, gradOutput)
        batch = input.unsqueeze(0), gradOutput.unsqueeze(0)
        self.tensors.gradInput = self._interpolate_back(function, *batch).select(0, 0)
        return self.tensors.gradInput

    def __repr__(self) -> str:
        return f"{self.typename()}({self._sizes_text()})"


@register
class UpSampling(_UpSampling, kernel=True):
    """Enlarges batch x planes x [depth x] height x width.

    `params` is a factor, or a dict with the output's ``owidth``, ``oheight`` and for volumes
    ``odepth``. With `mode` 'linear', 'bilinear' or 'trilinear' elements are interpolated, corners
    on corners, else repeated; that takes a factor.
    """

    _max_dims = 5

    def __init__(self, params: int | dict[str, int], mode: str = "nearest") -> None:
        super().__init__(params)
        linear = ("linear", "bilinear", "trilinear")
        if mode not in ("nearest", *linear):
            wanted = f"'nearest' or one of {', '.join(linear)}"
            raise THNNArgumentError.expected(self.typename(), 2, "mode", wanted, repr(mode))
        self.mode = "linear" if mode in linear else "nearest"
        if self.mode == "nearest" and self.scale_factor is None:
            raise THNNArgumentError.expected(
                self.typename(), 1, "params", "a factor when the mode is nearest", repr(params)
            )

    def _kind(self, input: Any) -> str:
        self._check_dims(input, 4, 5)
        return "Spatial" if input.ndim == 4 else "Volumetric"

    def _linear(self, input: Any) -> str:
        kind = self._kind(input)
        return f"{kind}UpSampling{'Bilinear' if kind == 'Spatial' else 'Trilinear'}"

    def updateOutput(self, input: Any) -> Any:
        if self.mode == "linear":
            return self._interpolate(self._linear(input), input)
        function = f"{self._kind(input)}UpSamplingNearest_updateOutput"
        self.setSize(input)
        output = self.result("output", input)
        self._kernel(function, None, input, output, self.scale_factor)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if self.mode == "linear":
            return self._interpolate_back(self._linear(input), input, gradOutput)
        function = getattr(thnn, f"{self._kind(input)}UpSamplingNearest_updateGradInput")
        gradInput = self.result("gradInput", input)
        function(None, input, gradOutput, gradInput, self.scale_factor)
        return gradInput

    def __repr__(self) -> str:
        return f"{self.typename()}({self._sizes_text()}, {self.mode})"


@register
class PixelShuffle(Module):
    """Rearranges [batch x] (planes*r*r) x height x width to planes x height*r x width*r.

    Plane c*r*r + i*r + j becomes the rows i and columns j, each r apart, of plane c.
    """

    def __init__(self, upscaleFactor: int) -> None:
        super().__init__()
        self.upscaleFactor = upscaleFactor
        self.upscaleFactorSquared = upscaleFactor * upscaleFactor

    def updateOutput(self, input: Any) -> Any:
        r = self.upscaleFactor
        if input.ndim not in (3, 4) or input.shape[-3] % (r * r):
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"[batch x] a multiple of {r * r} planes x height x "
                "width", f"shape {input.shape}",
            )  # fmt: skip
        *batch, planes, height, width = input.shape
        output = self.room("output", input, (*batch, planes // (r * r), height * r, width * r))
        parts = input.reshape(-1, r, r, height, width).transpose(0, 3, 1, 4, 2)
        output.reshape(parts.shape)[...] = parts
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        r = self.upscaleFactor
        height, width = input.shape[-2:]
        gradInput = self.room("gradInput", input)
        parts = gradOutput.reshape(-1, height, r, width, r).transpose(0, 2, 4, 1, 3)
        gradInput.reshape(parts.shape)[...] = parts
        return gradInput

    def clearState(self) -> Self:
        self.clear("_intermediateShape", "_outShape", "_shuffleIn", "_shuffleOut")
        return super().clearState()

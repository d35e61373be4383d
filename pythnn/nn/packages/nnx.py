"""The classes of nnx: maps for each pixel, resampling, pyramids, trees of classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..._errors import THNNArgumentError
from ..._products import product
from ..._tensor import Tensor
from ..containers.container import Container
from ..containers.decorator import Decorator
from ..normalization.local import SpatialContrastiveNormalization
from ..object.initial import draw
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, describe
from ..padding.border import SpatialZeroPadding

__all__ = [
    "Minus", "MultiSoftMax", "PullTable", "PushTable", "SpatialClassifier",
    "SpatialDownSampling", "SpatialLinear", "SpatialNormalization", "SpatialPadding",
    "SpatialPyramid", "SpatialReSampling", "SpatialReSamplingEx", "SpatialUpSampling",
]  # fmt: skip


def _images(module: Module, value: Any) -> Any:
    """Images as a batch."""
    if getattr(value, "ndim", 0) not in (3, 4):
        wanted = "[batch x] planes x height x width"
        raise THNNArgumentError.expected(module.typename(), 1, "input", wanted, describe(value))
    return value[None] if value.ndim == 3 else value


@register
class SpatialPadding(SpatialZeroPadding, kernel=True):
    """Zeros around images, or with negative numbers less of them, as SpatialZeroPadding."""


@register
class SpatialNormalization(SpatialContrastiveNormalization, kernel=True):
    """SpatialContrastiveNormalization under its older name."""

    def _upgrade(self) -> None:
        super()._upgrade()
        if self.field("normalizer") is None:  # of a version that kept the settings alone
            planes = int(self.field("nInputPlane") or self.field("nfeatures") or 1)
            kernel = self.field("kernel")
            made = SpatialContrastiveNormalization(
                planes,
                None if kernel is None else kernel.numpy(),
                self.field("threshold"),
                self.field("thresval"),
            )
            for name in ("normalizer", "threshold", "thresval", "nInputPlane"):
                self.assign(name, made.field(name))


@register
class SpatialLinear(Module):
    """A linear map of the planes of each pixel: [batch x] fanin planes to fanout planes."""

    def __init__(self, fanin: int, fanout: int) -> None:
        super().__init__()
        self.fanin, self.fanout = fanin, fanout
        for name, shape in (("weight", (fanout, fanin)), ("bias", (fanout,))):
            self.assign(name, Tensor.zeros(*shape, dtype=np.float64))
            self.assign(f"grad{name.capitalize()}", Tensor.zeros(*shape, dtype=np.float64))
        self.reset()

    def reset(self, stdv: Any = None) -> None:
        """Draws all parameters from [-s, s]: s = sqrt(3) stdv, by default 1 / sqrt(fanin)."""
        draw(stdv, int(self.tensors.weight.shape[1]), self.tensors.weight, self.tensors.bias)

    def _rows(self, value: Any) -> Any:
        """The pixels as columns: batch x planes x pixels."""
        images = _images(self, value)
        return images.reshape(*images.shape[:2], -1)

    def updateOutput(self, input: Any) -> Any:
        found = product(self.weight, self._rows(input)) + self.bias[:, None]
        self.output = found.reshape(*input.shape[:-3], -1, *input.shape[-2:])
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = product(self.weight.T, self._rows(gradOutput)).reshape(input.shape)
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        given, slopes = self._rows(input), self._rows(gradOutput)
        self.gradWeight += scale * product(slopes, given.swapaxes(1, 2)).sum(0)
        self.gradBias += scale * slopes.sum((0, 2))


@register
class SpatialClassifier(Decorator):
    """Applies a module for batch x features to the planes of each pixel of images."""

    def __init__(self, classifier: Module) -> None:
        super().__init__(classifier)
        self.classifier = classifier

    def _upgrade(self) -> None:
        super()._upgrade()
        if not self.field("modules") and self.field("classifier") is not None:
            self.modules = [self.classifier]

    def _rows(self, value: Any) -> Any:
        """A row for each pixel."""
        images = _images(self, value)
        xp = array_module(images)
        return xp.ascontiguousarray(xp.moveaxis(images, 1, 3)).reshape(-1, images.shape[1])

    def _shaped(self, rows: Any, like: Any) -> Any:
        images = _images(self, like)
        xp = array_module(images)
        found = rows.reshape(images.shape[0], *images.shape[2:], -1)
        found = xp.ascontiguousarray(xp.moveaxis(found, 3, 1))
        return found if like.ndim == 4 else found[0]

    def updateOutput(self, input: Any) -> Any:
        self.output = self._shaped(self.inside.updateOutput(self._rows(input)), input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        found = self.inside.updateGradInput(self._rows(input), self._rows(gradOutput))
        self.gradInput = self._shaped(found, input)
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self.inside.accGradParameters(self._rows(input), self._rows(gradOutput), scale)


class _Resampling(Module, ABC):
    """Takes planes to another size, by shares of the rows and columns for each new one."""

    rwidth: Any = None
    rheight: Any = None
    owidth: Any = None
    oheight: Any = None

    def _sizes(self, images: Any) -> tuple[int, int]:
        """Rows and columns of the output."""
        found = []
        for size, ratio, whole in (
            (self.oheight, self.rheight, images.shape[2]),
            (self.owidth, self.rwidth, images.shape[3]),
        ):
            count = whole if size is None else int(size)
            found.append(count if ratio is None else max(int(whole * float(ratio) + 0.5), 1))
        return found[0], found[1]

    @abstractmethod
    def _shares(self, xp: Any, new: int, old: int, dtype: Any) -> Any:
        """A matrix, new x old: the share that each old one has in each new one."""

    def _matrices(self, images: Any) -> tuple[Any, Any]:
        xp = array_module(images)
        return tuple(
            self._shares(xp, new, old, images.dtype)
            for new, old in zip(self._sizes(images), images.shape[2:], strict=True)
        )

    def updateOutput(self, input: Any) -> Any:
        images = _images(self, input)
        rows, columns = self._matrices(images)
        found = product(product(rows, images), columns.T)
        self.output = found if input.ndim == 4 else found[0]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        rows, columns = self._matrices(_images(self, input))
        self.gradInput = product(product(rows.T, _images(self, gradOutput)), columns).reshape(
            input.shape
        )
        return self.gradInput


def _interpolating(xp: Any, new: int, old: int, dtype: Any) -> Any:
    """Shares of bilinear interpolation: corners stay corners."""
    places = np.arange(new) * ((old - 1) / (new - 1) if new > 1 else 0)
    first = np.minimum(places.astype(np.int64), old - 1)
    matrix = np.zeros((new, old))
    matrix[np.arange(new), first] += 1 - (places - first)
    matrix[np.arange(new), np.minimum(first + 1, old - 1)] += places - first
    return xp.asarray(matrix, dtype)


def _nearest(xp: Any, new: int, old: int, dtype: Any) -> Any:
    matrix = np.zeros((new, old))
    places = np.minimum((np.arange(new) * (old / new)).astype(np.int64), old - 1)
    matrix[np.arange(new), places] = 1
    return xp.asarray(matrix, dtype)


def _averaging(xp: Any, new: int, old: int, dtype: Any) -> Any:
    """Shares by how much of an old one is in each new one."""
    edges = np.arange(new + 1) * (old / new)
    starts = np.arange(old)
    inside = np.minimum(edges[1:, None], starts + 1) - np.maximum(edges[:-1, None], starts)
    return xp.asarray(np.maximum(inside, 0) * (new / old), dtype)


def _settings(module: Any, given: dict[str, Any]) -> None:
    """Sets the sizes or ratios that were given; one of each pair is needed."""
    for name, value in given.items():
        if value is not None:
            setattr(module, name, value)
    for ratio, size in (("rwidth", "owidth"), ("rheight", "oheight")):
        if given.get(ratio) is None and given.get(size) is None:
            wanted = f"a number for {ratio} or {size}"
            raise THNNArgumentError.expected(module.typename(), 1, ratio, wanted, "neither")


class _ResamplingToSize(_Resampling):
    """Takes images to `owidth` x `oheight`, or `rwidth` and `rheight` times the size."""

    def __init__(
        self,
        rwidth: float | None = None,
        rheight: float | None = None,
        owidth: int | None = None,
        oheight: int | None = None,
    ) -> None:
        super().__init__()
        _settings(self, {"rwidth": rwidth, "rheight": rheight, "owidth": owidth,
                         "oheight": oheight})  # fmt: skip


@register
class SpatialReSampling(_ResamplingToSize):
    """Takes images to `owidth` x `oheight`, or `rwidth` and `rheight` times the size: bilinear.

    Corners stay corners, as in SpatialUpSamplingBilinear.
    """

    def _shares(self, xp: Any, new: int, old: int, dtype: Any) -> Any:
        return _interpolating(xp, new, old, dtype)


@register
class SpatialReSamplingEx(_Resampling):
    """SpatialReSampling by `mode`: "simple" or "nearest", "average" or "bilinear"."""

    _modes: ClassVar = {"simple": _nearest, "nearest": _nearest, "average": _averaging,
                        "bilinear": _interpolating}  # fmt: skip

    def __init__(
        self,
        rwidth: float | None = None,
        rheight: float | None = None,
        owidth: int | None = None,
        oheight: int | None = None,
        mode: str = "simple",
    ) -> None:
        super().__init__()
        _settings(self, {"rwidth": rwidth, "rheight": rheight, "owidth": owidth,
                         "oheight": oheight})  # fmt: skip
        if mode not in self._modes:
            wanted = ", ".join(self._modes)
            raise THNNArgumentError.expected(self.typename(), 5, "mode", wanted, repr(mode))
        self.mode = mode

    def _shares(self, xp: Any, new: int, old: int, dtype: Any) -> Any:
        return self._modes[self.mode](xp, new, old, dtype)


@register
class SpatialUpSampling(_Resampling):
    """Repeats each pixel dW times along the width and dH times along the height."""

    def __init__(self, dW: int, dH: int) -> None:
        super().__init__()
        self.dW, self.dH = dW, dH

    def _sizes(self, images: Any) -> tuple[int, int]:
        return images.shape[2] * int(self.dH), images.shape[3] * int(self.dW)

    def _shares(self, xp: Any, new: int, old: int, dtype: Any) -> Any:
        return _nearest(xp, new, old, dtype)


@register
class SpatialDownSampling(_ResamplingToSize):
    """Makes images smaller: the mean of the pixels inside each new one.

    `rwidth` and `rheight` are ratios of at most 1, `owidth` and `oheight` sizes.
    """

    def _shares(self, xp: Any, new: int, old: int, dtype: Any) -> Any:
        return _averaging(xp, new, old, dtype)


@register
class SpatialPyramid(Container):
    """Applies a module to images of each of several sizes; all outputs are brought to one size.

    Input: [batch x] planes x height x width. For each of `ratios` the image is made that many times
    smaller, zeros of half the window kW x kH are put around it, and its module of `processors` is
    applied, which has a window of kW x kH and steps dW x dH; pixels of the output are repeated.
    Output: a table with an entry for each ratio.
    """

    def __init__(
        self,
        ratios: Sequence[Any],
        processors: Sequence[Any],
        kW: int,
        kH: int,
        dW: int = 1,
        dH: int = 1,
    ) -> None:
        super().__init__()
        if len(ratios) != len(processors):
            raise THNNArgumentError.expected(
                self.typename(), 2, "processors", f"{len(ratios)} modules", str(len(processors))
            )
        self.ratios = list(ratios)
        self.kW, self.kH, self.dW, self.dH = kW, kH, dW, dH
        for processor in processors:
            self.add(processor)

    def _shrink(self, images: Any, ratio: Any) -> tuple[Any, Any]:
        xp, sizes = array_module(images), images.shape[2:]
        return tuple(
            _averaging(xp, max(int(size / float(ratio) + 0.5), 1), size, images.dtype)
            for size in sizes
        )

    def _sides(self) -> list[tuple[int, int]]:
        both = (int(self.kH) - 1, int(self.kW) - 1)
        return [(0, 0), (0, 0), *((one // 2, one - one // 2) for one in both)]

    def _target(self, images: Any) -> tuple[int, int]:
        return -(-images.shape[2] // int(self.dH)), -(-images.shape[3] // int(self.dW))

    def _grow(self, images: Any, found: Any) -> tuple[Any, Any]:
        xp = array_module(images)
        return tuple(
            _nearest(xp, new, old, images.dtype)
            for new, old in zip(self._target(images), found.shape[2:], strict=True)
        )

    def _given(self, images: Any, ratio: Any) -> Any:
        """What the module for a ratio gets."""
        rows, columns = self._shrink(images, ratio)
        return array_module(images).pad(product(product(rows, images), columns.T), self._sides())

    def updateOutput(self, input: Any) -> Any:
        images = _images(self, input)
        outputs = []
        for ratio, module in zip(self.ratios, self.modules, strict=True):
            found = module.updateOutput(self._given(images, ratio))
            rows, columns = self._grow(images, found)
            output = product(product(rows, found), columns.T)
            outputs.append(output if input.ndim == 4 else output[0])
        self.output = outputs
        return self.output

    def _slope(self, images: Any, module: Any, gradOutput: Any) -> Any:
        rows, columns = self._grow(images, module.output)
        return product(product(rows.T, _images(self, gradOutput)), columns)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        images = _images(self, input)
        total = array_module(images).zeros_like(images)
        for ratio, module, slope in zip(self.ratios, self.modules, gradOutput, strict=True):
            given = self._given(images, ratio)
            found = module.updateGradInput(given, self._slope(images, module, slope))
            (top, bottom), (left, right) = self._sides()[2:]
            found = found[:, :, top : found.shape[2] - bottom, left : found.shape[3] - right]
            rows, columns = self._shrink(images, ratio)
            total += product(product(rows.T, found), columns)
        self.gradInput = total.reshape(input.shape)
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        images = _images(self, input)
        for ratio, module, slope in zip(self.ratios, self.modules, gradOutput, strict=True):
            given = self._given(images, ratio)
            module.accGradParameters(given, self._slope(images, module, slope), scale)


@register
class Minus(Module):
    """output = -input."""

    def updateOutput(self, input: Any) -> Any:
        self.output = -input
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = -gradOutput
        return self.gradInput


@register
class MultiSoftMax(Module):
    """SoftMax over the last dimension: [batch x] rows x numbers."""

    def updateOutput(self, input: Any) -> Any:
        xp = array_module(input)
        shares = xp.exp(input - input.max(-1, keepdims=True))
        self.output = shares / shares.sum(-1, keepdims=True)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        weighted = (gradOutput * self.output).sum(-1, keepdims=True)
        self.gradInput = self.output * (gradOutput - weighted)
        return self.gradInput


@register
class PushTable(Module, kernel=True):
    """Takes the entry `index` out of a table, which the PullTable made by ``pull`` puts back."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index
        self._pulls: list[Any] = []
        self.tensors.output = []
        self.tensors.gradInput = []

    def pull(self, index: int) -> PullTable:
        """A PullTable that puts the entry at an index of its table."""
        made = PullTable(self, index)
        self._pulls.append(made)
        return made

    def updateOutput(self, input: Any) -> Any:
        if not isinstance(input, list) or len(input) < int(self.index):
            wanted = f"a table of at least {self.index}"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        place = int(self.index) - 1
        self.assign("_input", input[place])
        self.tensors.output = [*input[:place], *input[place + 1 :]]
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        place = int(self.index) - 1
        gradients = [pull.field("_gradOutput") for pull in self._pulls]
        total = gradients[0].clone()
        for gradient in gradients[1:]:
            array = total.array()
            array += gradient.array()
        self.tensors.gradInput = [*gradOutput[:place], total, *gradOutput[place:]]
        return self.tensors.gradInput


@register
class PullTable(Module, kernel=True):
    """Puts the entry that a PushTable took out at `index` of a table; ``pull`` makes it."""

    def __init__(self, push: Module, index: int) -> None:
        super().__init__()
        self._push = push
        self.index = index
        self.tensors.output = []
        self.tensors.gradInput = []

    def updateOutput(self, input: Any) -> Any:
        entries = input if isinstance(input, list) else [input]
        place = int(self.index) - 1
        self.tensors.output = [*entries[:place], self._push.field("_input"), *entries[place:]]
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        place = int(self.index) - 1
        self.assign("_gradOutput", gradOutput[place])
        rest = [*gradOutput[:place], *gradOutput[place + 1 :]]
        self.tensors.gradInput = rest if isinstance(input, list) else rest[0]
        return self.tensors.gradInput

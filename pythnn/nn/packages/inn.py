"""The classes of inn: pooling of regions, stochastic pooling, fixed numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _random
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..containers.branching import Concat
from ..containers.container import Sequential
from ..normalization.normalization import SpatialCrossMapLRN
from ..object.module import Module
from ..object.values import array_module, describe
from ..pooling.spatial import SpatialAdaptiveMaxPooling
from ..shape.shape import View
from . import register_in

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ConstAffine", "MeanSubtraction", "ROIPooling", "SpatialCrossResponseNormalization",
    "SpatialPyramidPooling", "SpatialSameResponseNormalization", "SpatialStochasticPooling",
]  # fmt: skip


def _planes(module: Module, value: Any) -> Any:
    """Images as a batch."""
    if getattr(value, "ndim", 0) not in (3, 4):
        wanted = "[batch x] planes x height x width"
        raise THNNArgumentError.expected(module.typename(), 1, "input", wanted, describe(value))
    return value[None] if value.ndim == 3 else value


@register_in("inn")
class ROIPooling(Module):
    """The largest value of each part of regions of images, W x H parts a region, as in Fast R-CNN.

    Input: {batch x planes x height x width, regions x 5}: each region is the number of its image,
    and left, top, right and bottom in pixels, all from 1; `spatial_scale` makes them pixels of the
    input. The right column and the bottom row belong to the region, but not with the field ``v2``.
    Output: regions x planes x H x W; parts without pixels are 0.
    """

    v2: Any = None

    def __init__(self, W: int, H: int, spatial_scale: float = 1) -> None:
        super().__init__()
        self.W, self.H = W, H
        self.spatial_scale = spatial_scale
        self.tensors.indices = Tensor(dtype=np.float64)
        self.tensors.gradInput = [Tensor(dtype=np.float64), Tensor(dtype=np.float64)]

    def setSpatialScale(self, scale: float) -> Self:
        """Sets what makes the regions' numbers pixels of the input; returns itself."""
        self.spatial_scale = scale
        return self

    def _given(self, input: Any) -> tuple[Any, Any]:
        if (
            not isinstance(input, list)
            or len(input) != 2
            or input[0].ndim != 4
            or input[1].ndim != 2
            or input[1].shape[1] != 5
        ):
            wanted = "a table of batch x planes x height x width and regions x 5"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        return input[0], input[1]

    def _parts(self, images: Any, regions: Any) -> Any:
        """Region, image, and rows and columns of each part that has pixels."""
        scale, limits = float(self.spatial_scale), images.shape[2:]
        for place, region in enumerate(np.asarray(regions, np.float64)):
            image = int(region[0]) - 1
            if not 0 <= image < len(images):
                wanted = f"numbers of images from 1 to {len(images)}"
                raise THNNArgumentError.expected(
                    self.typename(), 1, "input[2]", wanted, f"{region[0]:g}"
                )
            # Halves are rounded away from 0, as C does.
            left, top, right, bottom = (
                math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1) for x in (region[1:] - 1) * scale
            )
            excluded = 1 if self.v2 else 0
            sizes = max(bottom - top + 1 - excluded, 1), max(right - left + 1 - excluded, 1)
            counts = int(self.H), int(self.W)
            for row in range(counts[0]):
                for column in range(counts[1]):
                    windows = []
                    for start, size, count, at, limit in zip(
                        (top, left), sizes, counts, (row, column), limits, strict=True
                    ):
                        first = math.floor(at * size / count) + start
                        last = math.ceil((at + 1) * size / count) + start
                        windows.append(slice(min(max(first, 0), limit), min(max(last, 0), limit)))
                    yield place, image, row, column, *windows

    def updateOutput(self, input: Any) -> Any:
        images, regions = self._given(input)
        xp = array_module(images)
        shape = len(regions), images.shape[1], int(self.H), int(self.W)
        output = xp.zeros(shape, images.dtype)
        indices = xp.full(shape, -1, np.int64)
        for place, image, row, column, rows, columns in self._parts(images, regions):
            window = images[image, :, rows, columns]
            if not window.size:
                continue
            flat = window.reshape(len(window), -1)
            best = flat.argmax(1)
            output[place, :, row, column] = flat.max(1)
            wide = window.shape[2]
            indices[place, :, row, column] = (
                (rows.start + best // wide) * images.shape[3] + columns.start + best % wide
            )
        self.assign("indices", indices)
        self.output = output
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        images, regions = self._given(input)
        xp = array_module(images)
        gradient = xp.zeros_like(images)
        flat = gradient.reshape(*images.shape[:2], -1)
        indices = self.indices.astype(np.int64)
        image = xp.asarray(np.asarray(regions)[:, 0].astype(np.int64) - 1)
        place, plane, row, column = xp.nonzero(indices >= 0)
        chosen = indices[place, plane, row, column]
        xp.add.at(flat, (image[place], plane, chosen), gradOutput[place, plane, row, column])
        self.gradInput = [gradient, xp.zeros_like(regions)]
        return self.gradInput


@register_in("inn")
class ConstAffine(Module):
    """output = a input + b, with numbers for each plane that are not learnt."""

    def __init__(self, a: ArrayLike, b: ArrayLike) -> None:
        super().__init__()
        for name, value in (("a", a), ("b", b)):
            self.assign(name, Tensor(np.array(value, np.float64).reshape(1, -1, 1, 1)))

    def _of_planes(self, name: str, value: Any) -> Any:
        return getattr(self, name).reshape(-1, *[1] * (2 if value.ndim > 2 else 0))

    def updateOutput(self, input: Any) -> Any:
        self.output = input * self._of_planes("a", input) + self._of_planes("b", input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput * self._of_planes("a", gradOutput)
        return self.gradInput


@register_in("inn")
class MeanSubtraction(Module):
    """output = input - mean, of a tensor as large as a sample."""

    def __init__(self, mean: ArrayLike) -> None:
        super().__init__()
        self.mean = np.array(mean, np.float64)

    def updateOutput(self, input: Any) -> Any:
        self.output = input - self.mean.astype(input.dtype)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput.copy()
        return self.gradInput


@register_in("inn")
class SpatialStochasticPooling(Module):
    """In training, a value of each window, drawn by its size; else their mean, so weighed.

    Values are at least 0, as after ReLU. Windows of kW x kH with steps dW and dH may end beside the
    image, as in ceil mode.
    """

    def __init__(self, kW: int, kH: int, dW: int | None = None, dH: int | None = None) -> None:
        super().__init__()
        self.kW, self.kH = kW, kH
        self.dW, self.dH = kW if dW is None else dW, kH if dH is None else dH
        self.tensors.indices = Tensor(dtype=np.float64)

    def _windows(self, images: Any) -> Any:
        height, width = images.shape[2:]
        sizes = (height, int(self.kH), int(self.dH)), (width, int(self.kW), int(self.dW))
        counts = [max(math.ceil((whole - size) / step), 0) + 1 for whole, size, step in sizes]
        for row in range(counts[0]):
            for column in range(counts[1]):
                rows = slice(row * sizes[0][2], min(row * sizes[0][2] + sizes[0][1], height))
                columns = slice(
                    column * sizes[1][2], min(column * sizes[1][2] + sizes[1][1], width)
                )
                yield row, column, rows, columns

    def _shape(self, images: Any) -> tuple[int, int]:
        rows = [place[:2] for place in self._windows(images)]
        return rows[-1][0] + 1, rows[-1][1] + 1

    def updateOutput(self, input: Any) -> Any:
        images = _planes(self, input)
        xp = array_module(images)
        shape = (*images.shape[:2], *self._shape(images))
        output, chosen = xp.zeros(shape, images.dtype), xp.zeros(shape, np.int64)
        draws = self.train is not False
        drawn = xp.asarray(_random.uniform(shape, 0, 1)) if draws else output
        for row, column, rows, columns in self._windows(images):
            window = images[:, :, rows, columns].reshape(*images.shape[:2], -1)
            total = window.sum(2)
            if draws:
                sums = window.cumsum(2)
                limit = (drawn[:, :, row, column] * total)[..., None]
                place = (sums <= limit).sum(2).clip(0, window.shape[2] - 1)
                chosen[:, :, row, column] = place
                output[:, :, row, column] = xp.take_along_axis(window, place[..., None], 2)[..., 0]
            else:
                output[:, :, row, column] = (window * window).sum(2) / xp.where(total, total, 1)
        self.assign("indices", chosen)
        self.output = output.reshape(*input.shape[:-2], *shape[2:])
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        images, given = _planes(self, input), _planes(self, gradOutput)
        xp = array_module(images)
        gradient, chosen = xp.zeros_like(images), self.indices.astype(np.int64)
        for row, column, rows, columns in self._windows(images):
            part = images[:, :, rows, columns]
            window = part.reshape(*images.shape[:2], -1)
            slope = given[:, :, row, column][..., None]
            if self.train is not False:
                places = xp.arange(window.shape[2])
                found = slope * (places == chosen[:, :, row, column][..., None])
            else:
                total = window.sum(2, keepdims=True)
                total = xp.where(total, total, 1)
                mean = (window * window).sum(2, keepdims=True) / total
                found = slope * (2 * window - mean) / total
            gradient[:, :, rows, columns] += found.reshape(part.shape)
        self.gradInput = gradient.reshape(input.shape)
        return self.gradInput


@register_in("inn")
class SpatialSameResponseNormalization(Module):
    """output = input / (k + alpha mean(input^2))^beta, the mean of size x size pixels around.

    The window is that of the same plane; pixels beside the image count as 0.
    """

    def __init__(
        self, size: int = 3, alpha: float = 0.00005, beta: float = 0.75, k: float = 1
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def _means(self, images: Any) -> Any:
        """The mean of the window around each pixel."""
        xp, size = array_module(images), int(self.size)
        before = size // 2
        sides = [(0, 0), (0, 0), (before, size - 1 - before), (before, size - 1 - before)]
        padded = xp.pad(images, sides)
        height, width = images.shape[2:]
        total = xp.zeros_like(images)
        for row in range(size):
            for column in range(size):
                total += padded[:, :, row : row + height, column : column + width]
        return total / size**2

    def _bases(self, images: Any) -> Any:
        return self.k + self.alpha * self._means(images * images)

    def updateOutput(self, input: Any) -> Any:
        images = _planes(self, input)
        output = images * self._bases(images) ** -self.beta
        self.output = output.astype(input.dtype).reshape(input.shape)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        images, given = _planes(self, input), _planes(self, gradOutput)
        bases = self._bases(images)
        inner = given * images * bases ** (-self.beta - 1)
        # A pixel is in the windows of those that its own window, turned by 180 degrees, has.
        turned = self._means(inner[:, :, ::-1, ::-1])[:, :, ::-1, ::-1]
        gradient = given * bases**-self.beta - 2 * self.alpha * self.beta * images * turned
        self.gradInput = gradient.astype(input.dtype).reshape(input.shape)
        return self.gradInput


@register_in("inn")
class SpatialCrossResponseNormalization(SpatialCrossMapLRN, kernel=True):
    """SpatialCrossMapLRN, whose window is of planes."""


@register_in("inn")
class SpatialPyramidPooling(Concat, kernel=True):
    """The largest values of grids of several sizes, joined: width x height parts for each pair."""

    def __init__(self, *sizes: Sequence[int]) -> None:
        super().__init__(2)
        for width, height in sizes:
            view = View(-1)
            view.setNumInputDims(3)
            self.add(Sequential(SpatialAdaptiveMaxPooling(width, height), view))

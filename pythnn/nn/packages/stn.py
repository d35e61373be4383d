"""The parts of spatial transformers, of stnbhwd: images are batch x height x width x planes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._products import product
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, describe

__all__ = ["AffineGridGeneratorBHWD", "AffineTransformMatrixGenerator", "BilinearSamplerBHWD"]


def _wanted(module: Module, value: Any, wanted: str) -> THNNArgumentError:
    return THNNArgumentError.expected(module.typename(), 1, "input", wanted, describe(value))


@register
class AffineGridGeneratorBHWD(Module):
    """Where pixels of a transformed image are in the image: matrices, [batch x] 2 x 3, to grids.

    Output: [batch x] height x width x 2, each place first along the height, from -1 to 1. It is the
    matrix times (place along the height, along the width, 1) of the pixel.
    """

    baseGrid: Any

    def __init__(self, height: int, width: int) -> None:
        super().__init__()
        if min(height, width) < 2:
            raise THNNArgumentError.expected(
                self.typename(), 1, "height", "at least 2 rows and columns", f"{height} x {width}"
            )
        self.height, self.width = height, width
        grid = np.ones((height, width, 3))
        grid[:, :, 0] = np.linspace(-1, 1, height)[:, None]
        grid[:, :, 1] = np.linspace(-1, 1, width)
        self.tensors.baseGrid = Tensor(grid)
        self.tensors.batchGrid = Tensor(grid[None])

    def _pixels(self, xp: Any, dtype: Any) -> Any:
        return xp.asarray(self.baseGrid, dtype).reshape(-1, 3)

    def updateOutput(self, input: Any) -> Any:
        if getattr(input, "ndim", 0) not in (2, 3) or input.shape[-2:] != (2, 3):
            raise _wanted(self, input, "[batch x] 2 x 3")
        pixels = self._pixels(array_module(input), input.dtype)
        found = product(pixels, input.swapaxes(-1, -2))
        self.output = found.reshape(*input.shape[:-2], int(self.height), int(self.width), 2)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        pixels = self._pixels(array_module(input), input.dtype)
        flat = gradOutput.reshape(*input.shape[:-2], -1, 2)
        self.gradInput = product(flat.swapaxes(-1, -2), pixels)
        return self.gradInput


@register
class BilinearSamplerBHWD(Module):
    """Takes pixels out of images by interpolation: {images, places} to new images.

    Images: [batch x] height x width x planes; places: [batch x] rows x columns x 2, from -1 to 1,
    first along the height. Pixels beside the image are 0. Both inputs get a gradient.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tensors.gradInput = [Tensor(dtype=np.float64), Tensor(dtype=np.float64)]

    def _batch(self, input: Any) -> tuple[Any, Any]:
        wanted = "a table of [batch x] height x width x planes and [batch x] rows x columns x 2"
        if not isinstance(input, list) or len(input) != 2:
            raise _wanted(self, input, wanted)
        images, places = input
        if images.ndim == 3 and places.ndim == 3:
            images, places = images[None], places[None]
        if (
            images.ndim != 4
            or places.ndim != 4
            or places.shape[3] != 2
            or len(images) != len(places)
        ):
            raise _wanted(self, input, wanted)
        return images, places

    def _samples(self, xp: Any, places: Any) -> Any:
        """The image that each place is in."""
        return xp.arange(len(places))[:, None, None]

    def _corners(self, images: Any, places: Any) -> Any:
        """For each of four neighbours: its share, its slopes along both axes, and its pixels."""
        xp = array_module(images)
        height, width = images.shape[1:3]
        sizes = xp.asarray([height - 1, width - 1], places.dtype)
        at = (places + 1) / 2 * sizes
        first = xp.floor(at)
        above = at - first
        sample = self._samples(xp, places)
        for row in (0, 1):
            for column in (0, 1):
                y = first[..., 0].astype(np.int64) + row
                x = first[..., 1].astype(np.int64) + column
                inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
                y, x = y.clip(0, height - 1), x.clip(0, width - 1)
                by_row = above[..., 0] if row else 1 - above[..., 0]
                by_column = above[..., 1] if column else 1 - above[..., 1]
                share = by_row * by_column * inside
                slopes = [
                    (2 * row - 1) * by_column * inside * sizes[0] / 2,
                    (2 * column - 1) * by_row * inside * sizes[1] / 2,
                ]
                yield share, slopes, (sample, y, x)

    def _sampled(self, images: Any, places: Any) -> Any:
        output: Any = 0
        for share, _, pixels in self._corners(images, places):
            output = output + share[..., None] * images[pixels]
        return output

    def updateOutput(self, input: Any) -> Any:
        output = self._sampled(*self._batch(input))
        self.output = output if input[0].ndim == 4 else output[0]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        images, places = self._batch(input)
        given = gradOutput.reshape(*places.shape[:3], images.shape[3])
        xp = array_module(images)
        of_images, of_places = xp.zeros_like(images), xp.zeros_like(places)
        for share, slopes, pixels in self._corners(images, places):
            xp.add.at(of_images, pixels, share[..., None] * given)
            value = (images[pixels] * given).sum(3)
            for axis, slope in enumerate(slopes):
                of_places[..., axis] += slope * value
        self.gradInput = [of_images.reshape(input[0].shape), of_places.reshape(input[1].shape)]
        return self.gradInput


@register
class AffineTransformMatrixGenerator(Module):
    """Makes matrices, batch x 2 x 3, of numbers: those used of angle, scale and two of translation.

    The matrix is that of the rotation times those of the scale and the translation. With none of
    the three the numbers are the 6 entries of the matrix.
    """

    fullMode: Any = False

    def __init__(
        self,
        useRotation: bool = False,
        useScale: bool = False,
        useTranslation: bool = False,
    ) -> None:
        super().__init__()
        self.useRotation, self.useScale = bool(useRotation), bool(useScale)
        self.useTranslation = bool(useTranslation)
        if not (useRotation or useScale or useTranslation):
            self.fullMode = True

    def _numbers(self, input: Any) -> tuple[Any, ...]:
        """The angle, the scale and the translation of each sample; None where not used."""
        count = bool(self.useRotation) + bool(self.useScale) + 2 * bool(self.useTranslation)
        if getattr(input, "ndim", 0) not in (1, 2) or input.shape[-1] != count:
            raise _wanted(self, input, f"[batch x] {count} numbers")
        rows, place = input.reshape(-1, count), 0
        found = []
        for used, size in ((self.useRotation, 1), (self.useScale, 1), (self.useTranslation, 2)):
            found.append(rows[:, place : place + size] if used else None)
            place += size if used else 0
        return tuple(found)

    def _is_full(self) -> bool:
        return bool(self.fullMode) or not (self.useRotation or self.useScale or self.useTranslation)

    def _parts(self, input: Any) -> tuple[Any, Any, Any, Any]:
        """Cosine, sine, scale and translation; 1, 0, 1 and zeros where not used."""
        angle, scale, shift = self._numbers(input)
        xp, rows = array_module(input), input.reshape(-1, input.shape[-1]).shape[0]
        angle = xp.zeros((rows, 1), input.dtype) if angle is None else angle
        scale = xp.ones((rows, 1), input.dtype) if scale is None else scale
        shift = xp.zeros((rows, 2), input.dtype) if shift is None else shift
        return xp.cos(angle[:, 0]), xp.sin(angle[:, 0]), scale[:, 0], shift

    def updateOutput(self, input: Any) -> Any:
        if self._is_full():
            if getattr(input, "ndim", 0) not in (1, 2) or input.shape[-1] != 6:
                raise _wanted(self, input, "[batch x] 6 numbers")
            self.output = input.reshape(*input.shape[:-1], 2, 3).copy()
            return self.output
        cosine, sine, scale, shift = self._parts(input)
        xp = array_module(input)
        output = xp.empty((len(scale), 2, 3), input.dtype)
        output[:, 0, 0] = output[:, 1, 1] = scale * cosine
        output[:, 0, 1], output[:, 1, 0] = -scale * sine, scale * sine
        output[:, :, 2] = (output[:, :, :2] * shift[:, None]).sum(2)
        self.output = output if input.ndim == 2 else output[0]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if self._is_full():
            self.gradInput = gradOutput.reshape(input.shape).copy()
            return self.gradInput
        cosine, sine, scale, shift = self._parts(input)
        xp = array_module(input)
        given = gradOutput.reshape(-1, 2, 3)
        turned = xp.empty((len(scale), 2, 2), input.dtype)  # the rotation alone
        turned[:, 0, 0] = turned[:, 1, 1] = cosine
        turned[:, 0, 1], turned[:, 1, 0] = -sine, sine
        # Through the last column, translated, and through the others.
        of_matrix = given[:, :, :2] + given[:, :, 2:] * shift[:, None]
        slope = xp.empty_like(turned)
        slope[:, 0, 0] = slope[:, 1, 1] = -sine
        slope[:, 0, 1], slope[:, 1, 0] = -cosine, cosine
        found = []
        if self.useRotation:
            found.append((scale * (of_matrix * slope).sum((1, 2)))[:, None])
        if self.useScale:
            found.append((of_matrix * turned).sum((1, 2))[:, None])
        if self.useTranslation:
            found.append(scale[:, None] * (given[:, :, 2:] * turned).sum(1))
        self.gradInput = xp.concatenate(found, 1).reshape(input.shape)
        return self.gradInput

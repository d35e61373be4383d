"""The classes of densecap whose boxes are (centre x, centre y, width, height) in pixels, from 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..criterion.criterion import Criterion
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, describe
from ..shape.plumbing import Identity
from .stn import AffineGridGeneratorBHWD, BilinearSamplerBHWD

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ApplyBoxTransform", "BatchBilinearSamplerBHWD", "BilinearRoiPooling", "BoxToAffine",
    "InvertBoxTransform", "LogisticCriterion", "MakeAnchors", "OurCrossEntropyCriterion",
    "PosSlicer", "RegularizeLayer", "ReshapeBoxFeatures",
]  # fmt: skip

_NUMBERS = 4
"""Of a box, and of what transforms one."""


def _refuse(module: Any, value: Any, wanted: str) -> THNNArgumentError:
    return THNNArgumentError.expected(module.typename(), 1, "input", wanted, describe(value))


class _OfTwo(Module):
    """A layer of a table of two."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors.gradInput = [Tensor(dtype=np.float64), Tensor(dtype=np.float64)]


# ---- Boxes


class _OfBoxes(_OfTwo):
    """A layer of two tensors of boxes, or of what transforms them."""

    def _pair(self, input: Any) -> tuple[Any, Any]:
        if (
            not isinstance(input, list)
            or len(input) != 2
            or input[0].shape != input[1].shape
            or input[0].shape[-1:] != (_NUMBERS,)
        ):
            raise _refuse(self, input, f"a table of two tensors, ... x {_NUMBERS}, of one shape")
        return input[0], input[1]


@register
class ApplyBoxTransform(_OfBoxes):
    """Moves and scales boxes: {boxes, transforms}, ... x 4, to boxes.

    The transform (tx, ty, tw, th) adds tx widths and ty heights to the centre, and multiplies width
    and height by exp(tw) and exp(th).
    """

    def _parts(self, input: Any) -> Any:
        boxes, transforms = self._pair(input)
        return boxes[..., :2], boxes[..., 2:], transforms[..., :2], transforms[..., 2:]

    def updateOutput(self, input: Any) -> Any:
        centres, sizes, moves, scales = self._parts(input)
        xp = array_module(sizes)
        moved, scaled = centres + moves * sizes, sizes * xp.exp(scales)
        self.output = xp.concatenate([moved, scaled], -1)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        _, sizes, moves, scales = self._parts(input)
        xp = array_module(sizes)
        of_moved, of_scaled = gradOutput[..., :2], gradOutput[..., 2:] * xp.exp(scales)
        self.gradInput = [
            xp.concatenate([of_moved, of_moved * moves + of_scaled], -1),
            xp.concatenate([of_moved * sizes, of_scaled * sizes], -1),
        ]
        return self.gradInput


@register
class InvertBoxTransform(_OfBoxes):
    """The transforms that ApplyBoxTransform makes boxes others with: {boxes, others}, ... x 4."""

    def _parts(self, input: Any) -> Any:
        boxes, others = self._pair(input)
        return boxes[..., :2], boxes[..., 2:], others[..., :2], others[..., 2:]

    def updateOutput(self, input: Any) -> Any:
        centres, sizes, moved, scaled = self._parts(input)
        xp = array_module(sizes)
        self.output = xp.concatenate([(moved - centres) / sizes, xp.log(scaled / sizes)], -1)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        centres, sizes, moved, scaled = self._parts(input)
        xp = array_module(sizes)
        of_moves, of_scales = gradOutput[..., :2] / sizes, gradOutput[..., 2:]
        of_sizes = -of_moves * (moved - centres) / sizes - of_scales / sizes
        self.gradInput = [
            xp.concatenate([-of_moves, of_sizes], -1),
            xp.concatenate([of_moves, of_scales / scaled], -1),
        ]
        return self.gradInput


@register
class MakeAnchors(Module):
    """Boxes around each pixel of features, batch x planes x height x width.

    `anchors`, 2 x k, has widths and heights. The box around the first pixel has its centre at `x0`,
    `y0`; the others are `sx` and `sy` apart. Output: batch x 4 k x height x width, the four numbers
    of a box one after the other. There is no gradient.
    """

    def __init__(self, x0: float, y0: float, sx: float, sy: float, anchors: ArrayLike) -> None:
        super().__init__()
        self.x0, self.y0, self.sx, self.sy = x0, y0, sx, sy
        sizes = np.array(anchors, np.float64)
        if sizes.ndim != 2 or sizes.shape[0] != 2 or not sizes.size:
            raise THNNArgumentError.expected(
                self.typename(), 5, "anchors", "2 x k numbers", f"shape {sizes.shape}"
            )
        self.tensors.anchors = Tensor(sizes)

    def updateOutput(self, input: Any) -> Any:
        if getattr(input, "ndim", 0) != 4:
            raise _refuse(self, input, "batch x planes x height x width")
        xp, (batch, _, height, width) = array_module(input), input.shape
        anchors = xp.asarray(self.anchors, input.dtype)
        boxes = xp.empty((batch, anchors.shape[1], _NUMBERS, height, width), input.dtype)
        boxes[:, :, 0] = xp.arange(width) * self.sx + self.x0
        boxes[:, :, 1] = (xp.arange(height) * self.sy + self.y0)[:, None]
        boxes[:, :, 2:] = anchors.T[:, :, None, None]
        self.output = boxes.reshape(batch, -1, height, width)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = array_module(input).zeros_like(input)
        return self.gradInput


@register
class ReshapeBoxFeatures(Module):
    """What a network says of `k` boxes at each pixel as a row for each box.

    Input: batch x k planes x height x width; output: batch x k height width x planes.
    """

    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k

    def updateOutput(self, input: Any) -> Any:
        k = int(self.k)
        if getattr(input, "ndim", 0) != 4 or input.shape[1] % k:
            raise _refuse(self, input, f"batch x {k} planes x height x width")
        batch, planes, height, width = input.shape
        parts = input.reshape(batch, k, planes // k, height, width).transpose(0, 1, 3, 4, 2)
        rows = array_module(input).ascontiguousarray(parts)
        self.output = rows.reshape(batch, -1, planes // k)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        batch, planes, height, width = input.shape
        k = int(self.k)
        parts = gradOutput.reshape(batch, k, height, width, planes // k).transpose(0, 1, 4, 2, 3)
        self.gradInput = array_module(input).ascontiguousarray(parts).reshape(input.shape)
        return self.gradInput


# ---- Parts of images


@register
class BoxToAffine(Module):
    """Boxes, boxes x 4, as matrices of AffineGridGeneratorBHWD, boxes x 2 x 3.

    ``setSize`` says how large the image is that the boxes are in.
    """

    H: Any = None
    W: Any = None

    def setSize(self, H: int, W: int) -> Self:
        """Sets height and width of the image; returns itself."""
        self.H, self.W = H, W
        return self

    def _sides(self, input: Any) -> tuple[int, int]:
        if getattr(input, "ndim", 0) != 2 or input.shape[1] != _NUMBERS:
            raise _refuse(self, input, f"boxes x {_NUMBERS}")
        if self.H is None or self.W is None or min(self.H, self.W) < 2:
            wanted = "an image of at least 2 x 2 pixels, said by setSize"
            raise _refuse(self, f"{self.H} x {self.W}", wanted)
        return int(self.H), int(self.W)

    def updateOutput(self, input: Any) -> Any:
        height, width = self._sides(input)
        output = array_module(input).zeros((len(input), 2, 3), input.dtype)
        output[:, 0, 0], output[:, 1, 1] = input[:, 3] / height, input[:, 2] / width
        output[:, 0, 2] = (2 * input[:, 1] - height - 1) / (height - 1)
        output[:, 1, 2] = (2 * input[:, 0] - width - 1) / (width - 1)
        self.output = output
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        height, width = self._sides(input)
        self.gradInput = array_module(input).stack(
            [
                gradOutput[:, 1, 2] * 2 / (width - 1),
                gradOutput[:, 0, 2] * 2 / (height - 1),
                gradOutput[:, 1, 1] / width,
                gradOutput[:, 0, 0] / height,
            ],
            1,
        )
        return self.gradInput


@register
class BatchBilinearSamplerBHWD(BilinearSamplerBHWD):
    """BilinearSamplerBHWD of one image, [1 x] height x width x planes, for a batch of places."""

    def _batch(self, input: Any) -> tuple[Any, Any]:
        wanted = "a table of [1 x] height x width x planes and batch x rows x columns x 2"
        if not isinstance(input, list) or len(input) != 2:
            raise _refuse(self, input, wanted)
        image, places = input
        image = image[None] if image.ndim == 3 else image
        if image.ndim != 4 or len(image) != 1 or places.ndim != 4 or places.shape[3] != 2:
            raise _refuse(self, input, wanted)
        return image, places

    def _samples(self, xp: Any, places: Any) -> Any:
        return xp.zeros((len(places), 1, 1), np.int64)

    def updateOutput(self, input: Any) -> Any:
        self.output = self._sampled(*self._batch(input))
        return self.output


@register
class BilinearRoiPooling(_OfTwo):
    """Cuts boxes out of features by interpolation, each `height` x `width`.

    Input: {planes x height x width, boxes x 4}; output: boxes x planes x height x width.
    ``setImageSize`` says how large the image is whose pixels the boxes count, as BoxToAffine needs
    it. Both inputs get a gradient.
    """

    image_height: Any = None
    image_width: Any = None

    def __init__(self, height: int, width: int) -> None:
        super().__init__()
        self.height, self.width = height, width
        AffineGridGeneratorBHWD(height, width)  # which refuses what makes no grid

    def setImageSize(self, image_height: int, image_width: int) -> Self:
        """Sets height and width of the image; returns itself."""
        self.image_height, self.image_width = image_height, image_width
        return self

    def _layers(self) -> tuple[BoxToAffine, AffineGridGeneratorBHWD, BatchBilinearSamplerBHWD]:
        matrices = BoxToAffine()
        matrices.H, matrices.W = self.image_height, self.image_width
        grid = AffineGridGeneratorBHWD(int(self.height), int(self.width))
        return matrices, grid, BatchBilinearSamplerBHWD()

    def _given(self, input: Any) -> tuple[Any, Any]:
        """The planes of each pixel, and the boxes."""
        if not isinstance(input, list) or len(input) != 2 or input[0].ndim != 3:
            wanted = f"a table of planes x height x width and boxes x {_NUMBERS}"
            raise _refuse(self, input, wanted)
        xp = array_module(input[0])
        return xp.ascontiguousarray(xp.moveaxis(input[0], 0, 2)), input[1]

    def updateOutput(self, input: Any) -> Any:
        pixels, boxes = self._given(input)
        matrices, grid, sampler = self._layers()
        found = sampler.updateOutput([pixels, grid.updateOutput(matrices.updateOutput(boxes))])
        xp = array_module(found)
        self.output = xp.ascontiguousarray(xp.moveaxis(found, 3, 1))
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        pixels, boxes = self._given(input)
        xp = array_module(pixels)
        matrices, grid, sampler = self._layers()
        affine = matrices.updateOutput(boxes)
        places = grid.updateOutput(affine)
        given = xp.ascontiguousarray(xp.moveaxis(gradOutput, 1, 3))
        of_pixels, of_places = sampler.updateGradInput([pixels, places], given)
        of_boxes = matrices.updateGradInput(boxes, grid.updateGradInput(affine, of_places))
        self.gradInput = [xp.ascontiguousarray(xp.moveaxis(of_pixels, 2, 0)), of_boxes]
        return self.gradInput


# ---- Training


@register
class RegularizeLayer(Identity, kernel=True):
    """output = input; backward adds the gradient of w / 2 times the sum of squares."""

    def __init__(self, w: float) -> None:
        super().__init__()
        self.w = w

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradient = gradOutput.array() + self.w * input.array()
        self.assign("gradInput", gradient.astype(input.dtype))
        return self.tensors.gradInput


@register
class PosSlicer(_OfTwo):
    """The first rows of features, as many as there are rows of truths: {features, truths}.

    Without truths, an empty tensor, all rows.
    """

    def _count(self, input: Any) -> int:
        if not isinstance(input, list) or len(input) != 2:
            raise _refuse(self, input, "a table of features and truths")
        features, truths = input
        if truths.size and len(truths) > len(features):
            raise _refuse(self, input, "no more truths than features")
        return len(truths) if truths.size else len(features)

    def updateOutput(self, input: Any) -> Any:
        self.output = input[0][: self._count(input)].copy()
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        xp, gradient = array_module(gradOutput), array_module(gradOutput).zeros_like(input[0])
        gradient[: self._count(input)] = gradOutput
        self.gradInput = [gradient, xp.zeros_like(input[1])]
        return self.gradInput


@register
class LogisticCriterion(Criterion):
    """The mean of log(1 + exp(-x)) for the target 1 and of log(1 + exp(x)) for 0."""

    def _targets(self, input: Any, target: Any) -> Any:
        wanted = array_module(input).asarray(target, input.dtype)
        if wanted.size != input.size or not input.size:
            raise _refuse(self, input, f"a score for each of {wanted.size} targets")
        return wanted.reshape(input.shape)

    def updateOutput(self, input: Any, target: Any) -> Any:
        signs = 1 - 2 * self._targets(input, target)
        self.output = float(array_module(input).logaddexp(0, signs * input).mean())
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        share = (1 + array_module(input).tanh(input / 2)) / 2  # which does not overflow
        self.gradInput = (share - self._targets(input, target)) / input.size
        return self.gradInput


@register
class OurCrossEntropyCriterion(Criterion):
    """CrossEntropyCriterion of samples x classes, also of one sample or one class."""

    def _rows(self, input: Any, target: Any) -> tuple[Any, Any]:
        """Logarithms of probabilities, and the class of each row from 0."""
        classes = np.asarray(target).reshape(-1).astype(np.int64) - 1
        if getattr(input, "ndim", 0) != 2 or len(input) != classes.size or not input.size:
            raise _refuse(self, input, f"{classes.size} x classes")
        if classes.min() < 0 or classes.max() >= input.shape[1]:
            wanted = f"classes from 1 to {input.shape[1]}"
            raise THNNArgumentError.expected(
                self.typename(), 2, "target", wanted, f"{classes.min() + 1} to {classes.max() + 1}"
            )
        xp = array_module(input)
        less = input - input.max(1, keepdims=True)
        return less - xp.log(xp.exp(less).sum(1, keepdims=True)), xp.asarray(classes)

    def updateOutput(self, input: Any, target: Any) -> Any:
        rows, classes = self._rows(input, target)
        self.output = -float(rows[array_module(rows).arange(len(rows)), classes].mean())
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        rows, classes = self._rows(input, target)
        xp = array_module(rows)
        gradient = xp.exp(rows)
        gradient[xp.arange(len(rows)), classes] -= 1
        self.gradInput = gradient / len(rows)
        return self.gradInput

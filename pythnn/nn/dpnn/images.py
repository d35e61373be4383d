"""Layers of dpnn that change images at random in training: crops, regions and colours."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _random
from ..._errors import THNNArgumentError
from ..._products import product
from ..._tensor import Tensor
from ..criterion.criterion import Criterion
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, describe

__all__ = [
    "PCAColorTransform", "SimpleColorTransform", "SpatialBinaryLogisticRegression",
    "SpatialRegionDropout", "SpatialUniformCrop",
]  # fmt: skip


class _OfImages(Module):
    """A layer of planes x height x width, or a batch of them."""

    def _images(self, value: Any) -> Any:
        """A batch of images."""
        if getattr(value, "ndim", 0) not in (3, 4):
            wanted = "[batch x] planes x height x width"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(value))
        return value[None] if value.ndim == 3 else value


@register
class SpatialUniformCrop(_OfImages):
    """Cuts `oheight` x `owidth` out of images: at a random place each, in use from the middle."""

    def __init__(self, oheight: int, owidth: int | None = None) -> None:
        super().__init__()
        self.oheight = oheight
        self.owidth = oheight if owidth is None else owidth

    def _places(self, images: Any) -> Any:
        """Row and column, from 0, where each image is cut."""
        free = [images.shape[2] - int(self.oheight), images.shape[3] - int(self.owidth)]
        if min(free) < 0:
            wanted = f"images of at least {self.oheight} x {self.owidth}"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", wanted, f"shape {images.shape}"
            )
        if self.train is False:
            # Lua counts from 1 and takes half of what is free, rounded up, as the first row.
            middle = [max(math.ceil(one / 2), 1) - 1 for one in free]
            return np.tile(middle, (len(images), 1))
        least = 1e-2  # as in Lua, whose numbers count from 1 and are rounded up
        drawn = _random.uniform((len(images), 2), 0, 1) * (np.array(free) - least) + least
        return np.maximum(np.ceil(drawn).astype(np.int64), 1) - 1

    def _windows(self, images: Any) -> Any:
        height, width = int(self.oheight), int(self.owidth)
        for image, (row, column) in zip(images, self.__dict__["coord"], strict=True):
            yield image[:, row : row + height, column : column + width]

    def updateOutput(self, input: Any) -> Any:
        images = self._images(input)
        self.__dict__["coord"] = self._places(images).tolist()
        output = array_module(input).stack(list(self._windows(images)))
        self.output = output if input.ndim == 4 else output[0]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradient = array_module(input).zeros_like(self._images(input))
        for window, given in zip(self._windows(gradient), self._images(gradOutput), strict=True):
            window[...] = given
        self.gradInput = gradient.reshape(input.shape)
        return self.gradInput


@register
class SpatialRegionDropout(_OfImages):
    """In training, sets the share `p` of rows or columns at a random side of all images to 0."""

    def __init__(self, p: float = 0.2) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise THNNArgumentError.expected(self.typename(), 1, "p", "0 <= p < 1", str(p))
        self.p = p
        self.train = True
        self.tensors.noise = Tensor(dtype=np.float64)

    def updateOutput(self, input: Any) -> Any:
        images = self._images(input)
        noise = array_module(input).ones_like(images)
        if self.train is not False:
            side = _random.integer(4)
            axis = 2 + (side > 2)
            count = math.ceil(self.p * images.shape[axis])
            start = 0 if side % 2 else images.shape[axis] - count
            noise.swapaxes(axis, 0)[start : start + count] = 0
        self.assign("noise", noise.reshape(input.shape))
        self.output = input * self.noise
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput * self.noise
        return self.gradInput


class _ColorTransform(_OfImages, ABC):
    """In training, adds a random number to each plane of each image."""

    def __init__(self, inputChannels: int) -> None:
        super().__init__()
        self.inputChannels = inputChannels
        self.train = True

    @abstractmethod
    def _noise(self, images: int) -> Any:
        """What is added to each plane of each image."""

    def updateOutput(self, input: Any) -> Any:
        images = self._images(input)
        if images.shape[1] != int(self.inputChannels):
            wanted = f"images of {self.inputChannels} planes"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", wanted, f"shape {input.shape}"
            )
        self.output = input.copy()
        if self.train is not False:
            noise = array_module(input).asarray(self._noise(len(images)), input.dtype)
            self.assign("noise", noise.copy())
            self.output = (images + noise[:, :, None, None]).reshape(input.shape)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput.copy()
        return self.gradInput


def _numbers(value: Any, shape: tuple[int, ...], name: str, position: int, what: str) -> Tensor:
    """Numbers of one shape; one number becomes all of them."""
    array = np.array(value, np.float64)
    if array.ndim == 0:
        array = np.full(shape, array)
    if array.shape != shape:
        wanted = f"numbers of shape {shape}"
        raise THNNArgumentError.expected(name, position, what, wanted, f"shape {array.shape}")
    return Tensor(array)


@register
class SimpleColorTransform(_ColorTransform):
    """In training, adds to each plane a number from [-range, range), of `range` or one for each."""

    def __init__(self, inputChannels: int, range: ArrayLike) -> None:
        super().__init__(inputChannels)
        self.tensors.range = _numbers(range, (inputChannels,), self.typename(), 2, "range")
        self.tensors.noise = Tensor.zeros(inputChannels, dtype=np.float64)

    def _noise(self, images: int) -> Any:
        drawn = _random.uniform((images, int(self.inputChannels)), -1, 1)
        return drawn * np.asarray(self.range)


@register
class PCAColorTransform(_ColorTransform):
    """In training, adds the principal colours, each times its variance and a normal number.

    `eigenVectors` has a colour in each column; the normal numbers have deviation `std`.
    """

    def __init__(
        self,
        inputChannels: int,
        eigenVectors: ArrayLike,
        eigenValues: ArrayLike,
        std: float = 0.1,
    ) -> None:
        super().__init__(inputChannels)
        shape = inputChannels, inputChannels
        name = self.typename()
        self.tensors.eigenVectors = _numbers(eigenVectors, shape, name, 2, "eigenVectors")
        self.tensors.eigenValues = _numbers(eigenValues, shape[:1], name, 3, "eigenValues")
        self.std = std
        self.tensors.noise = Tensor.zeros(inputChannels, dtype=np.float64)

    def _noise(self, images: int) -> Any:
        shape = images, int(self.inputChannels)
        drawn = _random.normal(shape, 0, self.std) if self.std > 0 else np.zeros(shape)
        return product(drawn * np.asarray(self.eigenValues), np.asarray(self.eigenVectors).T)


@register
class SpatialBinaryLogisticRegression(Criterion):
    """log(1 + exp(-target input)) of every pixel, for targets of -1 and 1.

    Input: [batch x 1 x] height x width. The loss is the sum over the pixels, or with `sizeAverage`
    their mean.
    """

    def __init__(self, sizeAverage: bool = True) -> None:
        super().__init__()
        self.sizeAverage = bool(sizeAverage)

    def _given(self, input: Any, target: Any) -> Any:
        if getattr(input, "ndim", 0) not in (2, 3, 4) or input.size != target.size:
            wanted = "[batch x 1 x] height x width, as the target"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        return array_module(input).asarray(target, input.dtype).reshape(input.shape)

    def updateOutput(self, input: Any, target: Any) -> Any:
        wanted = self._given(input, target)
        total = float(array_module(input).logaddexp(0, -input * wanted).sum())
        self.output = total / (input.size if self.sizeAverage else 1)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        wanted = self._given(input, target)
        # The logistic function of -target input, by tanh, which does not overflow.
        share = (1 - array_module(input).tanh(wanted * input / 2)) / 2
        self.gradInput = -wanted * share / (input.size if self.sizeAverage else 1)
        return self.gradInput

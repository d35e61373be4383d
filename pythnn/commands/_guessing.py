"""What input a model takes."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import nn
from ._measuring import noise
from ._modules import Row, first_layer, tensors_in

__all__ = ["accepted", "guessed_shape"]

Array = NDArray[Any]
Shape = tuple[int, ...]

# Sides of images that networks of Lua Torch were made for, the most usual first.
SIDES = tuple(
    dict.fromkeys((224, 32, 28, 64, 96, 128, 227, 231, 256, 299, *range(8, 161), *range(4, 8)))
)
FRAMES = (20, 50, 100)
MAX_GUESS = 1 << 24  # elements of an input that nobody asked for

_PLANES = (
    nn.SpatialConvolution,
    nn.SpatialConvolutionLocal,
    nn.SpatialConvolutionMM,
    nn.SpatialConvolutionMap,
    nn.SpatialDepthWiseConvolution,
    nn.SpatialFullConvolution,
)
_VOLUMES = (nn.VolumetricConvolution, nn.VolumetricFullConvolution)
_FRAMES = (nn.TemporalConvolution, nn.TemporalRowConvolution)


def accepted(module: Any, inputs: list[Array]) -> tuple[Any, bool]:
    """Inputs, without a batch dimension, as the module takes them, and whether it takes batches.

    A batch dimension of 1 is put in front where it does. Several inputs become a table. Raises what
    the module raises for a batch when it takes neither.
    """
    batches, alone = _table([array[None] for array in inputs]), _table(inputs)
    if _gives_one(module, batches, is_batch=True):
        return batches, True
    if _gives_one(module, alone, is_batch=False):
        return alone, False
    module.forward(copy.deepcopy(batches))
    return batches, True


def guessed_shape(module: Any, rows: list[Row]) -> Shape | None:
    """A shape that the module takes, without a batch dimension; None where none is found.

    The first layer that says what it takes gives planes or elements; sides of images are tried, the
    usual ones first.
    """
    first = first_layer(rows)
    for shape in _shapes(rows):
        if not 0 < math.prod(shape) <= MAX_GUESS:
            continue
        array = noise(shape, module, first)
        if any(_gives_one(module, a, is_batch=a is not array) for a in (array[None], array)):
            return shape
    return None


def _table(arrays: list[Array]) -> Any:
    return arrays[0] if len(arrays) == 1 else arrays


def _gives_one(module: Any, given: Any, *, is_batch: bool) -> bool:
    """Whether the module takes what it is given, and makes one result of it.

    A module that cuts its input into rows takes many sizes, but then gives several results: more
    than one for a batch of one, or a matrix for an image.
    """
    try:
        output = module.forward(copy.deepcopy(given))  # some modules work in place
    except Exception:  # a file decides what runs, so its errors may be any
        return False
    results = tensors_in(output)
    if is_batch:
        return all(tensor.ndim < 2 or tensor.shape[0] == 1 for tensor in results)
    is_image = isinstance(given, np.ndarray) and given.ndim == 3
    return not (is_image and any(tensor.ndim == 2 for tensor in results))


def _shapes(rows: list[Row]) -> Iterator[Shape]:
    for row in rows:
        layer = row.value
        if isinstance(layer, _PLANES):
            return _images(_size(layer.field("nInputPlane")))
        if isinstance(layer, _VOLUMES):
            planes = _size(layer.field("nInputPlane"))
            return ((planes, 16, side, side) for side in SIDES)
        if isinstance(layer, _FRAMES):
            size = _size(layer.field("inputFrameSize"))
            return ((frames, size) for frames in FRAMES)
        if isinstance(layer, nn.Linear):
            return iter([tuple(np.shape(layer.field("weight"))[1:])])
        if isinstance(layer, nn.LookupTable):
            return ((frames,) for frames in FRAMES)
    return (shape for planes in (3, 1) for shape in _images(planes))


def _images(planes: int) -> Iterator[Shape]:
    return ((planes, side, side) for side in SIDES)


def _size(value: Any) -> int:
    """A field that is a size; 0, which is none, where a file has something else."""
    return value if isinstance(value, int) else 0

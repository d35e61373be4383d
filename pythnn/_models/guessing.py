"""What shapes a model may take, to be tried: the usual ones first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import nn
from .entries import Entry

__all__ = ["MAX_GUESS", "Shape", "candidates", "told_shapes"]

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
)
_TRANSPOSED = (nn.SpatialFullConvolution, nn.SpatialFullConvolutionMap)
_VOLUMES = (nn.VolumetricConvolution, nn.VolumetricFullConvolution)
_FRAMES = (nn.TemporalConvolution, nn.TemporalRowConvolution)
_INDICES = (nn.IndexLinear, nn.LookupTable, nn.OneHot)


def candidates(entry: Entry) -> Iterator[Shape]:
    """Shapes that a tensor may have, without a batch dimension; none for a table."""
    if entry.is_table:
        return
    yield from told_shapes(entry.teller)
    if not isinstance(entry.teller, (*_PLANES, *_TRANSPOSED, *_VOLUMES, *_FRAMES, *_INDICES)):
        # What a linear layer takes may be an image, before it is made a vector.
        yield from (shape for planes in (3, 1) for shape in _images(planes))


def told_shapes(layer: Any) -> Iterator[Shape]:
    """The shapes that a layer takes, by its fields."""
    if isinstance(layer, _PLANES):
        return _images(_size(layer, "nInputPlane"))
    if isinstance(layer, _TRANSPOSED):
        planes = _size(layer, "nInputPlane")
        # A generator paints an image from a single place with many planes of noise.
        return iter([(planes, 1, 1)]) if planes > 3 else _images(planes)
    if isinstance(layer, _VOLUMES):
        planes = _size(layer, "nInputPlane")
        return ((planes, 16, side, side) for side in SIDES)
    if isinstance(layer, _FRAMES):
        size = _size(layer, "inputFrameSize")
        return ((frames, size) for frames in FRAMES)
    if isinstance(layer, nn.Linear):
        return iter([tuple(np.shape(layer.field("weight"))[1:])])
    if isinstance(layer, nn.OneHot):
        return iter([(1,), *((frames,) for frames in FRAMES)])
    if isinstance(layer, nn.SparseLinear):
        return iter([(1, 2)])
    if isinstance(layer, (nn.LookupTable, nn.IndexLinear)):
        return ((frames,) for frames in FRAMES)
    return iter(())


def _images(planes: int) -> Iterator[Shape]:
    return ((planes, side, side) for side in SIDES)


def _size(layer: Any, name: str) -> int:
    """A field that is a size; 0, which is none, where a file has something else."""
    value = layer.field(name)
    return value if isinstance(value, int) else 0

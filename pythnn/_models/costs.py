"""Multiply-adds of a layer in a forward call."""

from __future__ import annotations

import math
from typing import Any

from .. import nn
from .._tensor import Tensor

__all__ = ["multiply_adds", "short"]

Shape = tuple[int, ...]

_TRANSPOSED = (
    nn.SpatialFullConvolution,
    nn.SpatialFullConvolutionMap,
    nn.VolumetricFullConvolution,
)
_LOCAL = nn.SpatialConvolutionLocal
_PLANES = (nn.SpatialConvolution, nn.SpatialConvolutionMM, nn.SpatialConvolutionMap)
_EVERY_WEIGHT_ONCE = (nn.Linear, nn.Bilinear, nn.PartialLinear, nn.Cosine, nn.Euclidean)


def multiply_adds(module: Any, input: Any, output: Any) -> int:
    """How often a layer multiplies and adds.

    Counted are convolutions, padding included, linear layers and products of matrices; what other
    layers do is little beside them, and counts as 0.
    """
    given, made = _shape(input), _shape(output)
    if isinstance(module, (nn.MM, nn.MV, nn.DotProduct)):
        return _product(module, input, made)
    weight = math.prod(_shape(module.field("weight"))) if hasattr(module, "weight") else 0
    if not weight or not given or not made:
        return 0
    # Every weight is used once at each place: of the input where it paints the output, else of
    # the output.
    if isinstance(module, _TRANSPOSED):
        return weight * _places(given, 3 if isinstance(module, _TRANSPOSED[:2]) else 4)
    if isinstance(module, _LOCAL):
        return weight * (made[0] if len(made) == 4 else 1)
    if isinstance(module, (*_PLANES, nn.SpatialDepthWiseConvolution)):
        return weight * _places(made, 3)
    if isinstance(module, nn.VolumetricConvolution):
        return weight * _places(made, 4)
    if isinstance(module, nn.TemporalConvolution):
        return weight * math.prod(made[:-1])
    if isinstance(module, nn.TemporalRowConvolution):
        return weight * math.prod(made) // math.prod(_shape(module.field("weight"))[:1])
    if isinstance(module, _EVERY_WEIGHT_ONCE):
        return weight * math.prod(made[:-1])
    return 0


def _shape(value: Any) -> Shape:
    """The shape of a tensor, or of the first one in a table."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return tuple(value.shape) if isinstance(value, Tensor) or hasattr(value, "shape") else ()


def _places(shape: Shape, inner: int) -> int:
    """Places in [batch x] planes x …, of which the last `inner` are no batch."""
    batch = math.prod(shape[:-inner])
    return batch * math.prod(shape[-inner + 1 :])


def _product(module: Any, input: Any, made: Shape) -> int:
    """Those of a product of two matrices, or of a matrix or vector and a vector."""
    first = _shape(input)
    if not first:
        return 0
    if isinstance(module, nn.DotProduct):
        return math.prod(first)
    is_transposed = module.transA if isinstance(module, nn.MM) else module.trans
    return math.prod(made) * first[-2 if is_transposed else -1]


def short(count: int) -> str:
    """A large number in a few characters: 1.82 G."""
    number, unit = float(count), ""
    for larger in (" k", " M", " G", " T"):
        if number < 1000:
            break
        number, unit = number / 1000, larger
    return f"{number:.3g}{unit}" if number < 1000 else f"{number:.0f}{unit}"

"""How often operations multiply and add.

Counted are convolutions, padding included, linear layers and products of matrices. What other
operations do is little beside them, and counts as 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import nn
from .functions import functions
from .operations import Constant, Kernel, Operation

__all__ = ["multiply_adds", "of_kernel", "of_module", "short"]

Shape = tuple[int, ...]

_PLACES = {
    "Linear": ("output", 1),
    "Linear_updateGradInput": ("gradInput", 1),
    "SeqLSTM": ("gates", 1),
    "SpatialConvolutionJoined": ("output", 3),
    "SpatialConvolutionLocal": ("output", 4),
    "SpatialConvolutionMM": ("output", 3),
    "SpatialConvolutionMap": ("output", 3),
    "SpatialDepthWiseConvolution": ("output", 3),
    "SpatialDilatedConvolution": ("output", 3),
    "SpatialFullConvolution": ("input", 3),
    "SpatialFullConvolutionJoined": ("input", 3),
    "SpatialFullConvolutionMap": ("input", 3),
    "SpatialFullDilatedConvolution": ("input", 3),
    "TemporalConvolution": ("output", 1),
    "VolumetricConvolution": ("output", 4),
    "VolumetricConvolutionMM": ("output", 4),
    "VolumetricDilatedConvolution": ("output", 4),
    "VolumetricFullConvolution": ("input", 4),
    "VolumetricFullDilatedConvolution": ("input", 4),
}
"""Every weight is used once at each place of this argument: of the input where it paints the
output, else of the output. The number is the dimension of the planes, counted from the last."""

_GROUPED = {"GroupedConvolution": "output", "GroupedFullConvolution": "input"}
"""The same in as many dimensions as the weight says."""

_WEIGHTED = (nn.Bilinear, nn.PartialLinear, nn.Cosine, nn.Euclidean)
"""Layers on arrays that use every weight once for each sample."""


def multiply_adds(operation: Operation) -> int:
    """How often an operation of a graph multiplies and adds."""
    if isinstance(operation, Kernel):
        return of_kernel(operation.function, operation.arguments)
    return of_module(operation.module, operation.inputs, operation.outputs)


def of_kernel(name: str, arguments: Sequence[Any]) -> int:
    """How often a function of :mod:`pythnn.thnn` does, for arguments that have shapes."""
    module = name.removesuffix("_updateOutput")
    if module == "TemporalRowConvolution":
        weight, output = (_shape(_argument(name, arguments, a)) for a in ("weight", "output"))
        return math.prod(weight[1:]) * math.prod(output)
    if module not in _PLACES and module not in _GROUPED:
        return 0
    weight = _shape(_argument(name, arguments, "weight"))
    argument, planes = _PLACES.get(module) or (_GROUPED[module], len(weight) - 1)
    shape = _shape(_argument(name, arguments, argument))
    if module == "SpatialConvolutionLocal":  # which has weights for each place of a sample
        return math.prod(weight) * (shape[0] if len(shape) == planes else 1)
    return math.prod(weight) * (math.prod(shape) // shape[-planes])


def of_module(module: Any, input: Any, output: Any) -> int:
    """How often a module does that computes on arrays."""
    given, made = _shape(input), _shape(output)
    if not given or not made:
        return 0
    if isinstance(module, nn.DotProduct):
        return math.prod(given)
    if isinstance(module, (nn.MM, nn.MV)):
        is_transposed = module.transA if isinstance(module, nn.MM) else module.trans
        return math.prod(made) * given[-2 if is_transposed else -1]
    if isinstance(module, _WEIGHTED) and hasattr(module, "weight"):
        return math.prod(_shape(module.field("weight"))) * math.prod(made[:-1])
    return 0


def _argument(name: str, arguments: Sequence[Any], wanted: str) -> Any:
    place = functions[name].index_of(wanted)
    assert place is not None  # noqa: S101 (functions of convolutions have them all)
    return arguments[place]


def _shape(value: Any) -> Shape:
    """The shape of a tensor, or of the first one in a table."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    if isinstance(value, Constant):
        value = value.value
    return tuple(getattr(value, "shape", ()))


def short(count: int) -> str:
    """A large number in a few characters: 1.82 G."""
    number, unit = float(count), ""
    for larger in (" k", " M", " G", " T"):
        if number < 1000:
            break
        number, unit = number / 1000, larger
    return f"{number:.3g}{unit}" if number < 1000 else f"{number:.0f}{unit}"

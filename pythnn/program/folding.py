"""Batch normalisation and scaling in the weights of the layer before them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..graph.functions import functions
from ..graph.operations import Constant, Kernel, Operation, View
from .uses import argument, users
from .weights import Weights

__all__ = ["fold_normalizations"]

_AXES = {
    "Linear_updateOutput": (0, -1),
    "SpatialConvolutionMM_updateOutput": (0, -3),
    "SpatialDilatedConvolution_updateOutput": (0, -3),
    "SpatialFullConvolution_updateOutput": (1, -3),
    "SpatialFullDilatedConvolution_updateOutput": (1, -3),
    "TemporalConvolution_updateOutput": (0, -1),
    "VolumetricConvolution_updateOutput": (0, -4),
    "VolumetricConvolutionMM_updateOutput": (0, -4),
    "VolumetricDilatedConvolution_updateOutput": (0, -4),
    "VolumetricFullConvolution_updateOutput": (1, -4),
    "VolumetricFullDilatedConvolution_updateOutput": (1, -4),
}
"""Layers that a normalisation can be folded into: the axis of the weight that counts the planes of
the output, and that of the output."""


def fold_normalizations(
    operations: list[Operation], results: Iterable[View], weights: Weights
) -> list[Operation]:
    """The operations; those that normalise or scale are in the layers before them.

    That is, where nobody else reads what the layer makes. Adding a number counts as scaling. The
    parameters are made once for all sizes of inputs.
    """
    kept: list[Operation] = list(operations)
    used = users(kept)
    read_later = {view.buffer for view in results}
    for operation in operations:
        if not isinstance(operation, Kernel) or not (_is_fixed(operation) or _scales(operation)):
            continue
        x, output = operation.reads[0], operation.writes[0]
        layer = used[x.buffer][0]
        if not isinstance(layer, Kernel) or not _fits(layer, operation):
            continue
        of_x, of_output = used[x.buffer], used[output.buffer]
        if of_x[1] is not operation:
            continue
        in_place = x.buffer is output.buffer
        if not in_place and (
            len(of_x) > 2 or x.buffer in read_later or of_output[0] is not operation
        ):
            continue
        made = _folded(layer, operation, output, weights)
        kept[kept.index(layer)] = made
        kept.remove(operation)
        for view in layer.reads:
            used[view.buffer] = [made if one is layer else one for one in used[view.buffer]]
        used[output.buffer] = [made, *of_output[2 if in_place else 1 :]]
    return kept


def _is_fixed(kernel: Kernel) -> bool:
    """Whether a kernel normalises by statistics that do not change."""
    name = "BatchNormalization_updateOutput"
    return kernel.function == name and not argument(kernel, "train")


def _scales(kernel: Kernel) -> bool:
    """Whether a kernel multiplies all elements by a number, or adds one to them."""
    if kernel.function not in ("Tensor.mul", "Tensor.add") or not kernel.reads:
        return False
    number = kernel.arguments[2]
    return isinstance(number, (int, float)) and bool(np.isfinite(number))


def _fits(layer: Kernel, operation: Kernel) -> bool:
    """Whether a layer makes what is changed, plane by plane, and its parameters are known."""
    x, output = operation.reads[0], operation.writes[0]
    axes = _AXES.get(layer.function)
    if axes is None or layer.writes[0].buffer is not x.buffer:
        return False
    weight, bias = argument(layer, "weight"), argument(layer, "bias")
    if not isinstance(weight, Constant):
        return False
    if not (bias is None or isinstance(bias, Constant)):
        return False
    made, (weight_axis, axis) = layer.writes[0], axes
    if not (made.is_whole and x.is_whole and output.is_whole and output.size == x.size):
        return False
    if _scales(operation):
        return True
    planes = made.shape[axis], made.strides[axis]
    return planes == (x.shape[1], x.strides[1]) and planes[0] == weight.value.shape[weight_axis]


def _factors(operation: Kernel) -> tuple[Any, Any]:
    """What is multiplied by in each plane, or in all, and what is added, in double precision."""
    if _scales(operation):
        number = np.float64(operation.arguments[2])  # type: ignore[arg-type]
        return (number, 0.0) if operation.function == "Tensor.mul" else (1.0, number)
    statistics = [argument(operation, name) for name in ("running_mean", "running_var")]
    mean, variance = (np.float64(one.value.numpy()) for one in statistics)
    gain, shift = argument(operation, "weight"), argument(operation, "bias")
    scale = 1 / np.sqrt(variance + argument(operation, "eps"))
    if gain is not None:
        scale = scale * gain.value.numpy()
    return scale, (0 if shift is None else shift.value.numpy()) - mean * scale


def _parameters(layer: Kernel, operation: Kernel) -> tuple[Constant, Constant]:
    """The weight and the bias of a layer with an operation in them."""
    weight, bias = argument(layer, "weight").value, argument(layer, "bias")
    scale, shift = _factors(operation)
    axis = _AXES[layer.function][0]
    along = [1] * weight.ndim
    along[axis] = -1
    added = np.zeros(weight.shape[axis]) if bias is None else np.float64(bias.value.numpy())
    added = added * scale + shift
    factors = np.broadcast_to(scale, added.shape).reshape(along)
    dtype = weight.dtype
    return (
        Constant(Tensor(weight.numpy() * factors, dtype=dtype)),
        Constant(Tensor(added, dtype=dtype)),
    )


def _folded(layer: Kernel, operation: Kernel, output: View, weights: Weights) -> Kernel:
    """The layer with an operation in its weights; it writes `output`."""
    given = [*layer.arguments, *operation.arguments]
    numbers = [one for one in operation.arguments if isinstance(one, (bool, int, float))]
    sources = [one.value for one in given if isinstance(one, Constant)]
    present = tuple(isinstance(one, Constant) for one in given)
    weight, bias = weights.folded(
        sources,
        (layer.function, operation.function, present, *numbers),
        lambda: _parameters(layer, operation),
    )
    made = layer.writes[0]
    output = View(output.buffer, made.shape, made.strides)
    changed: dict[str, Constant | View] = {"weight": weight, "bias": bias, "output": output}
    arguments = list(layer.arguments)
    for name, value in changed.items():
        place = functions[layer.function].index_of(name)
        assert place is not None  # noqa: S101 (layers of _AXES have them all)
        arguments[place] = value
    place_of_both = f"{layer.place} + {operation.place.rpartition('.')[2]}"
    return Kernel(layer.function, arguments, layer.reads, [output], place_of_both)

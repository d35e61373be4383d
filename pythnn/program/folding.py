"""Batch normalisation in the weights of the layer before it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..graph.functions import functions
from ..graph.operations import Buffer, Constant, Kernel, Operation, View

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


def fold_normalizations(operations: list[Operation], results: Iterable[View]) -> list[Operation]:
    """The operations, with normalisations in the layers whose outputs nobody else reads."""
    kept: list[Operation] = list(operations)
    users = _users(kept)
    read_later = {view.buffer for view in results}
    for operation in operations:
        if not isinstance(operation, Kernel) or not _is_fixed(operation):
            continue
        x, output = operation.reads[0], operation.writes[0]
        before = [one for one in users[x.buffer] if one is not operation]
        if len(before) != 1 or x.buffer in read_later or not isinstance(before[0], Kernel):
            continue
        layer = before[0]
        if not _fits(layer, x, output) or operation is not users[output.buffer][0]:
            continue
        made = _folded(layer, operation, output)
        kept[kept.index(layer)] = made
        kept.remove(operation)
        for view in layer.reads:
            users[view.buffer] = [made if one is layer else one for one in users[view.buffer]]
        users[output.buffer][0] = made
    return kept


def _users(operations: Iterable[Operation]) -> dict[Buffer, list[Any]]:
    """The operations that read or write each buffer, in order."""
    users: dict[Buffer, list[Any]] = {}
    for operation in operations:
        for view in (*operation.reads, *operation.writes):
            found = users.setdefault(view.buffer, [])
            if operation not in found[-1:]:
                found.append(operation)
    return users


def _is_fixed(kernel: Kernel) -> bool:
    """Whether a kernel normalises by statistics that do not change."""
    name = "BatchNormalization_updateOutput"
    return kernel.function == name and not _argument(kernel, "train")


def _argument(kernel: Kernel, name: str) -> Any:
    place = functions[kernel.function].index_of(name)
    return None if place is None else kernel.arguments[place]


def _fits(layer: Kernel, x: View, output: View) -> bool:
    """Whether a layer makes what is normalised, plane by plane, and its parameters are known."""
    axes = _AXES.get(layer.function)
    if axes is None or layer.writes[0].buffer is not x.buffer:
        return False
    weight, bias = _argument(layer, "weight"), _argument(layer, "bias")
    if not isinstance(weight, Constant):
        return False
    if not (bias is None or isinstance(bias, Constant)):
        return False
    made, (weight_axis, axis) = layer.writes[0], axes
    if not (made.is_whole and x.is_whole and output.is_whole and output.size == x.size):
        return False
    planes = made.shape[axis], made.strides[axis]
    return planes == (x.shape[1], x.strides[1]) and planes[0] == weight.value.shape[weight_axis]


def _folded(layer: Kernel, normalization: Kernel, output: View) -> Kernel:
    """The layer with a normalisation in its weights, in double precision; it writes `output`."""
    weight, bias = _argument(layer, "weight").value, _argument(layer, "bias")
    statistics = [_argument(normalization, name) for name in ("running_mean", "running_var")]
    mean, variance = (np.float64(one.value.numpy()) for one in statistics)
    gain, shift = _argument(normalization, "weight"), _argument(normalization, "bias")
    scale = 1 / np.sqrt(variance + _argument(normalization, "eps"))
    if gain is not None:
        scale = scale * gain.value.numpy()
    axis = _AXES[layer.function][0]
    along = [1] * weight.ndim
    along[axis] = -1
    added = np.zeros_like(mean) if bias is None else np.float64(bias.value.numpy())
    added = (added - mean) * scale
    if shift is not None:
        added = added + shift.value.numpy()
    dtype, made = weight.dtype, layer.writes[0]
    output = View(output.buffer, made.shape, made.strides)
    changed: dict[str, Constant | View] = {
        "weight": Constant(Tensor(weight.numpy() * scale.reshape(along), dtype=dtype)),
        "bias": Constant(Tensor(added, dtype=dtype)),
        "output": output,
    }
    arguments = list(layer.arguments)
    for name, value in changed.items():
        place = functions[layer.function].index_of(name)
        assert place is not None  # noqa: S101 (layers of _AXES have them all)
        arguments[place] = value
    place_of_both = f"{layer.place} + {normalization.place.rpartition('.')[2]}"
    return Kernel(layer.function, arguments, layer.reads, [output], place_of_both)

"""Convolutions and poolings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import nn
from .graph import Graph, Value, writes


def _batched(g: Graph, x: Value, spatial: int) -> tuple[Value | str, bool]:
    """With a batch in front, and whether that had to be put there."""
    if x.ndim == spatial + 2:
        return x, False
    return g.op("Unsqueeze", x, g.ints(0)), True


def _unbatched(g: Graph, y: str, added: bool) -> str:
    return g.op("Squeeze", y, g.ints(0)) if added else y


def _sizes(m: Any, prefix: str, axes: str, default: int = 0) -> list[int]:
    """Fields such as kH, kW; those that an old file lacks are at their default."""
    found = [m.field(prefix + axis) for axis in axes]
    return [default if size is None else int(size) for size in found]


# ---- Convolutions


def _convolve(
    g: Graph,
    m: Any,
    x: Value,
    axes: str,
    weight: Any,
    bias: Any,
    *,
    kind: str = "Conv",
    group: int = 1,
    **attributes: Any,
) -> str:
    spatial = len(axes)
    pads = _sizes(m, "pad", axes)
    if min(pads) < 0:
        raise g.refuse(m, "its padding is negative")
    given, added = _batched(g, x, spatial)
    inputs = [given, g.constant(weight)]
    if bias is not None:
        inputs.append(g.constant(np.ravel(bias)))
    y = g.op(
        kind, *inputs, kernel_shape=list(weight.shape[2:]), strides=_sizes(m, "d", axes, 1),
        pads=pads * 2, dilations=_sizes(m, "dilation", axes, 1), group=group, **attributes,
    )  # fmt: skip
    return _unbatched(g, y, added)


@writes(nn.SpatialConvolution, nn.SpatialConvolutionMM)
def _spatial_convolution(g: Graph, m: Any, x: Value) -> str:
    group = int(m.field("groups") or 1)
    weight = m.weight.reshape(m.nOutputPlane, m.nInputPlane // group, m.kH, m.kW)
    return _convolve(g, m, x, "HW", weight, m.bias, group=group)


@writes(nn.SpatialDepthWiseConvolution)
def _depth_wise(g: Graph, m: Any, x: Value) -> str:
    weight = m.weight.reshape(-1, m.nInputPlane, m.kH, m.kW)
    own = weight.swapaxes(0, 1).reshape(-1, 1, m.kH, m.kW)
    bias = None if m.bias is None else m.bias.reshape(weight.shape[:2]).T
    return _convolve(g, m, x, "HW", own, bias, group=m.nInputPlane)


def _full_weight(m: Any, shape: tuple[int, int], order: tuple[int, int]) -> Any:
    """The weight between all planes of a layer that connects some."""
    full = np.zeros((*shape, *m.weight.shape[1:]), m.weight.dtype)
    for (source, target), kernel in zip(m.connTable.astype(int) - 1, m.weight, strict=True):
        full[(source, target)[order[0]], (source, target)[order[1]]] += kernel
    return full


@writes(nn.SpatialConvolutionMap)
def _convolution_map(g: Graph, m: Any, x: Value) -> str:
    weight = _full_weight(m, (m.nOutputPlane, m.nInputPlane), (1, 0))
    return _convolve(g, m, x, "HW", weight, m.bias)


@writes(nn.SpatialFullConvolutionMap)
def _full_convolution_map(g: Graph, m: Any, x: Value) -> str:
    weight = _full_weight(m, (m.nInputPlane, m.nOutputPlane), (0, 1))
    return _convolve(g, m, x, "HW", weight, m.bias, kind="ConvTranspose")


@writes(nn.SpatialFullConvolution)
def _spatial_transposed(g: Graph, m: Any, x: Any) -> str:
    if isinstance(x, list):
        raise g.refuse(m, "the size of its output comes from a second input")
    weight = m.weight.reshape(m.nInputPlane, m.nOutputPlane, m.kH, m.kW)
    more = _sizes(m, "adj", "HW")
    return _convolve(g, m, x, "HW", weight, m.bias, kind="ConvTranspose", output_padding=more)


@writes(nn.VolumetricConvolution)
def _volumetric_convolution(g: Graph, m: Any, x: Value) -> str:
    weight = m.weight.reshape(m.nOutputPlane, m.nInputPlane, m.kT, m.kH, m.kW)
    return _convolve(g, m, x, "THW", weight, m.bias)


@writes(nn.VolumetricFullConvolution)
def _volumetric_transposed(g: Graph, m: Any, x: Any) -> str:
    if isinstance(x, list):
        raise g.refuse(m, "the size of its output comes from a second input")
    weight = m.weight.reshape(m.nInputPlane, m.nOutputPlane, m.kT, m.kH, m.kW)
    more = _sizes(m, "adj", "THW")
    return _convolve(g, m, x, "THW", weight, m.bias, kind="ConvTranspose", output_padding=more)


@writes(nn.SpatialConvolutionLocal)
def _local_convolution(g: Graph, m: Any, x: Value) -> str:
    """What each position sees, times the position's own matrix."""
    given, added = _batched(g, x, 2)
    pads = [0, 0, m.padH, m.padW]
    if any(pads):
        given = g.op("Pad", given, g.ints(*pads, *pads), g.constant(0.0), mode="constant")
    taps = []
    for y in range(m.kH):
        for x_ in range(m.kW):
            end = g.ints(y + (m.oH - 1) * m.dH + 1, x_ + (m.oW - 1) * m.dW + 1)
            part = g.op("Slice", given, g.ints(y, x_), end, g.ints(2, 3), g.ints(m.dH, m.dW))
            taps.append(g.op("Unsqueeze", part, g.ints(2)))
    seen = g.op("Concat", *taps, axis=2)
    shape = m.oH, m.oW, m.nOutputPlane, m.nInputPlane, m.kH * m.kW
    weight = g.constant(m.weight.reshape(shape))
    products = g.op("Einsum", seen, weight, equation="nikhw,hwoik->nohw")
    bias = g.constant(m.bias.reshape(m.nOutputPlane, m.oH, m.oW))
    return _unbatched(g, g.op("Add", products, bias), added)


def _frames_last(g: Graph, x: Value | str, ndim: int) -> str:
    return g.op("Transpose", x, perm=[*range(ndim - 2), ndim - 1, ndim - 2])


def _over_frames(g: Graph, x: Value, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
    """An operation on features x frames, for a layer on frames x features."""
    given, added = _batched(g, x, 1)
    y = g.op(kind, _frames_last(g, given, 3), *inputs, **attributes)
    return _unbatched(g, _frames_last(g, y, 3), added)


@writes(nn.TemporalConvolution)
def _temporal_convolution(g: Graph, m: Any, x: Value) -> str:
    weight = m.weight.reshape(m.outputFrameSize, m.kW, m.inputFrameSize).swapaxes(1, 2)
    return _over_frames(g, x, "Conv", [g.constant(weight), g.constant(m.bias)], strides=[m.dW])


@writes(nn.TemporalRowConvolution)
def _row_convolution(g: Graph, m: Any, x: Value) -> str:
    features = m.inputFrameSize
    inputs = [g.constant(m.weight.reshape(features, 1, m.kW))]
    if m.bias is not None:
        inputs.append(g.constant(m.bias))
    pad = int(m.field("padW") or 0)
    attributes = {"strides": [m.dW], "pads": [pad, pad], "group": features}
    if not m.featFirst:
        return _over_frames(g, x, "Conv", inputs, **attributes)
    given, added = _batched(g, x, 1)
    return _unbatched(g, g.op("Conv", given, *inputs, **attributes), added)


@writes(nn.SpatialSubSampling)
def _spatial_sub_sampling(g: Graph, m: Any, x: Value) -> str:
    weight = np.broadcast_to(m.weight[:, None, None, None], (m.nInputPlane, 1, m.kH, m.kW))
    return _convolve(g, m, x, "HW", weight, m.bias, group=m.nInputPlane)


@writes(nn.TemporalSubSampling)
def _temporal_sub_sampling(g: Graph, m: Any, x: Value) -> str:
    weight = np.broadcast_to(m.weight[:, None, None], (m.inputFrameSize, 1, m.kW))
    inputs = [g.constant(weight), g.constant(m.bias)]
    return _over_frames(g, x, "Conv", inputs, strides=[m.dW], group=m.inputFrameSize)


# ---- Poolings


def _window(m: Any, x: Value, axes: str) -> dict[str, list[int]]:
    """Attributes that make as many windows as the layer does, however it rounds."""
    spatial = len(axes)
    windows, steps, before = _sizes(m, "k", axes), _sizes(m, "d", axes, 1), _sizes(m, "pad", axes)
    dilations = _sizes(m, "dilation", axes, 1)
    outputs = m.forward(x.samples[0]).shape[-spatial:]
    inputs = x.shape[-spatial:]
    reach = [(k - 1) * d + 1 for k, d in zip(windows, dilations, strict=True)]
    after = [
        max((o - 1) * s + r - i - b, 0)
        for o, s, r, i, b in zip(outputs, steps, reach, inputs, before, strict=True)
    ]
    return {
        "kernel_shape": windows,
        "strides": steps,
        "pads": [*before, *after],
        "dilations": dilations,
    }


def _max_pool(g: Graph, m: Any, x: Value, axes: str) -> str:
    given, added = _batched(g, x, len(axes))
    y, indices = g.ops("MaxPool", 2, given, **_window(m, x, axes))
    g.pooled[id(m)] = indices, given, x
    return _unbatched(g, y, added)


@writes(nn.SpatialMaxPooling)
def _spatial_max_pooling(g: Graph, m: Any, x: Value) -> str:
    return _max_pool(g, m, x, "HW")


@writes(nn.VolumetricMaxPooling)
def _volumetric_max_pooling(g: Graph, m: Any, x: Value) -> str:
    return _max_pool(g, m, x, "THW")


@writes(nn.TemporalMaxPooling)
def _temporal_max_pooling(g: Graph, m: Any, x: Value) -> str:
    return _over_frames(g, x, "MaxPool", [], kernel_shape=[m.kW], strides=[m.dW])


def _average_pool(g: Graph, m: Any, x: Value, axes: str) -> str:
    """ONNX's mean of whole windows, times what the layer divides by something else."""
    given, added = _batched(g, x, len(axes))
    window = _window(m, x, axes)
    window.pop("dilations")
    y = g.op("AveragePool", given, **window, count_include_pad=1)
    inside = _elements_inside(window, x.shape[-len(axes) :])
    ones = np.ones((1, *x.shape[-len(axes) :])[-len(axes) - 1 :], x.samples[0].dtype)
    factor = np.asarray(m.forward(ones))[0] * math.prod(window["kernel_shape"]) / inside
    if not np.allclose(factor, 1, rtol=1e-6):
        y = g.op("Mul", y, g.constant(factor))
    return _unbatched(g, y, added)


def _elements_inside(window: dict[str, list[int]], sizes: Sequence[int]) -> Any:
    """How many elements of the input each window holds."""
    spatial = len(sizes)
    counts = np.ones(())
    for axis, size in enumerate(sizes):
        kernel, step = window["kernel_shape"][axis], window["strides"][axis]
        before, after = window["pads"][axis], window["pads"][spatial + axis]
        number = (size + before + after - kernel) // step + 1
        first = np.arange(number) * step - before
        along = np.minimum(first + kernel, size) - np.maximum(first, 0)
        counts = counts[..., None] * np.maximum(along, 1)
    return counts


@writes(nn.SpatialAveragePooling)
def _spatial_average_pooling(g: Graph, m: Any, x: Value) -> str:
    return _average_pool(g, m, x, "HW")


@writes(nn.VolumetricAveragePooling)
def _volumetric_average_pooling(g: Graph, m: Any, x: Value) -> str:
    return _average_pool(g, m, x, "THW")


def _regions(size: int, count: int) -> list[tuple[int, int]]:
    """First and end of the regions of adaptive pooling."""
    return [(i * size // count, -((i + 1) * -size // count)) for i in range(count)]


@writes(nn.SpatialAdaptiveAveragePooling)
def _adaptive_average_pooling(g: Graph, m: Any, x: Value) -> str:
    """A product with a matrix of shares from either side."""
    outputs = m.forward(x.samples[0]).shape[-2:]
    matrices = []
    for size, count in zip(x.shape[-2:], outputs, strict=True):
        matrix = np.zeros((count, size))
        for row, (first, end) in zip(matrix, _regions(size, count), strict=True):
            row[first:end] = 1 / (end - first)
        matrices.append(matrix)
    rows = g.op("MatMul", g.constant(matrices[0]), x)
    return g.op("MatMul", rows, g.constant(matrices[1].T))


@writes(nn.SpatialAdaptiveMaxPooling)
def _adaptive_max_pooling(g: Graph, m: Any, x: Value) -> str:
    height, width = m.forward(x.samples[0]).shape[-2:]
    lines = []
    for top, bottom in _regions(x.shape[-2], height):
        cells = []
        for left, right in _regions(x.shape[-1], width):
            part = g.op("Slice", x, g.ints(top, left), g.ints(bottom, right), g.ints(-2, -1))
            cells.append(g.op("ReduceMax", part, axes=[-2, -1], keepdims=1))
        lines.append(g.op("Concat", *cells, axis=-1))
    return g.op("Concat", *lines, axis=-2)


@writes(nn.SpatialMaxUnpooling, nn.VolumetricMaxUnpooling)
def _max_unpooling(g: Graph, m: Any, x: Value) -> str:
    spatial = 2 if isinstance(m, nn.SpatialMaxUnpooling) else 3
    known = g.pooled.get(id(m.pooling))
    if known is None:
        raise g.refuse(m, "its pooling is not in the model, or comes after it")
    indices, pooled, _ = known
    given, added = _batched(g, x, spatial)
    axes = "HW" if spatial == 2 else "THW"
    window = {
        "kernel_shape": _sizes(m.pooling, "k", axes),
        "strides": _sizes(m.pooling, "d", axes, 1),
    }
    y = g.op("MaxUnpool", given, indices, g.op("Shape", pooled), **window)
    return _unbatched(g, y, added)

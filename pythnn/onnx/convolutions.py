"""Convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import nn
from .graph import Graph, Value, writes

__all__ = ["batched", "over_frames", "sizes_of", "unbatched"]


def batched(g: Graph, x: Value, spatial: int) -> tuple[Value | str, bool]:
    """With a batch in front, and whether that had to be put there."""
    if x.ndim == spatial + 2:
        return x, False
    return g.op("Unsqueeze", x, g.ints(0)), True


def unbatched(g: Graph, y: str, added: bool) -> str:
    """A result without the batch that :func:`batched` added."""
    return g.op("Squeeze", y, g.ints(0)) if added else y


def sizes_of(m: Any, prefix: str, axes: str, default: int = 0) -> list[int]:
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
    pads = sizes_of(m, "pad", axes)
    if min(pads) < 0:
        raise g.refuse(m, "its padding is negative")
    given, added = batched(g, x, spatial)
    inputs = [given, g.constant(weight)]
    if bias is not None:
        inputs.append(g.constant(np.ravel(bias)))
    y = g.op(
        kind, *inputs, kernel_shape=list(weight.shape[2:]), strides=sizes_of(m, "d", axes, 1),
        pads=pads * 2, dilations=sizes_of(m, "dilation", axes, 1), group=group, **attributes,
    )  # fmt: skip
    return unbatched(g, y, added)


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


def _joined(g: Graph, m: Any, x: Value) -> Value:
    """The planes up to the last one that a layer connects: inputs may have more."""
    if x.dims[-3] == m.nInputPlane:
        return x
    first = g.op("Slice", x, g.ints(0), g.ints(m.nInputPlane), g.ints(-3))
    return Value(first, [sample[..., : m.nInputPlane, :, :] for sample in x.samples])


def _full_weight(m: Any) -> Any:
    """The weight between all planes, from input to output, of a layer that connects some."""
    full = np.zeros((m.nInputPlane, m.nOutputPlane, *m.weight.shape[1:]), m.weight.dtype)
    for (source, target), kernel in zip(m.connTable.astype(int) - 1, m.weight, strict=True):
        full[source, target] += kernel
    return full


@writes(nn.SpatialConvolutionMap)
def _convolution_map(g: Graph, m: Any, x: Value) -> str:
    return _convolve(g, m, _joined(g, m, x), "HW", _full_weight(m).swapaxes(0, 1), m.bias)


@writes(nn.SpatialFullConvolutionMap)
def _full_convolution_map(g: Graph, m: Any, x: Value) -> str:
    given, weight = _joined(g, m, x), _full_weight(m)
    return _convolve(g, m, given, "HW", weight, m.bias, kind="ConvTranspose")


@writes(nn.SpatialFullConvolution)
def _spatial_transposed(g: Graph, m: Any, x: Any) -> str:
    if isinstance(x, list):
        raise g.refuse(m, "the size of its output comes from a second input")
    weight = m.weight.reshape(m.nInputPlane, m.nOutputPlane, m.kH, m.kW)
    more = sizes_of(m, "adj", "HW")
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
    more = sizes_of(m, "adj", "THW")
    return _convolve(g, m, x, "THW", weight, m.bias, kind="ConvTranspose", output_padding=more)


@writes(nn.SpatialConvolutionLocal, any_size=False)
def _local_convolution(g: Graph, m: Any, x: Value) -> str:
    """What each position sees, times the position's own matrix."""
    given, added = batched(g, x, 2)
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
    return unbatched(g, g.op("Add", products, bias), added)


def _frames_last(g: Graph, x: Value | str, ndim: int) -> str:
    return g.op("Transpose", x, perm=[*range(ndim - 2), ndim - 1, ndim - 2])


def over_frames(g: Graph, x: Value, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
    """An operation on features x frames, for a layer on frames x features."""
    given, added = batched(g, x, 1)
    y = g.op(kind, _frames_last(g, given, 3), *inputs, **attributes)
    return unbatched(g, _frames_last(g, y, 3), added)


@writes(nn.TemporalConvolution)
def _temporal_convolution(g: Graph, m: Any, x: Value) -> str:
    weight = m.weight.reshape(m.outputFrameSize, m.kW, m.inputFrameSize).swapaxes(1, 2)
    return over_frames(g, x, "Conv", [g.constant(weight), g.constant(m.bias)], strides=[m.dW])


@writes(nn.TemporalRowConvolution)
def _row_convolution(g: Graph, m: Any, x: Value) -> str:
    features = m.inputFrameSize
    inputs = [g.constant(m.weight.reshape(features, 1, m.kW))]
    if m.bias is not None:
        inputs.append(g.constant(m.bias))
    pad = int(m.field("padW") or 0)
    attributes = {"strides": [m.dW], "pads": [pad, pad], "group": features}
    if not m.featFirst:
        return over_frames(g, x, "Conv", inputs, **attributes)
    given, added = batched(g, x, 1)
    return unbatched(g, g.op("Conv", given, *inputs, **attributes), added)


@writes(nn.SpatialSubSampling)
def _spatial_sub_sampling(g: Graph, m: Any, x: Value) -> str:
    weight = np.broadcast_to(m.weight[:, None, None, None], (m.nInputPlane, 1, m.kH, m.kW))
    return _convolve(g, m, x, "HW", weight, m.bias, group=m.nInputPlane)


@writes(nn.TemporalSubSampling)
def _temporal_sub_sampling(g: Graph, m: Any, x: Value) -> str:
    weight = np.broadcast_to(m.weight[:, None, None], (m.inputFrameSize, 1, m.kW))
    inputs = [g.constant(weight), g.constant(m.bias)]
    return over_frames(g, x, "Conv", inputs, strides=[m.dW], group=m.inputFrameSize)

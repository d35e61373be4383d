"""Layers that move elements, and those that take parts of a tensor or put parts together."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from .. import nn
from ..nn.object.tables import dimension
from .convolutions import batched, unbatched
from .graph import BAKED_IN, Graph, Value, writes


@writes(
    nn.Contiguous,
    nn.GradientReversal,
    nn.Identity,
    nn.L1Penalty,
    nn.PrintSize,
    nn.ZeroGrad,
)
def _identity(g: Graph, _: Any, x: Any) -> Any:
    return [_identity(g, _, entry) for entry in x] if isinstance(x, list) else g.op("Identity", x)


@writes(nn.Copy)
def _copy(g: Graph, _: Any, x: Value) -> str:
    return g.op("Cast", x, to=1)


@writes(nn.Constant, any_size=False)
def _constant(g: Graph, m: Any, x: Value) -> str:
    value = g.constant(m.value)
    dims = _outputs(m, x).dims
    if len(dims) == m.value.ndim:
        return g.op("Identity", value)
    batch = g.op("Shape", x, start=0, end=1)
    return g.op("Expand", value, g.op("Concat", batch, g.ints(*dims[1:]), axis=0))


def _outputs(m: Any, x: Any) -> Value:
    """What a module gives for the samples."""
    return Value("", [m.forward(sample.copy()) for sample in x.samples])


@writes(nn.Collapse, nn.Reshape, nn.Squeeze, nn.Unsqueeze, nn.View)
def _reshape(g: Graph, m: Any, x: Value) -> str:
    output = _outputs(m, x)
    if x.has_free_sizes or output.has_free_sizes:
        if not isinstance(m, (nn.Squeeze, nn.Unsqueeze)):
            raise g.refuse(m, f"{BAKED_IN}; leave height and width as in the example")
        longer, shorter = (x, output) if isinstance(m, nn.Squeeze) else (output, x)
        return g.op(type(m).__name__, x, g.ints(*_ones_missing(longer, shorter)))
    if output.dims.count(-1) > 1:
        raise g.refuse(m, "more than one size of its output depends on the batch")
    return g.reshape(x, output.dims)


def _ones_missing(longer: Value, shorter: Value) -> list[int]:
    """The dimensions of size 1 that the longer of two shapes has beyond the other."""
    left, missing = list(shorter.dims), []
    for axis, size in enumerate(longer.dims):
        if left and left[0] == size:
            left.pop(0)
        else:
            missing.append(axis)
    return missing


@writes(nn.Transpose)
def _transpose(g: Graph, m: Any, x: Value) -> str:
    order = list(range(x.ndim))
    batch = int(m.numInputDims is not None and x.ndim > m.numInputDims)
    for first, second in m.permutations:
        a, b = first - 1 + batch, second - 1 + batch
        order[a], order[b] = order[b], order[a]
    return g.op("Transpose", x, perm=order)


@writes(nn.Convert, any_size=False)
def _convert(g: Graph, m: Any, x: Value) -> str:
    """The same elements in another shape, or with dimensions changed."""
    count = np.arange(x.samples[0].size, dtype=x.samples[0].dtype).reshape(x.shape)
    found = np.array(m.forward(count))
    if np.array_equal(found.ravel(), count.ravel()):
        return str(_reshape(g, m, x))
    for order in permutations(range(x.ndim)):
        if np.array_equal(found, count.transpose(order)):
            return g.op("Transpose", x, perm=order)
    raise g.refuse(m, "it changes dimensions and joins them")


@writes(nn.Replicate)
def _replicate(g: Graph, m: Any, x: Value) -> str:
    axis = m._axis(x.samples[0])
    repeats = [1] * (x.ndim + 1)
    repeats[axis] = int(m.nfeatures)
    return g.op("Tile", g.op("Unsqueeze", x, g.ints(axis)), g.ints(*repeats))


def _slice(g: Graph, x: Value, axis: int, first: int, end: int) -> str:
    return g.op("Slice", x, g.ints(first), g.ints(end), g.ints(axis))


@writes(nn.Narrow)
def _narrow(g: Graph, m: Any, x: Value) -> str:
    axis = dimension(m.typename(), m.dimension, x.ndim)
    length = _outputs(m, x).dims[axis]
    first = 0 if m.index < 0 else m.index - 1
    if length >= 0:
        return _slice(g, x, axis, first, first + length)
    cut = x.shape[axis] - first - m.forward(x.samples[0]).shape[axis]
    return _slice(g, x, axis, first, -cut if cut else np.iinfo(np.int64).max)


@writes(nn.Select)
def _select(g: Graph, m: Any, x: Value) -> str:
    axis = dimension(m.typename(), m.dimension, x.ndim)
    index = m.index - 1 if m.index > 0 else m.index
    return g.op("Gather", x, g.constant(index, np.int64), axis=axis)


@writes(nn.Padding)
def _padding(g: Graph, m: Any, x: Value) -> str:
    axis, place = m._place(x.samples[0])
    if x.dims[axis] == -1 and place not in (0, x.shape[axis]):
        raise g.refuse(m, f"{BAKED_IN}: it counts from the end of a dimension whose size is free")
    first, last = [0] * x.ndim, [0] * x.ndim
    if place == 0:
        first[axis] = abs(m.pad)
    else:
        last[axis] = abs(m.pad)
    given = x if place in (0, x.shape[axis]) else _slice(g, x, axis, 0, place)
    padded = g.op("Pad", given, g.ints(*first, *last), g.constant(m.value), mode="constant")
    if given is x:
        return padded
    return g.op("Concat", padded, _slice(g, x, axis, place, x.shape[axis]), axis=axis)


@writes(nn.Index)
def _index(g: Graph, m: Any, x: list[Value]) -> str:
    indices = g.op("Sub", g.op("Cast", x[1], to=7), g.constant(1, np.int64))
    return g.op("Gather", x[0], indices, axis=m.dimension - 1)


@writes(nn.OneHot, any_size=False)
def _one_hot(g: Graph, m: Any, x: Value) -> str:
    indices = g.op("Sub", g.op("Cast", x, to=7), g.constant(1, np.int64))
    rows = g.reshape(indices, [-1])
    off_on = g.constant([0.0, 1.0])
    hot = g.op("OneHot", rows, g.constant(m.outputSize, np.int64), off_on, axis=-1)
    return g.reshape(hot, _outputs(m, x).dims)


@writes(nn.PixelShuffle)
def _pixel_shuffle(g: Graph, m: Any, x: Value) -> str:
    given, added = batched(g, x, 2)
    y = g.op("DepthToSpace", given, blocksize=int(m.upscaleFactor), mode="CRD")
    return unbatched(g, y, added)


def _pad_planes(g: Graph, m: Any, x: Value, mode: str) -> str:
    sides = [m.pad_l, m.pad_r, m.pad_t, m.pad_b]
    sides = [int(side) for side in sides]
    others = [0] * (x.ndim - 2)
    pads = [*others, sides[2], sides[0], *others, sides[3], sides[1]]
    if mode != "constant" and min(sides) < 0:
        raise g.refuse(m, "it both repeats and crops")
    return g.op("Pad", x, g.ints(*pads), g.constant(0.0), mode=mode)


@writes(nn.SpatialZeroPadding)
def _zero_padding(g: Graph, m: Any, x: Value) -> str:
    return _pad_planes(g, m, x, "constant")


@writes(nn.SpatialReflectionPadding)
def _reflection_padding(g: Graph, m: Any, x: Value) -> str:
    return _pad_planes(g, m, x, "reflect")


@writes(nn.SpatialReplicationPadding)
def _replication_padding(g: Graph, m: Any, x: Value) -> str:
    return _pad_planes(g, m, x, "edge")


@writes(nn.VolumetricReplicationPadding)
def _volumetric_replication_padding(g: Graph, m: Any, x: Value) -> str:
    others = [0] * (x.ndim - 3)
    before, after = [m.pfront, m.ptop, m.pleft], [m.pback, m.pbottom, m.pright]
    if min(*before, *after) < 0:
        raise g.refuse(m, "it both repeats and crops")
    return g.op("Pad", x, g.ints(*others, *before, *others, *after), mode="edge")


@writes(nn.SpatialUpSamplingNearest, nn.SpatialUpSamplingBilinear, nn.UpSampling)
def _up_sampling(g: Graph, m: Any, x: Value) -> str:
    linear = isinstance(m, nn.SpatialUpSamplingBilinear) or m.field("mode") == "linear"
    given, added = batched(g, x, max(x.ndim, 4) - 2)
    output = _outputs(m, x)
    if not linear:
        y = g.op(
            "Resize", given, "", _scales(g, x, output, added), mode="nearest",
            coordinate_transformation_mode="asymmetric", nearest_mode="floor",
        )  # fmt: skip
        return unbatched(g, y, added)
    spatial = max(x.ndim, 4) - 2
    if -1 in output.dims[-spatial:]:
        given_sizes = [_scales(g, x, output, added)]
    else:
        start = g.op("Shape", given, start=0, end=2)
        sizes = g.ints(*output.shape[-spatial:])
        given_sizes = ["", g.op("Concat", start, sizes, axis=0)]
    y = g.op(
        "Resize", given, "", *given_sizes, mode="linear",
        coordinate_transformation_mode="align_corners",
    )  # fmt: skip
    return unbatched(g, y, added)


def _scales(g: Graph, x: Value, output: Value, added: bool) -> str:
    """By how much each dimension grows."""
    scales = [new / old for new, old in zip(output.shape, x.shape, strict=True)]
    return g.constant([1.0] * added + scales)


# ---- Tables


def _axis(m: Any, x: Value) -> int:
    """Of JoinTable and SplitTable: `nInputDims` tells a batch from a sample."""
    if m.dimension < 0:
        return int(x.ndim + m.dimension)
    batch = m.nInputDims is not None and x.ndim == m.nInputDims + 1
    return int(m.dimension - 1 + batch)


@writes(nn.JoinTable)
def _join(g: Graph, m: Any, x: list[Value]) -> str:
    return g.op("Concat", *x, axis=_axis(m, x[0]))


@writes(nn.SplitTable)
def _split(g: Graph, m: Any, x: Value) -> list[str]:
    axis = _axis(m, x)
    if x.dims[axis] == -1:
        raise g.refuse(m, f"{BAKED_IN}: the dimension that it splits has a free size")
    return [g.op("Gather", x, g.constant(i, np.int64), axis=axis) for i in range(x.shape[axis])]


@writes(nn.SelectTable, container=True)
def _select_table(_: Graph, m: Any, x: list[Any]) -> Any:
    return x[m.index - 1 if m.index > 0 else m.index]


@writes(nn.JustElement, container=True)
def _just_element(_: Graph, __: Any, x: list[Any]) -> Any:
    return x[0]


@writes(nn.JustTable, container=True)
def _just_table(_: Graph, __: Any, x: Any) -> Any:
    return [x]


@writes(nn.NarrowTable, container=True)
def _narrow_table(_: Graph, m: Any, x: list[Any]) -> Any:
    return x[m.offset - 1 : m.offset - 1 + m.length]


@writes(nn.FlattenTable, container=True)
def _flatten_table(_: Graph, m: Any, x: list[Any]) -> Any:
    flat: list[Any] = []
    for entry in x:
        flat += _flatten_table(_, m, entry) if isinstance(entry, list) else [entry]
    return flat


@writes(nn.ZipTable, container=True)
def _zip_table(_: Graph, __: Any, x: list[Any]) -> Any:
    return [list(entries) for entries in zip(*x, strict=True)]


@writes(nn.ZipTableOneToMany, container=True)
def _zip_one_to_many(_: Graph, __: Any, x: list[Any]) -> Any:
    return [[x[0], entry] for entry in x[1]]

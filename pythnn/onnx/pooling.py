"""Poolings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import nn
from .convolutions import batched, over_frames, sizes_of, unbatched
from .graph import BAKED_IN, Graph, Pooled, Value, writes


@dataclass
class _Windows:
    """The windows of a layer, axis by axis."""

    kernel: list[int]
    step: list[int]
    dilation: list[int]
    before: list[int]
    """Padding at the beginning."""
    after: list[int]
    """Padding at the end, with which rounding down gives as many windows as the layer has."""

    @property
    def reach(self) -> list[int]:
        """How many elements there are from the first to the last of a window, with these."""
        return [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True)]

    def padded(self, g: Graph, given: Value | str, value: float) -> tuple[Value | str, list[int]]:
        """An input and the padding that is left to the pooling.

        ONNX wants that smaller than the window. More is put around the input as `value`.
        """
        pads = [*self.before, *self.after]
        if all(pad < k for pad, k in zip(pads, self.kernel * 2, strict=True)):
            return given, pads
        around = g.ints(0, 0, *self.before, 0, 0, *self.after)
        return g.op("Pad", given, around, g.constant(value), mode="constant"), [0] * len(pads)


def _windows(m: Any, x: Value, axes: str) -> _Windows:
    """The windows of a layer for the sizes of `x`, or for any where it rounds down."""
    found = _Windows(
        sizes_of(m, "k", axes), sizes_of(m, "d", axes, 1), sizes_of(m, "dilation", axes, 1),
        sizes_of(m, "pad", axes), sizes_of(m, "pad", axes),
    )  # fmt: skip
    if m.ceil_mode:
        outputs = m.forward(x.samples[0]).shape[-len(axes) :]
        inputs = x.shape[-len(axes) :]
        of_axes = zip(outputs, found.step, found.reach, inputs, found.before, strict=True)
        found.after = [max((o - 1) * s + r - i - b, 0) for o, s, r, i, b in of_axes]
    return found


def _padding_behind(g: Graph, given: Value | str, windows: _Windows) -> str:
    """What :attr:`_Windows.after` is, where sizes are free and the layer rounds up.

    The number of windows is that of those which begin inside or in the padding in front; without
    any padding the last one can begin past the end.
    """
    spatial = len(windows.kernel)
    step, before = g.ints(*windows.step), g.ints(*windows.before)
    reach = g.ints(*windows.reach)
    sizes = g.op("Shape", given, start=2, end=2 + spatial)
    begun = g.op("Add", sizes, before)
    room = g.op("Sub", g.op("Add", begun, before), reach)
    up = g.op("Sub", g.op("Add", room, step), g.ints(*[1] * spatial))
    last = g.op("Mul", g.op("Div", up, step), step)  # where the last window begins
    if any(windows.before):
        earlier = g.op("Sub", last, step)
        last = g.op("Where", g.op("Less", last, begun), last, earlier)
    after = g.op("Sub", g.op("Add", last, reach), begun)
    return g.op("Max", after, g.ints(*[0] * spatial))


def _padded_freely(
    g: Graph, given: Value | str, before: list[int], after: str, value: float
) -> str:
    around = g.op("Concat", g.ints(0, 0, *before, 0, 0), after, axis=0)
    return g.op("Pad", given, around, g.constant(value), mode="constant")


def _max_pool(g: Graph, m: Any, x: Value, axes: str) -> str:
    given, added = batched(g, x, len(axes))
    windows = _windows(m, x, axes)
    lowest = float(np.finfo(np.float32).min)  # what a window without elements gives
    if m.ceil_mode and x.has_free_sizes:
        behind = _padding_behind(g, given, windows)
        inside: Value | str = _padded_freely(g, given, windows.before, behind, lowest)
        pads = [0] * 2 * len(axes)
    else:
        inside, pads = windows.padded(g, given, lowest)
    y, indices = g.ops(
        "MaxPool", 2, inside, kernel_shape=windows.kernel, strides=windows.step, pads=pads,
        dilations=windows.dilation,
    )  # fmt: skip
    g.pooled[id(m)] = Pooled(indices, given, inside, windows.before)
    return unbatched(g, y, added)


@writes(nn.SpatialMaxPooling)
def _spatial_max_pooling(g: Graph, m: Any, x: Value) -> str:
    return _max_pool(g, m, x, "HW")


@writes(nn.VolumetricMaxPooling)
def _volumetric_max_pooling(g: Graph, m: Any, x: Value) -> str:
    return _max_pool(g, m, x, "THW")


@writes(nn.TemporalMaxPooling)
def _temporal_max_pooling(g: Graph, m: Any, x: Value) -> str:
    return over_frames(g, x, "MaxPool", [], kernel_shape=[m.kW], strides=[m.dW])


def _average_pool(g: Graph, m: Any, x: Value, axes: str) -> str:
    """ONNX's mean of whole windows, times what the layer divides by something else."""
    given, added = batched(g, x, len(axes))
    windows = _windows(m, x, axes)
    if x.has_free_sizes:
        y = _average_of_any_size(g, m, given, windows)
    else:
        inside, pads = windows.padded(g, given, 0.0)
        y = _mean(g, inside, windows, pads)
        factor = _factor(m, x, windows)
        if not np.allclose(factor, 1, rtol=1e-6):
            y = g.op("Mul", y, g.constant(factor))
    return unbatched(g, y, added)


def _mean(
    g: Graph, given: Value | str, windows: _Windows, pads: list[int] | None = None, whole: int = 1
) -> str:
    """The mean over windows; unless it is over whole ones, padding does not count."""
    return g.op(
        "AveragePool", given, kernel_shape=windows.kernel, strides=windows.step,
        pads=pads or [0] * 2 * len(windows.kernel), count_include_pad=whole,
    )  # fmt: skip


def _factor(m: Any, x: Value, windows: _Windows) -> Any:
    """By what the layer's output differs from the mean of whole windows, for each of them."""
    sizes = x.shape[-len(windows.kernel) :]
    found = np.asarray(m.forward(np.ones((1, *sizes), x.held[0].dtype)))[0]
    return found * math.prod(windows.kernel) / _elements_inside(windows, sizes)


def _elements_inside(windows: _Windows, sizes: tuple[int, ...]) -> Any:
    """How many elements of the input each window holds, 1 for none."""
    counts = np.ones(())
    for axis, size in enumerate(sizes):
        kernel, step = windows.kernel[axis], windows.step[axis]
        before, after = windows.before[axis], windows.after[axis]
        number = (size + before + after - kernel) // step + 1
        first = np.arange(number) * step - before
        along = np.minimum(first + kernel, size) - np.maximum(first, 0)
        counts = counts[..., None] * np.maximum(along, 1)
    return counts


def _average_of_any_size(g: Graph, m: Any, given: Value | str, windows: _Windows) -> str:
    """As the layer divides: by the elements that count, or by none."""
    elements = math.prod(windows.kernel)
    included = bool(m.count_include_pad)
    if not m.ceil_mode:
        pads = [*windows.before, *windows.after]
        y = _mean(g, given, windows, pads, whole=int(included))
    else:
        behind = _padding_behind(g, given, windows)
        sums = _mean(g, _padded_freely(g, given, windows.before, behind, 0.0), windows)
        counted = _ones_that_count(g, given, windows, behind, included)
        shares = g.op("Max", _mean(g, counted, windows), g.constant(1 / elements))
        y = g.op("Div", sums, shares)
    divides = m.field("divide") is not False  # volumes have no such field
    return y if divides else g.op("Mul", y, g.constant(float(elements)))


def _ones_that_count(
    g: Graph, given: Value | str, windows: _Windows, behind: str, included: bool
) -> str:
    """1 for each element of a plane, of its padding too where that counts, among zeros."""
    spatial = len(windows.kernel)
    sizes = g.op("Shape", given, start=2, end=2 + spatial)
    ones = g.op("Expand", g.constant(1.0), g.op("Concat", g.ints(1, 1), sizes, axis=0))
    if not included:
        return _padded_freely(g, ones, windows.before, behind, 0.0)
    counting = g.op("Min", behind, g.ints(*windows.before))
    ones = _padded_freely(g, ones, windows.before, counting, 1.0)
    return _padded_freely(g, ones, [0] * spatial, g.op("Sub", behind, counting), 0.0)


@writes(nn.SpatialAveragePooling)
def _spatial_average_pooling(g: Graph, m: Any, x: Value) -> str:
    return _average_pool(g, m, x, "HW")


@writes(nn.VolumetricAveragePooling)
def _volumetric_average_pooling(g: Graph, m: Any, x: Value) -> str:
    return _average_pool(g, m, x, "THW")


def _regions(size: int, count: int) -> list[tuple[int, int]]:
    """First and end of the regions of adaptive pooling."""
    return [(i * size // count, -((i + 1) * -size // count)) for i in range(count)]


def _adapted(g: Graph, m: Any, x: Value) -> tuple[int, int]:
    """The size of the output of adaptive pooling; free sizes only give one element."""
    height, width = m.forward(x.samples[0]).shape[-2:]
    if x.has_free_sizes and (height, width) != (1, 1):
        raise g.refuse(m, f"{BAKED_IN}; leave height and width as in the example")
    return int(height), int(width)


@writes(nn.SpatialAdaptiveAveragePooling)
def _adaptive_average_pooling(g: Graph, m: Any, x: Value) -> str:
    """A product with a matrix of shares from either side."""
    outputs = _adapted(g, m, x)
    if outputs == (1, 1):
        return g.op("ReduceMean", x, axes=[-2, -1], keepdims=1)
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
    height, width = _adapted(g, m, x)
    if height == width == 1:
        return g.op("ReduceMax", x, axes=[-2, -1], keepdims=1)
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
    given, added = batched(g, x, spatial)
    # Not MaxUnpool, for which the input may not have been smaller than its windows together.
    shape = g.op("Shape", known.inside)
    zeros = g.op("Expand", g.constant(0.0), g.op("ReduceProd", shape, axes=[0], keepdims=1))
    flat = [g.reshape(one, [-1]) for one in (known.indices, given)]
    y = g.op("Reshape", g.op("ScatterElements", zeros, *flat, axis=0), shape)
    if known.inside is not known.given:
        start = g.ints(0, 0, *known.before)
        y = g.op("Slice", y, start, g.op("Add", start, g.op("Shape", known.given)))
    return unbatched(g, y, added)

"""Layers that take parts out of images, and what neighbours they compute with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import nn
from .graph import Graph, Table, Value, writes

# ---- Grids


@writes(nn.AffineGridGeneratorBHWD)
def _grid(g: Graph, m: Any, x: Value) -> str:
    pixels = m.baseGrid.reshape(-1, 3)
    order = [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
    found = g.op("MatMul", g.constant(pixels), g.op("Transpose", x, perm=order))
    batch = x.dims[:-2]
    return g.reshape(found, [*([-1] if batch else []), int(m.height), int(m.width), 2])


@writes(nn.AffineTransformMatrixGenerator)
def _matrices(g: Graph, m: Any, x: Value) -> str:
    if x.ndim != 2:
        raise g.refuse(m, "it is written for a batch alone")
    if m._is_full():
        return g.reshape(x, [-1, 2, 3])
    parts = [g.op("Slice", x, g.ints(i), g.ints(i + 1), g.ints(1)) for i in range(x.shape[1])]
    zero = g.op("Mul", parts[0], g.constant(0.0))
    angle = parts.pop(0) if m.useRotation else zero
    cosine, sine = g.op("Cos", angle), g.op("Sin", angle)
    if m.useScale:
        scale = parts.pop(0)
        cosine, sine = g.op("Mul", scale, cosine), g.op("Mul", scale, sine)
    shift = parts if m.useTranslation else [zero, zero]
    rows = [(cosine, g.op("Neg", sine)), (sine, cosine)]
    numbers: list[str] = []
    for row in rows:
        last = [g.op("Mul", one, by) for one, by in zip(row, shift, strict=True)]
        numbers += [*row, g.op("Add", *last)]
    return g.reshape(g.op("Concat", *numbers, axis=1), [-1, 2, 3])


def _sampled(g: Graph, images: Any, places: Any) -> str:
    """Pixels of images, batch x height x width x planes, at places, along the height first."""
    planes_first = g.op("Transpose", images, perm=[0, 3, 1, 2])
    turned = g.op("Gather", places, g.ints(1, 0), axis=3)
    found = g.op(
        "GridSample", planes_first, turned, mode="bilinear", padding_mode="zeros", align_corners=1
    )
    return g.op("Transpose", found, perm=[0, 2, 3, 1])


@writes(nn.BilinearSamplerBHWD)
def _sampler(g: Graph, m: Any, x: list[Value]) -> str:
    if any(one.ndim != 4 for one in x):
        raise g.refuse(m, "it is written for batches alone")
    return _sampled(g, *x)


def _for_each(g: Graph, image: Any, others: Value) -> str:
    """An image, 1 x ..., as often as there are others."""
    count = g.op("Slice", g.op("Shape", others), g.ints(0), g.ints(1))
    return g.op("Expand", image, g.op("Concat", count, g.ints(1, 1, 1), axis=0))


@writes(nn.BatchBilinearSamplerBHWD)
def _sampler_of_one(g: Graph, _: Any, x: list[Value]) -> str:
    image: Any = g.op("Unsqueeze", x[0], g.ints(0)) if x[0].ndim == 3 else x[0]
    return _sampled(g, _for_each(g, image, x[1]), x[1])


def _affine(g: Graph, x: Value, height: int, width: int) -> str:
    """Boxes as matrices."""
    rows = np.zeros((6, 4))
    rows[0, 3], rows[4, 2] = 1 / height, 1 / width
    rows[2, 1], rows[5, 0] = 2 / (height - 1), 2 / (width - 1)
    more = np.zeros(6)
    more[2], more[5] = -(height + 1) / (height - 1), -(width + 1) / (width - 1)
    found = g.op("Add", g.op("MatMul", x, g.constant(rows.T)), g.constant(more))
    return g.reshape(found, [-1, 2, 3])


@writes(nn.BoxToAffine)
def _box_to_affine(g: Graph, m: Any, x: Value) -> str:
    return _affine(g, x, *m._sides(x.samples[0]))


@writes(nn.BilinearRoiPooling)
def _boxes_of_features(g: Graph, m: Any, x: list[Value]) -> str:
    matrices, grid, _ = m._layers()
    affine = _affine(g, x[1], *matrices._sides(x[1].samples[0]))
    pixels = g.constant(grid.baseGrid.reshape(-1, 3))
    places = g.op("MatMul", pixels, g.op("Transpose", affine, perm=[0, 2, 1]))
    places = g.reshape(places, [-1, int(m.height), int(m.width), 2])
    image = g.op("Transpose", g.op("Unsqueeze", x[0], g.ints(0)), perm=[0, 2, 3, 1])
    found = _sampled(g, _for_each(g, image, x[1]), places)
    return g.op("Transpose", found, perm=[0, 3, 1, 2])


# ---- Boxes


def _halves(g: Graph, x: Value) -> list[str]:
    """Centres and sizes of boxes; moves and scales of transforms."""
    return g.ops("Split", 2, x, axis=-1)


@writes(nn.ApplyBoxTransform)
def _moved(g: Graph, _: Any, x: list[Value]) -> str:
    (centres, sizes), (moves, scales) = _halves(g, x[0]), _halves(g, x[1])
    moved = g.op("Add", centres, g.op("Mul", moves, sizes))
    return g.op("Concat", moved, g.op("Mul", sizes, g.op("Exp", scales)), axis=-1)


@writes(nn.InvertBoxTransform)
def _transform(g: Graph, _: Any, x: list[Value]) -> str:
    (centres, sizes), (moved, scaled) = _halves(g, x[0]), _halves(g, x[1])
    moves = g.op("Div", g.op("Sub", moved, centres), sizes)
    return g.op("Concat", moves, g.op("Log", g.op("Div", scaled, sizes)), axis=-1)


@writes(nn.MakeAnchors, any_size=False)
def _anchors(g: Graph, m: Any, x: Value) -> str:
    boxes = m.forward(np.zeros((1, 1, *x.shape[2:]), m.dtype))
    batch = g.op("Slice", g.op("Shape", x), g.ints(0), g.ints(1))
    shape = g.op("Concat", batch, g.ints(*boxes.shape[1:]), axis=0)
    return g.op("Expand", g.constant(boxes), shape)


@writes(nn.ReshapeBoxFeatures, any_size=False)
def _rows_of_boxes(g: Graph, m: Any, x: Value) -> str:
    _, planes, height, width = x.shape
    k = int(m.k)
    parts = g.reshape(x, [-1, k, planes // k, height, width])
    turned = g.op("Transpose", parts, perm=[0, 1, 3, 4, 2])
    return g.reshape(turned, [-1, k * height * width, planes // k])


@writes(nn.inn.ROIPooling)
def _regions(g: Graph, m: Any, x: list[Value]) -> str:
    """ONNX counts from 0, and its regions have their last pixels too."""
    if m.field("v2"):
        raise g.refuse(m, "its regions end before their last pixels (the field v2)")
    regions = g.op("Sub", x[1], g.constant(1.0))
    shape = [int(m.H), int(m.W)]
    return g.op("MaxRoiPool", x[0], regions, pooled_shape=shape, spatial_scale=m.spatial_scale)


@writes(nn.SpatialUniformCrop, any_size=False)
def _crop(g: Graph, m: Any, x: Value) -> str:
    images = x.samples[0] if x.ndim == 4 else x.samples[0][None]
    starts = [int(place) for place in m._places(images)[0]]
    ends = [start + int(size) for start, size in zip(starts, (m.oheight, m.owidth), strict=True)]
    return g.op("Slice", x, g.ints(*starts), g.ints(*ends), g.ints(x.ndim - 2, x.ndim - 1))


# ---- Neighbours


@writes(nn.inn.SpatialSameResponseNormalization)
def _normalized_by_neighbours(g: Graph, m: Any, x: Value) -> str:
    if x.ndim != 4:
        raise g.refuse(m, "it is written for a batch of images alone")
    size = int(m.size)
    before, after = size // 2, size - 1 - size // 2
    means = g.op(
        "AveragePool", g.op("Mul", x, x), kernel_shape=[size, size],
        pads=[before, before, after, after], count_include_pad=1,
    )  # fmt: skip
    base = g.op("Add", g.op("Mul", means, g.constant(m.alpha)), g.constant(m.k))
    return g.op("Mul", x, g.op("Pow", base, g.constant(-m.beta)))


@writes(nn.inn.SpatialStochasticPooling, any_size=False)
def _weighed_means(g: Graph, m: Any, x: Value) -> str:
    """The sum of squares of each window, divided by the sum; where that is 0, by 1."""
    if x.ndim != 4:
        raise g.refuse(m, "it is written for a batch of images alone")
    kernel, steps = [int(m.kH), int(m.kW)], [int(m.dH), int(m.dW)]
    ends = [
        max(math.ceil((whole - size) / step), 0) * step + size - whole
        for whole, size, step in zip(x.shape[2:], kernel, steps, strict=True)
    ]
    sums = [
        g.op("AveragePool", value, kernel_shape=kernel, strides=steps,
             pads=[0, 0, *(max(end, 0) for end in ends)], count_include_pad=1)
        for value in (g.op("Mul", x, x), x)
    ]  # fmt: skip
    empty = g.op("Cast", g.op("Equal", sums[1], g.constant(0.0)), to=1)
    return g.op("Div", sums[0], g.op("Add", sums[1], empty))


@writes(nn.GramMatrix)
def _products_of_planes(g: Graph, m: Any, x: Value) -> str:
    if x.ndim != 4:
        raise g.refuse(m, "it is written for a batch of images alone")
    rows = g.reshape(x, [0, 0, -1])
    found = g.op("MatMul", rows, g.op("Transpose", rows, perm=[0, 2, 1]))
    if not m.normalize:
        return found
    if x.has_free_sizes:
        raise g.refuse(m, "it divides by the number of elements of an image of one size")
    return g.op("Div", found, g.constant(float(math.prod(x.shape[1:]))))


@writes(nn.SpatialPyramid, container=True, any_size=False)
def _pyramid(g: Graph, m: Any, x: Value) -> list[Value]:
    """Sizes are changed by products with shares of rows and columns."""
    if x.ndim != 4:
        raise g.refuse(m, "it is written for a batch of images alone")

    def resized(value: Any, matrices: Any) -> str:
        rows, columns = matrices
        product = g.op("MatMul", g.constant(rows), value)
        return g.op("MatMul", product, g.constant(columns.T))

    images, outputs = x.samples[0], []
    before, after = zip(*m._sides(), strict=True)
    for ratio, (name, module) in zip(m.ratios, g.modules(m), strict=True):
        small = resized(x, m._shrink(images, ratio))
        padded = g.op("Pad", small, g.ints(*before, *after), g.constant(0.0))
        samples = [m._given(sample, ratio) for sample in x.samples]
        found: Any = g.module(module, Value(padded, samples), name)
        rows, columns = m._grow(images, found.samples[0])
        whole = [rows @ sample @ columns.T for sample in found.samples]
        outputs.append(Value(resized(found, (rows, columns)), whole))
    return outputs


# ---- Tables


@writes(nn.PushTable, container=True)
def _push(g: Graph, m: Any, x: list[Table]) -> Table:
    place = int(m.index) - 1
    g.pushed[id(m)] = x[place]
    return [*x[:place], *x[place + 1 :]]


@writes(nn.PullTable, container=True)
def _pull(g: Graph, m: Any, x: Table) -> Table:
    if id(m._push) not in g.pushed:
        raise g.refuse(m, "its PushTable comes after it, or is not in the model")
    place, entries = int(m.index) - 1, x if isinstance(x, list) else [x]
    return [*entries[:place], g.pushed[id(m._push)], *entries[place:]]

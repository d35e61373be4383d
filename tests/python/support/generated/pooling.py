"""Pooling of all kinds, unpooling and subsampling."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from support.definitions.pooling import Windows, regions

from . import INDICES, RESULT, Added, Draw, family


class DrawnWindows(Windows):
    """Windows of a drawn geometry."""

    def __init__(
        self, draw: Draw, dimensions: int, dilated: bool = False, plain: bool = False
    ) -> None:
        """Plain ones have no padding and lie in the plane."""
        most = {1: 33, 2: 17, 3: 5}[dimensions]
        while True:
            self.size = draw.sizes("size", dimensions, most)
            self.kernel, self.stride, self.pad, self.dilation = [], [], [], []
            for _ in range(dimensions):
                kernel = draw.one_of("kernel", [1, 1, 2, 3, 4, 5])
                self.kernel.append(kernel)
                self.stride.append(draw.between("stride", 1, 6))
                self.pad.append(draw.between("pad", 0, 0 if plain else min(kernel // 2, 2)))
                self.dilation.append(draw.between("dilation", 1, 3) if dilated else 1)
            self.ceil = not plain and draw.one_of("ceil", [False, True])
            self.output = [self.positions(d, any(self.pad)) for d in range(dimensions)]
            if min(self.output) > 0:
                draw.chosen.update(vars(self))
                return


def planes_of(draw: Draw) -> tuple[int, ...]:
    """Batch and planes, or planes alone."""
    planes = draw.size("planes", 33)
    batch = draw.one_of("batch", [None, 1, 2])
    return (planes,) if batch is None else (batch, planes)


def everywhere(at: Sequence[Any]) -> tuple[Any, ...]:
    """The same elements of all planes."""
    return (..., *at)


def put(shape: Sequence[int], dimensions: int, number: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Adds each plane's gradients to the elements of these numbers, from 0; below 0 to none."""
    result = np.zeros((prod(shape[:-dimensions]), prod(shape[-dimensions:])))
    for plane, n, values in zip(
        result, number.reshape(len(result), -1), g.reshape(len(result), -1), strict=True
    ):
        np.add.at(plane, n[n >= 0], values[n >= 0])
    return result.reshape(shape)


MAX = {
    "SpatialMaxPooling": (2, False),
    "SpatialDilatedMaxPooling": (2, True),
    "VolumetricMaxPooling": (3, False),
    "VolumetricDilatedMaxPooling": (3, True),
}


@family(600)
def maximum(draw: Draw) -> None:
    module = draw.one_of("module", list(MAX))
    dimensions, dilated = MAX[module]
    w = DrawnWindows(draw, dimensions, dilated)
    lead = planes_of(draw)
    x = draw.integers(*lead, *w.size)
    best = np.full((*lead, *w.output), np.finfo(draw.real).min, draw.real)
    element, offsets = np.full(best.shape, -1), np.zeros(best.shape, np.int64)
    for tap, at, inside in w.taps():
        value = x[everywhere(at)]
        taken = inside & (value > best)
        best[taken] = value[taken]
        element[taken] = np.broadcast_to(np.ravel_multi_index(at, w.size), best.shape)[taken]
        offsets[taken] = sum(t << 8 * i for i, t in enumerate(tap))
    settings = [w.kernel, w.stride, w.pad, *([w.dilation] if dilated else [])]
    arguments = [*w.arguments(*settings), w.ceil]
    output, indices = draw.results(f"{module}_updateOutput", x, RESULT, INDICES, *arguments)
    draw.equal("output", output, best)
    empty = element < 0  # a window that sees nothing
    wanted = element + 1 if dimensions == 2 else offsets
    draw.equal("indices", np.where(empty, 0, indices), np.where(empty, 0, wanted))
    if empty.any():
        return
    g = draw.integers(*best.shape)
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, indices, *arguments)
    draw.equal("gradInput", found, put(x.shape, dimensions, element, g))


@family(500)
def average(draw: Draw) -> None:
    dimensions = draw.between("dimensions", 2, 3)
    w = DrawnWindows(draw, dimensions)
    lead, count_padding = planes_of(draw), draw.one_of("count padding", [True, False])
    x, count = draw.integers(*lead, *w.size), np.zeros(w.output)
    g = draw.integers(*lead, *w.output)
    total, magnitude = np.zeros(g.shape), np.zeros(g.shape)
    for _, at, inside in w.taps():
        total += np.where(inside, x[everywhere(at)], 0)
        magnitude += np.where(inside, np.abs(x[everywhere(at)]), 0)
        count += inside
    if count_padding:
        starts = [np.arange(o) * s - p for o, s, p in zip(w.output, w.stride, w.pad, strict=True)]
        lengths = [
            np.minimum(a + k, n + p) - a
            for a, k, n, p in zip(starts, w.kernel, w.size, w.pad, strict=True)
        ]
        count = np.where(count > 0, prod(np.ix_(*lengths)), 0)
    share = np.divide(1, count, out=np.zeros(w.output), where=count > 0)
    gradient, size = np.zeros(x.shape), np.zeros(x.shape)
    for _, at, inside in w.taps():
        np.add.at(gradient, everywhere(at), np.where(inside, g * share, 0))
        np.add.at(size, everywhere(at), np.where(inside, np.abs(g) * share, 0))
    module = "SpatialAveragePooling" if dimensions == 2 else "VolumetricAveragePooling"
    arguments = [*w.arguments(w.kernel, w.stride, w.pad), w.ceil, count_padding]
    terms = prod(w.kernel) + 3
    output = draw.result(f"{module}_updateOutput", x, RESULT, *arguments)
    draw.close("output", output, total * share, magnitude * share, terms)
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, *arguments)
    draw.close("gradInput", found, gradient, size, terms)


@family(300)
def adaptive(draw: Draw) -> None:
    lead, size, output = planes_of(draw), draw.sizes("size", 2), draw.sizes("output", 2, 9)
    x, g = draw.integers(*lead, *size), draw.integers(*lead, *output)
    best, element = np.zeros(g.shape), np.zeros((*lead, *output), int)
    places = np.zeros((2, *g.shape), int)  # rows and columns in the regions
    mean, shares = np.zeros(g.shape), np.zeros(x.shape)
    magnitude, sizes = np.zeros(g.shape), np.zeros(x.shape)
    cuts = {
        single: [regions(n, o, single) for n, o in zip(size, output, strict=True)]
        for single in (True, False)
    }
    for i, j in np.ndindex(*output):
        rows, columns = cuts[True][0][i], cuts[True][1][j]
        part = x[..., rows, columns].reshape(*lead, -1)
        first = part.argmax(-1)
        best[..., i, j] = part.max(-1)
        width = columns.stop - columns.start
        places[0][..., i, j], places[1][..., i, j] = first // width, first % width
        element[..., i, j] = (rows.start + first // width) * size[1] + columns.start + first % width
        part = x[..., cuts[False][0][i], cuts[False][1][j]].astype(float)
        count = part[(0,) * len(lead)].size
        mean[..., i, j] = part.mean((-2, -1))
        magnitude[..., i, j] = np.abs(part).mean((-2, -1))
        share = (g[..., i, j] / count)[..., None, None]
        shares[..., cuts[False][0][i], cuts[False][1][j]] += share
        sizes[..., cuts[False][0][i], cuts[False][1][j]] += np.abs(share)
    module = "SpatialAdaptiveMaxPooling"
    found, indices = draw.results(f"{module}_updateOutput", x, RESULT, INDICES, *output[::-1])
    draw.equal("output", found, best)
    draw.equal("indices", indices, places + 1)
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, indices)
    draw.equal("gradInput", found, put(x.shape, 2, element, g))
    module = "SpatialAdaptiveAveragePooling"
    found = draw.result(f"{module}_updateOutput", x, RESULT, *output[::-1])
    terms = prod(size) + 3
    draw.close("mean", found, mean, magnitude, terms)
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT)
    draw.close("gradient of the mean", found, shares, sizes, prod(output) + 3)


@family(200)
def fractional(draw: Draw) -> None:
    dimensions = draw.between("dimensions", 2, 3)
    lead = planes_of(draw)[-2:]
    output, pool = draw.sizes("output", dimensions, 4), draw.sizes("pool", dimensions, 3)
    size = [o + p + draw.between("more", 0, 5) for o, p in zip(output, pool, strict=True)]
    draw.chosen["size"] = size
    lead = lead if len(lead) == 2 else (1, *lead)
    x, g = draw.integers(*lead, *size), draw.integers(*lead, *output)
    samples = draw.random.random((*lead, dimensions)).astype(draw.real)
    best, element = np.zeros(g.shape), np.zeros(g.shape, int)
    real = draw.real
    for plane in np.ndindex(*lead):
        starts = []
        for n, c, p, u in zip(size, output, pool, samples[plane][::-1], strict=True):
            step = real(n - p) / real(c - 1) if c > 1 else real(0)
            starts.append([int((real(i) + u) * step) - int(u * step) for i in range(c - 1)])
            starts[-1].append(n - p)
        for position in np.ndindex(*output):
            corner = [start[i] for start, i in zip(starts, position, strict=True)]
            region = tuple(slice(c, c + p) for c, p in zip(corner, pool, strict=True))
            first = np.unravel_index(x[plane][region].argmax(), pool)
            at = tuple(c + f for c, f in zip(corner, first, strict=True))
            best[(*plane, *position)] = x[plane][at]
            element[(*plane, *position)] = np.ravel_multi_index(at, size)
    module = f"{'Spatial' if dimensions == 2 else 'Volumetric'}FractionalMaxPooling"
    numbers = [*output[::-1], *pool[::-1]]
    found, indices = draw.results(f"{module}_updateOutput", x, RESULT, *numbers, INDICES, samples)
    draw.equal("output", found, best)
    draw.equal("indices", indices, element + 1)
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, *numbers, indices)
    draw.equal("gradInput", found, put(x.shape, dimensions, element, g))


@family(300)
def temporal_maximum(draw: Draw) -> None:
    w = DrawnWindows(draw, 1, plain=True)
    features, batch = draw.size("features"), draw.one_of("batch", [None, 1, 2])
    lead = () if batch is None else (batch,)
    x = draw.integers(*lead, *w.size, features)
    g = draw.integers(*lead, *w.output, features)
    starts = np.arange(w.output[0]) * w.stride[0]
    taps = np.stack([x[..., starts + k, :] for k in range(w.kernel[0])])
    frame = taps.argmax(0)
    output, indices = draw.results(
        "TemporalMaxPooling_updateOutput", x, RESULT, INDICES, w.kernel[0], w.stride[0]
    )
    draw.equal("output", output, taps.max(0))
    draw.equal("indices", indices, frame)
    gradient = np.zeros(x.shape)
    for k in range(w.kernel[0]):
        np.add.at(gradient, (..., starts + k, slice(None)), np.where(frame == k, g, 0))
    found = draw.result(
        "TemporalMaxPooling_updateGradInput", x, g, RESULT, indices, w.kernel[0], w.stride[0]
    )
    draw.equal("gradInput", found, gradient)


@family(300)
def subsampling(draw: Draw) -> None:
    dimensions = draw.between("dimensions", 1, 2)
    w = DrawnWindows(draw, dimensions, plain=True)
    if dimensions == 1:
        lead: tuple[int, ...] = (draw.size("planes"),)
    else:
        lead = planes_of(draw)
    planes = lead[-1]
    x, g = draw.integers(*lead, *w.size), draw.integers(*lead, *w.output)
    weight, bias = draw.integers(planes), draw.integers(planes)
    factor = weight.reshape(-1, *[1] * dimensions)
    sums, gradient = np.zeros(g.shape), np.zeros(x.shape)
    for _, at, _ in w.taps():
        sums += x[everywhere(at)]
        np.add.at(gradient, everywhere(at), g * factor)

    def arranged(a: np.ndarray) -> np.ndarray:
        return a.swapaxes(-1, -2) if dimensions == 1 else a

    module = "TemporalSubSampling" if dimensions == 1 else "SpatialSubSampling"
    arguments = w.arguments(w.kernel, w.stride)
    x, g = arranged(x), arranged(g)
    more = [planes] if dimensions == 1 else []
    output = draw.result(f"{module}_updateOutput", x, RESULT, weight, bias, *arguments, *more)
    draw.equal("output", output, arranged(sums * factor + bias.reshape(factor.shape)))
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, weight, *arguments)
    draw.equal("gradInput", found, arranged(gradient))
    gw, gb = draw.added(
        f"{module}_accGradParameters",
        x,
        g,
        Added([planes]),
        Added([planes]),
        *arguments,
        draw.scale,
    )
    flat = tuple(d for d in range(sums.ndim) if d != len(lead) - 1)
    draw.equal("gradWeight", gw, draw.scale * (arranged(g) * sums).sum(flat))
    draw.equal("gradBias", gb, draw.scale * arranged(g).astype(float).sum(flat))


@family(300)
def unpooling(draw: Draw) -> None:
    """Of indices of max pooling without overlap, so that no two values meet."""
    dimensions = draw.between("dimensions", 2, 3)
    step, count = draw.sizes("step", dimensions, 3), draw.sizes("count", dimensions, 5)
    lead = planes_of(draw)
    size = [s * c for s, c in zip(step, count, strict=True)]
    x, g = draw.integers(*lead, *count), draw.integers(*lead, *size)
    offset = [draw.random.integers(0, s, x.shape) for s in step]
    start = np.meshgrid(
        *(np.arange(c) * s for c, s in zip(count, step, strict=True)), indexing="ij"
    )
    element = np.ravel_multi_index([a + o for a, o in zip(start, offset, strict=True)], size)
    order = [1, 0] if dimensions == 2 else [0, 2, 1]
    numbers = [size[d] for d in order]
    if dimensions == 2:
        module, indices = "SpatialMaxUnpooling", element + 1
    else:
        module = "VolumetricMaxUnpooling"
        indices = sum(o << 8 * i for i, o in enumerate(offset))
        numbers += [step[d] for d in order] + [0, 0, 0]
    output = draw.result(f"{module}_updateOutput", x, RESULT, indices, *numbers)
    draw.equal("output", output, put(g.shape, dimensions, element, x))
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, indices, *numbers)
    taken = np.take_along_axis(g.reshape(*lead, -1), element.reshape(*lead, -1), -1).reshape(
        x.shape
    )
    draw.equal("gradInput", found, taken)


@family(300)
def p_norm(draw: Draw) -> None:
    width, stride = draw.between("width", 2, 16), draw.between("stride", 1, 4)
    features = width + draw.between("more", 0, 9)
    batch = draw.one_of("batch", [None, 1, 2])
    inner = draw.sizes("inner", draw.between("dimensions", 0, 2), 9)
    lead = () if batch is None else (batch,)
    power = draw.one_of("power", [1.0, 2.0, 3.0])
    x = np.abs(draw.normal(*lead, features, *inner)) + draw.real(0.25)
    axis = len(lead)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(float), width, axis)
    windows = windows.take(np.arange(0, features - width + 1, stride), axis)
    wanted = (windows**power).sum(-1) ** (1 / power)
    numbers = (power, width, stride, batch is not None)
    output = draw.result("FeatureLPPooling_updateOutput", x, RESULT, *numbers)
    draw.close("output", output, wanted, wanted, 2 * width + 20)
    g = draw.normal(*wanted.shape)
    share = g[..., None] * (windows / wanted[..., None]) ** (power - 1)
    gradient, size = np.zeros(x.shape), np.zeros(x.shape)
    for window in range(wanted.shape[axis]):
        place = (*[slice(None)] * axis, slice(window * stride, window * stride + width))
        part = np.moveaxis(share.take(window, axis), -1, axis)
        gradient[place] += part
        size[place] += np.abs(part)
    found = draw.result("FeatureLPPooling_updateGradInput", g, x, output, RESULT, *numbers)
    draw.close("gradInput", found, gradient, size, 4 * width + 40)


@family(300)
def reduction(draw: Draw) -> None:
    """Sums, means and extremes along a dimension: the first of equal elements, the first NaN."""
    x = draw.integers(*draw.sizes("sizes", draw.between("dimensions", 1, 4)))
    dim, keep = draw.between("dim", 1, x.ndim), draw.one_of("keep", [False, True])
    keeps, size = keep or x.ndim == 1, x.shape[dim - 1]
    total = draw.result("Reduction_updateOutput", x, RESULT, None, dim, keep, 0)
    draw.equal("sum", total, x.sum(dim - 1, keepdims=keeps))
    mean = draw.result("Reduction_updateOutput", x, RESULT, None, dim, keep, 1)
    sizes = np.abs(x).sum(dim - 1, keepdims=keeps) / size
    draw.close("mean", mean, x.astype(float).mean(dim - 1, keepdims=keeps), sizes, 2)
    gradient = draw.integers(*total.shape)
    kept = tuple(1 if d == dim - 1 else n for d, n in enumerate(x.shape))
    whole = np.broadcast_to(gradient.reshape(kept), x.shape)
    for mode, divisor in ((0, 1), (1, size)):
        arguments = x, gradient, RESULT, None, dim, mode
        spread = draw.result("Reduction_updateGradInput", *arguments)
        draw.close("gradient of sums", spread, whole / divisor, np.abs(whole) / divisor, 1)
    if draw.flag():
        x[draw.random.random(x.shape) < 0.1] = np.nan
    for mode, choice in ((2, np.argmax), (3, np.argmin)):
        places = choice(x, dim - 1)
        if keeps:
            places = np.expand_dims(places, dim - 1)
            wanted = np.take_along_axis(x, places, dim - 1)
        else:
            wanted = np.take_along_axis(x, places[(slice(None),) * (dim - 1) + (None,)], dim - 1)
            wanted = wanted.squeeze(dim - 1)
        best, found = draw.results("Reduction_updateOutput", x, RESULT, INDICES, dim, keep, mode)
        draw.equal("extreme", best, wanted)
        draw.equal("place", found, places + 1)
        alone = draw.result("Reduction_updateOutput", x, RESULT, None, dim, keep, mode)
        draw.equal("extreme alone", alone, wanted)
        arguments = x, gradient, RESULT, found, dim, mode
        spread = draw.result("Reduction_updateGradInput", *arguments)
        named = np.zeros(x.shape)
        at = choice(x, dim - 1).reshape(kept)
        np.put_along_axis(named, at, gradient.reshape(kept), dim - 1)
        draw.equal("gradient of the extreme", spread, named)

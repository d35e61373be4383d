"""Padding, upsampling and the grid sampler."""

from __future__ import annotations

from itertools import product

import numpy as np

from . import RESULT, Draw, family
from .pooling import planes_of


@family(300)
def padding(draw: Draw) -> None:
    module = draw.one_of(
        "module", ["SpatialReflection", "SpatialReplication", "VolumetricReplication"]
    )
    dimensions = 2 if module.startswith("Spatial") else 3
    lead, size = planes_of(draw), draw.sizes("size", dimensions, 9 if dimensions == 2 else 4)
    maps, pads = [], []
    for n in size:
        most = n - 1 if "Reflection" in module else 4
        before, after = draw.between("before", 0, most), draw.between("after", 0, most)
        at = np.arange(n + before + after) - before
        reflected = np.where(at < 0, -at, np.where(at >= n, 2 * (n - 1) - at, at))
        maps.append(reflected if "Reflection" in module else np.clip(at, 0, n - 1))
        pads = [before, after, *pads]
    draw.chosen["pads"] = pads
    x = draw.integers(*lead, *size)
    everything = np.ix_(*(range(n) for n in lead), *maps)
    output = draw.result(f"{module}Padding_updateOutput", x, RESULT, *pads)
    draw.equal("output", output, x[everything])
    g, gradient = draw.integers(*output.shape), np.zeros(x.shape)
    np.add.at(gradient, everything, g)
    found = draw.result(f"{module}Padding_updateGradInput", x, g, RESULT, *pads)
    draw.equal("gradInput", found, gradient)


@family(300)
def any_padding(draw: Draw) -> None:
    """Padding of every mode, that also crops."""
    mode = draw.one_of("mode", ["constant", "reflect", "edge", "wrap"])
    size = draw.sizes("size", 4, 7)
    around, kept = [(0, 0)], [slice(None)]
    pads: list[int] = []
    for axis in (1, 2, 3):
        n = size[axis]
        crop = draw.between("cropped", 0, n - 1)
        first = draw.between("before", 0, crop)
        left = n - crop
        most = {"reflect": left - 1, "wrap": left}.get(mode, 5)
        before = -first if first else draw.between("added before", 0, most)
        after = first - crop if crop > first else draw.between("added after", 0, most)
        kept.append(slice(first, first + left))
        around.append((max(before, 0), max(after, 0)))
        pads = [before, after, *pads]
    draw.chosen["pads"] = pads
    number = ["constant", "reflect", "edge", "wrap"].index(mode)
    x = draw.integers(*size)
    elements = np.arange(x.size).reshape(size)[tuple(kept)]
    value = draw.between("value", -3, 3)
    if mode == "constant":
        shown = np.pad(elements, around, mode=mode, constant_values=-1)
    else:
        shown = np.pad(elements, around, mode=mode)
    output = draw.result("Padding_updateOutput", x, RESULT, *pads, number, value)
    draw.equal("output", output, np.where(shown < 0, value, x.reshape(-1)[shown]))
    g, gradient = draw.integers(*shown.shape), np.zeros(x.size)
    np.add.at(gradient, shown[shown >= 0], g[shown >= 0])
    found = draw.result("Padding_updateGradInput", g, RESULT, *pads, number)
    draw.equal("gradInput", found, gradient.reshape(size))


@family(200)
def nearest(draw: Draw) -> None:
    dimensions, factor = draw.between("dimensions", 2, 3), draw.between("factor", 2, 4)
    lead, size = planes_of(draw), draw.sizes("size", dimensions, 9 if dimensions == 2 else 3)
    x = wanted = draw.integers(*lead, *size)
    for axis in range(-dimensions, 0):
        wanted = wanted.repeat(factor, axis)
    g = draw.integers(*wanted.shape)
    blocks = [part for n in size for part in (n, factor)]
    flat = tuple(range(len(lead) + 1, len(lead) + 2 * dimensions, 2))
    gradient = g.reshape(*lead, *blocks).sum(flat)
    module = "SpatialUpSamplingNearest" if dimensions == 2 else "VolumetricUpSamplingNearest"
    draw.equal("output", draw.result(f"{module}_updateOutput", x, RESULT, factor), wanted)
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, factor)
    draw.equal("gradInput", found, gradient)


def mixing(size: int, count: int) -> np.ndarray:
    """The shares of a line's elements in those that it is resampled to, which are placed in single
    precision."""
    step = np.float32(size - 1) / np.float32(count - 1) if count > 1 else np.float32(0)
    at = step * np.arange(count, dtype=np.float32)
    before = np.minimum(at.astype(int), size - 1)
    share = (at - before.astype(np.float32)).astype(float)
    matrix = np.zeros((count, size))
    np.add.at(matrix, (np.arange(count), before), 1 - share)
    np.add.at(matrix, (np.arange(count), np.minimum(before + 1, size - 1)), share)
    return matrix


def mixed(x: np.ndarray, matrices: list[np.ndarray]) -> np.ndarray:
    """Each of the last dimensions through its matrix."""
    x = x.astype(float)
    for axis, matrix in enumerate(matrices, start=x.ndim - len(matrices)):
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


@family(300)
def linear(draw: Draw) -> None:
    dimensions = draw.between("dimensions", 2, 3)
    most = 17 if dimensions == 2 else 5
    size, output = draw.sizes("size", dimensions, most), draw.sizes("output", dimensions, most)
    batch, planes = draw.between("batch", 1, 2), draw.size("planes", 17)
    x, g = draw.integers(batch, planes, *size), draw.integers(batch, planes, *output)
    matrices = [mixing(n, o) for n, o in zip(size, output, strict=True)]
    back = [matrix.T for matrix in matrices]
    module = "SpatialUpSamplingBilinear" if dimensions == 2 else "VolumetricUpSamplingTrilinear"
    found = draw.result(f"{module}_updateOutput", x, RESULT, *output)
    draw.close("output", found, mixed(x, matrices), mixed(np.abs(x), matrices), 4 * dimensions + 4)
    found = draw.result(f"{module}_updateGradInput", g, RESULT, batch, planes, *size, *output)
    terms = 4 * dimensions + 4 + int(np.prod(output))
    draw.close("gradInput", found, mixed(g, back), mixed(np.abs(g), back), terms)


@family(300)
def grid(draw: Draw) -> None:
    """Points at quarters of the way between elements, so that their shares are exact."""
    batch, planes = draw.between("batch", 1, 2), draw.size("planes")
    height, width = (draw.one_of(name, [2, 3, 5, 9, 17]) for name in ("height", "width"))
    rows, columns = draw.sizes("output", 2, 17)
    x = draw.integers(batch, planes, height, width)
    g = draw.integers(batch, planes, rows, columns)
    places = [
        draw.random.integers(-6, 4 * n + 3, (batch, rows, columns)) / 4 for n in (width, height)
    ]
    points = np.stack(
        [2 * at / (n - 1) - 1 for at, n in zip(places, (width, height), strict=True)], -1
    ).astype(draw.real)
    framed = np.pad(x.astype(float), ((0, 0), (0, 0), (2, 3), (2, 3)))
    sample = np.arange(batch)[:, None, None]
    left, top = (np.floor(at).astype(int) for at in places)
    right, down = places[0] - left, places[1] - top
    output, gradient = np.zeros(g.shape), np.zeros(framed.shape)
    slopes = np.zeros(points.shape)
    for i, j in product((0, 1), (0, 1)):
        across, along = (right if j else 1 - right), (down if i else 1 - down)
        corner = framed[sample, :, top + i + 2, left + j + 2]
        output += np.moveaxis((across * along)[..., None] * corner, -1, 1)
        flow = np.moveaxis(g * (across * along)[:, None], 1, -1)
        np.add.at(gradient, (sample, slice(None), top + i + 2, left + j + 2), flow)
        felt = (np.moveaxis(g, 1, -1) * corner).sum(-1)
        slopes[..., 0] += (1 if j else -1) * along * felt * (width - 1) / 2
        slopes[..., 1] += (1 if i else -1) * across * felt * (height - 1) / 2
    module = "SpatialGridSamplerBilinear"
    draw.equal("output", draw.result(f"{module}_updateOutput", x, points, RESULT), output)
    to_input, to_grid = draw.results(f"{module}_updateGradInput", x, RESULT, points, RESULT, g)
    draw.equal("gradInput", to_input, gradient[:, :, 2 : 2 + height, 2 : 2 + width])
    draw.equal("gradGrid", to_grid, slopes)

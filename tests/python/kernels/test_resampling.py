"""Resampling and padding against their definition, with any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_sums, gamma, sum_limit
from support.pooling import REALS, SEEDS, call, integers, largest

from pythnn import Tensor, THNNArgumentError, thnn

MARGIN = 32


def surrounded(shape: tuple[int, ...], real: Any, value: float) -> np.ndarray:
    """An array in memory that has MARGIN such values on either side."""
    return np.full(prod(shape) + 2 * MARGIN, value, real)[MARGIN:-MARGIN].reshape(shape)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "module", ["SpatialReflection", "SpatialReplication", "VolumetricReplication"]
)
def test_padding(module: str, seed: int) -> None:
    """Also padding that is cut off again on the other side, together with the input."""
    rng = np.random.default_rng(seed)
    dimensions = 2 if module.startswith("Spatial") else 3
    size = integers(rng, 1, 9, dimensions)
    before, after = integers(rng, -3, 6, dimensions), integers(rng, -3, 6, dimensions)
    x = rng.standard_normal((2, 20, *size))
    maps = []
    for n, b, a in zip(size, before, after, strict=True):
        at = np.arange(n + b + a) - b
        reflected = np.where(at < 0, -at, np.where(at >= n, 2 * (n - 1) - at, at))
        maps.append(reflected if "Reflection" in module else np.clip(at, 0, n - 1))
    pads = [v for d in reversed(range(dimensions)) for v in (before[d], after[d])]
    reach = [max(b, a) < n for n, b, a in zip(size, before, after, strict=True)]
    if min(len(m) for m in maps) < 1 or ("Reflection" in module and not all(reach)):
        with pytest.raises(THNNArgumentError):
            getattr(thnn, f"{module}Padding_updateOutput")(None, x, Tensor(dtype=np.float64), *pads)
        return
    everything = np.ix_(range(2), range(20), *maps)
    (output,) = call(f"{module}Padding_updateOutput", x, np.float64, *pads, outputs=(1,))
    np.testing.assert_array_equal(output, x[everything])
    gradient = rng.standard_normal(output.shape)
    expected, magnitudes = np.zeros((2, *x.shape))
    np.add.at(expected, everything, gradient)
    np.add.at(magnitudes, everything, np.abs(gradient))
    (back,) = call(f"{module}Padding_updateGradInput", x, gradient, np.float64, *pads, outputs=(2,))
    assert_sums(back, expected, prod(map(len, maps)), magnitudes)


MODES = ["constant", "reflect", "edge", "wrap"]


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("mode", MODES)
def test_padded_rows_of_any_length(mode: str, real: Any) -> None:
    """Ends of rows that a vector makes, or not: shorter and longer than it, and cropped. What
    surrounds the results in memory stays as it is."""
    rng = np.random.default_rng(0)
    for width in [*range(1, 40), 63, 64, 65, 100, 4097]:
        for before, after in [(1, 1), (3, 2), (0, 5), (9, 4), (20, 17), (-1, 2), (2, -1)]:
            kept = width + min(before, 0) + min(after, 0)
            most = {"reflect": min(kept, width) - 1, "wrap": kept}.get(mode, 20)
            if kept < 1 or (mode == "reflect" and kept < width) or max(before, after) > most:
                continue
            cropped = np.arange(2 * 3 * 2 * width).reshape(2, 3, 2, width)
            cropped = cropped[..., max(-before, 0) : width - max(-after, 0)]
            around = [(0, 0), (0, 0), (1, 1)]
            ends = (max(before, 0), max(after, 0))
            constant = {"constant_values": -1} if mode == "constant" else {}
            shown: Any = np.pad(cropped, [*around, ends], mode=mode, **constant)  # type: ignore[call-overload]
            pads = (before, after, *around[2], 0, 0)
            x = surrounded((2, 3, 2, width), real, np.nan)
            x[...] = rng.standard_normal(x.shape)
            y = surrounded(shown.shape, real, 7)
            thnn.Padding_updateOutput(None, x, y, *pads, MODES.index(mode), 0.5)
            wanted = np.where(shown < 0, real(0.5), x.reshape(-1)[shown])
            assert y.tobytes() == wanted.astype(real).tobytes(), (width, before, after)
            assert (np.delete(y.base, slice(MARGIN, -MARGIN)) == 7).all(), (width, before, after)
            gradient = surrounded(y.shape, real, np.nan)
            gradient[...] = rng.integers(-9, 9, y.shape)
            back = surrounded(x.shape, real, 7)
            thnn.Padding_updateGradInput(None, gradient, back, *pads, MODES.index(mode))
            total = np.zeros(x.size)
            np.add.at(total, shown[shown >= 0], gradient[shown >= 0])
            np.testing.assert_array_equal(back.reshape(-1), total)
            assert (np.delete(back.base, slice(MARGIN, -MARGIN)) == 7).all()


def adjoint(
    forward: Callable[[np.ndarray], np.ndarray],
    backward: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    gradient: np.ndarray,
) -> bool:
    """Whether <forward(x), gradient> = <x, backward(gradient)>, where no factor of ``forward`` is
    negative."""
    difference = (forward(x) * gradient).sum() - (x * backward(gradient)).sum()
    magnitudes = (forward(np.abs(x)) * np.abs(gradient)).sum()
    return bool(abs(difference) <= 2 * sum_limit(x.size + gradient.size, magnitudes, x.dtype))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dimensions", [2, 3])
def test_resampling(dimensions: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, output = integers(rng, 1, 12, dimensions), integers(rng, 1, 15, dimensions)
    x = rng.standard_normal((2, 10, *size))
    wanted = x
    for axis, (n, o) in enumerate(zip(size, output, strict=True), start=2):
        ratio = np.float32(n - 1) / np.float32(o - 1) if o > 1 else np.float32(0)
        at = ratio * np.arange(o, dtype=np.float32)
        before = np.minimum(at.astype(int), n - 1)
        after = np.minimum(before + 1, n - 1)
        share = (at - before.astype(np.float32)).astype(float)
        share = share.reshape((-1,) + (1,) * (dimensions + 1 - axis))
        wanted = (1 - share) * wanted.take(before, axis) + share * wanted.take(after, axis)

    module = "SpatialUpSamplingBilinear" if dimensions == 2 else "VolumetricUpSamplingTrilinear"

    def forward(x: np.ndarray) -> np.ndarray:
        return call(f"{module}_updateOutput", x, np.float64, *output, outputs=(1,))[0]

    def backward(g: np.ndarray) -> np.ndarray:
        arguments = (g, np.float64, 2, 10, *size, *output)
        return call(f"{module}_updateGradInput", *arguments, outputs=(1,))[0]

    assert_sums(forward(x), wanted, 2**dimensions, largest(x))
    assert adjoint(forward, backward, x, rng.standard_normal(wanted.shape))


@pytest.mark.parametrize("output", [(5, 17), (3, 17), (9, 17)])
def test_resampling_to_as_many_columns(output: tuple[int, int]) -> None:
    """A row's gradient is a multiple of another row, and has infinities where that has them."""
    g = np.random.default_rng(0).standard_normal((2, 3, *output)).astype(np.float32)
    g[0, 1, 2, 3:5] = np.inf
    arguments = (g, np.float32, 2, 3, 5, 17, *output)
    (found,) = call("SpatialUpSamplingBilinear_updateGradInput", *arguments, outputs=(1,))
    at = np.linspace(0, 4, output[0])
    weights = np.maximum(1 - np.abs(at - np.arange(5)[:, None]), 0)  # exact
    with np.errstate(invalid="ignore"):
        terms = np.where(weights[:, :, None] > 0, weights[:, :, None] * g[:, :, None], 0)
    np.testing.assert_allclose(found, terms.sum(3), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dimensions", [2, 3])
def test_nearest(dimensions: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    factor = int(rng.integers(2, 5))
    x = rng.standard_normal((2, 10, *integers(rng, 1, 9, dimensions)))
    wanted = x
    for axis in range(2, x.ndim):
        wanted = wanted.repeat(factor, axis)
    module = "SpatialUpSamplingNearest" if dimensions == 2 else "VolumetricUpSamplingNearest"

    def forward(x: np.ndarray) -> np.ndarray:
        return call(f"{module}_updateOutput", x, np.float64, factor, outputs=(1,))[0]

    def backward(g: np.ndarray) -> np.ndarray:
        return call(f"{module}_updateGradInput", x, g, np.float64, factor, outputs=(2,))[0]

    np.testing.assert_array_equal(forward(x), wanted)
    assert adjoint(forward, backward, x, rng.standard_normal(wanted.shape))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("seed", SEEDS)
def test_grid_sampler(seed: int, real: Any) -> None:
    rng = np.random.default_rng(seed)
    height, width, oheight, owidth = integers(rng, 1, 20, 4)
    x = rng.standard_normal((2, 20, height, width)).astype(real)
    grid = rng.uniform(-1.3, 1.3, (2, oheight, owidth, 2)).astype(real)
    grid[1] /= rng.choice([1.0, 1.4])  # all inside, or not
    nowhere = rng.choice([0.5, np.nan, 1e30, -np.inf])
    grid[0, 0, 0, 0] = nowhere

    def sample(x: np.ndarray, grid: np.ndarray) -> np.ndarray:
        framed = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        with np.errstate(invalid="ignore"):
            column = (grid[..., 0] + 1) / 2 * (width - 1) + 1
            row = (grid[..., 1] + 1) / 2 * (height - 1) + 1
            inside = (column > 0) & (row > 0) & (column < width + 1) & (row < height + 1)
        column, row = np.where(inside, column, 0), np.where(inside, row, 0)
        left, top = column.astype(int), row.astype(int)
        right, down = column - left, row - top
        sample = np.arange(2)[:, None, None]
        total = np.zeros((20, 2, oheight, owidth))
        for i, j in product((0, 1), (0, 1)):
            weight = (down if i else 1 - down) * (right if j else 1 - right) * inside
            total = total + weight * framed.transpose(1, 0, 2, 3)[:, sample, top + i, left + j]
        return total.transpose(1, 0, 2, 3)

    function = "SpatialGridSamplerBilinear_updateOutput"
    (output,) = call(function, x, grid, real, outputs=(2,))
    x, grid = x.astype(float), grid.astype(float)
    # A share is off by what its coordinate is, which is as large as the image.
    terms, away = 4, gamma(4, real) * (height + width) * 4 * largest(x)
    limit = sum_limit(terms, sample(np.abs(x), grid), real) + away
    assert (np.abs(output - sample(x, grid)) <= limit).all()
    gradient = rng.standard_normal(output.shape).astype(real)
    if nowhere != 0.5:  # what is nowhere gives 0, and nothing comes from there
        gradient[0, :, 0, 0] = np.nan
    to_input, to_grid = call(
        "SpatialGridSamplerBilinear_updateGradInput",
        *(x.astype(real), real, grid.astype(real), real, gradient),
        outputs=(1, 3),
    )
    gradient = np.nan_to_num(gradient.astype(float))
    flow = output * gradient
    magnitudes = (sample(np.abs(x), grid) * np.abs(gradient)).sum()
    limit = sum_limit(terms * oheight * owidth, magnitudes, real)
    assert abs(flow.sum() - (x * to_input).sum()) <= limit + away * np.abs(gradient).sum()
    step = 1e-6
    reach = height + width
    rounding = gamma(terms * 20, real) + gamma(terms, real) * reach
    limit = (
        np.abs(gradient).sum(1)
        * terms
        * largest(x)
        * reach
        * (rounding + gamma(terms, np.float64) / step)
    )
    for axis in (0, 1):
        shift = np.zeros(2)
        shift[axis] = step
        difference = sample(x, grid + shift) - sample(x, grid - shift)
        slope = (difference * gradient).sum(1) / (2 * step)
        # A point that crosses from one element to the next has two slopes.
        assert (np.abs(to_grid[..., axis] - slope) <= limit).mean() > 0.98

"""Pooling, sampling and padding against their definition: random geometries, values that are hard
to compare, and any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_sums, gamma, sum_limit
from support.definitions.pooling import Windows, regions
from support.processes import run_again

from pythnn import State, Tensor, THNNArgumentError, thnn

REALS = [np.float32, np.float64]
SEEDS = range(12)

Results = list[np.ndarray]


def largest(x: np.ndarray) -> float:
    return float(np.abs(x).max(initial=0))


def call(function: str, *arguments: Any, outputs: Sequence[int]) -> Results:
    """Calls a function whose outputs are new Tensors; they are returned, and do not depend on the
    number of threads. An argument that stands for an output is its dtype."""
    results = []
    for threads in (1, 3):
        passed = [Tensor(dtype=a) if i in outputs else a for i, a in enumerate(arguments)]
        with State(threads=threads, minimum_work=1) as state:
            getattr(thnn, function)(state, *passed)
        results.append([passed[i].numpy().copy() for i in outputs])
    for a, b in zip(*results, strict=True):
        assert a.tobytes() == b.tobytes()
    return results[0]


def values(rng: np.random.Generator, shape: Sequence[int], real: Any) -> np.ndarray:
    """Numbers with equal ones among them, and sometimes NaN, infinities and the lowest number."""
    x = np.round(rng.standard_normal(shape), 1).astype(real)
    if rng.random() < 0.5:
        kind = rng.random(shape)
        x[kind < 0.1] = np.nan
        x[(kind > 0.1) & (kind < 0.3)] = -np.inf
        x[(kind > 0.3) & (kind < 0.35)] = np.inf
        x[kind > 0.9] = np.finfo(real).min
    return x


def at_all(at: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
    """The index of the same elements of all planes."""
    return (slice(None), slice(None), *at)


def integers(rng: np.random.Generator, low: int, high: int, count: int) -> list[int]:
    return [int(v) for v in rng.integers(low, high, count)]


class RandomWindows(Windows):
    """Windows of a random geometry."""

    def __init__(
        self,
        rng: np.random.Generator,
        dimensions: int,
        dilated: bool,
        wide: bool = False,
        largest_kernel: int = 4,
    ):
        self.size = integers(rng, 1, 25 if dimensions == 2 else 9, dimensions)
        if wide:
            self.size[-1] = int(rng.integers(20, 150))
        self.kernel = integers(rng, 1, largest_kernel + 1, dimensions)
        self.stride = integers(rng, 1, 5, dimensions)
        self.pad = [int(rng.integers(-1, k // 2 + 1)) for k in self.kernel]
        if rng.random() < 0.3:  # side by side
            self.stride, self.pad = list(self.kernel), [0] * dimensions
        self.dilation = integers(rng, 1, 4 if dilated else 2, dimensions)
        self.ceil = bool(rng.random() < 0.5)
        self.output = [self.positions(d, any(self.pad)) for d in range(dimensions)]


def geometry(rng: np.random.Generator, dimensions: int, dilated: bool, **kind: Any) -> Windows:
    while True:
        windows = RandomWindows(rng, dimensions, dilated, **kind)
        if min(windows.output) > 0:
            return windows


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("planes", [(1, 1), (2, 3), (2, 20)])
def test_max_pooling(planes: tuple[int, int], dimensions: int, seed: int, real: Any) -> None:
    """The first greatest element of a window by one walk through it; NaN is never chosen, and
    nothing where no element exceeds the lowest number. Of one plane row by row, of several at
    once, some of whose vectors are filled up."""
    rng = np.random.default_rng(seed)
    w = geometry(rng, dimensions, dilated=True)
    x = values(rng, [*planes, *w.size], real)
    best = np.full([*planes, *w.output], np.finfo(real).min, real)
    element = np.full(best.shape, -1)
    offsets = np.zeros(best.shape, np.int64)
    for tap, at, inside in w.taps():
        value = x[at_all(at)]
        taken = inside & (value > best)
        best[taken] = value[taken]
        number = np.ravel_multi_index(at, w.size)
        element[taken] = np.broadcast_to(number, best.shape)[taken]
        offsets[taken] = sum(t << 8 * i for i, t in enumerate(tap))

    module = "SpatialDilatedMaxPooling" if dimensions == 2 else "VolumetricDilatedMaxPooling"
    arguments = [*w.arguments(w.kernel, w.stride, w.pad, w.dilation), w.ceil]
    output, indices = call(f"{module}_updateOutput", x, real, np.int64, *arguments, outputs=(1, 2))
    np.testing.assert_array_equal(output, best)
    if dimensions == 2:
        np.testing.assert_array_equal(indices, element + 1)
        (alone,) = call("SpatialGreatest_updateOutput", x, real, *arguments, outputs=(1,))
        np.testing.assert_array_equal(alone, best)
    else:
        np.testing.assert_array_equal(indices[element >= 0], offsets[element >= 0])
        if (element < 0).any():
            return  # the index of such a window is some element of it
    gradient = rng.standard_normal(output.shape).astype(real)
    count = prod(planes)
    expected = np.zeros((count, prod(w.size)))
    for plane in range(count):
        chosen = element.reshape(count, -1)[plane]
        np.add.at(
            expected[plane], chosen[chosen >= 0], gradient.reshape(count, -1)[plane][chosen >= 0]
        )
    (back,) = call(
        f"{module}_updateGradInput", x, gradient, real, indices, *arguments, outputs=(2,)
    )
    terms = prod(w.kernel)  # so many windows may choose an element
    assert_sums(back, expected.reshape(x.shape), terms, terms * largest(gradient))


def check_average_pooling(
    rng: np.random.Generator, w: Windows, planes: tuple[int, int], count_padding: bool, real: Any
) -> None:
    # Negative padding cuts the input off on either side.
    seen = [n + min(p, 0) for n, p in zip(w.size, w.pad, strict=True)]
    x = rng.standard_normal([*planes, *w.size]).astype(real)
    total = np.zeros([*planes, *w.output])
    count = np.zeros(w.output)
    for _, at, inside in w.taps():
        inside = inside & np.logical_and.reduce([a < n for a, n in zip(at, seen, strict=True)])
        total += np.where(inside, x[at_all(at)], 0)
        count += inside
    if count_padding:
        start = [np.arange(o) * s - p for o, s, p in zip(w.output, w.stride, w.pad, strict=True)]
        lengths = [
            np.minimum(a + k, n + p) - a
            for a, k, n, p in zip(start, w.kernel, w.size, w.pad, strict=True)
        ]
        count = np.where(count > 0, prod(np.ix_(*lengths)), 0)
    shares = np.divide(1, count, out=np.zeros(w.output), where=count > 0)

    module = "SpatialAveragePooling" if len(w.size) == 2 else "VolumetricAveragePooling"
    arguments = [*w.arguments(w.kernel, w.stride, w.pad), w.ceil, count_padding]
    (output,) = call(f"{module}_updateOutput", x, real, *arguments, outputs=(1,))
    terms = prod(w.kernel)
    assert_sums(output, total * shares, terms, largest(x))
    (alone,) = call(f"{module}_updateOutput", x[-1:, -1:], real, *arguments, outputs=(1,))
    assert alone.tobytes() == output[-1, -1].tobytes()
    gradient = rng.standard_normal(output.shape).astype(real)
    expected = np.zeros(x.shape)
    for _, at, inside in w.taps():
        inside = inside & np.logical_and.reduce([a < n for a, n in zip(at, seen, strict=True)])
        np.add.at(expected, at_all(at), np.where(inside, gradient * shares, 0))
    (back,) = call(f"{module}_updateGradInput", x, gradient, real, *arguments, outputs=(2,))
    assert_sums(back, expected, terms, terms * largest(gradient) * largest(shares))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("count_padding", [False, True])
def test_average_pooling(count_padding: bool, dimensions: int, seed: int, real: Any) -> None:
    rng = np.random.default_rng(seed)
    check_average_pooling(rng, geometry(rng, dimensions, False), (2, 20), count_padding, real)


# Few planes are pooled row by row, many of them together in strips.
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("planes", [(1, 1), (2, 1), (1, 17)])
def test_average_pooling_of_wide_planes(
    planes: tuple[int, int], dimensions: int, seed: int, real: Any
) -> None:
    rng = np.random.default_rng(seed)
    w = geometry(rng, dimensions, False, wide=True, largest_kernel=12 if seed % 2 else 4)
    check_average_pooling(rng, w, planes, seed % 3 == 0, real)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("planes", [1, 17])
def test_average_pooling_keeps_to_its_windows(planes: int, real: Any) -> None:
    """What is not a number reaches those that its window covers, and no others."""
    gradient = np.ones((planes, 5, 19), real)
    gradient[-1, 2, 7] = np.nan
    wanted = np.zeros((planes, 11, 39), bool)
    wanted[-1, 4:7, 14:17] = True
    (back,) = call(
        "SpatialAveragePooling_updateGradInput",
        *(np.ones((planes, 11, 39), real), gradient, real, 3, 3, 2, 2, 0, 0, False, True),
        outputs=(2,),
    )
    np.testing.assert_array_equal(np.isnan(back), wanted)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("planes", [1, 19])
def test_subsampling(planes: int, seed: int, real: Any) -> None:
    rng = np.random.default_rng(seed)
    kernel, stride = integers(rng, 1, 6, 2), integers(rng, 1, 5, 2)
    size = [k + int(n) for k, n in zip(kernel, rng.integers(0, 60, 2), strict=True)]
    x = rng.standard_normal((2, planes, *size)).astype(real)
    weight, bias = rng.standard_normal((2, planes)).astype(real)
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3))
    sums = windows[:, :, :: stride[0], :: stride[1]].sum((4, 5), np.float64)
    factor = weight[:, None, None]
    arguments = [*kernel[::-1], *stride[::-1]]
    (output,) = call(
        "SpatialSubSampling_updateOutput", x, real, weight, bias, *arguments, outputs=(1,)
    )
    terms = prod(kernel)
    magnitudes = np.abs(factor) * terms * largest(x) + largest(bias)
    assert_sums(output, factor * sums + bias[:, None, None], terms, magnitudes)
    gradient = rng.standard_normal(output.shape).astype(real)
    expected = np.zeros(x.shape)
    for y, left in product(range(kernel[0]), range(kernel[1])):
        rows = slice(y, y + stride[0] * (output.shape[2] - 1) + 1, stride[0])
        columns = slice(left, left + stride[1] * (output.shape[3] - 1) + 1, stride[1])
        expected[:, :, rows, columns] += factor * gradient
    (back,) = call(
        "SpatialSubSampling_updateGradInput", x, gradient, real, weight, *arguments, outputs=(2,)
    )
    assert_sums(back, expected, terms, np.abs(factor) * terms * largest(gradient))
    terms += prod(output.shape) // planes
    total = 0.5 * np.abs(gradient).sum((0, 2, 3), np.float64)
    for threads in (1, 3):
        sensitivity, offset = np.ones(planes, real), np.ones(planes, real)
        with State(threads=threads, minimum_work=1) as state:
            thnn.SpatialSubSampling_accGradParameters(
                state, x, gradient, sensitivity, offset, *arguments, 0.5
            )
        magnitudes = 1 + total * prod(kernel) * largest(x)
        assert_sums(sensitivity, 1 + 0.5 * (gradient * sums).sum((0, 2, 3)), terms, magnitudes)
        assert_sums(offset, 1 + 0.5 * gradient.sum((0, 2, 3), np.float64), terms, 1 + total)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("planes", [(1, 1), (2, 1), (2, 2), (2, 10)])
def test_adaptive_pooling(planes: tuple[int, int], seed: int, real: Any) -> None:
    rng = np.random.default_rng(seed)
    height, width = integers(rng, 1, 40 if planes == (2, 10) else 100, 2)
    oheight, owidth = integers(rng, 1, 20 if planes == (2, 10) else 70, 2)
    x = np.round(rng.standard_normal((*planes, height, width)), 1).astype(real)
    best = np.zeros((*planes, oheight, owidth), real)
    mean = np.zeros(best.shape)
    gradient = rng.standard_normal(best.shape).astype(real)
    to_best, to_all = np.zeros(x.shape), np.zeros(x.shape)
    places = np.indices(planes).reshape(2, -1)
    ys, xs = regions(height, oheight, True), regions(width, owidth, True)
    for i, j in product(range(oheight), range(owidth)):
        part = x[:, :, ys[i], xs[j]].reshape(prod(planes), -1)
        columns = xs[j].stop - xs[j].start
        first = part.argmax(1)
        best[:, :, i, j] = part.max(1).reshape(planes)
        at = (*places, ys[i].start + first // columns, xs[j].start + first % columns)
        np.add.at(to_best, at, gradient[:, :, i, j].reshape(-1))
    ys, xs = regions(height, oheight, False), regions(width, owidth, False)
    for i, j in product(range(oheight), range(owidth)):
        part = x[:, :, ys[i], xs[j]].astype(float)
        mean[:, :, i, j] = part.mean((2, 3))
        share = gradient[:, :, i, j] / part[0, 0].size
        to_all[:, :, ys[i], xs[j]] += share[:, :, None, None]

    output, indices = call(
        "SpatialAdaptiveMaxPooling_updateOutput",
        *(x, real, np.int64, owidth, oheight),
        outputs=(1, 2),
    )
    np.testing.assert_array_equal(output, best)
    (back,) = call(
        "SpatialAdaptiveMaxPooling_updateGradInput", x, gradient, real, indices, outputs=(2,)
    )
    meeting = 4 * max(1, -(-oheight // height)) * max(1, -(-owidth // width))  # regions in a point
    assert_sums(back, to_best, meeting, meeting * largest(gradient))
    (output,) = call(
        "SpatialAdaptiveAveragePooling_updateOutput", x, real, owidth, oheight, outputs=(1,)
    )
    assert_sums(output, mean, height * width, largest(x))
    (back,) = call("SpatialAdaptiveAveragePooling_updateGradInput", x, gradient, real, outputs=(2,))
    assert_sums(back, to_all, meeting, meeting * largest(gradient))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dimensions", [2, 3])
def test_fractional_pooling(dimensions: int, seed: int, real: Any) -> None:
    rng = np.random.default_rng(seed)
    count, pool = integers(rng, 1, 6, dimensions), integers(rng, 1, 5, dimensions)
    size = [c + p + int(rng.integers(0, 6)) for c, p in zip(count, pool, strict=True)]
    x = values(rng, [2, 10, *size], real)
    samples = rng.random((2, 10, dimensions)).astype(real)
    planes = x.reshape(20, *size)
    best = np.full([20, *count], np.finfo(real).min, real)
    number = np.zeros(best.shape, np.int64)
    for plane in range(20):
        starts = []
        for n, c, p, u in zip(size, count, pool, samples.reshape(20, -1)[plane, ::-1], strict=True):
            step = real(n - p) / real(c - 1) if c > 1 else real(0)
            starts.append([int((real(i) + u) * step) - int(u * step) for i in range(c - 1)])
            starts[-1].append(n - p)
        for position in product(*map(range, count)):
            for tap in product(*map(range, pool)):
                at = tuple(
                    starts[d][i] + t for d, (i, t) in enumerate(zip(position, tap, strict=True))
                )
                here, value = (plane, *position), planes[plane][at]
                if value > best[here]:
                    best[here] = value
                    number[here] = np.ravel_multi_index(at, size) + 1

    module = "Spatial" if dimensions == 2 else "Volumetric"
    output, indices = call(
        f"{module}FractionalMaxPooling_updateOutput",
        *(x, real, *count[::-1], *pool[::-1], np.int64, samples),
        outputs=(1, 2 + 2 * dimensions),
    )
    np.testing.assert_array_equal(output, best.reshape(2, 10, *count))
    np.testing.assert_array_equal(indices, number.reshape(2, 10, *count))


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("pool", [1, 2, 5])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_room_for_fractional_windows(dimensions: int, pool: int, axis: int) -> None:
    """Along each axis the output and a window fit into the input together."""
    if axis >= dimensions:
        pytest.skip("two dimensions have no third axis")
    module = "Spatial" if dimensions == 2 else "Volumetric"
    function = f"{module}FractionalMaxPooling_updateOutput"
    size, pools, counts = [4] * dimensions, [2] * dimensions, [2] * dimensions
    size[axis], pools[axis] = pool + 3, pool
    samples = np.full((1, 1, dimensions), 0.5)
    for counts[axis] in (3, 4, 5):
        last = (*counts[::-1], *pools[::-1], np.int64, samples)
        arguments = (np.ones((1, *size)), np.float64, *last)
        if counts[axis] == 3:
            assert call(function, *arguments, outputs=(1, len(arguments) - 2))[0].size
            continue
        with pytest.raises(THNNArgumentError, match=rf"at most 3 for an input of {pool + 3} and"):
            call(function, *arguments, outputs=(1, len(arguments) - 2))


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


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("seed", SEEDS)
def test_temporal(seed: int, real: Any) -> None:
    rng = np.random.default_rng(seed)
    kernel, stride = integers(rng, 1, 8, 2)
    frames, size = kernel + int(rng.integers(0, 40)), int(rng.choice([1, 3, 33, 300]))
    starts = np.arange((frames - kernel) // stride + 1) * stride
    x = values(rng, (frames, size), real)
    best = np.full((len(starts), size), np.finfo(real).min, real)
    frame = np.full(best.shape, -1)
    for k in range(kernel):
        taken = x[starts + k] > best
        best[taken] = x[starts + k][taken]
        frame[taken] = k
    output, indices = call(
        "TemporalMaxPooling_updateOutput", x, real, np.int64, kernel, stride, outputs=(1, 2)
    )
    np.testing.assert_array_equal(output, best)
    np.testing.assert_array_equal(indices, frame)
    gradient = rng.standard_normal(best.shape).astype(real)
    given = x, gradient, real, indices
    for beyond in (False, True):
        if beyond:  # the window, not the sequence
            indices[0, -1] = frame[0, -1] = frames - 1
        expected = np.zeros(x.shape)
        named = (starts[:, None] + frame, np.broadcast_to(np.arange(size), frame.shape))
        np.add.at(expected, named, np.where(frame >= 0, gradient, 0))
        (back,) = call("TemporalMaxPooling_updateGradInput", *given, kernel, stride, outputs=(2,))
        assert_sums(back, expected, kernel + 1, (kernel + 1) * largest(gradient))

    x = rng.standard_normal(x.shape).astype(real)
    weight, bias = rng.standard_normal((2, size)).astype(real)
    sums = np.sum([x[starts + k].astype(float) for k in range(kernel)], 0)
    (output,) = call(
        "TemporalSubSampling_updateOutput",
        *(x, real, weight, bias, kernel, stride, size),
        outputs=(1,),
    )
    magnitudes = np.abs(weight) * kernel * largest(x) + largest(bias)
    assert_sums(output, weight * sums + bias, kernel, magnitudes)
    gradient = rng.standard_normal(output.shape).astype(real)
    expected = np.zeros(x.shape)
    for k in range(kernel):
        np.add.at(expected, starts + k, gradient * weight)
    (back,) = call(
        "TemporalSubSampling_updateGradInput",
        *(x, gradient, real, weight, kernel, stride),
        outputs=(2,),
    )
    assert_sums(back, expected, kernel, np.abs(weight) * kernel * largest(gradient))


def volumetric_indices(x: np.ndarray) -> np.ndarray:
    """Windows of two neighbouring columns: which of the two is chosen."""
    return x.reshape(*x.shape[:-1], -1, 2).argmax(-1)[None] << 16


def adaptive_indices(x: np.ndarray) -> np.ndarray:
    """Rows and columns of the same windows; single precision does not divide them evenly."""
    pairs = x.shape[-1] // 2
    first = [part.start for part in regions(x.shape[-1], pairs, True)]
    chosen = 2 * np.arange(pairs) + x.reshape(*x.shape[:-1], -1, 2).argmax(-1)
    columns = chosen - np.array(first) + 1
    return np.stack([np.ones_like(columns), columns])


WINDOWS_OF_TWO = {
    "VolumetricMaxPooling": (volumetric_indices, (1, 2, 1, 1, 2, 1, 0, 0, 0, False), 255),
    "SpatialAdaptiveMaxPooling": (adaptive_indices, (), 0),
}


@pytest.mark.parametrize("columns", [1, 3, 7, 8, 9, 28, 64, 511, 512, 513, 1023, 1024, 1025, 2100])
@pytest.mark.parametrize("module", WINDOWS_OF_TWO)
def test_rows_of_indices(module: str, columns: int) -> None:
    """Rows shorter and longer than a vector, and than what is decoded at a time."""
    find, arguments, bad = WINDOWS_OF_TWO[module]
    rng = np.random.default_rng(columns)
    shape = (2, 3, 5, 2 * columns)[-4 if "Volumetric" in module else -3 :]
    x = rng.standard_normal(shape)
    gradient = rng.standard_normal((*shape[:-1], columns))
    indices = find(x).reshape(-1, *gradient.shape)
    if "Volumetric" in module:
        indices = indices[0]
    pairs = x.reshape(*gradient.shape, 2)
    wanted = np.where(pairs == pairs.max(-1, keepdims=True), gradient[..., None], 0)
    given = (indices, *arguments)
    (found,) = call(f"{module}_updateGradInput", x, gradient, np.float64, *given, outputs=(2,))
    np.testing.assert_array_equal(found, wanted.reshape(shape))

    for at in {0, columns // 2, gradient.size // 2, gradient.size - 1}:
        wrong = indices.copy()
        wrong.reshape(-1)[at] = bad
        found = np.full(shape, 7.0)
        with pytest.raises(THNNArgumentError, match=rf"at element {at + 1}\b"):
            getattr(thnn, f"{module}_updateGradInput")(None, x, gradient, found, wrong, *arguments)
        assert (found == 7).all()


INDEX = {
    "SpatialMaxPooling": (np.ones((1, 2, 2), np.int64), (2, 2, 2, 2, 0, 0, False), [-1, 17]),
    "VolumetricMaxPooling": (
        np.zeros((1, 1, 2, 2), np.int64),
        (1, 2, 2, 1, 2, 2, 0, 0, 0, False),
        # Windows begin at 0 and 2: in the last one, tap 2 is the first outside.
        [1, 2 << 8, 2 << 16, 4 << 8, 4 << 16, 0x80, 0x82 << 8, 0xFF << 16],
    ),
    "TemporalMaxPooling": (np.zeros((2, 2), np.int64), (2, 2), [-2, 4]),
}


@pytest.mark.parametrize("module", INDEX)
def test_bad_indices(module: str) -> None:
    """Named in the message, and found wherever the tensor's elements lie."""
    indices, arguments, wrong = INDEX[module]
    x = np.ones({2: (4, 2), 3: (1, 4, 4), 4: (1, 1, 4, 4)}[indices.ndim])
    backward = getattr(thnn, f"{module}_updateGradInput")
    for value, step in product(wrong, (1, 2)):
        spread = np.repeat(indices, step, -1)[..., ::step]
        spread[(-1,) * spread.ndim] = value
        result = Tensor(dtype=np.float64)
        with pytest.raises(THNNArgumentError, match=r"'indices': .* found " + str(value)):
            backward(None, x, np.ones(indices.shape), result, spread, *arguments)
        assert result.numpy().size == 0


@pytest.mark.parametrize("tap", [4, 4 << 8, 4 << 16])
def test_taps_beyond_32_bits(tap: int) -> None:
    """Four steps of 2^30 do not come back to the window's first element."""
    x = np.ones((1, 2, 3, 5))
    gradient, indices = np.arange(30.0).reshape(x.shape), np.zeros(x.shape, np.int64)
    window = *(1, 1, 1), *(1, 1, 1), *(0, 0, 0), *(2**30, 2**30, 2**30), False
    backward = thnn.VolumetricDilatedMaxPooling_updateGradInput
    found = np.empty_like(x)
    backward(None, x, gradient, found, indices, *window)
    np.testing.assert_array_equal(found, gradient)

    indices[0, 1, 0, 2] = tap
    with pytest.raises(THNNArgumentError, match=rf"found {tap} at element 18\b"):
        backward(None, x, gradient, found, indices, *window)
    np.testing.assert_array_equal(found, gradient)


@pytest.mark.parametrize(
    ("count", "output"),
    [
        (10, (2, 3, 5)),
        (10, (4, 15, 17)),
        (10, (70, 4, 5)),
        (10, (3, 37, 34)),
        (10, (2, 1100, 2)),
        (1300, (1, 10, 10)),
        (1300, (2, 5, 10)),
    ],
)
@pytest.mark.parametrize("module", ["VolumetricMaxPooling", "SpatialAdaptiveMaxPooling"])
def test_planes_of_many_indices(module: str, count: int, output: tuple[int, int, int]) -> None:
    """Planes, slices and rows of fewer and of more indices than are decoded at a time, and as many
    planes as are decoded together at most, under windows that overlap; and one bad index in each of
    a few places."""
    rng = np.random.default_rng(0)
    flat = module == "SpatialAdaptiveMaxPooling"
    kernel = (1, 3, 3) if flat else (2, 4, 4)
    if flat:
        output = (1, *output[1:])
    planes, size = (count, *output), [o + k - 1 for o, k in zip(output, kernel, strict=True)]
    x = rng.standard_normal((count, *(size[1:] if flat else size)))
    arguments = () if flat else (2, 4, 4, 1, 1, 1, 0, 0, 0, False)
    start = np.indices(output)
    if flat:
        starts = [[r.start for r in regions(n, o, True)] for n, o in zip(size, output, strict=True)]
        start = np.stack(np.meshgrid(*starts, indexing="ij"))
    taps = np.stack([rng.integers(0, k, planes) for k in kernel])
    taps = np.minimum(taps, np.array(size).reshape(3, 1, 1, 1, 1) - 1 - start[:, None])
    gradient = rng.integers(1, 9, planes).astype(np.float64)
    wanted = np.zeros((planes[0], *size))
    at = np.indices(planes)[0], *(start[:, None] + taps)
    np.add.at(wanted, at, gradient)

    indices = taps[1:, :, 0] + 1 if flat else taps[0] | taps[1] << 8 | taps[2] << 16
    gradient = gradient[:, 0] if flat else gradient
    (found,) = call(
        f"{module}_updateGradInput", x, gradient, np.float64, indices, *arguments, outputs=(2,)
    )
    np.testing.assert_array_equal(found, wanted.reshape(x.shape))

    outside = [250 << 8 * d for d in range(3) if size[d] <= 250]
    places = 0, gradient.size // 2, gradient.size - 1
    for place, bad in product(places, [-1, max(size) + 1] if flat else outside):
        wrong = indices.copy()
        wrong.reshape(-1)[place] = bad
        found = np.full_like(x, 7)
        with pytest.raises(THNNArgumentError, match=rf"at element {place + 1}\b"):
            getattr(thnn, f"{module}_updateGradInput")(None, x, gradient, found, wrong, *arguments)
        assert (found == 7).all()


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_sums_of_regions_at_each_level_on_poisoned_memory(level: str) -> None:
    choice = "(average or adaptive or subsampling) and not level"
    run_again(level, __file__, "-k", choice, poisoned=True)

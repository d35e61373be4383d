"""Pooling against its definition: random geometries, values that are hard to compare, and any
number of threads."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_sums
from support.definitions.pooling import Windows, regions
from support.pooling import REALS, SEEDS, at_all, call, geometry, integers, largest, values
from support.processes import run_again

from pythnn import State, Tensor, THNNArgumentError, thnn


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
@pytest.mark.parametrize("size", [27, 54])
def test_planes_pooled_together_or_alone(size: int, real: Any) -> None:
    """Many planes are pooled together; a single one of them row by row, with the same bits."""
    x = np.random.default_rng(5).integers(-9, 9, (20, size, size)).astype(real)
    x[3, 5, 7] = np.nan
    shape = (20, size // 2, size // 2)
    y, indices, values = np.empty(shape, real), np.empty(shape, np.int64), np.empty(shape, real)
    thnn.SpatialMaxPooling_updateOutput(None, x, y, indices, 3, 3, 2, 2, 0, 0, True)
    thnn.SpatialGreatest_updateOutput(None, x, values, 3, 3, 2, 2, 0, 0, 1, 1, True)
    assert values.tobytes() == y.tobytes()
    for plane in range(len(x)):
        one, at = np.empty(shape[1:], real)[None], np.empty(shape[1:], np.int64)[None]
        thnn.SpatialMaxPooling_updateOutput(
            None, x[plane : plane + 1], one, at, 3, 3, 2, 2, 0, 0, True
        )
        assert one.tobytes() == y[plane].tobytes()
        assert np.array_equal(at[0], indices[plane])


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize("ceil", [False, True])
def test_values_of_windows_two_apart(ceil: bool, pad: int, kernel: int, real: Any) -> None:
    """In rows of one window and more, of several vectors, and over the edges."""
    rng = np.random.default_rng(6)
    for height, width in [(3, 4), (5, 5), (8, 7), (13, 14), (9, 33), (34, 32), (12, 71)]:
        x = rng.integers(-9, 9, (3, height, width)).astype(real)
        x.flat[rng.integers(0, x.size, x.size // 9)] = np.nan
        x[1, :4, :4] = -np.inf
        y, values, indices = Tensor(dtype=real), Tensor(dtype=real), Tensor(dtype=np.int64)
        thnn.SpatialMaxPooling_updateOutput(
            None, x, y, indices, kernel, kernel, 2, 2, pad, pad, ceil
        )
        thnn.SpatialGreatest_updateOutput(
            None, x, values, kernel, kernel, 2, 2, pad, pad, 1, 1, ceil
        )
        np.testing.assert_array_equal(values.numpy(), y.numpy())


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


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_sums_of_regions_at_each_level_on_poisoned_memory(level: str) -> None:
    choice = "(average or adaptive or subsampling) and not level"
    run_again(level, __file__, "-k", choice, poisoned=True)

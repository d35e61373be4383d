"""Softmax, batch normalisation, PReLU and feature pooling against their definition, with shapes
that take every way through the blocks, and with any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.bounds import FUNCTION, assert_sums, gamma, is_near, sum_limit

from pythnn import State, thnn

REALS = [np.float32, np.float64]


def in_sums(terms: int, real: Any) -> int:
    """Roundings of the sums of so many terms, which are added up in double precision."""
    return 0 if real == np.float32 else terms


def same_with_threads(run: Callable[[State], tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """The results of `run`, after checking that they do not depend on the number of threads."""
    results = []
    for threads in (1, 3):
        with State(threads=threads, minimum_work=1) as state:
            results.append(run(state))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert a.tobytes() == b.tobytes()
    return results[0]


def planes_first(x: np.ndarray) -> tuple[int, ...]:
    """Sizes as batch x planes x positions, for softmax."""
    sizes = {1: (1, -1, 1), 2: (x.shape[0], -1, 1), 3: (1, x.shape[0], -1)}
    return sizes.get(x.ndim, (x.shape[0], x.shape[1] if x.ndim > 1 else 1, -1))


SOFTMAX_SHAPES = [
    (5,),
    (1000,),
    (3, 1),
    (300, 7),  # narrow rows, turned into columns
    (1000, 31),
    (6, 32),
    (6, 33),  # rows that end in a block which overlaps another
    (5, 63),
    (33, 1000),
    (3, 20000),  # rows longer than a block
    (21, 40, 50),
    (2, 21, 31, 33),
    (2, 3000, 5, 7),  # more planes than fit a tile's cache
    (3, 4, 1, 1),
    (2, 5, 1, 3),
]


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shape", SOFTMAX_SHAPES, ids=str)
@pytest.mark.parametrize("logarithm", [False, True])
def test_softmax(shape: tuple[int, ...], logarithm: bool, real: Any) -> None:
    rng = np.random.default_rng(0)
    x = (4 * rng.standard_normal(shape)).astype(real)
    g = rng.standard_normal(shape).astype(real)
    name = "LogSoftMax" if logarithm else "SoftMax"

    def run(state: State) -> tuple[np.ndarray, ...]:
        y, gx = np.empty_like(x), np.empty_like(x)
        getattr(thnn, f"{name}_updateOutput")(state, x, y)
        getattr(thnn, f"{name}_updateGradInput")(state, None, g, gx, y)
        return y, gx

    y, gx = same_with_threads(run)
    planes = x.astype(np.float64).reshape(planes_first(x))
    shifted = planes - planes.max(1, keepdims=True)
    total = np.exp(shifted).sum(1, keepdims=True)
    slopes = g.astype(np.float64).reshape(planes.shape)
    # An argument of the exponential is rounded, which is a relative error of its size; then come a
    # sum over the planes, a division or a logarithm, and for the gradient another sum.
    argument = 2 * np.abs(planes).max() + np.log(planes.shape[1])
    roundings = argument + 2 * FUNCTION + in_sums(planes.shape[1], real)
    weights = np.abs(slopes)
    if logarithm:
        wanted = shifted - np.log(total)
        gradient = slopes - np.exp(wanted) * slopes.sum(1, keepdims=True)
        magnitudes = weights + np.exp(wanted) * weights.sum(1, keepdims=True)
        least = np.abs(planes) + np.abs(planes).max(1, keepdims=True) + np.abs(np.log(total))
    else:
        wanted = np.exp(shifted) / total
        gradient = wanted * (slopes - (slopes * wanted).sum(1, keepdims=True))
        magnitudes = wanted * (weights + (weights * wanted).sum(1, keepdims=True))
        least = wanted
    assert is_near(y.reshape(planes.shape), wanted, roundings, least)
    assert is_near(gx.reshape(planes.shape), gradient, 2 * roundings, magnitudes)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("width", [5, 32, 33, 63, 100])
@pytest.mark.parametrize("module", ["SoftMax", "LogSoftMax"])
def test_softmax_in_place(module: str, width: int, real: Any) -> None:
    x = np.random.default_rng(1).standard_normal((9, width)).astype(real)
    y = np.empty_like(x)
    update = getattr(thnn, module + "_updateOutput")
    update(None, x, y)
    update(None, x, x)
    assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shape", [(4, 3), (2, 100), (3, 6, 5, 5)], ids=str)
def test_softmax_of_special_values(shape: tuple[int, ...], real: Any) -> None:
    """Large values do not overflow; minus infinity gets no share; the result may replace x."""
    x = np.zeros(shape, real)
    flat = x.reshape(planes_first(x))
    flat[0, 0] = 1e30
    flat[1:, 1] = -np.inf
    y = np.empty_like(x)
    thnn.SoftMax_updateOutput(None, x, y)
    found = y.reshape(flat.shape)
    np.testing.assert_array_equal(found[0, 0], 1)
    np.testing.assert_array_equal(found[0, 1:], 0)
    np.testing.assert_array_equal(found[1:, 1], 0)
    roundings = 2 * flat.shape[1] + FUNCTION
    assert is_near(found.sum(1), np.ones_like(found.sum(1)), roundings)
    thnn.LogSoftMax_updateOutput(None, x, y)
    assert np.isneginf(found[1:, 1]).all()
    thnn.SoftMax_updateOutput(None, x, x)
    assert is_near(x.reshape(flat.shape).sum(1), np.ones_like(found.sum(1)), roundings)


CHANNEL_SHAPES = [
    (2, 1),
    (700, 3),  # rows repeated
    (40, 3000),  # rows cut into spans
    (1000, 64),  # several blocks of rows
    (40000, 2),
    (9, 5, 3),  # short planes
    (60, 70, 23),
    (4, 3, 24),  # the shortest planes that are worked on one by one
    (3, 6, 5, 5),  # planes that end in a part of a vector
    (1, 5, 31),
    (5, 3, 7, 7),
    (4, 2, 8, 8),
    (5, 7, 9, 11),
    (8, 3, 70, 90),  # several blocks of planes
    (2, 3, 200, 190),  # planes longer than a block
    (2, 5, 66000),  # planes in groups
    (2, 2, 3, 4, 5),
]


def axes(x: np.ndarray) -> tuple[int, ...]:
    return tuple(i for i in range(x.ndim) if i != 1)


def along(values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """One value per plane, shaped to meet x."""
    return values.reshape((1, -1) + (1,) * (x.ndim - 2))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("shape", CHANNEL_SHAPES, ids=str)
def test_batch_normalization_training(shape: tuple[int, ...], affine: bool, real: Any) -> None:
    rng = np.random.default_rng(1)
    planes = shape[1]
    offset = along(rng.standard_normal(planes) * 100, np.empty(shape))
    x = (rng.standard_normal(shape) * 3 + offset).astype(real)
    g = rng.standard_normal(shape).astype(real)
    weight, bias = rng.standard_normal((2, planes)).astype(real) if affine else (None, None)
    start = rng.random((6, planes)).astype(real)

    def run(state: State) -> tuple[np.ndarray, ...]:
        y, gx = np.empty_like(x), np.empty_like(x)
        mean, var, save_mean, save_std, gw, gb = start.copy()
        thnn.BatchNormalization_updateOutput(
            state, x, y, weight, bias, mean, var, save_mean, save_std, True, 0.25, 1e-3
        )
        thnn.BatchNormalization_backward(
            state, x, g, gx, gw if affine else None, gb if affine else None, weight, None, None,
            save_mean, save_std, True, 0.5, 1e-3,
        )  # fmt: skip
        return y, gx, mean, var, save_mean, save_std, gw, gb

    y, gx, mean, var, save_mean, save_std, gw, gb = same_with_threads(run)
    wide, slopes = x.astype(np.float64), g.astype(np.float64)
    count = x.size // planes
    wanted_mean, wanted_var = wide.mean(axes(x)), wide.var(axes(x))
    std = 1 / np.sqrt(wanted_var + 1e-3)
    factor = np.ones(planes) if weight is None else weight.astype(np.float64)
    shift = np.zeros(planes) if bias is None else bias.astype(np.float64)
    centered = wide - along(wanted_mean, x)
    few = 8  # roundings of an element, beside the sums over its plane
    sizes = np.abs(wide).max(axes(x))
    assert_sums(save_mean, wanted_mean, few + in_sums(count, real), sizes)
    # The sum of squares is that of the distances to some element.
    squares = np.ptp(wide, axis=axes(x)) ** 2 if count > 1 else 0
    sums = sum_limit(count, 1, np.float64)
    deviation = sums * squares * std**2
    assert is_near(save_std, std, few, std * (1 + deviation / gamma(few, real)))
    assert_sums(mean, 0.25 * wanted_mean + 0.75 * start[0], few + in_sums(count, real), sizes + 1)
    unbiased = wanted_var * count / (count - 1)
    limit = gamma(few, real) * (unbiased + 1) + sums * squares
    assert (np.abs(var - (0.25 * unbiased + 0.75 * start[1])) <= limit).all()
    wanted = centered * along(std * factor, x) + along(shift, x)
    # The mean is rounded to the real before it is subtracted.
    apart = np.abs(wide) + along(np.abs(wanted_mean), x)
    relative = gamma(few, real) + deviation
    limit = apart * along(relative * np.abs(std * factor), x) + gamma(few, real) * along(
        abs(shift), x
    )
    assert (np.abs(y - wanted) <= limit).all()

    total, projection = slopes.sum(axes(x)), (slopes * centered).sum(axes(x))
    gradient = slopes - along(total / count, x) - centered * along(projection * std**2 / count, x)
    total_size = np.abs(slopes).sum(axes(x))
    projection_size = (np.abs(slopes) * np.abs(centered)).sum(axes(x))
    projection_limit = sums * projection_size + gamma(few, real) * (
        np.abs(projection) + np.abs(wanted_mean * total)
    )
    magnitudes = np.abs(slopes) + along(total_size, x) / count
    magnitudes += apart * along(projection_size * std**2 / count, x)
    limit = magnitudes * along(relative, x)
    limit += np.abs(centered) * along(projection_limit * std**2 / count, x)
    limit *= np.abs(along(std * factor, x))
    assert (np.abs(gx - gradient * along(std * factor, x)) <= limit).all()
    if affine:
        limit = (projection_limit + np.abs(projection) * relative) * std + gamma(few, real)
        assert (np.abs(gw - (start[4] + 0.5 * projection * std)) <= limit).all()
        limit = sums * total_size + gamma(few, real) * (1 + np.abs(total))
        assert (np.abs(gb - (start[5] + 0.5 * total)) <= limit).all()


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shape", CHANNEL_SHAPES, ids=str)
def test_batch_normalization_evaluation(shape: tuple[int, ...], real: Any) -> None:
    rng = np.random.default_rng(2)
    planes = shape[1]
    x, g = rng.standard_normal((2, *shape)).astype(real)
    weight, bias, mean = rng.standard_normal((3, planes)).astype(real)
    var = rng.random(planes).astype(real) + real(0.5)
    start = rng.random((2, planes)).astype(real)

    def run(state: State) -> tuple[np.ndarray, ...]:
        y, gx = np.empty_like(x), np.empty_like(x)
        gw, gb = start.copy()
        thnn.BatchNormalization_updateOutput(
            state, x, y, weight, bias, mean, var, None, None, False, 0.25, 1e-3
        )
        thnn.BatchNormalization_backward(
            state, x, g, gx, gw, gb, weight, mean, var, None, None, False, 2.0, 1e-3
        )
        only = np.empty_like(x)
        thnn.BatchNormalization_backward(
            state, x, g, only, None, None, weight, mean, var, None, None, False, 2.0, 1e-3
        )
        return y, gx, gw, gb, only

    y, gx, gw, gb, only = same_with_threads(run)
    std = 1 / np.sqrt(var.astype(np.float64) + 1e-3)
    centered = x.astype(np.float64) - along(mean, x)
    few = 8
    magnitudes = (np.abs(x) + along(np.abs(mean), x)) * along(np.abs(std * weight), x)
    wanted = centered * along(std * weight, x) + along(bias, x)
    assert is_near(y, wanted, few, magnitudes + along(np.abs(bias), x))
    assert is_near(gx, g * along(std * weight, x), few, 0)
    np.testing.assert_array_equal(gx, only)
    terms = few + in_sums(x.size // planes, real)
    size = (np.abs(g) * (np.abs(x) + along(np.abs(mean), x))).sum(axes(x), np.float64)
    assert_sums(gw, start[0] + 2 * (g * centered).sum(axes(x)) * std, terms, 1 + 2 * size * std)
    size = np.abs(g).sum(axes(x), np.float64)
    assert_sums(gb, start[1] + 2 * g.astype(np.float64).sum(axes(x)), terms, 1 + 2 * size)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shape", [(100, 3), (4, 3, 50)], ids=str)
def test_batch_normalization_of_constants(shape: tuple[int, ...], real: Any) -> None:
    """The variance of equal values is 0, whatever they are."""
    x = np.full(shape, 0.1, real)
    x[:, 1] = 12345.678
    y = np.empty_like(x)
    mean, var, save_mean, save_std = np.ones((4, 3), real)
    thnn.BatchNormalization_updateOutput(
        None, x, y, None, None, mean, var, save_mean, save_std, True, 1.0, 0.0
    )
    np.testing.assert_array_equal(y, 0)
    np.testing.assert_array_equal(save_std, 0)
    np.testing.assert_array_equal(save_mean, x[0].reshape(3, -1)[:, 0])
    np.testing.assert_array_equal(var, 0)


def test_batch_normalization_of_many_rows() -> None:
    """So many rows that the number of their blocks is limited."""
    x = np.random.default_rng(5).standard_normal((1200000, 2), np.float32)

    def run(state: State) -> tuple[np.ndarray, ...]:
        y = np.empty_like(x)
        mean, var, save_mean, save_std = np.zeros((4, 2), np.float32)
        thnn.BatchNormalization_updateOutput(
            state, x, y, None, None, mean, var, save_mean, save_std, True, 1.0, 0.0
        )
        return y, mean, var

    y, mean, var = same_with_threads(run)
    few = 8
    assert is_near(mean, x.mean(0, np.float64), few)
    assert is_near(var, x.var(0, np.float64, ddof=1), few)
    assert is_near(y.var(0, np.float64).astype(np.float32), np.ones(2), few)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shape", [(5,), (300000,), *CHANNEL_SHAPES], ids=str)
@pytest.mark.parametrize("shared", [True, False])
def test_prelu(shape: tuple[int, ...], shared: bool, real: Any) -> None:
    rng = np.random.default_rng(3)
    x, g = rng.standard_normal((2, *shape)).astype(real)
    planes = 0 if shared else shape[min(1, len(shape) - 1)]
    weight = rng.standard_normal(max(planes, 1)).astype(real)
    start = rng.standard_normal(max(planes, 1)).astype(real)

    def run(state: State) -> tuple[np.ndarray, ...]:
        y, gx, gw = np.empty_like(x), np.empty_like(x), start.copy()
        thnn.PReLU_updateOutput(state, x, y, weight, planes)
        thnn.PReLU_updateGradInput(state, x, g, gx, weight, planes)
        thnn.PReLU_accGradParameters(state, x, g, None, weight, gw, None, None, planes, 0.5)
        return y, gx, gw

    y, gx, gw = same_with_threads(run)
    slopes: Any = weight[0] if shared else weight if x.ndim == 1 else along(weight, x)
    np.testing.assert_array_equal(y, np.where(x > 0, x, x * slopes))
    np.testing.assert_array_equal(gx, np.where(x > 0, g, g * slopes))
    terms = np.where(x > 0, 0, x.astype(np.float64) * g)
    sums = terms.sum() if shared else terms if x.ndim == 1 else terms.sum(axes(x))
    sizes = np.abs(terms)
    size = sizes.sum() if shared else sizes if x.ndim == 1 else sizes.sum(axes(x))
    count = in_sums(x.size // (gw.size if x.ndim > 1 or shared else x.size), real)
    assert_sums(gw, start + 0.5 * sums, count, np.abs(start) + 0.5 * size)


POOLING_SHAPES = [
    (1, (7,), False),
    (1, (30, 40), True),
    (1, (3000, 9), True),  # several blocks of lines
    (1, (9, 700), False),  # tiles of positions
    (2, (3, 17, 5), True),
    (4, (17, 5, 60), False),
    (3, (2, 40, 9, 31), True),
]


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("power", [1.0, 2.0, 3.0, 1.5])
@pytest.mark.parametrize(("stride", "shape", "batched"), POOLING_SHAPES, ids=str)
def test_feature_pooling(
    stride: int, shape: tuple[int, ...], batched: bool, power: float, real: Any
) -> None:
    rng = np.random.default_rng(4)
    width, axis = 5, int(batched)
    x = rng.random(shape).astype(real) + real(0.1)
    windows = (shape[axis] - width) // stride + 1
    y_shape = (*shape[:axis], windows, *shape[axis + 1 :])
    g = rng.standard_normal(y_shape).astype(real)

    def run(state: State) -> tuple[np.ndarray, ...]:
        y, gx = np.empty(y_shape, real), np.empty_like(x)
        thnn.FeatureLPPooling_updateOutput(state, x, y, power, width, stride, batched)
        thnn.FeatureLPPooling_updateGradInput(state, g, x, y, gx, power, width, stride, batched)
        return y, gx

    y, gx = same_with_threads(run)
    features = np.moveaxis(x.astype(np.float64), axis, 0)
    slopes = np.moveaxis(g.astype(np.float64), axis, 0)
    gradient, sizes = np.zeros_like(features), np.zeros_like(features)
    norms = []
    for o in range(windows):
        window = slice(o * stride, o * stride + width)
        norms.append((features[window] ** power).sum(0) ** (1 / power))
        share = (features[window] / norms[-1]) ** (power - 1)
        gradient[window] += slopes[o] * share
        sizes[window] += np.abs(slopes[o]) * share
    # A power of a number that has a relative error has power times that error.
    roundings = (width + 2 * FUNCTION) * (1 + power)
    assert is_near(y, np.moveaxis(np.array(norms), 0, axis), roundings, 0)
    assert is_near(gx, np.moveaxis(gradient, 0, axis), 2 * roundings, np.moveaxis(sizes, 0, axis))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shape", [(3, 8), (3, 8, 5)], ids=str)
def test_feature_pooling_of_zeros(shape: tuple[int, ...], real: Any) -> None:
    """No gradient flows through a norm of 0."""
    x = np.zeros(shape, real)
    y_shape = (3, 7, *shape[2:])
    y, gx = np.empty(y_shape, real), np.full_like(x, 9)
    for power in (2.0, 1.5):
        thnn.FeatureLPPooling_updateOutput(None, x, y, power, 2, 1, True)
        thnn.FeatureLPPooling_updateGradInput(
            None, np.ones(y_shape, real), x, y, gx, power, 2, 1, True
        )
        np.testing.assert_array_equal(y, 0)
        np.testing.assert_array_equal(gx, 0)

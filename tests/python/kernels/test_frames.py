"""TemporalConvolution by tiles of frames, with stride 1: Winograd's algorithm for three taps and
Fourier transforms of 16 frames for up to 14."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bounds import FOURIER_FRAMES, WINOGRAD, assert_sums
from support.processes import run_again

from pythnn import State, Tensor, thnn
from pythnn._library import ffi, lib

DTYPES = ["float32", "float64"]
TILES = [("winograd", 3), *(("fft_tiling", taps) for taps in (2, 3, 5, 8, 9, 14))]
"""Algorithms, and the taps that they are for."""
GROWTH = {"winograd": WINOGRAD, "fft_tiling": FOURIER_FRAMES}
OTHERS = ["direct", "gemm"]
SCALE = 2.0
"""Of the gradient of the weight, which is added to ones."""

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Input, weight, bias and gradOutput."""


def layer(
    dtype: str, taps: int, frames: tuple[int, ...], sizes: tuple[int, int], more: int = 0
) -> Arrays:
    """`more` frames of gradOutput belong to no result."""
    random = np.random.default_rng(0)
    results = (*frames[:-1], frames[-1] - taps + 1 + more, sizes[1])
    shapes = (*frames, sizes[0]), (sizes[1], taps * sizes[0]), sizes[1], results
    x, w, b, go = (random.standard_normal(shape).astype(dtype) for shape in shapes)
    return x, w, b, go


def definition(x: np.ndarray, w: np.ndarray, b: np.ndarray, go: np.ndarray) -> list[np.ndarray]:
    """output, gradInput and the sum for the weight, in float64."""
    x, w, b, go = (a.astype(np.float64) for a in (x, w, b, go))
    count = w.shape[1] // x.shape[-1]
    taps = np.split(w, count, axis=1)
    n = x.shape[-2] - count + 1
    y = b + sum(x[..., k : k + n, :] @ tap.T for k, tap in enumerate(taps))
    gx, gw = np.zeros_like(x), []
    rows = go[..., :n, :].reshape(-1, go.shape[-1])
    for k, tap in enumerate(taps):
        gx[..., k : k + n, :] += go[..., :n, :] @ tap
        gw.append(rows.T @ x[..., k : k + n, :].reshape(-1, x.shape[-1]))
    return [y, gx, np.concatenate(gw, axis=1)]


def convolve(
    x: np.ndarray, w: np.ndarray, b: np.ndarray, go: np.ndarray, stride: int = 1, **settings: Any
) -> list[np.ndarray]:
    """output, gradInput and gradWeight."""
    y, gx = Tensor(dtype=x.dtype), Tensor(dtype=x.dtype)
    gw, gb = np.ones_like(w), np.zeros_like(b)
    taps = w.shape[1] // x.shape[-1]
    with State(**settings) as state:
        thnn.TemporalConvolution_updateOutput(
            state, x, y, w, b, taps, stride, x.shape[-1], w.shape[0]
        )
        thnn.TemporalConvolution_updateGradInput(state, x, go, gx, w, taps, stride)
        thnn.TemporalConvolution_accGradParameters(state, x, go, gw, gb, taps, stride, SCALE)
    return [y.numpy(), gx.numpy(), gw]


def bits(found: list[np.ndarray]) -> list[bytes]:
    return [f.tobytes() for f in found]


def assert_near(found: list[np.ndarray], arrays: Arrays, algorithm: str) -> None:
    """Results are as near to the definition as their error bounds say."""
    x, w, _, _ = arrays
    wanted, magnitudes = (
        definition(*some) for some in (arrays, [np.abs(array) for array in arrays])
    )
    rows = x.size // x.shape[-1]
    terms = (w.shape[1], w.shape[0] * w.shape[1] // x.shape[-1], rows)
    for f, expect, size, count, of_weight in zip(
        found, wanted, magnitudes, terms, (False, False, True), strict=True
    ):
        expect, size = (1 + SCALE * expect, 1 + SCALE * size) if of_weight else (expect, size)
        assert_sums(f, expect, count, size.max(), growth=GROWTH[algorithm])


@pytest.mark.parametrize("sizes", [(1, 1), (5, 17), (33, 70), (130, 65)], ids=str)
@pytest.mark.parametrize(("algorithm", "taps"), TILES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_layers(dtype: str, algorithm: str, taps: int, sizes: tuple[int, int]) -> None:
    """Whole tiles and others, several blocks, gradients of more frames than there are; one to seven
    threads with the same bits."""
    for shape, more in [((0,), 0), ((1,), 1), ((1, 2), 0), ((3, 35), 2), ((2, 403), 0)]:
        frames = (*shape[:-1], shape[-1] + taps)
        arrays = layer(dtype, taps, frames, sizes, more)
        found = convolve(*arrays, convolution=algorithm, threads=1)
        assert_near(found, arrays, algorithm)
        for threads in (2, 7):
            same = convolve(*arrays, convolution=algorithm, threads=threads, minimum_work=1)
            assert bits(found) == bits(same)


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_each_level_on_poisoned_memory(level: str) -> None:
    run_again(level, "-k", "layers and (33 or 5-17) and float32", __file__, poisoned=True)


@pytest.mark.parametrize("mean", [0, 10])
def test_error_is_that_of_the_definition(mean: int) -> None:
    """Of normal elements, and with a mean, errors are at most twice those of the definition, in the
    mean of squares. In float: sums in float64 tell its errors, not their own."""
    for taps in (5, 11):
        x, w, b, go = layer("float32", taps, (3, 120), (96, 80))
        arrays = x + x.dtype.type(mean), w, b, go + go.dtype.type(mean)
        y, gx, gw = definition(*arrays)
        wanted = y, gx, 1 + SCALE * gw
        errors = [
            [np.sqrt(((f - e) ** 2).mean()) for f, e in zip(found, wanted, strict=True)]
            for found in (
                convolve(*arrays, convolution=name, threads=1) for name in ("fft_tiling", "direct")
            )
        ]
        for fourier, direct in zip(*errors, strict=True):
            assert 0 < fourier < 2 * direct


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, "largest"])
@pytest.mark.parametrize(("algorithm", "taps"), [("winograd", 3), ("fft_tiling", 5)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_not_finite(dtype: str, algorithm: str, taps: int, value: float | str) -> None:
    """Or becomes so on the way only: results are those of the definition."""
    x, w, b, go = layer(dtype, taps, (2, 6 + taps), (4, 3))
    if isinstance(value, str):
        w /= 128
        go /= 128
        x[:] = np.finfo(dtype).max * 0.75
        go[0] = np.finfo(dtype).max * 0.75
        go[1] = -go[0]
    else:
        x[0, 3, 1] = go[1, 2, 2] = value
    found, *others = (convolve(x, w, b, go, convolution=name) for name in (algorithm, *OTHERS))
    for i, f in enumerate(found):
        assert any(np.array_equal(f, other[i], equal_nan=True) for other in others)
        if i < 2:
            assert np.isfinite(f).any()
            assert np.isfinite(f).all() == isinstance(value, str)


@pytest.mark.parametrize("dtype", DTYPES)
def test_others_are_left_to_the_definition(dtype: str) -> None:
    """Strides, a single tap, and taps that leave a tile fewer than three results."""
    for taps, stride in [(1, 1), (5, 2), (3, 3), (15, 1), (17, 1)]:
        arrays = layer(dtype, taps, (2, 40), (24, 20))
        found, direct = (
            convolve(*arrays, stride, convolution=name) for name in ("fft_tiling", "direct")
        )
        assert bits(found) == bits(direct)


@pytest.mark.parametrize("algorithm", ["winograd", "fft_tiling"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_limits_of_scratch(dtype: str, algorithm: str) -> None:
    """Several passes have the bits of one; where not even a panel fits, the definition is taken."""
    arrays = layer(dtype, 3, (2, 90), (100, 300))
    whole, direct = (
        convolve(*arrays, convolution=name, workspace_limit=1 << 30)
        for name in (algorithm, "direct")
    )
    assert bits(whole[:2]) != bits(direct[:2])
    seen = set()
    for limit in (1 << 16, 3 << 18, 3 << 20, 5 << 20, 7 << 20):
        found = convolve(
            *arrays, convolution=algorithm, workspace_limit=limit, threads=3, minimum_work=1
        )
        assert_near(found, arrays, algorithm)
        for f, one, other in zip(found[:2], whole, direct, strict=False):
            assert f.tobytes() in (one.tobytes(), other.tobytes())
        seen.add(found[0].tobytes())
    assert len(seen) == 2


def test_defaults() -> None:
    """Large layers take tiles, except at the baseline; small ones do not."""
    baseline = ffi.string(lib.THNN_simdLevelName()) == b"baseline"
    for taps, name, size, large in [
        (3, "winograd", 128, True),
        (3, "winograd", 16, False),
        (5, "fft_tiling", 128, True),
        (5, "fft_tiling", 16, False),
        (14, "fft_tiling", 128, False),
    ]:
        arrays = layer("float32", taps, (4, 120), (size, size))
        automatic, high, tiles, *others = (
            convolve(*arrays, **settings)
            for settings in (
                {"convolution": "auto"},
                {"convolution": "auto", "accuracy": "high"},
                {"convolution": name},
                *({"convolution": other} for other in OTHERS),
            )
        )
        assert bits(automatic) == bits(high)
        for i in range(3 if name == "fft_tiling" else 2):
            definitions = {other[i].tobytes() for other in others}
            assert tiles[i].tobytes() not in definitions
            chosen = [tiles[i].tobytes()] if large and not baseline else definitions
            assert automatic[i].tobytes() in chosen

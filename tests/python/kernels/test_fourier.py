"""Convolutions by products of Fourier transforms of tiles of 16x16: "fft_tiling"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.definitions import convolution as definition
from support.processes import run_again
from test_convolution import (
    DTYPES,
    MODULES,
    Geometry,
    Module,
    check,
    check_bits,
    strided_layer,
)

from pythnn import State, Tensor, THNNArgumentError, thnn
from pythnn import functional as F  # noqa: N812
from pythnn._library import ffi, lib

NAME = "fft_tiling"
OTHERS = ["direct", "gemm"]
RESULTS = ["output", "grad_input", "grad_weight"]
TWO_DIMENSIONAL = [module for module in MODULES if module.dimensions == 2]
KERNELS = [(1, 1), (2, 3), (5, 5), (9, 4), (14, 14), (1, 14)]


def layer(
    module: Module,
    batch: int,
    planes: tuple[int, int],
    near: tuple[int, int],
    kernel: tuple[int, int],
    pad: tuple[int, int],
) -> Geometry:
    grown = [
        (2 * p - k + 1) * (-1 if module.transposed else 1) for p, k in zip(pad, kernel, strict=True)
    ]
    far = tuple(size + by for size, by in zip(near, grown, strict=True))
    return Geometry(batch, planes, near, far, kernel, (1, 1), pad, (1, 1), (0, 0))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("planes", [(1, 1), (3, 17), (33, 5)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", TWO_DIMENSIONAL, ids=lambda m: m.name)
def test_layers(
    module: Module, dtype: str, planes: tuple[int, int], kernel: tuple[int, int]
) -> None:
    """One tile that is full or not; several, the last of which has one result or all."""
    full = tuple(17 - k for k in kernel)
    some, none = tuple(k // 2 for k in kernel), (0, 0)
    near = full if module.transposed else (16, 16)
    settings = [
        (1, near, none),
        (2, (near[0] + 1, 2 * near[1]), none),
        (2, (14, 15), some),
        (3, (17, 31), some),
    ]
    for batch, size, pad in settings:
        check(module, layer(module, batch, planes, size, kernel, pad), dtype, NAME, batch)


STRIDED = [
    ((7, 7), (2, 2)),
    ((5, 3), (2, 1)),
    ((3, 28), (1, 2)),
    ((11, 11), (4, 4)),
    ((2, 9), (2, 3)),
]


@pytest.mark.parametrize(("kernel", "stride"), STRIDED, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", TWO_DIMENSIONAL, ids=lambda m: m.name)
def test_strides(
    module: Module, dtype: str, kernel: tuple[int, int], stride: tuple[int, int]
) -> None:
    """Slices of every number of taps, of an image or of a map, and in several vectors."""
    for batch, planes, pad in [(1, (3, 5), (0, 0)), (2, (7, 9), (2, 1)), (3, (2, 3), (1, 4))]:
        g = strided_layer(module, batch, planes, (41, 63), kernel, stride, pad)
        check(module, g, dtype, NAME, batch)
        check_bits(module, g, dtype, NAME)


@pytest.mark.parametrize("kernel", [(5, 5), (7, 3)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", TWO_DIMENSIONAL, ids=lambda m: m.name)
def test_threads_do_not_change_bits(module: Module, dtype: str, kernel: tuple[int, int]) -> None:
    """Of several blocks of tiles and planes of every kind."""
    check_bits(module, layer(module, 3, (70, 37), (25, 40), kernel, (2, 1)), dtype, NAME)


@pytest.mark.parametrize("planes", [(33, 115), (115, 33)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_that_do_not_fit(dtype: str, planes: tuple[int, int]) -> None:
    """They are transformed for some panels of planes at a time, in blocks of any size the same."""
    module = TWO_DIMENSIONAL[0]
    g = layer(module, 2, planes, (22, 25), (5, 5), (2, 2))
    check(module, g, dtype, NAME, 0, limits=(65536, 2_000_000, 3_000_000, 6_000_000, 20_000_000))


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_each_level_on_poisoned_memory(level: str) -> None:
    run_again(level, "-k", "layers and 33 and Spatial and not Full", __file__, poisoned=True)


# ---- Errors


def data(kind: str, taps: int, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Images, weights and gradients of the map."""
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 16, 27, 24))
    w = random.standard_normal((16, 16, taps, taps))
    if kind == "images":
        x = random.uniform(0, 255, x.shape)
    if kind == "one element":
        x[0, 0, 8, 8] = 1e4
    if kind == "long tails":
        w = random.laplace(size=w.shape) * np.exp(random.standard_normal((16, 16, 1, 1)))
        x = np.maximum(x, 0)
    g = random.standard_normal((2, 16, 27 + 1 - taps % 2, 24 + 1 - taps % 2))
    return x.astype(dtype), w.astype(dtype), g.astype(dtype)


def relative_errors(kind: str, taps: int, dtype: str, algorithm: str) -> list[float]:
    """The largest error of each result, relative to its largest element."""
    x, w, g = data(kind, taps, dtype)
    pad = taps // 2
    settings = ((1, 1), (pad, pad), (1, 1))
    wide = [a.astype(np.longdouble if dtype == "float64" else np.float64) for a in (x, w, g)]
    exact = (
        definition.forward(wide[0], wide[1], None, g.shape[2:], *settings),
        definition.backward_data(wide[2], wide[1], None, x.shape[2:], *settings),
        definition.backward_weight(wide[0], wide[2], (taps, taps), *settings),
    )
    with State(convolution=algorithm) as state:
        found = (
            F.conv2d(x, w, padding=pad, state=state),
            *F.conv2d_backward(g, x, w, padding=pad, needs=("x", "weight"), state=state)[:2],
        )
    return [float(np.abs(f - e).max() / np.abs(e).max()) for f, e in zip(found, exact, strict=True)]


@pytest.mark.parametrize("taps", [1, 3, 5, 8])
@pytest.mark.parametrize("kind", ["normal", "images", "one element", "long tails"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_errors_on_kinds_of_data(dtype: str, kind: str, taps: int) -> None:
    """They are about as small as those of sums of products, and of a few terms: the largest is of
    three times the distance from 1 to the next number, for numbers as large as the largest
    result."""
    few = 3 * float(np.finfo(dtype).eps)
    direct, tiles = (relative_errors(kind, taps, dtype, name) for name in ("direct", NAME))
    for result, sums, products in zip(RESULTS, direct, tiles, strict=True):
        assert 0 < products < max(2 * sums, few), result
        if taps > 1:
            assert products < 2 * sums, result


# ---- What is not finite


def convolve(x: np.ndarray, w: np.ndarray, algorithm: str, pad: int = 2) -> np.ndarray:
    y = Tensor(dtype=x.dtype)
    with State(convolution=algorithm) as state:
        thnn.SpatialConvolutionMM_updateOutput(
            state, x, y, w, None, None, None, *w.shape[:1:-1], 1, 1, pad, pad
        )
    return y.numpy()


def correlate(x: np.ndarray, go: np.ndarray, algorithm: str) -> np.ndarray:
    """The weight gradient of 5x5 taps, which starts at 1."""
    gw, gb = np.ones((go.shape[1], x.shape[1], 5, 5), x.dtype), np.ones(go.shape[1], x.dtype)
    with State(convolution=algorithm) as state:
        thnn.SpatialConvolutionMM_accGradParameters(
            state, x, go, gw, gb, None, None, 5, 5, 1, 1, 2, 2, 0.5
        )
    return gw


def assert_by_another(found: np.ndarray, others: list[np.ndarray]) -> None:
    """`found` is what one of the algorithms without sums of elements computes, to the last bit."""
    assert any(np.array_equal(found, other, equal_nan=True) for other in others)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("dtype", DTYPES)
def test_infinity_and_nan(dtype: str, value: float) -> None:
    """In any operand: results are those of another algorithm, and what gradients were before is
    added to once."""
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 4, 19, 20)).astype(dtype)
    w = random.standard_normal((3, 4, 5, 5)).astype(dtype)
    go = random.standard_normal((2, 3, 19, 20)).astype(dtype)
    for function, given in ((convolve, (x, w)), (correlate, (x, go))):
        for array in given:
            array.flat[40] = value
            found, *others = (function(*given, name) for name in (NAME, *OTHERS))
            assert_by_another(found, others)
            assert {True, False} == set(np.isfinite(found).flat)
            array.flat[40] = 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_overflows_on_the_way_only(dtype: str) -> None:
    """Sums of elements that are too large, of results that are not."""
    random = np.random.default_rng(0)
    largest = np.finfo(dtype).max
    x = random.uniform(0.5, 1, (2, 4, 19, 20)).astype(dtype) * largest
    w = random.uniform(-1, 1, (3, 4, 5, 5)).astype(dtype) / 128
    go = random.uniform(-1, 1, (2, 3, 19, 20)).astype(dtype) / 1024
    for found, *others in (
        [convolve(x, w, name) for name in (NAME, *OTHERS)],
        [correlate(x, go, name) for name in (NAME, *OTHERS)],
    ):
        assert np.isfinite(found).all()
        assert_by_another(found, others)


# ---- Plans


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_plans(dtype: str, result: str) -> None:
    """They name it, also where errors have to be small; scratch does not grow with the batch."""
    for accuracy in ("standard", "high"):
        with State(convolution=NAME, accuracy=accuracy, threads=2) as state:
            small, large = (
                F.convolution_plan(
                    (batch, 32, 40, 40), (64, 32, 7, 7), result,
                    padding=3, dtype=dtype, state=state,
                )
                for batch in (100, 100_000)
            )  # fmt: skip
            assert small.algorithm == large.algorithm == NAME
            assert large.scratch_bytes == small.scratch_bytes <= 2 * state.workspace_limit
            assert large.cost == pytest.approx(1000 * small.cost, rel=0.1)


@pytest.mark.parametrize(
    ("function", "x", "w", "settings", "reason"),
    [
        ("conv2d", (1, 3, 20, 20), (2, 3, 15, 3), {}, "at most 14 x 14 .* one of 15 x 3"),
        ("conv2d", (1, 3, 60, 60), (2, 3, 6, 29), {"stride": 2}, "14 taps.* one of 6 x 29"),
        ("conv2d", (1, 3, 20, 20), (2, 3, 2, 5), {"stride": 3}, "no larger than the kernel"),
        ("conv2d", (1, 3, 20, 20), (2, 3, 5, 5), {"dilation": 2}, "a dilation of 1"),
        ("conv3d", (1, 3, 2, 9, 9), (2, 3, 1, 3, 3), {}, "without a depth"),
        ("conv3d", (1, 3, 2, 9, 9), (2, 3, 2, 3, 3), {}, "without a depth"),
        ("conv_transpose2d", (1, 3, 9, 9), (3, 2, 5, 5), {"stride": 6}, "no larger than"),
    ],
)
def test_what_does_not_apply(
    function: str,
    x: tuple[int, ...],
    w: tuple[int, ...],
    settings: dict[str, Any],
    reason: str,
) -> None:
    call, arrays = getattr(F, function), (np.ones(x, "float32"), np.ones(w, "float32"))
    with (
        State(convolution=NAME) as state,
        pytest.raises(THNNArgumentError, match=f"'state'.* applies.*{NAME}.*{reason}"),
    ):
        call(*arrays, **settings, state=state)


def test_little_memory_is_refused() -> None:
    with (
        State(convolution=NAME, workspace_limit=65536) as state,
        pytest.raises(THNNArgumentError, match="scratch memory does not fit"),
    ):
        F.conv2d(np.ones((1, 64, 20, 20)), np.ones((64, 64, 5, 5)), state=state)


def test_modules_choose_automatically_where_it_does_not_apply() -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((1, 3, 24, 25)).astype("float32")
    w = random.standard_normal((2, 3, 15, 3)).astype("float32")
    found, wanted = (convolve(x, w, name, 1) for name in (NAME, "auto"))
    assert found.tobytes() == wanted.tobytes()


# ---- Kept weights


def convolved(state: State, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    y = Tensor(dtype=x.dtype)
    thnn.SpatialConvolutionMM_updateOutput(state, x, y, w, None, None, None, 5, 5, 1, 1, 2, 2)
    return y.numpy()


def keeping(limit: int | None = None) -> State:
    state = State(convolution=NAME, workspace_limit=limit)
    lib.THNN_State_setKeepsWeights(state._open(), True)
    return state


def alike(lanes: int, dtype: str) -> list[tuple[int, int]]:
    """Image and map planes whose weights are as large in panels of one vector as in those of
    two."""
    gap = 64 // np.dtype(dtype).itemsize
    pairs = [(gap * panels // lanes, (2 * panels + 1) * lanes) for panels in (1, 2, 3, 4)]
    return [pair for pair in pairs if pair[0] * lanes % gap == 0 and pair[0] > 0]


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
@pytest.mark.parametrize("dtype", DTYPES)
def test_kept_weights_do_not_depend_on_sizes(dtype: str, lanes: int) -> None:
    """Whatever else memory has room for beside a block of tiles."""
    random = np.random.default_rng(0)
    for planes in alike(lanes, dtype):
        w = random.standard_normal((planes[1], planes[0], 5, 5)).astype(dtype)
        for limit in (500_000, 1_000_000, 2_000_000, 3_000_000, 4_000_000):
            with keeping(limit) as state:
                for shape in ((1, planes[0], 12, 12), (9, planes[0], 40, 12)):
                    x = random.standard_normal(shape).astype(dtype)
                    with keeping(limit) as alone:
                        wanted = convolved(alone, x, w)
                    for _ in range(2):
                        np.testing.assert_array_equal(convolved(state, x, w), wanted)


def planned_row(result: int, taps: int) -> str:
    sizes = [1, 2, 32, 32, 1, 40, 40, 1, 40, 40, 1, taps, taps, *[1] * 6, 0, taps // 2, taps // 2]
    choice = ffi.new("THNNConvolutionChoice *")
    with State(convolution=NAME) as state:
        lib.THNN_FloatGroupedConvolution_plan(state._c, result, False, False, sizes, choice)
        return ffi.string(choice.row).decode()


def test_rows() -> None:
    for taps in (3, 5, 13):
        rows = [planned_row(result, taps) for result in range(3)]
        assert rows == ["fourier", "fourier", "fourierWeight"]

"""Linear layers of few and of many rows, whose products take different ways, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from support.bounds import assert_products
from support.processes import run_again

from pythnn import State, Tensor, thnn

DTYPES = ["float32", "float64"]
# Few terms, few rows, tails of vectors and tiles, several blocks of terms, columns and rows.
SHAPES = [
    (1, 7, 300),
    (2, 1, 257),
    (2, 2000, 256),
    (3, 130, 1300),
    (7, 129, 2051),
    (16, 203, 511),
    (33, 66, 999),
    (64, 65, 300),
    (128, 31, 1025),
    (129, 40, 600),
    (65, 1100, 530),
]


def linear(x: np.ndarray, w: np.ndarray, b: np.ndarray, state: State | None) -> np.ndarray:
    y = Tensor(dtype=x.dtype)
    thnn.Linear_updateOutput(state, x, y, w, b, Tensor(dtype=x.dtype))
    return y.numpy()


def temporal(x: np.ndarray, w: np.ndarray, b: np.ndarray, state: State | None) -> np.ndarray:
    y = Tensor(dtype=x.dtype)
    thnn.TemporalConvolution_updateOutput(state, x, y, w, b, 1, 1, *w.shape[::-1])
    return y.numpy()


def overlapping(x: np.ndarray, w: np.ndarray, b: np.ndarray, state: State | None) -> np.ndarray:
    """Frames of one value; windows begin at each row's first."""
    y = Tensor(dtype=x.dtype)
    rows, terms = x.shape
    frames = np.concatenate([x[:, 0], x[-1, 1:]])[:, None]
    x[:] = np.lib.stride_tricks.sliding_window_view(frames[:, 0], terms)[:rows]
    thnn.TemporalConvolution_updateOutput(state, frames, y, w, b, terms, 1, 1, w.shape[0])
    return y.numpy()


def convolution(x: np.ndarray, w: np.ndarray, b: np.ndarray, state: State | None) -> np.ndarray:
    """One position that sees the whole image."""
    y = Tensor(dtype=x.dtype)
    image, kernels = x.reshape(*x.shape, 1, 1), w.reshape(*w.shape, 1, 1)
    none = Tensor(dtype=x.dtype), Tensor(dtype=x.dtype)
    thnn.SpatialConvolutionMM_updateOutput(state, image, y, kernels, b, *none, 1, 1, 1, 1, 0, 0)
    return y.numpy()[:, :, 0, 0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [linear, temporal, overlapping, convolution])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_forward(function, shape, dtype):
    rows, columns, terms = shape
    random = np.random.default_rng(shape)
    x, w, b = (
        random.standard_normal(s).astype(dtype)
        for s in ((rows, terms), (columns, terms), (columns,))
    )
    results = []
    for threads in (1, 2, 3):
        with State(threads=threads, minimum_work=1) as state:
            results.append(function(x, w, b, state))
        assert results[-1].tobytes() == results[0].tobytes(), f"{threads} threads"
    assert_products(results[0], x, w.T, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [(1, 3), (7, 7), (5, 10), (9, 11), (10, 10), (3, 49)], ids=str)
def test_positions_behind_panels(size, dtype):
    """A pointwise layer of more weights than are packed at once: one to four positions left."""
    planes, maps = 520, 1547
    random = np.random.default_rng(size)
    x, w, b = (
        random.standard_normal(s).astype(dtype)
        for s in ((1, planes, *size), (maps, planes), (maps,))
    )
    results = []
    for threads in (1, 2, 3):
        y, none = Tensor(dtype=dtype), (Tensor(dtype=dtype), Tensor(dtype=dtype))
        with State(threads=threads, minimum_work=1) as state:
            thnn.SpatialConvolutionMM_updateOutput(
                state, x, y, w[:, :, None, None], b, *none, 1, 1, 1, 1, 0, 0
            )
        results.append(y.numpy())
        assert results[-1].tobytes() == results[0].tobytes(), f"{threads} threads"
    assert_products(results[0].reshape(maps, -1), w, x.reshape(planes, -1), b[:, None])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("rows", "outputs", "inputs"),
    [
        *((rows, 263, 2065) for rows in (1, 2, 3, 4, 7, 8, 9, 16, 33, 130, 260)),
        # sums in two, four and eight parts, fewer where they would not fit
        *((rows, outputs, 70) for rows in (1, 3) for outputs in (513, 1030, 2050)),
        (1, 1030, 9001),
    ],
)
def test_backward(rows, outputs, inputs, dtype):
    """Through a matrix of several blocks, with tails of rows, terms and vectors."""
    random = np.random.default_rng(rows)
    x, w, g = (
        random.standard_normal(s).astype(dtype)
        for s in ((rows, inputs), (outputs, inputs), (rows, outputs))
    )
    results = []
    for threads in (1, 2, 3):
        gx = Tensor(dtype=dtype)
        with State(threads=threads, minimum_work=1) as state:
            thnn.Linear_updateGradInput(state, x, g, gx, w)
        results.append(gx.numpy())
        assert results[-1].tobytes() == results[0].tobytes(), f"{threads} threads"
    assert_products(results[0], g, w)


def linear_gradients(x, g, gw, gb, state):
    none = Tensor(dtype=x.dtype)
    thnn.Linear_accGradParameters(state, x, g, none, gw, gb, gw, gb, none, 0.5)


def convolution_gradients(x, g, gw, gb, state):
    """One position that sees the whole image."""
    none = Tensor(dtype=x.dtype), Tensor(dtype=x.dtype)
    x, g, gw = (a.reshape(*a.shape, 1, 1) for a in (x, g, gw))
    thnn.SpatialConvolutionMM_accGradParameters(state, x, g, gw, gb, *none, 1, 1, 1, 1, 0, 0, 0.5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [linear_gradients, convolution_gradients])
@pytest.mark.parametrize("rows", [1, 2, 7, 32, 33, 130, 260])
def test_weight_gradient(rows, function, dtype):
    """Added to what is there, with tails of inputs and outputs."""
    random = np.random.default_rng(rows)
    x, g, before, bias = (
        random.standard_normal(s).astype(dtype)
        for s in ((rows, 2065), (rows, 263), (263, 2065), 263)
    )
    results = []
    for threads in (1, 2, 3):
        gw, gb = before.copy(), bias.copy()
        with State(threads=threads, minimum_work=1) as state:
            function(x, g, gw, gb, state)
        results.append((gw, gb))
        for one, other in zip(results[-1], results[0], strict=True):
            assert one.tobytes() == other.tobytes(), f"{threads} threads"
    assert_products(results[0][0], g.T, x, before, 0.5)
    assert_products(results[0][1], np.ones(rows), g, bias, 0.5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("batch", "frames", "n_in", "n_out", "k", "step"),
    [
        (3, 150, 19, 21, 3, 1),  # several samples, more terms than a sum has
        (2, 300, 5, 70, 4, 2),
        (1, 9, 130, 9, 1, 3),
        (1, 5, 1, 1, 5, 1),
        (2, 31, 300, 230, 2, 1),  # a weight for gemm
    ],
)
def test_temporal_weight_gradient(batch, frames, n_in, n_out, k, step, dtype):
    """Windows that overlap or leave out frames; gradOutput has a frame that is left aside."""
    random = np.random.default_rng(frames)
    outputs = (frames - k) // step + 1
    x, g, before, bias = (
        random.standard_normal(s).astype(dtype)
        for s in ((batch, frames, n_in), (batch, outputs + 1, n_out), (n_out, k * n_in), n_out)
    )
    results = []
    for threads in (1, 2, 3):
        gw, gb = before.copy(), bias.copy()
        with State(threads=threads, minimum_work=1) as state:
            thnn.TemporalConvolution_accGradParameters(state, x, g, gw, gb, k, step, 0.5)
        results.append((gw, gb))
        for one, other in zip(results[-1], results[0], strict=True):
            assert one.tobytes() == other.tobytes(), f"{threads} threads"
    windows = np.stack(
        [x[:, i * step : i * step + k].reshape(batch, -1) for i in range(outputs)], 1
    )
    used = g[:, :outputs].reshape(-1, n_out)
    assert_products(results[0][0], used.T, windows.reshape(len(used), -1), before, 0.5)
    assert_products(results[0][1], np.ones(len(used)), used, bias, 0.5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n_in", "k", "step"), [(1, 1, 2), (1, 2, 3), (3, 1, 4), (2, 3, 2)])
def test_temporal_gradient_of_one_feature(n_in, k, step, dtype):
    """Products of one term, whose columns are further apart than they are long."""
    frames = 4 * step + k
    outputs = (frames - k) // step + 1
    random = np.random.default_rng(step)
    x, g, w = (
        random.integers(-9, 9, s).astype(dtype)
        for s in ((frames, n_in), (outputs, 1), (1, k * n_in))
    )
    gx, wide = Tensor(dtype=dtype), np.zeros((frames, n_in))
    thnn.TemporalConvolution_updateGradInput(None, x, g, gx, w, k, step)
    for i in range(outputs):
        wide[i * step : i * step + k] += g[i] * w.reshape(k, n_in)
    np.testing.assert_array_equal(gx.numpy(), wide)


def test_rows_do_not_mix():
    """Infinite elements stay in their row and column, also in the tails of vectors."""
    x, w = np.ones((5, 270), np.float32), np.ones((203, 270), np.float32)
    x[2, -1], w[7, 3] = np.inf, np.nan
    y = linear(x, w, np.zeros(203, np.float32), None)
    assert np.isnan(y[:, 7]).all()
    rest = np.delete(y, 7, axis=1)
    assert np.isinf(rest[2]).all()
    assert (np.delete(rest, 2, axis=0) == 270).all()


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_at_each_level(level):
    tests = [
        f"{__file__}::{name}"
        for name in (
            "test_forward",
            "test_backward",
            "test_weight_gradient",
            "test_temporal_weight_gradient",
            "test_temporal_gradient_of_one_feature",
            "test_rows_do_not_mix",
        )
    ]
    run_again(level, *tests)

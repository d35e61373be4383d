"""Tensors of more than 2^31 elements, which 32-bit indices cannot count.

Rows repeat, so that the results of a few rows tell those of all. The same tests run on few rows
everywhere; on many, on a GPU with the memory for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.bounds import FUNCTION, gamma

from pythnn import Tensor, thnn

EMULATED = os.environ.get("PYTHNN_CUDA_PACKAGE") == "pythnn_cuda_emulated"
PERIOD = 61
LARGEST = 2**31
SIZES = ["small", pytest.param("large", marks=pytest.mark.gpu)]
WINDOW = (2, 2, 2, 2, 0, 0)
Call = Callable[[Any, Tensor, Tensor, Callable[..., Any]], object]

# By name: the shape of a row, how many times its bytes a call takes, and the call with (input,
# output, indices, constant(*values)).
CALLS: dict[str, tuple[tuple[int, ...], float, Call]] = {
    "Threshold": (
        (1024,),
        2,
        lambda x, y, _, __: thnn.Threshold_updateOutput(None, x, y, 0.1, -2.0, False),
    ),
    "Sigmoid": ((1024,), 2, lambda x, y, _, __: thnn.Sigmoid_updateOutput(None, x, y)),
    "LogSoftMax": ((1024,), 2, lambda x, y, _, __: thnn.LogSoftMax_updateOutput(None, x, y)),
    "SpatialSoftMax": (
        (3, 16, 16),
        2,
        lambda x, y, _, __: thnn.SoftMax_updateOutput(None, x, y),
    ),
    "MaxPooling": (
        (1, 32, 32),
        2,
        lambda x, y, i, __: thnn.SpatialMaxPooling_updateOutput(None, x, y, i, *WINDOW, False),
    ),
    "AveragePooling": (
        (1, 32, 32),
        1.5,
        lambda x, y, _, __: thnn.SpatialAveragePooling_updateOutput(
            None, x, y, *WINDOW, False, True
        ),
    ),
    "Convolution": (
        (1, 32, 32),
        2.2,
        lambda x, y, _, constant: thnn.SpatialConvolutionMM_updateOutput(
            None, x, y, constant(2, 1, 3, 3), constant(2), None, None, 3, 3, 2, 2, 1, 1
        ),
    ),
    "Transposed": (
        (2, 16, 16),
        3.2,
        lambda x, y, _, constant: thnn.SpatialFullConvolution_updateOutput(
            None, x, y, constant(2, 1, 2, 2), constant(1), None, None, 2, 2, 2, 2, 0, 0, 0, 0
        ),
    ),
    "UpSampling": (
        (1, 16, 16),
        5,
        lambda x, y, _, __: thnn.SpatialUpSamplingNearest_updateOutput(None, x, y, 2),
    ),
    "Padding": (
        (1, 30, 30),
        2.3,
        lambda x, y, _, __: thnn.SpatialReflectionPadding_updateOutput(None, x, y, 1, 1, 1, 1),
    ),
}


def rows_of(size: str, shape: tuple[int, ...]) -> int:
    row = int(np.prod(shape))
    return 3 * PERIOD + 7 if size == "small" else LARGEST // row + PERIOD


def need_memory(xp: Any, size: str, nbytes: float) -> None:
    if size == "small":
        return
    wanted = 1.1 * nbytes
    if EMULATED:
        pytest.skip(f"needs a GPU with {wanted / 2**30:.0f} GiB of memory")
    xp.get_default_memory_pool().free_all_blocks()  # what earlier tests left there is free, too
    free, total = xp.cuda.Device().mem_info
    reason = f"needs {wanted / 2**30:.0f} GiB of GPU memory, {free / 2**30:.0f} are free"
    if free < wanted <= total and os.environ.get("PYTHNN_REQUIRE_GPU") == "1":
        pytest.fail(f"{reason} of {total / 2**30:.0f}")
    if free < wanted:
        pytest.skip(reason)


def repeated(xp: Any, block: Any, rows: int) -> Any:
    """So many rows, of which each block repeats the first one."""
    whole = xp.empty((rows, *block.shape[1:]), block.dtype)
    for first in range(0, rows, PERIOD):
        count = min(PERIOD, rows - first)
        whole[first : first + count] = block[:count]
    return whole


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def check(xp: Any, found: Any, wanted: Any, rows: int) -> None:
    """The same rows, but for the roundings of sums along them, and of a function or two."""
    terms = int(np.prod(wanted.shape[1:])) + 2 * FUNCTION
    limit = gamma(2 * terms, np.float32)
    assert found.shape == (rows, *wanted.shape[1:])
    for first in range(0, rows, PERIOD):
        count = min(PERIOD, rows - first)
        part = found[first : first + count]
        assert bool(xp.allclose(part, wanted[:count], rtol=limit, atol=limit)), f"from row {first}"


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("size", SIZES)
def test_rows(xp: Any, size: str, name: str) -> None:
    shape, times, call = CALLS[name]
    rows = rows_of(size, shape)
    need_memory(xp, size, times * rows * int(np.prod(shape)) * 4)
    block = xp.asarray(numbers(PERIOD, *shape))
    results = []
    for x in (block, repeated(xp, block, rows)):
        y, indices = Tensor(dtype=np.float32, device="cuda"), Tensor(dtype=np.int64, device="cuda")
        call(x, y, indices, lambda *wanted: xp.asarray(numbers(*wanted)))
        results.append([t.array() for t in (y, indices) if t.size])
    for wanted, found in zip(*results, strict=True):
        check(xp, found, wanted, rows)


@pytest.mark.parametrize("size", SIZES)
def test_an_input_with_gaps(xp: Any, size: str) -> None:
    rows = rows_of(size, (1024,))
    need_memory(xp, size, 3 * rows * 1024 * 4)
    block = xp.asarray(numbers(PERIOD, 1024))
    whole = repeated(xp, block, rows)
    y = Tensor(dtype=np.float32, device="cuda")
    thnn.Abs_updateOutput(None, whole.T, y)
    check(xp, y.array().T, abs(block), rows)


@pytest.mark.parametrize("size", SIZES)
def test_sums(xp: Any, size: str) -> None:
    rows = rows_of(size, (1024,))
    need_memory(xp, size, 2 * rows * 1024 * 4)
    signs = np.where(np.arange(PERIOD * 1024).reshape(PERIOD, 1024) % 2, 1, -1)
    x = repeated(xp, xp.asarray(signs.astype(np.float32)), rows)
    target = xp.zeros(x.shape, x.dtype)
    loss = xp.zeros((1,), np.float32)
    thnn.MSECriterion_updateOutput(None, x, target, loss, True)
    assert loss.get().tolist() == [1]
    vectors = [xp.asarray(np.full(1024, value, np.float32)) for value in (2, 3, 0, 1)]
    mean, std = (xp.empty((1024,), np.float32) for _ in range(2))
    y = Tensor.from_array(x)  # in the place of its input
    thnn.BatchNormalization_updateOutput(None, x, y, *vectors, mean, std, True, 1.0, 0.0)
    assert mean.get().tolist() == signs[0].tolist(), "each column is one number"
    assert bool((y.array() == 3).all())

"""Whether elements of an array share memory: exact, in bounded time and memory."""

from __future__ import annotations

import time
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from pythnn import Tensor, THNNArgumentError, nn, thnn
from pythnn._overlap import may_share_memory, overlaps_itself

SEED = 20


def layout(shape, strides, itemsize=8):
    return SimpleNamespace(shape=shape, strides=strides, itemsize=itemsize)


def by_places(array):
    """The definition."""
    places = np.zeros(1, np.int64)
    for size, stride in zip(array.shape, array.strides, strict=True):
        places = (places[:, None] + np.arange(size) * stride).ravel()
    places.sort()
    return bool((np.diff(places) < array.itemsize).any())


def test_against_the_definition():
    """Strides with and without common factors, also of elements that lie across others."""
    rng = np.random.default_rng(SEED)
    counts = {True: 0, False: 0}
    for i in range(5000):
        dimensions = rng.integers(0, 6)
        shape = tuple(map(int, rng.integers(0 if i % 50 == 0 else 1, 7, dimensions)))
        unit = int(rng.choice([1, 2, 4, 8, 24]))
        strides = tuple(int(d) * unit for d in rng.integers(-60, 61, dimensions))
        array = layout(shape, strides, int(rng.choice([4, 8])))
        expected = by_places(array)
        assert overlaps_itself(array) == expected, f"{array} (seed {SEED})"
        counts[expected] += 1
    assert min(counts.values()) > 1000


def test_spans_of_two_arrays():
    """As numpy has it, also of Tensors; what does not say where it lies may be anywhere."""
    rng = np.random.default_rng(SEED)
    memory = np.zeros(60)
    counts = {True: 0, False: 0}
    for _ in range(2000):
        arrays = []
        for _ in range(2):
            first, last = np.sort(rng.integers(0, 61, 2))
            part = memory[first : last : rng.integers(1, 4)]
            arrays.append(part[::-1] if rng.integers(2) else part)
        expected = np.may_share_memory(*arrays)
        assert may_share_memory(*arrays) == expected, f"seed {SEED}"
        counts[expected] += 1
    assert min(counts.values()) > 500
    tensor = Tensor.from_numpy(memory)
    assert may_share_memory(tensor, memory[3:4])
    assert not may_share_memory(tensor, memory.copy())
    assert may_share_memory(layout((1,), (8,)), memory)


LARGE = [
    ((2**15, 2**15), (8, 8), True),
    ((2**15, 2**15), (16, 16), True),
    ((2**15, 2**15), (16, 2**19 + 8), False),
    ((2**15, 2**15), (8, 0), True),
    ((2**15, 2**15), (8 * (2**15 + 1), 8 * (2**15 - 1)), False),
    ((2**15 + 1, 2**15 + 1), (8 * (2**15 + 1), 8 * (2**15 - 1)), False),
    ((2**15, 2**15 + 2), (8 * (2**15 + 1), 8 * (2**15 - 1)), True),
    ((1000,) * 3, (8, 8 * 999, 8 * 10**6), True),
    ((2**20,) * 2, (-8 * 3, 8 * (2**21 + 2**20)), False),
]


@pytest.mark.parametrize(("shape", "strides", "expected"), LARGE)
def test_many_elements(shape, strides, expected):
    tracemalloc.start()
    start = time.monotonic()
    try:
        assert overlaps_itself(layout(shape, strides)) == expected
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert time.monotonic() - start < 5


def test_what_would_take_years():
    """No two of these elements can be shown to lie apart in time: the answer is the safe one."""
    rng = np.random.default_rng(SEED)
    strides = tuple(8 * int(d) for d in rng.integers(2**54, 2**55, 32))
    start = time.monotonic()
    assert overlaps_itself(layout((2,) * 32, strides))
    assert time.monotonic() - start < 20


def test_calls_and_tensors_refuse_them():
    memory = np.zeros(1 << 16)
    x = as_strided(memory, (2**15, 2**15), (8, 8))
    with pytest.raises(THNNArgumentError, match="overlaps itself"):
        thnn.Abs_updateOutput(None, memory, x)
    with pytest.raises(THNNArgumentError, match="share memory"):
        Tensor.from_numpy(x)


def test_parameters_that_repeat_elements():
    """One storage for all of them does not need the place of each element."""
    layer = nn.Linear(1, 1)
    values = Tensor(np.arange(float(1 << 13)))
    layer.tensors.weight = values.as_strided((2**12, 2**12), (1, 1))
    layer.tensors.bias = values.as_strided((2**40, 2), (0, 3), 5)
    layer.tensors.gradWeight = layer.tensors.gradBias = None
    tracemalloc.start()
    try:
        flat, _ = layer.getParameters()
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(flat, np.arange(2**13 - 1.0))
    assert layer.weight[-1, -1] == 2**13 - 2
    assert layer.bias[2**40 - 1].tolist() == [5, 8]

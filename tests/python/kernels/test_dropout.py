"""Dropout: against its definition, with threads and gaps, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bits import check_threads_and_gaps

from pythnn import State, Tensor, THNNArgumentError, thnn

COUNTS = [1, 63, 64, 65, 1000, 3 * 2**14 + 5]
LOW = np.uint64(2**32 - 1)


def groups(seed: int, count: int) -> np.ndarray:
    """Philox4x32-10, whose key is the seed: the words of counters 0, 1, …, a row for each."""
    a, b = np.arange(count, dtype=np.uint64), np.zeros(count, np.uint64)
    c, d = b, b
    keys = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF)]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * a, np.uint64(0xCD9E8D57) * c
        a, c = second >> np.uint64(32) ^ b ^ keys[0], first >> np.uint64(32) ^ d ^ keys[1]
        b, d = second & LOW, first & LOW
        keys = [k + np.uint64(s) & LOW for k, s in zip(keys, (0x9E3779B9, 0xBB67AE85), strict=True)]
    return np.stack([a, b, c, d], axis=1)


def words(seed: int, count: int) -> np.ndarray:
    """The word of each element: of 16 groups the first two words of each, then the last two."""
    blocks = -(-count // 64)
    drawn = groups(seed, 16 * blocks).reshape(blocks, 16, 2, 2)
    return drawn.transpose(0, 2, 1, 3).reshape(-1)[:count]


def run(x: np.ndarray, p: float, seed: int, state: State | None = None) -> list[np.ndarray]:
    made = [Tensor(dtype=x.dtype), Tensor(dtype=x.dtype)]
    thnn.Dropout_updateOutput(state, x, *made, p, seed)
    return [tensor.numpy() for tensor in made]


def test_numbers_are_those_of_philox() -> None:
    """The first of the vectors that the authors publish with it."""
    found = groups(0, 1)[0].tolist()
    assert found == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("p", [0.0, 2.0**-32, 0.25, 0.5, 0.9, 1.0])
def test_definition(p: float, count: int, real: Any) -> None:
    x = np.random.default_rng(3).standard_normal(count).astype(real)
    for seed in (0, 5, -(2**63), -(2**40) - 3, 2**63 - 1):
        output, noise = run(x, p, seed)
        factor = real(1 / (1 - p) if p < 1 else 0)
        wanted = np.where(words(seed % 2**64, count) >= p * 2**32, factor, real(0))
        np.testing.assert_array_equal(noise, wanted)
        np.testing.assert_array_equal(output, x * wanted)


def test_words_are_independent() -> None:
    """Shares of kept elements, and of neighbours both kept, within six standard deviations; other
    seeds have other masks."""
    count, p = 2**18, 0.3
    x = np.ones(count)
    kept = run(x, p, 11)[1] != 0
    for both, wanted in ((kept, 1 - p), (kept[1:] & kept[:-1], (1 - p) ** 2)):
        # The pairs overlap: their mean varies by up to three times that of separate ones.
        assert abs(both.mean() - wanted) < 6 * np.sqrt(3 * wanted * (1 - wanted) / count)
    for seed in (10, 12, 11 + 2**32):
        same = kept == (run(x, p, seed)[1] != 0)
        wanted = p**2 + (1 - p) ** 2
        assert abs(same.mean() - wanted) < 6 * np.sqrt(wanted * (1 - wanted) / count)


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_threads_and_gaps(real: Any) -> None:
    x = np.random.default_rng(1).standard_normal((5, 7, 2001)).astype(real)

    def drop(arrays: Any, state: State | None) -> Any:
        return run(arrays["x"], 0.4, 17, state)

    check_threads_and_gaps(drop, {"x": x})
    turned = np.asfortranarray(x)
    for found, wanted in zip(run(turned, 0.4, 17), run(x, 0.4, 17), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("p", [-0.1, 1.5, np.nan, np.inf])
def test_refused(p: float) -> None:
    x = np.ones(5)
    output, noise = np.full(5, 7.0), np.full(5, 7.0)
    wanted = "argument #5 'p': expected a probability from 0 to 1"
    with pytest.raises(THNNArgumentError, match=wanted):
        thnn.Dropout_updateOutput(None, x, output, noise, p, 1)
    with pytest.raises(THNNArgumentError, match="argument #4 'noise'"):
        thnn.Dropout_updateOutput(None, x, output, np.ones(4), 0.5, 1)
    assert (output == 7).all()
    assert (noise == 7).all()

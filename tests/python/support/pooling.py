"""Calls, values and windows for tests of pooling, resampling and padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pythnn import State, Tensor, thnn
from support.definitions.pooling import Windows

REALS = [np.float32, np.float64]
SEEDS = range(12)

Results = list[np.ndarray]


def largest(x: np.ndarray) -> float:
    return float(np.abs(x).max(initial=0))


def call(function: str, *arguments: Any, outputs: Sequence[int]) -> Results:
    """Calls a function whose outputs are new Tensors; they are returned, and do not depend on the
    number of threads, nor on whether the outputs have their sizes already. An argument that stands
    for an output is its dtype."""
    results = []
    for threads in (1, 3):
        passed = [Tensor(dtype=a) if i in outputs else a for i, a in enumerate(arguments)]
        with State(threads=threads, minimum_work=1) as state:
            for _ in range(2):
                getattr(thnn, function)(state, *passed)
                results.append([passed[i].numpy().copy() for i in outputs])
    for same in zip(*results, strict=True):
        assert len({a.tobytes() for a in same}) == 1
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

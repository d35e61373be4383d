"""What is said of the numbers in an array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Statistics", "statistics_of"]

Array = NDArray[Any]

BINS = 48
CHUNK = 1 << 20  # elements that are looked at in one go
SAMPLE = 1 << 20  # elements, evenly spaced, that a histogram is made of


@dataclass(frozen=True)
class Statistics:
    """Numbers about the finite elements of an array; those that are not are counted only."""

    count: int
    infinite: int  # infinities and nan
    zeros: int
    minimum: float = 0.0
    maximum: float = 0.0
    mean: float = 0.0
    std: float = 0.0
    histogram: tuple[int, ...] = ()  # from minimum to maximum


def statistics_of(array: Array) -> Statistics:
    """Statistics of a real array of any shape. The standard deviation is that of the population."""
    values = array.reshape(-1)
    finite = sum(int(np.isfinite(part).sum()) for part in _parts(values))
    infinite = values.size - finite
    zeros = values.size - int(np.count_nonzero(values))
    if finite == 0:
        return Statistics(values.size, infinite, zeros)
    minimum = min(float(part.min()) for part in _finite(values, 1.0))
    maximum = max(float(part.max()) for part in _finite(values, 1.0))
    scale = max(abs(minimum), abs(maximum)) or 1.0  # squares of large numbers would overflow
    mean = sum(float(part.sum()) for part in _finite(values, scale)) / finite
    squares = sum(float(np.square(part - mean).sum()) for part in _finite(values, scale))
    std = (squares / finite) ** 0.5
    step = max(1, values.size // SAMPLE) | 1
    counts = np.zeros(BINS, np.int64)
    for part in _finite(values[::step], scale):
        counts += np.histogram(part, BINS, _range(minimum / scale, maximum / scale))[0]
    histogram = tuple(counts.tolist())
    return Statistics(
        values.size, infinite, zeros, minimum, maximum, mean * scale, std * scale, histogram
    )


def _parts(values: Array) -> Iterator[Array]:
    for start in range(0, values.size, CHUNK):
        yield values[start : start + CHUNK]


def _finite(values: Array, scale: float) -> Iterator[Array]:
    for part in _parts(values):
        chosen = part[np.isfinite(part)].astype(np.float64)
        if chosen.size:
            yield chosen / scale


def _range(low: float, high: float) -> tuple[float, float]:
    """The range of a histogram, with some room where all values are one."""
    return (low, high) if high - low > 1e-9 else (low - 1, high + 1)

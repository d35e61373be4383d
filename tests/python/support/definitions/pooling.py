"""What windows and regions of pooling see, in numpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import numpy as np


class Windows:
    """Windows over planes; all sizes and settings have the outermost dimension first."""

    size: Sequence[int]
    kernel: Sequence[int]
    stride: Sequence[int]
    pad: Sequence[int]
    dilation: Sequence[int]
    ceil: bool
    output: Sequence[int]

    def positions(self, d: int, padded: bool) -> int:
        reach = self.dilation[d] * (self.kernel[d] - 1) + 1
        room = self.size[d] + 2 * self.pad[d] - reach
        count = 1 + (-(-room // self.stride[d]) if self.ceil else room // self.stride[d])
        beyond = (count - 1) * self.stride[d] >= self.size[d] + self.pad[d]
        return count - 1 if padded and beyond else count

    def arguments(self, *settings: Sequence[int]) -> list[int]:
        """Width before height, and depth before both."""
        order = {1: [0], 2: [1, 0], 3: [0, 2, 1]}[len(self.size)]
        return [s[d] for s in settings for d in order]

    def taps(self) -> Iterator[tuple[tuple[int, ...], tuple[np.ndarray, ...], np.ndarray]]:
        """For each tap its numbers, the input indices that it sees from each output position (moved
        inside where they are outside), and whether they are inside."""
        for tap in product(*map(range, self.kernel)):
            axes = [
                np.arange(o) * s - p + t * d
                for o, s, p, t, d in zip(
                    self.output, self.stride, self.pad, tap, self.dilation, strict=True
                )
            ]
            at = np.meshgrid(*axes, indexing="ij")
            inside = np.logical_and.reduce(
                [(a >= 0) & (a < n) for a, n in zip(at, self.size, strict=True)]
            )
            clipped = tuple(np.clip(a, 0, n - 1) for a, n in zip(at, self.size, strict=True))
            yield tap, clipped, inside


def regions(size: int, count: int, single: bool) -> list[slice]:
    """What adaptive pooling divides a dimension into; max pooling does so in single precision."""
    if not single:
        return [slice(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
    f = np.float32
    bounds = [f(f(i) / f(count)) * f(size) for i in range(count + 1)]
    return [slice(int(a), int(np.ceil(b))) for a, b in pairwise(bounds)]

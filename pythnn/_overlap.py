"""Whether elements of an array, or two arrays, share memory: from sizes and strides alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

__all__ = ["Strided", "may_share_memory", "overlaps_itself"]

MAX_STEPS = 1 << 16
"""How many combinations are tried: tenths of a second."""


class Strided(Protocol):
    """What :func:`overlaps_itself` looks at; strides in bytes."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def itemsize(self) -> int: ...


def may_share_memory(one: Any, other: Any) -> bool:
    """Whether the memory from the first to the last elements of two arrays has parts in common.

    Both in the CPU's memory or both on a device; what does not say where it lies may.
    """
    first, second = _span(one), _span(other)
    if first is None or second is None:
        return True
    return first[0] < second[1] and second[0] < first[1]


def _span(array: Any) -> tuple[int, int] | None:
    """Where an array begins and ends, as addresses."""
    found = getattr(array, "__cuda_array_interface__", None)
    if found is None:
        if not hasattr(array, "__array_interface__"):
            return None
        found = np.asarray(array).__array_interface__  # a Tensor's own has no address
    start, shape, strides = found["data"][0], found["shape"], found.get("strides")
    if 0 in shape:
        return start, start
    if strides is None:
        return start, start + math.prod(shape) * array.dtype.itemsize
    reaches = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    end = start + sum(reach for reach in reaches if reach > 0) + array.dtype.itemsize
    return start + sum(reach for reach in reaches if reach < 0), end


def overlaps_itself(array: Strided) -> bool:
    """Whether two elements of an array share memory.

    Two do if and only if there are whole numbers, none larger in magnitude than its size less 1 and
    not all 0, whose products with the strides add up to less than an element. To find such numbers
    is hard in general: time and memory are bounded, and where they do not suffice, which takes
    three dimensions with strides that have little in common, the answer is True.
    """
    item = array.itemsize
    if 0 in array.shape:
        return False
    sizes = zip(array.shape, array.strides, strict=True)
    spread = sorted((abs(stride), size) for size, stride in sizes if size > 1)
    reach = item
    for stride, size in spread:
        if stride < reach:
            break
        reach += (size - 1) * stride
    else:
        return False  # each dimension steps over all that is within it
    span = item + sum((size - 1) * stride for stride, size in spread)
    if spread[0][0] < item or math.prod(size for _, size in spread) * item > span:
        return True  # more elements than have room
    unit = math.gcd(item, *(stride for stride, _ in spread))
    dimensions = [Dimension(stride // unit, size - 1) for stride, size in reversed(spread)]
    search = _Search(_entangled(dimensions, item // unit))
    try:
        return any(search.reaches(distance) for distance in range(item // unit))
    except TimeoutError:
        return True


class Dimension(NamedTuple):
    """One dimension: its stride, and how many steps of it there are."""

    stride: int
    steps: int


def _entangled(dimensions: Sequence[Dimension], item: int) -> list[Dimension]:
    """The dimensions, largest strides first, without those that step over all that is within."""
    kept = list(dimensions)
    within = sum(d.stride * d.steps for d in kept)
    while kept and kept[0].stride >= within - kept[0].stride * kept[0].steps + item:
        within -= kept[0].stride * kept[0].steps
        del kept[0]
    return kept


class _Search:
    """Sums of whole multiples of strides."""

    def __init__(self, dimensions: Sequence[Dimension]) -> None:
        self.dimensions = dimensions
        self.steps_left = MAX_STEPS
        # For each dimension, with those after it: the greatest sum, and what divides all sums.
        self.reach, self.divisor = [0], [0]
        for dimension in reversed(dimensions):
            self.reach.insert(0, self.reach[0] + dimension.stride * dimension.steps)
            self.divisor.insert(0, math.gcd(self.divisor[0], dimension.stride))

    def reaches(self, distance: int) -> bool:
        """Whether two different elements are so far apart; TimeoutError where that takes long."""
        if distance:
            return self._adds_up(0, distance)
        for first, dimension in enumerate(self.dimensions):
            # The first number that is not 0 may be taken to be positive.
            most = min(dimension.steps, self.reach[first + 1] // dimension.stride)
            step = self.divisor[first + 1] // math.gcd(self.divisor[first + 1], dimension.stride)
            for count in range(step, most + 1, step) if step else ():
                self._note_step()
                if self._adds_up(first + 1, count * dimension.stride):
                    return True
        return False

    def _adds_up(self, first: int, total: int) -> bool:
        """Whether multiples of the strides from `first` on add up to a number."""
        divisor = self.divisor[first]
        if total == 0:
            return True
        if abs(total) > self.reach[first] or total % divisor:
            return False
        stride, steps = self.dimensions[first]
        rest, rest_divisor = self.reach[first + 1], self.divisor[first + 1]
        low = max(-steps, -((rest - total) // stride))
        high = min(steps, (rest + total) // stride)
        if not rest_divisor:
            return True
        # What is left must be a multiple of the divisor of the others.
        step = rest_divisor // divisor
        start = total // divisor * pow(stride // divisor, -1, step) % step if step > 1 else 0
        for count in range(low + (start - low) % step, high + 1, step):
            self._note_step()
            if self._adds_up(first + 1, total - count * stride):
                return True
        return False

    def _note_step(self) -> None:
        self.steps_left -= 1
        if self.steps_left < 0:
            raise TimeoutError

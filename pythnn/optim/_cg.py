"""Conjugate gradients."""

from __future__ import annotations

import math
from typing import Any

from ._tables import Array, OpFunc, Table, dot, option, prepared

__all__ = ["cg"]

_TINY = 1e-320  # keeps quotients finite


class _Point:
    """A point on a line: its value and gradient, and the slope along the line."""

    def __init__(self, value: Any, gradient: Array, direction: Array) -> None:
        self.value = float(value)
        self.gradient = gradient.copy()
        self.slope = dot(gradient, direction)


def _cubic(here: _Point, other: _Point, distance: float) -> tuple[float, float, float]:
    """Two coefficients of the cubic through two points, and the root that its extremes need."""
    a = 6 * (here.value - other.value) / distance + 3 * (here.slope + other.slope)
    b = 3 * (other.value - here.value) - distance * (other.slope + 2 * here.slope)
    return a, b, math.sqrt(b * b - a * here.slope * distance * distance)


class _Line:
    """A search from `x` along a direction, which moves `x`.

    ``length`` is how far it went, ``here`` the point there.
    """

    def __init__(
        self, opfunc: OpFunc, x: Array, direction: Array, start: _Point, config: Table
    ) -> None:
        self.opfunc, self.x, self.direction = opfunc, x, direction
        self.start = self.here = start
        self.length, self.calls = 0.0, 0
        self.rho = float(option(config, "rho", 0.01))
        self.sig = float(option(config, "sig", 0.5))
        self.inner = float(option(config, "int", 0.1))
        self.outer = float(option(config, "ext", 3.0))

    def search(self, length: float, calls: float) -> bool:
        """Whether a point that is good enough was found, in one call and `calls` more.

        A fraction of a call is a whole one.
        """
        other, distance = self.start, -length  # the point before, and where it is from here
        self._move(length)
        limit: float | None = None
        while True:
            while self._is_beyond() and self.calls - 1 < calls:
                limit = self.length
                step = self._between(other, distance)
                self._move(step)
                distance -= step
            if self._is_beyond():
                return False
            if self.here.slope > self.sig * self.start.slope:
                return True
            if self.calls - 1 >= calls:
                return False
            step = self._further(other, distance, limit)
            other, distance = self.here, -step
            self._move(step)

    def _move(self, step: float) -> None:
        self.length += step
        self.x += step * self.direction
        self.here = _Point(*self.opfunc(self.x), self.direction)
        self.calls += 1

    def _is_beyond(self) -> bool:
        """Whether the value fell too little, or rises too steeply: Wolfe's conditions."""
        enough = self.start.value + self.length * self.rho * self.start.slope
        return self.here.value > enough or self.here.slope > -self.sig * self.start.slope

    def _between(self, other: _Point, distance: float) -> float:
        """The step to where between two points the minimum should be."""
        here = self.here
        try:
            if here.value > self.start.value:
                bend = other.slope * distance + here.value - other.value
                step = distance - 0.5 * other.slope * distance * distance / bend
            else:
                a, b, root = _cubic(here, other, distance)
                step = (root - b) / a
        except (ValueError, ZeroDivisionError):
            step = math.nan
        if not math.isfinite(step):
            step = distance / 2
        return max(min(step, self.inner * distance), (1 - self.inner) * distance)

    def _further(self, other: _Point, distance: float, limit: float | None) -> float:
        """The step to where beyond this point the minimum should be, and before the limit."""
        farthest = self.length * self.outer if limit is None else limit
        fallback = farthest - self.length if limit is None else (limit - self.length) / 2
        try:
            _, b, root = _cubic(self.here, other, distance)
            step = -self.here.slope * distance * distance / (b + root)
        except (ValueError, ZeroDivisionError):
            return fallback
        if not 0 <= step <= farthest - self.length:
            return fallback
        if step < -distance * self.inner:
            return -distance * self.inner
        if limit is not None:
            return max(step, (limit - self.length) * (1 - self.inner))
        return step


def cg(
    opfunc: OpFunc, x: Array, config: Table | None = None, state: Table | None = None
) -> tuple[Array, list[Any], int]:
    """Searches along conjugate directions (Polak and Ribiere), until the calls are used up.

    Settings: ``maxEval`` (1.25 maxIter calls), ``maxIter`` (20: calls in one search), ``rho``
    (0.01) and ``sig`` (0.5) of Wolfe's conditions, ``int`` (0.1: how near to known points a search
    looks), ``ext`` (3: how many times as far it may go), ``ratio`` (100: how many times as long the
    next step may be), ``red`` (1: by how much the first step should lower the value). Returns `x`,
    changed in place, the values at the start and after each search, and the number of calls. The
    method is that of C. Rasmussen's ``minimize``, 2002.
    """
    opfunc, x, config, _ = prepared("cg", opfunc, x, config, state)
    most_steps = option(config, "maxIter", 20)
    most_calls = option(config, "maxEval", most_steps * 1.25)
    value, gradient = opfunc(x)
    direction = -gradient
    here = _Point(value, gradient, direction)
    values, calls, failed = [here.value], 1, False
    length = option(config, "red", 1) / (1 - here.slope)
    while calls < most_calls:
        start, line = x.copy(), _Line(opfunc, x, direction, here, config)
        found = line.search(length, min(most_steps, most_calls - calls - 1))
        calls += line.calls
        new = line.here
        if found:
            values.append(new.value)
            turned = dot(new.gradient, new.gradient) - dot(here.gradient, new.gradient)
            direction = turned / dot(here.gradient, here.gradient) * direction - new.gradient
            new.slope = dot(new.gradient, direction)
            if new.slope > 0:
                direction = -new.gradient
                new.slope = -dot(direction, direction)
            ratio = option(config, "ratio", 100)
            length = line.length * min(ratio, here.slope / (new.slope - _TINY))
            here, failed = new, False
            continue
        x[...] = start
        if failed:
            break
        direction = -new.gradient
        here.gradient, here.slope = new.gradient, -dot(direction, direction)
        length, failed = 1 / (1 - here.slope), True
    return x, values, calls

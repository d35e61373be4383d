"""Poolings over planes and volumes, with padding up to the size of a window.

The C functions take padding up to half a window, and divide sums. Wider padding, and sums over
windows that an edge cuts off, go over a copy of the array with its padding, which has whole
windows only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import thnn
from .._tensor import array_module
from ._arrays import Array, Unfit, check_shape, from_one, like, new, new_indices, shaped, zeros
from ._pooled import counted

__all__ = ["Windows", "max_of", "max_of_backward", "mean_of", "mean_of_backward"]


class Windows(NamedTuple):
    """Windows over the last two or three axes of an array; the outermost axis comes first."""

    kernel: Sequence[int]
    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    ceil_mode: bool

    @property
    def axes(self) -> tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]]:
        """Kernel, stride, padding and dilation of all axes."""
        return self.kernel, self.stride, self.padding, self.dilation

    def counts(self, x: Array) -> tuple[int, ...]:
        """How many windows there are along each axis."""
        return counted(x.shape[-len(self.kernel) :], self.axes, self.ceil_mode)

    def shape(self, x: Array) -> tuple[int, ...]:
        """The shape of the output."""
        return (*x.shape[: -len(self.kernel)], *self.counts(x))

    def arguments(self, *, dilated: bool) -> list[int]:
        """The sizes as C functions take them: width before height, depth before both."""
        groups = self.axes[: 4 if dilated else 3]
        if len(self.kernel) == 2:
            return [n for height, width in groups for n in (width, height)]
        return [n for depth, height, width in groups for n in (depth, width, height)]

    @property
    def module(self) -> str:
        """The first part of the names of C functions."""
        return "Spatial" if len(self.kernel) == 2 else "Volumetric"

    def is_wide(self) -> bool:
        """Whether padding exceeds half a window; raises if it reaches a whole one."""
        found = False
        for kernel, stride, padding, dilation in zip(*self.axes, strict=True):
            if padding > kernel // 2:
                for name, value in (("stride", stride), ("dilation", dilation)):
                    if value < 1:
                        raise Unfit(name, "at least 1", f"{value}")
                if padding >= kernel > 0:
                    raise Unfit("padding", f"at most {kernel - 1}, below the window", f"{padding}")
                found = kernel > 0
        return found

    def whole(self) -> Windows:
        """The same windows over an array that has the padding."""
        return self._replace(padding=[0] * len(self.kernel), ceil_mode=False)

    def sides(self, x: Array) -> list[tuple[int, int]]:
        """What stands before and after the elements along each axis; negative is not looked at."""
        sizes, counts = x.shape[-len(self.kernel) :], self.counts(x)
        if min(counts) < 1:
            raise Unfit("x", "sizes, with padding, from that of a window on", f"shape {x.shape}")
        return [
            (padding, (count - 1) * stride + (kernel - 1) * dilation + 1 - size - padding)
            for size, count, kernel, stride, padding, dilation in zip(
                sizes, counts, *self.axes, strict=True
            )
        ]

    def divisors(self, x: Array, *, count_padding: bool) -> list[np.ndarray[Any, Any]]:
        """How many elements each window has along each axis, with those of the padding or not."""
        found = []
        sizes, counts = x.shape[-len(self.kernel) :], self.counts(x)
        for size, count, kernel, stride, padding in zip(sizes, counts, *self.axes[:3], strict=True):
            start = np.arange(count) * stride - padding
            end = np.minimum(start + kernel, size + (padding if count_padding else 0))
            found.append(np.maximum(end - (start if count_padding else np.maximum(start, 0)), 1))
        return found


def _with_sides(x: Array, sides: Sequence[tuple[int, int]], value: float) -> Array:
    """A copy of an array between its padding."""
    widths = [(0, 0)] * (x.ndim - len(sides)) + [(a, max(b, 0)) for a, b in sides]
    inner = x[_index(_seen(x.shape, sides))]
    padded: Array = array_module(x).pad(inner, widths, constant_values=value)
    return padded


def _seen(shape: Sequence[int], sides: Sequence[tuple[int, int]]) -> list[slice]:
    """The elements before those that no window looks at."""
    sizes = shape[-len(sides) :]
    return [slice(0, n + min(b, 0)) for n, (_, b) in zip(sizes, sides, strict=True)]


def _index(last: Sequence[slice]) -> Any:
    """An index of the last axes."""
    return (..., *last)


def _without_sides(grad: Any, padded: Any, x: Array, sides: Sequence[tuple[int, int]]) -> Array:
    """The gradient of an array, from that of its padded copy."""
    grad = shaped(grad, padded)
    grad_x: Array = zeros(x.shape, x)
    seen = _seen(x.shape, sides)
    inner = [slice(a, a + s.stop) for s, (a, _) in zip(seen, sides, strict=True)]
    grad_x[_index(seen)] = grad[_index(inner)]
    return grad_x


# ---- Maxima


def _moved(indices: Array, shape: Sequence[int], to: Sequence[int], by: Sequence[int]) -> Array:
    """Positions in a plane as those of the same elements in another one; -1 stays.

    That is where no element exceeds the lowest number.
    """
    rows, columns = indices // shape[1] + by[0], indices % shape[1] + by[1]
    found: Array = array_module(indices).where(indices < 0, indices, rows * to[1] + columns)
    return found


def max_of(x: Array, windows: Windows) -> tuple[Any, Any]:
    """The greatest element of each window, and its index."""
    update = getattr(thnn, f"{windows.module}DilatedMaxPooling_updateOutput")
    wide = windows.is_wide()
    source, over = x, windows
    if wide:
        sides = windows.sides(x)
        source, over = _with_sides(x, sides, -math.inf), windows.whole()
    shape = windows.shape(x)
    output, indices = new(shape, x), new_indices(shape, x)
    update(None, source, output, indices, *over.arguments(dilated=True), over.ceil_mode)
    if windows.module == "Spatial":
        indices = from_one(indices)
        if wide:
            before = [-a for a, _ in sides]
            indices = _moved(indices, source.shape[-2:], x.shape[-2:], before)
    return output, indices


def max_of_backward(grad_output: Array, x: Array, indices: Array, windows: Windows) -> Any:
    """The gradient of `x`."""
    update = getattr(thnn, f"{windows.module}DilatedMaxPooling_updateGradInput")
    wide = windows.is_wide()
    shape = windows.shape(x)
    check_shape("grad_output", grad_output, shape)
    check_shape("indices", indices, shape)
    source, over, sides = x, windows, []
    if wide:
        sides, over = windows.sides(x), windows.whole()
        source = _with_sides(x, sides, 0.0)
    if windows.module == "Spatial":
        if wide:
            before = [a for a, _ in sides]
            indices = _moved(indices, x.shape[-2:], source.shape[-2:], before)
        indices = indices + 1
    grad = like(source)
    arguments = over.arguments(dilated=True)
    update(None, source, grad_output, grad, indices, *arguments, over.ceil_mode)
    return _without_sides(grad, source.shape, x, sides) if wide else grad


# ---- Means and sums


class _Way(NamedTuple):
    """How means or sums come about."""

    windows: Windows
    sides: Sequence[tuple[int, int]]
    """Those of a copy of the array; none without a copy."""
    factor: Any
    """What the C function's means are multiplied by; None for 1."""


def _way(x: Array, windows: Windows, count_padding: bool | None) -> _Way:
    size = math.prod(windows.kernel)
    if not windows.is_wide():
        if count_padding is not None:
            return _Way(windows, (), None)
        if not windows.ceil_mode or all(b <= a for a, b in windows.sides(x)):
            return _Way(windows, (), x.dtype.type(size))
    factor = x.dtype.type(size)
    if count_padding is not None:
        divisors = windows.divisors(x, count_padding=count_padding)
        total = divisors[0]
        for more in divisors[1:]:
            total = total[..., None] * more
        factor = array_module(x).asarray((size / total).astype(x.dtype))
    return _Way(windows.whole(), windows.sides(x), factor)


def mean_of(x: Array, windows: Windows, count_padding: bool | None) -> Any:
    """The mean of each window, with the padding counted or not; the sum for None."""
    way = _way(x, windows, count_padding)
    source = _with_sides(x, way.sides, 0.0) if way.sides else x
    output = new(windows.shape(x), x)
    update = getattr(thnn, f"{windows.module}AveragePooling_updateOutput")
    update(
        None, source, output, *way.windows.arguments(dilated=False), way.windows.ceil_mode,
        count_padding is not False or bool(way.sides),
    )  # fmt: skip
    if way.factor is not None:
        output = shaped(output, windows.shape(x))
        output *= way.factor
    return output


def mean_of_backward(
    grad_output: Array, x: Array, windows: Windows, count_padding: bool | None
) -> Any:
    """The gradient of `x`."""
    way = _way(x, windows, count_padding)
    check_shape("grad_output", grad_output, windows.shape(x))
    source = _with_sides(x, way.sides, 0.0) if way.sides else x
    grad = like(source)
    if way.factor is not None:
        grad_output = grad_output * way.factor
    update = getattr(thnn, f"{windows.module}AveragePooling_updateGradInput")
    update(
        None, source, grad_output, grad, *way.windows.arguments(dilated=False),
        way.windows.ceil_mode, count_padding is not False or bool(way.sides),
    )  # fmt: skip
    return _without_sides(grad, source.shape, x, way.sides) if way.sides else grad

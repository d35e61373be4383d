"""Poolings over planes and volumes, with padding up to the size of a window.

The C functions take padding up to half a window, and divide sums. Wider padding, and sums over
windows that an edge cuts off, go over a copy of the array with its padding, which has whole
windows only.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import thnn
from .._calls.recorded import Recorded
from .._state import State
from .._tensor import array_module
from ._arrays import (
    Array,
    Unfit,
    check_shape,
    from_one,
    like,
    new,
    new_indices,
    on_host,
    shaped,
)
from ._axes import empty
from ._choices import checked
from ._pooled import counted

__all__ = [
    "Maxima",
    "Windows",
    "grad_of_maxima",
    "looked_at",
    "looked_up",
    "max_of",
    "max_of_backward",
    "maxima_of",
    "mean_of",
    "mean_of_backward",
]


class Windows(NamedTuple):
    """Windows over the last two or three axes of an array; the outermost axis comes first."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    ceil_mode: bool

    def over(self, x: Array) -> Laid:
        """Where the windows are in an array."""
        return _laid(self, x.shape[-len(self.kernel) :])

    def shape(self, x: Array) -> tuple[int, ...]:
        """The shape of the output."""
        return (*x.shape[: -len(self.kernel)], *self.over(x).counts)

    @property
    def axes(self) -> Any:
        """Kernel, stride, padding and dilation of each axis."""
        return zip(self.kernel, self.stride, self.padding, self.dilation, strict=True)

    def arguments(self, *, dilated: bool) -> list[int]:
        """The sizes as C functions take them: width before height, depth before both."""
        groups = (self.kernel, self.stride, self.padding, self.dilation)[: 4 if dilated else 3]
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
        for kernel, stride, padding, dilation in self.axes:
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
        return self._replace(padding=(0,) * len(self.kernel), ceil_mode=False)

    def divisors(self, x: Array, *, count_padding: bool) -> list[np.ndarray[Any, Any]]:
        """How many elements each window has along each axis, with those of the padding or not."""
        found = []
        sizes = x.shape[-len(self.kernel) :]
        axes = zip(sizes, self.over(x).counts, self.axes, strict=True)
        for size, count, (kernel, stride, padding, _) in axes:
            start = np.arange(count) * stride - padding
            end = np.minimum(start + kernel, size + (padding if count_padding else 0))
            found.append(np.maximum(end - (start if count_padding else np.maximum(start, 0)), 1))
        return found


class Laid(NamedTuple):
    """Where windows are in an array of some size."""

    counts: tuple[int, ...]
    """How many there are along each axis."""
    is_wide: bool
    sides: tuple[tuple[int, int], ...]
    """What the windows see before and after the elements; what is negative they do not see."""
    dilated: list[int]
    plain: list[int]
    """What the C functions take, with dilations and without."""


@functools.lru_cache(maxsize=256)
def _laid(windows: Windows, sizes: tuple[int, ...]) -> Laid:
    wide = windows.is_wide()
    counts = counted(sizes, windows[:4], windows.ceil_mode)
    if wide and min(counts) < 1:
        raise Unfit("x", "sizes, with padding, from that of a window on", f"sizes {sizes}")
    sides = tuple(
        (padding, (count - 1) * stride + (kernel - 1) * dilation + 1 - size - padding)
        for size, count, (kernel, stride, padding, dilation) in zip(
            sizes, counts, windows.axes, strict=True
        )
    )
    plain, dilated = (windows.arguments(dilated=d) for d in (False, True))
    return Laid(counts, wide, sides, dilated, plain)


def _padded(shape: Sequence[int], sides: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The shape of a copy between its padding."""
    count = len(sides)
    inner = [n + a + b for n, (a, b) in zip(shape[-count:], sides, strict=True)]
    return (*shape[:-count], *inner)


def _with_sides(x: Array, sides: Sequence[tuple[int, int]], value: float) -> Array:
    """That copy."""
    shape = _padded(x.shape, sides)
    output = new(_volumes(shape, len(sides)), x)
    volumes = x.reshape(_volumes(x.shape, len(sides)))
    how: list[Any] = [*_flat(sides), _CONSTANT, value]
    thnn.Padding_updateOutput(None, volumes, output, *how)
    return shaped(output, shape)


_CONSTANT = 0  # as in padding._MODES
"""What the C functions call padding by a value."""


def _volumes(shape: Sequence[int], count: int) -> tuple[int, ...]:
    """Planes x depth x height x width, for two or three sizes."""
    return (math.prod(shape[:-count]), *(1,) * (3 - count), *shape[-count:])


def _flat(sides: Sequence[tuple[int, int]]) -> list[int]:
    """Left, right, top, bottom, front, back."""
    every = [(0, 0)] * (3 - len(sides)) + list(sides)
    return [side for pair in reversed(every) for side in pair]


def _without_sides(grad: Any, padded: Any, x: Array, sides: Sequence[tuple[int, int]]) -> Array:
    """The gradient of an array, from that of its padded copy."""
    count = len(sides)
    grad_x = new(_volumes(x.shape, count), x)
    grads = shaped(grad, _volumes(padded, count))
    thnn.Padding_updateGradInput(None, grads, grad_x, *[*_flat(sides), _CONSTANT])
    return shaped(grad_x, x.shape)


# ---- By cuDNN


def _obstacle(windows: Windows, laid: Laid) -> str:
    """Why cuDNN does not have these windows; empty where it does."""
    if any(d != 1 for d in windows.dilation):
        return "windows with dilation"
    if windows.ceil_mode and any(after > before for before, after in laid.sides):
        return "windows that an edge cuts off"
    return ""


def _by_cudnn(
    x: Array,
    windows: Windows,
    laid: Laid,
    mode: str,
    factor: float,
    state: State | None,
    grad_output: Array | None = None,
    output: Array | None = None,
) -> Array | None:
    """The pooled array, or with the gradient of that the gradient of `x`; None: not by cuDNN.

    `output` is needed for gradients of maxima.
    """
    from ._on_cudnn import done, layers, wanted

    handle = wanted(state, x, _obstacle(windows, laid))
    if handle is None:
        return None
    dimensions = len(windows.kernel)
    pooling = layers.Pooling(mode, windows.kernel, windows.padding, windows.stride, factor)
    leading = x.shape[:-dimensions]
    batch = (math.prod(leading[:-1]), leading[-1])
    image, map_ = (*batch, *x.shape[-dimensions:]), (*batch, *laid.counts)
    if grad_output is None:
        pooled = empty((*leading, *laid.counts), x)
        by_cudnn = done(state, layers.pool, handle, pooling, x, pooled, image, map_)
        return pooled if by_cudnn else None
    grad_x = empty(x.shape, x)
    arrays = (grad_output if output is None else output, grad_output, x)
    by_cudnn = done(state, layers.pool_backward, handle, pooling, arrays, grad_x, image, map_)
    return grad_x if by_cudnn else None


def _maxima_by_cudnn(x: Array, windows: Windows, laid: Laid, state: State | None) -> Array | None:
    """The maxima, where the state wants cuDNN to compute also what needs places of maxima."""
    if state is None or checked(state).use_cudnn is not True or on_host(x):
        return None
    return _by_cudnn(x, windows, laid, "max", 1.0, state)


def _means_by_cudnn(
    x: Array,
    windows: Windows,
    laid: Laid,
    count_padding: bool | None,
    state: State | None,
    grad_output: Array | None = None,
) -> Array | None:
    """Means or sums, or their gradient."""
    if state is not None:
        checked(state)
    if on_host(x):
        return None
    mode = "mean of elements" if count_padding is False else "mean of all"
    factor = float(math.prod(windows.kernel)) if count_padding is None else 1.0
    return _by_cudnn(x, windows, laid, mode, factor, state, grad_output)


# ---- Maxima


class Maxima(NamedTuple):
    """The greatest element of each window, and which it is of the array that was looked at."""

    output: Any
    positions: Any
    """As the C function counts them, from 1 in planes; 0 where no element exceeds the lowest."""
    sizes: tuple[int, ...]
    """Of that array's planes, which may have padding."""


@functools.lru_cache(maxsize=64)
def _elements(shape: Sequence[int], padded: Sequence[int], sides: Any) -> Any:
    """Which element of a plane is at each position in a copy with padding, counted from 1.

    They count from 0, and -1 stands at position 0. What stands for padding does not matter.
    """
    rows, columns = (np.arange(n) - before for n, (before, _) in zip(padded, sides, strict=True))
    found = np.append(-1, rows[:, None] * shape[1] + columns)
    found.flags.writeable = False  # it is kept for later calls
    return found


def _in_copy(indices: Array, shape: Sequence[int], to: Sequence[int], by: Sequence[int]) -> Array:
    """Positions in a plane as those of the same elements in a copy with padding; -1 stays.

    Each row moves them by as much as the copy's rows are longer. What is in no row stays out.
    """
    longer, first = to[-1] - shape[-1], by[0] * to[-1] + by[1]
    where = array_module(indices).where
    moved = indices + indices // shape[-1] * longer + first
    moved = where(indices < shape[0] * shape[1], moved, indices + to[-2] * to[-1])
    found: Array = where(indices < 0, indices, moved)
    return found


def _check_indices(indices: Array, shape: Sequence[int]) -> None:
    """Raises for what is no element of a plane, nor -1, on the CPU."""
    count = shape[0] * shape[1]
    wrong = indices[(indices < -1) | (indices >= count)]
    if wrong.size:
        wanted = f"values from -1 to {count - 1} (elements of a plane of x)"
        raise Unfit("indices", wanted, f"{wrong[0]}")


_MAXIMA: dict[int, Any] = {
    2: thnn.SpatialDilatedMaxPooling_updateOutput,
    3: thnn.VolumetricDilatedMaxPooling_updateOutput,
}
_MAXIMA_BACK: dict[int, Any] = {
    2: thnn.SpatialDilatedMaxPooling_updateGradInput,
    3: thnn.VolumetricDilatedMaxPooling_updateGradInput,
}
_MEANS: dict[int, Any] = {
    2: thnn.SpatialAveragePooling_updateOutput,
    3: thnn.VolumetricAveragePooling_updateOutput,
}
_MEANS_BACK: dict[int, Any] = {
    2: thnn.SpatialAveragePooling_updateGradInput,
    3: thnn.VolumetricAveragePooling_updateGradInput,
}
"""The C functions, by the number of dimensions."""


def looked_at(windows: Windows, x: Array) -> tuple[int, ...]:
    """The sizes of the planes in which positions count."""
    laid, count = windows.over(x), len(windows.kernel)
    return _padded(x.shape, laid.sides)[-count:] if laid.is_wide else x.shape[-count:]


def looked_up(table: np.ndarray[Any, Any], indices: Any) -> Array:
    """The elements of a table."""
    is_recorded = type(indices) is Recorded
    entries = indices.recording.constant if is_recorded else array_module(indices).asarray
    found: Array = entries(table).take(indices)
    return found


def maxima_of(x: Array, windows: Windows, state: State | None) -> Maxima:
    """What the C function finds."""
    laid = windows.over(x)
    dimensions = len(windows.kernel)
    shape = (*x.shape[:-dimensions], *laid.counts)
    by_cudnn = _maxima_by_cudnn(x, windows, laid, state)
    output, positions = new(shape, x), new_indices(shape, x)
    source, arguments, ceil_mode = x, laid.dilated, windows.ceil_mode
    if laid.is_wide:
        source = _with_sides(x, laid.sides, -math.inf)
        arguments, ceil_mode = windows.whole().arguments(dilated=True), False
    _MAXIMA[dimensions](state, source, output, positions, *arguments, ceil_mode)
    sizes = source.shape[-dimensions:]
    return Maxima(output if by_cudnn is None else by_cudnn, positions, sizes)


def max_of(x: Array, windows: Windows, state: State | None) -> tuple[Any, Any]:
    """The greatest element of each window, and its index."""
    found = maxima_of(x, windows, state)
    if len(windows.kernel) == 3:
        return found.output, found.positions
    laid = windows.over(x)
    if not laid.is_wide:
        return found.output, from_one(found.positions)
    elements = _elements(x.shape[-2:], found.sizes, laid.sides)
    return found.output, looked_up(elements, shaped(found.positions, windows.shape(x)))


def max_of_backward(
    grad_output: Array, x: Array, indices: Array, windows: Windows, state: State | None
) -> Any:
    """The gradient of `x`."""
    laid = windows.over(x)
    dimensions = len(windows.kernel)
    check_shape("indices", indices, windows.shape(x))
    if dimensions == 2:
        if laid.is_wide:
            (top, _), (left, _) = laid.sides
            if type(indices) is np.ndarray:
                _check_indices(indices, x.shape[-2:])
            indices = _in_copy(indices, x.shape[-2:], _padded(x.shape, laid.sides), (top, left))
        indices = indices + 1
    return grad_of_maxima(grad_output, x, indices, windows, state)


def grad_of_maxima(
    grad_output: Array, x: Array, positions: Array, windows: Windows, state: State | None
) -> Any:
    """The gradient of `x`, with the positions that :func:`maxima_of` found."""
    laid = windows.over(x)
    dimensions = len(windows.kernel)
    check_shape("grad_output", grad_output, windows.shape(x))
    maxima = _maxima_by_cudnn(x, windows, laid, state)
    if maxima is not None:
        return _by_cudnn(x, windows, laid, "max", 1.0, state, grad_output, maxima)
    source, arguments, ceil_mode = x, laid.dilated, windows.ceil_mode
    if laid.is_wide:
        source = empty(_padded(x.shape, laid.sides), x)  # of which only the shape counts
        arguments, ceil_mode = windows.whole().arguments(dilated=True), False
    grad = like(source)
    _MAXIMA_BACK[dimensions](state, source, grad_output, grad, positions, *arguments, ceil_mode)
    return _without_sides(grad, source.shape, x, laid.sides) if laid.is_wide else grad


# ---- Means and sums


class _Way(NamedTuple):
    """How means or sums come about."""

    arguments: list[int]
    ceil_mode: bool
    counted: bool
    """Whether the C function counts the padding."""
    sides: Sequence[tuple[int, int]]
    """Those of a copy of the array; none without a copy."""
    factor: Any
    """What the C function's means are multiplied by; None for 1."""


def _way(x: Array, windows: Windows, laid: Laid, count_padding: bool | None) -> _Way:
    if not laid.is_wide:
        if count_padding is not None:
            return _Way(laid.plain, windows.ceil_mode, count_padding, (), None)
        if not windows.ceil_mode or all(b <= a for a, b in laid.sides):
            factor = x.dtype.type(math.prod(windows.kernel))
            return _Way(laid.plain, windows.ceil_mode, True, (), factor)
    size = math.prod(windows.kernel)
    factor = x.dtype.type(size)
    if count_padding is not None:
        divisors = windows.divisors(x, count_padding=count_padding)
        total = divisors[0]
        for more in divisors[1:]:
            total = total[..., None] * more
        factor = array_module(x).asarray((size / total).astype(x.dtype))
    return _Way(windows.whole().arguments(dilated=False), False, True, laid.sides, factor)


def mean_of(x: Array, windows: Windows, count_padding: bool | None, state: State | None) -> Any:
    """The mean of each window, with the padding counted or not; the sum for None."""
    laid = windows.over(x)
    by_cudnn = _means_by_cudnn(x, windows, laid, count_padding, state)
    if by_cudnn is not None:
        return by_cudnn
    dimensions = len(windows.kernel)
    way = _way(x, windows, laid, count_padding)
    source = _with_sides(x, way.sides, 0.0) if way.sides else x
    shape = (*x.shape[:-dimensions], *laid.counts)
    output = new(shape, x)
    _MEANS[dimensions](state, source, output, *way.arguments, way.ceil_mode, way.counted)
    if way.factor is not None:
        output = shaped(output, shape)
        output *= way.factor
    return output


def mean_of_backward(
    grad_output: Array,
    x: Array,
    windows: Windows,
    count_padding: bool | None,
    state: State | None,
) -> Any:
    """The gradient of `x`."""
    laid = windows.over(x)
    dimensions = len(windows.kernel)
    check_shape("grad_output", grad_output, (*x.shape[:-dimensions], *laid.counts))
    by_cudnn = _means_by_cudnn(x, windows, laid, count_padding, state, grad_output)
    if by_cudnn is not None:
        return by_cudnn
    way = _way(x, windows, laid, count_padding)
    # Of a copy with padding only the shape counts.
    source = empty(_padded(x.shape, way.sides), x) if way.sides else x
    grad = like(source)
    if way.factor is not None:
        grad_output = grad_output * way.factor
    _MEANS_BACK[dimensions](
        state, source, grad_output, grad, *way.arguments, way.ceil_mode, way.counted
    )
    return _without_sides(grad, source.shape, x, way.sides) if way.sides else grad

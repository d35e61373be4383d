"""Interpolation between the centres of elements whose outer edges coincide.

THNN puts the centres of corner elements on each other (``align_corners=True``). For the other way,
resampling has a C function; sampling moves the places.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import thnn
from .._tensor import array_module
from ._arrays import Array, Unfit, dense, like, new, shaped, zeros
from ._axes import empty, filled

__all__ = ["aligned", "on_corners", "resized", "resized_backward", "sample_backward"]


def aligned(align_corners: Any) -> bool:
    """The argument itself, which must be a bool."""
    if not isinstance(align_corners, bool):
        raise Unfit("align_corners", "True or False", repr(align_corners))
    return align_corners


def _step(before: int, after: int, scale: float | None, align: bool) -> float:
    """The distance of neighbouring elements of a result, in elements of an axis."""
    if align:
        return (before - 1) / (after - 1) if after > 1 else 0.0
    return before / after if scale is None else 1 / scale


@functools.lru_cache(maxsize=64)
def _nearest(before: int, after: int, scale: float | None) -> Array:
    """The elements of an axis that a result of its nearest ones has."""
    steps = np.arange(after) * _step(before, after, scale, False)
    places: Array = np.minimum(np.floor(steps), before - 1).astype(np.int64)
    places.flags.writeable = False  # they are kept for later calls
    return places


@functools.lru_cache(maxsize=64)
def _factor(before: tuple[int, ...], after: tuple[int, ...], scales: tuple[Any, ...]) -> int:
    """How often planes or volumes repeat each element along all axes; 0: not, or unevenly."""
    factor = after[0] // before[0]
    axes = list(zip(before, after, scales, strict=True))
    if len(before) == 1 or factor < 2 or any(n * factor != m for n, m, _ in axes):
        return 0
    same = all(np.array_equal(_nearest(n, m, s), np.arange(m) // factor) for n, m, s in axes)
    return factor if same else 0


def _volumes(shape: Sequence[int]) -> tuple[int, ...]:
    """Batch x planes x one to three sizes as the C functions take them."""
    return (*shape[:2], *(1,) * (5 - len(shape)), *shape[2:])


_MODES = {"linear": 0, "nearest": 2, "cubic": 3}
"""The numbers of the C functions, without corners that coincide."""


def _in_volumes(
    function: Callable[..., None],
    array: Array,
    shape: tuple[int, ...],
    axes: Sequence[tuple[int, int, float | None]],
    mode: str,
    align: bool,
) -> Array:
    """What a C function of interpolation makes of an array, in this shape."""
    whole = _volumes(shape)
    result = new(whole, array)
    corners = align and mode != "nearest"
    steps = [_step(n, m, scale, corners) for n, m, scale in axes]
    number = _MODES[mode] + int(corners)
    places: list[Any] = [*whole[2:], *(1.0,) * (3 - len(steps)), *steps, number]
    function(None, array.reshape(_volumes(array.shape)), result, *places)
    return shaped(result, shape)


def resized(
    x: Array,
    sizes: Sequence[int],
    scales: Sequence[float | None] | None = None,
    mode: str = "linear",
    align: bool = False,
) -> Array:
    """An array of batch x planes x positions at other numbers of positions."""
    _check("size", sizes)
    before, after = x.shape[2:], tuple(sizes)
    scales = tuple(scales or (None,) * len(after))
    axes = list(zip(before, after, scales, strict=True))
    shape = (*x.shape[:2], *after)
    if not x.size:
        return zeros(shape, x)  # type: ignore[no-any-return]
    factor = _factor(before, after, scales) if mode == "nearest" else 0
    if factor:
        output = new(shape, x)
        _REPEAT[len(after)](None, x, output, factor)
        return output
    return _in_volumes(thnn.Interpolation_updateOutput, x, shape, axes, mode, align)


_REPEAT: dict[int, Any] = {
    2: thnn.SpatialUpSamplingNearest_updateOutput,
    3: thnn.VolumetricUpSamplingNearest_updateOutput,
}
_REPEAT_BACK: dict[int, Any] = {
    2: thnn.SpatialUpSamplingNearest_updateGradInput,
    3: thnn.VolumetricUpSamplingNearest_updateGradInput,
}
"""The C functions, by the number of dimensions."""


def resized_backward(
    grad_output: Array,
    sizes: Sequence[int],
    scales: Sequence[float | None] | None = None,
    mode: str = "linear",
    align: bool = False,
) -> Array:
    """The gradient of an array that had these sizes."""
    _check("shape", sizes)
    before, after = tuple(sizes), grad_output.shape[2:]
    scales = tuple(scales or (None,) * len(after))
    axes = list(zip(before, after, scales, strict=True))
    shape = (*grad_output.shape[:2], *before)
    if not grad_output.size:
        return zeros(shape, grad_output)  # type: ignore[no-any-return]
    factor = _factor(before, after, scales) if mode == "nearest" else 0
    if factor:
        x = empty(shape, grad_output)  # of which only the shape counts
        grad_x = like(x)
        _REPEAT_BACK[len(after)](None, x, grad_output, grad_x, factor)
        return grad_x
    function = thnn.Interpolation_updateGradInput
    return _in_volumes(function, grad_output, shape, axes, mode, align)


def _check(name: str, sizes: Sequence[int]) -> None:
    if min(sizes) < 1:
        raise Unfit(name, "sizes from 1 on", f"{tuple(sizes)}")


def on_corners(x: Array, grid: Array) -> tuple[Array, Array]:
    """An array and a grid, whose -1 and 1 are outer edges, as THNN's function takes them.

    One row or column has no distance between the centres of its ends: it gets a neighbour of
    zeros, as which everything outside counts anyway.
    """
    xp = array_module(x)
    height, width = x.shape[2:]
    if height == 1 or width == 1:
        wider = filled((*x.shape[:2], max(height, 2), max(width, 2)), 0.0, x)
        wider[:, :, :height, :width] = x
        x = wider
    scale, shift = _to_corners(xp, (width, height), x.dtype)
    return x, grid * scale + shift


def _to_corners(xp: Any, sizes: tuple[int, int], dtype: Any) -> tuple[Array, Array]:
    """What x and y are multiplied by, and what is added then.

    The position of g is ((g + 1) n - 1) / 2, and with centres on the corners of m elements
    (g + 1) (m - 1) / 2.
    """
    spans = [max(n - 1, 1) for n in sizes]
    scale = [n / span for n, span in zip(sizes, spans, strict=True)]
    shift = [(n - 1) / span - 1 for n, span in zip(sizes, spans, strict=True)]
    return xp.asarray(scale, dtype), xp.asarray(shift, dtype)


def sample_backward(grad_output: Array, x: Array, grid: Array) -> tuple[Array, Array]:
    """The gradients of an array and of a grid whose -1 and 1 are outer edges."""
    xp = array_module(x)
    height, width = x.shape[2:]
    wider, moved = on_corners(x, grid)
    grad_x, grad_grid = like(wider), like(moved)
    thnn.SpatialGridSamplerBilinear_updateGradInput(
        None, wider, grad_x, moved, grad_grid, grad_output
    )
    scale, _ = _to_corners(xp, (width, height), x.dtype)
    inner = shaped(grad_x, wider.shape)[:, :, :height, :width]
    return dense(inner), shaped(grad_grid, grid.shape) * scale

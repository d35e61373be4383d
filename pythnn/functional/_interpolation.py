"""Interpolation between the centres of elements whose outer edges coincide.

THNN puts the centres of corner elements on each other (``align_corners=True``). The other way is
built here: up-sampling from a matrix for each axis, sampling by moving the places.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import thnn
from .._products import product
from .._tensor import array_module
from ._arrays import Array, Unfit, dense, like, shaped
from ._axes import filled

__all__ = ["aligned", "on_corners", "resized", "resized_backward", "sample_backward"]


def aligned(align_corners: Any) -> bool:
    """The argument itself, which must be a bool."""
    if not isinstance(align_corners, bool):
        raise Unfit("align_corners", "True or False", repr(align_corners))
    return align_corners


def _cubic(distance: Any) -> Any:
    """The weight of an element at a distance, in cubic convolution (Keys, 1981)."""
    a, d = -0.75, np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def _places(before: int, after: int, scale: float | None, mode: str, align: bool) -> Any:
    """Where the elements of a result are among those of an axis."""
    steps = np.arange(after)
    ratio = before / after if scale is None else 1 / scale
    if mode == "nearest":
        return np.minimum(np.floor(steps * ratio), before - 1)
    if align:
        return steps * ((before - 1) / (after - 1) if after > 1 else 0.0)
    return (steps + 0.5) * ratio - 0.5


@functools.lru_cache(maxsize=64)
def _nearest(before: int, after: int, scale: float | None) -> Array:
    """The elements of an axis that a result of its nearest ones has."""
    places: Array = _places(before, after, scale, "nearest", False).astype(np.int64)
    places.flags.writeable = False  # they are kept for later calls
    return places


@functools.lru_cache(maxsize=64)
def _weights(
    before: int,
    after: int,
    dtype: np.dtype[Any],
    scale: float | None = None,
    mode: str = "linear",
    align: bool = False,
) -> Array:
    """after x before: what each element of an axis gives to each element of the result.

    With the outer edges on each other, element i of the result has its centre at
    (i + 1/2) before / after - 1/2; before the first centre and after the last one the values stay.
    """
    places = _places(before, after, scale, mode, align)
    if mode == "linear":
        places = np.clip(places, 0, before - 1)
    lower = np.floor(places).astype(np.int64)
    share = places - lower
    rows = np.arange(after)
    if mode == "cubic":
        taps = [(k, _cubic(share - k)) for k in (-1, 0, 1, 2)]
    else:
        taps = [(0, 1 - share), (1, share)]
    weights = np.zeros((after, before))
    for offset, weight in taps:
        np.add.at(weights, (rows, np.clip(lower + offset, 0, before - 1)), weight)
    weights = weights.astype(dtype)
    weights.flags.writeable = False  # it is kept for later calls
    return weights


def _along_axes(array: Array, matrices: Sequence[Array]) -> Array:
    """Multiplies the last axes of an array by a matrix each."""
    xp = array_module(array)
    count = len(matrices)
    for i, matrix in enumerate(matrices):
        axis = array.ndim - count + i
        rows = product(array.swapaxes(axis, -1), xp.asarray(matrix.T))
        array = rows.swapaxes(axis, -1)
    return dense(array)


def resized(
    x: Array,
    sizes: Sequence[int],
    scales: Sequence[float | None] | None = None,
    mode: str = "linear",
    align: bool = False,
) -> Array:
    """An array of batch x planes x positions at other numbers of positions."""
    _check("size", sizes)
    scales = scales or (None,) * len(sizes)
    axes = zip(x.shape[2:], sizes, scales, strict=True)
    if mode == "nearest":
        xp = array_module(x)
        for axis, (n, m, scale) in enumerate(axes, 2):
            x = x.take(xp.asarray(_nearest(n, m, scale)), axis)
        return x
    return _along_axes(x, [_weights(n, m, x.dtype, scale, mode, align) for n, m, scale in axes])


def resized_backward(
    grad_output: Array,
    sizes: Sequence[int],
    scales: Sequence[float | None] | None = None,
    mode: str = "linear",
    align: bool = False,
) -> Array:
    """The gradient of an array that had these sizes."""
    _check("shape", sizes)
    scales = scales or (None,) * len(sizes)
    axes = zip(sizes, grad_output.shape[2:], scales, strict=True)
    dtype = grad_output.dtype
    weights = [_weights(n, m, dtype, scale, mode, align).T for n, m, scale in axes]
    return _along_axes(grad_output, weights)


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

"""Interpolation between the centres of elements whose outer edges lie on each other.

THNN puts the centres of corner elements on each other (``align_corners=True``). The other way is
built here: up-sampling from a matrix for each axis, sampling by moving the places.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import thnn
from .._tensor import array_module
from ._arrays import Array, Unfit, like, shaped

__all__ = ["aligned", "interpolate", "interpolate_backward", "on_corners", "sample_backward"]


def aligned(align_corners: Any) -> bool:
    """The argument itself, which must be a bool."""
    if not isinstance(align_corners, bool):
        raise Unfit("align_corners", "True or False", repr(align_corners))
    return align_corners


@functools.lru_cache(maxsize=64)
def _weights(before: int, after: int, dtype: np.dtype[Any]) -> Array:
    """after x before: what each element of an axis gives to each element of the result.

    Element i of the result has its centre at (i + 1/2) before / after - 1/2; before the first
    centre and after the last one the values stay.
    """
    places = (np.arange(after) + 0.5) * (before / after) - 0.5
    places = np.clip(places, 0, before - 1)
    lower = np.minimum(places.astype(np.int64), before - 1)
    upper = np.minimum(lower + 1, before - 1)
    share = places - lower
    weights = np.zeros((after, before))
    rows = np.arange(after)
    weights[rows, lower] += 1 - share
    weights[rows, upper] += share
    weights = weights.astype(dtype)
    weights.flags.writeable = False  # it is kept for later calls
    return weights


def _along_axes(array: Array, matrices: Sequence[Array]) -> Array:
    """Multiplies the last axes of an array by a matrix each."""
    xp = array_module(array)
    count = len(matrices)
    for i, matrix in enumerate(matrices):
        axis = array.ndim - count + i
        moved = xp.moveaxis(array, axis, -1) @ xp.asarray(matrix.T)
        array = xp.moveaxis(moved, -1, axis)
    result: Array = xp.ascontiguousarray(array)
    return result


def interpolate(x: Array, sizes: Sequence[int]) -> Array:
    """An array of batch x planes x positions at other numbers of positions."""
    before = x.shape[2:]
    _check("size", sizes)
    weights = [_weights(n, m, x.dtype) for n, m in zip(before, sizes, strict=True)]
    return _along_axes(x, weights)


def interpolate_backward(grad_output: Array, sizes: Sequence[int]) -> Array:
    """The gradient of an array that had these sizes."""
    after = grad_output.shape[2:]
    _check("shape", sizes)
    weights = [_weights(n, m, grad_output.dtype).T for n, m in zip(sizes, after, strict=True)]
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
        added = [(0, 0), (0, 0), (0, int(height == 1)), (0, int(width == 1))]
        x = xp.pad(x, added)
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
    return xp.ascontiguousarray(inner), shaped(grad_grid, grid.shape) * scale

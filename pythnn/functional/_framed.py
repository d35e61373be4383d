"""Pooling of frames: they are planes of frames x features whose windows are one feature wide.

Where maxima are is an offset in a window there, and a position in a plane for the C functions.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .._tensor import array_module
from ._arrays import Array, shaped, single
from ._pooled import frames_window
from ._pools import Maxima, Windows, looked_at, looked_up

__all__ = ["as_offsets", "as_positions", "frame_sizes", "of_frames", "over_frames"]


def frame_sizes(
    window: Any, stride: Any, padding: Any, dilation: Any = 1
) -> tuple[int, int, int, int]:
    sides = single("padding", padding), single("dilation", dilation)
    return (*frames_window(window, stride), *sides)


def over_frames(
    x: Array, axis: int, sizes: tuple[int, int, int, int], ceil_mode: bool
) -> tuple[Array, Windows]:
    rest = (1, 1, 0, 1)
    pairs = zip(*((sizes, rest) if axis == -2 else (rest, sizes)), strict=True)
    kernels, steps, paddings, dilations = pairs
    return x[..., None, :, :], Windows(kernels, steps, paddings, dilations, ceil_mode)


def of_frames(found: Any, windows: Windows, planes: Array) -> Array:
    shape = windows.shape(planes)
    return shaped(found, (*shape[:-3], *shape[-2:]))


_NOWHERE = -(2**40)
"""In the place of a frame: what lies before each window."""


@functools.lru_cache(maxsize=64)
def _frames(sizes: tuple[int, ...], axis: int) -> Any:
    """The frame of each position in a plane, counted from 1; none has position 0."""
    found = np.append(_NOWHERE, np.indices(sizes)[axis])
    found.flags.writeable = False  # it is kept for later calls
    return found


def _starts(windows: Windows, planes: Array, axis: int) -> Any:
    """Where each window begins, along the axis of an output, in the planes that are looked at."""
    laid = windows.over(planes)
    first = 0 if laid.is_wide else -windows.padding[axis]
    starts = array_module(planes).arange(laid.counts[axis]) * windows.stride[axis] + first
    return starts[:, None] if axis == -2 else starts


def as_offsets(found: Maxima, windows: Windows, planes: Array, axis: int) -> Array:
    """The positions as offsets in windows; -1 where there is no maximum."""
    positions = of_frames(found.positions, windows, planes)
    frames = looked_up(_frames(found.sizes, axis), positions)
    offsets = frames - _starts(windows, planes, axis)
    if windows.dilation[axis] != 1:
        offsets = offsets // windows.dilation[axis]
    least: Array = array_module(planes).maximum(offsets, -1)
    return least


def as_positions(offsets: Array, windows: Windows, planes: Array, axis: int) -> Array:
    """The inverse."""
    xp = array_module(planes)
    frames = offsets * windows.dilation[axis] + _starts(windows, planes, axis)
    rows, columns = looked_at(windows, planes)
    if axis == -2:
        positions = frames * columns + xp.arange(1, columns + 1)
    else:
        positions = frames + xp.arange(1, rows * columns + 1, columns)[:, None]
    found: Array = xp.where(offsets < 0, 0, positions)
    return found

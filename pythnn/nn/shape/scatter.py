"""Writing to places of an array that other arrays name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import thnn
from ..object.values import array_module

__all__ = ["add_slices", "put_along_axis"]


def put_along_axis(array: Any, places: Any, values: Any, axis: int) -> None:
    """numpy.put_along_axis, which CuPy has from version 14 on only."""
    xp = array_module(array)
    index = [
        xp.arange(size).reshape([-1 if i == d else 1 for i in range(places.ndim)])
        for d, size in enumerate(places.shape)
    ]
    index[axis] = places
    array[tuple(index)] = values


def add_slices(array: Any, axis: int, places: Any, slices: Any) -> None:
    """Adds to the slices of an array at these places along an axis, which may repeat.

    In their order, also on a device: there CuPy would add in any.
    """
    if isinstance(array, np.ndarray):
        np.add.at(array, (slice(None),) * axis + (places,), slices)
        return
    xp = array_module(array)
    moved = xp.moveaxis(array, axis, 0)
    sums = xp.zeros((len(moved), array.size // len(moved)), array.dtype)
    rows = xp.moveaxis(slices, axis, 0).reshape(places.size, -1)
    thnn.LookupTable_accGradParameters(
        None, places + 1, rows, sums, None, None, None, False, 0, 1.0
    )
    moved += sums.reshape(moved.shape)

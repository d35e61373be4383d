"""What arguments become: arrays of real numbers, all of one type, and indices from 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._calls import describe
from .._tensor import Tensor, is_on_device
from ._arrays import Unfit

__all__ = ["INT64", "REALS", "as_array", "as_ints", "as_reals", "written"]

REALS = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
INT64 = np.dtype(np.int64)


def as_array(name: str, value: Any, wanted: str) -> Any:
    """An array of numpy's own class, or on a device; of a Tensor, over its memory."""
    if is_on_device(value):
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise Unfit(name, f"{wanted} without a mask: fill it, as with .filled(0)", "a masked array")
    if isinstance(value, Tensor):
        return value.numpy()
    if value is None or isinstance(value, (str, bytes, dict)):
        raise Unfit(name, wanted, describe(value))
    try:
        array = np.asarray(value)
    except (ValueError, Warning) as error:  # rows of different lengths, of which old numpy warns
        raise Unfit(name, wanted, f"{describe(value)} ({error})") from None
    if array.dtype.kind not in "fiub":
        found = f"an array of {array.dtype}" if array.dtype != object else describe(value)
        raise Unfit(name, wanted, found)
    return array


def as_reals(given: dict[str, Any]) -> dict[str, Any]:
    """Arrays of real numbers, all of one type.

    The first array of float32 or float64 decides; ints and lists take its type.
    """
    wanted = "an array of float32 or float64"
    arrays = {name: as_array(name, value, wanted) for name, value in given.items()}
    typed = {
        name: array
        for name, array in arrays.items()
        if array.dtype.kind == "f" and hasattr(given[name], "dtype")
    }
    first, dtype = "", np.dtype(np.float64)
    for name, array in typed.items():
        native = array.dtype.newbyteorder("=")
        if native not in REALS:
            raise Unfit(name, wanted, f"one of {array.dtype}")
        if not first:
            first, dtype = name, native
        elif native != dtype:
            raise Unfit(name, f"an array of {dtype}, like '{first}'", f"one of {native}")
    return {
        name: array if array.dtype == dtype and array.dtype.isnative else array.astype(dtype)
        for name, array in arrays.items()
    }


def as_ints(name: str, value: Any) -> Any:
    """An array of int64, of whole numbers."""
    array = as_array(name, value, "an array of ints")
    kind = array.dtype.kind
    if kind == "b":
        raise Unfit(name, "an array of ints", "one of bools")
    if kind == "f":
        if not isinstance(array, np.ndarray):
            raise Unfit(name, "an array of ints", f"one of {array.dtype}")
        wrong = array[~(np.isfinite(array) & (array % 1 == 0))]
        if wrong.size:
            raise Unfit(name, "whole numbers", f"{wrong[0]}")
    if array.dtype == np.uint64 and isinstance(array, np.ndarray) and (array >> 63).any():
        raise Unfit(name, "ints of 64 bits", f"{array.max()}")
    return array if array.dtype == INT64 else array.astype(np.int64)


def written(name: str, value: Any) -> None:
    """Raises for what cannot be written to in place."""
    if is_on_device(value) or isinstance(value, Tensor):
        return
    if isinstance(value, np.ma.MaskedArray) or not isinstance(value, np.ndarray):
        raise Unfit(name, "an array, which is written in place", describe(value))
    if value.dtype not in REALS:
        raise Unfit(name, "an array of float32 or float64", describe(value))
    if not value.flags.writeable:
        raise Unfit(name, "a writable array", "a read-only one")

"""Arrays of subclasses as numpy's own class sees them.

A subclass may answer what it likes when it is asked for its shape, strides, type or address, and
``np.matrix`` multiplies in its own way. So nothing is read of an array before it is a plain one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MASKED", "UNMASKED", "base_of", "is_masked", "is_ndarray", "plain"]

MASKED = "a masked array"
UNMASKED = "an array without a mask, such as masked.filled(0)"


def is_ndarray(value: Any) -> bool:
    """Whether a value is an array of numpy; not whether it says so, as ``__class__`` can."""
    return issubclass(type(value), np.ndarray)


def is_masked(value: Any) -> bool:
    """Whether an array has a mask, which plain arrays would lose."""
    return issubclass(type(value), np.ma.MaskedArray)


def plain(array: Any) -> NDArray[Any]:
    """The array itself, or one of numpy's own class over the same memory."""
    if type(array) is np.ndarray:
        return array
    view: NDArray[Any] = np.ndarray.view(array, np.ndarray)
    return view


def base_of(array: Any) -> Any:
    """What has the memory of an array; None for the array itself."""
    return np.ndarray.base.__get__(array)

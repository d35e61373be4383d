"""What the functions that the build writes stand on: ``pythnn/_functions.py``.

They make the two common calls themselves: all tensors are Tensors, or all are contiguous arrays of
the types that the function takes. All other arguments come to :func:`call`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._library import ffi, last_error, native
from .._tensor import DTYPES, Tensor, is_on_device
from . import host
from .function import Function, as_bool, as_float, as_int
from .host import layouts
from .recorded import Recorded

__all__ = [
    "CHARS",
    "INT32",
    "INT64",
    "MISALIGNED",
    "NULL",
    "OTHERS",
    "REFUSED",
    "Function",
    "Tensor",
    "as_bool",
    "as_float",
    "as_int",
    "call",
    "from_buffer",
    "last_error",
    "layouts",
    "ndarray",
]

CHARS = ffi.typeof("char[]")
INT32, INT64 = DTYPES[3], DTYPES[2]
MISALIGNED: int = native.PYTHNN_MISALIGNED
"""The code of a function on arrays that an array has to be copied for."""
NULL: Any = ffi.NULL
OTHERS = MISALIGNED - 1
"""In the place of a code: the arguments are not those of a common call."""
REFUSED = (TypeError, ValueError, OverflowError, AttributeError, BufferError, KeyError)
"""What cffi and numpy raise for arguments of the common calls that do not fit after all."""
from_buffer: Any = ffi.from_buffer
ndarray = np.ndarray


def call(function: Function, values: list[Any]) -> int:
    """Calls with any arguments that can be taken; returns the C function's code.

    Raises THNNArgumentError, which names the argument to blame, for the rest. With arrays that are
    recorded it makes no call, but is written down.
    """
    for value in values:
        if type(value) is Recorded:
            value.recording.call(function, values)
            return 0
    if any(is_on_device(values[passed.argument.place]) for passed in function.passed):
        from . import device

        device.call(function, values)
        return 0
    return host.call(function, values)

"""What cuDNN is told of arrays and windows, made once for each geometry."""

from __future__ import annotations

import ctypes
import functools
import math
import weakref
from typing import Any

from .library import Library

__all__ = [
    "LARGEST",
    "Descriptor",
    "convolution",
    "factor",
    "filter_of",
    "pooling",
    "strides_of",
    "tensor",
]

LARGEST = 2**31 - 1
"""cuDNN's sizes and strides are of 32 bits."""
_DATA_TYPES = {"float32": 0, "float64": 1}
_CTYPES: dict[str, Any] = {"float32": ctypes.c_float, "float64": ctypes.c_double}
_NCHW = 0
_CONVOLUTION, _CROSS_CORRELATION = 0, 1
_FMA_MATH = 3
"""No tensor cores, whose products of float32 have fewer digits (TF32)."""
_NOT_PROPAGATE_NAN = 0
_KEPT = 1024
"""Descriptors of each kind that are kept: more than a network has layers."""


class Descriptor:
    """A descriptor of a kind; its pointer is what the functions take."""

    def __init__(self, library: Library, kind: str) -> None:
        pointer = ctypes.c_void_p()
        library.call(f"cudnnCreate{kind}Descriptor", ctypes.byref(pointer))
        self.pointer = pointer.value
        destroy = f"cudnnDestroy{kind}Descriptor"
        at_end = weakref.finalize(self, library.status, destroy, pointer.value)
        at_end.atexit = False  # the process takes them along


def _ints(values: tuple[int, ...]) -> Any:
    return (ctypes.c_int * len(values))(*values)


def strides_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a dense array, in elements."""
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


@functools.lru_cache(_KEPT)
def tensor(library: Library, real: str, shape: tuple[int, ...]) -> Descriptor:
    """A dense array of four or five dimensions."""
    made = Descriptor(library, "Tensor")
    sizes, strides = _ints(shape), _ints(strides_of(shape))
    library.call(
        "cudnnSetTensorNdDescriptor", made.pointer, _DATA_TYPES[real], len(shape), sizes, strides
    )
    return made


@functools.lru_cache(_KEPT)
def filter_of(library: Library, real: str, shape: tuple[int, ...]) -> Descriptor:
    """The weight of a convolution, dense."""
    made = Descriptor(library, "Filter")
    library.call(
        "cudnnSetFilterNdDescriptor",
        made.pointer, _DATA_TYPES[real], _NCHW, len(shape), _ints(shape),
    )  # fmt: skip
    return made


@functools.lru_cache(_KEPT)
def convolution(
    library: Library,
    real: str,
    padding: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
    flip: bool,
) -> Descriptor:
    """The window of a convolution, whose sums have the arrays' type."""
    made = Descriptor(library, "Convolution")
    library.call(
        "cudnnSetConvolutionNdDescriptor",
        made.pointer, len(padding), _ints(padding), _ints(stride), _ints(dilation),
        _CONVOLUTION if flip else _CROSS_CORRELATION, _DATA_TYPES[real],
    )  # fmt: skip
    library.call("cudnnSetConvolutionGroupCount", made.pointer, groups)
    library.call("cudnnSetConvolutionMathType", made.pointer, _FMA_MATH)
    return made


@functools.lru_cache(_KEPT)
def pooling(
    library: Library,
    mode: int,
    window: tuple[int, ...],
    padding: tuple[int, ...],
    stride: tuple[int, ...],
) -> Descriptor:
    """The windows of a pooling."""
    made = Descriptor(library, "Pooling")
    library.call(
        "cudnnSetPoolingNdDescriptor",
        made.pointer, mode, _NOT_PROPAGATE_NAN, len(window),
        _ints(window), _ints(padding), _ints(stride),
    )  # fmt: skip
    return made


def factor(real: str, value: float) -> Any:
    """A factor of a result or of what was there, as a pointer to a number of the arrays' type."""
    return ctypes.byref(_CTYPES[real](value))

"""Calls with arrays and Tensors in the host's memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._generator import Generator
from .._library import ffi, native
from .._overlap import overlaps_itself
from .._plain import is_masked, is_ndarray, plain
from .._state import State
from .._tensor import DTYPES, KINDS, Array, Tensor, array_address, dense_strides, kind_of_dtype
from .function import Argument, Function, check_ranges, describe, refuse_tensor
from .inplace import inplace_pair

__all__ = ["call", "layout_of", "layouts"]

_NULL = ffi.NULL
_CHARS = ffi.typeof("char[]")
_ADDRESS = ffi.typeof("void *")


# ---- Which real type


def _real_kind(function: Function, value: Any) -> int:
    """0 for float, 1 for double, by the first real tensor."""
    argument = function.first_real
    if isinstance(value, Tensor):
        if value._kind > 1:
            raise refuse_tensor(function, argument, None, value)
        return value._kind
    if is_ndarray(value):
        kind = kind_of_dtype(plain(value).dtype)
        if kind is not None and kind.index <= 1:
            return kind.index
    raise refuse_tensor(function, argument, None, value)


# ---- Arrays as tensors for one call

# A layout is an int64_t[] of nDimension, extent, sizes, strides.
_MOST_LAYOUTS = 4096
_LAYOUT = ffi.typeof("int64_t[]")


def layout_of(shape: Sequence[int], strides: Sequence[int]) -> Any:
    """The layout of an array of so many elements, of which strides count too."""
    if 0 in shape:
        return ffi.new(_LAYOUT, [0, 0])  # TH knows no sizes of 0, only the empty tensor
    span = 1
    for size, stride in zip(shape, strides, strict=True):
        span += (size - 1) * stride
    return ffi.new(_LAYOUT, [len(shape), span, *shape, *strides])


class _Layouts(dict[tuple[int, ...], Any]):
    def __missing__(self, shape: tuple[int, ...]) -> Any:
        if len(self) >= _MOST_LAYOUTS:
            self.clear()
        layout = layout_of(shape or (1,), dense_strides(shape or (1,)))
        self[shape] = layout
        return layout


layouts = _Layouts()
"""Layouts of contiguous arrays by shape."""


class _Frame:
    """Tensors over the arrays of one call; used again by later calls."""

    def __init__(self) -> None:
        self.memory = ffi.new("pythnn_Slot[]", _SLOTS)
        self.places = tuple(self.memory + i for i in range(_SLOTS))
        self.tensors = tuple(
            tuple(ffi.cast(kind.pointer, place) for kind in KINDS) for place in self.places
        )
        self.used = 0
        self.keep: list[Any] = []
        self.copies: list[tuple[Array, Array]] = []

    def clear(self) -> None:
        """Lets go of the arrays."""
        self.used = 0
        self.keep.clear()
        self.copies.clear()

    def finish(self) -> None:
        """After a call that went well: writes copied outputs back."""
        for array, dense in self.copies:
            array[...] = dense

    def _place(self, kind: int, data: Any, layout: Any, keep: Any) -> Any:
        """A tensor, or None when the memory is not aligned."""
        slot = self.used
        if native.pythnn_place(self.places[slot], data, layout, KINDS[kind].itemsize):
            return None
        self.used += 1
        self.keep.append(keep)
        return self.tensors[slot][kind]

    def place_dense(self, kind: int, array: Array) -> Any:
        """A tensor over a contiguous array, or None when it is not aligned."""
        data = ffi.from_buffer(_CHARS, array)
        return self._place(kind, data, layouts[array.shape], data)

    def place_strided(self, kind: int, array: Array) -> Any:
        """A tensor over an array with positive strides, or None when it has others."""
        item = array.itemsize
        shape = array.shape
        strides = []
        for size, step in zip(shape, array.strides, strict=True):
            if size > 1 and (step <= 0 or step % item):
                return None
            strides.append(step // item if size > 1 else 1)
        data = ffi.cast(_ADDRESS, array_address(array))
        return self._place(kind, data, layout_of(shape, strides), array)

    def place_copy(self, kind: int, array: Array, written: bool) -> Any:
        """A tensor over a copy of an array, which is written back when the call went well."""
        dense = np.array(array, order="C", subok=False)
        if written:
            self.copies.append((array, dense))
        return self.place_dense(kind, dense)


_SLOTS = 16

# Frames that no call uses now. Taking and giving back are single operations on a list, so threads,
# signal handlers and finalizers that make calls of their own do not meet.
_idle: list[_Frame] = []


def _tensor(
    function: Function, argument: Argument, value: Any, kind: int, written: bool, frame: _Frame
) -> Any:
    """The C tensor of a Tensor or an array."""
    if isinstance(value, Tensor):
        if value._kind != kind or value._c is None:
            raise refuse_tensor(function, argument, kind, value)
        return value._c
    if not is_ndarray(value) or is_masked(value):
        raise refuse_tensor(function, argument, kind, value)
    value = plain(value)
    if value.dtype != DTYPES[kind]:
        raise refuse_tensor(function, argument, kind, value)
    flags = value.flags
    if written and not flags.writeable:
        raise function.refuse(argument, "a writable array", "a read-only one")
    if flags.c_contiguous:
        tensor = frame.place_dense(kind, value)
    else:
        if written and overlaps_itself(value):
            raise function.refuse(
                argument, "an array whose elements lie apart", "one that overlaps itself"
            )
        tensor = frame.place_strided(kind, value)
    return frame.place_copy(kind, value, written) if tensor is None else tensor


def _same_memory(a: Any, b: Any) -> bool:
    """Whether two arrays or Tensors are the same view of the same memory."""
    if a is b:
        return True
    first, second = (x.numpy() if isinstance(x, Tensor) else x for x in (a, b))
    if not (is_ndarray(first) and is_ndarray(second)):
        return False
    first, second = plain(first), plain(second)
    return (
        first.dtype == second.dtype
        and first.shape == second.shape
        and array_address(first) == array_address(second)
        and first.strides == second.strides
    )


def call(function: Function, values: list[Any]) -> int:
    """Calls with arrays and Tensors in the host's memory; returns the C function's code.

    Raises THNNArgumentError for arguments that do not fit.
    """
    source, view = -1, -1
    if function.inplace is not None:
        source, view = inplace_pair(function, values, values.__getitem__, _same_memory)
    for index in function.handles:
        values[index] = _handle(function, function.arguments[index], values[index])
    for index in function.scratch:
        values[index] = _NULL
    real = _real_kind(function, values[function.first_real.place])
    try:
        frame = _idle.pop()
    except IndexError:
        frame = _Frame()
    try:
        for argument, fixed_kind, written in function.passed:
            index = argument.place
            value = values[index]
            if index == view:
                continue
            if value is None and argument.optional:
                values[index] = _NULL
                continue
            kind = real if fixed_kind is None else fixed_kind
            written = written or index == source
            values[index] = _tensor(function, argument, value, kind, written, frame)
        if view >= 0:
            values[view] = values[source]
        try:
            code: int = function.on_tensors[real](*values)
        except OverflowError:
            check_ranges(function, values)
            raise
        if not code:
            frame.finish()
        return code
    finally:
        frame.clear()
        _idle.append(frame)


def _handle(function: Function, argument: Argument, value: Any) -> Any:
    """The C object of a State or a Generator."""
    if argument.kind == "state":
        if value is None:
            return _NULL
        if isinstance(value, State) and not value.closed:
            return value._c
        raise function.refuse(argument, "a State or None", describe(value))
    if isinstance(value, Generator) and not value.closed:
        return value._c
    raise function.refuse(argument, "a Generator", describe(value))

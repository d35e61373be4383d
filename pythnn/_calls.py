"""Calls of C functions with Tensors and arrays: the callables of :mod:`pythnn.thnn`.

Each callable is a small function generated from the table that the build reads from ``THNN.h``.
Its common case, all tensors of class Tensor, is written out in it; everything else goes through
:func:`_call_with_arrays`. Types are checked by cffi, which is fast; only when cffi refuses does
:func:`_explain` look for the argument to blame.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ._errors import THNNArgumentError, THNNError
from ._generator import Generator
from ._library import ffi, last_error, native
from ._state import State
from ._tensor import DTYPES, KINDS, Array, Tensor, array_address, kind_of_dtype, overlaps_itself

__all__ = ["Argument", "Function", "make"]

_NULL = ffi.NULL
_CHARS = ffi.typeof("char[]")
_FIXED_KINDS = {"index": 2, "integer": 3}
_WRITTEN = ("out", "inout", "accumulate")
_REFUSED_BY_CFFI = (TypeError, OverflowError, AttributeError)
_INT_BITS = {"int": 32, "int64": 64}


@dataclass(frozen=True)
class Argument:
    """An argument of a C function."""

    index: int
    name: str
    kind: str
    """state, generator, int, int64, double, bool; tensors: real, index, integer."""
    role: str
    """in, out, inout, accumulate, scratch; empty for what is not a tensor."""
    optional: bool

    @property
    def is_tensor(self) -> bool:
        return bool(self.role)

    @property
    def is_written(self) -> bool:
        return self.role in _WRITTEN


class Function:
    """A C function in both real types, as the header describes it."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[tuple[str, str, str, bool]],
        inplace: tuple[str, str] | None,
        doc: str,
    ) -> None:
        self.name = name
        self.doc = doc
        self.arguments = tuple(Argument(i, *fields) for i, fields in enumerate(arguments))
        places = {a.name: a.index for a in self.arguments}
        self.calls: tuple[Any, ...] = (
            getattr(native, f"call_THNN_Float{name}"),
            getattr(native, f"call_THNN_Double{name}"),
            None,  # a tensor of ints where a real one belongs: calling None is a TypeError
            None,
        )
        self.inplace = inplace and (places["inplace"], places[inplace[0]], places[inplace[1]])
        reals = [a for a in self.arguments if a.kind == "real" and a.role != "scratch"]
        self.first_real = next(a for a in reals if not a.optional)
        # (index, kind of tensor or None for real, written, argument): what has to be passed
        self.tensors = tuple(
            (a.index, _FIXED_KINDS.get(a.kind), a.is_written, a)
            for a in self.arguments
            if a.is_tensor and a.role != "scratch"
        )
        self.scratch = tuple(a.index for a in self.arguments if a.role == "scratch")
        self.handles = tuple(a.index for a in self.arguments if a.kind in ("state", "generator"))

    def refuse(self, argument: Argument, wanted: str, found: str) -> THNNArgumentError:
        """The error about an argument."""
        return THNNArgumentError.expected(
            self.name, argument.index + 1, argument.name, wanted, found
        )


# ---- Scalars


def _as_int(function: Function, index: int, value: Any) -> int:
    argument = function.arguments[index]
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise function.refuse(argument, "an int", _describe(value))
    try:
        return operator.index(value)
    except TypeError:
        raise function.refuse(argument, "an int", _describe(value)) from None


def _as_float(function: Function, index: int, value: Any) -> float:
    argument = function.arguments[index]
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise function.refuse(argument, "a float", _describe(value))
    try:
        return float(operator.index(value))
    except (TypeError, OverflowError):
        raise function.refuse(argument, "a float", _describe(value)) from None


def _as_bool(function: Function, index: int, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise function.refuse(function.arguments[index], "True or False", _describe(value))


# ---- What was found, in words


def _describe(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        return "a closed Tensor" if value.closed else f"a Tensor of {value.dtype}"
    if isinstance(value, (State, Generator)):
        name = type(value).__name__
        return f"a closed {name}" if value.closed else f"a {name}"
    if isinstance(value, np.ma.MaskedArray):
        return "a masked array"
    if isinstance(value, np.ndarray):
        order = "" if value.dtype.isnative else "byte-swapped "
        name = value.dtype.newbyteorder("=").name if value.dtype.fields is None else "structures"
        return f"an array of {order}{name}"
    if isinstance(value, (bool, int, float, str, np.number)):
        text = repr(value)
        return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"
    return f"an object of type {type(value).__name__}"


def _wanted_tensor(function: Function, argument: Argument, kind: int | None) -> str:
    wanted = "float32 or float64" if kind is None else str(DTYPES[kind])
    text = f"a {wanted} array or Tensor"
    if kind is not None and argument.kind == "real":
        text += f", like '{function.first_real.name}'"
    return text + (", or None" if argument.optional else "")


def _refuse_tensor(
    function: Function, argument: Argument, kind: int | None, value: Any
) -> NoReturn:
    raise function.refuse(argument, _wanted_tensor(function, argument, kind), _describe(value))


# ---- Which real type


def _real_kind(function: Function, value: Any) -> int:
    """0 for float, 1 for double, by the first real tensor."""
    argument = function.first_real
    if isinstance(value, Tensor):
        if value._kind > 1:
            _refuse_tensor(function, argument, None, value)
        return value._kind
    if isinstance(value, np.ndarray):
        kind = kind_of_dtype(value.dtype)
        if kind is not None and kind.index <= 1:
            return kind.index
    _refuse_tensor(function, argument, None, value)


# ---- Arrays as tensors for one call

# Layouts by shape, of contiguous arrays: int64_t[] of nDimension, extent, sizes, strides.
_MOST_LAYOUTS = 4096


def _layout(shape: Sequence[int], strides: Sequence[int]) -> Any:
    if 0 in shape:
        return ffi.new("int64_t[]", [0, 0])  # TH knows no sizes of 0, only the empty tensor
    span = 1 + sum((n - 1) * d for n, d in zip(shape, strides, strict=True))
    return ffi.new("int64_t[]", [len(shape), span, *shape, *strides])


def _dense_strides(shape: Sequence[int]) -> list[int]:
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return strides[::-1]


class _Layouts(dict[tuple[int, ...], Any]):
    def __missing__(self, shape: tuple[int, ...]) -> Any:
        if len(self) >= _MOST_LAYOUTS:
            self.clear()
        layout = _layout(shape or (1,), _dense_strides(shape or (1,)))
        self[shape] = layout
        return layout


_layouts = _Layouts()
_place = native.pythnn_place
_from_buffer = ffi.from_buffer
_ITEMSIZES = tuple(dtype.itemsize for dtype in DTYPES)
_SLOTS = 16


class _Slots:
    """Room for the tensors of one call; used again by later calls."""

    def __init__(self) -> None:
        self.memory = ffi.new("pythnn_Slot[]", _SLOTS)
        self.places = tuple(self.memory + i for i in range(_SLOTS))
        self.tensors = tuple(
            tuple(ffi.cast(kind.pointer, place) for kind in KINDS) for place in self.places
        )


# Slots that no call uses now. Taking and giving back are single operations on a list, so threads,
# signal handlers and finalizers that make calls of their own do not meet.
_idle: list[_Slots] = []


def _place_dense(slots: _Slots, slot: int, kind: int, array: Array, keep: list[Any]) -> Any:
    """A tensor over a contiguous array."""
    data = _from_buffer(_CHARS, array)
    _place(slots.places[slot], data, _layouts[array.shape], _ITEMSIZES[kind])
    keep.append(data)
    return slots.tensors[slot][kind]


def _place_any(
    function: Function,
    argument: Argument,
    value: Any,
    kind: int,
    written: bool,
    slots: _Slots,
    slot: int,
    keep: list[Any],
    copies: list[tuple[Array, Array]],
) -> Any:
    """A tensor over what is not simply a contiguous array of the right type; or an error."""
    if isinstance(value, Tensor):
        if value._kind != kind or value.closed:
            _refuse_tensor(function, argument, kind, value)
        return value._c
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
        _refuse_tensor(function, argument, kind, value)
    if value.dtype != DTYPES[kind]:
        _refuse_tensor(function, argument, kind, value)
    if written:
        if not value.flags.writeable:
            raise function.refuse(argument, "a writable array", "a read-only one")
        if overlaps_itself(value.shape, value.strides):
            raise function.refuse(
                argument, "an array whose elements lie apart", "one that overlaps itself"
            )
    array = value.view(np.ndarray)
    item = array.itemsize
    sizes = array.shape or (1,)
    steps = array.strides or (item,)
    fits = array.flags.aligned and all(
        n == 1 or (d > 0 and d % item == 0) for n, d in zip(sizes, steps, strict=True)
    )
    if array.size == 0 or not fits:
        dense = np.array(array, order="C")
        if written and array.size:
            copies.append((array, dense))
        return _place_dense(slots, slot, kind, dense, keep)
    dense_steps = _dense_strides(sizes)
    strides = [
        d // item if n > 1 else dense for n, d, dense in zip(sizes, steps, dense_steps, strict=True)
    ]
    data = ffi.cast("void *", array_address(array))
    layout = _layout(sizes, strides)
    _place(slots.places[slot], data, layout, item)
    keep.append(array)
    return slots.tensors[slot][kind]


def _same_memory(a: Any, b: Any) -> bool:
    """Whether two arrays or Tensors are the same view of the same memory."""
    if a is b:
        return True
    first, second = (x.numpy() if isinstance(x, Tensor) else x for x in (a, b))
    if not (isinstance(first, np.ndarray) and isinstance(second, np.ndarray)):
        return False
    return (
        first.dtype == second.dtype
        and first.shape == second.shape
        and array_address(first) == array_address(second)
        and first.strides == second.strides
    )


def _call_with_arrays(function: Function, values: list[Any]) -> int:
    """Makes a call in which not all tensors are Tensors; returns the C function's code."""
    view = -1  # the argument that becomes a view of the one worked on in place
    source = -1
    if function.inplace is not None and values[function.inplace[0]]:
        _, source, view = function.inplace
        given = values[view]
        if isinstance(values[source], Tensor) and isinstance(given, Tensor):
            view = source = -1
        elif given is not None and not _same_memory(values[source], given):
            raise function.refuse(
                function.arguments[view],
                f"None or the same memory as '{function.arguments[source].name}'",
                "other memory",
            )
    for index in function.handles:
        values[index] = _handle(function, function.arguments[index], values[index])
    for index in function.scratch:
        values[index] = _NULL
    real = _real_kind(function, values[function.first_real.index])

    try:
        slots = _idle.pop()
    except IndexError:
        slots = _Slots()
    keep: list[Any] = []
    copies: list[tuple[Array, Array]] = []
    slot = 0
    try:
        for index, fixed_kind, written, argument in function.tensors:
            if index == view:
                continue
            value = values[index]
            kind = real if fixed_kind is None else fixed_kind
            if type(value) is Tensor and value._kind == kind and value._c is not None:
                values[index] = value._c
                continue
            if value is None and argument.optional:
                values[index] = _NULL
                continue
            if type(value) is np.ndarray and value.dtype is DTYPES[kind]:
                try:
                    data = _from_buffer(_CHARS, value, written or index == source)
                    if not _place(
                        slots.places[slot], data, _layouts[value.shape], _ITEMSIZES[kind]
                    ):
                        keep.append(data)
                        values[index] = slots.tensors[slot][kind]
                        slot += 1
                        continue
                except (ValueError, BufferError):
                    pass  # not contiguous, or read-only
            values[index] = _place_any(
                function,
                argument,
                value,
                kind,
                written or index == source,
                slots,
                slot,
                keep,
                copies,
            )
            slot += 1
        if view >= 0:
            values[view] = values[source]
        try:
            code: int = function.calls[real](*values)
        except OverflowError:
            _check_ranges(function, values)
            raise
        if not code:
            for array, dense in copies:
                array[...] = dense
        return code
    finally:
        _idle.append(slots)


def _handle(function: Function, argument: Argument, value: Any) -> Any:
    """The C object of a State or a Generator."""
    if argument.kind == "state":
        if value is None:
            return _NULL
        if isinstance(value, State) and not value.closed:
            return value._c
        raise function.refuse(argument, "a State or None", _describe(value))
    if isinstance(value, Generator) and not value.closed:
        return value._c
    raise function.refuse(argument, "a Generator", _describe(value))


# ---- When cffi refuses


def _check_ranges(function: Function, values: Sequence[Any]) -> None:
    for argument in function.arguments:
        bits = _INT_BITS.get(argument.kind)
        value = values[argument.index]
        if bits and not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise function.refuse(argument, f"an int of {bits} bits", _describe(value))


def _explain(function: Function, values: Sequence[Any], error: Exception) -> THNNError:
    """The error about the argument that cffi did not take."""
    for index in function.handles:
        _handle(function, function.arguments[index], values[index])
    _check_ranges(function, values)
    real = _real_kind(function, values[function.first_real.index])
    for index, fixed_kind, _, argument in function.tensors:
        value = values[index]
        kind = real if fixed_kind is None else fixed_kind
        fits = isinstance(value, Tensor) and value._kind == kind and not value.closed
        if not fits and not (value is None and argument.optional):
            _refuse_tensor(function, argument, kind, value)
    return THNNError(f"{function.name}: {error}")


# ---- Generated functions

# Type of an argument that needs no conversion, and the function that converts others.
_EXACT = {
    "int": ("int", "as_int"),
    "int64": ("int", "as_int"),
    "double": ("float", "as_float"),
    "bool": ("bool", "as_bool"),
}


def _source(function: Function) -> str:
    """Python code of the callable."""
    names = [a.name for a in function.arguments]
    checks = "".join(
        f"    if type({a.name}) is not {exact}:\n"
        f"        {a.name} = {convert}(function, {a.index}, {a.name})\n"
        for a in function.arguments
        if a.kind in _EXACT
        for exact, convert in [_EXACT[a.kind]]
    )
    conditions = []
    passed = []
    for a in function.arguments:
        if a.role == "scratch":
            passed.append("NULL")
        elif a.is_tensor and a.optional:
            conditions.append(f"({a.name} is None or type({a.name}) is Tensor)")
            passed.append(f"NULL if {a.name} is None else {a.name}._c")
        elif a.is_tensor:
            conditions.append(f"type({a.name}) is Tensor")
            passed.append(f"{a.name}._c")
        elif a.kind == "state":
            passed.append(f"NULL if {a.name} is None else {a.name}._c")
        elif a.kind == "generator":
            passed.append(f"{a.name}._c")
        else:
            passed.append(a.name)
    every = ", ".join(names)
    return (
        f"def {function.name}({every}):\n"
        f"{checks}"
        f"    if {' and '.join(conditions)}:\n"
        f"        try:\n"
        f"            code = calls[{function.first_real.name}._kind]({', '.join(passed)})\n"
        f"        except refused as error:\n"
        f"            raise explain(function, ({every},), error) from None\n"
        f"    else:\n"
        f"        code = call_with_arrays(function, [{every}])\n"
        f"    if code:\n"
        f"        raise last_error({function.name!r})\n"
    )


def make(
    name: str,
    arguments: Sequence[tuple[str, str, str, bool]],
    inplace: tuple[str, str] | None,
    doc: str,
) -> Callable[..., None]:
    """The callable for a row of the function table."""
    function = Function(name, arguments, inplace, doc)
    scope: dict[str, Any] = {
        "__name__": "pythnn.thnn",
        "NULL": _NULL,
        "Tensor": Tensor,
        "as_bool": _as_bool,
        "as_float": _as_float,
        "as_int": _as_int,
        "call_with_arrays": _call_with_arrays,
        "calls": function.calls,
        "explain": _explain,
        "function": function,
        "last_error": last_error,
        "refused": _REFUSED_BY_CFFI,
    }
    exec(compile(_source(function), f"<pythnn.thnn.{name}>", "exec"), scope)  # noqa: S102
    made: Callable[..., None] = scope[name]
    made.__doc__ = doc
    made.__module__ = "pythnn.thnn"
    return made

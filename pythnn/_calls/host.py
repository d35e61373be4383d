"""Calls of C functions with Tensors and arrays: the callables of :mod:`pythnn.thnn`.

Each callable is a small function generated from the table that the build reads from ``THNN.h``.
The two common cases are written out in it: all tensors are Tensors, all are contiguous arrays.
Everything else, and everything that cffi refuses, goes through :func:`_call`, which takes what can
be taken and names the argument to blame for the rest.
"""

from __future__ import annotations

import keyword
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .._errors import THNNArgumentError
from .._generator import Generator
from .._later import device_calls
from .._library import ffi, last_error, native
from .._overlap import overlaps_itself
from .._plain import MASKED, is_masked, is_ndarray, plain
from .._state import State
from .._tensor import (
    DTYPES,
    KINDS,
    Array,
    Tensor,
    array_address,
    dense_strides,
    is_on_device,
    kind_of_dtype,
)

__all__ = ["Argument", "Function", "check_ranges", "describe", "make", "refuse_tensor"]

_NULL = ffi.NULL
_CHARS = ffi.typeof("char[]")
_ADDRESS = ffi.typeof("void *")
_FIXED_KINDS = {"index": 2, "integer": 3}
_WRITTEN = ("out", "inout", "accumulate")
# What cffi and numpy raise for arguments that the common cases do not cover.
_REFUSED = (TypeError, ValueError, OverflowError, AttributeError, BufferError, KeyError)
_INT_BITS = {"int": 32, "int64": 64}


class Argument(NamedTuple):
    """An argument of a C function."""

    place: int
    name: str
    kind: str
    """state, generator, int, int64, double, bool; tensors: real, index, integer."""
    role: str
    """in, out, inout, accumulate, scratch; empty for what is not a tensor."""
    optional: bool

    @property
    def python_name(self) -> str:
        """The name with an underscore where Python has the word for itself: lambda_."""
        return f"{self.name}_" if keyword.iskeyword(self.name) else self.name

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
        places = {a.name: a.place for a in self.arguments}
        self.calls: tuple[Any, ...] = (
            getattr(native, f"call_THNN_Float{name}"),
            getattr(native, f"call_THNN_Double{name}"),
            None,  # a tensor of ints where a real one belongs: calling None is a TypeError
            None,
        )
        self.array_calls = {
            DTYPES[0]: getattr(native, f"arrays_THNN_Float{name}"),
            DTYPES[1]: getattr(native, f"arrays_THNN_Double{name}"),
        }
        self.inplace = inplace and (places["inplace"], places[inplace[0]], places[inplace[1]])
        reals = [a for a in self.arguments if a.kind == "real" and a.role != "scratch"]
        self.first_real = next(a for a in reals if not a.optional)
        # (index, kind of tensor or None for real, written, argument): what has to be passed
        self.tensors = tuple(
            (a.place, _FIXED_KINDS.get(a.kind), a.is_written, a)
            for a in self.arguments
            if a.is_tensor and a.role != "scratch"
        )
        self.scratch = tuple(a.place for a in self.arguments if a.role == "scratch")
        self.handles = tuple(a.place for a in self.arguments if a.kind in ("state", "generator"))

    def refuse(self, argument: Argument, wanted: str, found: str) -> THNNArgumentError:
        """The error about an argument."""
        return THNNArgumentError.expected(
            self.name, argument.place + 1, argument.name, wanted, found
        )


# ---- Scalars


def _as_int(function: Function, index: int, value: Any) -> int:
    argument = function.arguments[index]
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise function.refuse(argument, "an int", describe(value))
    try:
        return operator.index(value)
    except TypeError:
        raise function.refuse(argument, "an int", describe(value)) from None


def _as_float(function: Function, index: int, value: Any) -> float:
    argument = function.arguments[index]
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise function.refuse(argument, "a float", describe(value))
    try:
        return float(operator.index(value))
    except (TypeError, OverflowError):
        raise function.refuse(argument, "a float", describe(value)) from None


def _as_bool(function: Function, index: int, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise function.refuse(function.arguments[index], "True or False", describe(value))


# ---- What was found, in words


def describe(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        if value.closed:
            return "a closed Tensor"
        return f"a Tensor of {value.dtype}" + (f" on {value.device}" if value.is_cuda else "")
    if isinstance(value, (State, Generator)):
        name = type(value).__name__
        return f"a closed {name}" if value.closed else f"a {name}"
    if is_masked(value):
        return MASKED
    if is_ndarray(value):
        value = plain(value)
        order = "" if value.dtype.isnative else "byte-swapped "
        name = value.dtype.newbyteorder("=").name if value.dtype.fields is None else "structures"
        return f"an array of {order}{name}"
    if isinstance(value, (bool, int, float, str, np.number)):
        text = repr(value)
        return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"
    if hasattr(value, "__cuda_array_interface__"):
        return "an array on a CUDA device"
    return f"an object of type {type(value).__name__}"


def _wanted_tensor(function: Function, argument: Argument, kind: int | None) -> str:
    wanted = "float32 or float64" if kind is None else str(DTYPES[kind])
    text = f"a {wanted} array or Tensor"
    if kind is not None and argument.kind == "real":
        text += f", like '{function.first_real.name}'"
    return text + (", or None" if argument.optional else "")


def refuse_tensor(function: Function, argument: Argument, kind: int | None, value: Any) -> NoReturn:
    raise function.refuse(argument, _wanted_tensor(function, argument, kind), describe(value))


# ---- Which real type


def _real_kind(function: Function, value: Any) -> int:
    """0 for float, 1 for double, by the first real tensor."""
    argument = function.first_real
    if isinstance(value, Tensor):
        if value._kind > 1:
            refuse_tensor(function, argument, None, value)
        return value._kind
    if is_ndarray(value):
        kind = kind_of_dtype(plain(value).dtype)
        if kind is not None and kind.index <= 1:
            return kind.index
    refuse_tensor(function, argument, None, value)


# ---- Arrays as tensors for one call

# Layouts of contiguous arrays by shape: int64_t[] of nDimension, extent, sizes, strides.
_MOST_LAYOUTS = 4096
_LAYOUT = ffi.typeof("int64_t[]")


def _layout(shape: Sequence[int], strides: Sequence[int]) -> Any:
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
        layout = _layout(shape or (1,), dense_strides(shape or (1,)))
        self[shape] = layout
        return layout


_layouts = _Layouts()


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
        return self._place(kind, data, _layouts[array.shape], data)

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
        return self._place(kind, data, _layout(shape, strides), array)

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
            refuse_tensor(function, argument, kind, value)
        return value._c
    if not is_ndarray(value) or is_masked(value):
        refuse_tensor(function, argument, kind, value)
    value = plain(value)
    if value.dtype != DTYPES[kind]:
        refuse_tensor(function, argument, kind, value)
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


def _inplace_pair(function: Function, values: Sequence[Any]) -> tuple[int, int]:
    """In place: the argument that is worked on, and the one that need not be passed.

    When both are Tensors the C function makes one a view of the other. An array cannot become a
    view: it has to be one already, and then the same C tensor serves for both. -1 stands for none.
    """
    if function.inplace is None or not values[function.inplace[0]]:
        return -1, -1
    _, source, view = function.inplace
    worked_on, given = values[source], values[view]
    if isinstance(worked_on, Tensor) and isinstance(given, Tensor):
        return source, -1
    if given is not None and not _same_memory(worked_on, given):
        raise function.refuse(
            function.arguments[view],
            f"None or the same memory as '{function.arguments[source].name}'",
            "other memory",
        )
    return source, view


def _call(function: Function, values: list[Any]) -> int:
    """Calls with any arguments that can be taken; returns the C function's code."""
    if any(is_on_device(values[place]) for place, *_ in function.tensors):
        device_calls.call(function, values)
        return 0
    source, view = _inplace_pair(function, values)
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
        for index, fixed_kind, written, argument in function.tensors:
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
            code: int = function.calls[real](*values)
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


def check_ranges(function: Function, values: Sequence[Any]) -> None:
    """Raises when an int does not fit."""
    for argument in function.arguments:
        bits = _INT_BITS.get(argument.kind)
        value = values[argument.place]
        if bits and not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise function.refuse(argument, f"an int of {bits} bits", describe(value))


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
    every = ", ".join(a.python_name for a in function.arguments)
    checks = ""
    on_tensors, tensors = [], []  # conditions, C arguments
    on_arrays, arrays = [], []
    for a in function.arguments:
        name = a.python_name
        if a.kind in _EXACT:
            exact, convert = _EXACT[a.kind]
            checks += f"    if type({name}) is not {exact}:\n"
            checks += f"        {name} = {convert}(function, {a.place}, {name})\n"
        if a.role == "scratch":
            tensors.append("NULL")
        elif a.is_tensor:
            dtype = {"real": "dtype", "index": "int64", "integer": "int32"}[a.kind]
            is_tensor = f"type({name}) is Tensor"
            is_array = f"type({name}) is ndarray and {name}.dtype is {dtype}"
            tensor, data, layout = (
                f"{name}._c",
                f"from_buffer(chars, {name}, {a.is_written})",
                f"layouts[{name}.shape]",
            )
            if a.optional:
                is_tensor, is_array = (f"({name} is None or {t})" for t in (is_tensor, is_array))
                tensor, data, layout = (
                    f"NULL if {name} is None else {t}" for t in (tensor, data, layout)
                )
            on_tensors.append(is_tensor)
            on_arrays.append(is_array)
            tensors.append(tensor)
            arrays += [data, layout]
        else:
            handle = {"state": f"NULL if {name} is None else {name}._c", "generator": f"{name}._c"}
            tensors.append(handle.get(a.kind, name))
            arrays.append(handle.get(a.kind, name))
    if function.inplace is not None:
        on_arrays.append("not inplace")
    first = function.first_real.python_name
    return f"""\
def {function.name}({every}):
{checks}\
    try:
        if {" and ".join(on_tensors)}:
            code = on_tensors[{first}._kind]({", ".join(tensors)})
        else:
            dtype = {first}.dtype
            if {" and ".join(on_arrays)}:
                code = on_arrays[dtype]({", ".join(arrays)})
            else:
                code = MISALIGNED
    except refused:
        code = MISALIGNED
    if code:
        if code == MISALIGNED:
            code = call(function, [{every}])
        if code:
            raise last_error({function.name!r})
"""


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
        "MISALIGNED": native.PYTHNN_MISALIGNED,
        "NULL": _NULL,
        "Tensor": Tensor,
        "as_bool": _as_bool,
        "as_float": _as_float,
        "as_int": _as_int,
        "call": _call,
        "chars": _CHARS,
        "from_buffer": ffi.from_buffer,
        "function": function,
        "int32": DTYPES[3],
        "int64": DTYPES[2],
        "last_error": last_error,
        "layouts": _layouts,
        "ndarray": np.ndarray,
        "on_arrays": function.array_calls,
        "on_tensors": function.calls,
        "refused": _REFUSED,
    }
    exec(compile(_source(function), f"<pythnn.thnn.{name}>", "exec"), scope)  # noqa: S102
    made: Callable[..., None] = scope[name]
    made.__doc__ = doc
    made.__module__ = "pythnn.thnn"
    return made

"""What functions on arrays did for arguments of some types and sizes, to be done again at once.

A body that is called with :class:`Recorded` arrays computes nothing: what it allocates, the C
functions that it calls and the operations of numpy are written down in a :class:`Recording`.
``prepared.py`` makes a function of that. What cannot be written down raises Unrecordable; such a
body has to run each time.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .._library import ffi
from .._tensor import dense_strides
from .function import Function

if TYPE_CHECKING:
    from .._state import State

__all__ = [
    "Buffer",
    "EitherCall",
    "Kept",
    "NativeCall",
    "NumpyCall",
    "Recorded",
    "Recording",
    "Scalar",
    "StateAddress",
    "Unrecordable",
]


class Unrecordable(Exception):  # noqa: N818 - caught by what has asked for the recording
    """A body has done what cannot be done again without it."""


class Buffer:
    """Memory of an array: an argument's, a new array's or that of a constant."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], origin: str) -> None:
        self.shape, self.dtype, self.origin = shape, dtype, origin
        """The origin: "argument", "empty", "zeros", "numpy" or "constant"."""
        self.constant: Any = None
        self.may_write = origin not in ("argument", "constant")
        self.is_written = False
        self.is_known = True
        """Of an argument: whether all calls with the recording's key have its type and sizes."""
        self.home: tuple[Buffer, int] = self, 0
        """The memory that it is a part of, and where it begins there, in elements."""


class NativeCall(NamedTuple):
    """A call of C: the function's name and its arguments; arrays are tensors, None is NULL."""

    name: str
    arguments: tuple[Any, ...]


class NumpyCall(NamedTuple):
    """An operation of numpy; its result is a new buffer, or None where it writes to an array.

    Arrays of numpy among the arguments depend on types and sizes only.
    """

    operation: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    result: Buffer | None


class EitherCall(NamedTuple):
    """An operation with the same result either way."""

    native: NativeCall
    numpy: NumpyCall


class Scalar(NamedTuple):
    """The only element of an array, as a number of Python."""

    array: Recorded


class Kept:
    """A result that other functions take: arrays in an object of a subclass.

    A prepared function returns one that knows its form, which has recorded arrays, and the memory
    of these; what it consists of is made when it is asked for.
    """

    def __init__(self) -> None:
        self.form: Kept | None = None
        self.memory: Sequence[Any] = ()

    @abstractmethod
    def mapped(self, to: Callable[[Any], Any]) -> Kept:
        """The same with what `to` makes of each array, and of None."""

    @classmethod
    def of_memory(cls, form: Kept, *memory: Any) -> Kept:
        made = cls.__new__(cls)
        made.form, made.memory = form, memory
        return made

    def __getattr__(self, name: str) -> Any:
        form = self.__dict__.get("form")
        if form is None or name.startswith("__"):
            raise AttributeError(name)
        arrays = dict(zip(map(id, form.buffers), self.memory, strict=True))
        found = form.mapped(lambda a: a if a is None else a.array_in(arrays[id(a.home[0])]))
        self.__dict__ |= {n: v for n, v in vars(found).items() if n not in ("form", "memory")}
        return self.__dict__[name]

    @cached_property
    def buffers(self) -> list[Buffer]:
        """The memory of the arrays of a form."""
        found: dict[int, Buffer] = {}

        def note(array: Any) -> Any:
            if array is not None:
                buffer = array.home[0]
                found.setdefault(id(buffer), buffer)
            return array

        self.mapped(note)
        return list(found.values())

    def recorded(self, recording: Recording) -> tuple[Kept, list[Recorded]]:
        """The form with arguments of a recording in the place of its memory."""
        if self.form is None:
            raise Unrecordable("arrays that no prepared function has made")
        buffers = self.form.buffers
        whole = [recording.argument(buffer) for buffer in buffers]
        places = {id(buffer): one for buffer, one in zip(buffers, whole, strict=True)}

        def moved(array: Any) -> Any:
            if array is None:
                return None
            buffer, offset = array.home
            to = places[id(buffer)].buffer
            return Recorded(recording, to, offset, array.shape, array.strides)

        return self.form.mapped(moved), whole


class StateAddress(NamedTuple):
    """Where the state of a call is. That of the caller lives as long as he has it."""

    address: Any
    kept: State | None


class Recording:
    """Buffers, and what happens to them one after the other."""

    def __init__(self, state: State | None = None) -> None:
        """The function may be called with a state, which calls of C then get."""
        self.state = state
        self.buffers: list[Buffer] = []
        self.steps: list[NativeCall | NumpyCall | EitherCall] = []

    def argument(self, array: Any, *, written: bool = False, known: bool = True) -> Recorded:
        """In the place of an array that a function is called with."""
        buffer = self._buffer(array.shape, array.dtype, "argument")
        buffer.may_write, buffer.is_known = written, known
        return self._whole(buffer)

    def room(self, shape: Any, dtype: np.dtype[Any], *, zeros: bool = False) -> Recorded:
        """A new array."""
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        if any(size < 0 for size in sizes):
            raise Unrecordable("a size below 0")
        return self._whole(self._buffer(sizes, dtype, "zeros" if zeros else "empty"))

    def constant(self, array: Any) -> Recorded:
        """An array that depends on types and sizes of arguments only."""
        dense = np.array(array, order="C")
        buffer = self._buffer(dense.shape, dense.dtype, "constant")
        buffer.constant = dense
        return self._whole(buffer)

    def call(self, function: Function, values: Sequence[Any]) -> None:
        """A C function is called."""
        if function.inplace is not None and values[function.inplace.inplace]:
            raise Unrecordable("a function in place")
        real = values[function.first_real.place]
        arguments: list[Any] = []
        for argument, value in zip(function.arguments, values, strict=True):
            if argument.role == "scratch":
                arguments.append(None)
            elif argument.role and value is not None:
                written = argument.is_written
                written &= (function.name, argument.name) not in _WRITTEN_IN_TRAINING
                arguments.append(self._tensor(value, argument.kind, real, written))
            elif argument.kind == "state" and value is not None:
                arguments.append(self._state(value))
            elif argument.kind == "generator" and value is not None:
                raise Unrecordable("a generator")
            else:
                arguments.append(value)
        kind = _REALS.get(getattr(real, "dtype", None))
        if kind is None:
            raise Unrecordable("no real type")
        self.steps.append(NativeCall(f"THNN_{kind}{function.name}", tuple(arguments)))

    def _state(self, value: State) -> StateAddress:
        """The caller's state, or one that it has made for an algorithm."""
        if value is self.state:
            return StateAddress(ffi.cast("void *", value._open()), None)
        if self.state is None or value not in self.state._with.values():
            raise Unrecordable("a state of the function's own")
        return StateAddress(ffi.cast("void *", value._open()), value)

    def compute(
        self, operation: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Recorded:
        """An operation of numpy, with a result of its own, whose elements are one after the other.

        Where those of its arguments are not, numpy would make a result in their order.
        """
        if isinstance(operation, np.ufunc):
            options = options | _in_order(arguments)
        else:
            arguments = tuple([a.dense() if type(a) is Recorded else a for a in arguments])
        shape, dtype = _result(operation, arguments, options)
        buffer = self._buffer(shape, dtype, "numpy")
        self.steps.append(NumpyCall(operation, arguments, options, buffer))
        return self._whole(buffer)

    def arithmetic(
        self, ufunc: Any, inputs: tuple[Any, ...], to: Recorded | None = None
    ) -> Recorded:
        """An operation on elements, into an array or a new one, by numpy or by TH.

        Its loops take any strides, so numpy's are faster where elements are many.
        """
        arrays = [a for a in inputs if type(a) is Recorded]
        is_for_th = ufunc in _OF_TH and _are_for_th(inputs, arrays, to)
        call = self._by_th(ufunc, inputs) if is_for_th else None
        if call is None:
            if to is None:
                return self.compute(ufunc, inputs, {})
            self.change(ufunc, inputs, to)
            return to
        made = to
        if made is None:
            made = self.room(np.broadcast_shapes(*(a.shape for a in arrays)), arrays[0].dtype)
        name, *values = call
        stretched = [v.stretched(made.shape) if type(v) is Recorded else v for v in values]
        self.native(name, made, *stretched)
        native: Any = self.steps.pop()
        if to is None:
            by_numpy = NumpyCall(ufunc, inputs, _in_order(inputs), made.buffer)
        else:
            by_numpy = NumpyCall(ufunc, (*inputs, to), {}, None)
        self.steps.append(EitherCall(native, by_numpy))
        return made

    def _by_th(self, ufunc: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The operation of TH with the same results, and its arguments; None if there is none."""
        if ufunc is np.negative:
            return "mul", *inputs, -1
        one, other = inputs
        if type(one) is not Recorded and ufunc in (np.add, np.multiply):
            one, other = other, one
        dtype = (one if type(one) is Recorded else other).dtype
        if ufunc is np.divide and dtype not in _REALS:
            return None
        if type(one) is Recorded and type(other) is not Recorded:
            if ufunc is np.multiply:
                return "mul", one, other
            if ufunc is not np.divide:
                return "add", one, other if ufunc is np.add else -other
        name, *factor = _OF_TH[ufunc]
        both = [
            a if type(a) is Recorded else self.constant(np.asarray(a, dtype)) for a in (one, other)
        ]
        return name, both[0], *factor, both[1]

    def change(
        self, operation: Callable[..., Any], arguments: tuple[Any, ...], to: Recorded
    ) -> None:
        """An operation of numpy that writes to an array, which is its last argument."""
        _check_written(to)
        self.steps.append(NumpyCall(operation, (*arguments, to), {}, None))

    def copied(self, value: Recorded, to: Recorded) -> None:
        """Elements are copied, by TH or by numpy."""
        self.native("copy", to, value)
        native: Any = self.steps.pop()
        self.steps.append(EitherCall(native, NumpyCall(np.copyto, (to, value), {}, None)))

    def native(self, operation: str, to: Recorded, *values: Any) -> None:
        """An operation of TH on tensors of one type."""
        _check_written(to)
        self.steps.append(NativeCall(f"TH{_TYPES[to.dtype]}Tensor_{operation}", (to, *values)))

    def _tensor(self, value: Any, kind: str, real: Any, written: bool) -> Recorded:
        if type(value) is np.ndarray and not written:
            value = self.constant(value)
        wanted = {"index": np.int64, "integer": np.int32}.get(kind) or real.dtype
        if type(value) is not Recorded or value.dtype != wanted:
            raise Unrecordable("an argument that the C function does not take as it is")
        if min(value.strides, default=0) < 0:
            raise Unrecordable("elements in reverse, which C does not take")
        if written:
            _check_written(value)
        return value

    def _buffer(self, shape: tuple[int, ...], dtype: np.dtype[Any], origin: str) -> Buffer:
        self.buffers.append(Buffer(shape, dtype, origin))
        return self.buffers[-1]

    def _whole(self, buffer: Buffer) -> Recorded:
        return Recorded(self, buffer, 0, buffer.shape, dense_strides(buffer.shape))


_WRITTEN_IN_TRAINING = {("IndexLinear_updateOutput", "weight")}
"""Arguments that are written to in training alone, which is for modules."""
_FEW = 512
"""Elements: TH's loop over them takes less than a call of numpy, about 0.4 us."""
_OF_TH: dict[Any, tuple[Any, ...]] = {
    np.add: ("cadd", 1.0),
    np.subtract: ("cadd", -1.0),
    np.multiply: ("cmul",),
    np.divide: ("cdiv",),
    np.negative: ("mul",),
}
"""Operations of TH with the same results; of two arrays, with the factor of the second one."""
_TYPES = {np.dtype(t): n for t, n in (("f4", "Float"), ("f8", "Double"), ("i8", "Long"))}
_REALS = {np.dtype("f4"): "Float", np.dtype("f8"): "Double"}


def _are_for_th(inputs: tuple[Any, ...], arrays: list[Any], to: Any) -> bool:
    """Whether operands are arrays of one type and numbers that take it, and few elements."""
    every = arrays if to is None else [*arrays, to]
    dtype = every[0].dtype
    if dtype not in _TYPES or any(a.dtype != dtype for a in every):
        return False
    if not all(type(a) is Recorded or _is_number(a, dtype) for a in inputs):
        return False
    if to is not None and any(to.buffer is a.buffer and a is not to for a in arrays):
        return False  # their elements may overlap
    shape = np.broadcast_shapes(*(a.shape for a in every))
    strides = [stride for a in every for stride in a.strides]
    return bool(shape) and 0 < math.prod(shape) <= _FEW and min(strides) >= 0


def _in_order(arguments: tuple[Any, ...]) -> dict[str, Any]:
    """The option of a function on elements that makes a result like an array of its own."""
    is_dense = all(a.is_dense for a in arguments if type(a) is Recorded)
    return {} if is_dense else {"order": "C"}


def _is_number(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether numpy takes a number for one of an array's type."""
    kinds = (int,) if dtype.kind == "i" else (int, float)
    return type(value) in kinds or (isinstance(value, np.generic) and value.dtype == dtype)


def _check_written(array: Recorded) -> None:
    if not array.buffer.may_write:
        raise Unrecordable("writes to what must not change")
    array.buffer.is_written = True


def _result(
    operation: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of what an operation makes of arrays like these."""
    ones = [
        np.broadcast_to(np.ones((), a.dtype), a.shape) if type(a) is Recorded else a
        for a in arguments
    ]
    found = operation(*ones, **options)
    return found.shape, found.dtype


class Recorded(NDArrayOperatorsMixin):
    """In the place of an array: its type, and where in a buffer its elements are."""

    __slots__ = ("buffer", "dtype", "offset", "recording", "shape", "strides")

    def __init__(
        self,
        recording: Recording,
        buffer: Buffer,
        offset: int,
        shape: tuple[int, ...],
        strides: Sequence[int],
    ) -> None:
        self.recording, self.buffer, self.offset = recording, buffer, offset
        self.shape, self.strides, self.dtype = shape, tuple(strides), buffer.dtype
        """Offset and strides count elements."""

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_dense(self) -> bool:
        """Whether the elements are one after the other."""
        dense = dense_strides(self.shape)
        each = zip(self.shape, self.strides, dense, strict=True)
        return all(size == 1 or stride == one for size, stride, one in each)

    @property
    def is_whole(self) -> bool:
        """Whether it is its buffer, with the same shape."""
        return self.shape == self.buffer.shape and self.is_dense

    @property
    def home(self) -> tuple[Buffer, int]:
        """The memory that holds the elements, and where the first is in it."""
        memory, start = self.buffer.home
        return memory, start + self.offset

    def array_in(self, memory: Any) -> Any:
        """The array in the memory that a prepared function has used."""
        item = self.dtype.itemsize
        strides = [stride * item for stride in self.strides]
        return np.ndarray(self.shape, self.dtype, memory, self.home[1] * item, strides)

    def __len__(self) -> int:
        return self.shape[0]

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise Unrecordable("elements are looked at")

    __bool__ = __iter__ = __float__ = __int__ = __index__ = __array__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    # ---- Views

    def _view(self, offset: int, shape: Sequence[int], strides: Sequence[int]) -> Recorded:
        return Recorded(self.recording, self.buffer, offset, tuple(shape), strides)

    def reshape(self, *shape: Any) -> Recorded:
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if not self.is_dense:
            return self.copy().reshape(sizes)
        found = np.broadcast_to(np.empty((), np.int8), self.shape).size
        known = math.prod(size for size in sizes if size != -1)
        full = tuple(found // max(known, 1) if size == -1 else int(size) for size in sizes)
        if math.prod(full) != found:
            raise Unrecordable("another number of elements")
        return self._view(self.offset, full, dense_strides(full))

    def transpose(self, *axes: Any) -> Recorded:
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        each = order or range(self.ndim)[::-1]
        shape, strides = [self.shape[i] for i in each], [self.strides[i] for i in each]
        return self._view(self.offset, shape, strides)

    def stretched(self, shape: tuple[int, ...]) -> Recorded:
        """The array broadcast to a shape."""
        each = zip(self.shape, self.strides, strict=True)
        strides = [0 if size == 1 else stride for size, stride in each]
        return self._view(self.offset, shape, [0] * (len(shape) - self.ndim) + strides)

    def swapaxes(self, first: int, second: int) -> Recorded:
        order = list(range(self.ndim))
        order[first], order[second] = order[second], order[first]
        return self.transpose(order)

    @property
    def T(self) -> Recorded:  # noqa: N802 - numpy's name
        return self.transpose()

    def ravel(self) -> Recorded:
        return self.reshape(-1)

    def __getitem__(self, index: Any) -> Recorded:
        entries = index if isinstance(index, tuple) else (index,)
        if not all(e is None or e is ... or type(e) in (int, slice) for e in entries):
            raise Unrecordable("an index other than of ints and slices")
        # A view of numpy over no memory says where the elements are.
        item = self.dtype.itemsize
        base = np.lib.stride_tricks.as_strided(
            np.empty(1, self.dtype), self.shape, [stride * item for stride in self.strides]
        )
        view = base[entries if ... in entries else (*entries, ...)]
        moved = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        strides = [stride // item for stride in view.strides]
        return self._view(self.offset + moved // item, view.shape, strides)

    def __setitem__(self, index: Any, value: Any) -> None:
        to = self[index]
        if not isinstance(value, Recorded):
            to.fill(value)
        elif value.buffer is to.buffer and value.offset == to.offset and value.shape == to.shape:
            return  # the result of an operation in place
        elif value.shape == to.shape and min(value.strides, default=0) >= 0:
            self.recording.copied(value, to)
        else:
            self.recording.change(np.positive, (value,), to)

    def fill(self, value: Any) -> None:
        if np.ndim(value) or self.dtype not in _REALS:
            raise Unrecordable("other values than one number")
        self.recording.native("fill", self, float(value))

    # ---- Values

    def copy(self) -> Recorded:
        made = self.recording.room(self.shape, self.dtype)
        made[...] = self
        return made

    def dense(self) -> Recorded:
        """The array itself if its elements are one after the other, else a copy."""
        return self if self.is_dense else self.copy()

    def astype(self, dtype: Any, *, copy: bool = True) -> Recorded:
        if np.dtype(dtype) != self.dtype:
            return self.recording.compute(np.ndarray.astype, (self, np.dtype(dtype)), {})
        return self.copy() if copy else self

    def cumsum(self) -> Recorded:
        return self.recording.compute(np.cumsum, (self,), {})

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Recorded:
        return self._reduced(np.add, axis, keepdims=keepdims)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Recorded:
        return self._reduced(np.maximum, axis, keepdims=keepdims)

    def _reduced(self, ufunc: Any, axis: Any, *, keepdims: bool) -> Recorded:
        options = {"axis": axis, "keepdims": keepdims}
        found = self.recording.compute(ufunc.reduce, (self,), options)
        if not found.shape:
            raise Unrecordable("a number in the place of an array")
        return found

    def take(self, indices: Any, axis: Any = None) -> Recorded:
        return self.recording.compute(np.ndarray.take, (self, indices), {"axis": axis})

    def item(self) -> Any:
        return Scalar(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Recorded:
        out = options.pop("out", None)
        if method != "__call__" or options:
            raise Unrecordable("an operation of numpy with options")
        if out is None:
            return self.recording.arithmetic(ufunc, inputs)
        (to,) = out
        if type(to) is not Recorded:
            raise Unrecordable("writes to an array that is not recorded")
        return self.recording.arithmetic(ufunc, inputs, to)

    def __array_function__(self, function: Any, _: Any, given: Any, options: Any) -> Recorded:
        if function is np.concatenate and set(options) == {"axis"}:
            return self._joined(*given, **options)
        if function is np.stack and set(options) == {"axis"}:
            (arrays,), axis = given, options["axis"]
            index = (slice(None),) * axis + (None,)
            return self[index]._joined([array[index] for array in arrays], axis)
        if function is np.moveaxis:
            _, start, end = given
            order = list(range(self.ndim))
            order.insert(range(self.ndim)[end], order.pop(start))
            return self.transpose(order)
        if function in (np.where, np.pad, np.clip):
            return self.recording.compute(function, given, options)
        raise Unrecordable(f"numpy.{function.__name__}")

    def _joined(self, arrays: Sequence[Recorded], axis: int) -> Recorded:
        shape, start = list(self.shape), 0
        shape[axis] = sum(array.shape[axis] for array in arrays)
        made = self.recording.room(shape, self.dtype)
        for array in arrays:
            end = start + array.shape[axis]
            made[(slice(None),) * axis + (slice(start, end),)] = array
            start = end
        return made

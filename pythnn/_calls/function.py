"""The functions of the C library, and what is said about arguments that they do not take."""

from __future__ import annotations

import keyword
import operator
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._errors import THNNArgumentError
from .._generator import Generator
from .._library import native
from .._plain import MASKED, is_masked, is_ndarray, plain
from .._state import State
from .._table import FUNCTIONS
from .._tensor import DTYPES, Tensor

__all__ = [
    "Argument",
    "Function",
    "as_bool",
    "as_float",
    "as_int",
    "check_ranges",
    "describe",
    "refuse_tensor",
]

FIXED_KINDS = {"index": 2, "integer": 3}
"""Element types of the kinds of tensors that are not real."""
_WRITTEN = ("out", "inout", "accumulate")
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


class Passed(NamedTuple):
    """A tensor that a call has to pass."""

    argument: Argument
    kind: int | None
    """The element type, as in DTYPES; None for that of the first real tensor."""
    written: bool


class InPlace(NamedTuple):
    """The places of the arguments of a function that may work in place."""

    inplace: int
    worked_on: int
    view: int
    """Of the tensor that becomes a view of the one worked on."""


class _NotYetFound:
    """In the place of a function's C functions, until the first of them is called."""

    def __init__(self, find: Callable[[], Any]) -> None:
        self._find = find

    def __getitem__(self, key: Any) -> Any:
        return self._find()[key]


class Function:
    """A C function in both real types, as the header describes it.

    All but the name is found when it is first asked for: of most functions that is never.
    """

    on_tensors: Any
    """The C functions on tensors, by the element type of the first real one."""
    on_arrays: Any
    """The C functions on contiguous arrays, by the dtype of the first real one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.on_tensors = _NotYetFound(self._find_on_tensors)
        self.on_arrays = _NotYetFound(self._find_on_arrays)

    def _find_on_tensors(self) -> tuple[Any, ...]:
        self.on_tensors = (
            getattr(native, f"call_THNN_Float{self.name}"),
            getattr(native, f"call_THNN_Double{self.name}"),
            None,  # a tensor of ints where a real one belongs: calling None is a TypeError
            None,
        )
        found: tuple[Any, ...] = self.on_tensors
        return found

    def _find_on_arrays(self) -> dict[np.dtype[Any], Any]:
        self.on_arrays = {
            DTYPES[0]: getattr(native, f"arrays_THNN_Float{self.name}"),
            DTYPES[1]: getattr(native, f"arrays_THNN_Double{self.name}"),
        }
        found: dict[np.dtype[Any], Any] = self.on_arrays
        return found

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        return tuple(Argument(i, *fields) for i, fields in enumerate(FUNCTIONS[self.name][0]))

    @cached_property
    def first_real(self) -> Argument:
        """The tensor whose type decides for all real ones."""
        return next(a for a in self.arguments if a.kind == "real" and not a.optional)

    @cached_property
    def inplace(self) -> InPlace | None:
        inplace = FUNCTIONS[self.name][1]
        places = {a.name: a.place for a in self.arguments}
        return inplace and InPlace(places["inplace"], *(places[name] for name in inplace))

    @cached_property
    def passed(self) -> tuple[Passed, ...]:
        """The tensors, but for scratch."""
        tensors = (a for a in self.arguments if a.is_tensor and a.role != "scratch")
        return tuple(Passed(a, FIXED_KINDS.get(a.kind), a.is_written) for a in tensors)

    @cached_property
    def scratch(self) -> tuple[int, ...]:
        """The places of scratch tensors."""
        return tuple(a.place for a in self.arguments if a.role == "scratch")

    @cached_property
    def handles(self) -> tuple[int, ...]:
        """The places of a state and of a generator."""
        return tuple(a.place for a in self.arguments if a.kind in ("state", "generator"))

    def refuse(self, argument: Argument, wanted: str, found: str) -> THNNArgumentError:
        """The error about an argument."""
        return THNNArgumentError.expected(
            self.name, argument.place + 1, argument.name, wanted, found
        )


# ---- Scalars


def as_int(function: Function, index: int, value: Any) -> int:
    argument = function.arguments[index]
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise function.refuse(argument, "an int", describe(value))
    try:
        return operator.index(value)
    except TypeError:
        raise function.refuse(argument, "an int", describe(value)) from None


def as_float(function: Function, index: int, value: Any) -> float:
    if isinstance(value, (float, np.floating)):
        return float(value)
    argument = function.arguments[index]
    if type(value) is not int and (
        isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__")
    ):
        raise function.refuse(argument, "a float", describe(value))
    try:
        return float(operator.index(value))
    except (TypeError, OverflowError):
        raise function.refuse(argument, "a float", describe(value)) from None


def as_bool(function: Function, index: int, value: Any) -> bool:
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


def refuse_tensor(
    function: Function, argument: Argument, kind: int | None, value: Any
) -> THNNArgumentError:
    """The error about an argument that is not the tensor it should be."""
    return function.refuse(argument, _wanted_tensor(function, argument, kind), describe(value))


def check_ranges(function: Function, values: Sequence[Any]) -> None:
    """Raises when an int does not fit."""
    for argument in function.arguments:
        bits = _INT_BITS.get(argument.kind)
        value = values[argument.place]
        if bits and not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise function.refuse(argument, f"an int of {bits} bits", describe(value))

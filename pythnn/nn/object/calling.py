"""What happens around the methods of a class: arguments and results that take their form."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..._errors import THNNArgumentError, THNNError
from ..._tensor import Tensor
from .arguments import Arguments
from .blame import blamed
from .values import describe, holds, to_arrays, to_tensors

__all__ = ["BEING_MADE", "EXCHANGING", "SILENT", "checked_arguments", "exchanging"]

EXCHANGING = (
    "accGradParameters",
    "accUpdateGradParameters",
    "backward",
    "backwardUpdate",
    "defaultAccUpdateGradParameters",
    "forward",
    "sharedAccUpdateGradParameters",
    "updateGradInput",
    "updateOutput",
)


_BACKWARD = set(EXCHANGING) - {"forward", "updateOutput"}

SILENT = "_dontBackward"
"""A field of modules whose backward calls do nothing."""

BEING_MADE = "_being_made"
"""A field that objects have while their constructor runs."""

_AS_THEY_ARE = {Tensor, bool, float, int}


# What layers of the package raise, by themselves or through numpy, for inputs of another kind.
_UNFIT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def exchanging(method: Callable[..., Any], kernel: bool, known: bool) -> Callable[..., Any]:
    """A method that is given what it wants, Tensors or arrays, and answers as it is asked.

    A caller who passes Tensors gets Tensors; all others get arrays. What a `known` class, one of
    the package, cannot work on is a THNNArgumentError.
    """
    convert = to_tensors if kernel else to_arrays
    may_be_silent = method.__name__ in _BACKWARD

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if may_be_silent and SILENT in self.__dict__:
            return None
        try:
            if kernel and arguments and not named:
                if len(arguments) == 1 and type(arguments[0]) is Tensor:
                    return method(self, arguments[0])
                values = _between_modules(arguments)
                if values is not None:
                    result = method(self, *values)
                    is_ready = type(values[0]) is Tensor or type(result) is Tensor
                    return result if is_ready else self._as_tensors(result)
            return work(self, arguments, named)
        except RecursionError:
            raise THNNError(
                f"{self.typename()}: modules are nested deeper than Python's calls can be, or one "
                "is inside itself"
            ) from None
        except _UNFIT as error:
            if _is_of_others(error, known) and not isinstance(error, THNNError):
                raise
            better = blamed(self, arguments, error) if known else None
            if better is not None:
                raise better from error
            if known and isinstance(error, THNNArgumentError):
                _name(error, self)
            if isinstance(error, THNNError):
                raise
            given = [*arguments, *named.values()]
            raise _unfit(self, method.__name__, given, error) from error

    def work(self: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        with_tensors = holds(arguments, Tensor) or holds(named, Tensor)
        named = convert(named) if named else named
        result = method(self, *map(convert, arguments), **named)
        return self._as_tensors(result) if with_tensors else to_arrays(result)

    return call


def _between_modules(arguments: tuple[Any, ...]) -> Sequence[Any] | None:
    """Arguments of which none has to be converted, the first a Tensor or a table of Tensors.

    They are those of most calls between modules. Tables are copied. None for other arguments.
    """
    first = type(arguments[0])
    if first is not Tensor and not (first is list and _is_of_tensors(arguments[0])):
        return None
    values: Sequence[Any] = arguments
    for place, value in enumerate(arguments):
        kind = type(value)
        if kind in _AS_THEY_ARE:
            continue
        if kind is not list or not _is_of_tensors(value):
            return None
        if values is arguments:
            values = list(arguments)
        values[place] = value.copy()  # type: ignore[index]
    return values


def _is_of_tensors(table: list[Any]) -> bool:
    """Whether a table has entries and these are Tensors, all of them."""
    for entry in table:
        if type(entry) is not Tensor:
            return False
    return bool(table)


def _name(error: THNNArgumentError, layer: Any) -> None:
    """Says in an error of a Tensor's method which layer called it."""
    if error.function is None or error.function.startswith(("Tensor.", "TH")):
        error.function = layer.typename()
        error.args = (f"{error.function}: {error.args[0]}", *error.args[1:])


def _is_of_others(error: Exception, known: bool) -> bool:
    """Whether an error comes out of a class of a user's: nobody else is to be blamed for it.

    It is marked where it leaves a method of such a class; `known` ones of the package look. Those
    of objects whose class nobody knows are marked by what they are.
    """
    if not known:
        error.__dict__["is_of_others"] = True
    return bool(getattr(error, "is_of_others", False))


def _unfit(layer: Any, method: str, arguments: list[Any], error: Exception) -> THNNArgumentError:
    found = describe(arguments[0]) if arguments else "nothing"
    cause = f"{type(error).__name__}: {error}"
    return THNNArgumentError.expected(
        layer.typename(), 1, "input", f"what {method} can work on", f"{found} ({cause})"
    )


def checked_arguments(init: Callable[..., None], known: bool) -> Callable[..., None]:
    """A constructor that refuses what does not fit; None, Lua's nil, means the default.

    Its errors name the class.
    """
    arguments = Arguments(init, known)

    @functools.wraps(init)
    def construct(self: Any, *given: Any, **named: Any) -> None:
        bound = arguments.bind(self, given, named)
        is_first = BEING_MADE not in self.__dict__
        self.__dict__[BEING_MADE] = True
        try:
            init(*bound.args, **bound.kwargs)
        except THNNArgumentError as error:
            _name(error, self)
            raise
        except _UNFIT as error:
            if _is_of_others(error, known) or isinstance(error, THNNError):
                raise
            cause = f"{type(error).__name__}: {error}"
            given_text = ", ".join(describe(value) for value in bound.args[1:]) or "none"
            raise THNNArgumentError(
                f"{self.typename()}: expected arguments that fit, found {given_text} ({cause})",
                function=self.typename(),
            ) from error
        finally:
            if is_first:
                del self.__dict__[BEING_MADE]

    return construct

"""What constructors and ``add`` accept: checks made from the types that signatures name.

Names of arguments are Lua's, and mean the same in every class: bounds go by them.
"""

from __future__ import annotations

import inspect
import math
import numbers
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor, is_on_device
from .registry import registry
from .values import LongStorage, describe

__all__ = ["Arguments", "check_instance"]

_AT_LEAST_1 = frozenset(
    {"dH", "dT", "dW", "dilationH", "dilationT", "dilationW", "kH", "kT", "kW", "stride", "width"}
    | {"H", "W", "iH", "iW", "poolSizeH", "poolSizeT", "poolSizeW", "upscaleFactor"}
    | {"inputChannels", "inputFrameSize", "inputSize", "inputSize1", "inputSize2", "inputsize"}
    | {"nIndex", "nInputPlane", "nOutput", "nOutputPlane", "outputFrameSize", "outputSize"}
    | {"k", "maxoutNumber", "outputsize", "minK", "nClasses", "nf", "print_interval"}
)
"""Sizes, strides and numbers of things; 0 where that is the default."""
_AT_LEAST_0 = frozenset(
    {"eps", "maxNorm", "nInputDim", "nInputDims", "nOutputDim", "numInputDims", "size", "std"}
)
_FROM_1 = {
    **dict.fromkeys(("dim", "dimension", "inputDimension", "outputDimension", "pos"), "dimension"),
    **dict.fromkeys(("index", "offset"), "place"),
}
"""Dimensions and places count from 1, and from -1 backwards."""


class _Unfit(Exception):
    """What was wanted in place of a value."""


def check_instance(function: str, position: int, name: str, value: Any, kind: type) -> None:
    """Raises unless a value is an object of a class, such as a module that ``add`` is given."""
    if isinstance(value, kind):
        return
    found = describe(value)
    if isinstance(value, type):
        found = f"the class {value.__name__} itself: call it, as in nn.{value.__name__}(…)"
    raise THNNArgumentError.expected(function, position, name, _article(kind.__name__), found)


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _int(parameter: inspect.Parameter) -> Callable[[Any], Any]:
    name, least = parameter.name, None
    wanted = "an int"
    if name in _AT_LEAST_1 or name in _AT_LEAST_0:
        least = 0 if parameter.default == 0 or name in _AT_LEAST_0 else 1
        wanted = f"an int of at least {least}"
    if name in _FROM_1:
        wanted = f"a {_FROM_1[name]}, counted from 1 or, from the last one, from -1"

    def check(value: Any) -> int:
        if isinstance(value, (float, np.floating)) and math.isfinite(value) and value % 1 == 0:
            value = int(value)  # all numbers of Lua are floats
        if isinstance(value, (bool, np.bool_)):
            raise _Unfit(wanted)
        try:
            found = operator.index(value)
        except TypeError:
            raise _Unfit(wanted) from None
        if (least is not None and found < least) or (found == 0 and name in _FROM_1):
            raise _Unfit(wanted)
        return found

    return check


def _float(parameter: inspect.Parameter) -> Callable[[Any], Any]:
    at_least_0 = parameter.name in _AT_LEAST_0
    wanted = "a number of at least 0" if at_least_0 else "a number"

    def check(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
        if not is_number or math.isnan(value) or (at_least_0 and value < 0):
            raise _Unfit(wanted)
        return value

    return check


def _as_bool(value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise _Unfit("True or False")
    return bool(value)


def _as_str(value: Any) -> str:
    if not isinstance(value, str):
        raise _Unfit("a str")
    return value


def _as_numbers(value: Any) -> Any:
    """Numbers in an array or a list, as they are."""
    if isinstance(value, Tensor) or is_on_device(value):
        return value
    try:
        array = np.asarray(value)
    except (ValueError, Warning):  # rows of different lengths, of which old numpy warns
        raise _Unfit("an array of numbers") from None
    if array.dtype.kind not in "fiu" or np.isnan(array).any():
        raise _Unfit("an array of numbers")
    return value


def _ints(parameter: inspect.Parameter) -> Callable[[Any], Any]:
    """Ints in a list or an array, each as one alone would have to be."""
    one = _int(parameter)

    def check(value: Any) -> list[int]:
        is_list = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
        if is_list or (isinstance(value, np.ndarray) and value.ndim):
            return LongStorage(map(one, value))
        raise _Unfit("a list of ints")

    return check


_BY_TYPE: dict[str, Callable[[inspect.Parameter], Callable[[Any], Any]]] = {
    "ArrayLike": lambda _: _as_numbers,
    "Sequence[int]": _ints,
    "bool": lambda _: _as_bool,
    "float": _float,
    "int": _int,
    "str": lambda _: _as_str,
}
_OF_CLASSES = ("Criterion", "Module", "SpatialMaxPooling", "VolumetricMaxPooling")


class Arguments:
    """The arguments of a constructor: their defaults, and what they have to be.

    A type that the checks do not know, such as Any, takes everything; so do the constructors of
    users' classes, which are not `known`.
    """

    def __init__(self, init: Callable[..., None], known: bool) -> None:
        self.signature = inspect.signature(init)
        self.parameters = list(self.signature.parameters.values())[1:]
        self.checks: dict[str, list[Callable[[Any], Any]]] = {}
        self.classes: dict[str, list[str]] = {}
        for parameter in self.parameters if known else ():
            kinds = [kind for kind in str(parameter.annotation).split(" | ") if kind != "None"]
            if all(kind in _BY_TYPE or kind in _OF_CLASSES for kind in kinds):
                made = [_BY_TYPE[kind](parameter) for kind in kinds if kind in _BY_TYPE]
                self.checks[parameter.name] = made
                self.classes[parameter.name] = [k for k in kinds if k in _OF_CLASSES]

    def bind(self, owner: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The arguments as the constructor takes them; None, Lua's nil, becomes the default."""
        try:
            bound = self.signature.bind(owner, *given, **named)
        except TypeError as error:
            text = ", ".join(str(p).split(":")[0] + _default(p) for p in self.parameters)
            raise TypeError(f"{owner.typename()}({text}): {error}") from None
        for position, parameter in enumerate(self.parameters, 1):
            name = parameter.name
            if name not in bound.arguments:
                continue
            value = bound.arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                checked = (
                    self._checked(owner, position + i, parameter, entry)
                    for i, entry in enumerate(value)
                )
                bound.arguments[name] = tuple(checked)
            elif value is None and parameter.default is not parameter.empty:
                bound.arguments[name] = parameter.default
            else:
                bound.arguments[name] = self._checked(owner, position, parameter, value)
        return bound

    def _checked(self, owner: Any, position: int, parameter: inspect.Parameter, value: Any) -> Any:
        name = parameter.name
        if name not in self.checks:
            return value
        of_classes = self._classes(name)
        if any(isinstance(value, kind) for kind in of_classes):
            return value
        wanted = []
        for check in self.checks[name]:
            try:
                return check(value)
            except _Unfit as unfit:
                wanted.append(str(unfit))
        if of_classes and not wanted:
            check_instance(owner.typename(), position, name, value, of_classes[0])
        wanted += [_article(kind.__name__) for kind in of_classes]
        raise THNNArgumentError.expected(
            owner.typename(), position, name, " or ".join(wanted), describe(value)
        )

    def _classes(self, name: str) -> list[type]:
        """The classes that an argument may be of; they exist only when nn is imported."""
        return [registry[f"nn.{kind}"] for kind in self.classes[name]]


def _default(parameter: inspect.Parameter) -> str:
    return "" if parameter.default is parameter.empty else f"={parameter.default!r}"

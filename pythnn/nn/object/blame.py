"""Errors that blame what the caller got wrong: the input's type, size or missing batch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from .values import is_array

__all__ = ["blamed"]

_OF_ITS_TYPE = "like 'input'"  # in messages about a tensor that has not the input's type
_ANY_REAL = "float32 or float64"
_DIMENSIONS = re.compile(r"expected (?:a non-empty )?(\d)(?:D| or \d dimensions| dimensions)")
_LAYOUT = re.compile(r"expected (batch x [^,[]+), found")


def blamed(layer: Any, arguments: Sequence[Any], error: Exception) -> Exception | None:
    """A better error about a call of one of a layer's methods, or None.

    The C functions take the input's type for what is meant, and blame the parameters.
    """
    if not arguments or error.__dict__.get("is_blamed"):
        return None
    given = _arrays_in(arguments[0])
    better = (
        _of_whole_numbers(layer, given, error)
        or _of_another_type(layer, given, error)
        or _without_batch(arguments[0], error)
    )
    if better is not None:
        better.__dict__["is_blamed"] = True
    return better


def _arrays_in(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [array for entry in value for array in _arrays_in(entry)]
    return [value] if isinstance(value, Tensor) or is_array(value) else []


def _own_dtype(layer: Any) -> np.dtype[Any] | None:
    """The type of a layer's parameters or of a criterion's weights; None without any."""
    names = [name for name, _ in getattr(layer, "parameterFields", ())]
    for name in (*names, "running_mean", "weights"):
        tensor = layer.field(name)
        if isinstance(tensor, Tensor):
            return tensor.dtype
    return None


def _expected(layer: Any, wanted: str, found: str) -> THNNArgumentError:
    return THNNArgumentError.expected(layer.typename(), 1, "input", wanted, found)


def _of_whole_numbers(layer: Any, given: list[Any], error: Exception) -> Exception | None:
    """Images of uint8, say, for weights that are float."""
    others = [array.dtype for array in given if array.dtype not in (np.float32, np.float64)]
    by_type = isinstance(error, AttributeError) or _ANY_REAL in str(error) or "dtype" in str(error)
    if not others or not by_type:
        return None
    other = others[0]
    dtype = _own_dtype(layer) or np.dtype(np.float32)
    scale = ", scaled as in training" if other.kind in "iu" else ""
    found = f"{other}; give input.astype(np.{dtype}){scale}"
    return _expected(layer, f"{dtype} numbers", found)


def _of_another_type(layer: Any, given: list[Any], error: Exception) -> Exception | None:
    """An input of float32 for a module of float64, or the reverse."""
    if not isinstance(error, THNNArgumentError) or _OF_ITS_TYPE not in str(error):
        return None
    own = _own_dtype(layer)
    found = given[0].dtype if given else None
    if own is not None and found is not None and own != found:
        convert = "float" if found == np.float32 else "double"
        return _expected(
            layer,
            f"{own}, as the module is",
            f"{found}; convert the module with .{convert}(), or give input.astype(np.{own})",
        )
    if error.argument in ("gradOutput", "target"):
        text = f"{error.args[0]}; give {error.argument}.astype(np.{found})"
        return THNNArgumentError(
            text, function=error.function, argument=error.argument, position=error.position
        )
    return None


def _without_batch(given: Any, error: Exception) -> Exception | None:
    """An input that lacks its first dimension."""
    if not isinstance(error, THNNArgumentError) or error.argument != "input":
        return None
    dimensions, layout = _DIMENSIONS.search(str(error)), _LAYOUT.search(str(error))
    if dimensions is not None:
        wanted = int(dimensions[1])
    elif layout is not None:
        wanted = layout[1].count(" x ") + 1
    else:
        return None
    if getattr(given, "ndim", wanted) != wanted - 1:
        return None
    text = f"{error.args[0]}; a dimension is missing, that of the batch perhaps: give input[None]"
    return THNNArgumentError(
        text, function=error.function, argument=error.argument, position=error.position
    )

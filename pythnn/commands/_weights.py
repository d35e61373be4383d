"""The arrays of a value of a file under names that say where they are: 3.1.weight."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from .. import nn, t7
from .._models.errors import items_of
from .._models.rows import class_of
from .._tensor import Tensor

__all__ = ["weights_in", "write_npz"]

_STATISTICS = ("running_mean", "running_var")


def weights_in(value: Any) -> tuple[dict[str, np.ndarray[Any, Any]], set[str]]:
    """Arrays by their names, and the classes that pythnn does not know.

    Of a module these are its parameters and running statistics, by their fields, after the numbers
    of the modules that it is in. Of an object of an unknown class they are all arrays but those
    that a call computes; of a table all, by their keys. What is in several places is named once.
    """
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    unknown: set[str] = set()
    pending: list[tuple[str, Any]] = [("", value)]
    seen: set[int] = set()
    while pending:
        place, item = pending.pop()
        if isinstance(item, (Tensor, np.ndarray, t7.TorchStorage)):
            arrays[place or "value"] = np.asarray(item)
            continue
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, t7.TorchObject) and item.torch_class not in nn.registry:
            unknown.add(class_of(item))
        inside = [(f"{place}.{name}" if place else name, one) for name, one in _inside(item)]
        pending += reversed(inside)
    return arrays, unknown


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    """What is worth keeping in a value, with its key, field or number."""
    if isinstance(value, t7.TorchObject):
        yield from _of_unknown(value)
    elif isinstance(value, nn.Module):
        for name in (*(name for name, _ in value.parameterFields), *_STATISTICS):
            if value.field(name) is not None:
                yield name, value.field(name)
        yield from items_of(list(value.__dict__.get("modules") or []))
    elif not isinstance(value, nn.Object):
        yield from items_of(value)


def _of_unknown(value: Any) -> Iterator[tuple[str, Any]]:
    for name, field in items_of(value.fields):
        computed = name in ("output", "gradInput") or name.startswith("grad")
        if name == "modules":
            yield from items_of(field)
        elif not computed and not (isinstance(field, np.ndarray) and not field.size):
            yield name, field


def write_npz(file: BinaryIO, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
    """Writes arrays as numpy's savez does, which does not take all names."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            entry = name.encode("utf-8", "backslashreplace").decode()
            with archive.open(f"{entry}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)

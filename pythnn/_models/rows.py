"""Modules and criterions as a tree of rows."""

from __future__ import annotations

import warnings
from typing import Any

import click
import numpy as np

from .. import nn
from .._shown import shown_name
from .._tensor import Tensor
from ..nn.object.text import shape_text
from ..nn.object.types import TYPES
from ..nn.object.walks import MAX_PLACES, count_places
from ..t7 import TorchObject
from ..t7._values import name_text

__all__ = [
    "Row",
    "class_of",
    "is_object",
    "parameters_of",
    "refuse_unknown",
    "rows_of",
    "shape_text",
    "size_text",
    "tensors_in",
    "type_text",
]


def is_object(value: Any) -> bool:
    """Whether a value is an object of a Torch class."""
    return isinstance(value, (nn.Object, TorchObject))


def fields_of(value: Any) -> dict[Any, Any]:
    """The fields of an object."""
    if isinstance(value, TorchObject):
        return dict(value.fields) if isinstance(value.fields, dict) else {}
    fields: dict[Any, Any] = value._own_fields()
    return fields


def class_of(value: Any) -> str:
    """The Torch name of an object's class."""
    name = value.torch_class if isinstance(value, TorchObject) else value.typename()
    return shown_name(name)


def _label(value: Any, has_children: bool) -> str:
    """What an object says of itself; of what has objects inside, the class."""
    if has_children and isinstance(value, nn.Object):
        return str(value.typename())
    if isinstance(value, TorchObject):
        return f"{class_of(value)}, unknown"
    try:
        text = repr(value)
    except Exception:  # fields from a file may be anything
        text = value.typename()
    return value.typename() if "\n" in text or len(text) > 100 else text


def _children(value: Any) -> list[tuple[str, Any]]:
    """The objects inside, each with its number or the name of its field."""
    numbered: list[tuple[str, Any]] = []
    named: list[tuple[str, Any]] = []
    for key, item in fields_of(value).items():
        name = name_text(key)
        if is_object(item):
            named.append((f"{name}: ", item))
        elif isinstance(item, list) and any(map(is_object, item)):
            is_main = name in ("modules", "criterions")
            for i, entry in enumerate(item, 1):
                if is_object(entry):
                    numbered.append((f"({i}) " if is_main else f"{name}[{i}]: ", entry))
    return numbered + named


def tensors_in(value: Any) -> list[Any]:
    """The tensors and arrays of a value, a table of them or a lone one."""
    if isinstance(value, (list, tuple)):
        return [tensor for entry in value for tensor in tensors_in(entry)]
    return [value] if isinstance(value, (Tensor, np.ndarray)) else []


def parameters_of(value: Any) -> list[tuple[str, np.ndarray[Any, Any]]]:
    """An object's own parameters with their fields, without those of objects inside."""
    if isinstance(value, TorchObject):
        fields = fields_of(value)
        found = [(name, fields.get(name)) for name in ("weight", "bias")]
    elif isinstance(value, nn.Module):
        found = [(name, value.field(name)) for name, _ in value.parameterFields]
    else:
        found = []
    return [(name, np.asarray(tensor)) for name, item in found for tensor in tensors_in(item)]


class Row:
    """One object of the tree: ``name`` says what it is in its parent, ``text`` what it is."""

    def __init__(self, value: Any, name: str, parent: Row | None) -> None:
        self.value = value
        self.name = name
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.text = ""
        self.count = 0  # elements of parameters, with those of objects inside
        self.nbytes = 0
        self.shared = False  # whether its parameters were counted before

    @property
    def path(self) -> str:
        """The names from the root down, such as ``(3)(1)``; the last ten, where there are more."""
        names: list[str] = []
        row = self
        while row.parent is not None and len(names) < 10:
            names.append(row.name.rstrip(": "))
            row = row.parent
        return "".join(reversed(names)) or "the whole"


def _place(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    return (array.__array_interface__["data"][0], array.size)


def _places_of_parameters(root: Any) -> set[tuple[int, int]] | None:
    """Where the parameters of a module are; None for what cannot say."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", nn.UnknownClassWarning)  # the rows say it
            tensors = root.parameterTensors() if isinstance(root, nn.Module) else None
            return None if tensors is None else {_place(np.asarray(one)) for one in tensors[0]}
    except Exception:  # a module inside may be of an unknown class, or damaged
        return None


def rows_of(root: Any) -> list[Row]:
    """An object and all inside, depth first. Parameters that share memory count once."""
    rows: list[Row] = []
    allowed = _places_of_parameters(root)
    known: dict[int, Row] = {}
    counted: set[tuple[int, int]] = set()
    pending: list[tuple[str, Any, Row | None]] = [("", root, None)]
    while pending:
        name, value, parent = pending.pop()
        row = Row(value, name, parent)
        rows.append(row)
        if id(value) in known:
            row.text = f"{name}{class_of(value)}, the same as {known[id(value)].path}"
            continue
        known[id(value)] = row
        children = _children(value)
        row.text = name + _label(value, bool(children))
        for _, array in parameters_of(value):
            place = _place(array)
            unknown = isinstance(value, TorchObject)
            if allowed is not None and place not in allowed and not unknown:
                continue  # fixed, such as the kernel of a local normalisation
            row.shared |= place in counted
            if place not in counted:
                counted.add(place)
                row.count += array.size
                row.nbytes += array.nbytes
        pending += [(child_name, child, row) for child_name, child in reversed(children)]
    for row in reversed(rows):
        if row.parent is not None:
            row.parent.count += row.count
            row.parent.nbytes += row.nbytes
    return rows


def refuse_unknown(rows: list[Row]) -> None:
    """Raises ClickException where nothing can run: a class is unknown, or calls would not end."""
    unknown = {class_of(row.value) for row in rows if isinstance(row.value, TorchObject)}
    if unknown:
        raise click.ClickException(
            f"pythnn does not know {', '.join(sorted(unknown))}, which the model is made of. Write "
            "such classes in Python, register them (pythnn.nn.register) and load the file there."
        )
    calls = count_places(rows[0].value, _inside)
    if calls > MAX_PLACES:
        raise click.ClickException(
            f"a run of the model would call {calls:,} modules: those in it are in several places "
            "at once, level by level. Choose a part of it with --key."
        )


def _inside(value: Any) -> list[Any]:
    """The modules that a module calls."""
    return (value.__dict__.get("modules") or []) if isinstance(value, nn.Module) else []


def size_text(count: int) -> str:
    """A number of bytes in the unit that suits it."""
    number, unit = float(count), "B"
    for larger in ("kB", "MB", "GB"):
        if number < 1000:
            break
        number, unit = number / 1000, larger
    return f"{number:.3g} {unit}" if number < 1000 else f"{number:.0f} {unit}"


def type_text(module: Any) -> str:
    """The type of a module's elements; Lua's name of one that nothing computes in."""
    name = module.type()
    return str(TYPES.get(name, name))

"""Modules and criterions as a tree of rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from .. import nn
from .._tensor import Tensor
from ..t7 import TorchObject

__all__ = [
    "Measured",
    "Row",
    "class_of",
    "first_layer",
    "is_object",
    "measuring",
    "refuse_unknown",
    "rows_of",
    "shape_text",
    "tensors_in",
]


def is_object(value: Any) -> bool:
    """Whether a value is an object of a Torch class."""
    return isinstance(value, (nn.Object, TorchObject))


def fields_of(value: Any) -> dict[Any, Any]:
    """The fields of an object."""
    if isinstance(value, TorchObject):
        return dict(value.fields) if isinstance(value.fields, dict) else {}
    fields: dict[Any, Any] = value._to_fields()
    return fields


def class_of(value: Any) -> str:
    """The Torch name of an object's class."""
    name = value.torch_class if isinstance(value, TorchObject) else value.typename()
    return str(name)


def _label(value: Any, has_children: bool) -> str:
    """What an object says of itself; of what has objects inside, the class."""
    if has_children and isinstance(value, nn.Object):
        return str(value.typename())
    if isinstance(value, TorchObject):
        return f"{value.torch_class}, unknown"
    try:
        text = repr(value)
    except Exception:  # fields from a file may be anything
        text = value.typename()
    return value.typename() if "\n" in text or len(text) > 100 else text


def _children(value: Any) -> list[tuple[str, Any]]:
    """The objects inside, each with its number or the name of its field."""
    numbered: list[tuple[str, Any]] = []
    named: list[tuple[str, Any]] = []
    for name, item in fields_of(value).items():
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


def _parameters(value: Any) -> list[np.ndarray[Any, Any]]:
    """An object's own parameters, without those of objects inside."""
    if isinstance(value, TorchObject):
        fields = fields_of(value)
        found = [fields.get("weight"), fields.get("bias")]
    elif isinstance(value, nn.Module):
        found = [value.field(name) for name, _ in value.parameterFields]
    else:
        found = []
    return [np.asarray(tensor) for tensor in tensors_in(found)]


@dataclass
class Measured:
    """What one module did in a forward call."""

    seconds: float = 0.0
    output: Any = None
    in_place: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of the output; 0 when it lies in the input's memory."""
        return 0 if self.in_place else sum(t.nbytes for t in tensors_in(self.output))


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
        """The names from the root on, such as ``(3)(1)``; of the last ten, where there are more."""
        names: list[str] = []
        row = self
        while row.parent is not None and len(names) < 10:
            names.append(row.name.rstrip(": "))
            row = row.parent
        return "".join(reversed(names)) or "the whole"


def _place(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    return (array.__array_interface__["data"][0], array.size)


def _places_of_parameters(root: Any) -> set[tuple[int, int]] | None:
    """Where the parameters of a module lie; None for what cannot say."""
    try:
        tensors = root.parameterTensors() if isinstance(root, nn.Module) else None
    except Exception:  # a module inside may be of an unknown class, or damaged
        tensors = None
    return None if tensors is None else {_place(np.asarray(tensor)) for tensor in tensors[0]}


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
        for array in _parameters(value):
            place = _place(array)
            if allowed is not None and place not in allowed:
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


def first_layer(rows: list[Row]) -> Any:
    """The first object that is no container: what the input meets."""
    return next((r.value for r in rows if not isinstance(r.value, nn.Container)), rows[0].value)


def refuse_unknown(rows: list[Row]) -> None:
    """Raises ClickException where a class is unknown, so that nothing can run."""
    unknown = {class_of(row.value) for row in rows if isinstance(row.value, TorchObject)}
    if unknown:
        raise click.ClickException(
            f"pythnn does not know {', '.join(sorted(unknown))}, which the model is made of. Write "
            "such classes in Python, register them (pythnn.nn.register) and load the file there."
        )


@contextmanager
def measuring(rows: list[Row]) -> Iterator[dict[int, Measured]]:
    """While this is open, forward calls are noted by the id of the module."""
    results: dict[int, Measured] = {}
    modules = [row.value for row in rows if isinstance(row.value, nn.Module)]
    for module in modules:
        module.__dict__["updateOutput"] = _measured(module, results)
    try:
        yield results
    finally:
        for module in modules:
            module.__dict__.pop("updateOutput", None)


def _measured(module: Any, results: dict[int, Measured]) -> Any:
    run = type(module).updateOutput

    def updateOutput(input: Any) -> Any:  # noqa: N802
        start = time.perf_counter()
        output = run(module, input)
        entry = results.setdefault(id(module), Measured())
        entry.seconds += time.perf_counter() - start
        entry.output = output
        entry.in_place = any(
            np.may_share_memory(np.asarray(a), np.asarray(b))
            for a in tensors_in(input)
            for b in tensors_in(output)
        )
        return output

    return updateOutput


def shape_text(value: Any) -> str:
    """The shape of an output: sizes, or those of each entry of a table."""
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(map(shape_text, value)) + "}"
    if isinstance(value, (Tensor, np.ndarray)):
        return " x ".join(map(str, value.shape))
    return type(value).__name__

"""Writes the functions of ``pythnn.thnn`` as Python: see ``pythnn/_calls/generated.py``."""

from __future__ import annotations

import re
import textwrap

from .table import Argument, Entry, docstring

__all__ = ["functions_source"]

_HEAD = '''\
"""{note}

Each function makes the two common calls itself: when all tensors are Tensors, and when all are
contiguous arrays of the right types. ``call`` takes all other arguments, and refuses what is none.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._calls.generated import (
    CHARS,
    INT32,
    INT64,
    NULL,
    OTHERS,
    REFUSED,
    Function,
    Tensor,
    as_bool,
    as_float,
    as_int,
    call,
    from_buffer,
    last_error,
    layouts,
    ndarray,
)
from ._generator import Generator
from ._state import State

Real: TypeAlias = Tensor | NDArray[np.float32] | NDArray[np.float64]
Index: TypeAlias = Tensor | NDArray[np.int64]
Integer: TypeAlias = Tensor | NDArray[np.int32]

'''

_TYPES = {
    "real": "Real",
    "index": "Index",
    "integer": "Integer",
    "state": "State | None",
    "generator": "Generator",
    "int": "int",
    "int64": "int",
    "double": "float",
    "bool": "bool",
}
_DTYPES = {"real": "dtype", "index": "INT64", "integer": "INT32"}
# Type of an argument that needs no conversion, and the function that converts others.
_EXACT = {
    "int": ("int", "as_int"),
    "int64": ("int", "as_int"),
    "double": ("float", "as_float"),
    "bool": ("bool", "as_bool"),
}
_WRITTEN = ("out", "inout", "accumulate")


def _listed(values: list[str], indent: int) -> str:
    """Values after commas, in lines of the width that the project's code has."""
    lines = textwrap.wrap(
        ", ".join(values), 99 - indent, break_long_words=False, break_on_hyphens=False
    )
    return f"\n{' ' * indent}".join(lines)


def _signature(entry: Entry) -> list[str]:
    lines = [f"def {entry.name}("]
    for a in entry.arguments:
        is_view = entry.inplace is not None and a.name == entry.inplace[1]
        nullable = a.optional or a.role == "scratch" or is_view
        lines.append(f"    {a.python_name}: {_TYPES[a.kind]}{' | None' if nullable else ''},")
    body = docstring(entry).replace("\\", "\\\\").replace("\n", "\n    ")
    text = re.sub(r"[ ]+$", "", f'    """{body}\n    """', flags=re.MULTILINE)
    return [*lines, ") -> None:", text]


def _conversions(entry: Entry, row: str) -> list[str]:
    """What makes numbers of the exact types that C takes."""
    lines = []
    for place, a in enumerate(entry.arguments):
        if a.kind in _EXACT:
            exact, convert = _EXACT[a.kind]
            lines.append(f"    if type({a.python_name}) is not {exact}:")
            lines.append(f"        {a.python_name} = {convert}({row}, {place}, {a.python_name})")
    return lines


def _handle(a: Argument) -> str:
    """The C argument of what is not a tensor."""
    name = a.python_name
    if a.kind == "state":
        return f"NULL if {name} is None else {name}._c"
    return f"{name}._c" if a.kind == "generator" else name


def _or_none(a: Argument, condition: str) -> str:
    return f"({a.python_name} is None or {condition})" if a.optional else condition


def _or_null(a: Argument, value: str) -> str:
    return f"NULL if {a.python_name} is None else {value}" if a.optional else value


def _on_tensors(entry: Entry) -> tuple[list[str], list[str]]:
    """When all tensors are Tensors, and the C arguments then."""
    conditions, values = [], []
    for a in entry.arguments:
        name = a.python_name
        if a.role == "scratch":
            values.append("NULL")
        elif a.role:
            conditions.append(_or_none(a, f"type({name}) is Tensor"))
            values.append(_or_null(a, f"{name}._c"))
        else:
            values.append(_handle(a))
    return conditions, values


def _on_arrays(entry: Entry) -> tuple[list[str], list[str]]:
    """When all tensors are arrays of the right types, and the C arguments then.

    An array is passed as an address and a layout; ``from_buffer`` refuses those with gaps.
    """
    conditions, values = [], []
    for a in entry.arguments:
        name = a.python_name
        if a.role and a.role != "scratch":
            is_array = f"type({name}) is ndarray"
            if a is not first_real(entry):  # whose dtype decides
                is_array += f" and {name}.dtype is {_DTYPES[a.kind]}"
            conditions.append(_or_none(a, is_array))
            values.append(_or_null(a, f"from_buffer(CHARS, {name}, {a.role in _WRITTEN})"))
            values.append(_or_null(a, f"layouts[{name}.shape]"))
        elif not a.role:
            values.append(_handle(a))
    if entry.inplace is not None:
        conditions.append("not inplace")
    return conditions, values


def first_real(entry: Entry) -> Argument:
    """The tensor whose type decides for all real ones."""
    reals = (a for a in entry.arguments if a.kind == "real" and a.role != "scratch")
    return next(a for a in reals if not a.optional)


def _condition(conditions: list[str], indent: int) -> str:
    joined = " and ".join(conditions)
    if len(joined) + indent + len("if :") <= 100:
        return joined
    lines = f"\n{' ' * (indent + 4)}and ".join(conditions)
    return f"(\n{' ' * (indent + 4)}{lines}\n{' ' * indent})"


def _function(entry: Entry) -> str:
    row = f"_{entry.name}"
    first = first_real(entry)
    tensors, on_tensors = _on_tensors(entry)
    arrays, on_arrays = _on_arrays(entry)
    every = [a.python_name for a in entry.arguments]
    lines = [
        f'{row} = Function("{entry.name}")',
        "",
        "",
        *_signature(entry),
        *_conversions(entry, row),
        "    code: int",
        "    try:",
        f"        if {_condition(tensors, 8)}:",
        f"            code = {row}.on_tensors[{first.python_name}._kind](",
        f"                {_listed(on_tensors, 16)}",
        "            )",
        "        else:",
        f"            dtype = {first.python_name}.dtype",
        f"            if {_condition(arrays, 12)}:",
        f"                code = {row}.on_arrays[dtype](",
        f"                    {_listed(on_arrays, 20)}",
        "                )",
        "            else:",
        "                code = OTHERS",
        "    except REFUSED:",
        "        code = OTHERS",
        "    if code < 0:",
        "        code = call(",
        f"            {_listed([row, f'[{every[0]}', *every[1:]], 12)}]",
        "        )",
        "    if code:",
        f'        raise last_error("{entry.name}")',
        "",
        "",
    ]
    return "\n".join(lines)


def functions_source(entries: list[Entry], note: str) -> str:
    """The module ``pythnn._functions``."""
    names = "".join(f'    "{e.name}",\n' for e in entries)
    parts = [_HEAD.format(note=note), f"__all__ = [\n{names}]\n\n"]
    return "".join([*parts, *map(_function, entries)]).rstrip("\n") + "\n"

"""Any value of a .t7 file as lines of text, bounded in depth and width."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from .. import nn
from .._shown import LINE, shown, shown_name
from .._tensor import Tensor
from ..t7 import Table, TdsHash, TdsVec, TorchFunction, TorchObject, TorchStorage

__all__ = ["describe", "lines_of"]


def describe(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, str):
        text = repr(value)
        return text if len(text) <= 80 else f"{text[:60]}… of {len(value)} characters"
    if isinstance(value, Tensor):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        sizes = " x ".join(map(str, value.shape))
        return f"{value.dtype} tensor of {sizes}{_elements(value)}"
    if isinstance(value, TorchStorage):
        return f"{value.data.dtype} storage of {len(value)}{_elements(value.data)}"
    if isinstance(value, nn.Object):
        return f"{value.typename()}"
    if isinstance(value, TorchObject):
        return f"{shown_name(value.torch_class)}, unknown"
    if isinstance(value, TorchFunction):
        return f"function of {len(value.code)} bytes"
    kinds: dict[type, str] = {
        TdsHash: "tds.Hash",
        TdsVec: "tds.Vec",
        list: "list",
        dict: "table",
        Table: "table",
    }
    kind = kinds.get(type(value), "list" if isinstance(value, list) else None)
    return shown(repr(value), LINE) if kind is None else f"{kind} of {len(value)}"


def _elements(array: np.ndarray[Any, Any]) -> str:
    return f": {' '.join(map(str, array.ravel().tolist()))}" if 0 < array.size <= 8 else ""


def _entries(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, (dict, Table)):
        return [(_key(name), item) for name, item in value.items()]
    if isinstance(value, list):
        return [(str(i), item) for i, item in enumerate(value, 1)]
    if isinstance(value, TorchObject) and isinstance(value.fields, (dict, Table)):
        return [(_key(name), item) for name, item in value.fields.items()]
    if isinstance(value, TorchFunction):
        return [("upvalues", value.upvalues)]
    return []


_MORE = object()
Path: TypeAlias = tuple[str, ...]  # the keys that lead to a value


def _key(key: Any) -> str:
    if isinstance(key, str) and key.isprintable() and len(key) <= 60:
        return key
    return describe(key)


def lines_of(root: Any, depth: int, width: int) -> list[str]:
    """A line per value, down to a depth and with at most `width` entries of each table."""
    lines: list[str] = []
    seen: dict[int, Path] = {}
    pending: list[tuple[Path, Any]] = [((), root)]
    while pending:
        path, value = pending.pop()
        indent = "  " * len(path)
        if value is _MORE:
            lines.append(indent + path[-1])
            continue
        entries = _entries(value)
        text = describe(value)
        if entries and id(value) in seen:
            entries, text = [], f"{text}, the same as {'.'.join(seen[id(value)]) or 'the whole'}"
        lines.append(indent + "".join(f"{name}: " for name in path[-1:]) + text)
        if not entries:
            continue
        seen[id(value)] = path
        if len(path) >= depth:
            lines[-1] += ", …"
            continue
        if len(entries) > width:
            pending.append(((*path, f"… and {len(entries) - width} more"), _MORE))
        pending += [((*path, key), item) for key, item in reversed(entries[:width])]
    return lines

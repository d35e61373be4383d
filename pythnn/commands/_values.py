"""Any value of a .t7 file as lines of text, bounded in depth and width."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nn
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
        return f"{value.torch_class}, unknown"
    if isinstance(value, TorchFunction):
        return f"function of {len(value.code)} bytes"
    kinds: dict[type, str] = {
        TdsHash: "tds.Hash",
        TdsVec: "tds.Vec",
        list: "list",
        dict: "table",
        Table: "table",
    }
    kind = kinds.get(type(value))
    return repr(value) if kind is None else f"{kind} of {len(value)}"


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


def _key(key: Any) -> str:
    if isinstance(key, str) and key.isprintable() and len(key) <= 60:
        return key
    return describe(key)


def lines_of(root: Any, depth: int, width: int) -> list[str]:
    """A line per value, down to a depth and with at most `width` entries of each table."""
    lines: list[str] = []
    seen: dict[int, int] = {}
    pending: list[tuple[str, Any, int]] = [("", root, 0)]
    while pending:
        name, value, level = pending.pop()
        indent = "  " * level
        if value is _MORE:
            lines.append(f"{indent}{name}")
            continue
        entries = _entries(value)
        text = describe(value)
        if entries and id(value) in seen:
            entries, text = [], f"{text}, the same as in line {seen[id(value)]}"
        lines.append(f"{indent}{name}{text}")
        if not entries:
            continue
        seen[id(value)] = len(lines)
        if level >= depth:
            lines[-1] += ", …"
            continue
        if len(entries) > width:
            pending.append((f"… and {len(entries) - width} more", _MORE, level + 1))
        pending += [(f"{key}: ", item, level + 1) for key, item in reversed(entries[:width])]
    return lines


_MORE = object()

"""Deep copies of objects in objects, however deep: ``__deepcopy__`` of modules and of TorchObjects.

The copy of an object is made, and known to all that refer to it, before it is filled; so whatever
is nested deep is filled after all else, and not within the copies around it.
"""

from __future__ import annotations

import copy
import threading
from typing import Any

__all__ = ["deep_copy"]

MAX_DEPTH = 50  # copies within copies, of some frames each


class _Copies(threading.local):
    """The copies that are being filled in this thread."""

    def __init__(self) -> None:
        self.depth = 0
        self.later: list[tuple[Any, Any, dict[int, Any]]] = []


_copies = _Copies()


def deep_copy(value: Any, memo: dict[int, Any]) -> Any:
    """What ``__deepcopy__`` has to return."""
    kind: Any = type(value)
    made = kind.__new__(kind)
    memo[id(value)] = made
    if _copies.depth >= MAX_DEPTH:
        _copies.later.append((made, value, memo))
        return made
    _copies.depth += 1
    try:
        _fill(made, value, memo)
        while _copies.depth == 1 and _copies.later:
            _fill(*_copies.later.pop())
    finally:
        _copies.depth -= 1
        if not _copies.depth:
            _copies.later.clear()
    return made


def _fill(made: Any, value: Any, memo: dict[int, Any]) -> None:
    state = copy.deepcopy(value.__reduce_ex__(4)[2], memo)
    if hasattr(type(value), "__setstate__"):
        made.__setstate__(state)
        return
    fields, slots = state if isinstance(state, tuple) else (state, None)
    if fields:
        made.__dict__.update(fields)
    for name, one in (slots or {}).items():
        object.__setattr__(made, name, one)

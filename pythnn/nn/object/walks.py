"""Methods that go through trees of modules: once to each object, however trees are nested.

A module may be in several places, and in a file even inside itself. A tree of n levels, each of
which holds the next one twice, has 2^n paths.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from ..._shown import MESSAGE, shown

__all__ = ["MAX_DEPTH", "MAX_PLACES", "ONCE", "bounded_text", "count_places", "once"]

ONCE = (
    "clearState",
    "evaluate",
    "reset",
    "share",
    "training",
    "updateParameters",
    "zeroGradParameters",
)
"""Methods that do something with each module and return the module itself or nothing."""

MAX_DEPTH = 50
"""Levels of calls in calls. What is deeper comes after all else; as text it is left out."""

MAX_PLACES = 1 << 20
"""Places in a tree that can all be visited in seconds; no network has as many."""

Key = tuple[int, Any]  # an object and a method: that of its class, or of a parent of that


def count_places(root: Any, inside: Callable[[Any], list[Any]]) -> int:
    """How many places a tree has: an object counts in each, but not inside itself."""
    counts: dict[int, int] = {}
    pending = [(root, False)]
    while pending:
        value, is_counted_inside = pending.pop()
        if is_counted_inside:
            counts[id(value)] = 1 + sum(counts[id(one)] for one in inside(value))
        elif id(value) not in counts:
            counts[id(value)] = 0
            pending += [(value, True), *((one, False) for one in inside(value))]
    return counts[id(root)]


class _Walk(threading.local):
    """The calls of one method that are going on in this thread."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets what was met."""
        self.depth = 0
        self.begun: set[Key] = set()
        self.kept: list[Any] = []  # so that no id is given twice
        self.later: list[Callable[[], Any]] = []


_walks = {name: _Walk() for name in ONCE}
_texts = _Walk()


def once(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that does nothing where the same walk has been before."""
    walk = _walks[method.__name__]

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        key = (id(self), method)
        if key in walk.begun:
            return self
        depth = walk.depth
        if depth >= MAX_DEPTH:
            walk.kept.append(self)
            walk.later.append(functools.partial(call, self, *arguments, **named))
            return self
        walk.begun.add(key)
        walk.kept.append(self)
        walk.depth = depth + 1
        try:
            result = method(self, *arguments, **named)
            while not depth and walk.later:
                walk.later.pop()()
            return result
        finally:
            walk.depth = depth
            if not depth:
                walk.clear()

    return call


def bounded_text(method: Callable[[Any], str], is_known: bool) -> Callable[[Any], str]:
    """A ``__repr__`` that shows what is inside once, and not what is nested too deep.

    What is not printable is escaped, and so are line ends in what a layer of the package says.
    """

    @functools.wraps(method)
    def text(self: Any) -> str:
        is_tree = bool(self.__dict__.get("modules"))
        key = (id(self), method)
        if (is_tree and key in _texts.begun) or _texts.depth >= MAX_DEPTH:
            return f"{self.typename()} {{…}}"
        _texts.begun.add(key)
        _texts.depth += 1
        try:
            made = method(self)
        finally:
            _texts.depth -= 1
            if not _texts.depth:
                _texts.clear()
        if is_tree or not is_known or made.startswith(f"{self.typename()} {{\n"):
            return shown(made, keep="\n")
        return shown(made, MESSAGE)

    return text

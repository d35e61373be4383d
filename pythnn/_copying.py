"""Copies and pickles of objects in objects, however deep: of modules and of TorchObjects.

The copy of an object is made, and known to all that refer to it, before it is filled; so whatever
is nested deep is filled after all else, and not within the copies around it. A pickle begins with
the innermost objects, which those around them then only refer to.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Nestable"]

MAX_DEPTH = 50  # copies within copies, of some frames each
MAX_PICKLED = 50
"""Objects inside one that pickle may go through by recursion."""


class Nestable:
    """What may be nested in others of its kind without a limit."""

    __slots__ = ()

    def __copy__(self) -> Self:
        made = type(self).__new__(type(self))
        _set_state(made, super().__reduce_ex__(4)[2])
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made: Self = deep_copy(self, memo)
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        return inside_out(self, super().__reduce_ex__(protocol))


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
    _set_state(made, copy.deepcopy(value.__reduce_ex__(4)[2], memo))


def _set_state(made: Any, state: Any) -> None:
    if hasattr(type(made), "__setstate__"):
        made.__setstate__(state)
        return
    fields, slots = state if isinstance(state, tuple) else (state, None)
    if fields:
        made.__dict__.update(fields)
    for name, one in (slots or {}).items():
        object.__setattr__(made, name, one)


# ---- Pickles


class _Pickles(threading.local):
    """The pickle that is being made in this thread."""

    def __init__(self) -> None:
        self.listed: set[int] = set()  # objects that come before what holds them


_pickles = _Pickles()


class _Listed:
    """Objects as pickle takes them one after the other, while they are known to be listed."""

    def __init__(self, objects: list[Nestable]) -> None:
        self.objects = objects

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (), None, self._each()

    def _each(self) -> Iterator[Any]:
        before, _pickles.listed = _pickles.listed, set(map(id, self.objects))
        try:
            yield from self.objects
            yield None  # pickle asks for one more than it has written
        finally:
            _pickles.listed = before


class _State:
    """The state of an object, after the objects inside it."""

    def __init__(self, objects: list[Nestable], state: Any) -> None:
        self.objects, self.state = objects, state

    def __reduce__(self) -> tuple[Any, ...]:
        return state_alone, (_Listed(self.objects), self.state)


def state_alone(_: Any, state: Any) -> Any:
    """What a pickle calls for the state of an object, whose inner objects are there by then."""
    return state


def inside_out(value: Nestable, reduced: Any) -> Any:
    """What ``__reduce_ex__`` returns instead of ``reduced``, which it would without this.

    Objects that are listed hold only what pickle has met. Pickle may ask for more than what it
    writes at once; then they list what is inside them again, which are references.
    """
    if _copies.depth or id(value) in _pickles.listed:
        return reduced
    objects = _inside(value)
    if len(objects) <= MAX_PICKLED:
        return reduced
    function, arguments, state, *more = reduced
    return (function, arguments, _State(objects, state), *more)


def _inside(value: Nestable) -> list[Nestable]:
    """All objects inside one, each after those inside it, as far as they are not in a circle."""
    found: list[Nestable] = []
    seen = {id(value)}
    pending = [(inner, False) for inner in _directly_inside(value)]
    while pending:
        inner, is_left = pending.pop()
        if is_left:
            found.append(inner)
        elif id(inner) not in seen:
            seen.add(id(inner))
            pending.append((inner, True))
            pending += [(one, False) for one in _directly_inside(inner)]
    return found


def _directly_inside(value: Nestable) -> list[Nestable]:
    """The objects that an object's fields hold, and tables in these."""
    found: list[Nestable] = []
    seen: set[int] = set()
    pending = [getattr(value, name, None) for name in _names(type(value))]
    while pending:
        one = pending.pop()
        if isinstance(one, Nestable):
            found.append(one)
        elif isinstance(one, (list, tuple, Mapping)) and id(one) not in seen:
            seen.add(id(one))
            pending += [*one, *one.values()] if isinstance(one, Mapping) else one
    return found


def _names(kind: type) -> list[str]:
    slots = [name for parent in kind.__mro__ for name in parent.__dict__.get("__slots__", ())]
    return [name for name in [*slots, "__dict__"] if name != "__weakref__"]

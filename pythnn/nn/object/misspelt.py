"""Names that were meant to be those of fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._errors import THNNArgumentError

__all__ = ["MisspeltFieldError", "check_new_field"]

_SHORTEST = 4
"""Names of fewer letters are all near each other: kW and kH."""
_LONG = 8
"""Two wrong letters in a name of this length leave no doubt."""


class MisspeltFieldError(THNNArgumentError, AttributeError):
    """A field was assigned to that is none, but nearly one that there is."""


def check_new_field(owner: Any, fields: Iterable[str], name: str, value: Any) -> None:
    """Raises MisspeltFieldError when a name that is not yet a field was meant to be another.

    Any other name becomes a field, as in Lua. So does a function in the place of a method.
    """
    if name.startswith("_"):
        return
    own = getattr(type(owner), name, None)
    if callable(own) and not callable(value):
        raise _misspelt(owner, name, f"it is a method: {owner.typename()}.{name}(…)")
    if isinstance(own, property) and own.fset is None:
        raise _misspelt(owner, name, "it follows from other fields, and cannot be set")
    if hasattr(type(owner), name):
        return
    methods = [known for known in dir(type(owner)) if len(known) >= _LONG]
    meant = _nearest(name, [*fields, *methods])
    if meant is not None:
        advice = f"did you mean '{meant}'? assign('{name}', value) makes a field of that name"
        raise _misspelt(owner, name, advice)


def _misspelt(owner: Any, name: str, advice: str) -> MisspeltFieldError:
    text = f"{owner.typename()} has no field '{name}': {advice}"
    return MisspeltFieldError(text, function=owner.typename(), argument=name)


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that was meant: the same letters, or all but one or two."""
    near = []
    for other in known:
        if other.startswith("_"):
            continue
        if _letters(other) == _letters(name):
            return other
        if min(len(other), len(name)) < _SHORTEST:
            continue
        distance = _distance(name, other)
        if distance <= (1 if min(len(other), len(name)) < _LONG else 2):
            near.append((distance, other))
    return min(near)[1] if near else None


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def _distance(a: str, b: str) -> int:
    """How many letters are missing, too many, wrong or swapped with the next."""
    if abs(len(a) - len(b)) > 2:
        return abs(len(a) - len(b))
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (letter != other)))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                row[-1] = min(row[-1], before[j - 2] + 1)
        before, last = last, row
    return last[-1]

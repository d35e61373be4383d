"""Arrays in nested tuples and lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

__all__ = ["Nested", "are_plain", "as_tuples", "flattened", "leaves", "rebuilt"]

Nested: TypeAlias = Any
"""Arrays in tuples or lists, which may be nested."""


def leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The arrays, with what leads to them: ``parameters[0][1]``."""
    if isinstance(value, (tuple, list)):
        for i, entry in enumerate(value):
            yield from leaves(f"{name}[{i}]", entry)
    else:
        yield name, value


def flattened(value: Any) -> list[Any]:
    """The arrays alone."""
    if not isinstance(value, (tuple, list)):
        return [value]
    if len(value) == 1 and isinstance(value[0], (tuple, list)):
        return flattened(value[0])
    found = []
    for entry in value:
        if isinstance(entry, (tuple, list)):
            found += flattened(entry)
        else:
            found.append(entry)
    return found


def as_tuples(value: Any) -> Any:
    """The same with tuples in place of lists."""
    return tuple(map(as_tuples, value)) if isinstance(value, (tuple, list)) else value


def rebuilt(value: Any, arrays: Iterator[Any]) -> Any:
    """Other arrays in the same tuples."""
    if not isinstance(value, (tuple, list)):
        return next(arrays)
    return tuple(
        [
            rebuilt(entry, arrays) if isinstance(entry, (tuple, list)) else next(arrays)
            for entry in value
        ]
    )


def are_plain(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether all are numpy's arrays of a type, with elements."""
    for entry in value:
        kind = type(entry)
        if kind is np.ndarray:
            if entry.dtype is not dtype or not entry.size:
                return False
        elif kind not in (tuple, list) or not are_plain(entry, dtype):
            return False
    return True

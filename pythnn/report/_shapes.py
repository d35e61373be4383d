"""The shapes of tables in few words."""

from __future__ import annotations

from typing import Any

from .._models.rows import shape_text

__all__ = ["short_shape"]

LONGEST_TABLE = 4  # entries that are written out


def short_shape(value: Any) -> str:
    """The shape of a value: of a table with many entries, that of all or of the first ones."""
    if not isinstance(value, (list, tuple)):
        return shape_text(value)
    entries = [short_shape(entry) for entry in value]
    if len(entries) > LONGEST_TABLE:
        if len(set(entries)) == 1:
            return f"{{{entries[0]}, {len(entries)} times}}"
        more = len(entries) - LONGEST_TABLE + 1
        entries[LONGEST_TABLE - 1 :] = [f"… {more} more"]
    return f"{{{', '.join(entries)}}}"

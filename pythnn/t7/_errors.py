"""What is wrong with a .t7 file."""

from __future__ import annotations

from .._shown import MESSAGE, shown

__all__ = ["T7Error"]


class T7Error(ValueError):
    """A file is not what Lua Torch writes, or damaged; or a value cannot be put into one.

    ``offset`` is the byte at which reading found it, or None.
    """

    offset: int | None

    def __init__(self, message: str, offset: int | None = None) -> None:
        message = shown(message, MESSAGE)  # names in it may come from the file
        super().__init__(message if offset is None else f"{message} (at byte {offset})")
        self.offset = offset

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.args, self.offset))


def _rebuild(args: tuple[str], offset: int | None) -> T7Error:
    error = T7Error(*args)
    error.offset = offset
    return error

"""Exceptions: what an error of the C library becomes."""

from __future__ import annotations

from typing import Any

from ._shown import LINE, shown

__all__ = ["THNNArgumentError", "THNNError", "THNNMemoryError"]


class THNNError(RuntimeError):
    """An error of the library.

    ``location`` is the file and line of the C check, or None when the error arose in Python.
    """

    location: str | None

    def __init__(self, message: str, *, location: str | None = None) -> None:
        super().__init__(message)
        self.location = location

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.args, self.__dict__))


class THNNArgumentError(THNNError, ValueError):
    """An argument does not fit.

    ``function`` is the name of the function, ``argument`` the argument's name and ``position``
    its place counted from 1; each is None when unknown.
    """

    function: str | None
    argument: str | None
    position: int | None

    def __init__(
        self,
        message: str,
        *,
        function: str | None = None,
        argument: str | None = None,
        position: int | None = None,
        location: str | None = None,
    ) -> None:
        super().__init__(message, location=location)
        self.function = function
        self.argument = argument
        self.position = position

    @classmethod
    def expected(
        cls, function: str, position: int, argument: str, wanted: str, found: str
    ) -> THNNArgumentError:
        """The error in the words of the C checks."""
        wanted, found = shown(wanted, 4 * LINE), shown(found, 4 * LINE)
        return cls(
            f"{function}: argument #{position} '{argument}': expected {wanted}, found {found}",
            function=function,
            argument=argument,
            position=position,
        )


class THNNMemoryError(THNNError, MemoryError):
    """Not enough memory."""


def _rebuild(cls: type[THNNError], args: tuple[str, ...], attributes: dict[str, Any]) -> THNNError:
    error = cls(*args)
    error.__dict__.update(attributes)
    return error

"""Objects that ``with`` closes."""

from __future__ import annotations

from abc import abstractmethod
from types import TracebackType
from typing import Any, TypeVar

__all__ = ["Closing"]

Self = TypeVar("Self", bound="Closing")


class Closing:
    """What holds something of the C library until :meth:`close`, or the end of a ``with``."""

    __slots__ = ()

    @abstractmethod
    def _open(self) -> Any:
        """The C object; THNNError where it is closed."""

    @abstractmethod
    def close(self) -> None:
        """Gives the C object up."""

    def __enter__(self: Self) -> Self:
        self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

"""Who takes note of what happens to Tensors."""

from __future__ import annotations

import threading
from typing import Any, Protocol

__all__ = ["Tape", "current"]


class Tape(Protocol):
    """Takes note of one thread's calls."""

    def note(self, tensor: Any, function: str, arguments: tuple[Any, ...]) -> None:
        """A C function was called on a Tensor."""

    def meet(self, tensor: Any) -> None:
        """There is a Tensor that is a view of another's memory."""

    def refuse(self) -> None:
        """Something happened that cannot be noted, such as numpy looking at elements."""


class Current:
    """The tape that is running; at most one is."""

    tape: Tape | None = None
    thread = 0
    lock = threading.Lock()
    """Whoever has a tape running holds it."""

    def of_thread(self) -> Tape | None:
        """The tape that takes note of the thread that asks."""
        return self.tape if self.thread == threading.get_ident() else None


current = Current()

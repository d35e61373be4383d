"""What operations use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..graph.functions import functions
from ..graph.operations import Buffer, Kernel, Operand, Operation

__all__ = ["argument", "users", "uses", "with_arguments"]


def argument(kernel: Kernel, name: str) -> Any:
    """The argument of a kernel that has this name; None where there is none."""
    place = functions[kernel.function].index_of(name)
    return None if place is None else kernel.arguments[place]


def with_arguments(function: str, given: dict[str, Operand]) -> list[Operand]:
    """The arguments of a function, from those by name; the others are None."""
    return [given.get(one.name) for one in functions[function].arguments]


def users(operations: Iterable[Operation]) -> dict[Buffer, list[Operation]]:
    """The operations that read or write each buffer, in order."""
    found: dict[Buffer, list[Operation]] = {}
    for operation in operations:
        for buffer in dict.fromkeys(v.buffer for v in (*operation.reads, *operation.writes)):
            found.setdefault(buffer, []).append(operation)
    return found


def uses(operation: Operation, buffer: Buffer) -> bool:
    """Whether an operation reads or writes a buffer."""
    return any(view.buffer is buffer for view in (*operation.reads, *operation.writes))

"""What working in place means for the tensors of a call, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._tensor import Tensor
from .function import Function

__all__ = ["inplace_pair"]


def inplace_pair(
    function: Function,
    values: Sequence[Any],
    find: Callable[[int], Any],
    same_memory: Callable[[Any, Any], bool],
) -> tuple[int, int]:
    """In place: the argument that is worked on, and the one that need not be passed.

    When both are Tensors the C function makes one a view of the other. An array cannot become a
    view: it has to be one already, and then the same C tensor serves for both. -1 stands for none.
    `find` says what the tensor at a place is, and `same_memory` whether two are the same view of
    the same memory.
    """
    if function.inplace is None or not values[function.inplace.inplace]:
        return -1, -1
    _, source, view = function.inplace
    worked_on, given = find(source), find(view)
    if isinstance(worked_on, Tensor) and isinstance(given, Tensor):
        return source, -1
    if worked_on is None or given is None or same_memory(worked_on, given):
        return source, view
    raise function.refuse(
        function.arguments[view],
        f"None or the same memory as '{function.arguments[source].name}'",
        "other memory",
    )

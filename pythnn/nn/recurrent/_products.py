"""Products of matrices that add to what is there, in the library's own threads."""

from __future__ import annotations

from typing import Any

from ..._tensor import Tensor

__all__ = ["add_product", "over", "rows_of", "steps_of"]


def rows_of(value: Any) -> Any:
    """All but the last dimension as one."""
    return value.reshape(-1, value.shape[-1])


def over(array: Any) -> Tensor:
    """A Tensor over an array's memory, or over a copy of one that nobody may write to."""
    if isinstance(array, Tensor):
        return array
    readable = array if getattr(array.flags, "writeable", True) else array.copy()
    return Tensor.from_array(readable)


def steps_of(array: Any) -> list[Tensor]:
    """A Tensor over each entry of the first dimension."""
    return [over(one) for one in array]


def add_product(total: Any, first: Any, second: Any, factor: float = 1, kept: float = 1) -> Any:
    """Total = kept total + factor first second, in its memory; returns it.

    All are matrices, as Tensors or arrays.
    """
    made = over(total)
    if made.is_cuda:
        result = made.array()
        result *= kept
        result += factor * (over(first).array() @ over(second).array())
    elif made.size:
        factors = over(first), over(second)
        made._call("addmm", kept, made._open(), factor, *(one._open() for one in factors))
    return total

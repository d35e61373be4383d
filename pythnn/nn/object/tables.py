"""Values that may be tables: copies, sums, zeros. Leaves are Tensors or arrays."""

from __future__ import annotations

from typing import Any

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from .values import array_module

__all__ = ["add_into", "added", "are_alike", "copied", "dimension", "same_sizes", "zeros_like"]


def copied(value: Any) -> Any:
    """A copy in memory of its own."""
    if isinstance(value, list):
        return [copied(entry) for entry in value]
    if isinstance(value, dict):
        return {key: copied(entry) for key, entry in value.items()}
    if isinstance(value, Tensor):
        return value.clone()
    return value.copy() if hasattr(value, "dtype") else value


def zeros_like(value: Any) -> Any:
    """Zeros in the same form; a number becomes 0."""
    if isinstance(value, list):
        return [zeros_like(entry) for entry in value]
    if isinstance(value, dict):
        return {key: zeros_like(entry) for key, entry in value.items()}
    if isinstance(value, Tensor):
        if value.is_cuda:
            return Tensor(dtype=value.dtype, device=value.device).resize(value.shape).zero()
        return Tensor.zeros(value.shape, dtype=value.dtype)
    return array_module(value).zeros_like(value) if hasattr(value, "dtype") else 0


def add_into(total: Any, value: Any, factor: Any = 1) -> Any:
    """Adds `factor` times a value to one of the same form, in its memory; returns that."""
    if isinstance(total, list):
        return [add_into(one, other, factor) for one, other in zip(total, value, strict=True)]
    if isinstance(total, Tensor):
        if factor == 1 and are_alike([total, value]):
            total._call("cadd", total._open(), 1, value._open())
            return total
        array = total.array()
        array += factor * value.array().reshape(array.shape)
        return total
    total += factor * value
    return total


def added(first: Any, second: Any) -> Any:
    """The sum of two values of the same form, in memory of its own."""
    if isinstance(first, list):
        return [added(one, other) for one, other in zip(first, second, strict=True)]
    if not are_alike([first, second]):
        return add_into(copied(first), second)
    total = Tensor(dtype=first.dtype)
    total._call("cadd", first._open(), 1, second._open())
    return total


def are_alike(entries: Any) -> bool:
    """Whether these are real Tensors on the host, all of one type and shape."""
    first = entries[0]
    if type(first) is not Tensor or first.dtype.kind != "f":
        return False
    kind, shape = first._kind, first.shape
    for one in entries:
        if type(one) is not Tensor or one._kind != kind or one.shape != shape:
            return False
    return True


def same_sizes(name: str, entries: list[Any]) -> list[Any]:
    """Arrays, all in the shape of the first.

    Raises THNNArgumentError when one has another number of elements.
    """
    first = entries[0]
    for i, entry in enumerate(entries):
        if entry.size != first.size:
            raise THNNArgumentError.expected(
                name, i + 1, f"input[{i + 1}]", f"{first.size} elements", f"{entry.size}"
            )
    return [entry.reshape(first.shape) for entry in entries]


def dimension(name: str, dim: int, ndim: int, nInputDims: int | None = None) -> int:
    """A dimension counted from 0, for one counted from 1 or, below 0, from the last.

    An input with one dimension more than `nInputDims` is a batch: its first does not count.
    Raises THNNArgumentError for one that the input does not have.
    """
    place = dim + ndim if dim < 0 else dim - 1
    if dim > 0 and nInputDims is not None and nInputDims > 0 and ndim == nInputDims + 1:
        place += 1
    if not 0 <= place < ndim:
        raise THNNArgumentError.expected(
            name, 1, "dimension", f"one that an input of {ndim} dimensions has", str(dim)
        )
    return place

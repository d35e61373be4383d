"""What the functions of TH that make views do to a layout.

Each changes the lists of sizes and strides, and returns what it adds to the offset.
"""

from __future__ import annotations

from collections.abc import Callable

from .._errors import THNNArgumentError

__all__ = ["LAYOUTS"]


def _select(shape: list[int], strides: list[int], dim: int, index: int) -> int:
    del shape[dim]
    return index * strides.pop(dim)


def _narrow(shape: list[int], strides: list[int], dim: int, start: int, length: int) -> int:
    if not (start >= 0 and 0 < length <= shape[dim] - start):
        raise THNNArgumentError.expected(
            "Tensor.narrow", 3, "length", f"slices within {shape[dim]}", f"{start}:{start + length}"
        )
    shape[dim] = length
    return start * strides[dim]


def _transpose(shape: list[int], strides: list[int], dim0: int, dim1: int) -> int:
    for values in (shape, strides):
        values[dim0], values[dim1] = values[dim1], values[dim0]
    return 0


def _unfold(shape: list[int], strides: list[int], dim: int, size: int, step: int) -> int:
    if not (0 < size <= shape[dim] and step > 0):
        raise THNNArgumentError.expected(
            "Tensor.unfold", 2, "size", f"a size from 1 to {shape[dim]}", f"{size}, step {step}"
        )
    shape.append(size)
    strides.append(strides[dim])
    shape[dim] = (shape[dim] - size) // step + 1
    strides[dim] *= step
    return 0


def _squeeze(shape: list[int], strides: list[int]) -> int:
    kept = [i for i, size in enumerate(shape) if size > 1] or [0]
    shape[:], strides[:] = [shape[i] for i in kept], [strides[i] for i in kept]
    return 0


def _squeeze1d(shape: list[int], strides: list[int], dim: int) -> int:
    if shape[dim] == 1 and len(shape) > 1:
        del shape[dim], strides[dim]
    return 0


def _unsqueeze1d(shape: list[int], strides: list[int], dim: int) -> int:
    strides.insert(dim, shape[dim] * strides[dim] if dim < len(shape) else 1)
    shape.insert(dim, 1)
    return 0


LAYOUTS: dict[str, Callable[..., int]] = {
    "narrow": _narrow,
    "select": _select,
    "squeeze": _squeeze,
    "squeeze1d": _squeeze1d,
    "transpose": _transpose,
    "unfold": _unfold,
    "unsqueeze1d": _unsqueeze1d,
}

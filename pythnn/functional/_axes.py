"""Several axes of an array: which they are, and the array with these as one of three."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._calls.recorded import Recorded
from .._tensor import array_module
from ._arrays import Array, Unfit, axis_of, dense, integer, is_list, shaped

__all__ = [
    "Axes",
    "Block",
    "Shape",
    "as_block",
    "axes_of",
    "empty",
    "filled",
    "from_block",
    "sides_of",
    "sizes_of",
]

Axes: TypeAlias = int | Sequence[int]
"""One axis, or several; negative ones count from the end."""


Shape: TypeAlias = Sequence[int]
"""The sizes of an array that a gradient is asked for."""


def sizes_of(shape: Any) -> tuple[int, ...]:
    """The sizes of an array, from an argument `shape`."""
    if not is_list(shape):
        raise Unfit("shape", "the sizes of x", repr(shape))
    sizes = tuple(integer("shape", size) for size in shape)
    if any(size < 0 for size in sizes):
        raise Unfit("shape", "sizes from 0 on", f"{sizes}")
    return sizes


def axes_of(array: Any, axes: Any, name: str = "axis") -> tuple[int, ...]:
    """Axes in rising order, counted from 0."""
    if type(axes) is int:
        return (axis_of(array, axes, name),)
    if not is_list(axes):
        return (axis_of(array, axes, name),)
    found = sorted(axis_of(array, axis, name) for axis in axes)
    if len(set(found)) != len(found):
        raise Unfit(name, "axes that differ", repr(tuple(axes)))
    return tuple(found)


def sides_of(shape: tuple[int, ...], axes: Any) -> tuple[int, int, int] | None:
    """The three sizes of `as_block`, where it has nothing to move; otherwise None."""
    if type(axes) is int or (type(axes) is tuple and set(map(type, axes)) == {int}):
        return _sides(shape, axes)
    return None


@functools.lru_cache(maxsize=256)
def _sides(shape: tuple[int, ...], axes: int | tuple[int, ...]) -> tuple[int, int, int] | None:
    count = len(shape)
    each = (axes,) if isinstance(axes, int) else axes
    found = {axis % count for axis in each if -count <= axis < count}
    if len(found) != len(each):
        return None
    sizes, order = _layout(shape, tuple(sorted(found)))
    return sizes if order is None else None


class Block(NamedTuple):
    """An array as before x block x after, and how to come back."""

    array: Array
    shape: tuple[int, ...]
    order: tuple[int, ...] | None
    """The axes as they had to be moved; None where they stood side by side."""


def as_block(array: Array, axes: Sequence[int]) -> Block:
    """An array of three axes, the second of which is made of these; a view where that is possible.

    Axes of size 1 are everywhere, so that only the others have to stand side by side.
    """
    shape = array.shape
    block, order = _layout(shape, tuple(axes))
    if order is not None:
        array = dense(array.transpose(order))
    return Block(array.reshape(block), shape, order)


@functools.lru_cache(maxsize=256)
def _layout(
    shape: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[tuple[int, int, int], tuple[int, ...] | None]:
    """The three sizes, and the order of the axes if they have to be moved."""
    long = [i for i in range(len(shape)) if shape[i] != 1]
    inside = [i for i in long if i in axes]
    size = math.prod(shape[i] for i in inside)
    first, last = (inside[0], inside[-1]) if inside else (len(shape), len(shape))
    if any(i not in axes for i in long if first < i < last):
        order = (*(i for i in range(len(shape)) if i not in axes), *axes)
        return (math.prod(shape[i] for i in order[: -len(axes)]), size, 1), order
    return (math.prod(shape[:first]), size, math.prod(shape[last + 1 :])), None


def from_block(result: Any, block: Block) -> Array:
    """A result in the shape of a block, as the array was."""
    if block.order is None:
        return shaped(result, block.shape)
    moved = shaped(result, [block.shape[i] for i in block.order])
    back = sorted(range(len(block.order)), key=block.order.__getitem__)
    return dense(moved.transpose(back))


def filled(shape: Sequence[int], value: float, beside: Any) -> Array:
    """An array with the same value everywhere."""
    made = empty(shape, beside)
    made.fill(value)
    return made


def empty(shape: Sequence[int], beside: Any) -> Array:
    """An array without contents yet, which is written before a C function or numpy reads it."""
    if type(beside) is Recorded:
        made: Any = beside.recording.room(shape, beside.dtype)
    else:
        module = np if type(beside) is np.ndarray else array_module(beside)
        made = module.empty(shape, beside.dtype)
    found: Array = made
    return found

"""Padding: constants, mirrored or repeated borders, and the other end."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from .. import thnn
from ._arrays import (
    Array,
    Real,
    Unfit,
    check_shape,
    integer,
    is_list,
    like,
    new,
    shaped,
    zeros,
)
from ._axes import Shape, filled, sizes_of
from ._front import function

__all__ = [
    "pad",
    "pad_backward",
    "reflection_pad2d",
    "reflection_pad2d_backward",
    "replication_pad2d",
    "replication_pad2d_backward",
    "replication_pad3d",
    "replication_pad3d_backward",
]

Padding: TypeAlias = Sequence[tuple[int, int]]


def _sides(padding: Any, dimensions: int) -> list[int]:
    """Left, right, top, bottom, front, back."""
    if not is_list(padding):
        return [integer("padding", padding)] * (2 * dimensions)
    pairs = [entry for entry in padding if is_list(entry) and len(entry) == 2]
    if len(padding) != dimensions or len(pairs) != dimensions:
        raise Unfit("padding", f"an int or {dimensions} pairs", repr(padding))
    return [integer("padding", side) for entry in reversed(pairs) for side in entry]


def _padded(shape: Sequence[int], sides: Sequence[int]) -> tuple[int, ...]:
    """A shape with as much more on both sides of its last dimensions."""
    added = [first + last for first, last in zip(sides[::2], sides[1::2], strict=True)]
    count = len(added)
    inner = [n + more for n, more in zip(shape[-count:], reversed(added), strict=True)]
    return (*shape[:-count], *inner)


@function(x="[batch] planes height width")
def reflection_pad2d(x: Real, padding: int | Padding) -> Array:
    """Borders that mirror what is inside. THNN's SpatialReflectionPadding.

    Parameters
    ----------
    x : [batch x] planes x height x width
    padding : int, or ((top, bottom), (left, right)) as numpy.pad takes it
        Negative ones crop.

    >>> reflection_pad2d([[[1.0, 2.0, 3.0]]], ((0, 0), (1, 1)))
    array([[[2., 1., 2., 3., 2.]]])
    """
    sides = _sides(padding, 2)
    output = new(_padded(x.shape, sides), x)
    thnn.SpatialReflectionPadding_updateOutput(None, x, output, *sides)
    return output


@function(x="[batch] planes height width")
def reflection_pad2d_backward(grad_output: Real, x: Real, padding: int | Padding) -> Array:
    """The gradient of `x`."""
    sides = _sides(padding, 2)
    check_shape("grad_output", grad_output, _padded(x.shape, sides))
    grad_x = like(x)
    thnn.SpatialReflectionPadding_updateGradInput(None, x, grad_output, grad_x, *sides)
    return grad_x


@function(x="[batch] planes height width")
def replication_pad2d(x: Real, padding: int | Padding) -> Array:
    """Borders that repeat the outermost elements. THNN's SpatialReplicationPadding.

    Parameters as those of :func:`reflection_pad2d`.

    >>> replication_pad2d([[[1.0, 2.0, 3.0]]], ((0, 0), (1, 1)))
    array([[[1., 1., 2., 3., 3.]]])
    """
    sides = _sides(padding, 2)
    output = new(_padded(x.shape, sides), x)
    thnn.SpatialReplicationPadding_updateOutput(None, x, output, *sides)
    return output


@function(x="[batch] planes height width")
def replication_pad2d_backward(grad_output: Real, x: Real, padding: int | Padding) -> Array:
    """The gradient of `x`."""
    sides = _sides(padding, 2)
    check_shape("grad_output", grad_output, _padded(x.shape, sides))
    grad_x = like(x)
    thnn.SpatialReplicationPadding_updateGradInput(None, x, grad_output, grad_x, *sides)
    return grad_x


@function(x="[batch] planes depth height width")
def replication_pad3d(x: Real, padding: int | Padding) -> Array:
    """Borders that repeat the outermost elements. THNN's VolumetricReplicationPadding.

    Parameters
    ----------
    x : [batch x] planes x depth x height x width
    padding : int, or ((front, back), (top, bottom), (left, right))

    >>> replication_pad3d([[[[1.0, 2.0]]]], ((0, 0), (0, 0), (1, 0)))
    array([[[[1., 1., 2.]]]])
    """
    sides = _sides(padding, 3)
    output = new(_padded(x.shape, sides), x)
    thnn.VolumetricReplicationPadding_updateOutput(None, x, output, *sides)
    return output


@function(x="[batch] planes depth height width")
def replication_pad3d_backward(grad_output: Real, x: Real, padding: int | Padding) -> Array:
    """The gradient of `x`."""
    sides = _sides(padding, 3)
    check_shape("grad_output", grad_output, _padded(x.shape, sides))
    grad_x = like(x)
    thnn.VolumetricReplicationPadding_updateGradInput(None, x, grad_output, grad_x, *sides)
    return grad_x


# ---- Any axes

_MODES = {"constant": 0, "reflect": 1, "replicate": 2, "circular": 3}
"""What the C functions call them."""


def _axes_and_sides(
    shape: Sequence[int], padding: Any, mode: Any
) -> tuple[tuple[int, int, int], ...]:
    """The axes that are padded, each with what comes before and after; negative ones crop."""
    if mode not in _MODES:
        raise Unfit("mode", ", ".join(map(repr, _MODES)), repr(mode))
    count = len(shape)
    if not is_list(padding):
        first, sides = 2, [integer("padding", padding)] * (2 * max(count - 2, 0))
    else:
        first = count - len(padding)
        if not 0 <= first < count:
            raise Unfit("padding", f"an int or up to {count} pairs", repr(padding))
        sides = _sides(padding, len(padding))[::-1]
        sides = [side for i in range(0, len(sides), 2) for side in sides[i : i + 2][::-1]]
    found = []
    for axis, before, after in zip(range(first, count), sides[::2], sides[1::2], strict=True):
        size = shape[axis] + min(before, 0) + min(after, 0)
        if size < 0:
            raise Unfit("padding", f"at most {shape[axis]} elements cropped", repr(padding))
        most = {"reflect": size - 1, "circular": size}.get(mode)
        if mode == "replicate" and not size and (before > 0 or after > 0):
            most = 0
        if most is not None and max(before, after) > max(most, 0):
            wanted = f"at most {max(most, 0)} along axis {axis}, in mode {mode!r}"
            raise Unfit("padding", wanted, repr(padding))
        found.append((axis, before, after))
    return tuple(found)


class _Step(NamedTuple):
    """One call of a C function, which pads up to three axes at a time."""

    inner: tuple[int, ...]
    """Planes x depth x height x width before it."""
    outer: tuple[int, ...]
    """And after it."""
    sides: tuple[int, ...]
    """Left, right, top, bottom, front, back."""


@functools.lru_cache(maxsize=256)
def _steps(shape: tuple[int, ...], sides: tuple[tuple[int, int, int], ...]) -> tuple[_Step, ...]:
    """The calls that pad an array; axes side by side that are not padded count as one."""
    padded = {axis: (before, after) for axis, before, after in sides if before or after}
    groups: list[tuple[int, int, int]] = []
    for axis, size in enumerate(shape):
        if axis in padded:
            groups.append((size, *padded[axis]))
        elif groups and groups[-1][1:] == (0, 0):
            groups[-1] = (groups[-1][0] * size, 0, 0)
        else:
            groups.append((size, 0, 0))
    steps: list[_Step] = []
    while not steps or any(before or after for _, before, after in groups):
        last = [*[(1, 0, 0)] * (3 - len(groups)), *groups[-3:]]
        planes = math.prod(size for size, _, _ in groups[:-3])
        inner = [size for size, _, _ in last]
        outer = [size + before + after for size, before, after in last]
        flat = tuple(side for _, before, after in reversed(last) for side in (before, after))
        steps.append(_Step((planes, *inner), (planes, *outer), flat))
        groups = [*groups[:-3], (math.prod(outer), 0, 0)]
    return tuple(steps)


def _outer(shape: Sequence[int], sides: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
    """The shape of the padded array."""
    sizes = list(shape)
    for axis, before, after in sides:
        sizes[axis] += before + after
    return tuple(sizes)


@function(takes_empty=True)
def pad(x: Real, padding: int | Padding, mode: str = "constant", value: float = 0.0) -> Array:
    """An array with more elements before and after those along its last axes.

    Parameters
    ----------
    x : any shape
    padding : a pair (before, after) for each of the last axes, as numpy.pad takes them
        One int counts for both sides of all axes but the first two, batch x planes. Negative ones
        crop.
    mode : "constant", "reflect", "replicate" or "circular"
        A value; what is inside, mirrored at the outermost elements; these, repeated; or what is
        at the other end.
    value : float
        Of the new elements, in the mode "constant".

    >>> pad([1.0, 2.0, 3.0], [(1, 2)])
    array([0., 1., 2., 3., 0., 0.])
    >>> pad([1.0, 2.0, 3.0], [(1, 1)], "circular")
    array([3., 1., 2., 3., 1.])
    """
    sides = _axes_and_sides(x.shape, padding, mode)
    shape = _outer(x.shape, sides)
    if not x.size or 0 in shape:
        return filled(shape, value, x)
    padded = x
    for step in _steps(x.shape, sides):
        output = new(step.outer, x)
        how: list[Any] = [*step.sides, _MODES[mode], value]
        thnn.Padding_updateOutput(None, padded.reshape(step.inner), output, *how)
        padded = shaped(output, step.outer)
    return shaped(padded, shape)


@function(takes_empty=True)
def pad_backward(
    grad_output: Real,
    shape: Shape,
    padding: int | Padding,
    mode: str = "constant",
) -> Array:
    """The gradient of an `x` of this shape."""
    sizes = sizes_of(shape)
    if len(sizes) != grad_output.ndim:
        raise Unfit("shape", f"{grad_output.ndim} sizes, as 'grad_output' has", f"{sizes}")
    sides = _axes_and_sides(sizes, padding, mode)
    outer = _outer(sizes, sides)
    check_shape("grad_output", grad_output, outer)
    if 0 in sizes or 0 in outer:
        no_gradient: Array = zeros(sizes, grad_output)
        return no_gradient
    grad = grad_output
    for step in reversed(_steps(sizes, sides)):
        grad_x = new(step.inner, grad_output)
        thnn.Padding_updateGradInput(
            None, grad.reshape(step.outer), grad_x, *[*step.sides, _MODES[mode]]
        )
        grad = shaped(grad_x, step.inner)
    return shaped(grad, sizes)

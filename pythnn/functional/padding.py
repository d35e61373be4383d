"""Padding: constants, mirrored or repeated borders, and the other end."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from .. import thnn
from .._tensor import array_module
from ._arrays import Array, Real, Unfit, check_shape, dense, integer, is_list, like, new, zeros
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

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""What numpy calls them."""


def _axes_and_sides(shape: Sequence[int], padding: Any, mode: Any) -> list[tuple[int, int, int]]:
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
    return found


def _cropped(shape: Sequence[int], sides: Sequence[tuple[int, int, int]]) -> tuple[slice, ...]:
    """What remains of an array when negative padding has cropped it."""
    index = [slice(0, n) for n in shape]
    for axis, before, after in sides:
        index[axis] = slice(max(-before, 0), shape[axis] + min(after, 0))
    return tuple(index)


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
    widths = [(0, 0)] * x.ndim
    for axis, before, after in sides:
        widths[axis] = max(before, 0), max(after, 0)
    inner = x[_cropped(x.shape, sides)]
    xp = array_module(x)
    padded: Array
    if mode == "constant":
        sizes = [n + a + b for n, (a, b) in zip(inner.shape, widths, strict=True)]
        padded = filled(sizes, value, x)
        places = zip(inner.shape, widths, strict=True)
        padded[tuple(slice(a, a + n) for n, (a, _) in places)] = inner
        return padded
    if not inner.size:
        return dense(xp.pad(inner, widths, mode=_MODES[mode]))
    places = _places(inner.shape, tuple(widths), _MODES[mode])
    found: Array = dense(inner).reshape(-1).take(xp.asarray(places))
    return found


@functools.lru_cache(maxsize=64)
def _places(shape: tuple[int, ...], widths: tuple[tuple[int, int], ...], mode: str) -> Any:
    """Of which elements a padded array consists, as numpy pads."""
    elements = np.arange(math.prod(shape)).reshape(shape)
    padded = np.pad(elements, widths, mode=mode)  # type: ignore[call-overload]
    padded.flags.writeable = False  # it is kept for later calls
    return padded


def _along(ndim: int, axis: int, *limits: slice) -> Iterator[tuple[slice, ...]]:
    """Indices of parts along an axis."""
    for part in limits:
        yield (*(slice(None),) * axis, part, *(slice(None),) * (ndim - axis - 1))


def _folded(grad: Array, axis: int, before: int, after: int, mode: str) -> Array:
    """The gradient along an axis: that of the elements, with that of their copies added."""
    size, ndim = grad.shape[axis] - before - after, grad.ndim
    first, inner, last = _along(
        ndim, axis, slice(0, before), slice(before, before + size), slice(before + size, None)
    )
    found: Array = grad[inner].copy()
    if mode == "constant":
        return found
    for part, width in ((first, before), (last, after)):
        if not width:
            continue
        extra, at_start = grad[part], part is first
        if mode == "replicate":
            extra = extra.sum(axis, keepdims=True)
            to = slice(0, 1) if at_start else slice(size - 1, size)
        elif mode == "reflect":
            (backwards,) = _along(ndim, axis, slice(None, None, -1))
            extra = extra[backwards]
            to = slice(1, width + 1) if at_start else slice(size - 1 - width, size - 1)
        else:
            to = slice(size - width, size) if at_start else slice(0, width)
        (index,) = _along(ndim, axis, to)
        found[index] += extra
    return found


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
    padded = list(sizes)
    for axis, before, after in sides:
        padded[axis] += before + after
    check_shape("grad_output", grad_output, tuple(padded))
    grad = grad_output
    for axis, before, after in sides:
        grad = _folded(grad, axis, max(before, 0), max(after, 0), mode)
    grad_x: Array = zeros(sizes, grad_output)
    grad_x[_cropped(sizes, sides)] = grad
    return grad_x

"""Windows of convolutions in one to three dimensions, as the C functions take them.

Sizes are those of the ordinary convolution from an image to a map; a transposed one goes from its
map to its image. What follows from sizes and settings is worked out once for each combination.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from ._arrays import Unfit, is_list, sizes_of, whole

__all__ = ["Border", "Window", "spatial", "transposed_window", "window_of"]

Border: TypeAlias = int | str | Sequence[int] | Sequence[Sequence[int]]
"""Padding: one int, one for each dimension, a pair (before, after) for each, or a name."""

NAMES = ("valid", "full", "half", "same")
_WANTED = "an int, {n} ints, {n} pairs (before, after), or 'valid', 'full', 'half' or 'same'"
_LAYOUTS = ("width", "height x width", "depth x height x width")


class Window(NamedTuple):
    """What a call needs to know of its geometry."""

    shape: tuple[int, ...]
    """Of the result: the map, or a transposed convolution's image."""
    image: Any
    """Depth, height and width; 1 where there is none."""
    map: Any
    settings: Any
    """groups, strides, padding before, padding after, dilations: ints, as the C functions take
    them."""


def _plain_sizes(name: str, value: Any, n: int) -> Any:
    """An int, or a tuple of n ints, either of which can be looked up."""
    if type(value) is tuple and len(value) == n and set(map(type, value)) == {int}:
        return value
    return sizes_of(name, value, n)


def _is_side(value: Any) -> bool:
    return type(value) is int or (
        type(value) is tuple and len(value) == 2 and type(value[0]) is type(value[1]) is int
    )


def _plain_border(value: Any, n: int) -> Any:
    """Padding as a name, or a tuple of n ints and pairs, which can be looked up."""
    if type(value) is tuple and len(value) == n and all(map(_is_side, value)):
        return value
    wanted = _WANTED.format(n=n)
    if isinstance(value, str):
        if value not in NAMES:
            raise Unfit("padding", wanted, repr(value))
        return value
    if is_list(value):
        entries = list(value)
        if n == 1 and len(entries) == 2 and not any(map(is_list, entries)):
            entries = [entries]  # the pair of the only dimension
        if len(entries) != n:
            raise Unfit("padding", wanted, repr(value))
        return tuple(_plain_sides(wanted, entry, value) for entry in entries)
    return whole("padding", wanted, value)


def _plain_sides(wanted: str, entry: Any, value: Any) -> Any:
    if not is_list(entry):
        return whole("padding", wanted, entry, value)
    if len(entry) != 2:
        raise Unfit("padding", wanted, repr(value))
    return tuple(whole("padding", wanted, side, value) for side in entry)


def spatial(name: str, value: Any, n: int) -> tuple[int, ...]:
    """One size for each dimension."""
    each: tuple[int, ...] = _each(_plain_sizes(name, value, n), n)
    for size in each:
        if size < 1:
            raise Unfit(name, "sizes from 1 on", repr(value))
    return each


# ---- Settings


def _each(value: Any, n: int) -> tuple[int, ...]:
    return (value,) * n if type(value) is int else value


def _positive(name: str, value: Any, n: int) -> tuple[int, ...]:
    each = _each(value, n)
    for one in each:
        if not 1 <= one < 2**31:
            raise Unfit(name, "at least 1" if one < 1 else f"at most {2**31 - 1}", f"{one}")
    return each


def _padded(
    border: Any, extent: Sequence[int], stride: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The padding before and after, for each dimension."""
    n = len(extent)
    if border == "same":
        if any(s != 1 for s in stride):
            raise Unfit("padding", "another than 'same' unless stride is 1", "'same'")
        before = tuple((e - 1) // 2 for e in extent)
        return before, tuple(e - 1 - b for e, b in zip(extent, before, strict=True))
    if type(border) is str:
        half = {"valid": [0] * n, "full": [e - 1 for e in extent], "half": [e // 2 for e in extent]}
        return tuple(half[border]), tuple(half[border])
    entries: Sequence[Any] = _each(border, n)
    pairs = [(e, e) if type(e) is int else e for e in entries]
    for side in (side for one in pairs for side in one):
        if not -(2**31) <= side < 2**31:
            raise Unfit("padding", "ints of 32 bits", f"{side}")
    return tuple(b for b, _ in pairs), tuple(a for _, a in pairs)


class _Settings(NamedTuple):
    stride: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    dilation: tuple[int, ...]
    extent: tuple[int, ...]
    packed: tuple[int, ...]


def _settings(
    weight: tuple[int, ...], stride: Any, border: Any, dilation: Any, groups: int
) -> _Settings:
    n = len(weight) - 2
    strides, dilations = _positive("stride", stride, n), _positive("dilation", dilation, n)
    _positive("groups", groups, 1)
    if 0 in weight:
        raise Unfit("weight", "sizes from 1 on", f"shape {weight}")
    if weight[0] % groups:
        wanted = f"a multiple of the {groups} groups as its first size"
        raise Unfit("weight", wanted, f"shape {weight}")
    extent = tuple(d * (k - 1) + 1 for k, d in zip(weight[2:], dilations, strict=True))
    before, after = _padded(border, extent, strides)
    ones, zeros = (1,) * (3 - n), (0,) * (3 - n)
    packed = (
        groups,
        *(*ones, *strides),
        *(*zeros, *before),
        *(*zeros, *after),
        *(*ones, *dilations),
    )
    return _Settings(strides, before, after, dilations, extent, packed)


def _check_planes(shape: tuple[int, ...], n: int, planes: int, name: str) -> None:
    if shape[-n - 1] != planes:
        wanted = f"[batch x] {planes} (planes in) x {_LAYOUTS[n - 1]}"
        raise Unfit(name, wanted, f"shape {shape}")


# ---- Windows


@lru_cache(maxsize=4096)
def _window(
    image: tuple[int, ...],
    weight: tuple[int, ...],
    stride: Any,
    border: Any,
    dilation: Any,
    groups: int,
    name: str,
) -> Window:
    n = len(weight) - 2
    of = _settings(weight, stride, border, dilation, groups)
    _check_planes(image, n, weight[1] * groups, name)
    sizes = image[-n:]
    result = tuple(
        (size + b + a - e) // s + 1
        for size, b, a, e, s in zip(sizes, of.before, of.after, of.extent, of.stride, strict=True)
    )
    if min(result) < 1:
        text = " x ".join(str(max(r, 0)) for r in result)
        wanted = f"sizes large enough for kernel, padding and stride (the output would be {text})"
        raise Unfit(name, wanted, f"shape {image}")
    ones = (1,) * (3 - n)
    shape = (*image[: -n - 1], weight[0], *result)
    return Window(shape, ones + sizes, ones + result, of.packed)


def window_of(
    image: tuple[int, ...],
    weight: tuple[int, ...],
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    name: str = "x",
) -> Window:
    """The window of a convolution of an image of this shape.

    `name` is the argument that is to blame where the image does not fit.
    """
    if type(stride) is not int:
        stride = _plain_sizes("stride", stride, len(weight) - 2)
    if type(padding) is not int:
        padding = _plain_border(padding, len(weight) - 2)
    if type(dilation) is not int:
        dilation = _plain_sizes("dilation", dilation, len(weight) - 2)
    if type(groups) is not int:
        groups = whole("groups", "an int", groups)
    return _window(image, weight, stride, padding, dilation, groups, name)


@lru_cache(maxsize=4096)
def _transposed_window(
    map_: tuple[int, ...],
    weight: tuple[int, ...],
    stride: Any,
    border: Any,
    output_padding: Any,
    output_size: Any,
    dilation: Any,
    groups: int,
) -> Window:
    n = len(weight) - 2
    of = _settings(weight, stride, border, dilation, groups)
    _check_planes(map_, n, weight[0], "x")
    sizes = map_[-n:]
    least = tuple(
        (size - 1) * s - b - a + e
        for size, s, b, a, e in zip(sizes, of.stride, of.before, of.after, of.extent, strict=True)
    )
    more = tuple(map(max, of.stride, of.dilation))
    if output_size is None:
        added = _each(output_padding, n)
        for one, limit, s, d in zip(added, more, of.stride, of.dilation, strict=True):
            if not 0 <= one < limit:
                wanted = f"from 0 on, less than the stride {s} or the dilation {d}"
                raise Unfit("output_padding", wanted, f"{one}")
        result = tuple(map(int.__add__, least, added))
    else:
        if any(_each(output_padding, n)):
            raise Unfit("output_padding", "0 beside output_size", repr(output_padding))
        result = _each(output_size, n)
        for one, low, room in zip(result, least, more, strict=True):
            if not low <= one < low + room:
                wanted = f"sizes that x can become, here {low} to {low + room - 1}"
                raise Unfit("output_size", wanted, f"{one}")
    if min(result) < 1:
        text = " x ".join(str(max(r, 0)) for r in result)
        wanted = f"sizes large enough for kernel, padding and stride (the output would be {text})"
        raise Unfit("x", wanted, f"shape {map_}")
    ones = (1,) * (3 - n)
    shape = (*map_[: -n - 1], weight[1] * groups, *result)
    return Window(shape, ones + result, ones + sizes, of.packed)


def transposed_window(
    map_: tuple[int, ...],
    weight: tuple[int, ...],
    stride: Any,
    padding: Any,
    output_padding: Any,
    output_size: Any,
    dilation: Any,
    groups: int,
) -> Window:
    """The window of a transposed convolution of a map of this shape."""
    n = len(weight) - 2
    if type(stride) is not int:
        stride = _plain_sizes("stride", stride, n)
    if type(padding) is not int:
        padding = _plain_border(padding, n)
    if type(dilation) is not int:
        dilation = _plain_sizes("dilation", dilation, n)
    if type(groups) is not int:
        groups = whole("groups", "an int", groups)
    if type(output_padding) is not int:
        output_padding = _plain_sizes("output_padding", output_padding, n)
    if output_size is not None and type(output_size) is not int:
        output_size = _plain_sizes("output_size", output_size, n)
    return _transposed_window(
        map_, weight, stride, padding, output_padding, output_size, dilation, groups
    )

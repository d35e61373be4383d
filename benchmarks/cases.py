"""The case table: what is measured, as data.

A case is a set of named tensors and a few parts; a part is a call of ours and the same
computation in PyTorch. To add a case, add it to the list of its family, which table.py
names; to add a family, add its list to CASES there. Names are batch x channels, spatial size, then
kernel k, stride s, padding p, adjustment a, dilation d; T marks a transposed convolution, D one
that is depthwise, G one in that number of groups; p0-1 is padding before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Shape: TypeAlias = tuple[int, ...]
SMALL, MEDIUM, LARGE = (32, 100), (8, 64, 56, 56), (32, 64, 112, 112)
Argument: TypeAlias = str | int | float | bool | None
Peer: TypeAlias = Callable[[Any, Any], Any]
"""Of `torch` and `t`, whose attributes are the case's tensors."""


@dataclass(frozen=True)
class Normal:
    """A tensor of normally distributed values."""

    shape: Shape


@dataclass(frozen=True)
class Uniform:
    """A tensor of values from `low` to `high`."""

    shape: Shape
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class Indices:
    """An index tensor of whole numbers from 1 to `most`."""

    shape: Shape
    most: int


@dataclass(frozen=True)
class Labels:
    """An index tensor whose rows begin with `count` whole numbers from 1 to `most`; then zeros."""

    shape: Shape
    most: int
    count: int


@dataclass(frozen=True)
class Steps:
    """An index tensor of the numbers 1, 1 + step, 1 + 2*step and so on."""

    shape: Shape
    step: int


@dataclass(frozen=True)
class Chosen:
    """What max pooling of planes leaves: an element of each 2 x 2 window, by its number from 1."""

    shape: Shape


@dataclass(frozen=True)
class Taps:
    """What max pooling of volumes leaves: packed taps in windows of 2 x 2 x 2."""

    shape: Shape


@dataclass(frozen=True)
class Zeros:
    """A tensor that calls add to, or that must have its size before a call writes to it."""

    shape: Shape


Contents: TypeAlias = Normal | Uniform | Indices | Labels | Steps | Chosen | Taps | Zeros


@dataclass(frozen=True)
class Call:
    """One of our calls, without the state; a str is the name of a tensor."""

    function: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Part:
    """The same computation in both libraries: one call of ours, or several in turn.

    What our calls write needs no entry in the case's ``tensors``. ``peer`` returns the real tensors
    that we write, in the order of the arguments; it may leave out the last ones.
    """

    name: str
    calls: tuple[Call, ...]
    peer: Peer
    flops: int = 0
    """0 where moving the data is the work: the limit then is the speed of copying."""
    peer_cpp: str | None = None
    """The peer in C++, for calls so short that Python would be most of the time."""
    elements: int = 0
    """Elements read and written, where that is not all of the tensors."""
    function: Callable[[Any], Any] | None = None
    """Ours, where that is no call of C: of the case's arrays, as attributes; returns arrays in the
    order of the peer's tensors."""


@dataclass(frozen=True)
class Case:
    """Tensors and parts; a later part may read what an earlier one of ours wrote."""

    name: str
    family: str
    tensors: Mapping[str, Contents]
    parts: tuple[Part, ...]
    prepare: Callable[[Any, Any], dict[str, Any]] | None = None
    """More tensors for PyTorch: what its own forward pass leaves for its backward pass."""
    arrays: bool = False
    """Pass numpy arrays where other cases pass Tensors."""
    tolerance: Mapping[str, float] = field(
        default_factory=lambda: {"float32": 2e-5, "float64": 1e-12}
    )
    """Largest error of a result, as a part of the largest value in it, by type."""


def part(
    name: str,
    function: str,
    arguments: tuple[Argument, ...],
    peer: Peer,
    flops: int = 0,
    peer_cpp: str | None = None,
    elements: int = 0,
) -> Part:
    """A part of one call."""
    return Part(name, (Call(function, arguments),), peer, flops, peer_cpp, elements)


def shape_name(shape: Shape) -> str:
    """32x100, for the names of cases."""
    return "x".join(map(str, shape))


def suffix(**values: int) -> str:
    """k3s2p1, without what is at its default."""
    default = {"s": 1, "p": 0, "a": 0, "d": 1}
    return "".join(f"{key}{value}" for key, value in values.items() if value != default.get(key))

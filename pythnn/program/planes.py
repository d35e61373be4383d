"""Images whose planes are the last dimension, where layers of 3x3 taps compute faster with them.

Such a layer has as many multiplications either way, but transforms whole vectors of planes as they
are in memory. The numbers differ from those of the other order within rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..graph.costs import multiply_adds
from ..graph.operations import Buffer, Constant, Kernel, Operation, View
from .uses import argument, users

__all__ = ["put_planes_last"]

_CONVOLUTIONS = (
    "SpatialConvolutionJoined_updateOutput",
    "SpatialConvolutionMM_updateOutput",
    "SpatialDilatedConvolution_updateOutput",
)
_VECTOR = 16
"""Planes of which there are multiples: those of the widest vectors."""
_SIDE = 4
"""Results of a tile along a line."""
_FEW_TILES = 9
"""Tiles of a sample below which products wait for weights, unless these are as near as those of
_NEAR pairs of planes; measured with 512 planes of 7x7, and 256 of 8x8."""
_NEAR = 64 * 64
_NEAR_BYTES = 1 << 20
"""Bytes of an image beyond which both orders wait for far caches: one of 64 planes of 56x56 gains a
fifth, one of 128 of 56x56 a twentieth or nothing, 16 of 128 of 28x28 a twentieth."""
_GAIN = 1 / 5
"""The share of its multiplications that take as long as what a layer of 3x3 taps gains: less than
most were measured to gain."""
_LOSS = 1 / 5
"""The same for what a layer of one tap loses that changes the order."""
_MOVED = 60
"""The multiplications that take as long as moving an element to its place in the other order: 0.6
ns, as from a far cache; in a near one it takes 0.2."""


@dataclass
class _Group:
    """Layers that gain, and the images that they share."""

    layers: list[Kernel] = field(default_factory=list)
    buffers: set[Buffer] = field(default_factory=set)


def put_planes_last(operations: Sequence[Operation], results: Iterable[View]) -> list[Operation]:
    """The operations, with the planes last in images where that takes less time.

    Inputs, which no operation makes, and results keep their order. Layers that gain read copies of
    images that others make, and others copies of those that these layers make.
    """
    kept = list(operations)
    of_buffer, away = users(kept), _buffers(results)
    gaining = [one for one in kept if isinstance(one, Kernel) and _gains(one)]
    gaining = [one for one in gaining if _makes_alone(one, of_buffer, away)]
    for group in _groups(gaining):
        of_buffer = users(kept)
        made = _buffers(one.writes[0] for one in group.layers)
        last = made | _made_by_layers(group.buffers - made - away, of_buffer)
        settled = _are_settled(kept, group, group.buffers - last)
        if settled and _saved(group, last, of_buffer) > 0:
            _reorder(kept, group, last)
    return kept


def _views(kernel: Kernel) -> list[View]:
    """The images that a convolution reads, and the one that it writes."""
    return [view for view in (*kernel.reads, *kernel.writes) if len(view.shape) in (3, 4)]


def _is_convolution(operation: Operation) -> bool:
    return (
        isinstance(operation, Kernel)
        and operation.function in _CONVOLUTIONS
        and all(view.is_whole or view == _last(view) for view in _views(operation))
    )


def _window(kernel: Kernel) -> tuple[int, ...]:
    """Taps, stride and dilation."""
    names = ("kH", "kW", "dH", "dW", "dilationH", "dilationW")
    values = (argument(kernel, name) for name in names)
    return tuple(1 if value is None else int(value) for value in values)


def _planes(view: View) -> int:
    return view.shape[-3]


def _gains(kernel: Kernel) -> bool:
    """Whether a kernel is a layer that computes faster with the planes last."""
    if not _is_convolution(kernel) or not isinstance(argument(kernel, "weight"), Constant):
        return False
    source, made = kernel.reads[0], kernel.writes[0]
    if _window(kernel) != (3, 3, 1, 1, 1, 1):
        return False
    pairs = _planes(source) * _planes(made)
    tiles = math.prod(-(-size // _SIDE) for size in made.shape[-2:])
    whole = _planes(source) % _VECTOR == 0 and _planes(made) % _VECTOR == 0
    is_near = max(source.size, made.size) * source.dtype.itemsize <= _NEAR_BYTES
    return whole and is_near and (tiles >= _FEW_TILES or pairs <= _NEAR)


def _follows(operation: Operation) -> bool:
    """Whether an operation computes about as fast with the planes last: strides, and one tap."""
    if not isinstance(operation, Kernel) or not _is_convolution(operation):
        return False
    taps, stride = _window(operation)[:2], _window(operation)[2:4]
    few = _planes(operation.reads[0]) < _VECTOR
    return taps == (1, 1) or max(stride) > 1 or few


def _makes_alone(
    kernel: Kernel, of_buffer: dict[Buffer, list[Operation]], away: set[Buffer]
) -> bool:
    """Whether a layer alone makes its image, and the program does not give it away."""
    buffer = kernel.writes[0].buffer
    makers = [one for one in of_buffer[buffer] if buffer in _buffers(one.writes)]
    return makers == [kernel] and buffer not in away and _is_seen_whole(buffer, of_buffer)


def _is_seen_whole(buffer: Buffer, of_buffer: dict[Buffer, list[Operation]]) -> bool:
    """Whether all that use an image are kernels, or copies of it, that see it as one whole."""
    shapes = set()
    for operation in of_buffer[buffer]:
        if not isinstance(operation, Kernel):
            return False
        if operation.function.startswith("Tensor.") and not _copies(operation, buffer):
            return False
        for view in (*operation.reads, *operation.writes):
            if view.buffer is buffer:
                shapes.add(view.shape if view.is_whole else ())
    return len(shapes) == 1 and len(next(iter(shapes))) in (3, 4)


def _copies(operation: Operation, buffer: Buffer) -> bool:
    """Whether an operation copies an image to another one."""
    return operation.function == "Tensor.copy" and buffer not in _buffers(operation.writes)


def _groups(layers: Sequence[Kernel]) -> list[_Group]:
    """The layers, those that share an image together."""
    groups: list[_Group] = []
    for layer in layers:
        buffers = {view.buffer for view in _views(layer)}
        joined = _Group([layer], buffers)
        apart = []
        for group in groups:
            if group.buffers & buffers:
                joined.layers = group.layers + joined.layers
                joined.buffers = joined.buffers | group.buffers
            else:
                apart.append(group)
        groups = [*apart, joined]
    return groups


def _made_by_layers(buffers: set[Buffer], of_buffer: dict[Buffer, list[Operation]]) -> set[Buffer]:
    """Those that a convolution makes which follows the order."""
    found = set()
    for buffer in buffers:
        makers = [one for one in of_buffer[buffer] if buffer in _buffers(one.writes)]
        if len(makers) == 1 and _follows(makers[0]) and _is_seen_whole(buffer, of_buffer):
            found.add(buffer)
    return found


def _are_settled(kept: list[Operation], group: _Group, buffers: set[Buffer]) -> bool:
    """Whether images are not written any more once the group has read them."""
    read: set[Buffer] = set()
    for operation in kept:
        if _buffers(operation.writes) & read:
            return False
        if operation in group.layers:
            read |= _buffers(operation.reads) & buffers
    return True


def _saved(group: _Group, last: set[Buffer], of_buffer: dict[Buffer, list[Operation]]) -> float:
    """The multiplications that take as long as what is saved by having the planes last."""
    saved = sum(_GAIN * multiply_adds(one) for one in group.layers)
    saved -= sum(_MOVED * buffer.size for buffer in group.buffers - last)
    others = {id(one): one for buffer in last for one in of_buffer[buffer]}
    for one in others.values():
        if one in group.layers:
            continue
        if isinstance(one, Kernel) and _follows(one):
            mixed = len({view.buffer in last for view in _views(one)}) > 1
            saved -= _LOSS * multiply_adds(one) if mixed and _window(one)[:2] == (1, 1) else 0
    saved -= sum(_MOVED * buffer.size for buffer in _read_by_others(group, last, of_buffer))
    return saved


def _read_by_others(
    group: _Group, last: set[Buffer], of_buffer: dict[Buffer, list[Operation]]
) -> list[Buffer]:
    """The images with the planes last that other operations read, which do not follow the order."""
    return [
        buffer
        for buffer in last
        if any(one not in group.layers and not _follows(one) for one in of_buffer[buffer])
    ]


# ---- Changing the order


def _last(view: View) -> View:
    """The same image with the planes last."""
    *batch, planes, height, width = view.shape
    strides = [height * width * planes] * len(batch)
    return View(view.buffer, view.shape, (*strides, 1, width * planes, planes))


def _reorder(kept: list[Operation], group: _Group, last: set[Buffer]) -> None:
    """Puts the planes last in `last`, and in copies of the group's other images.

    What does not follow the order reads copies, too, in the usual one.
    """
    for buffer in last:
        others = [
            one
            for one in kept
            if buffer in _buffers(one.reads) and one not in group.layers and not _follows(one)
        ]
        copies = [one for one in others if _copies(one, buffer)]
        readers = [one for one in others if one not in copies]
        for operation in kept[:]:
            if isinstance(operation, Kernel) and operation not in readers:
                _replace(
                    kept, group, operation, {view: _last(view) for view in _of(operation, buffer)}
                )
        if readers:
            _read_copy(kept, group, readers, buffer, as_last=False)
    for buffer in group.buffers - last:
        readers = [one for one in kept if one in group.layers and buffer in _buffers(one.reads)]
        _read_copy(kept, group, readers, buffer, as_last=True)


def _read_copy(
    kept: list[Operation], group: _Group, readers: list[Operation], buffer: Buffer, as_last: bool
) -> None:
    """Lets operations read a copy of an image, made before the first of them."""
    source = next(view for view in readers[0].reads if view.buffer is buffer)
    target = View(Buffer(buffer.size, buffer.dtype), source.shape, source.strides)
    given, made = (source, _last(target)) if as_last else (_last(source), target)
    place = f"{readers[0].place}: planes {'last' if as_last else 'first'}"
    kept.insert(
        kept.index(readers[0]), Kernel("Tensor.copy", [made, given], [given], [made], place)
    )
    for reader in readers:
        assert isinstance(reader, Kernel)  # noqa: S101 (all that use these images are)
        _replace(kept, group, reader, {source: made})


def _replace(
    kept: list[Operation], group: _Group, operation: Kernel, views: dict[View, View]
) -> None:
    """Puts an operation on other views in its place."""
    if not views:
        return
    changed = _changed(operation, views)
    group.layers = [changed if one is operation else one for one in group.layers]
    kept[kept.index(operation)] = changed


def _of(operation: Operation, buffer: Buffer) -> list[View]:
    return [view for view in (*operation.reads, *operation.writes) if view.buffer is buffer]


def _changed(kernel: Kernel, views: dict[View, View]) -> Kernel:
    """A kernel on other views."""
    arguments = [views.get(one, one) if isinstance(one, View) else one for one in kernel.arguments]
    reads, writes = ([views.get(one, one) for one in of] for of in (kernel.reads, kernel.writes))
    return Kernel(kernel.function, arguments, reads, writes, kernel.place)


def _buffers(views: Iterable[View]) -> set[Buffer]:
    return {view.buffer for view in views}

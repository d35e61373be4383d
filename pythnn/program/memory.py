"""Where buffers are: copies that are not made, results in the place of inputs, and addresses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..graph.functions import functions
from ..graph.operations import Buffer, Kernel, Operation, View, views_in

__all__ = ["Layout", "lay_out"]

_ALIGNMENT = 64
"""Bytes of a cache line; also the widest vectors."""

_ON_PLACE = ("Tensor.mul", "Tensor.add")
"""Functions whose result may have the memory of their operand."""


@dataclass
class Layout:
    """The operations that are left, and where their memory is."""

    operations: list[Operation]
    offsets: dict[Buffer, int]
    """Where each buffer begins, in elements, in the memory for its element type."""
    sizes: dict[np.dtype[Any], int]
    """The elements of memory for each element type."""
    in_place: set[int] = field(default_factory=set)
    """The ids of operations that write to their input."""
    parents: dict[Buffer, Buffer] = field(default_factory=dict)
    """For buffers that are parts of others, the one that they are in."""

    @property
    def nbytes(self) -> int:
        """The bytes of memory."""
        return sum(size * dtype.itemsize for dtype, size in self.sizes.items())


class _Planner:
    """Buffers that are parts of others, and from when to when each is in use."""

    def __init__(
        self, operations: list[Operation], inputs: list[View], outputs: list[View]
    ) -> None:
        self.operations: list[Operation | None] = list(operations)
        self.end = len(operations)
        self.parents: dict[Buffer, tuple[Buffer, int]] = {}
        self.uses: dict[Buffer, list[tuple[int, View]]] = {}
        self.in_place: set[int] = set()
        self.fixed = {view.buffer for view in inputs}
        for view in inputs:
            self._use(-1, view)
        for index, operation in enumerate(operations):
            for view in (*operation.reads, *operation.writes):
                self._use(index, view)
        for view in outputs:
            self._use(self.end, view)

    def _use(self, index: int, view: View) -> None:
        self.uses.setdefault(view.buffer, []).append((index, view))

    def resolve(self, view: View) -> View:
        """A view as one of a buffer that is no part of another."""
        buffer, offset = view.buffer, view.offset
        while buffer in self.parents:
            buffer, more = self.parents[buffer]
            offset += more
        return View(buffer, view.shape, view.strides, offset)

    def first(self, buffer: Buffer) -> int:
        """The index of the operation that uses a buffer first; -1 for inputs."""
        return min(index for index, _ in self.uses[buffer])

    def last(self, buffer: Buffer) -> int:
        """The index of the last operation that uses it; that past the end for outputs."""
        return max(index for index, _ in self.uses[buffer])

    def put(self, buffer: Buffer, into: View) -> None:
        """Makes a buffer a part of another one."""
        self.parents[buffer] = (into.buffer, into.offset)
        self.uses[into.buffer] += [
            (index, View(into.buffer, view.shape, view.strides, view.offset + into.offset))
            for index, view in self.uses.pop(buffer)
        ]

    # ---- What can share memory

    def share(self) -> None:
        """Puts buffers into others wherever an operation allows it."""
        for index, operation in enumerate(self.operations):
            if not isinstance(operation, Kernel):
                continue
            if operation.function == "Tensor.copy":
                if operation.reads and self._drops_copy(index, operation):
                    self.operations[index] = None
            elif self._works_in_place(index, operation):
                self.in_place.add(id(operation))

    def _ends(self, view: View, index: int) -> bool:
        """Whether nobody uses a view's buffer after an operation."""
        return self.last(view.buffer) == index

    def _begins(self, view: View, index: int) -> bool:
        """Whether an operation makes all of a buffer, which nobody has used before."""
        return view.is_whole and view.buffer not in self.fixed and self.first(view.buffer) == index

    def _drops_copy(self, index: int, operation: Kernel) -> bool:
        target, source = (self.resolve(view) for view in (operation.writes[0], operation.reads[0]))
        if not (target.is_dense and source.is_dense and target.size == source.size):
            return False
        if target.buffer is source.buffer:
            return target.offset == source.offset
        if self._ends(source, index) and self._begins(target, index):
            self.put(target.buffer, source)
            return True
        if self._is_made_for(source, target, index):
            self.put(source.buffer, target)
            return True
        return False

    def _is_made_for(self, source: View, target: View, index: int) -> bool:
        """Whether a buffer can be written to the place that it is copied to."""
        begin = self.first(source.buffer)
        if not source.is_whole or begin < 0 or not self._ends(source, index):
            return False
        inside = range(target.offset, target.offset + target.span)
        return not any(
            begin <= use < index and _meets(view, inside) for use, view in self.uses[target.buffer]
        )

    def _works_in_place(self, index: int, operation: Kernel) -> bool:
        if operation.function in _ON_PLACE:
            pair = operation.arguments[1], operation.arguments[0]
        elif not operation.function.startswith("Tensor."):
            inplace = functions[operation.function].inplace
            if inplace is None or operation.arguments[inplace[0]]:
                return False
            pair = operation.arguments[inplace[1]], operation.arguments[inplace[2]]
        else:
            return False
        if not all(isinstance(one, View) for one in pair):
            return False
        source, target = (self.resolve(view) for view in pair if isinstance(view, View))
        fits = source.is_dense and source.size == target.size and source.dtype == target.dtype
        if not fits or not self._ends(source, index) or not self._begins(target, index):
            return False
        self.put(target.buffer, source)
        return True


def _meets(view: View, inside: range) -> bool:
    """Whether a view and a range of elements have any in common, or may have."""
    return view.offset < inside.stop and inside.start < view.offset + view.span


def lay_out(operations: list[Operation], inputs: Any, outputs: Any) -> Layout:
    """Shares memory, drops copies, and finds places for what is left.

    Buffers get the lowest place that no other one has at the same time, the largest first.
    """
    planner = _Planner(operations, views_in(inputs), views_in(outputs))
    planner.share()
    kept = [one for one in planner.operations if one is not None]
    offsets, sizes = _places(planner)
    parents: dict[Buffer, Buffer] = {}
    for buffer in planner.parents:
        found = planner.resolve(View(buffer, (1,), (1,)))
        parents[buffer] = found.buffer
        offsets[buffer] = offsets[found.buffer] + found.offset
    return Layout(kept, offsets, sizes, planner.in_place, parents)


def _places(planner: _Planner) -> tuple[dict[Buffer, int], dict[np.dtype[Any], int]]:
    offsets: dict[Buffer, int] = {}
    sizes: dict[np.dtype[Any], int] = {}
    placed: dict[np.dtype[Any], list[tuple[int, int, int, int]]] = {}
    for buffer in sorted(planner.uses, key=lambda one: -one.size):
        first, last = planner.first(buffer), planner.last(buffer)
        step = _ALIGNMENT // buffer.dtype.itemsize
        room = -(-buffer.size // step) * step
        others = placed.setdefault(buffer.dtype, [])
        taken = sorted(place for place in others if place[2] <= last and first <= place[3])
        begin = _gap(taken, room)
        others.append((begin, begin + room, first, last))
        offsets[buffer] = begin
        sizes[buffer.dtype] = max(sizes.get(buffer.dtype, 0), begin + room)
    return offsets, sizes


def _gap(taken: Iterable[tuple[int, int, int, int]], room: int) -> int:
    """The lowest place of a size between those that are taken, which are sorted."""
    begin = 0
    for start, end, _, _ in taken:
        if begin + room <= start:
            break
        begin = max(begin, end)
    return begin

"""Modules as a graph: what takes the output of what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .. import nn
from .._models.rows import is_object
from ..nn.object.node import Graph as Steps

__all__ = ["Edge", "Graph", "Node", "graph_of"]

MAX_NODES = 250  # drawn; with more, containers are drawn as one box
DEPTHS = (40, 20, 12, 8, 6, 5, 4, 3, 2, 1)  # of containers that are opened: the first that suffices
MAX_EDGES = 4 * MAX_NODES
MAX_INPUTS = 32  # drawn apart


@dataclass
class Node:
    """A box: a module, or where `module` is None an input or the output, called by `name`."""

    module: Any = None
    name: str = ""
    value: Any = None  # the array or table at an input or the output, where it is known
    notes: dict[str, Any] = field(default_factory=dict)  # without those of nngraph itself
    inside: int = 0  # modules in a container that is drawn as one box


class Edge(NamedTuple):
    """From a node to a later one; `entry` counts from 1 where it takes an entry of a table."""

    begin: int
    end: int
    entry: int | None = None


@dataclass
class Graph:
    """Nodes, each after those whose output it takes, and the edges between them."""

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    has_graph: bool = False  # of nngraph

    @property
    def branches(self) -> bool:
        """Whether it is more than a chain."""
        begins, ends = [e.begin for e in self.edges], [e.end for e in self.edges]
        return len(set(begins)) < len(begins) or len(set(ends)) < len(ends)


class _Output(NamedTuple):
    """The output of a node, or an entry of it."""

    node: int
    entry: int | None = None


Value = Any  # an _Output, or a list of Values: a table whose entries come from different nodes


class _TooManyError(Exception):
    """More nodes than can be drawn."""


def graph_of(module: Any, input: Any = None, output: Any = None) -> Graph | None:
    """The graph of a module, with its input and output where they are known.

    None for what is no module of a known class. Containers are opened as far as `MAX_NODES` boxes
    allow.
    """
    if not isinstance(module, nn.Module):
        return None
    for depth in DEPTHS:
        builder = _Builder(depth)
        try:
            builder.build_whole(module, input, output)
        except _TooManyError:
            continue
        return builder.graph
    return None


class _Builder:
    def __init__(self, depth: int) -> None:
        self.graph = Graph()
        self._depth = depth
        self._steps = 0  # also those that make no node, of which shared modules can have 2^depth

    def build_whole(self, module: Any, input: Any, output: Any) -> None:
        """The input, the module and the output."""
        value = self._module(module, self._input(module, input), self._depth, {})
        self._node(Node(name="output", value=output), value)

    def _node(self, node: Node, value: Value = None) -> _Output:
        """Adds a node that takes a value."""
        self._count()
        end = len(self.graph.nodes)
        self.graph.nodes.append(node)
        for source in _outputs(value):
            self.graph.edges.append(Edge(source.node, end, source.entry))
            if len(self.graph.edges) > MAX_EDGES:
                raise _TooManyError
        return _Output(end)

    def _count(self) -> None:
        self._steps += 1
        if self._steps > 4 * MAX_NODES or len(self.graph.nodes) > MAX_NODES:
            raise _TooManyError

    def _input(self, module: Any, input: Any) -> Value:
        """A node for each entry of the table that a module takes."""
        count = len(input) if isinstance(input, (list, tuple)) else _inputs_of(module)
        if not 1 < count <= MAX_INPUTS:
            return self._node(Node(name="input", value=input))
        given = list(input) if isinstance(input, (list, tuple)) else [None] * count
        return [
            self._node(Node(name=f"input {i}", value=value)) for i, value in enumerate(given, 1)
        ]

    def _module(self, module: Any, value: Value, depth: int, notes: Mapping[str, Any]) -> Value:
        """What a module makes of a value."""
        self._count()
        children = _children(module) if depth > 0 else None
        if children is not None and isinstance(getattr(module, "graph", None), Steps):
            return self._steps_of(module, children, value, depth)
        if children and isinstance(module, nn.Sequential):
            for child in children[:-1]:
                value = self._module(child, value, depth - 1, {})
            return self._module(children[-1], value, depth - 1, notes)
        if children and isinstance(module, (nn.Concat, nn.Parallel)):
            branches = self._branches(module, children, value, depth)
            return self._node(Node(module, notes=dict(notes)), branches)
        if children and not notes and isinstance(module, (nn.ConcatTable, nn.ParallelTable)):
            return self._branches(module, children, value, depth)
        if isinstance(module, nn.SelectTable):
            value = _entry(value, getattr(module, "index", None))
        inside = len(_children(module) or ())
        return self._node(Node(module, notes=dict(notes), inside=inside), value)

    def _branches(self, module: Any, children: list[Any], value: Value, depth: int) -> list[Value]:
        """What the children make, all of one value or each of an entry of it."""
        if isinstance(module, (nn.Concat, nn.ConcatTable)):
            return [self._module(child, value, depth - 1, {}) for child in children]
        return [
            self._module(child, _entry(value, i), depth - 1, {})
            for i, child in enumerate(children, 1)
        ]

    def _steps_of(self, module: Any, children: list[Any], value: Value, depth: int) -> Value:
        """What the graph of a gModule makes of a value."""
        self.graph.has_graph = True
        made: list[Value] = []
        for i, step in enumerate(module.graph.steps):
            taken = [value] if i == module.graph.start else [made[source] for source in step.inputs]
            one: Value = taken[0] if len(taken) == 1 else taken
            if step.entry is not None:
                one = _entry(one, step.entry + 1)
            if step.module is not None and step.module < len(children):
                notes = {key: n for key, n in step.annotations.items() if key[:1] != "_"}
                one = self._module(children[step.module], one, depth - 1, notes)
            made.append(one)
        return made[-1] if made else value


def _children(module: Any) -> list[Any] | None:
    """The modules in a container; None where something else is there, or none belongs there."""
    children = getattr(module, "modules", None) if isinstance(module, nn.Container) else None
    if not isinstance(children, list) or not all(map(is_object, children)):
        return None
    return children


def _inputs_of(module: Any) -> int:
    """How many inputs a module takes, by what it is."""
    for _ in range(DEPTHS[0]):
        children = _children(module)
        graph = getattr(module, "graph", None)
        if isinstance(graph, Steps):
            return graph.inputs
        if isinstance(module, nn.ParallelTable):
            return len(children or ())
        if not isinstance(module, nn.Sequential) or not children:
            break
        module = children[0]
    return 1


def _entry(value: Value, index: Any) -> Value:
    """The entry of a value at an index that counts from 1, or from the end where it is negative."""
    if not isinstance(index, int) or index == 0:
        return value
    if isinstance(value, list):
        place = index - 1 if index > 0 else index
        return value[place] if -len(value) <= place < len(value) else value
    return _Output(value.node, index) if value.entry is None else value


def _outputs(value: Value) -> Iterator[_Output]:
    """All nodes' outputs in a value."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, list):
            pending += reversed(one)
        elif one is not None:
            yield one

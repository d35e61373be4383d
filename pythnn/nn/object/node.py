"""Places in a graph of modules, and the steps that a graph becomes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._errors import THNNArgumentError, THNNError
from ..._shown import LINE, shown

__all__ = ["Graph", "Node", "Step", "are_nodes", "graph_of", "topological"]


class Node:
    """A node of a graph (nngraph's ``Node``): a module applied to the outputs of other nodes.

    ``nn.Tanh()(node)``, ``nn.CAddTable()([a, b])`` and, for an input of the graph,
    ``nn.Identity()()`` make one. Without a module it passes its input on.
    """

    def __init__(self, module: Any = None, inputs: Node | Sequence[Node] = ()) -> None:
        self.module = module
        self.inputs = (inputs,) if isinstance(inputs, Node) else tuple(inputs)
        self.entry: int | None = None
        """Which entry of its input's table it is, from 0; None for a module's own output."""
        self.annotations: dict[str, Any] = {}

    def split(self, count: int) -> list[Node]:
        """The entries of a table that this node gives, as nodes."""
        table = Node(None, self)
        entries = [Node(None, table) for _ in range(count)]
        for i, node in enumerate(entries):
            node.entry = i
        return entries

    def annotate(self, **annotations: Any) -> Node:
        """Adds to ``annotations``, such as a name; returns itself."""
        self.annotations.update(annotations)
        return self


Node.__module__ = "pythnn.nn"  # where users find it


def are_nodes(given: Any) -> bool:
    """Whether something is a node, a list of nodes, or the empty tuple: no nodes."""
    if isinstance(given, (list, tuple)):
        return all(isinstance(entry, Node) for entry in given) and (bool(given) or given == ())
    return isinstance(given, Node)


@dataclass(frozen=True)
class Step:
    """One node of a graph, in numbers: ``inputs`` are the steps whose outputs it takes."""

    inputs: tuple[int, ...]
    module: int | None = None  # among the modules of the graph; None: passes its input on
    entry: int | None = None  # of its input's table, from 0
    annotations: dict[str, Any] = field(default_factory=dict)

    @property
    def notes(self) -> str:
        """The annotations as text in brackets; those with _ are nngraph's own."""
        said = [
            f"{shown(key, LINE)}: {shown(value, LINE)}"
            for key, value in self.annotations.items()
            if str(key)[:1] != "_"
        ]
        return f" [{', '.join(said)}]" if said else ""


@dataclass(frozen=True)
class Graph:
    """Steps, each after those whose outputs it takes; the last one gives the output."""

    steps: tuple[Step, ...]
    start: int
    """The step that gets the input."""
    inputs: int
    """How many inputs there are; more than one come as a table."""


def topological(nodes: Sequence[Any], sources: Any) -> list[Any]:
    """Nodes and all that they depend on, each after what it depends on; otherwise as given.

    Nodes are told apart by identity; `sources` gives those of a node. Raises ValueError for a
    circle.
    """
    order: list[Any] = []
    begun: set[int] = set()
    ended: set[int] = set()
    for first in nodes:
        pending = [(first, iter(()))] if id(first) not in begun else []
        while pending:
            node, rest = pending.pop()
            if id(node) not in begun:
                begun.add(id(node))
                rest = iter(sources(node))
            source = next(rest, None)
            if source is None:
                ended.add(id(node))
                order.append(node)
                continue
            pending.append((node, rest))
            if id(source) not in begun:
                pending.append((source, iter(())))
            elif id(source) not in ended:
                raise ValueError("a node of the graph depends on itself")
    return order


def graph_of(inputs: Sequence[Node], outputs: Sequence[Node]) -> tuple[Graph, list[Any]]:
    """The graph between nodes, and its modules in the order of the steps."""
    _check("inputs", 1, inputs)
    _check("outputs", 2, outputs)
    source, end = Node(), Node(None, outputs)
    feeds = source.split(len(inputs)) if len(inputs) > 1 else [source]
    fed = {id(node): feed for node, feed in zip(inputs, feeds, strict=True)}
    for node in inputs:
        if node.inputs:
            raise THNNArgumentError.expected(
                "nn.gModule", 1, "inputs", "nodes without inputs, as nn.Identity()()", "one with"
            )

    def sources(node: Node) -> Iterable[Node]:
        return (fed[id(node)],) if id(node) in fed else node.inputs

    nodes = topological([*inputs, end], sources)
    number = {id(node): i for i, node in enumerate(nodes)}
    modules: list[Any] = []
    steps = []
    for node in nodes:
        taken = tuple(number[id(other)] for other in sources(node))
        if not taken and node is not source:
            raise THNNError(
                "nn.gModule: a node has no inputs and is none of the graph's inputs: "
                f"{node.module!r}"
            )
        place = None if node.module is None else len(modules)
        modules += [] if node.module is None else [node.module]
        steps.append(Step(taken, place, node.entry, dict(node.annotations)))
    return Graph(tuple(steps), number[id(source)], len(inputs)), modules


def _check(name: str, position: int, nodes: Any) -> None:
    if not isinstance(nodes, (list, tuple)) or not nodes:
        raise THNNArgumentError.expected(
            "nn.gModule", position, name, "a list of nodes", f"a {type(nodes).__name__}"
        )
    for node in nodes:
        if not isinstance(node, Node):
            found = f"a list with a {type(node).__name__}"
            raise THNNArgumentError.expected("nn.gModule", position, name, "a list of nodes", found)
    if len({id(node) for node in nodes}) < len(nodes):
        raise THNNArgumentError.expected(
            "nn.gModule", position, name, "different nodes", "one of them twice"
        )

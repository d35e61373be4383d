"""Graphs as nngraph keeps them in the fields of a gModule: nodes, edges and tables of objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...t7 import Table, TorchObject
from ..object.node import Graph, Step, topological

__all__ = ["FIELDS", "graph_of_fields", "to_fields"]

FIELDS = ("backwardnodes", "bg", "fg", "forwardnodes", "innode", "nInputs", "outnode")
"""The fields of a gModule that say what its graph is."""


# ---- From a file


def graph_of_fields(fields: Mapping[str, Any], modules: list[Any]) -> Graph:
    """The graph of a gModule's fields. Modules that are missing in `modules` are appended.

    Every node has a table ``data``, which it shares with its twin in the graph of the other
    direction. ``data.mapindex`` lists the data of the nodes whose outputs it takes.

    Raises ValueError, LookupError, AttributeError or TypeError for fields that make no graph.
    """
    end, start = _data(fields["outnode"]), _data(fields["innode"])
    listed = [_data(node) for node in fields.get("forwardnodes") or []]
    order = [data for data in topological([*listed, end], _sources) if data is not end]
    order.append(end)
    number = {id(data): i for i, data in enumerate(order)}
    known = {id(module): i for i, module in enumerate(modules)}
    steps = []
    for data in order:
        module = data.get("module")
        if module is not None and id(module) not in known:
            known[id(module)] = len(modules)
            modules.append(module)
        steps.append(
            Step(
                tuple(number[id(source)] for source in _sources(data)),
                None if module is None else known[id(module)],
                _entry(data),
                _annotations(data),
            )
        )
    inputs = fields.get("nInputs")
    if inputs is None:  # as old versions save it
        inputs = max(len(_numbered(fields["innode"]["children"])), 1)
    return Graph(tuple(steps), number[id(start)], int(inputs))


def _data(node: Any) -> Any:
    data = node["data"]
    if not isinstance(data, Mapping):
        raise TypeError("a node's data is no table")
    return data


def _numbered(table: Any) -> list[Any]:
    """The values at 1, 2, … of a table that has other keys as well."""
    if not isinstance(table, Mapping):
        return list(table)
    found: list[Any] = []
    while len(found) + 1 in table:
        found.append(table[len(found) + 1])
    return found


def _sources(data: Any) -> list[Any]:
    sources = _numbered(data.get("mapindex") or ())
    if any(not isinstance(source, Mapping) for source in sources):
        raise TypeError("mapindex of a node lists something else than the data of nodes")
    return sources


def _entry(data: Any) -> int | None:
    index = data.get("selectindex")
    if index is None:
        return None
    if index != int(index) or index < 1 or len(_sources(data)) != 1:
        raise ValueError(f"a node that selects entry {index} of {len(_sources(data))} tables")
    return int(index) - 1


def _annotations(data: Any) -> dict[str, Any]:
    """The notes at a node that are text or numbers."""
    notes = data.get("annotations")
    if not isinstance(notes, Mapping):
        return {}
    return {
        key: note
        for key, note in notes.items()
        if isinstance(key, str) and isinstance(note, (str, bool, int, float))
    }


# ---- To a file


def to_fields(graph: Graph, modules: list[Any]) -> dict[str, Any]:
    """The fields that nngraph gives a gModule with this graph."""
    data = [_node_data(i, step, graph, modules) for i, step in enumerate(graph.steps)]
    for table, step in zip(data, graph.steps, strict=True):
        table["mapindex"] = _both_ways([data[i] for i in step.inputs])
    pairs = [(i, source) for i, step in enumerate(graph.steps) for source in step.inputs]
    forward = _nodes(data, [(source, i) for i, source in pairs])
    backward = _nodes(data, pairs)
    for table in data:
        table["reverseMap"] = []
    for i, source in pairs:
        data[source]["reverseMap"].append(backward[i])
    return {
        "fg": _graph(forward, [(source, i) for i, source in pairs]),
        "bg": _graph(backward, pairs),
        "forwardnodes": forward,
        "backwardnodes": backward[::-1],
        "innode": forward[graph.start],
        "outnode": backward[-1],
        "nInputs": graph.inputs,
    }


def _node_data(number: int, step: Step, graph: Graph, modules: list[Any]) -> dict[str, Any]:
    """What both nodes of a step share, without the inputs."""
    table: dict[str, Any] = {"annotations": dict(step.annotations), "forwardNodeId": number + 1}
    if step.module is not None:
        table["module"] = modules[step.module]
    if step.entry is not None:
        table["selectindex"] = step.entry + 1
    entries = sum(number in other.inputs and other.entry is not None for other in graph.steps)
    if entries:
        table["nSplitOutputs"] = entries
    passes = step.module is None and (not entries or number == graph.start)
    if step.entry is not None or passes:
        table["input"] = []
    return table


def _both_ways(values: list[Any]) -> Table:
    """A table from numbers to values and from values to numbers."""
    return Table([pair for i, value in enumerate(values, 1) for pair in ((i, value), (value, i))])


def _nodes(data: list[Any], edges: list[tuple[int, int]]) -> list[TorchObject]:
    nodes = [
        TorchObject("nngraph.Node", {"data": table, "id": i, "visited": False, "marked": False})
        for i, table in enumerate(data, 1)
    ]
    children: list[list[TorchObject]] = [[] for _ in nodes]
    for begin, end in edges:
        children[begin].append(nodes[end])
    for node, below in zip(nodes, children, strict=True):
        node["children"] = _both_ways(below)
    return nodes


def _graph(nodes: list[TorchObject], edges: list[tuple[int, int]]) -> TorchObject:
    made = [TorchObject("graph.Edge", {"from": nodes[a], "to": nodes[b]}) for a, b in edges]
    return TorchObject("graph.Graph", {"nodes": _both_ways(nodes), "edges": _both_ways(made)})

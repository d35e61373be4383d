"""From the nodes of a file to Python's values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._objects import fill_objects, new_object
from ._parse import (
    FunctionNode,
    Graph,
    Node,
    ObjectNode,
    StorageNode,
    TableNode,
    TensorNode,
    VecNode,
)
from ._values import Table, TdsHash, TdsVec, TorchFunction, TorchObject, TorchStorage

__all__ = ["build"]

Array = NDArray[Any]


def build(graph: Graph, classes: bool) -> Any:
    """The value of the root. Everything is made first and filled then, so cycles are no matter.

    With `classes`, objects of nn are those of :mod:`pythnn.nn`.
    """
    objects = [node for node in graph.begun if isinstance(node, ObjectNode)]
    modules: dict[int, Any] = {}
    if classes and objects:
        made = ((id(node), new_object(node)) for node in objects)
        modules = {key: module for key, module in made if module is not None}
    fields = {id(node.children[-1]) for node in objects if node.children}
    for node in graph.begun:
        module = modules.get(id(node))
        node.value = _new(node, id(node) in fields) if module is None else module
    for node in graph.begun:
        if id(node) not in modules:
            _fill(node)
    if modules:
        fill_objects(graph, modules)
    return _value(graph.root)


def _value(child: Any) -> Any:
    return child.value if isinstance(child, Node) else child


def _new(node: Node, is_fields: bool) -> Any:
    """The value of a node, still empty."""
    if isinstance(node, TableNode):
        return _new_table(node, is_fields)
    if isinstance(node, TensorNode):
        return tensor_view(node)
    if isinstance(node, StorageNode):
        return TorchStorage(node.elements.array)
    if isinstance(node, ObjectNode):
        return TorchObject(node.name, version=node.version)
    if isinstance(node, FunctionNode):
        return TorchFunction(node.code, None, node.tag)
    vec = TdsVec()
    vec.long_count = node.long_count
    return vec


def tensor_view(node: TensorNode) -> Array:
    """An array over the elements of a tensor's storage."""
    if not node.count:
        return np.empty(node.shape or (0,), node.dtype)
    item = node.dtype.itemsize
    memory = node.children[0].elements.array
    steps = [stride * item for stride in node.strides]
    view: Array = np.ndarray(node.shape, node.dtype, memory, node.start * item, steps)
    return view


def _fill(node: Node) -> None:
    if isinstance(node, TableNode):
        _fill_table(node)
    elif isinstance(node, VecNode):
        node.value.extend(_value(child) for child in node.children)
    elif isinstance(node, FunctionNode):
        node.value.upvalues = _value(node.children[0])
    elif isinstance(node, ObjectNode):
        *header, fields = [_value(child) for child in node.children] or [{}]
        node.value.header, node.value.fields = tuple(header), fields


# ---- Tables


def _new_table(node: TableNode, is_fields: bool) -> list[Any] | dict[Any, Any] | Table:
    if node.of_tds:
        table = TdsHash()
        table.long_count = node.long_count
        return table
    keys = node.children[::2]
    numbers = {key for key in keys if type(key) is int}
    if any(_unhashable(key) for key in keys):
        return Table()
    if any(type(key) is bool and int(key) in numbers for key in keys):
        return Table()  # for a dict True is 1
    if keys and not is_fields and _is_sequence(node):
        return []
    return {}


def _unhashable(key: Any) -> bool:
    return isinstance(key, (TableNode, TensorNode, VecNode))


def _is_sequence(node: TableNode) -> bool:
    """Whether the keys are 1 to n, with no nil among the values."""
    keys = node.children[::2]
    if not all(type(key) is int for key in keys) or None in node.children[1::2]:
        return False
    return sorted(keys) == list(range(1, len(keys) + 1))


def _fill_table(node: TableNode) -> None:
    keys, values = node.children[::2], node.children[1::2]
    table = node.value
    if isinstance(table, list):
        pairs = sorted(zip(keys, values, strict=True), key=lambda pair: pair[0])
        table.extend(_value(value) for _, value in pairs)
        return
    for key, value in zip(keys, values, strict=True):
        if value is None:
            table.pop(_value(key), None)  # as in Lua, where nil stands for no entry
        else:
            table[_value(key)] = _value(value)

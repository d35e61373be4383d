"""Objects of :mod:`pythnn.nn` from what a file says of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import THNNError
from .._later import file_classes
from .._tensor import KINDS, Storage, Tensor, kind_of_dtype, strided
from ._cudnn import nn_fields
from ._errors import T7Error
from ._format import TENSOR_DTYPES, real_type
from ._parse import Graph, Node, ObjectNode, StorageNode, TableNode, TensorNode
from ._path import path_to
from ._untyped import type_untyped
from ._values import TorchStorage

__all__ = ["fill_objects", "new_object"]

# Modules go through the tables in their fields by recursion, and copy them; some compute with
# their tensors when they are made. A small file must not make that long.
MAX_TABLE_DEPTH = 50
MAX_VISITS = 16  # of the entries of tables, on average
MAX_EXPANSION = 4096  # elements of a tensor for each of its storage

# Fields that name a type of tensors.
TYPE_FIELDS = ("_type", "intype", "moduleType", "outtype")


def new_object(node: ObjectNode) -> Any:
    """An object of the class of this name, without fields; None where there is none."""
    payload = node.children[-1] if node.children else None
    if not isinstance(payload, TableNode):
        return None
    keys, values = payload.children[::2], payload.children[1::2]
    if not all(isinstance(key, str) for key in keys):
        return None
    cls = file_classes.class_of(node.name, dict(zip(keys, values, strict=True)))
    return None if cls is None else cls.__new__(cls)


def fill_objects(graph: Graph, objects: dict[int, Any]) -> None:
    """Gives the objects, by the id of their node, the fields that the file has, inner ones first.

    T7Error where a class cannot do with them.
    """
    filler = _Filler(graph)
    untyped = {}
    for node in graph.ended:
        made = objects.get(id(node))
        if made is not None and isinstance(node, ObjectNode):
            with np.errstate(all="ignore"):  # what a class computes from damaged numbers
                filler.fill(made, node)
            if "_type" not in made.__dict__ and file_classes.has_own_type(made):
                untyped[id(node)] = made
    type_untyped(graph, untyped)


class _Filler:
    def __init__(self, graph: Graph) -> None:
        nodes = [node for node in graph.begun if isinstance(node, (TensorNode, StorageNode))]
        self.graph = graph
        self.nodes = {id(node.value): node for node in nodes}
        self.tensors: dict[int, Any] = {}
        self.storages: dict[int, Storage] = {}
        self.visits = 100_000 + MAX_VISITS * sum(len(node.children) for node in graph.begun)

    def fill(self, made: Any, node: ObjectNode) -> None:
        fields = {name: self.adopt(value, node) for name, value in node.children[-1].value.items()}
        for name in TYPE_FIELDS:
            if fields.get(name) is not None:
                self.check_type(name, fields[name], node)
        if "_type" in fields:
            fields["_type"] = real_type(fields["_type"])
        try:
            fields = nn_fields(node.name, fields)
            made._set_fields(fields)
        except T7Error:
            raise
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            MemoryError,
            RecursionError,
            THNNError,
            TypeError,
            ValueError,
        ) as error:
            what = f"{type(error).__name__}: {error}"
            message = f"the fields of {self.name_of(node)} do not fit: {what}"
            raise T7Error(message, node.offset) from error

    def check_type(self, name: str, value: Any, node: ObjectNode) -> None:
        """Refuses what is not the name of a type of tensors."""
        if not isinstance(value, str) or value not in TENSOR_DTYPES:
            found = repr(value) if isinstance(value, (str, int, float)) else type(value).__name__
            raise T7Error(
                f"{name} of {self.name_of(node)} is {found}, which is no type of tensors "
                "such as torch.FloatTensor",
                node.offset,
            )

    def name_of(self, node: ObjectNode) -> str:
        """The class of an object, and where in the file's value it is."""
        path = path_to(node, self.graph)
        return f"{node.name} at {path}" if path else node.name

    def adopt(self, value: Any, node: Node) -> Any:
        """A field as modules want it: Tensors for arrays, also in tables."""
        if isinstance(value, (np.ndarray, TorchStorage)):
            return self._converted(value)
        if isinstance(value, (list, dict)):
            if not value:
                return []
            self._adopt_table(value, node)
        return value

    def _adopt_table(self, table: list[Any] | dict[Any, Any], node: Node) -> None:
        """Converts what is in a table, in place."""
        pending: list[tuple[Any, int]] = [(table, 1)]
        while pending:
            at, depth = pending.pop()
            self.visits -= len(at)
            if depth > MAX_TABLE_DEPTH or self.visits < 0:
                raise T7Error("tables in tables of a module without end", node.offset)
            for key, value in enumerate(at) if isinstance(at, list) else list(at.items()):
                if isinstance(value, (np.ndarray, TorchStorage)):
                    at[key] = self._converted(value)
                elif isinstance(value, (list, dict)):
                    pending.append((value, depth + 1))

    def _converted(self, value: Any) -> Any:
        node = self.nodes.get(id(value))
        if isinstance(node, TensorNode):
            if id(node) not in self.tensors:
                self.tensors[id(node)] = self._tensor(node)
            return self.tensors[id(node)]
        if isinstance(node, StorageNode):
            elements = file_classes.list_of_storage(value.data)
            return value if elements is None else elements
        return value

    def _tensor(self, node: TensorNode) -> Any:
        """The Tensor of a node; the array where there are no Tensors of the type."""
        dtype = _with_tensors(node.dtype)
        kind = kind_of_dtype(dtype)
        if kind is None:
            return node.value
        if not node.count:
            return Tensor(dtype=dtype)
        if node.count > 1_000_000 + MAX_EXPANSION * node.children[0].elements.array.size:
            raise T7Error(f"a tensor of {node.count} elements in a module", node.offset)
        storage = self._storage(node.children[0], dtype)
        view = strided(KINDS[kind.index], storage._c, node.start, node.shape, node.strides)
        return Tensor._of(view, kind)

    def _storage(self, node: StorageNode, dtype: np.dtype[Any]) -> Storage:
        if node.elements.storage is not None:
            return node.elements.storage
        if id(node) not in self.storages:
            storage = Tensor(node.elements.array, dtype=dtype).storage
            if storage is None:
                raise T7Error("a storage without memory", node.offset)
            self.storages[id(node)] = storage
        return self.storages[id(node)]


def _with_tensors(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type that modules compute in: half becomes float."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype

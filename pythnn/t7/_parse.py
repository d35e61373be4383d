"""The graph of a file, as nodes: read without recursion, and checked, before anything is built."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ._errors import T7Error
from ._format import CLASS_PAYLOADS, STORAGE_DTYPES, TENSOR_DTYPES, Tag
from ._source import Elements, Source

__all__ = [
    "FunctionNode",
    "Graph",
    "Node",
    "ObjectNode",
    "StorageNode",
    "TableNode",
    "TensorNode",
    "VecNode",
    "parse",
]

MAX_DIMENSIONS = 32  # numpy 1's
_UNBUILT: Any = object()


class Node:
    """Something with an identity; ``wanted`` values follow, which ``children`` collects.

    ``value`` is what becomes of it in Python.
    """

    __slots__ = ("children", "long_count", "offset", "tag", "value", "wanted")

    def __init__(self, tag: int, offset: int, wanted: int) -> None:
        self.tag = tag
        self.offset = offset
        self.wanted = wanted
        self.children: list[Any] = []
        self.value: Any = _UNBUILT
        self.long_count = True  # of tds

    def check(self) -> None:
        """Raises T7Error unless the node is sound; called when all children are there."""


class TableNode(Node):
    """A table or a ``tds.Hash``: children are keys and values in turn."""

    __slots__ = ("of_tds",)

    def __init__(self, tag: int, offset: int, entries: int) -> None:
        super().__init__(tag, offset, 2 * entries)
        self.of_tds = tag == Tag.OBJECT

    def check(self) -> None:
        for key in self.children[::2]:
            if key is None or key != key:
                raise T7Error("a table with nil or nan for a key", self.offset)


class VecNode(Node):
    """A ``tds.Vec``."""

    __slots__ = ()


class FunctionNode(Node):
    """A function; the one child holds its upvalues."""

    __slots__ = ("code",)

    def __init__(self, tag: int, offset: int, code: bytes) -> None:
        super().__init__(tag, offset, 1)
        self.code = code


class ObjectNode(Node):
    """An object of a class; children are what its ``write`` wrote, mostly a table of fields."""

    __slots__ = ("name", "version")

    def __init__(self, offset: int, name: str, version: int) -> None:
        super().__init__(Tag.OBJECT, offset, CLASS_PAYLOADS.get(name, 1))
        self.name = name
        self.version = version


class StorageNode(Node):
    """A storage, its elements read."""

    __slots__ = ("elements", "name")

    def __init__(self, offset: int, name: str, elements: Elements) -> None:
        super().__init__(Tag.OBJECT, offset, 0)
        self.name = name
        self.elements = elements


class TensorNode(Node):
    """A tensor; the one child is its storage, or None."""

    __slots__ = ("name", "shape", "start", "strides")

    def __init__(
        self, offset: int, name: str, shape: list[int], strides: list[int], start: int
    ) -> None:
        super().__init__(Tag.OBJECT, offset, 1)
        self.name = name
        self.shape = shape
        self.strides = strides
        self.start = start  # counted from 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return TENSOR_DTYPES[self.name]

    @property
    def count(self) -> int:
        """Number of elements."""
        return math.prod(self.shape) if self.shape else 0

    def check(self) -> None:
        storage = self.children[0]
        if storage is not None and not isinstance(storage, StorageNode):
            raise T7Error(f"a {self.name} without a storage where one should be", self.offset)
        if storage is not None and STORAGE_DTYPES[storage.name] != self.dtype:
            raise T7Error(f"a {self.name} in a {storage.name}", self.offset)
        if not self.count:
            return
        if storage is None:
            raise T7Error(f"a {self.name} of size {_by(self.shape)} without memory", self.offset)
        steps = zip(self.shape, self.strides, strict=True)
        last = self.start + sum((size - 1) * stride for size, stride in steps)
        size = storage.elements.array.size
        if last >= size:
            raise T7Error(
                f"a {self.name} that reaches outside its storage: size {_by(self.shape)}, "
                f"strides {_by(self.strides)}, from element {self.start + 1} on, of {size}",
                self.offset,
            )


def _by(sizes: list[int]) -> str:
    return " x ".join(map(str, sizes))


class Graph:
    """What a file holds: a root, the nodes as they begin, and as they end."""

    def __init__(self) -> None:
        self.root: Any = None
        self.begun: list[Node] = []
        self.ended: list[Node] = []


def parse(source: Source, graph: Graph) -> None:
    """Reads one value with all that hangs on it into a graph. T7Error where it is damaged."""
    parser = _Parser(source, graph)
    open_nodes: list[Node] = []
    while True:
        value = parser.value()
        if parser.opened:
            node = graph.begun[-1]
            if node.wanted:
                open_nodes.append(node)
                continue
            value = node
            graph.ended.append(node)
        while open_nodes:
            parent = open_nodes[-1]
            parent.children.append(value)
            if len(parent.children) < parent.wanted:
                break
            parent.check()
            graph.ended.append(parent)
            value = open_nodes.pop()
        else:
            graph.root = value
            return


_VERSION = re.compile(rb"V (\d{1,9})")
_TENSOR_CLASS = re.compile(r"torch\.\w*(Tensor|Storage)")


class _Parser:
    """Reads values up to where the next begins."""

    def __init__(self, source: Source, graph: Graph) -> None:
        self.source = source
        self.graph = graph
        self.known: dict[int, Node] = {}
        self.opened = False  # whether the last value is a new node

    def value(self) -> Any:
        """The next value; of one with an identity its beginning."""
        source = self.source
        start = source.pos
        tag = source.int_()
        self.opened = False
        if tag == Tag.NUMBER:
            return _number(source.double())
        if tag == Tag.STRING:
            return _text(self._string())
        if tag == Tag.NIL:
            return None
        if tag == Tag.BOOLEAN:
            truth = source.int_()
            if truth not in (0, 1):
                raise T7Error(f"a boolean that is {truth}", start)
            return truth == 1
        if not Tag.NIL <= tag <= Tag.FUNCTION:
            raise T7Error(f"a value of the unknown type {tag}", start)
        if tag == Tag.OLD_FUNCTION:
            return self._open(FunctionNode(tag, start, self._string()))
        index = source.int_()
        if index < 0:
            raise T7Error(f"an object with the index {index}", start)
        known = self.known.get(index)
        if known is not None:
            if known.tag != tag:
                raise T7Error(f"object {index} is of type {known.tag}, here {tag}", start)
            return known
        node: Node
        if tag == Tag.TABLE:
            node = TableNode(tag, start, self._count("a table", source.int_(), 2))
        elif tag == Tag.OBJECT:
            node = self._object(start)
        else:
            node = FunctionNode(tag, start, self._string())
        self.known[index] = node
        return self._open(node)

    def _open(self, node: Node) -> Node:
        self.graph.begun.append(node)
        self.opened = True
        return node

    def _string(self) -> bytes:
        start = self.source.pos
        count = self.source.int_()
        if count < 0:
            raise T7Error(f"a string of {count} bytes", start)
        return self.source.chars(count)

    def _count(self, what: str, count: int, values_each: int) -> int:
        if count < 0 or count * values_each * self.source.smallest > self.source.remaining:
            left = self.source.remaining
            raise T7Error(f"{what} of {count} entries in the last {left} bytes", self.source.pos)
        return count

    def _object(self, start: int) -> Node:
        word = self._string()
        # Files of before 2012 have no version there but the class at once.
        versioned = _VERSION.fullmatch(word)
        name = _text(self._string() if versioned else word)
        if name in TENSOR_DTYPES:
            return self._tensor(start, name)
        if name in STORAGE_DTYPES:
            size = self.source.long_()
            if size < 0:
                raise T7Error(f"a storage of {size} elements", start)
            elements = self.source.elements(STORAGE_DTYPES[name], size)
            return StorageNode(start, name, elements)
        if name in ("tds.Hash", "tds.Vec"):
            count, is_long = self.source.int_or_long()
            kind, values_each = (TableNode, 2) if name == "tds.Hash" else (VecNode, 1)
            node = kind(Tag.OBJECT, start, self._count(name, count, values_each))
            node.long_count = is_long
            return node
        if _TENSOR_CLASS.fullmatch(name):
            raise T7Error(f"a {name}, a type that Torch does not have", start)
        return ObjectNode(start, name, int(versioned[1]) if versioned else 0)

    def _tensor(self, start: int, name: str) -> TensorNode:
        source = self.source
        dimensions = source.int_()
        if not 0 <= dimensions <= MAX_DIMENSIONS:
            raise T7Error(f"a tensor of {dimensions} dimensions; up to {MAX_DIMENSIONS} go", start)
        shape, strides = source.longs(dimensions), source.longs(dimensions)
        first = source.long_()
        if any(size < 0 for size in shape):
            raise T7Error(f"a {name} of size {_by(shape)}", start)
        node = TensorNode(start, name, shape, strides, first - 1)
        # Counts of bytes must fit numpy's 64-bit numbers, also where nothing is there.
        largest = 2**62 // node.dtype.itemsize
        if (
            any(not 0 <= stride < largest for stride in strides)
            or math.prod(size for size in shape if size) >= largest
        ):
            what = f"size {_by(shape)} and strides {_by(strides)}"
            raise T7Error(f"a {name} of {what}, which cannot be", start)
        if node.count and first < 1:
            raise T7Error(f"a {name} that begins at element {first} of its storage", start)
        return node


def _number(value: float) -> int | float:
    """An int where it is one, within the range in which Lua's doubles count every int."""
    if value.is_integer() and -(2**53) <= value <= 2**53:
        return int(value) if value or math.copysign(1, value) > 0 else value
    return value


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")

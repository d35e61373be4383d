"""The one binary tree in which what belongs to shards is added, however many processes there are.

The leaves are the shards in order, and the node `index` of a level has the shards from
`index` * 2^level up to those of the next node. Where a node's right half is past the last
shard, the node is its left half. A process that has some shards in a row can add them as far as
whole nodes go; what is left are few nodes, which whoever has those of all processes adds up in the
same way. So each sum is made of the same two parts, wherever it is made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar

__all__ = ["Node", "TreeSum", "nodes_of", "share"]

Node = tuple[int, int]
"""The level, which is 0 for the shards, and the index on it."""

Value = TypeVar("Value")


class TreeSum(Generic[Value]):
    """Adds the values of nodes that are pushed from left to right.

    `add` returns the sum of two values. ``nodes`` and ``values`` are what is not added yet.
    """

    def __init__(self, shards: int, add: Callable[[Value, Value], Value]) -> None:
        self._shards, self._add = shards, add
        self.nodes: list[Node] = []
        self.values: list[Value] = []

    def push(self, node: Node, value: Value) -> None:
        """Takes one value more, and adds what has become complete."""
        level, index = self._raised(*node)
        while self.nodes and index % 2 and self.nodes[-1] == (level, index - 1):
            self.nodes.pop()
            value = self._add(self.values.pop(), value)
            level, index = self._raised(level + 1, index // 2)
        self.nodes.append((level, index))
        self.values.append(value)

    def _raised(self, level: int, index: int) -> Node:
        """The highest node that has the shards of this one and no others."""
        while 1 << level < self._shards and not index % 2 and (index + 1) << level >= self._shards:
            level, index = level + 1, index // 2
        return level, index


def share(shards: int, process: int, processes: int) -> range:
    """The shards of a process: as many as others have, or one more, in a row."""
    return range(process * shards // processes, (process + 1) * shards // processes)


@lru_cache
def nodes_of(shards: int, process: int, processes: int) -> tuple[Node, ...]:
    """The nodes that a process is left with when its shards are added."""
    total: TreeSum[None] = TreeSum(shards, lambda _, __: None)
    for shard in share(shards, process, processes):
        total.push((0, shard), None)
    return tuple(total.nodes)

"""Where in a file's value something is, as users write it: ``opt.net.modules.2.weight``."""

from __future__ import annotations

from ._parse import FunctionNode, Graph, Node, TableNode, VecNode

__all__ = ["path_to"]

MAX_STEPS = 20


def path_to(wanted: Node, graph: Graph) -> str:
    """The shortest path from the root to a node; empty for the root itself.

    Of a long one the last steps, after dots.
    """
    above: dict[int, tuple[Node, int] | None] = {id(graph.root): None}
    level = [graph.root]
    while level and id(wanted) not in above:
        below = []
        for node in level:
            for i, child in enumerate(node.children):
                if isinstance(child, Node) and id(child) not in above:
                    above[id(child)] = (node, i)
                    below.append(child)
        level = below
    steps: list[str] = []
    at = above.get(id(wanted))
    while at is not None and len(steps) < MAX_STEPS:
        step = _step(*at)
        if step:
            steps.append(step)
        at = above[id(at[0])]
    return ".".join(reversed(steps if at is None else [*steps, "…"]))


def _step(node: Node, i: int) -> str:
    """What leads from a node to its child number `i`; nothing from an object to its fields."""
    if isinstance(node, TableNode):
        key = node.children[i - 1] if i % 2 else None
        return "(a key)" if key is None or isinstance(key, Node) else str(key)
    if isinstance(node, VecNode):
        return str(i + 1)
    return "(upvalues)" if isinstance(node, FunctionNode) else ""

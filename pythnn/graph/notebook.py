"""Graphs and programs as notebooks show them: the model's tree with what is computed in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from .._html import Html, element, folded, join, quiet
from .costs import multiply_adds, short
from .operations import Graph

__all__ = ["Line", "html_of_graph", "html_of_lines"]

MOST_LINES = 1000
"""Operations that are shown; a page of more would be of no use."""

_BETWEEN = re.compile(r"\.(?=\d+:)")


@dataclass
class Line:
    """An operation or step."""

    place: str
    """Where in the model it is, such as ``2:Sequential.1:Linear``."""
    text: str
    shape: tuple[int, ...]
    multiply_adds: int
    note: str = ""


def html_of_graph(graph: Graph) -> Html:
    """A graph, with shapes and multiply-adds."""
    lines = [
        Line(one.place, _name(one.function), one.writes[0].shape, multiply_adds(one))
        for one in graph.operations
    ]
    return html_of_lines(f"Graph: {len(lines)} operations", lines)


def html_of_lines(title: str, lines: Sequence[Line]) -> Html:
    """Operations under a title, those of a module together and folded."""
    shown = [(_BETWEEN.split(line.place) if line.place else [], line) for line in lines]
    children = list(_inside(shown[:MOST_LINES], 0))
    if len(lines) > MOST_LINES:
        more = f"\N{HORIZONTAL ELLIPSIS} and {len(lines) - MOST_LINES:,} more"
        children.append(element("div", more))
    summary = join(element("b", title), quiet(_cost(lines)))
    return folded(summary, *children, is_open=True)


def _inside(lines: Sequence[tuple[list[str], Line]], depth: int) -> Iterator[Html]:
    """What is in a module, whose place has this number of parts."""

    def part(pair: tuple[list[str], Line]) -> str | None:
        path, _ = pair
        return path[depth] if len(path) > depth else None

    for name, group in groupby(lines, part):
        inside = list(group)
        path, line = inside[-1]
        if name is None:
            yield from (_line("", one) for _, one in inside)
        elif len(inside) == 1 and len(path) == depth + 1:
            yield _line(name, line)
        else:
            facts = quiet(_shape(line), _cost([one for _, one in inside]))
            yield folded(join(name, facts), *_inside(inside, depth + 1))


def _line(name: str, line: Line) -> Html:
    before = f"{name}: " if name else ""
    return element("div", before, line.text, quiet(_shape(line), _cost([line]), line.note))


def _shape(line: Line) -> str:
    return " x ".join(map(str, line.shape))


def _cost(lines: Sequence[Line]) -> str:
    total = sum(line.multiply_adds for line in lines)
    return f"{short(total)} multiply-adds" if total else ""


def _name(function: str) -> str:
    return function.removesuffix("_updateOutput")

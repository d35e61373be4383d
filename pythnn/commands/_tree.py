"""A tree of rows as lines of a table: folded, as deep and as wide as wanted."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from .. import nn
from .._models.measuring import Measured
from .._models.rows import Row, shape_text, size_text

__all__ = ["lines_of_rows"]

LONGEST_BLOCK = 16  # modules that repeat as one
LEAST_SAVED = 3  # lines that folding has to save
LONGEST_OUTPUT = 20  # columns of an output, as 1 x 512 x 112 x 112; tables are longer
LEAST_NAME = 24  # columns for the name of a layer; on narrower terminals figures go below it


_STYLES = ("cyan", "", "green", "dim")  # of the columns


@dataclass
class _Branch:
    """A row with the rows inside it."""

    row: Row
    children: list[_Branch] = field(default_factory=list)
    size: int = 1  # lines of it and all inside
    kind: int = 0  # equal where two print the same but for their numbers
    note: str = ""  # what it works on in a graph


@dataclass
class _Line:
    depth: int
    text: str
    style: str
    figures: list[str]


def lines_of_rows(
    rows: list[Row],
    results: dict[int, Measured],
    *,
    depth: int,
    width: int | None,
    fold: bool = True,
) -> list[Text]:
    """The rows of a tree as lines, with what each did in a run.

    Rows deeper than `depth` are left out. Lines are at most `width` columns wide, unless it is
    None. With `fold`, blocks that repeat are one line.
    """
    heads = ["parameters", *(["output", "ms", "memory"] if results else [])]
    lines = [_Line(0, "", "bold", heads)]
    lines += _lines(_branches(rows, results), results, depth, fold)
    return _table(lines, width)


def _branches(rows: list[Row], results: dict[int, Measured]) -> _Branch:
    """The rows as a tree."""
    branches: dict[int, _Branch] = {}
    for row in rows:
        branch = branches[id(row)] = _Branch(row)
        if row.parent is not None:
            branches[id(row.parent)].children.append(branch)
    kinds: dict[Any, int] = {}
    for row in rows:
        _note_edges(branches[id(row)])
    for row in reversed(rows):
        branch, result = branches[id(row)], results.get(id(row.value))
        branch.size += sum(child.size for child in branch.children)
        made = None if result is None else shape_text(result.output)
        inside = tuple(child.kind for child in branch.children)
        text = row.text[len(row.name) :] + branch.note
        key = (text, row.count, row.shared, made, inside)
        branch.kind = kinds.setdefault(key, len(kinds))
    return branches[id(rows[0])]


def _note_edges(branch: _Branch) -> None:
    """Notes at the modules of a graph what they work on, and what the graph says of them."""
    graph = branch.row.value
    if not isinstance(graph, nn.gModule):
        return
    notes: dict[str, list[str]] = {}
    for step, taken in zip(graph.graph.steps, graph.sources(), strict=True):
        if step.module is None:
            continue
        text = f" <- {taken or 'nothing'}{step.notes}"
        notes.setdefault(f"({step.module + 1}) ", []).append(text)
    for child in branch.children:
        child.note = ";".join(notes.get(child.row.name, []))


def _lines(root: _Branch, results: dict[int, Measured], depth: int, fold: bool) -> Iterator[_Line]:
    pending: list[_Branch | _Line] = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, _Line):
            yield item
            continue
        row = item.row
        is_cut = row.depth >= depth and bool(item.children)
        more = f", … {item.size - 1} inside" if is_cut else ""
        style = "bold" if item.children else ""
        yield _Line(row.depth, row.text + item.note + more, style, _figures([item], results))
        if is_cut:
            continue
        inside: list[_Branch | _Line] = list(item.children)
        if fold:
            inside = _folded(item.children, results, row.depth + 1)
        if isinstance(row.value, nn.gModule):
            last = row.value.graph.steps[-1]
            text = row.value.sources()[-1] if last.module is None else f"({last.module + 1})"
            text = f"output <- {text}"
            inside.append(_Line(row.depth + 1, text, "dim", []))
        pending += reversed(inside)


def _folded(
    children: list[_Branch], results: dict[int, Measured], depth: int
) -> list[_Branch | _Line]:
    """Modules side by side, with one line for the repetitions of a block of them."""
    found: list[_Branch | _Line] = []
    kinds = [child.kind for child in children]
    i = 0
    while i < len(children):
        length, times = _repetition(children, kinds, i)
        found += children[i : i + length]
        if times > 1:
            repeated = children[i + length : i + length * times]
            text = f"{_span(repeated)}as {_span(children[i : i + length])}"
            text += f"{times - 1} times more" if times > 2 else "once more"
            found.append(_Line(depth, text, "dim", _figures(repeated, results)))
        i += length * times
    return found


def _repetition(children: list[_Branch], kinds: list[int], begin: int) -> tuple[int, int]:
    """The length of the block at a place that is best folded, and how often it is there."""
    best, most = (1, 1), LEAST_SAVED - 1
    for length in range(1, min(LONGEST_BLOCK, (len(kinds) - begin) // 2) + 1):
        block, times = kinds[begin : begin + length], 1
        while kinds[begin + times * length : begin + (times + 1) * length] == block:
            times += 1
        saved = (times - 1) * sum(child.size for child in children[begin : begin + length]) - 1
        if times > 1 and saved > most:
            best, most = (length, times), saved
    return best


def _span(branches: list[_Branch]) -> str:
    first, last = (branch.row.name.strip().rstrip(":") for branch in (branches[0], branches[-1]))
    return f"{first} " if len(branches) == 1 else f"{first} to {last} "


def _figures(branches: list[_Branch], results: dict[int, Measured]) -> list[str]:
    """The cells of a line, sums where it stands for several modules."""
    count = sum(branch.row.count for branch in branches)
    shared = " shared" if any(branch.row.shared for branch in branches) else ""
    cells = [(f"{count:,}" if count else "") + shared]
    if not results:
        return cells
    ran = [results[id(b.row.value)] for b in branches if id(b.row.value) in results]
    if not ran:
        return [*cells, "", "", ""]
    nbytes = sum(result.nbytes for result in ran)
    is_in_place = all(result.in_place for result in ran)
    memory = "in place" if is_in_place else size_text(nbytes)
    seconds = sum(result.seconds for result in ran)
    return [*cells, shape_text(ran[-1].output), f"{seconds * 1000:.2f}", memory]


def _table(lines: list[_Line], width: int | None) -> list[Text]:
    """The lines with their figures in columns; below the name where both do not fit."""
    count = max(len(line.figures) for line in lines)
    padded = [line.figures + [""] * (count - len(line.figures)) for line in lines]
    widths = [max(map(cell_len, column)) for column in zip(*padded, strict=True)]
    if width is not None and count > 1:
        widths[1] = min(widths[1], LONGEST_OUTPUT)
    right = sum(widths) + 2 * count
    longest = max(cell_len("  " * line.depth + line.text) for line in lines)
    room = longest if width is None else min(longest, max(width - right, LEAST_NAME))
    is_below = width is not None and room + right > width
    table: list[Text] = []
    for line in lines:
        indent = "  " * line.depth
        name = Text(indent + line.text, line.style)
        figures = _cells(line.figures, widths, line.style == "bold" and not line.text)
        is_long = cell_len(figures.plain) > right
        if is_below or is_long or cell_len(name.plain) > room:
            table += _wrapped(line, width or room)
            if not figures.plain.strip():
                continue
            if is_below or is_long:
                table += _wrapped(_Line(line.depth + 1, _sentence(line.figures), "dim", []), width)
                continue
            table.append(Text(" " * room).append_text(figures))
            table[-1].rstrip()
            continue
        name.append(" " * (room - cell_len(name.plain)))
        name.append_text(figures)
        name.rstrip()
        table.append(name)
    return table


def _sentence(figures: list[str]) -> str:
    """Figures side by side, for a line that has no room for columns."""
    return "  ".join(filter(None, figures))


def _cells(figures: list[str], widths: list[int], is_head: bool) -> Text:
    text = Text()
    for i, (cell, room) in enumerate(zip(figures, widths, strict=False)):
        space = " " * (room - cell_len(cell))
        style = "bold" if is_head else _STYLES[i]
        text.append("  " + (cell + space if i == 1 else space + cell), style)
    return text


def _wrapped(line: _Line, width: int | None) -> list[Text]:
    """A name in lines of at most a width, cut between any characters."""
    if width is None:
        return [Text("  " * line.depth + line.text, line.style)]
    indent = "  " * min(line.depth, max(0, (width - LEAST_NAME // 2) // 2))
    room = max(1, width - len(indent) - 2)
    rest = line.text
    parts: list[str] = []
    while rest:
        end = len(rest)
        while cell_len(rest[:end]) > room:
            end -= 1
        parts.append(rest[: max(end, 1)])
        rest = rest[max(end, 1) :]
    starts = itertools.chain([indent], itertools.repeat(indent + "  "))
    return [Text(begin + part, line.style) for begin, part in zip(starts, parts, strict=False)]

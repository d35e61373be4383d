"""A drawing of a directed graph in layers: where boxes go, and which way edges take."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Layout", "layered"]

Point = tuple[float, float]

GAP = 18.0  # between boxes of a layer
LAYER_GAP = 22.0  # between layers
LANE = 10.0  # the width that an edge takes where it passes a layer
PORT = 16.0  # between edges that end at one box
SWEEPS = 8  # down and up, after which the order hardly changes
ROUNDS = 40  # of placing, after which places hardly change
STRAIGHT = 8.0  # how much more a bend in a long edge counts than a box off its neighbours' middle


@dataclass(frozen=True)
class Layout:
    """A drawing from (0, 0) to (``width``, ``height``); y grows downwards."""

    width: float
    height: float
    centres: list[Point]
    """Of each box."""
    routes: list[list[tuple[Point, Point]]]
    """For each edge the vertical lines that it follows: at its box, past layers, at its end."""


class _Cell:
    """What stands in a layer: a box, or an edge on its way past it."""

    def __init__(self, layer: int, width: float, box: int | None = None) -> None:
        self.layer = layer
        self.width = width
        self.box = box
        self.x = 0.0
        self.order = 0
        self.above: list[_Cell] = []
        self.below: list[_Cell] = []


def layered(sizes: Sequence[Point], edges: Sequence[tuple[int, int]]) -> Layout:
    """Lays out boxes of these widths and heights.

    Each edge leads from a box to one that comes later in `sizes`. Edges of one box that pass the
    same layer share their way there.
    """
    layers = _layers(len(sizes), edges)
    boxes = [_Cell(layer, sizes[i][0], i) for i, layer in enumerate(layers)]
    rows: list[list[_Cell]] = [[] for _ in range(max(layers, default=-1) + 1)]
    for cell in boxes:
        rows[cell.layer].append(cell)
    ways = _connect(boxes, rows, edges)
    _order(rows)
    _place(rows)
    left = min((cell.x - cell.width / 2 for row in rows for cell in row), default=0.0)
    width = max((cell.x + cell.width / 2 for row in rows for cell in row), default=0.0) - left
    for row in rows:
        for cell in row:
            cell.x -= left
    heights = [max(sizes[c.box][1] if c.box is not None else 0 for c in row) for row in rows]
    tops = [sum(heights[:i]) + LAYER_GAP * i for i in range(len(rows))]
    bottoms = [top + height for top, height in zip(tops, heights, strict=True)]

    def middle(cell: _Cell) -> float:
        return tops[cell.layer] + heights[cell.layer] / 2

    ports = _ports(boxes, edges, ways)
    routes = []
    for (begin, end), way, port in zip(edges, ways, ports, strict=True):
        first, last = boxes[begin], boxes[end]
        half = sizes[begin][1] / 2, sizes[end][1] / 2
        down = (first.x, middle(first) + half[0]), (first.x, bottoms[first.layer])
        passed = [((c.x, tops[c.layer]), (c.x, bottoms[c.layer])) for c in way]
        up = (port, tops[last.layer]), (port, middle(last) - half[1])
        routes.append([down, *passed, up])
    centres = [(cell.x, middle(cell)) for cell in boxes]
    return Layout(width, bottoms[-1] if bottoms else 0.0, centres, routes)


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The layer of each box: below all that lead to it; one without such, just above its users."""
    layers = [0] * count
    has_source = [False] * count
    for begin, end in sorted(edges, key=lambda edge: edge[1]):
        layers[end] = max(layers[end], layers[begin] + 1)
        has_source[end] = True
    users = [count] * count
    for begin, end in edges:
        users[begin] = min(users[begin], layers[end] - 1)
    return [
        layer if has_source[i] or users[i] == count else users[i] for i, layer in enumerate(layers)
    ]


def _connect(
    boxes: list[_Cell], rows: list[list[_Cell]], edges: Sequence[tuple[int, int]]
) -> list[list[_Cell]]:
    """Joins cells of neighbouring layers; returns the cells that each edge passes."""
    lanes: dict[int, list[_Cell]] = {}
    ways = []
    for begin, end in edges:
        first, last = boxes[begin], boxes[end]
        lane = lanes.setdefault(begin, [])
        passed = last.layer - first.layer - 1
        while len(lane) < passed:
            cell = _Cell(first.layer + 1 + len(lane), LANE)
            rows[cell.layer].append(cell)
            _join(lane[-1] if lane else first, cell)
            lane.append(cell)
        _join(lane[passed - 1] if passed else first, last)
        ways.append(lane[:passed])
    return ways


def _join(upper: _Cell, lower: _Cell) -> None:
    upper.below.append(lower)
    lower.above.append(upper)


# ---- The order within layers


def _order(rows: list[list[_Cell]]) -> None:
    """Sorts each layer so that few edges cross."""
    best, fewest = [list(row) for row in rows], _crossings(rows)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            row.sort(key=lambda cell: _mean(_near(cell, down), lambda n: n.order, cell.order))
            _number(row)
        crossings = _crossings(rows)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    for row, cells in zip(rows, best, strict=True):
        row[:] = cells
        _number(row)


def _number(row: list[_Cell]) -> None:
    for i, cell in enumerate(row):
        cell.order = i


def _near(cell: _Cell, down: bool) -> list[_Cell]:
    return cell.above if down else cell.below


def _mean(cells: list[_Cell], value: Callable[[_Cell], float], otherwise: float) -> float:
    return sum(map(value, cells)) / len(cells) if cells else otherwise


def _crossings(rows: list[list[_Cell]]) -> int:
    """How many pairs of edges between neighbouring layers cross."""
    count = 0
    for row in rows:
        _number(row)
    for row in rows:
        ends: list[int] = []
        for cell in row:
            for order in sorted(n.order for n in cell.below):
                count += len(ends) - bisect_right(ends, order)
                insort(ends, order)
    return count


# ---- Places


def _place(rows: list[list[_Cell]]) -> None:
    """Places cells in their order: chains straight, over the middle of their neighbours."""
    chains = _chains(rows)
    for row in rows:
        _spread(row, [0.0] * len(row))
    for _ in range(ROUNDS):
        wanted: dict[_Cell, float] = {}
        for chain in chains:
            inside = set(chain)
            near = [n for c in chain for n in (*c.above, *c.below) if n not in inside]
            middle = sum(cell.x for cell in chain) / len(chain)
            # Half of the way: two that went all of it would change places for ever.
            wanted |= dict.fromkeys(chain, (middle + _mean(near, lambda n: n.x, middle)) / 2)
        for row in rows:
            _spread(row, [wanted[cell] for cell in row])


def _chains(rows: list[list[_Cell]]) -> list[list[_Cell]]:
    """Cells that belong on one vertical line: lanes, and boxes that only follow each other."""
    chains: dict[_Cell, list[_Cell]] = {}
    for row in rows:
        for cell in row:
            upper = cell.above[0] if len(cell.above) == 1 else None
            both_lanes = upper is not None and upper.box is None and cell.box is None
            if upper is not None and (both_lanes or len(upper.below) == 1):
                chains[upper].append(cell)
                chains[cell] = chains[upper]
            else:
                chains[cell] = [cell]
    return list({id(chain): chain for chain in chains.values()}.values())


def _spread(row: list[_Cell], wanted: list[float]) -> None:
    """Places a layer's cells as near to the wanted places as their order and widths allow.

    Least squares under these constraints: neighbours that would overlap are pooled, and a pool
    goes to its weighted mean.
    """
    offsets = [0.0]
    for left, right in pairwise(row):
        offsets.append(offsets[-1] + (left.width + right.width) / 2 + GAP)
    pools: list[tuple[float, float, int]] = []  # mean, weight, number of cells
    for cell, place, offset in zip(row, wanted, offsets, strict=True):
        pool = (place - offset, 1.0 if cell.box is not None else STRAIGHT, 1)
        while pools and pools[-1][0] >= pool[0]:
            mean, weight, count = pools.pop()
            total = weight + pool[1]
            pool = ((mean * weight + pool[0] * pool[1]) / total, total, count + pool[2])
        pools.append(pool)
    places = [mean for mean, _, count in pools for _ in range(count)]
    for cell, place, offset in zip(row, places, offsets, strict=True):
        cell.x = place + offset


def _ports(
    boxes: list[_Cell], edges: Sequence[tuple[int, int]], ways: list[list[_Cell]]
) -> list[float]:
    """Where each edge ends: side by side at a box that several lead to, in their order."""
    arriving: dict[int, list[tuple[float, int]]] = {}
    for i, ((begin, end), way) in enumerate(zip(edges, ways, strict=True)):
        arriving.setdefault(end, []).append(((way[-1] if way else boxes[begin]).x, i))
    ports = [0.0] * len(edges)
    for end, found in arriving.items():
        step = min(PORT, boxes[end].width / (len(found) + 1))
        for place, (_, i) in enumerate(sorted(found)):
            ports[i] = boxes[end].x + (place - (len(found) - 1) / 2) * step
    return ports

"""The graph of a model as SVG."""

from __future__ import annotations

from typing import Any

from .._html import Html, element, join
from .._models.rows import class_of
from ._graph import Edge, Graph, Node, graph_of
from ._layout import Layout, layered
from ._report import Report
from ._shapes import short_shape

__all__ = ["drawing_of"]

FONT = 12  # pixels; the same as in style.css
CHARACTER = 0.62 * FONT  # the widest of usual monospaced fonts
LINE = 16
PADDING = 8
MARGIN = 4  # around the drawing: lines have a width
WIDE = 26  # characters of a class with its arguments, above which they take two lines
LONGEST = 36  # characters in a line
OPEN_NODES = 80  # with more boxes than these, the drawing is closed at first
SMALLEST = 0.55  # of its own size: a drawing that would be smaller scrolls


def drawing_of(report: Report) -> Html:
    """The graph, where the model is more than a chain of layers."""
    run = report.run
    graph = graph_of(
        report.value, None if run is None else run.input, None if run is None else run.output
    )
    if graph is None or not (graph.branches or graph.has_graph):
        return Html("")
    numbers = {id(row.value): number for number, row in reversed(report.shown)}
    texts = {id(row.value): row.text[len(row.name) :] for _, row in reversed(report.shown)}
    boxes = [_Box(node, report, numbers, texts) for node in graph.nodes]
    layout = layered([box.size for box in boxes], [edge[:2] for edge in graph.edges])
    drawing = element("div", _svg(graph, boxes, layout), class_="graph")
    if len(boxes) > OPEN_NODES:
        summary = element("summary", f"A drawing of {len(boxes)} boxes")
        drawing = element("details", summary, element("div", drawing, class_="inside"))
    note = (
        "What takes the output of what, from top to bottom. A box shows a layer and the size of "
        "its output."
        if run is not None
        else "What takes the output of what, from top to bottom."
    )
    return join(element("h2", "Graph"), drawing, element("p", note, class_="quiet"))


class _Box:
    """A node with its lines of text."""

    def __init__(
        self, node: Node, report: Report, numbers: dict[int, int], texts: dict[int, str]
    ) -> None:
        self.node = node
        self.number = None if node.module is None else numbers.get(id(node.module))
        self.full = _full_text(node, texts)
        name = self.full.removeprefix("nn.")
        if len(name) > WIDE:  # a line for the class, one for its arguments
            name, bracket, arguments = name.partition("(")
            lines = [(_cut(name.rstrip()), "name"), (_cut(bracket + arguments), "name")]
        else:
            lines = [(name, "name")]
        if node.inside:
            lines.append((f"{node.inside} module{'s' if node.inside > 1 else ''} inside", "quiet"))
        shape = _shape(node, report)
        if shape:
            lines.append((_cut(shape), "quiet"))
        lines += [(_cut(note), "note-line") for note in _notes(node)]
        self.lines = [line for line in lines if line[0]]
        longest = max(len(line) for line, _ in lines)
        self.size = (longest * CHARACTER + 2 * PADDING, len(lines) * LINE + PADDING)

    def draw(self, x: float, y: float) -> Html:
        """The box with its middle at (x, y)."""
        width, height = self.size
        outline = element(
            "path",
            d=f"M{_n(x - width / 2)} {_n(y - height / 2)}h{_n(width)}v{_n(height)}h{_n(-width)}z",
            class_="box" if self.node.module is not None else "box end",
        )
        first = y - (len(self.lines) - 1) * LINE / 2
        lines = [
            element("text", line, x=_n(x), y=_n(first + i * LINE), class_=kind)
            for i, (line, kind) in enumerate(self.lines)
        ]
        tip = "\n".join([self.full, *_notes(self.node)])
        inside = [element("title", _lines(tip)), outline, *lines]
        if self.number is None:
            return element("g", *inside)
        return element("a", *inside, href=f"#row-{self.number}")


def _full_text(node: Node, texts: dict[int, str]) -> str:
    if node.module is None:
        return node.name
    name = class_of(node.module)
    return texts.get(id(node.module), name).partition(", the same as ")[0].replace("->", "→")


def _shape(node: Node, report: Report) -> str:
    if node.module is None:
        return "" if node.value is None else short_shape(node.value)
    result = report.run.measured.get(id(node.module)) if report.run is not None else None
    return "" if result is None else short_shape(result.output)


def _notes(node: Node) -> list[str]:
    """The annotations of a node; one that is called name speaks for itself."""
    return [str(note) if key == "name" else f"{key}: {note}" for key, note in node.notes.items()]


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _lines(tip: str) -> Html:
    """Text of several lines, of which each is escaped."""
    return Html("&#10;".join(join(line) for line in tip.split("\n")))


def _svg(graph: Graph, boxes: list[_Box], layout: Layout) -> Html:
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    edges: list[Any] = []
    for edge, route in zip(graph.edges, layout.routes, strict=True):
        edges += _edge(edge, route)
    drawn = [box.draw(*centre) for box, centre in zip(boxes, layout.centres, strict=True)]
    return element(
        "svg",
        *edges,
        *drawn,
        viewBox=f"{-MARGIN} {-MARGIN} {_n(width)} {_n(height)}",
        style=f"width:{_n(width)}px;min-width:{_n(width * SMALLEST)}px",
        role="img",
        aria_label=f"Graph of {len(boxes)} boxes and {len(graph.edges)} connections",
    )


def _edge(edge: Edge, route: list[Any]) -> list[Html]:
    """A line with an arrow head, and the entry that it takes."""
    (_, start), *rest = route
    path = f"M{_point(route[0][0])}V{_n(start[1])}"
    x, y = start
    for begin, end in rest:
        middle = (y + begin[1]) / 2
        path += f"C{_n(x)} {_n(middle)} {_n(begin[0])} {_n(middle)} {_point(begin)}V{_n(end[1])}"
        x, y = end
    parts = [
        element("path", d=path, class_="edge"),
        element("path", d=f"M{_point((x, y))}l-3.5 -7h7z", class_="head"),
    ]
    if edge.entry is not None:
        parts.append(element("text", f"[{edge.entry}]", x=_n(x + 6), y=_n(y - 8), class_="entry"))
    return parts


def _point(point: tuple[float, float]) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _n(number: float) -> str:
    """A number of SVG, to a tenth of a pixel."""
    return f"{number:.1f}".removesuffix(".0")

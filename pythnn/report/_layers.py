"""The tree of layers as a table, and what each holds and gives."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from .._html import Html, element, join, whole
from .._models.rows import Row, parameters_of, size_text
from ..graph.costs import short
from ._charts import histogram, share_bar
from ._pictures import ROW
from ._report import Report
from ._running import Activation
from ._shapes import short_shape
from ._statistics import Statistics, statistics_of

__all__ = ["details_of_layers", "table_of_layers"]

Array = NDArray[Any]

OPEN_LAYERS = 12  # with more layers than these, details are closed at first


# ---- The table


def table_of_layers(report: Report) -> Html:
    """A row for each object of the tree, with what it costs."""
    run = report.run
    names = ["parameters", *(["multiply-adds", "time", "memory"] if run is not None else [])]
    head = [
        element("th", "", scope="col", class_="index"),
        element("th", "layer", scope="col", class_="layer"),
    ]
    if run is not None:
        head.append(element("th", "output", scope="col", class_="output"))
    head += [element("th", name, scope="col", class_="number") for name in names]
    detailed = set(_detailed(report))
    rows = [_table_row(report, number, row, number in detailed) for number, row in report.shown]
    table = element("table", element("thead", element("tr", *head)), element("tbody", *rows))
    parts = [
        element("h2", "Layers"),
        element("div", table, class_="table", tabindex="0", role="region", aria_label="Layers"),
    ]
    hidden = len(report.rows) - len(report.shown)
    if hidden:
        parts.append(element("p", f"… and {hidden:,} more, deeper or later.", class_="quiet"))
    if run is not None:
        parts.append(
            element(
                "p",
                "Multiply-adds of convolutions, linear layers and products of matrices. Time is "
                "the median of several runs; memory is that of the output. Bars are shares "
                "of the whole.",
                class_="quiet",
            )
        )
    return join(*parts)


def _table_row(report: Report, number: int, row: Row, linked: bool) -> Html:
    name: Html = whole(row.text)
    name = element("a", name, href=f"#layer-{number}") if linked else name
    line = element("span", name, class_="line", style=f"--depth:{min(row.depth, 12)}")
    cells = [element("td", number, class_="index quiet"), element("th", line, scope="row")]
    run, root = report.run, report.rows[0]
    count = f"{row.count:,}{' shared' if row.shared else ''}" if row.count or row.shared else ""
    parameters = _measure("parameters", count, row.count, root.count)
    target = f"row-{number}"
    if run is None:
        return element("tr", *cells, parameters, id=target)
    result, total = run.measured.get(id(row.value)), run.measured.get(id(root.value))
    if result is None or total is None:
        return element("tr", *cells, element("td"), parameters, *(element("td"),) * 3, id=target)
    cost = run.multiply_adds.get(id(row.value), 0)
    memory = "in place" if result.in_place else size_text(result.nbytes)
    adds = short(cost) if cost else ""
    return element(
        "tr",
        *cells,
        element("td", whole(short_shape(result.output)), data_label="output"),
        parameters,
        _measure("multiply-adds", adds, cost, run.multiply_adds.get(id(root.value), 0)),
        _measure("time", f"{result.seconds * 1000:.2f} ms", result.seconds, total.seconds),
        element("td", element("b", memory), class_="number", data_label="memory"),
        id=target,
    )


def _measure(label: str, value: str, part: float, total: float) -> Html:
    """A cell with a number, over a bar that shows its share."""
    if not value:
        return element("td")
    bar = share_bar(part / total) if 0 < part < total else ""
    return element("td", bar, element("b", value), class_="number measure", data_label=label)


# ---- Details


def details_of_layers(report: Report) -> Html:
    """The parameters of each layer and, where it ran on an image, what it gave."""
    numbers = _detailed(report)
    if not numbers:
        return Html("")
    is_open = len(numbers) <= OPEN_LAYERS
    rows = dict(report.shown)
    parts = [_details(report, number, rows[number], is_open) for number in numbers]
    return join(element("h2", "Inside the layers"), *parts)


def _detailed(report: Report) -> list[int]:
    """The numbers of the rows that have parameters of their own or an activation."""
    seen: set[int] = set()
    numbers = []
    for number, row in report.shown:
        if id(row.value) in seen:
            continue
        seen.add(id(row.value))
        ran = report.run is not None and id(row.value) in report.run.activations
        if ran or parameters_of(row.value):
            numbers.append(number)
    return numbers


def _details(report: Report, number: int, row: Row, is_open: bool) -> Html:
    result = report.run.measured.get(id(row.value)) if report.run is not None else None
    made = element("span", whole(short_shape(result.output)), class_="quiet") if result else ""
    parts = []
    figures = [_tensor(name, array) for name, array in parameters_of(row.value)]
    if figures:
        parts.append(element("div", *figures, class_="tensors"))
    activation = report.run.activations.get(id(row.value)) if report.run is not None else None
    if activation is not None:
        parts.append(_activation(activation))
    label = element("span", number, class_="line-number")
    # The target of links is inside, so that following one opens it.
    inside = element("div", *parts, class_="inside", id=f"layer-{number}")
    return element(
        "details", element("summary", label, whole(row.text), " ", made), inside, open=is_open
    )


def _tensor(name: str, array: Array) -> Html:
    numbers = statistics_of(array)
    shape = " x ".join(map(str, array.shape))
    parts: list[object] = []
    if numbers.histogram:
        ends = (f"{numbers.minimum:.4g}", f"{numbers.maximum:.4g}")
        parts += [
            histogram(numbers, name),
            element("div", *(element("span", end) for end in ends), class_="ends quiet"),
        ]
    caption = element("figcaption", f"{name}, {shape or 'one number'}: {_summary(numbers)}")
    return element("figure", *parts, caption)


def _summary(numbers: Statistics) -> str:
    if not numbers.count:
        return "empty"
    facts = []
    if numbers.histogram:
        facts.append(f"mean {numbers.mean:.4g}, standard deviation {numbers.std:.4g}")
    if numbers.zeros:
        facts.append(f"{100 * numbers.zeros / numbers.count:.3g} % zeros")
    if numbers.infinite:
        facts.append(f"{numbers.infinite:,} of {numbers.count:,} are infinite or nan")
    return ", ".join(facts)


def _activation(activation: Activation) -> Html:
    """What a layer gave, as pictures."""
    low, high = activation.scale
    count = len(activation.pictures)
    if activation.is_vector:
        kind = "vector" if activation.statistics.count <= ROW else "folded"
        shown = activation.statistics.count
        what = f"{shown:,} numbers, row by row" if kind == "folded" else f"{shown:,} numbers"
    else:
        kind = "plane" if activation.planes > 1 else "matrix"
        what = f"{count} of {activation.planes:,} planes" if count < activation.planes else ""
        what = what or (f"all {count} planes" if count > 1 else "one plane")
    images = [
        element("img", src=source, alt=f"Output, plane {i}" if count > 1 else "Output", class_=kind)
        for i, source in enumerate(activation.pictures, 1)
    ]
    caption = (
        f"Output: {what}. Dark is {low:.4g}, bright {high:.4g}; {_summary(activation.statistics)}"
    )
    return element(
        "figure", element("div", *images, class_="pictures"), element("figcaption", caption)
    )

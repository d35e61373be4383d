"""The page, from top to bottom."""

from __future__ import annotations

from importlib import resources
from string import Template
from typing import Any

import numpy as np

from .. import __version__
from ..commands._modules import shape_text, size_text, tensors_in, type_text
from ..nn._object import Object
from ._charts import share_bar
from ._costs import short
from ._filters import first_filters
from ._html import Html, element, join, text
from ._layers import details_of_layers, table_of_layers
from ._pictures import color_picture
from ._report import Report
from ._running import Run

__all__ = ["page"]


def page(report: Report) -> str:
    """The whole page."""
    files = resources.files(__package__)
    header = element("header", element("h1", report.name), _facts(report), _note(report))
    main = element(
        "main",
        _image(report),
        table_of_layers(report),
        first_filters(report),
        details_of_layers(report),
    )
    footer = element("footer", element("p", f"Made by pythnn {__version__}."))
    return Template(files.joinpath("page.html").read_text("utf-8")).substitute(
        title=text(report.name),
        style=files.joinpath("style.css").read_text("utf-8"),
        body=join(header, main, footer),
    )


def _facts(report: Report) -> Html:
    root, run = report.rows[0], report.run
    facts: list[tuple[str, object]] = [("parameters", f"{root.count:,}")]
    if root.nbytes:
        facts.append(("their memory", size_text(root.nbytes)))
    facts.append(("file", size_text(report.file_size)))
    if isinstance(report.value, Object):
        facts.append(("element type", type_text(report.value)))
    if report.was_training is not None:
        facts.append(("saved for", "training" if report.was_training else "evaluation"))
    if run is not None:
        facts += [
            ("input", shape_text(run.input)),
            ("output", shape_text(run.output)),
            ("multiply-adds", short(run.multiply_adds.get(id(report.value), 0))),
            ("time of a run", f"{run.measured[id(report.value)].seconds * 1000:.3g} ms"),
            ("memory of all outputs", size_text(_output_bytes(run))),
        ]
    if report.key is not None:
        facts.append(("entry", report.key))
    return element(
        "dl",
        *(element("div", element("dt", name), element("dd", value)) for name, value in facts),
        class_="facts",
    )


def _output_bytes(run: Run) -> int:
    """Bytes of what the layers gave; containers only hand it on."""
    places = {
        _address(tensor): tensor.nbytes
        for result in run.measured.values()
        if not result.in_place
        for tensor in tensors_in(result.output)
    }
    return sum(places.values())


def _address(tensor: Any) -> int:
    address: int = np.asarray(tensor).__array_interface__["data"][0]
    return address


def _note(report: Report) -> Html:
    if report.note:
        return element("p", report.note, class_="note", role="note")
    if report.run is None:
        return Html("")
    return element(
        "p", f"Run on {report.origin}, on the machine that made this page.", class_="quiet"
    )


def _image(report: Report) -> Html:
    """The input as the model saw it, and what it says of it."""
    if report.recipe is None or report.run is None:
        return Html("")
    planes = np.asarray(tensors_in(report.run.input)[0])
    planes = planes[0] if planes.ndim == 4 else planes
    if report.recipe.channels == "BGR":
        planes = planes[::-1]
    picture = element(
        "img",
        src=color_picture(planes),
        alt=f"{report.origin} as the model sees it",
        class_="input",
    )
    caption = element("figcaption", f"{report.origin}, as the model sees it")
    figure = element("figure", element("div", picture, class_="pictures"), caption)
    return join(element("h2", "Input"), element("div", figure, _classes(report), class_="seen"))


def _classes(report: Report) -> Html:
    if not report.classes:
        return Html("")
    least, most = min(n for _, n in report.classes), max(n for _, n in report.classes)
    items = []
    for name, number in report.classes:
        share = number if report.are_odds else (number - least) / (most - least or 1)
        value = f"{100 * number:.2f} %" if report.are_odds else f"{number:.6g}"
        items.append(element("li", share_bar(share), element("b", name), element("b", value)))
    heading = "Most probable classes" if report.are_odds else "Highest scores"
    return element("div", element("h3", heading), element("ol", *items, class_="classes"))

"""The page, from top to bottom."""

from __future__ import annotations

from importlib import resources
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._html import Html, element, join, text, whole
from .._models.images import Recipe, pixels_of
from .._models.rows import size_text, tensors_in, type_text
from .._version import __version__
from ..graph.costs import short
from ..nn.object.object import Object
from ._charts import share_bar
from ._drawing import drawing_of
from ._filters import first_filters
from ._layers import details_of_layers, table_of_layers
from ._pictures import color_picture, pixel_picture, plane_pictures
from ._report import Report
from ._running import Run
from ._shapes import short_shape

__all__ = ["page"]

Array = NDArray[Any]

MAX_OUTPUTS = 4  # of a model that gives a table
MAX_OUTPUT_PLANES = 16


def page(report: Report) -> str:
    """The whole page."""
    files = resources.files(__package__)
    header = element("header", element("h1", report.name), _facts(report), _note(report))
    main = element(
        "main",
        _image(report),
        table_of_layers(report),
        drawing_of(report),
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
            ("input", whole(short_shape(run.input))),
            ("output", whole(short_shape(run.output))),
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
    made = _made(report.recipe, report.run)
    heading = "Input and output" if made else "Input"
    return join(
        element("h2", heading), element("div", figure, made, _classes(report), class_="seen")
    )


def _made(recipe: Recipe, run: Run) -> Html:
    """What the model made of the image, where that is an image, or planes of one."""
    tensors = [np.asarray(tensor) for tensor in tensors_in(run.output)]
    figures = [_made_picture(array, recipe) for array in tensors[:MAX_OUTPUTS]]
    if len(tensors) > MAX_OUTPUTS and any(figures):
        figures.append(element("p", f"… and {len(tensors) - MAX_OUTPUTS:,} more.", class_="quiet"))
    return join(*figures)


def _made_picture(array: Array, recipe: Recipe) -> Html:
    planes = array[0] if array.ndim == 4 and len(array) == 1 else array
    if planes.ndim != 3 or min(planes.shape[1:]) < 2 or planes.dtype.kind not in "fiu":
        return Html("")
    size = " x ".join(map(str, planes.shape))
    if len(planes) in (1, 3):
        values = np.nan_to_num(planes.astype(np.float32), posinf=0, neginf=0)
        picture = pixel_picture(pixels_of(values, recipe))
        images = [element("img", src=picture, alt="Output as an image", class_="output")]
        note = "the output as an image, with the scale and mean of the input undone"
    else:
        sources, (low, high) = plane_pictures(planes, MAX_OUTPUT_PLANES)
        images = [
            element("img", src=source, alt=f"Output, plane {i}", class_="plane")
            for i, source in enumerate(sources, 1)
        ]
        shown = f"{len(sources)} of {len(planes):,} planes" if len(sources) < len(planes) else ""
        note = f"{shown or 'all planes'} of the output. Dark is {low:.4g}, bright {high:.4g}"
    caption = element("figcaption", whole(size), f": {note}")
    return element("figure", element("div", *images, class_="pictures"), caption)


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

"""The filters of the first layer, as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import nn
from .._html import Html, element, join
from .._models.rows import parameters_of
from ._pictures import filter_pictures
from ._report import Report

__all__ = ["first_filters"]

Array = NDArray[Any]

MAX_FILTERS = 64

_CONVOLUTIONS = (
    nn.SpatialConvolution,
    nn.SpatialConvolutionMM,
    nn.SpatialConvolutionMap,
    nn.SpatialDepthWiseConvolution,
)


def first_filters(report: Report) -> Html:
    """The filters of the first layer with parameters, where they are pictures."""
    found = _first_weight(report)
    weight = None if found is None else _as_filters(*found[1:])
    if found is None or weight is None:
        return Html("")
    bgr = report.recipe is not None and report.recipe.channels == "BGR"
    sources = filter_pictures(weight, MAX_FILTERS, bgr=bgr)
    outputs, inputs, height, width = weight.shape
    total = outputs if inputs == 3 else outputs * inputs
    shown = f"{len(sources)} of {total:,}" if len(sources) < total else f"{total}"
    images = [
        element("img", src=source, alt=f"Filter {i}", class_="filter")
        for i, source in enumerate(sources, 1)
    ]
    color = f" in {'BGR' if bgr else 'RGB'}" if inputs == 3 else ""
    caption = (
        f"Layer {found[0]}: {shown} filters of {height} x {width}{color}. Middle gray is zero; "
        "each filter has a scale of its own."
    )
    figure = element(
        "figure", element("div", *images, class_="pictures"), element("figcaption", caption)
    )
    return join(element("h2", "Filters of the first layer"), figure)


def _first_weight(report: Report) -> tuple[int, Any, Array] | None:
    """The number of the first layer with a weight of several dimensions, it and its weight."""
    for number, row in report.shown:
        for name, array in parameters_of(row.value):
            if name == "weight" and array.ndim > 1:
                return number, row.value, array
    return None


def _as_filters(layer: Any, weight: Array) -> Array | None:
    """A weight as outputs x inputs x height x width; None where it is no picture."""
    if isinstance(layer, _CONVOLUTIONS):
        window = (layer.field("kH"), layer.field("kW"))
        if isinstance(layer, nn.SpatialConvolutionMap):
            shape: tuple[Any, ...] = (len(weight), 1, *window)
        else:
            shape = (len(weight), layer.field("nInputPlane"), *window)
    elif isinstance(layer, nn.Linear):  # of a gray or colour image that is square
        side = round((weight.shape[1] / 3) ** 0.5), round(weight.shape[1] ** 0.5)
        planes = 3 if 3 * side[0] ** 2 == weight.shape[1] else 1
        shape = (len(weight), planes, *2 * (side[0 if planes == 3 else 1],))
        if shape[-1] < 8:
            return None
    else:
        return None
    if not all(isinstance(n, int) and n > 0 for n in shape) or shape[-1] * shape[-2] == 1:
        return None
    return weight.reshape(shape) if int(np.prod(shape, dtype=object)) == weight.size else None

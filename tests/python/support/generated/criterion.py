"""Criterions: a loss, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import RESULT, Draw, family


def loss(draw: Draw, function: str, *arguments: Any) -> np.ndarray:
    """The loss, which is written to the argument RESULT."""
    output = np.empty(1, draw.real)
    draw.call(function, *(output if argument is RESULT else argument for argument in arguments))
    return output


def smooth(e: np.ndarray) -> np.ndarray:
    return np.where(np.abs(e) < 1, e * e / 2, np.abs(e) - 0.5)


@family(500)
def element_by_element(draw: Draw) -> None:
    """Whose loss is a sum over elements."""
    shape = draw.sizes("shape", draw.between("dimensions", 1, 4), 17)
    real, integers = draw.real, draw.integers(*shape)
    sides = np.where(draw.integers(*shape) > 0, 1, -1).astype(real)
    shares = draw.random.random(shape).astype(real)
    shares = np.clip(shares, real(0.0625), real(0.9375))
    module = draw.one_of(
        "module",
        ["Abs", "MSE", "SmoothL1", "DistKLDiv", "BCE", "Margin", "SoftMargin"],
    )
    x = {"BCE": shares, "DistKLDiv": np.log(shares)}.get(module, integers / real(2))
    t = draw.integers(*shape)
    if module in ("Margin", "SoftMargin"):
        t = sides
    elif module in ("BCE", "DistKLDiv"):
        t = np.where(draw.random.random(shape) < 0.25, 0, draw.random.random(shape)).astype(real)
    more: tuple[Any, ...] = ()
    a, b = x.astype(float), t.astype(float)
    if module == "Abs":
        terms, slopes = np.abs(a - b), np.where(a >= b, 1.0, -1.0)
    elif module == "MSE":
        terms, slopes = (a - b) ** 2, 2 * (a - b)
    elif module == "SmoothL1":
        terms, slopes = smooth(a - b), np.clip(a - b, -1, 1)
    elif module == "DistKLDiv":
        log = np.log(b, out=np.zeros_like(b), where=b > 0)
        terms, slopes = np.where(b > 0, b * (log - a), 0), np.where(b > 0, -b, 0)
    elif module == "BCE":
        weights = draw.normal(*shape) ** 2 if draw.one_of("weights", [True, False]) else None
        more = (weights,)
        w = 1.0 if weights is None else weights.astype(float)
        terms = -w * (b * np.log(a + 1e-12) + (1 - b) * np.log(1 - a + 1e-12))
        slopes = w * (a - b) / ((a + 1e-12) * (1 - a + 1e-12))
    elif module == "Margin":
        margin = draw.one_of("margin", [0.5, 1.0, 2.0])
        more = (margin,)
        terms, slopes = np.maximum(0, margin - a * b), np.where(a * b < margin, -b, 0)
    else:
        terms, slopes = np.log1p(np.exp(-a * b)), -b / (1 + np.exp(a * b))
    average = draw.one_of("average", [True, False])
    norm = 1 / x.size if average else 1
    # Logarithms of numbers near 1 are off by the rounding of these numbers.
    size = (np.abs(terms) + (1 if module in ("BCE", "DistKLDiv") else 0)).sum() * norm
    found = loss(draw, f"{module}Criterion_updateOutput", x, t, RESULT, average, *more)
    draw.close("loss", found, [terms.sum() * norm], size, x.size + 40)
    found = draw.result(f"{module}Criterion_updateGradInput", x, t, RESULT, average, *more)
    size = np.abs(slopes) * norm
    if module == "BCE":
        size = size + norm * w / (a * (1 - a))
    draw.close("gradInput", found, slopes * norm, size, 40)


@family(100)
def l1_cost(draw: Draw) -> None:
    x = draw.integers(*draw.sizes("shape", draw.between("dimensions", 1, 4), 17))
    draw.equal("loss", loss(draw, "L1Cost_updateOutput", x, RESULT), [np.abs(x).sum()])
    draw.equal("gradInput", draw.result("L1Cost_updateGradInput", x, None, RESULT), np.sign(x))


@family(300)
def class_nll(draw: Draw) -> None:
    spatial = draw.one_of("spatial", [False, True])
    batch = draw.one_of("batch", [1, 2, 9]) if spatial else draw.one_of("batch", [None, 1, 2, 33])
    classes, inner = draw.size("classes"), draw.sizes("inner", 2, 9) if spatial else ()
    lead = () if batch is None else (batch,)
    x = draw.integers(*lead, classes, *inner)
    target = draw.random.integers(1, classes + 1, (*lead, *inner) or (1,))
    weights = np.abs(draw.integers(classes)) if draw.one_of("weights", [True, False]) else None
    average = draw.one_of("average", [True, False])
    ignored = -100 if spatial else draw.between("ignored", 0, classes)
    module = "SpatialClassNLLCriterion" if spatial else "ClassNLLCriterion"
    last = () if spatial else (ignored,)
    w = np.ones(classes) if weights is None else weights.astype(float)
    factor = np.where(target == ignored, 0, w[target - 1])
    axis = len(lead)
    place = np.expand_dims(target - 1, axis) if lead else target - 1
    taken = np.take_along_axis(x.astype(float), place, axis)
    total = factor.sum()
    norm = 1 / total if average and total else 1
    sums = np.empty(1, draw.real)
    found = loss(draw, f"{module}_updateOutput", x, target, RESULT, average, weights, sums, *last)
    terms = taken.reshape(factor.shape) * factor
    draw.close("loss", found, [-terms.sum() * norm], np.abs(terms).sum() * norm, 4)
    draw.equal("total_weight", sums, [total])
    found = np.zeros_like(x)
    draw.call(f"{module}_updateGradInput", x, target, found, average, weights, sums, *last)
    if total > 0:
        wanted = np.zeros(x.shape)
        np.put_along_axis(wanted, place, (-factor * norm).reshape(place.shape), axis)
        draw.close("gradInput", found, wanted, wanted, 4)


@family(200)
def multi_margin(draw: Draw) -> None:
    batch, classes = draw.one_of("batch", [None, 1, 2, 9]), draw.size("classes")
    lead = () if batch is None else (batch,)
    x = draw.integers(*lead, classes)
    target = draw.random.integers(1, classes + 1, batch or 1)
    power, margin = draw.between("power", 1, 2), draw.one_of("margin", [0.5, 1.0])
    weights = np.abs(draw.integers(classes)) if draw.one_of("weights", [True, False]) else None
    average = draw.one_of("average", [True, False])
    rows, at = np.atleast_2d(x.astype(float)), np.arange(batch or 1)
    w = np.ones(len(at)) if weights is None else weights.astype(float)[target - 1]
    z = np.maximum(0, margin - rows[at, target - 1][:, None] + rows)
    z[at, target - 1] = 0
    norm = (w / classes / (len(at) if average else 1))[:, None]
    arguments = (average, power, weights, margin)
    found = loss(draw, "MultiMarginCriterion_updateOutput", x, target, RESULT, *arguments)
    wanted = (norm * z**power).sum()
    draw.close("loss", found, [wanted], wanted, x.size + 8)
    slopes = norm * (2 * z if power == 2 else (z > 0))
    slopes[at, target - 1] = -slopes.sum(1)
    size = np.abs(slopes)
    found = draw.result("MultiMarginCriterion_updateGradInput", x, target, RESULT, *arguments)
    draw.close("gradInput", found, slopes.reshape(x.shape), size.reshape(x.shape), classes + 8)


@family(200)
def multi_label_margin(draw: Draw) -> None:
    batch, classes = draw.one_of("batch", [None, 1, 2, 9]), draw.size("classes", 17)
    lead = () if batch is None else (batch,)
    x, average = draw.integers(*lead, classes), draw.one_of("average", [True, False])
    rows = np.atleast_2d(x.astype(float))
    target = np.zeros(rows.shape, np.int64)
    chosen, slopes, total = np.zeros(rows.shape), np.zeros(rows.shape), 0.0
    for row, values in enumerate(rows):
        labels = draw.random.permutation(classes)[: draw.random.integers(0, classes + 1)]
        target[row, : len(labels)] = labels + 1
        if len(labels) + 1 < classes:  # what follows the 0 does not count
            target[row, len(labels) + 1 :] = 1
        chosen[row, labels] = 1
        others = np.flatnonzero(chosen[row] == 0)
        z = 1 - values[labels][:, None] + values[others]
        total += np.maximum(0, z).sum()
        np.add.at(slopes[row], labels, -(z > 0).sum(1))
        np.add.at(slopes[row], others, (z > 0).sum(0))
    norm = 1 / classes / (len(rows) if average else 1)
    output, given = np.empty(1, draw.real), target.reshape(x.shape)
    is_target = np.full_like(x, 7)
    draw.call("MultiLabelMarginCriterion_updateOutput", x, given, output, is_target, average)
    draw.close("loss", output, [total * norm], total * norm, x.size + 8)
    draw.equal("isTarget", is_target, chosen.reshape(x.shape))
    found = draw.result(
        "MultiLabelMarginCriterion_updateGradInput", x, given, RESULT, is_target, average
    )
    limit = classes * norm * np.ones(x.shape)
    draw.close("gradInput", found, slopes.reshape(x.shape) * norm, limit, classes + 8)

"""Poolings against their definition, in one to three dimensions.

Combinations of arguments are drawn by a generator with a fixed seed.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from support.adjoint import adjoint, near
from support.functional_cases import apart, normal

from pythnn import functional as F  # noqa: N812

REALS = [np.float32, np.float64]


def taps(w: dict[str, Any], dilated: bool) -> tuple[list[int], dict[Any, list[Any]], Any]:
    """Numbers of windows; the elements of each; the number of taps in the padded array."""
    axes = range(len(w["size"]))
    dilation = w["dilation"] if dilated else [1] * len(axes)
    counts = []
    for d in axes:
        room = w["size"][d] + 2 * w["padding"][d] - (w["kernel"][d] - 1) * dilation[d] - 1
        count = -(-room // w["stride"][d]) + 1 if w["ceil_mode"] else room // w["stride"][d] + 1
        beyond = (count - 1) * w["stride"][d] >= w["size"][d] + w["padding"][d]
        counts.append(count - 1 if any(w["padding"]) and beyond else count)
    elements, padded = {}, {}
    for place in product(*map(range, counts)):
        own, total = [[]], 1
        for d in axes:
            start = place[d] * w["stride"][d] - w["padding"][d]
            along = [start + t * dilation[d] for t in range(w["kernel"][d])]
            total *= sum(i < w["size"][d] + w["padding"][d] for i in along)
            own = [(*o, i) for o in own for i in along if 0 <= i < w["size"][d]]
        elements[place], padded[place] = own, total
    return counts, elements, padded


def drawn_windows(count: int, seed: int) -> list[dict[str, Any]]:
    """Windows that all have elements."""
    rng = np.random.default_rng(seed)
    found: list[dict[str, Any]] = []
    while len(found) < count:
        axes = int(rng.integers(1, 4))
        kernel = rng.integers(1, 5, axes)
        windows = {
            "size": rng.integers(3, 8, axes).tolist(),
            "kernel": kernel.tolist(),
            "stride": rng.integers(1, 4, axes).tolist(),
            "padding": [int(rng.integers(0, k)) for k in kernel],
            "ceil_mode": bool(rng.integers(2)),
            "dilation": rng.integers(1, 3, axes).tolist(),
        }
        reach = [(k - 1) * d for k, d in zip(kernel, windows["dilation"], strict=True)]
        room = zip(windows["size"], windows["padding"], reach, strict=True)
        whole = all(n + 2 * p > r for n, p, r in room)
        if whole and all(all(taps(windows, dilated)[1].values()) for dilated in (False, True)):
            found.append(windows)
    return found


def arguments(w: dict[str, Any], *more: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    sizes = {n: w[n][0] if len(w["size"]) == 1 else w[n] for n in ("kernel", "stride", *more)}
    named = {n: sizes[n] for n in more} | {"ceil_mode": w["ceil_mode"]}
    if len(w["size"]) == 1:
        named["axis"] = -1
    return (sizes["kernel"], sizes["stride"]), named


@pytest.mark.parametrize("w", drawn_windows(60, 1), ids=str)
def test_maxima(w: dict[str, Any]) -> None:
    counts, elements, _ = taps(w, dilated=True)
    x = apart(2, *w["size"])
    sizes, named = arguments(w, "padding", "dilation")
    name = f"max_pool{len(w['size'])}d"
    output, indices = getattr(F, name)(x, *sizes, **named)
    wanted = np.empty((2, *counts))
    grad = normal(2, *counts)
    wanted_grad = np.zeros_like(x)
    for plane, (place, own) in product(range(2), elements.items()):
        best = max(own, key=lambda i: x[(plane, *i)])
        wanted[(plane, *place)] = x[(plane, *best)]
        wanted_grad[(plane, *best)] += grad[(plane, *place)]
    np.testing.assert_array_equal(output, wanted)
    if len(counts) == 2:
        np.testing.assert_array_equal(x[0].ravel()[indices[0]], wanted[0])
    near(getattr(F, f"{name}_backward")(grad, x, indices, *sizes, **named), wanted_grad, 64)
    if len(counts) == 1:
        named["axis"] = -2
        turned, places = F.max_pool1d(x.swapaxes(-1, -2), *sizes, **named)
        np.testing.assert_array_equal(turned.swapaxes(-1, -2), wanted)
        np.testing.assert_array_equal(places.swapaxes(-1, -2), indices)
        grad_x = F.max_pool1d_backward(
            grad.swapaxes(-1, -2), x.swapaxes(-1, -2), places, *sizes, **named
        )
        near(grad_x.swapaxes(-1, -2), wanted_grad, 64)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("kind", ["sum", "mean of elements", "mean with padding"])
@pytest.mark.parametrize("w", drawn_windows(25, 2), ids=str)
def test_means_and_sums(w: dict[str, Any], kind: str, real: Any) -> None:
    counts, elements, padded = taps(w, dilated=False)
    x = normal(2, *w["size"]).astype(real)
    sizes, named = arguments(w, "padding")
    if kind != "sum":
        named["count_padding"] = kind == "mean with padding"
    name = f"{'sum' if kind == 'sum' else 'avg'}_pool{len(w['size'])}d"
    output = getattr(F, name)(x, *sizes, **named)
    wanted = np.empty((2, *counts))
    for plane, (place, own) in product(range(2), elements.items()):
        total = sum(float(x[(plane, *i)]) for i in own)
        divisor = {"sum": 1, "mean of elements": len(own)}.get(kind, padded[place])
        wanted[(plane, *place)] = total / divisor
    near(output, wanted, 64)
    grad = normal(2, *counts).astype(real)
    adjoint(grad, output, getattr(F, f"{name}_backward")(grad, x, *sizes, **named), x)


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("kind", ["max", "sum", "mean of elements", "mean with padding"])
def test_one_dimension_is_a_plane_of_height_one(kind: str, ceil_mode: bool) -> None:
    """Also where the last windows see little or nothing of the array."""
    name = kind if kind in ("max", "sum") else "avg"
    of_lines, of_planes = getattr(F, f"{name}_pool1d"), getattr(F, f"{name}_pool2d")
    lines_back = getattr(F, f"{name}_pool1d_backward")
    planes_back = getattr(F, f"{name}_pool2d_backward")
    for size, window, stride, dilation in product((1, 2, 5, 6), (1, 2, 3), (1, 2, 3), (1, 2)):
        if dilation > 1 and kind != "max":
            continue
        x = normal(2, 3, size)
        planes = x[:, :, None, :]
        for padding in range(window):
            if size + 2 * padding <= (window - 1) * dilation:
                continue
            named: dict[str, Any] = {"ceil_mode": ceil_mode}
            if name == "avg":
                named["count_padding"] = kind == "mean with padding"
            lines = {**named, "padding": padding, "axis": -1}
            across = {**named, "padding": (0, padding)}
            if kind == "max":
                lines["dilation"], across["dilation"] = dilation, (1, dilation)
            found: Any = of_lines(x, window, stride, **lines)
            wanted: Any = of_planes(planes, (1, window), (1, stride), **across)
            of_found: tuple[Any, ...] = (x,)
            of_wanted: tuple[Any, ...] = (planes,)
            if kind == "max":
                of_found, of_wanted = (x, found[1]), (planes, wanted[1])
                found, wanted = found[0], wanted[0]
            np.testing.assert_array_equal(found, wanted[:, :, 0])
            grad = normal(*found.shape)
            found = lines_back(grad, *of_found, window, stride, **lines)
            grad = grad[:, :, None, :]
            wanted = planes_back(grad, *of_wanted, (1, window), (1, stride), **across)
            np.testing.assert_array_equal(found, wanted[:, :, 0])


def test_a_window_without_elements_has_no_gradient() -> None:
    named = {"padding": 1, "dilation": 2, "axis": -1}
    x = normal(1, 1)
    _, places = F.max_pool1d(x, 2, 1, **named)
    np.testing.assert_array_equal(places, [[-1]])
    assert not F.max_pool1d_backward(np.ones((1, 1)), x, places, 2, 1, **named).any()

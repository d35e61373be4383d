"""Interpolation: against its definition, with threads and gaps, and what it refuses."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from support.bits import check_threads_and_gaps
from support.bounds import assert_near

from pythnn import State, Tensor, THNNArgumentError, thnn

EDGES, CORNERS, NEAREST, CUBIC, CUBIC_CORNERS = range(5)
SIZES = [
    *[((1, 4, 5), (1, 8, 10)), ((1, 9, 7), (1, 3, 2)), ((3, 4, 5), (2, 9, 4))],
    *[((1, 1, 1), (2, 3, 4)), ((2, 3, 4), (1, 1, 1)), ((1, 40, 50), (1, 4, 5))],
]


def cubic_weight(distance: float) -> float:
    """The weight of an element at a distance, in cubic convolution (Keys, 1981)."""
    a, d = -0.75, abs(distance)
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a if d < 2 else 0.0


def cubic_matrix(before: int, after: int, step: float, mode: int) -> np.ndarray:
    """The same for cubic convolution: the nearest elements stand for those outside."""
    found = np.zeros((after, before))
    for i in range(after):
        at = (i + 0.5) * step - 0.5 if mode == CUBIC else i * step
        for index in range(math.floor(at) - 1, math.floor(at) + 3):
            found[i, min(max(index, 0), before - 1)] += cubic_weight(at - index)
    return found


def matrix(before: int, after: int, step: float, mode: int) -> np.ndarray:
    """after x before: what each index of the input gives to each of the output."""
    if mode >= CUBIC:
        return cubic_matrix(before, after, step, mode)
    found = np.zeros((after, before))
    for i in range(after):
        at = min(max(i * step if mode else (i + 0.5) * step - 0.5, 0), before - 1)
        at = math.floor(at) if mode == NEAREST else at
        lower = min(int(at), max(before - 2, 0))
        found[i, lower] += 1 - (at - lower)
        found[i, min(lower + 1, before - 1)] += at - lower
    return found


def steps_of(before: Any, after: Any, mode: int, stretch: float) -> list[float]:
    pairs = zip(before, after, strict=True)
    if mode in (CORNERS, CUBIC_CORNERS):
        return [stretch * (n - 1) / max(m - 1, 1) for n, m in pairs]
    return [stretch * n / m for n, m in pairs]


def run(x: Any, grad: Any, steps: list[float], mode: int, state: State | None = None) -> Any:
    made = [Tensor(dtype=x.dtype), Tensor(dtype=x.dtype)]
    sizes = grad.shape[2:], x.shape[2:]
    thnn.Interpolation_updateOutput(state, x, made[0], *sizes[0], *steps, mode)
    thnn.Interpolation_updateGradInput(state, grad, made[1], *sizes[1], *steps, mode)
    return [tensor.numpy() for tensor in made]


@pytest.mark.parametrize("stretch", [1.0, 0.9, 1.3])
@pytest.mark.parametrize("mode", range(5))
@pytest.mark.parametrize(("before", "after"), SIZES)
def test_definition(before: Any, after: Any, mode: int, stretch: float) -> None:
    draw = np.random.default_rng(3)
    steps = steps_of(before, after, mode, stretch)
    axes = zip(before, after, steps, strict=True)
    matrices = [matrix(n, m, step, mode) for n, m, step in axes]
    for dtype in ("float32", "float64"):
        x = draw.standard_normal((2, 3, *before)).astype(dtype)
        grad = draw.standard_normal((2, 3, *after)).astype(dtype)
        output, grad_x = run(x, grad, steps, mode)
        assert output.dtype == dtype
        wanted = np.einsum("bcijk,zi,yj,xk->bczyx", x.astype(float), *matrices)
        assert_near(output, wanted, 32, 8)
        wanted = np.einsum("bczyx,zi,yj,xk->bcijk", grad.astype(float), *matrices)
        sums = np.prod([np.abs(m).sum(0).max() for m in matrices])
        assert_near(grad_x, wanted, 64 + float(sums), 8 * max(1.0, float(sums)))


@pytest.mark.parametrize("mode", [EDGES, NEAREST, CUBIC])
def test_threads_and_gaps_do_not_change_bits(mode: int) -> None:
    draw = np.random.default_rng(4)
    arrays = {
        "x": draw.standard_normal((3, 5, 2, 9, 11)).astype("float32"),
        "grad": draw.standard_normal((3, 5, 3, 13, 7)).astype("float32"),
    }
    steps = steps_of((2, 9, 11), (3, 13, 7), mode, 1)
    check_threads_and_gaps(lambda a, state: run(a["x"], a["grad"], steps, mode, state), arrays)


def test_refusals() -> None:
    x, output = np.ones((1, 1, 1, 2, 3)), Tensor(dtype="float64")
    names = ("stepDepth", "stepHeight", "stepWidth")
    for i, wrong in product(range(3), (-1.0, float("nan"), float("inf"))):
        steps = [1.0, 1.0, 1.0]
        steps[i] = wrong
        with pytest.raises(THNNArgumentError, match=f"'{names[i]}': expected a number from 0 to"):
            thnn.Interpolation_updateOutput(None, x, output, 1, 2, 3, *steps, EDGES)
    for i, name in enumerate(("outputDepth", "outputHeight", "outputWidth")):
        sizes = [1, 2, 3]
        sizes[i] = 0
        with pytest.raises(THNNArgumentError, match=f"'{name}'"):
            thnn.Interpolation_updateOutput(None, x, output, *sizes, 1.0, 1.0, 1.0, EDGES)
    with pytest.raises(THNNArgumentError, match="'gradOutput'"):
        thnn.Interpolation_updateGradInput(
            None, np.ones((1, 1, 2, 3)), output, 1, 2, 3, 1.0, 1.0, 1.0, EDGES
        )
    for mode in (-1, 5):
        with pytest.raises(THNNArgumentError, match="'mode'"):
            thnn.Interpolation_updateOutput(None, x, output, 1, 2, 3, 1.0, 1.0, 1.0, mode)
    assert output.numpy().shape == (0,)


def test_nearest_elements_leave_their_neighbours_alone() -> None:
    x = np.array([1.0, np.inf, 2.0, np.nan, 3.0]).reshape(1, 1, 1, 1, 5)
    steps = steps_of((1, 1, 5), (1, 2, 10), NEAREST, 1)
    output, _ = run(x, np.zeros((1, 1, 1, 2, 10)), steps, NEAREST)
    np.testing.assert_array_equal(output, np.repeat(x, 10, 3)[..., :2, :].repeat(2, 4))
    _, grad_x = run(np.zeros((1, 1, 1, 1, 5)), output[..., :1, :], [1.0, 1.0, 0.5], NEAREST)
    np.testing.assert_array_equal(grad_x, 2 * x)

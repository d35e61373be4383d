"""GaussianMixture: against its definition, with threads and gaps, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bits import check_threads_and_gaps
from support.bounds import FUNCTION, assert_near
from support.memory import fail_each_allocation

from pythnn import State, Tensor, THNNArgumentError, thnn

SHAPES = [(1, 1), (5, 20), (300, 3), (2, 700), (3, 256), (7, 257)]
"""Rows that share a tile, and rows that are longer than one."""
PARAMETERS = ("weight", "mean1", "mean2", "std1", "std2", "correlation")
GRADIENTS = ("gradWeight", "gradMean1", "gradMean2", "gradStd1", "gradStd2", "gradCorrelation")


def sample(shape: tuple[int, int], dtype: Any) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(sum(shape))
    normal = draw.standard_normal
    weight = np.exp(normal(shape))
    arrays = {
        "target1": normal(shape[0]),
        "target2": normal(shape[0]),
        "weight": weight / weight.sum(1, keepdims=True),
        "mean1": normal(shape),
        "mean2": normal(shape),
        "std1": np.exp(normal(shape) / 4),
        "std2": np.exp(normal(shape) / 4),
        "correlation": np.tanh(normal(shape) / 2),
        "gradOutput": normal(shape[0]),
    }
    return {name: array.astype(dtype) for name, array in arrays.items()}


def operands(a: dict[str, Any]) -> list[Any]:
    return [a[name] for name in ("target1", "target2", *PARAMETERS)]


def run(a: dict[str, Any], state: State | None = None) -> list[np.ndarray]:
    """The loss, the responsibilities and the gradients."""
    made = [Tensor(dtype=a["weight"].dtype) for _ in range(8)]
    thnn.GaussianMixture_updateOutput(state, *operands(a), *made[:2])
    thnn.GaussianMixture_updateGradInput(state, *operands(a), a["gradOutput"], *made[2:])
    return [tensor.numpy() for tensor in made]


def by_definition(a: dict[str, Any]) -> list[np.ndarray]:
    a = {name: array.astype(np.longdouble) for name, array in a.items()}
    x1, x2, grad = (a[name][:, None] for name in ("target1", "target2", "gradOutput"))
    c = a["correlation"]
    z1, z2, rest = (x1 - a["mean1"]) / a["std1"], (x2 - a["mean2"]) / a["std2"], 1 - c * c
    distance = (z1 * z1 + z2 * z2 - 2 * c * z1 * z2) / rest
    area = 2 * np.pi * a["std1"] * a["std2"] * np.sqrt(rest)
    parts = a["weight"] * np.exp(-distance / 2) / area
    shares = parts / parts.sum(1, keepdims=True)
    r, t1, t2 = grad * shares, (z1 - c * z2) / rest, (z2 - c * z1) / rest
    return [
        -np.log(parts.sum(1)),
        shares,
        grad * a["weight"] - r,
        -r * t1 / a["std1"],
        -r * t2 / a["std2"],
        r * (1 - z1 * t1),
        r * (1 - z2 * t2),
        -r * (z1 * z2 + c * (1 - distance)),
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_definition(shape: tuple[int, int], dtype: str) -> None:
    a = sample(shape, dtype)
    # A density's logarithm is rounded in proportion to the distance, and so is its power of e.
    z = max(np.abs(a[f"target{i}"][:, None] - a[f"mean{i}"]).max() for i in (1, 2))
    far = float((2 * z / a["std1"].min()) ** 2 / (1 - np.abs(a["correlation"]).max() ** 2))
    for found, wanted in zip(run(a), by_definition(a), strict=True):
        least = max(1.0, float(np.abs(wanted).max()))
        assert_near(found, wanted, (4 * FUNCTION + 16) * (1 + far) + shape[1], least)


def test_threads_and_gaps_do_not_change_bits() -> None:
    check_threads_and_gaps(run, sample((70, 33), "float32"))


@pytest.mark.parametrize("shape", [(9, 20), (2, 300)])
def test_what_is_not_wanted_is_left_out(shape: tuple[int, int]) -> None:
    a = sample(shape, "float64")
    loss, _, *grads = run(a)
    alone = Tensor(dtype="float64")
    thnn.GaussianMixture_updateOutput(None, *operands(a), alone, None)
    np.testing.assert_array_equal(alone.numpy(), loss)
    for left_out in range(6):
        made: list[Any] = [Tensor(dtype="float64") for _ in range(6)]
        made[left_out] = None
        thnn.GaussianMixture_updateGradInput(None, *operands(a), a["gradOutput"], *made)
        for found, right in zip(made, grads, strict=True):
            if found is not None:
                np.testing.assert_array_equal(found.numpy(), right)
    thnn.GaussianMixture_updateGradInput(None, *operands(a), a["gradOutput"], *[None] * 6)


def test_one_gradient_for_all_samples() -> None:
    a = sample((5, 4), "float32")
    every = run({**a, "gradOutput": np.full(5, 0.5, "float32")})
    for found, right in zip(run({**a, "gradOutput": np.float32([0.5])}), every, strict=True):
        np.testing.assert_array_equal(found, right)


def test_points_far_away_and_weights_of_zero() -> None:
    a = sample((6, 5), "float32")
    a["target1"] += 1000
    a["weight"][:, 1] = 0
    for found in run(a):
        assert np.isfinite(found).all()


def test_nan_stays_nan() -> None:
    for name in ("target1", *PARAMETERS):
        a = sample((3, 20), "float64")
        a[name][1] = np.nan
        loss, shares, *_ = run(a)
        assert np.isnan(loss).tolist() == [False, True, False]
        assert np.isnan(shares[1]).all()


def test_refusals_and_failing_memory() -> None:
    a = sample((3, 5), "float64")
    for name in (*PARAMETERS[1:], "target2"):
        with pytest.raises(THNNArgumentError, match=f"'{name}'"):
            run({**a, name: a[name][..., :-1].copy()})
    with pytest.raises(THNNArgumentError, match="'weight': expected a non-empty 2D tensor"):
        run({**a, "weight": a["weight"][0]})
    with pytest.raises(THNNArgumentError, match="'target1'"):
        run({**a, "target1": np.ones((3, 2))})
    with pytest.raises(THNNArgumentError, match="'gradOutput': expected 3 elements"):
        run({**a, "gradOutput": np.ones(2)})
    a |= {"output": np.full(3, 7.0), "shares": np.full((3, 5), 7.0)}
    a |= {name: np.full((3, 5), 7.0) for name in GRADIENTS}

    def forward() -> None:
        thnn.GaussianMixture_updateOutput(None, *operands(a), a["output"], a["shares"])

    def backward() -> None:
        grads = [a[name] for name in GRADIENTS]
        thnn.GaussianMixture_updateGradInput(None, *operands(a), a["gradOutput"], *grads)

    wide = np.full((3, 5, 2), 7.0)
    a["shares"], a["gradMean1"] = wide[..., 0], wide[..., 1]
    assert fail_each_allocation(forward, a) >= 1
    assert fail_each_allocation(backward, a) >= 1

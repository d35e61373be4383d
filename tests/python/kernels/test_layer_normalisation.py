"""LayerNormalization: against its definition, with threads and gaps, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bits import check_threads_and_gaps
from support.bounds import assert_near
from support.memory import fail_each_allocation

from pythnn import State, Tensor, THNNArgumentError, thnn

SHAPES = [(1, 1), (3, 7), (70, 33), (4, 768)]


def sample(shape: tuple[int, int], dtype: Any) -> dict[str, np.ndarray]:
    normal = np.random.default_rng(sum(shape)).standard_normal
    arrays = {
        "input": 3 + normal(shape),
        "gradOutput": normal(shape),
        "weight": normal(shape[1]),
        "bias": normal(shape[1]),
    }
    return {name: array.astype(dtype) for name, array in arrays.items()}


def run(a: dict[str, Any], state: State | None = None, eps: float = 1e-3) -> list[np.ndarray]:
    """Output, mean, 1 / deviation and the gradient of the input."""
    made = [Tensor(dtype=a["input"].dtype) for _ in range(4)]
    output, mean, std, grad = made
    thnn.LayerNormalization_updateOutput(
        state, a["input"], output, a.get("weight"), a.get("bias"), mean, std, eps
    )
    thnn.LayerNormalization_updateGradInput(
        state, a["input"], a["gradOutput"], grad, a.get("weight"), mean, std
    )
    return [tensor.numpy() for tensor in made]


def by_definition(a: dict[str, Any], eps: float = 1e-3) -> list[np.ndarray]:
    a = {name: array.astype(np.float64) for name, array in a.items()}
    x, weight = a["input"], a.get("weight", 1.0)
    mean, var = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    inverse = (var + eps) ** -0.5
    normed, g = (x - mean) * inverse, a["gradOutput"] * weight
    grad = g - g.mean(1, keepdims=True) - normed * (g * normed).mean(1, keepdims=True)
    return [normed * weight + a.get("bias", 0.0), mean[:, 0], inverse[:, 0], grad * inverse]


@pytest.mark.parametrize("left_out", [(), ("weight",), ("bias",), ("weight", "bias")])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_definition(shape: tuple[int, int], dtype: str, left_out: tuple[str, ...]) -> None:
    a = {n: array for n, array in sample(shape, dtype).items() if n not in left_out}
    for found, wanted in zip(run(a), by_definition(a), strict=True):
        # The mean has been rounded, of which the distances are small parts.
        least = 8 * max(1, np.abs(wanted).max(initial=0))
        assert_near(found, wanted, 64, least)


def test_threads_and_gaps_do_not_change_bits() -> None:
    check_threads_and_gaps(run, sample((9, 33), "float32"))


def test_rows_of_equal_elements() -> None:
    a = {"input": np.full((2, 5), 3.0), "gradOutput": np.ones((2, 5))}
    output, mean, std, _ = run(a, eps=0.0)
    np.testing.assert_array_equal(output, 0)
    np.testing.assert_array_equal(mean, 3)
    np.testing.assert_array_equal(std, 0)


def test_refusals_and_failing_memory() -> None:
    a = sample((3, 5), "float64")
    for name in ("weight", "bias", "gradOutput"):
        with pytest.raises(THNNArgumentError, match=f"'{name}'"):
            run({**a, name: a[name][..., :-1].copy()})
    with pytest.raises(THNNArgumentError, match="rows x columns"):
        run({**a, "input": a["input"][0]})
    a |= {"output": np.full((3, 5), 7.0), "mean": np.full(3, 7.0), "std": np.full(3, 7.0)}

    def call() -> None:
        given = (a[name] for name in ("input", "output", "weight", "bias", "mean", "std"))
        thnn.LayerNormalization_updateOutput(None, *given, 1e-3)

    assert fail_each_allocation(call, a) >= 1

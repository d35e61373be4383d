"""GroupNormalization: against its definition, with threads and gaps, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bits import check_threads_and_gaps
from support.bounds import assert_near
from support.memory import fail_each_allocation

from pythnn import State, Tensor, THNNArgumentError, thnn

SHAPES = [
    *[((1, 1), 1), ((3, 8), 4), ((70, 33), 1), ((200, 768), 1), ((2, 6, 5), 2), ((90, 64, 7), 8)],
    *[((2, 6, 17), 3), ((3, 4, 5, 6), 4), ((1, 8, 12, 12), 1), ((2, 3, 3, 2, 5), 3)],
    ((40, 700, 16), 7),
    ((700, 93), 3),
]
"""Of planes that are worked on one by one, and of shorter ones, of few samples and of many.

The last but one takes more than one round of samples, the last one several blocks.
"""


def sample(shape: tuple[int, ...], dtype: Any) -> dict[str, np.ndarray]:
    normal = np.random.default_rng(sum(shape)).standard_normal
    arrays = {
        "input": 3 + normal(shape),
        "gradOutput": normal(shape),
        "weight": normal(shape[1]),
        "bias": normal(shape[1]),
        "gradWeight": normal(shape[1]),
        "gradBias": normal(shape[1]),
    }
    return {name: array.astype(dtype) for name, array in arrays.items()}


def run(a: dict[str, Any], groups: int, state: State | None = None) -> list[np.ndarray]:
    """Output, mean, 1 / deviation and the gradients."""
    made = [Tensor(dtype=a["input"].dtype) for _ in range(4)]
    output, mean, std, grad = made
    thnn.GroupNormalization_updateOutput(
        state, a["input"], output, a.get("weight"), a.get("bias"), mean, std, groups, 1e-3
    )
    added = [a["gradWeight"].copy(), a["gradBias"].copy()]
    thnn.GroupNormalization_backward(
        state, a["input"], a["gradOutput"], grad, *added, a.get("weight"), mean, std, groups, 0.5
    )
    return [*(tensor.numpy() for tensor in made), *added]


def by_definition(a: dict[str, Any], groups: int) -> list[np.ndarray]:
    a = {name: array.astype(np.float64) for name, array in a.items()}
    shape = a["input"].shape
    wide = (-1, *(1,) * (len(shape) - 2))
    weight = a["weight"].reshape(wide) if "weight" in a else 1.0
    bias = a["bias"].reshape(wide) if "bias" in a else 0.0
    x = a["input"].reshape(shape[0], groups, -1)
    mean, var = x.mean(2, keepdims=True), x.var(2, keepdims=True)
    inverse = (var + 1e-3) ** -0.5
    normed, g = (x - mean) * inverse, (a["gradOutput"] * weight).reshape(x.shape)
    grad = (g - g.mean(2, keepdims=True) - normed * (g * normed).mean(2, keepdims=True)) * inverse
    axes = (0, *range(2, len(shape)))
    normed = normed.reshape(shape)
    return [
        normed * weight + bias,
        mean[..., 0],
        inverse[..., 0],
        grad.reshape(shape),
        a["gradWeight"] + 0.5 * (a["gradOutput"] * normed).sum(axes),
        a["gradBias"] + 0.5 * a["gradOutput"].sum(axes),
    ]


@pytest.mark.parametrize("left_out", [(), ("weight",), ("bias",), ("weight", "bias")])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "groups"), SHAPES)
def test_definition(
    shape: tuple[int, ...], groups: int, dtype: str, left_out: tuple[str, ...]
) -> None:
    a = {n: array for n, array in sample(shape, dtype).items() if n not in left_out}
    for found, wanted in zip(run(a, groups), by_definition(a, groups), strict=True):
        # The mean has been rounded, of which the distances are small parts.
        least = 8 * max(1, np.abs(wanted).max(initial=0))
        assert_near(found, wanted, 64, least)


@pytest.mark.parametrize(
    ("shape", "groups"),
    [((9, 33), 3), ((100, 40), 1), ((3, 6, 30), 2), ((40, 700, 16), 7), ((700, 93), 3)],
)
def test_threads_and_gaps_do_not_change_bits(shape: tuple[int, ...], groups: int) -> None:
    check_threads_and_gaps(lambda a, state: run(a, groups, state), sample(shape, "float32"))


@pytest.mark.parametrize("shape", [(9, 6), (90, 6), (700, 94), (3, 6, 30)])
def test_what_is_not_wanted_is_left_out(shape: tuple[int, ...]) -> None:
    a = sample(shape, "float64")
    _, mean, std, *right = run(a, 2)
    for left_out in range(3):
        made: list[Any] = [np.empty(shape), a["gradWeight"].copy(), a["gradBias"].copy()]
        made[left_out] = None
        thnn.GroupNormalization_backward(
            None, a["input"], a["gradOutput"], *made, a["weight"], mean, std, 2, 0.5
        )
        for found, wanted in zip(made, right, strict=True):
            if found is not None:
                np.testing.assert_array_equal(found, wanted)
    thnn.GroupNormalization_backward(
        None, a["input"], a["gradOutput"], None, None, None, None, mean, std, 2, 1.0
    )


def test_groups_of_equal_elements() -> None:
    for shape in ((2, 4), (2, 4, 20)):
        output, mean, std = np.full(shape, 7.0), np.empty((2, 2)), np.empty((2, 2))
        thnn.GroupNormalization_updateOutput(
            None, np.full(shape, 3.0), output, None, None, mean, std, 2, 0.0
        )
        np.testing.assert_array_equal(output, 0)
        np.testing.assert_array_equal(mean, 3)
        np.testing.assert_array_equal(std, 0)


def test_refusals_and_failing_memory() -> None:
    a = sample((3, 6, 5), "float64")
    for name in ("weight", "bias", "gradOutput", "gradWeight", "gradBias"):
        with pytest.raises(THNNArgumentError, match=f"'{name}'"):
            run({**a, name: a[name][..., :-1].copy()}, 2)
    for groups in (0, 4, -1):
        with pytest.raises(THNNArgumentError, match="'groups': expected a divisor of 6"):
            run(a, groups)
    wide = np.full((3, 6, 5, 2), 7.0)
    a |= {"output": wide[..., 0], "mean": np.full((3, 2), 7.0), "std": np.full((3, 2), 7.0)}

    def forward() -> None:
        given = (a[name] for name in ("input", "output", "weight", "bias", "mean", "std"))
        thnn.GroupNormalization_updateOutput(None, *given, 2, 1e-3)

    def backward() -> None:
        names = ("input", "gradOutput", "output", "gradWeight", "gradBias", "weight")
        given = (a[name] for name in (*names, "mean", "std"))
        thnn.GroupNormalization_backward(None, *given, 2, 1.0)

    assert fail_each_allocation(forward, a) >= 1
    assert fail_each_allocation(backward, a) >= 1

"""LookupTableBag and SpatialCrossMapLRN, which the original has on CUDA only: against their
definitions in numpy, gradients by finite differences and by the adjoint identity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bounds import FUNCTION, assert_sums, difference_limit, is_near, sum_limit
from support.definitions.cuda_only import (
    MEAN,
    NUMERICAL_STEP,
    SUM,
    Norm,
    bag_gradient,
    lrn,
    lrn_backward,
    sum_bags,
)

from pythnn import State, Tensor, THNNArgumentError, thnn

DTYPES = ["float32", "float64"]


def strided(a: np.ndarray) -> Tensor:
    """A Tensor with these values that is not contiguous."""
    wide = np.zeros((*a.shape, 2), a.dtype)
    wide[..., 0] = a
    return Tensor.from_numpy(wide[..., 0])


# ---- LookupTableBag

BAGS = {
    "one bag": [4],
    "empty bags": [0, 3, 0, 0, 2, 0],
    "many bags": [1, 7, 2, 5, 1, 1, 9, 3, 4],
    "hundreds of bags": [i % 7 for i in range(300)],
}
TABLES = [(5, 3), (40, 65), (50, 16 * 16 + 4 * 16 + 16 + 13)]


def bag_input(lengths: list[int], rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, offsets and the bag of each index, all counted from 1."""
    indices = np.random.default_rng(sum(lengths)).integers(1, rows + 1, sum(lengths))
    offsets = np.cumsum([0, *lengths[:-1]]) + 1
    return indices, offsets, np.repeat(np.arange(len(lengths)), lengths) + 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", [SUM, MEAN])
@pytest.mark.parametrize("table", TABLES, ids=str)
@pytest.mark.parametrize("lengths", BAGS.values(), ids=BAGS.keys())
def test_bag_forward(lengths: list[int], table: tuple[int, int], mode: int, dtype: str) -> None:
    indices, offsets, bag = bag_input(lengths, table[0])
    weight = np.random.default_rng(1).normal(size=table).astype(dtype)
    output, bags, sizes = Tensor(dtype=dtype), Tensor(dtype=np.int64), Tensor(dtype=np.int64)
    results = []
    for threads in (1, 3):
        with State(threads=threads, minimum_work=1) as state:
            thnn.LookupTableBag_updateOutput(
                state,
                indices,
                offsets,
                strided(weight),
                output,
                bags,
                mode,
                sizes if mode else None,
            )
        results.append(output.numpy().tobytes())
    assert results[0] == results[1]
    wide = weight.astype(np.float64)
    wanted, magnitudes = (
        sum_bags(rows, indices, bag, len(lengths)) for rows in (wide, np.abs(wide))
    )
    if mode == MEAN:
        wanted /= np.maximum(1, lengths)[:, None]
        np.testing.assert_array_equal(sizes.numpy(), lengths)
    assert_sums(output.numpy(), wanted, max(lengths), magnitudes)
    np.testing.assert_array_equal(bags.numpy(), bag)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("by_frequency", [False, True])
@pytest.mark.parametrize("mode", [SUM, MEAN])
@pytest.mark.parametrize("table", TABLES, ids=str)
@pytest.mark.parametrize("lengths", BAGS.values(), ids=BAGS.keys())
def test_bag_backward(
    lengths: list[int], table: tuple[int, int], mode: int, by_frequency: bool, dtype: str
) -> None:
    indices, _, bag = bag_input(lengths, table[0])
    random = np.random.default_rng(2)
    g = random.normal(size=(len(lengths), table[1])).astype(dtype)
    start = random.normal(size=table).astype(dtype)
    wanted, magnitudes = (
        begin + 0.5 * bag_gradient(indices, bag, lengths, rows, table[0], mode, by_frequency)
        for begin, rows in ((start, g), (np.abs(start), np.abs(g)))
    )
    results = []
    for threads in (1, 3):
        gradient = strided(start)
        with State(threads=threads, minimum_work=1) as state:
            thnn.LookupTableBag_accGradParameters(
                state,
                indices,
                g,
                gradient,
                bag,
                None,
                None,
                None,
                by_frequency,
                mode,
                np.array(lengths) if mode else None,
                0.5,
            )
        assert_sums(gradient.numpy(), wanted, len(indices), magnitudes)
        results.append(gradient.numpy().tobytes())
    assert results[0] == results[1]


def test_bag_backward_is_the_adjoint() -> None:
    """<forward(W), G> = <W, backward(G)>: forward is linear in the weight."""
    lengths, table = BAGS["many bags"], (12, 9)
    indices, offsets, bag = bag_input(lengths, table[0])
    random = np.random.default_rng(3)
    w, g = random.normal(size=table), random.normal(size=(len(lengths), table[1]))
    output, bags, sizes = Tensor(dtype=np.float64), Tensor(dtype=np.int64), Tensor(dtype=np.int64)
    thnn.LookupTableBag_updateOutput(None, indices, offsets, w, output, bags, MEAN, sizes)
    gradient = np.zeros(table)
    thnn.LookupTableBag_accGradParameters(
        None, indices, g, gradient, bag, None, None, None, False, MEAN, sizes, 1.0
    )
    sizes_ = np.maximum(1, lengths)[:, None]
    magnitudes = (sum_bags(np.abs(w), indices, bag, len(lengths)) / sizes_ * np.abs(g)).sum()
    limit = 2 * sum_limit(len(indices) + w.size, magnitudes, np.float64)
    assert abs((output.numpy() * g).sum() - (w * gradient).sum()) <= limit


@pytest.mark.parametrize(
    "change",
    [
        {"input": [1, 2, 6, 1]},
        {"input": [1, 0, 2, 1]},
        {"offsets": [2, 3]},
        {"offsets": [1, 6]},
        {"offsets": [1, 3, 2]},
        {"offsets": [1, -1]},
        {"mode": 2},
        {"mode": -1},
        {"seq_length": None, "mode": MEAN},
        {"weight": np.ones(5)},
        {"weight": None},
        {"offset2bag": None},
    ],
    ids=str,
)
def test_bag_forward_rejected(change: dict[str, Any]) -> None:
    values: dict[str, Any] = {
        "input": [1, 5, 2, 1],
        "offsets": [1, 3],
        "weight": np.ones((5, 3)),
        "output": Tensor([7.0]),
        "offset2bag": Tensor(np.array([7])),
        "mode": SUM,
        "seq_length": None,
        **change,
    }
    for name in ("input", "offsets"):
        values[name] = np.array(values[name])
    with pytest.raises(THNNArgumentError):
        thnn.LookupTableBag_updateOutput(None, *values.values())
    assert values["output"].numpy().tolist() == [7]
    if values["offset2bag"] is not None:
        assert values["offset2bag"].numpy().tolist() == [7]


@pytest.mark.parametrize(
    "change",
    [
        {"input": [1, 2, 6, 1]},
        {"offset2bag": [1, 1, 3, 2]},
        {"offset2bag": [0, 1, 2, 2]},
        {"offset2bag": [1, 1, 2]},
        {"seq_length": [0, 2]},
        {"seq_length": [2]},
        {"gradOutput": np.ones((2, 4))},
        {"gradWeight": None},
    ],
    ids=str,
)
def test_bag_backward_rejected(change: dict[str, Any]) -> None:
    values: dict[str, Any] = {
        "input": [1, 5, 2, 1],
        "gradOutput": np.ones((2, 3)),
        "gradWeight": np.ones((5, 3)),
        "offset2bag": [1, 1, 2, 2],
        "scratch": None,
        "scratch2": None,
        "scratch3": None,
        "scaleGradByFreq": False,
        "mode": MEAN,
        "seq_length": [2, 2],
        "scale": 1.0,
        **change,
    }
    for name in ("input", "offset2bag", "seq_length"):
        values[name] = np.array(values[name])
    with pytest.raises(THNNArgumentError):
        thnn.LookupTableBag_accGradParameters(None, *values.values())
    if values["gradWeight"] is not None:
        assert (values["gradWeight"] == 1).all()


# ---- SpatialCrossMapLRN

NORMS: list[Norm] = [  # size, alpha, beta, k
    (1, 1.0, 0.75, 1.0),
    (2, 0.5, 0.5, 2.0),
    (5, 1e-4, 0.75, 1.0),
    (5, 2.0, 1.5, 0.5),
    (12, 3.0, 0.25, 1.0),
]
SHAPES = [(1, 1, 1), (7, 3, 4), (2, 5, 6, 5), (3, 16, 20, 23), (1, 3, 130, 170)]


def run_lrn(x: np.ndarray, norm: Norm, state: State | None = None) -> tuple[Tensor, Tensor]:
    output, scale = Tensor(dtype=x.dtype), Tensor(dtype=x.dtype)
    thnn.SpatialCrossMapLRN_updateOutput(state, x, output, scale, *norm)
    return output, scale


def run_lrn_backward(
    x: np.ndarray, g: np.ndarray, norm: Norm, state: State | None = None
) -> np.ndarray:
    output, scale = run_lrn(x, norm, state)
    gradient = Tensor(dtype=x.dtype)
    thnn.SpatialCrossMapLRN_updateGradInput(state, x, strided(g), gradient, scale, output, *norm)
    result: np.ndarray = gradient.numpy()
    return result


def lrn_roundings(norm: Norm) -> float:
    """A sum of squares, whose relative error a power multiplies, and the power's own."""
    size, _, beta, _ = norm
    return (size + FUNCTION) * (1 + beta)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_lrn_forward(shape: tuple[int, ...], norm: Norm, dtype: str) -> None:
    x = np.random.default_rng(1).normal(size=shape).astype(dtype)
    output, scale = run_lrn(x, norm)
    wanted = lrn(x.astype("float64"), *norm)
    assert is_near(output.numpy(), wanted[0], lrn_roundings(norm), 0)
    assert is_near(scale.numpy(), wanted[1], lrn_roundings(norm), 0)


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 2, 3), (2, 5, 2, 2)], ids=str)
def test_lrn_gradient(shape: tuple[int, ...], norm: Norm) -> None:
    random = np.random.default_rng(2)
    x, g = random.normal(size=shape), random.normal(size=shape)
    numerical, size = np.empty(shape), np.abs(run_lrn(x, norm)[0].numpy() * g).sum()
    for at in np.ndindex(*shape):
        sides = []
        for step in (NUMERICAL_STEP, -NUMERICAL_STEP):
            moved = x.copy()
            moved[at] += step
            sides.append((run_lrn(moved, norm)[0].numpy() * g).sum())
        numerical[at] = (sides[0] - sides[1]) / (2 * NUMERICAL_STEP)
    limit = difference_limit(x.size + lrn_roundings(norm), size, NUMERICAL_STEP)
    assert (np.abs(run_lrn_backward(x, g, norm) - numerical) <= limit).all()


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_lrn_gradient_by_the_formula(shape: tuple[int, ...], norm: Norm) -> None:
    x, g = np.random.default_rng(3).normal(size=(2, *shape))
    for dtype in reversed(DTYPES):
        x, g = x.astype(dtype), g.astype(dtype)
        arrays = x.astype("float64"), g.astype("float64")
        wanted = lrn_backward(*arrays, *norm)
        first = np.abs(arrays[1] * lrn(arrays[0], *norm)[1] ** -norm[2])
        # For absolute values the formula is the first term less the second.
        magnitudes = 2 * first - lrn_backward(*map(np.abs, arrays), *norm)
        assert is_near(run_lrn_backward(x, g, norm), wanted, 2 * lrn_roundings(norm), magnitudes)


def test_lrn_threads_do_not_change_bits() -> None:
    x, g = np.random.default_rng(4).normal(size=(2, 3, 16, 90, 110))
    norm = NORMS[3]
    with State(threads=1) as alone, State(threads=3, minimum_work=1) as several:
        assert run_lrn(x, norm, alone)[0].numpy().tobytes() == (
            run_lrn(x, norm, several)[0].numpy().tobytes()
        )
        assert run_lrn_backward(x, g, norm, alone).tobytes() == (
            run_lrn_backward(x, g, norm, several).tobytes()
        )


def test_lrn_rejected() -> None:
    x = np.ones((2, 3, 4))
    for source, size in ((x, 0), (x, -1), (np.ones((3, 4)), 5), (None, 5)):
        output, scale = Tensor([7.0]), Tensor([7.0])
        with pytest.raises(THNNArgumentError):
            thnn.SpatialCrossMapLRN_updateOutput(None, source, output, scale, size, 1.0, 0.5, 1.0)
        assert output.numpy().tolist() == scale.numpy().tolist() == [7]
    small = np.ones((2, 3, 3))
    for wrong in range(3):
        tensors = [x, x, x]
        tensors[wrong] = small
        g, scale_, output_ = tensors
        gradient = Tensor([7.0])
        with pytest.raises(THNNArgumentError):
            thnn.SpatialCrossMapLRN_updateGradInput(
                None, x, g, gradient, scale_, output_, 3, 1.0, 0.5, 1.0
            )
        assert gradient.numpy().tolist() == [7]

"""Modules that the original has on CUDA only, against their definitions in numpy, and gradients in
double by finite differences.

Limits are error bounds: the roundings of a result, and the magnitudes that are rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bounds import AROUND_A_SUM, FUNCTION, assert_near, difference_limit
from support.definitions import cuda_only as definitions
from support.definitions.cuda_only import MEAN, NUMERICAL_STEP, Arrays, Norm, numerical_gradient
from twins import DEVICE, Twin, names_of

WIDE = [(1, 1), (3, 7), (37, 53)]
SMALL = [(1, 1), (3, 5)]


def run(function: str, real: str, **given: Any) -> Arrays:
    return Twin(DEVICE[real] + function, names_of(function), given).run()


def check_slopes(found: np.ndarray, wanted: np.ndarray, terms: float, magnitude: float) -> None:
    """Slopes are those of a loss, a sum of ``terms`` roundings of numbers up to ``magnitude``."""
    assert found.shape == wanted.shape
    limit = difference_limit(terms, magnitude, NUMERICAL_STEP)
    assert np.abs(found - wanted).max() <= limit


# ---- Cells

# A gate is off by the rounding of the sum of up to four numbers; a cell combines a few gates.
CELL = 3 * FUNCTION + 4 * AROUND_A_SUM


def sample(shape: tuple[int, int], gates: int, biased: bool) -> Arrays:
    """Arguments of a cell; values are wide enough to reach the flat ends of the functions."""
    random = np.random.default_rng(gates)
    wide = (shape[0], gates * shape[1])
    state = "hx" if gates == 3 else "cell"
    a = {"input": random.normal(0, 3, wide), "hidden": random.normal(size=wide)}
    a[state] = random.normal(size=shape)
    if biased:
        a |= {name: random.normal(size=wide[1:]) for name in ("bias1", "bias2")}
    return {name: x.astype(np.float32).astype(float) for name, x in a.items()}


def gru(a: Arrays, real: str = "double") -> Arrays:
    biases = {name: a.get(name) for name in ("bias1", "bias2")}
    found = run("GRUFused_updateOutput", real, **{**a, **biases})
    return {"output": found["hy"], "storage": found["storage"]}


def gru_backward(storage: np.ndarray, g: np.ndarray, real: str = "double") -> Arrays:
    found = run("GRUFused_updateGradInput", real, storage=storage, gradOutput=g)
    names = {"input": "gradInInput", "hidden": "gradInHidden", "hx": "gradInputHx"}
    return {name: found[argument] for name, argument in names.items()}


def lstm(a: Arrays, real: str = "double") -> Arrays:
    given = {"cx" if name == "cell" else name: x for name, x in a.items()}
    biases = {name: a.get(name) for name in ("bias1", "bias2")}
    found = run("LSTMFused_updateOutput", real, **{**given, **biases})
    return {"output": found["hy"], "outputCell": found["cy"], "gates": found["input"]}


def lstm_backward(
    forward: Arrays, cell: np.ndarray, g: np.ndarray, gc: np.ndarray, real: str = "double"
) -> Arrays:
    found = run(
        "LSTMFused_updateGradInput",
        real,
        storage=forward["gates"],
        prevC=cell,
        cy=forward["outputCell"],
        gradOutput=g,
        gradOutputCell=gc,
    )
    return {"input": found["gradInGates"], "cell": found["gradInputCx"]}


@pytest.mark.parametrize("real", DEVICE)
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("shape", WIDE, ids=str)
def test_cells(shape: tuple[int, int], biased: bool, real: str) -> None:
    a, b = sample(shape, 3, biased), sample(shape, 4, biased)
    for found, wanted in (
        (gru(a, real), definitions.gru_cell(a)),
        (lstm(b, real), definitions.lstm_cell(b)),
    ):
        for name, values in wanted.items():
            # The sum of a gate is below 32, and its slope at most 1.
            assert_near(found[name], values, CELL, 2**5, name)
    g, gc = np.random.default_rng(1).normal(size=(2, *shape)).astype(np.float32)
    storage, forward = gru(a, real)["storage"], lstm(b, real)
    for found, wanted in (
        (gru_backward(storage, g, real), definitions.gru_cell_backward(storage, g)),
        (
            lstm_backward(forward, b["cell"], g, gc, real),
            definitions.lstm_cell_backward(forward, b["cell"], g, gc),
        ),
    ):
        for name, values in wanted.items():
            assert_near(found[name], values, CELL, 2**5, name)


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_cell_gradients(shape: tuple[int, int], biased: bool) -> None:
    g, gc = np.random.default_rng(2).normal(size=(2, *shape))
    a, b = sample(shape, 3, biased), sample(shape, 4, biased)

    def gru_loss(arrays: Arrays) -> float:
        return float((gru(arrays)["output"] * g).sum())

    def lstm_loss(arrays: Arrays) -> float:
        forward = lstm(arrays)
        return float((forward["output"] * g + forward["outputCell"] * gc).sum())

    size = 4 * (np.abs(g).sum() + np.abs(gc).sum())  # cells hold numbers up to 4
    for name, values in gru_backward(gru(a)["storage"], g).items():
        check_slopes(values, numerical_gradient(gru_loss, a, name), g.size + CELL, size)
    for name, values in lstm_backward(lstm(b), b["cell"], g, gc).items():
        check_slopes(values, numerical_gradient(lstm_loss, b, name), 2 * g.size + CELL, size)


# ---- Bags of a lookup table


@pytest.mark.parametrize("real", DEVICE)
@pytest.mark.parametrize("mode", [definitions.SUM, MEAN])
@pytest.mark.parametrize("lengths", [[4], [0, 3, 0, 0, 2, 0], [1, 70, 2, 5, 1, 1, 9, 300, 4]])
@pytest.mark.parametrize("table", [(5, 3), (40, 65)], ids=str)
def test_bags(table: tuple[int, int], lengths: list[int], mode: int, real: str) -> None:
    random = np.random.default_rng(sum(lengths))
    indices = random.integers(1, table[0] + 1, sum(lengths))
    bag = np.repeat(np.arange(len(lengths)), lengths) + 1
    weight = random.integers(-8, 9, table) / 4  # so that sums are exact
    given = {"input": indices, "mode": mode}
    found = run(
        "LookupTableBag_updateOutput",
        real,
        **given,
        offsets=np.cumsum([0, *lengths[:-1]]) + 1,
        weight=weight,
        seq_length=np.empty(0) if mode == MEAN else None,
    )
    wanted = definitions.sum_bags(weight, indices, bag, len(lengths))
    if mode == MEAN:
        wanted /= np.maximum(1, lengths)[:, None]
        np.testing.assert_array_equal(found["seq_length"], lengths)
    assert_near(found["output"], wanted, AROUND_A_SUM, 0)
    np.testing.assert_array_equal(found["offset2bag"], bag)

    g, start = (random.integers(-8, 9, size) / 4 for size in [(len(lengths), table[1]), table])
    for by_frequency in (False, True):
        found = run(
            "LookupTableBag_accGradParameters",
            real,
            **given,
            gradOutput=g,
            gradWeight=start,
            offset2bag=bag,
            seq_length=np.array(lengths) if mode == MEAN else None,
            scaleGradByFreq=by_frequency,
            scale_=0.5,
        )
        more = definitions.bag_gradient(indices, bag, lengths, g, table[0], mode, by_frequency)
        terms = np.bincount(indices).max() + AROUND_A_SUM
        assert_near(found["gradWeight"], start + 0.5 * more, terms, 2 + terms)


def test_bag_gradient_is_that_of_the_forward_call() -> None:
    lengths, indices = [2, 0, 3], np.array([1, 3, 2, 2, 4])
    bag = np.repeat([1, 2, 3], lengths)
    g = np.random.default_rng(3).normal(size=(3, 4))
    a = {"weight": np.random.default_rng(4).normal(size=(5, 4))}
    given = {"input": indices, "mode": MEAN}

    def loss(arrays: Arrays) -> float:
        found = run(
            "LookupTableBag_updateOutput",
            "double",
            **given,
            **arrays,
            offsets=np.array([1, 3, 3]),
            seq_length=np.empty(0),
        )
        return float((found["output"] * g).sum())

    found = run(
        "LookupTableBag_accGradParameters",
        "double",
        **given,
        gradOutput=g,
        gradWeight=np.zeros((5, 4)),
        offset2bag=bag,
        seq_length=np.array(lengths),
        scaleGradByFreq=False,
        scale_=1,
    )
    size = np.abs(g).sum() * np.abs(a["weight"]).max()
    check_slopes(found["gradWeight"], numerical_gradient(loss, a, "weight"), 5 + g.size, size)


# ---- Normalisation across channels

NORMS: list[Norm] = [
    (1, 1.0, 0.75, 1.0),
    (2, 0.5, 0.5, 2.0),
    (5, 1e-4, 0.75, 1.0),
    (5, 2.0, 1.5, 0.5),
    (12, 3.0, 0.25, 1.0),
]


def lrn(x: np.ndarray, norm: Norm, real: str = "double") -> Arrays:
    scalars = dict(zip(("size", "alpha", "beta", "k"), norm, strict=True))
    return run("SpatialCrossMapLRN_updateOutput", real, input=x, **scalars)


def lrn_backward(x: np.ndarray, g: np.ndarray, norm: Norm, real: str = "double") -> np.ndarray:
    forward = lrn(x, norm, real)
    scalars = dict(zip(("size", "alpha", "beta", "k"), norm, strict=True))
    found = run(
        "SpatialCrossMapLRN_updateGradInput",
        real,
        input=x,
        gradOutput=g,
        scale=forward["scale"],
        output=forward["output"],
        **scalars,
    )
    return found["gradInput"]


def lrn_magnitude(x: np.ndarray, g: np.ndarray, norm: Norm) -> float:
    """The most that the terms of an element of the gradient add up to."""
    _, alpha, beta, k = norm
    most = np.abs(x).max()
    # The scale is at least k; of at most ``size`` terms, each is divided by the size.
    return float(np.abs(g).max() * (1 + 2 * alpha * beta * most**2 / k) * k**-beta)


@pytest.mark.parametrize("real", DEVICE)
@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 3, 4), (2, 19, 7, 13)], ids=str)
def test_lrn(shape: tuple[int, ...], norm: Norm, real: str) -> None:
    x, g = np.random.default_rng(5).normal(size=(2, *shape)).astype(np.float32).astype(float)
    found, (output, scale) = lrn(x, norm, real), definitions.lrn(x, *norm)
    terms = norm[0] + 2 * FUNCTION + AROUND_A_SUM
    assert_near(found["output"], output, terms, 0)
    assert_near(found["scale"], scale, terms, 0)
    wanted = definitions.lrn_backward(x, g, *norm)
    # Twice: what the forward call rounded is used again. Terms have a few factors each.
    assert_near(lrn_backward(x, g, norm, real), wanted, 2 * terms, lrn_magnitude(x, g, norm))


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_lrn_gradient(norm: Norm) -> None:
    x, g = np.random.default_rng(6).normal(size=(2, 2, 5, 2, 2))

    def loss(arrays: Arrays) -> float:
        return float((lrn(arrays["input"], norm)["output"] * g).sum())

    wanted = numerical_gradient(loss, {"input": x}, "input")
    terms = norm[0] + 2 * FUNCTION + AROUND_A_SUM + g.size
    size = np.abs(g).sum() * lrn_magnitude(x, np.abs(x), norm)
    check_slopes(lrn_backward(x, g, norm), wanted, terms, size)

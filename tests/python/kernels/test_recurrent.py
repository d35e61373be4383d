"""GRUFused and LSTMFused: against plain numpy cells, and gradients by finite differences.

The original only raises here, so there are no recorded calls.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.bounds import FUNCTION, difference_limit, gamma
from support.definitions.cuda_only import (
    NUMERICAL_STEP,
    Arrays,
    gru_cell,
    gru_cell_backward,
    lstm_cell,
    lstm_cell_backward,
    numerical_gradient,
)

from pythnn import State, Tensor, THNNArgumentError, thnn

DTYPES = ["float32", "float64"]
SHAPES = [(1, 1), (3, 7), (2, 64), (5, 33), (70, 19), (4,), (2, 3, 5)]


def sample(shape: tuple[int, ...], gates: int, state: str, biased: bool, dtype: str) -> Arrays:
    """Arguments of a cell; values are wide enough to reach the flat ends of the functions."""
    random = np.random.default_rng(sum(shape) + gates)
    wide = (*shape[:-1], gates * shape[-1])
    arrays = {
        "input": random.normal(0, 3, wide),
        "hidden": random.normal(0, 1, wide),
        state: random.normal(0, 1, shape),
    }
    if biased:
        arrays["bias1"] = random.normal(0, 1, wide[-1:])
        arrays["bias2"] = random.normal(0, 1, wide[-1:])
    return {name: a.astype(dtype) for name, a in arrays.items()}


def differences_limit(a: Arrays, *gradients: np.ndarray) -> float:
    """Of a cell's results, which are up to 1 or what it is given, times these gradients."""
    size = sum(np.abs(g).sum() for g in gradients) * max(np.abs(x).max() for x in a.values())
    return float(difference_limit(sum(x.size for x in a.values()), size, NUMERICAL_STEP))


def tensor(a: np.ndarray | None, strided: bool = False) -> Tensor | None:
    """A Tensor with these values; strided: with every other element of a larger one."""
    if a is None:
        return None
    if not strided:
        return Tensor(a)
    wide = np.full((*a.shape, 2), 7, a.dtype)
    wide[..., 0] = a
    return Tensor.from_numpy(wide[..., 0])


def run_gru(a: Arrays, strided: bool = False, state: State | None = None) -> Arrays:
    t = {name: tensor(x, strided) for name, x in a.items()}
    output, storage = Tensor(dtype=a["hx"].dtype), Tensor(dtype=a["hx"].dtype)
    thnn.GRUFused_updateOutput(
        state, t["input"], t["hidden"], t.get("bias1"), t.get("bias2"), t["hx"], output, storage
    )
    assert output.shape == a["hx"].shape
    assert storage.shape == (a["hx"].size // a["hx"].shape[-1], 5 * a["hx"].shape[-1])
    return {"output": output.numpy(), "storage": storage.numpy()}


def run_gru_backward(
    storage: np.ndarray, g: np.ndarray, strided: bool = False, state: State | None = None
) -> Arrays:
    gradients = [Tensor(dtype=g.dtype) for _ in range(3)]
    thnn.GRUFused_updateGradInput(
        state, gradients[0], gradients[1], tensor(g, strided), gradients[2], tensor(storage)
    )
    return dict(zip(["input", "hidden", "hx"], (t.numpy() for t in gradients), strict=True))


def run_lstm(a: Arrays, strided: bool = False, state: State | None = None) -> Arrays:
    t = {name: tensor(x, strided) for name, x in a.items()}
    output, after = Tensor(dtype=a["cell"].dtype), Tensor(dtype=a["cell"].dtype)
    thnn.LSTMFused_updateOutput(
        state, t["input"], t["hidden"], t.get("bias1"), t.get("bias2"), t["cell"], output, after
    )
    gates = t["input"]
    assert gates is not None
    assert output.shape == after.shape == a["cell"].shape
    return {"output": output.numpy(), "outputCell": after.numpy(), "gates": gates.numpy()}


def run_lstm_backward(
    a: Arrays, forward: Arrays, g: np.ndarray, gc: np.ndarray, state: State | None = None
) -> Arrays:
    gates, cell = Tensor(dtype=g.dtype), Tensor(dtype=g.dtype)
    thnn.LSTMFused_updateGradInput(
        state,
        tensor(forward["gates"]),
        gates,
        tensor(a["cell"]),
        tensor(forward["outputCell"]),
        tensor(g),
        tensor(gc),
        cell,
    )
    return {"input": gates.numpy(), "hidden": gates.numpy(), "cell": cell.numpy()}


def check_close(result: Arrays, wanted: Arrays, limit: float) -> None:
    for name, w in wanted.items():
        error = np.abs(result[name].reshape(w.shape) - w) / np.maximum(1, np.abs(w))
        assert error.max() <= limit, f"{name}: error {error.max():.3g}"


def forward_limit(a: Arrays) -> float:
    """Of a cell: two functions, one of the other's result, whose arguments are as far off as the
    sum of what is added up to them."""
    argument = sum(np.abs(values).max() for values in a.values())
    return gamma(2 * (argument + FUNCTION), next(iter(a.values())).dtype)


def backward_limit(dtype: str, *factors: np.ndarray) -> float:
    """Of gradients: products of a few factors; 1 - x, with x near 1, has the error of 1."""
    return gamma(2 * FUNCTION, dtype) * float(np.prod([1 + np.abs(f).max() for f in factors]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("strided", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_forward(shape: tuple[int, ...], strided: bool, biased: bool, dtype: str) -> None:
    gru = sample(shape, 3, "hx", biased, dtype)
    check_close(run_gru(gru, strided), gru_cell(gru), forward_limit(gru))
    lstm = sample(shape, 4, "cell", biased, dtype)
    check_close(run_lstm(lstm, strided), lstm_cell(lstm), forward_limit(lstm))


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (2, 2, 3)], ids=str)
def test_gru_gradients(shape: tuple[int, ...], biased: bool) -> None:
    a = sample(shape, 3, "hx", biased, "float64")
    g = np.random.default_rng(1).normal(size=shape)

    def loss(arrays: Arrays) -> float:
        return float((run_gru(arrays)["output"] * g).sum())

    result = run_gru_backward(run_gru(a)["storage"], g)
    limit = differences_limit(a, g)
    check_close(result, {n: numerical_gradient(loss, a, n) for n in result}, limit)
    if biased:
        sums = {"bias1": result["input"].sum(0), "bias2": result["hidden"].sum(0)}
        check_close(sums, {n: numerical_gradient(loss, a, n) for n in sums}, limit)


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (2, 2, 3)], ids=str)
def test_lstm_gradients(shape: tuple[int, ...], biased: bool) -> None:
    a = sample(shape, 4, "cell", biased, "float64")
    random = np.random.default_rng(1)
    g, gc = random.normal(size=shape), random.normal(size=shape)

    def loss(arrays: Arrays) -> float:
        forward = run_lstm(arrays)
        return float((forward["output"] * g).sum() + (forward["outputCell"] * gc).sum())

    result = run_lstm_backward(a, run_lstm(a), g, gc)
    limit = differences_limit(a, g, gc)
    check_close(result, {n: numerical_gradient(loss, a, n) for n in result}, limit)
    if biased:
        sums = {n: result["input"].sum(0) for n in ("bias1", "bias2")}
        check_close(sums, {n: numerical_gradient(loss, a, n) for n in sums}, limit)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_by_the_formulas(shape: tuple[int, ...], dtype: str) -> None:
    g, gc = np.random.default_rng(4).normal(size=(2, *shape)).astype(dtype)
    gru, lstm = sample(shape, 3, "hx", True, dtype), sample(shape, 4, "cell", True, dtype)
    storage, forward = run_gru(gru)["storage"], run_lstm(lstm)
    wanted = gru_cell_backward(storage.reshape(*shape[:-1], -1), g)
    limit = backward_limit(dtype, g, storage)
    check_close(run_gru_backward(storage, g), wanted, limit)
    shaped = {n: x.reshape(*shape[:-1], -1) for n, x in forward.items()}
    wanted = lstm_cell_backward(shaped, lstm["cell"], g, gc)
    limit = backward_limit(dtype, g, gc, lstm["cell"])
    check_close(run_lstm_backward(lstm, forward, g, gc), wanted, limit)


def test_gradients_in_float() -> None:
    """The float kernels give what the double ones do."""
    shape = (6, 37)
    g, gc = np.random.default_rng(2).normal(size=(2, *shape))
    results = {}
    for dtype in DTYPES:
        gru, lstm = sample(shape, 3, "hx", True, dtype), sample(shape, 4, "cell", True, dtype)
        back = run_gru_backward(run_gru(gru)["storage"], g.astype(dtype), strided=True)
        cell = run_lstm_backward(lstm, run_lstm(lstm), g.astype(dtype), gc.astype(dtype))
        results[dtype] = {**back, **{f"lstm {name}": x for name, x in cell.items()}}
    arrays = [*gru.values(), *lstm.values()]
    argument = sum(np.abs(a).max() for a in arrays)
    limit = gamma(argument, "float32") + backward_limit("float32", g, gc, gru["hx"], lstm["cell"])
    check_close(results["float32"], results["float64"], limit)


def test_threads_do_not_change_bits() -> None:
    shape = (13, 21)
    gru, lstm = sample(shape, 3, "hx", True, "float32"), sample(shape, 4, "cell", True, "float32")
    g = np.random.default_rng(3).normal(size=shape).astype("float32")

    def bits(state: State) -> list[bytes]:
        forward, cell = run_gru(gru, state=state), run_lstm(lstm, state=state)
        results = [forward, cell, run_gru_backward(forward["storage"], g, state=state)]
        results.append(run_lstm_backward(lstm, cell, g, g, state))
        return [x.tobytes() for r in results for x in r.values()]

    with State(threads=1) as alone, State(threads=3, minimum_work=1) as several:
        assert bits(several) == bits(alone)


def test_state_may_be_its_own_successor() -> None:
    a = sample((4, 6), 3, "hx", True, "float64")
    wanted = gru_cell(a)["output"]
    state, storage = Tensor(a["hx"]), Tensor(dtype=np.float64)
    biases = a["bias1"], a["bias2"]
    thnn.GRUFused_updateOutput(None, a["input"], a["hidden"], *biases, state, state, storage)
    check_close({"state": state.numpy()}, {"state": wanted}, forward_limit(a))


GRU_ARGUMENTS = ["input", "hidden", "bias1", "bias2", "hx", "output", "storage"]
LSTM_ARGUMENTS = ["input", "hidden", "bias1", "bias2", "cell", "output", "outputCell"]


@pytest.mark.parametrize("name", ["input", "hidden", "bias1", "bias2", "hx", "cell"])
@pytest.mark.parametrize("change", ["NULL", "too small", "too large", "empty"])
def test_rejected(name: str, change: str) -> None:
    cases = [
        (thnn.GRUFused_updateOutput, GRU_ARGUMENTS, sample((3, 4), 3, "hx", True, "float64")),
        (thnn.LSTMFused_updateOutput, LSTM_ARGUMENTS, sample((3, 4), 4, "cell", True, "float64")),
    ]
    for function, names, arrays in cases:
        if name not in names:
            continue
        values: dict[str, Tensor | None] = {
            n: Tensor(arrays[n]) if n in arrays else Tensor([7.0]) for n in names
        }
        if change == "NULL":
            values[name] = None
        elif change == "empty":
            values[name] = Tensor(dtype=np.float64)
        else:
            values[name] = Tensor(np.ones(arrays[name].size + (1 if change == "too large" else -1)))
        before = {n: t.numpy().copy() for n, t in values.items() if t is not None}
        with pytest.raises(THNNArgumentError):
            function(None, *values.values())
        for n, b in before.items():
            after = values[n]
            assert after is not None
            np.testing.assert_array_equal(after.numpy(), b)

"""Recurrent layers over sequences, step by step in numpy, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.adjoint import near
from support.functional_cases import normal

from pythnn import THNNArgumentError
from pythnn import functional as F  # noqa: N812

GATES = {"tanh": 1, "relu": 1, "lstm": 4, "gru": 3}
NAMES = {"tanh": "rnn", "relu": "rnn"}


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def step(kind: str, x: Any, h: Any, c: Any, weights: Any) -> tuple[Any, Any]:
    """The states after a step."""
    w_ih, w_hh, *biases = weights
    b_ih, b_hh = biases or (0, 0)
    of_x, of_h = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh
    if kind in ("tanh", "relu"):
        total = of_x + of_h
        return (np.tanh(total) if kind == "tanh" else np.maximum(total, 0)), c
    x_parts, h_parts = (np.split(a, GATES[kind], axis=1) for a in (of_x, of_h))
    if kind == "lstm":
        i, f, g, o = (a + b for a, b in zip(x_parts, h_parts, strict=True))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    r, z = (sigmoid(a + b) for a, b in zip(x_parts[:2], h_parts[:2], strict=True))
    n = np.tanh(x_parts[2] + r * h_parts[2])
    return (1 - z) * n + z * h, c


def run(kind: str, x: Any, h0: Any, c0: Any, parameters: Any, directions: int) -> Any:
    """The output and the last states, by definition."""
    output, last = x, []
    for layer in range(len(parameters) // directions):
        sides = []
        for direction in range(directions):
            i = layer * directions + direction
            h, c, made = h0[i], c0[i], [None] * len(x)
            for t in range(len(x))[:: -1 if direction else 1]:
                h, c = step(kind, output[t], h, c, parameters[i])
                made[t] = h
            last.append((h, c))
            sides.append(np.array(made).reshape(len(x), *h.shape))
        output = np.concatenate(sides, axis=2)
    return output, np.array([h for h, _ in last]), np.array([c for _, c in last])


class Problem:
    """Arguments of a recurrent layer, and gradients of its results."""

    def __init__(
        self, kind: str, layers: int, both: bool, biases: bool,
        time: int = 4, batch: int = 3, real: Any = np.float64,
    ) -> None:  # fmt: skip
        features, units, self.directions = 2, 3, 1 + both
        self.kind, self.layers, self.both = kind, layers, both
        count = layers * self.directions
        self.x = normal(time, batch, features).astype(real)
        self.h0, self.c0 = (normal(count, batch, units).astype(real) for _ in range(2))
        self.parameters = []
        rows = GATES[kind] * units
        for i in range(count):
            inputs = features if i < self.directions else self.directions * units
            shapes = [(rows, inputs), (rows, units), (rows,), (rows,)][: 4 if biases else 2]
            self.parameters.append(tuple(normal(*shape).astype(real) for shape in shapes))
        self.grad_y = normal(time, batch, self.directions * units).astype(real)
        self.grad_hn, self.grad_cn = (normal(*self.h0.shape).astype(real) for _ in range(2))

    @property
    def named(self) -> dict[str, Any]:
        rest = {} if self.kind in ("lstm", "gru") else {"nonlinearity": self.kind}
        return {"layers": self.layers, "bidirectional": self.both, **rest}

    def forward(self) -> tuple[Any, Any, Any, Any]:
        """Output, last states and what is saved."""
        function = getattr(F, NAMES.get(self.kind, self.kind))
        start = (self.h0, self.c0) if self.kind == "lstm" else self.h0
        y, last, saved = function(self.x, start, self.parameters, **self.named)
        return (y, *last, saved) if self.kind == "lstm" else (y, last, self.c0, saved)

    def backward(self, saved: Any) -> tuple[Any, Any, Any, Any]:
        """Gradients of input, states and parameters."""
        function = getattr(F, f"{NAMES.get(self.kind, self.kind)}_backward")
        last = (self.grad_hn, self.grad_cn) if self.kind == "lstm" else self.grad_hn
        grad_x, first, grads = function(self.grad_y, last, saved)
        return (grad_x, *first, grads) if self.kind == "lstm" else (grad_x, first, None, grads)


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("kind", GATES)
def test_against_the_definition(kind: str, layers: int, both: bool, biases: bool) -> None:
    problem = Problem(kind, layers, both, biases)

    def wanted() -> Any:
        of = problem
        return run(kind, of.x, of.h0, of.c0, of.parameters, of.directions)

    y, hn, cn, saved = problem.forward()
    for found, right in zip((y, hn, cn), wanted(), strict=True):
        near(found, right, 256)
    # A small step of all arguments changes the results by as much as the gradients say.
    grad_x, grad_h0, grad_c0, grads = problem.backward(saved)
    pairs = [(problem.x, grad_x), (problem.h0, grad_h0)]
    pairs += [(problem.c0, grad_c0)] if kind == "lstm" else []
    for arrays, of_arrays in zip(problem.parameters, grads, strict=True):
        pairs += zip(arrays, of_arrays, strict=True)
    for array, grad in pairs:
        assert grad.shape == array.shape
        direction = normal(*array.shape)
        sides = []
        for size in (1e-6, -1e-6):
            array += size * direction
            y, hn, cn = wanted()
            total = np.vdot(problem.grad_y, y) + np.vdot(problem.grad_hn, hn)
            sides.append(total + (np.vdot(problem.grad_cn, cn) if kind == "lstm" else 0))
            array -= size * direction
        slope = (sides[0] - sides[1]) / 2e-6
        assert np.vdot(grad, direction) == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("kind", GATES)
def test_single_precision_and_gaps(kind: str) -> None:
    problem = Problem(kind, 2, True, True, real=np.float32)
    y, hn, cn, saved = problem.forward()
    right = run(kind, problem.x, problem.h0, problem.c0, problem.parameters, 2)
    for found, wanted in zip((y, hn, cn), right, strict=True):
        assert found.dtype == np.float32
        near(found, wanted, 256)
    grads = problem.backward(saved)

    def apart(array: Any) -> Any:
        wide = np.zeros((*array.shape, 2), array.dtype)
        wide[..., 1] = array
        return wide[..., 1]

    for name in ("x", "h0", "c0", "grad_y", "grad_hn", "grad_cn"):
        setattr(problem, name, apart(getattr(problem, name)))
    problem.parameters = [tuple(map(apart, one)) for one in problem.parameters]
    again = problem.backward(problem.forward()[3])
    np.testing.assert_array_equal(again[0], grads[0])
    for one, other in zip(again[3], grads[3], strict=True):
        for left, right in zip(one, other, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize(("time", "batch"), [(0, 3), (4, 0), (1, 1)])
def test_short_sequences_and_empty_batches(kind: str, time: int, batch: int) -> None:
    problem = Problem(kind, 2, True, True, time, batch)
    y, hn, _, saved = problem.forward()
    assert (y.shape, hn.shape) == (problem.grad_y.shape, problem.h0.shape)
    grad_x, grad_h0, _, grads = problem.backward(saved)
    assert (grad_x.shape, grad_h0.shape) == (problem.x.shape, problem.h0.shape)
    if time == 0:
        np.testing.assert_array_equal(hn, problem.h0)
        np.testing.assert_array_equal(grad_h0, problem.grad_hn)
        assert not any(grad.any() for one in grads for grad in one)


def test_gradients_are_nested_as_the_parameters() -> None:
    problem = Problem("gru", 2, True, False)
    flat = problem.parameters
    forms = [flat, [flat[:2], flat[2:]], (tuple(flat[:2]), tuple(flat[2:])), sum(flat, ())]
    results = []
    for form in forms:
        _, _, saved = F.gru(problem.x, problem.h0, form, layers=2, bidirectional=True)
        results.append(F.gru_backward(problem.grad_y, problem.grad_hn, saved)[2])
    assert [len(results[i]) for i in range(4)] == [4, 2, 2, 8]
    assert [len(one) for one in results[1]] == [2, 2]
    np.testing.assert_array_equal(results[1][1][0][1], results[0][2][1])
    np.testing.assert_array_equal(results[3][5], results[0][2][1])


def test_gradients_of_zeros() -> None:
    problem = Problem("lstm", 1, False, True)
    saved = problem.forward()[3]
    zeros = np.zeros_like
    wanted = F.lstm_backward(problem.grad_y, (zeros(problem.h0), zeros(problem.h0)), saved)
    found = F.lstm_backward(problem.grad_y, None, saved)
    np.testing.assert_array_equal(found[0], wanted[0])
    wanted = F.lstm_backward(zeros(problem.grad_y), (problem.grad_hn, problem.grad_cn), saved)
    found = F.lstm_backward(None, (problem.grad_hn, problem.grad_cn), saved)
    np.testing.assert_array_equal(found[0], wanted[0])


def test_parts_of_gradients_are_zeros() -> None:
    problem = Problem("lstm", 2, True, True)
    saved, zero = problem.forward()[3], np.zeros_like(problem.h0)
    for grad_hn, wide in (
        ((problem.grad_hn, None), (problem.grad_hn, zero)),
        ([None, problem.grad_cn.tolist()], (zero, problem.grad_cn)),
        ((None, None), (zero, zero)),
    ):
        found = F.lstm_backward(problem.grad_y, grad_hn, saved)
        wanted = F.lstm_backward(problem.grad_y, wide, saved)
        for one, other in zip(found[:2], wanted[:2], strict=True):
            np.testing.assert_array_equal(one, other)
    for wrong in ((problem.grad_hn,), problem.grad_hn, (None, problem.grad_hn[:1]), (None, "x")):
        with pytest.raises(THNNArgumentError, match=r"argument #2 'grad_hn(\[1\])?': expected"):
            F.lstm_backward(problem.grad_y, wrong, saved)


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("kind", GATES)
def test_states_before_the_first_step_are_zeros(kind: str, both: bool) -> None:
    problem = Problem(kind, 2, both, True)
    function, zero = getattr(F, NAMES.get(kind, kind)), np.zeros_like(problem.h0)
    pairs: list[Any] = [(None, zero)]
    if kind == "lstm":
        pairs = [(None, (zero, zero)), ((None, None), (zero, zero))]
        pairs += [
            ((problem.h0, None), (problem.h0, zero)),
            ((None, problem.c0), (zero, problem.c0)),
        ]
    for given, wide in pairs:
        found = function(problem.x, given, problem.parameters, **problem.named)
        wanted = function(problem.x, wide, problem.parameters, **problem.named)
        np.testing.assert_array_equal(found[0], wanted[0])
        np.testing.assert_array_equal(found[1], wanted[1])


def test_results_are_the_users() -> None:
    """What is done to a result later does not change the gradients."""
    problem = Problem("tanh", 1, False, True)
    y, hn, _, saved = problem.forward()
    wanted = problem.backward(saved)[0]
    y.fill(7)
    hn.fill(7)
    np.testing.assert_array_equal(problem.backward(saved)[0], wanted)


X, H, W = np.ones((5, 2, 3)), np.ones((1, 2, 4)), [(np.ones((12, 3)), np.ones((12, 4)))]
SAVED = F.gru(X, H, W)[2]
LSTM = [(np.ones((16, 3)), np.ones((16, 4)))]


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda: F.gru(X[0], H, W),
            "gru: argument #1 'x': expected time x batch x features, found shape (2, 3)",
        ),
        (
            lambda: F.gru(X, H[:, :1], W),
            "gru: argument #2 'h0': expected 1 (layers and directions) x 2 (batch) x units,"
            " found shape (1, 1, 4)",
        ),
        (
            lambda: F.gru(X, H, W, layers=2),
            "gru: argument #2 'h0': expected 2 (layers and directions) x 2 (batch) x units,"
            " found shape (1, 2, 4)",
        ),
        (
            lambda: F.gru(X, np.ones((2, 2, 4)), W, bidirectional=True),
            "gru: argument #3 'parameters': expected 2 times (w_ih, w_hh, b_ih, b_hh), or"
            " (w_ih, w_hh), found 2 arrays",
        ),
        (
            lambda: F.gru(X, H, [(np.ones((12, 3)), np.ones((12, 5)))]),
            "gru: argument #3 'parameters[0][1]': expected w_hh of layer 0: shape (12, 4), found"
            " shape (12, 5)",
        ),
        (
            lambda: F.gru(X, H, [(np.ones((12, 3)), np.ones((12, 4), np.float32))]),
            "gru: argument #3 'parameters[0][1]': expected an array of float64, like 'x', found one"
            " of float32",
        ),
        (
            lambda: F.gru(X, H, np.ones((12, 3))),
            "gru: argument #3 'parameters': expected arrays in tuples, found an array of float64",
        ),
        (
            lambda: F.gru(X, H, W, layers=0),
            "gru: argument #4 'layers': expected at least 1, found 0",
        ),
        (
            lambda: F.rnn(X, H, [(np.ones((4, 3)), np.ones((4, 4)))], nonlinearity="sin"),
            "rnn: argument #6 'nonlinearity': expected 'tanh' or 'relu', found 'sin'",
        ),
        (
            lambda: F.lstm(X, H, LSTM),
            "lstm: argument #2 'h0': expected a pair of arrays, found an array of float64",
        ),
        (
            lambda: F.lstm(X, (H, H[..., :3]), LSTM),
            "lstm: argument #2 'h0[1]': expected 1 (layers and directions) x 2 (batch) x 4, found"
            " shape (1, 2, 3)",
        ),
        (
            lambda: F.gru(X[0], None, W),
            "gru: argument #1 'x': expected time x batch x features, found shape (2, 3)",
        ),
        (
            lambda: F.gru(X, None, [(np.ones((12, 3)), np.ones((12, 0)))]),
            "gru: argument #3 'parameters[0][0]': expected w_ih of layer 0: shape (3, 3), found"
            " shape (12, 3)",
        ),
        (
            lambda: F.gru(X, None, []),
            "gru: argument #3 'parameters': expected 1 times (w_ih, w_hh, b_ih, b_hh), or"
            " (w_ih, w_hh), found 0 arrays",
        ),
        (
            lambda: F.gru_backward(np.ones((5, 2, 3)), None, SAVED),
            "gru_backward: argument #1 'grad_y': expected shape (5, 2, 4), found shape (5, 2, 3)",
        ),
        (
            lambda: F.gru_backward(np.ones((5, 2, 4), np.float32), None, SAVED),
            "gru_backward: argument #1 'grad_y': expected an array of float64, like 'saved', found"
            " one of float32",
        ),
        (
            lambda: F.gru_backward(None, H[:, :1], SAVED),
            "gru_backward: argument #2 'grad_hn': expected shape (1, 2, 4), found shape (1, 1, 4)",
        ),
        (
            lambda: F.lstm_backward(None, None, SAVED),
            "lstm_backward: argument #3 'saved': expected what functional.lstm returned third,"
            " found that of functional.gru",
        ),
        (
            lambda: F.rnn_backward(None, None, 5),
            "rnn_backward: argument #3 'saved': expected what functional.rnn returned third,"
            " found 5",
        ),
    ],
)
def test_messages(use: Any, message: str) -> None:
    with pytest.raises(THNNArgumentError) as error:
        use()
    assert str(error.value) == f"functional.{message}"

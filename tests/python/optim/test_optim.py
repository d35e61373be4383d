"""The optimisers against what Lua Torch's did on the Rosenbrock function, and what they promise."""

from __future__ import annotations

import copy
import inspect
import io
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_layers_agree

import pythnn
from pythnn import nn, optim

DATA = json.loads((Path(__file__).parents[2] / "data" / "optim" / "rosenbrock.json").read_text())
CASES = DATA["cases"]
NAMES = [f"{case['method']}-{i}" for i, case in enumerate(CASES)]
OTHERS = ("ConfusionMatrix", "Logger", "checkgrad")
METHODS = [name for name in optim.__all__ if name not in OTHERS]
ITERATING = ("lbfgs", "cg")  # methods that take many steps in one call


def rosenbrock(x: np.ndarray) -> tuple[float, np.ndarray]:
    bend, rest = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    gradient = np.zeros_like(x)
    gradient[:-1] = -400 * bend * x[:-1] - 2 * rest
    gradient[1:] += 200 * bend
    return float((100 * bend**2 + rest**2).sum()), gradient


def start(dtype: Any = float) -> np.ndarray:
    return np.array(DATA["start"], dtype)


RECORDED = 1e-10
"""What recordings of several steps of training ask for (``tests/data/nn/README.md``)."""


def check_recorded(x: Any, point: list[float], found: list[float], values: list[float]) -> None:
    """A step's point and values are the recorded ones."""
    np.testing.assert_allclose(x, point, rtol=RECORDED, atol=RECORDED)
    assert found == pytest.approx(values, rel=RECORDED)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_trajectory(case: dict[str, Any]) -> None:
    x, config, state = start(), dict(case["config"]), {}
    for point, values in zip(case["x"], case["f"], strict=True):
        found, found_values, *_ = getattr(optim, case["method"])(rosenbrock, x, config, state)
        assert found is x
        check_recorded(x, point, found_values, values)
    assert config == case["config"]


@pytest.mark.parametrize("method", METHODS)
def test_settings_are_the_state_when_there_is_none(method: str) -> None:
    step = getattr(optim, method)
    one, other, config, state = start(), start(), {}, {}
    for _ in range(3):
        step(rosenbrock, one, config)
        step(rosenbrock, other, None, state)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("how", ["pickle", "t7"])
@pytest.mark.parametrize("method", METHODS)
def test_state_survives_a_file(method: str, how: str) -> None:
    step = getattr(optim, method)
    x, state = start(), {}
    for _ in range(3):
        step(rosenbrock, x, {"maxIter": 3}, state)
    if how == "pickle":
        other, loaded = pickle.loads(pickle.dumps((x, state)))
    else:
        file = io.BytesIO()
        pythnn.save(file, [x, state])
        file.seek(0)
        other, loaded = pythnn.load(file)
    for _ in range(3):
        step(rosenbrock, x, {"maxIter": 3}, state)
        step(rosenbrock, other, {"maxIter": 3}, loaded or {})
    np.testing.assert_array_equal(other, x)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_float32_stays(case: dict[str, Any]) -> None:
    x, exact, state, exact_state = start(np.float32), start(), {}, {}
    method = getattr(optim, case["method"])
    config = {**case["config"], "maxIter": 3}
    for _ in range(2):
        method(rosenbrock, x, dict(config), state)
        method(rosenbrock, exact, dict(config), exact_state)
    assert x.dtype == np.float32
    kept = [value for value in state.values() if isinstance(value, np.ndarray)]
    assert all(value.dtype == np.float32 for value in kept)
    np.testing.assert_allclose(x, exact, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_gradients_stay_as_they_are(case: dict[str, Any]) -> None:
    """A method may be given the gradient's own memory, which the next call overwrites."""
    memory = np.empty(4)
    seen: list[np.ndarray] = []

    def in_one_place(x: np.ndarray) -> tuple[float, np.ndarray]:
        if seen:
            np.testing.assert_array_equal(memory, seen[-1])
        value, memory[:] = rosenbrock(x)
        seen.append(memory.copy())
        return value, memory

    x, state = start(), {}
    for point in case["x"]:
        getattr(optim, case["method"])(in_one_place, x, case["config"], state)
        np.testing.assert_allclose(x, point, rtol=RECORDED, atol=RECORDED)


@pytest.mark.parametrize("method", METHODS)
def test_values_fall(method: str) -> None:
    def bowl(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float((x * x).sum()), 2 * x

    x, state = np.ones((2, 3)), {}
    config = {"learningRate": 0.05, "maxIter": 10, "eta0": 0.05, "stepsize": 0.01}
    for _ in range(20):
        getattr(optim, method)(bowl, x, config, state)
    assert bowl(x)[0] < 6
    assert np.isfinite(x).all()


def test_each_parameter_has_its_own_rate_and_decay() -> None:
    x = start()
    config = {
        "learningRate": 1e-3,
        "learningRates": np.array([1, 2, 0, 1.0]),
        "weightDecays": np.array([0, 0, 0, 1.0]),
    }
    gradient = rosenbrock(x)[1]
    wanted = x - 1e-3 * config["learningRates"] * (gradient + config["weightDecays"] * x)
    optim.sgd(rosenbrock, x, config)
    np.testing.assert_allclose(x, wanted)


def test_averages_begin_at_t0() -> None:
    x, config, points = start(), {"t0": 2}, []
    for _ in range(5):
        _, _, average = optim.asgd(rosenbrock, x, config)
        points.append(x.copy())
    np.testing.assert_allclose(average, np.mean(points[3:], 0))


def test_rprop_takes_many_steps_in_a_call() -> None:
    one, other, state = start(), start(), {}
    _, values = optim.rprop(rosenbrock, one, {"niter": 4})
    singles = [optim.rprop(rosenbrock, other, {}, state)[1][0] for _ in range(4)]
    assert values == singles
    np.testing.assert_array_equal(one, other)


def test_lbfgs_goes_on_where_it_stopped() -> None:
    whole, parts, state = start(), start(), {}
    optim.lbfgs(rosenbrock, whole, {"maxIter": 12, "learningRate": 0.2})
    for _ in range(4):
        optim.lbfgs(rosenbrock, parts, {"maxIter": 3, "learningRate": 0.2}, state)
    assert_layers_agree(parts, whole)
    assert state["nIter"] == 12


def test_lbfgs_searches_lines_with_what_it_is_given() -> None:
    def halving(opfunc: Any, x: Any, t: float, d: Any, f: float, *more: Any) -> Any:
        _, gtd, options = more
        calls = 0
        while True:
            value, gradient = opfunc(x + t * d)
            calls += 1
            if value < f + options["enough"] * t * gtd:
                return value, gradient, x + t * d, t, calls
            t /= 2

    x = start()
    config = {"maxIter": 60, "maxEval": 500, "lineSearch": halving}
    config["lineSearchOptions"] = {"enough": 1e-4}
    _, values, calls = optim.lbfgs(rosenbrock, x, config)
    assert values == sorted(values, reverse=True)
    assert calls <= 500
    assert min(values) < 1e-6 or np.allclose(rosenbrock(x)[1], 0, atol=1e-3)


@pytest.mark.parametrize("method", ITERATING)
def test_minimum_is_found(method: str) -> None:
    x = np.array([0.5, 0.5])
    for _ in range(30):
        getattr(optim, method)(rosenbrock, x, {"maxIter": 50})
    np.testing.assert_allclose(x, [1, 1], atol=1e-3)


@pytest.mark.parametrize(("most", "calls"), [(10, 13), (25, 32), (50, 63)])
def test_a_fraction_of_a_call_of_cg_is_a_whole_one(most: int, calls: int) -> None:
    """As in Lua, where 10 steps stand for 12.5 calls, of which the last may be what succeeds."""
    one, other = start(), start()
    _, values, made = optim.cg(rosenbrock, one, {"maxIter": most})
    _, wanted, _ = optim.cg(rosenbrock, other, {"maxIter": most, "maxEval": calls})
    assert (values, made) == (wanted, calls)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("method", METHODS)
def test_parameters_that_cannot_change(method: str) -> None:
    frozen = start()
    frozen.flags.writeable = False
    for x in ([1.0, 2.0], np.array([1, 2]), frozen):
        with pytest.raises(pythnn.THNNArgumentError, match="writable array of real numbers"):
            getattr(optim, method)(rosenbrock, x)


def test_settings_that_contradict() -> None:
    with pytest.raises(pythnn.THNNArgumentError, match="nesterov"):
        optim.sgd(rosenbrock, start(), {"nesterov": True, "momentum": 0.9})
    with pytest.raises(pythnn.THNNArgumentError, match="momentum above 0"):
        optim.nag(rosenbrock, start(), {"momentum": 0})


def test_training_a_network() -> None:
    pythnn.manual_seed(1)
    model, criterion = nn.Sequential().add(nn.Linear(2, 8)).add(nn.Tanh()), nn.MSECriterion()
    model.add(nn.Linear(8, 1))
    given = np.random.default_rng(0).normal(size=(20, 2))
    target = given[:, :1] * given[:, 1:]
    x, gradient = model.getParameters()

    def loss(_: np.ndarray) -> tuple[float, np.ndarray]:
        model.zeroGradParameters()
        value = criterion.forward(model.forward(given), target)
        model.backward(given, criterion.backward(model.output, target))
        return value, gradient

    before, state = loss(x)[0], {}
    for _ in range(100):
        optim.adam(loss, x, {"learningRate": 0.02}, state)
    assert loss(x)[0] < before / 5


def test_methods_are_described() -> None:
    for name in METHODS:
        method = getattr(optim, name)
        assert list(inspect.signature(method).parameters) == ["opfunc", "x", "config", "state"]
        assert "Returns" in method.__doc__
        assert copy.copy(method) is method

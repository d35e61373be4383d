"""pythnn.optim on arrays of a device: the steps are those of the CPU."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import test_optim as on_cpu
from support.bounds import assert_half_of_the_digits, assert_near

import pythnn
from pythnn import nn, optim


@pytest.mark.parametrize("case", on_cpu.CASES, ids=on_cpu.NAMES)
def test_trajectory(xp: Any, case: dict[str, Any]) -> None:
    x, config, state = xp.asarray(on_cpu.start()), dict(case["config"]), {}
    for point, values in zip(case["x"], case["f"], strict=True):
        step = getattr(optim, case["method"])
        found, found_values, *_ = step(on_cpu.rosenbrock, x, config, state)
        assert found is x
        on_cpu.check_recorded(x.get(), point, found_values, values)
    assert not any(isinstance(value, np.ndarray) for value in state.values())


@pytest.mark.parametrize("method", [m for m in on_cpu.METHODS if m not in on_cpu.ITERATING])
def test_nothing_comes_to_the_cpu(xp: Any, method: str) -> None:
    x, state = xp.asarray(on_cpu.start(np.float32)), {}
    waits = len(getattr(xp, "waits", ()))
    for _ in range(3):
        getattr(optim, method)(lambda x: (0.0, 0.1 * x), x, {}, state)
    assert len(getattr(xp, "waits", ())) == waits
    assert x.dtype == np.float32
    arrays = [value for value in state.values() if isinstance(value, xp.ndarray)]
    assert all(array.dtype == np.float32 for array in arrays)
    copied = pickle.loads(pickle.dumps(state))
    getattr(optim, method)(lambda x: (0.0, 0.1 * x), x, {}, copied)


def classifier() -> Any:
    pythnn.manual_seed(4)
    net = nn.Sequential().add(nn.SpatialConvolution(1, 3, 3, 3)).add(nn.ReLU())
    net.add(nn.SpatialMaxPooling(2, 2)).add(nn.View(27).setNumInputDims(3))
    return net.add(nn.Linear(27, 4)).add(nn.LogSoftMax())


def losses(method: str, type_name: str, place: Any) -> list[float]:
    """Those of the last points of four calls of a method."""
    random = np.random.default_rng(1)
    x, target = place(random.standard_normal((8, 1, 8, 8))), place(random.integers(1, 5, 8))
    net, criterion = classifier().type(type_name), nn.ClassNLLCriterion().type(type_name)
    parameters, gradients = net.getParameters()

    def evaluate(_: Any) -> tuple[float, Any]:
        net.zeroGradParameters()
        output = net.forward(x)
        loss = criterion.forward(output, target)
        net.backward(x, criterion.backward(output, target))
        return loss, gradients

    config, state = {"learningRate": 0.05, "maxIter": 3}, {}
    step = getattr(optim, method)
    return [step(evaluate, parameters, config, state)[1][-1] for _ in range(4)]


@pytest.mark.parametrize("method", on_cpu.METHODS)
def test_training(xp: Any, method: str) -> None:
    found = losses(method, "torch.CudaDoubleTensor", xp.asarray)
    assert_half_of_the_digits(found, losses(method, "torch.DoubleTensor", np.asarray))
    assert found[-1] < found[0]


def test_factors_for_each_parameter(xp: Any) -> None:
    x = xp.asarray(on_cpu.start())
    factors = {name: xp.asarray(np.arange(4.0)) for name in ("learningRates", "weightDecays")}
    optim.sgd(lambda x: (0.0, xp.zeros_like(x)), x, {"learningRate": 0.5, **factors})
    expected = on_cpu.start() * (1 - 0.5 * np.arange(4.0) ** 2)
    assert_near(x.get(), expected, 4)

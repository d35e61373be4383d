"""LSTMSteps, GRUSteps and RNNSteps: against their cells, step by step, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bounds import FUNCTION, assert_near
from support.memory import fail_each_allocation

from pythnn import State, Tensor, THNNArgumentError, thnn

Arrays = dict[str, np.ndarray]
SHAPES = [(1, 1, 1), (4, 3, 5), (3, 2, 33), (2, 70, 19)]
FORWARD = {
    "LSTM": ("gates", "weight", "bias1", "bias2", "output", "cells"),
    "GRU": ("input", "weight", "bias1", "bias2", "output", "storage"),
    "RNN": ("input", "weight", "bias2", "output", "rectify"),
}
BACKWARD = {
    "LSTM": ("gates", "weight", "cells", "gradOutput", "gradGates", "gradState", "gradCell"),
    "GRU": ("storage", "weight", "gradOutput", "gradInInput", "gradInHidden", "gradState"),
    "RNN": ("output", "weight", "gradOutput", "gradInput", "gradState", "rectify"),
}


def sample(kind: str, shape: tuple[int, int, int], dtype: Any, biased: bool = True) -> Arrays:
    steps, batch, units = shape
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    random = np.random.default_rng(sum(shape) + gates)
    normal = random.standard_normal
    products = normal((steps, batch, gates * units))
    a = {
        "weight": normal((gates * units, units)) / 2,
        "output": normal((steps + 1, batch, units)),
        "gradOutput": normal((steps, batch, units)),
        "gradState": normal((batch, units)),
    }
    if kind == "LSTM":
        a |= {"gates": products, "cells": normal((steps + 1, batch, units))}
        a |= {"gradCell": normal((batch, units)), "gradGates": np.zeros(products.shape)}
    elif kind == "RNN":
        a |= {"input": products, "gradInput": np.zeros(products.shape)}
    else:
        a |= {"input": products, "storage": np.zeros((steps, batch, 5 * units))}
        a |= {"gradInInput": np.zeros(products.shape), "gradInHidden": np.zeros(products.shape)}
    if biased:
        a |= {"bias1": normal(gates * units), "bias2": normal(gates * units)}
    return {name: array.astype(dtype) for name, array in a.items()}


def copied(a: Any) -> Any:
    return {name: value if name == "rectify" else value.copy() for name, value in a.items()}


def run(kind: str, a: Arrays, reverse: bool, state: State | None = None) -> Arrays:
    """Forwards and backwards; the arrays that have been written."""
    a = copied(a)
    call(kind, "updateOutput", a, reverse, state)
    call(kind, "updateGradInput", a, reverse, state)
    return a


def call(kind: str, what: str, a: Any, reverse: bool, state: State | None = None) -> None:
    names = (FORWARD if what == "updateOutput" else BACKWARD)[kind]
    given = (a.get(name, False if name == "rectify" else None) for name in names)
    getattr(thnn, f"{kind}Steps_{what}")(state, *given, reverse)


def by_cells(kind: str, a: Arrays, reverse: bool) -> Arrays:
    """The same with the functions of one step, and numpy's products."""
    a = copied(a)
    steps = len(a["gradOutput"])
    order = range(steps)[:: -1 if reverse else 1]
    weight, states = a["weight"], a["output"]
    for t in order:
        before, after = (t + 1, t) if reverse else (t, t + 1)
        hidden = states[before] @ weight.T
        if kind == "LSTM":
            cells = a["cells"]
            thnn.LSTMFused_updateOutput(
                None,
                a["gates"][t],
                hidden,
                a.get("bias1"),
                a.get("bias2"),
                cells[before],
                states[after],
                cells[after],
            )
        elif kind == "RNN":
            total = hidden + a["input"][t] + a.get("bias2", 0)
            states[after] = np.maximum(total, 0) if a.get("rectify") else np.tanh(total)
        else:
            thnn.GRUFused_updateOutput(
                None, a["input"][t], hidden, a.get("bias1"), a.get("bias2"), states[before],
                states[after], a["storage"][t],
            )  # fmt: skip
    for t in order[::-1]:
        before, after = (t + 1, t) if reverse else (t, t + 1)
        grad = a["gradState"] + a["gradOutput"][t]
        through = np.empty_like(grad)
        if kind == "LSTM":
            cells = a["cells"]
            thnn.LSTMFused_updateGradInput(
                None, a["gates"][t], a["gradGates"][t], cells[before], cells[after], grad,
                a["gradCell"], through,
            )  # fmt: skip
            a["gradCell"] = through
            a["gradState"] = a["gradGates"][t] @ weight
        elif kind == "RNN":
            now = states[after]
            a["gradInput"][t] = grad * ((now > 0) if a.get("rectify") else 1 - now * now)
            a["gradState"] = a["gradInput"][t] @ weight
        else:
            thnn.GRUFused_updateGradInput(
                None, a["gradInInput"][t], a["gradInHidden"][t], grad, through, a["storage"][t]
            )
            a["gradState"] = through + a["gradInHidden"][t] @ weight
    return a


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", FORWARD)
def test_steps_are_those_of_the_cells(
    kind: str, shape: tuple[int, int, int], dtype: str, reverse: bool
) -> None:
    a = sample(kind, shape, dtype)
    found, wanted = run(kind, a, reverse), by_cells(kind, a, reverse)
    roundings = 16 * shape[0] * (4 * shape[2] + 4 * FUNCTION)
    for name, array in wanted.items():
        assert_near(found[name], array, roundings, np.abs(array).max(initial=1), name)
    if kind == "RNN":
        a["rectify"] = True
        found, wanted = run(kind, a, reverse), by_cells(kind, a, reverse)
        assert_near(found["output"], wanted["output"], roundings, np.abs(wanted["output"]).max())
        # A sum of about 0 may be rounded to either side: the gradients are those of these outputs.
        wanted = by_cells(kind, {**a, "output": found["output"]}, reverse)
        for name in ("gradInput", "gradState"):
            size = np.abs(wanted[name]).max(initial=1)
            assert_near(found[name], wanted[name], roundings, size, name)
    untouched = a["output"][-1 if reverse else 0]
    np.testing.assert_array_equal(found["output"][-1 if reverse else 0], untouched)


@pytest.mark.parametrize("shape", [(3, 9, 33), (3, 40, 64), (3, 64, 128)])
@pytest.mark.parametrize("kind", FORWARD)
def test_threads_do_not_change_bits(kind: str, shape: tuple[int, int, int]) -> None:
    a = sample(kind, shape, "float32")
    with State(threads=1) as alone:
        wanted = run(kind, a, False, alone)
    for threads in (2, 3):
        with State(threads=threads, minimum_work=1) as state:
            found = run(kind, a, False, state)
        assert {n: x.tobytes() for n, x in found.items()} == {
            n: x.tobytes() for n, x in wanted.items()
        }


@pytest.mark.parametrize("shape", [*SHAPES, (3, 32, 48)])
@pytest.mark.parametrize("kind", FORWARD)
def test_weights_whose_columns_are_dense(kind: str, shape: tuple[int, int, int]) -> None:
    a = sample(kind, shape, "float32")
    wanted, found = run(kind, a, False), {name: array.copy() for name, array in a.items()}
    found["weight"] = np.asfortranarray(a["weight"])
    for what in ("updateOutput", "updateGradInput"):
        call(kind, what, found, False)
    roundings = 16 * shape[0] * (4 * shape[2] + 4 * FUNCTION)
    for name, array in wanted.items():
        assert_near(found[name], array, roundings, np.abs(array).max(initial=1), name)


@pytest.mark.parametrize("kind", FORWARD)
def test_strided_tensors_and_none(kind: str) -> None:
    a = sample(kind, (3, 2, 5), "float64", biased=False)
    wanted = run(kind, a, False)
    wide = {}
    for name, array in a.items():
        memory = np.full((*array.shape, 2), 7.0)
        memory[..., 0] = array
        wide[name] = Tensor.from_numpy(memory[..., 0])
    call(kind, "updateOutput", wide, False)
    call(kind, "updateGradInput", wide, False)
    for name, array in wanted.items():
        np.testing.assert_array_equal(wide[name].numpy(), array, name)
    without = {**a, "gradOutput": np.zeros_like(a["gradOutput"])}
    wanted, found = run(kind, without, False), run(kind, {**a}, False)
    del without["gradOutput"]
    found = run(kind, without, False)
    np.testing.assert_array_equal(found["gradState"], wanted["gradState"])


@pytest.mark.parametrize("what", ["updateOutput", "updateGradInput"])
@pytest.mark.parametrize("kind", FORWARD)
def test_refusals_and_failing_memory_change_nothing(kind: str, what: str) -> None:
    a = sample(kind, (3, 2, 5), "float64")
    before = {name: array.copy() for name, array in a.items()}
    names = (FORWARD if what == "updateOutput" else BACKWARD)[kind]
    resized = (
        {"storage"}
        if what == "updateOutput"
        else {"gradGates", "gradInInput", "gradInHidden", "gradInput"}
    )
    for name in (name for name in names if name != "rectify"):
        wrongs = [] if name in resized else [a[name][..., :-1].copy(), a[name][None]]
        for wrong in wrongs:
            with pytest.raises(THNNArgumentError, match=rf"{kind}Steps_{what}.*'{name}|expected"):
                call(kind, what, {**a, name: wrong}, False)
    for name, array in before.items():
        np.testing.assert_array_equal(a[name], array)
    failures = fail_each_allocation(lambda: call(kind, what, a, False), a)
    assert failures >= (what == "updateOutput" and kind != "RNN")

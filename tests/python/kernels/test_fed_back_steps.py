"""SeqLSTM and SeqGRU: against their definitions, with padding, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bounds import FUNCTION, assert_near
from support.memory import fail_each_allocation

from pythnn import State, Tensor, THNNArgumentError, thnn

Arrays = dict[str, Any]
SHAPES = [(1, 1, 1), (4, 3, 5), (3, 2, 33), (5, 16, 48), (2, 70, 19)]
KINDS = {"SeqLSTM": 4, "SeqGRU": 3}
FORWARD = {
    "SeqLSTM": ("gates", "weight", "bias", "mask", "output", "cells"),
    "SeqGRU": ("gates", "weight", "bias", "mask", "output", "reset"),
}
BACKWARD = {
    "SeqLSTM": ("gates", "weight", "mask", "cells", "gradOutput", "gradGates", "gradState",
                "gradCell"),
    "SeqGRU": ("gates", "weight", "mask", "output", "gradOutput", "gradGates", "gradState"),
}  # fmt: skip
RESIZED = ("reset", "gradGates")


def sample(kind: str, shape: tuple[int, int, int], dtype: Any = "float64") -> Arrays:
    steps, batch, units = shape
    gates = KINDS[kind]
    random = np.random.default_rng(sum(shape) + gates)
    normal = random.standard_normal
    a = {
        "gates": normal((steps, batch, gates * units)),
        "weight": normal((units, gates * units)) / np.sqrt(units),
        "bias": normal(gates * units),
        "mask": (random.random((steps, batch)) < 0.3) * 2.0,
        "output": normal((steps + 1, batch, units)),
        "gradOutput": normal((steps, batch, units)),
        "gradState": normal((batch, units)),
        "gradGates": np.zeros((steps, batch, gates * units)),
    }
    if kind == "SeqLSTM":
        a |= {"cells": normal((steps + 1, batch, units)), "gradCell": normal((batch, units))}
    else:
        a["reset"] = np.zeros((steps, batch, units))
    return {name: array.astype(dtype) for name, array in a.items()}


def call(kind: str, what: str, a: Arrays, state: State | None = None) -> None:
    names = (FORWARD if what == "updateOutput" else BACKWARD)[kind]
    getattr(thnn, f"{kind}_{what}")(state, *(a.get(name) for name in names))


def run(kind: str, a: Arrays, state: State | None = None) -> Arrays:
    """Forwards and backwards; the arrays that have been written."""
    a = {name: array.copy() for name, array in a.items()}
    call(kind, "updateOutput", a, state)
    call(kind, "updateGradInput", a, state)
    return a


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def defined(kind: str, a: Arrays) -> Arrays:
    """The forward results, by numpy."""
    a = {name: array.copy() for name, array in a.items()}
    states, weight, bias = a["output"], a["weight"], a.get("bias", 0)
    units = states.shape[2]
    for t, gates in enumerate(a["gates"]):
        h = states[t]
        if kind == "SeqLSTM":
            sums = gates + h @ weight + bias
            i, f, o = (sigmoid(sums[:, k * units : (k + 1) * units]) for k in range(3))
            c = np.tanh(sums[:, 3 * units :])
            a["cells"][t + 1] = f * a["cells"][t] + i * c
            states[t + 1] = o * np.tanh(a["cells"][t + 1])
            gates[...] = np.concatenate([i, f, o, c], 1)
        else:
            cut = 2 * units
            both = sigmoid((gates + h @ weight + bias)[:, :cut])
            r, u = both[:, :units], both[:, units:]
            a["reset"][t] = r * h
            n = np.tanh((gates + a["reset"][t] @ weight + bias)[:, cut:])
            states[t + 1] = (1 - u) * n + u * h
            gates[...] = np.concatenate([r, u, n], 1)
        padding = a["mask"][t] != 0 if "mask" in a else np.zeros(len(h), bool)
        for name, place in (("output", t + 1), ("cells", t + 1), ("gates", t), ("reset", t)):
            if name in a:
                a[name][place][padding] = 0
    return a


def loss(kind: str, a: Arrays, given: Arrays) -> float:
    """What has the gradients that the backward call is given."""
    found = defined(kind, a)
    total = (found["output"][1:] * given["gradOutput"]).sum()
    total += (found["output"][-1] * given["gradState"]).sum()
    if kind == "SeqLSTM":
        total += (found["cells"][-1] * given["gradCell"]).sum()
    return float(total)


@pytest.mark.parametrize("without", [(), ("mask",), ("mask", "bias")], ids="/".join)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_definition(kind: str, shape: Any, dtype: str, without: tuple[str, ...]) -> None:
    a = sample(kind, shape, dtype)
    for name in without:
        del a[name]
    found = run(kind, a)
    wanted = defined(kind, {name: array.astype("float64") for name, array in a.items()})
    roundings = 16 * shape[0] * (4 * shape[2] + 4 * FUNCTION)
    for name in ("gates", "output", "cells", "reset"):
        if name in a:
            assert_near(found[name], wanted[name].astype(dtype), roundings, 4, name)


@pytest.mark.parametrize("without", [(), ("mask",)], ids="/".join)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_gradients(kind: str, shape: Any, without: tuple[str, ...]) -> None:
    """Along random directions, against differences."""
    a = sample(kind, shape)
    for name in without:
        del a[name]
    found = run(kind, a)
    random, step = np.random.default_rng(1), 1e-6
    slopes = {"gates": found["gradGates"], "output": found["gradState"]}
    if kind == "SeqLSTM":
        slopes["cells"] = found["gradCell"]
    for name, slope in slopes.items():
        direction = random.standard_normal(slope.shape)
        sides = []
        for sign in (1, -1):
            moved = {key: array.copy() for key, array in a.items()}
            place = moved[name] if name == "gates" else moved[name][0]
            place += sign * step * direction
            sides.append(loss(kind, moved, a))
        wanted = (sides[0] - sides[1]) / (2 * step)
        size = 1 + np.abs(slope * direction).sum()
        assert abs((slope * direction).sum() - wanted) < 1e-7 * size, name


@pytest.mark.parametrize("kind", KINDS)
def test_float_gradients_are_those_of_double(kind: str) -> None:
    for shape in SHAPES:
        a = sample(kind, shape, "float32")
        found, wanted = run(kind, a), run(kind, {n: x.astype("float64") for n, x in a.items()})
        roundings = 64 * shape[0] * (4 * shape[2] + 4 * FUNCTION)
        for name in ("gradGates", "gradState"):
            size = np.abs(wanted[name]).max(initial=1)
            assert_near(found[name], wanted[name].astype("float32"), roundings, size, name)


@pytest.mark.parametrize("shape", [(3, 9, 33), (4, 32, 64)])
@pytest.mark.parametrize("kind", KINDS)
def test_threads_do_not_change_bits(kind: str, shape: Any) -> None:
    a = sample(kind, shape, "float32")
    with State(threads=1) as alone:
        wanted = run(kind, a, alone)
    for threads in (2, 3):
        with State(threads=threads, minimum_work=1) as state:
            found = run(kind, a, state)
        assert {n: x.tobytes() for n, x in found.items()} == {
            n: x.tobytes() for n, x in wanted.items()
        }


@pytest.mark.parametrize("kind", KINDS)
def test_padding_hides_what_is_there(kind: str) -> None:
    """Even numbers that are not finite."""
    a = sample(kind, (4, 3, 5))
    wanted = run(kind, a)
    padding = a["mask"] != 0
    assert padding.any()
    a["gates"][padding] = np.nan
    a["gradOutput"][padding] = np.inf
    found = run(kind, a)
    for name in ("gates", "output", "gradGates", "gradState"):
        np.testing.assert_array_equal(found[name], wanted[name], name)


@pytest.mark.parametrize("kind", KINDS)
def test_strided_tensors_and_none(kind: str) -> None:
    a = sample(kind, (3, 2, 5))
    wanted = run(kind, a)
    wide = {}
    for name, array in a.items():
        memory = np.full((*array.shape, 2), 7.0)
        memory[..., 0] = array
        wide[name] = Tensor.from_numpy(memory[..., 0])
    call(kind, "updateOutput", wide)
    call(kind, "updateGradInput", wide)
    for name, array in wanted.items():
        np.testing.assert_array_equal(wide[name].numpy(), array, name)
    wanted = run(kind, {**a, "gradOutput": np.zeros_like(a["gradOutput"])})
    del a["gradOutput"]
    np.testing.assert_array_equal(run(kind, a)["gradState"], wanted["gradState"])


@pytest.mark.parametrize("what", ["updateOutput", "updateGradInput"])
@pytest.mark.parametrize("kind", KINDS)
def test_refusals_and_failing_memory_change_nothing(kind: str, what: str) -> None:
    a = sample(kind, (3, 2, 5))
    before = {name: array.copy() for name, array in a.items()}
    for name in (FORWARD if what == "updateOutput" else BACKWARD)[kind]:
        wrongs = [] if name in RESIZED else [a[name][..., :-1].copy(), a[name][None]]
        for wrong in wrongs:
            with pytest.raises(THNNArgumentError, match=rf"{kind}_{what}.*expected"):
                call(kind, what, {**a, name: wrong})
    for name, array in before.items():
        np.testing.assert_array_equal(a[name], array)
    failures = fail_each_allocation(lambda: call(kind, what, a), a)
    assert failures >= (what == "updateOutput")

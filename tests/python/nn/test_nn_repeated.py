"""Calls of a gModule that are repeated: results and fields are those of the methods themselves."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import THNNError, nn
from pythnn.nn.graph.repeating import REPEATABLE

METHODS = ("zeroGradParameters", "updateOutput", "backward", "updateParameters")
WARM = 4
"""Steps after which a call that can be repeated has been."""


class Plain(nn.gModule):
    """A graph whose methods run each time."""


def plain(graph: Any) -> Any:
    twin = copy.deepcopy(graph)
    twin.__class__ = Plain
    return twin


def values(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for entry in value for leaf in leaves(entry)]
    return [] if value is None else [value]


def same(found: Any, wanted: Any) -> None:
    assert len(leaves(found)) == len(leaves(wanted))
    for one, other in zip(leaves(found), leaves(wanted), strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_array_equal(one, other)


def assert_same_fields(graph: Any, twin: Any) -> None:
    """All that a user may look at."""
    for one, other in zip(graph.listModules(), twin.listModules(), strict=True):
        for name in ("output", "gradInput", "gradWeight", "gradBias", "weight"):
            same(getattr(one, name, None), getattr(other, name, None))


def steps(graph: Any, x: Any, seed: int, scale: float = 1) -> tuple[Any, Any]:
    """A step of training: the output and the gradient of the input."""
    graph.zeroGradParameters()
    output = graph.forward(x)
    slopes = [values(seed + i, *one.shape) for i, one in enumerate(leaves(output))]
    gradient = graph.backward(x, slopes if isinstance(output, list) else slopes[0], scale)
    graph.updateParameters(0.01)
    return output, gradient


def cell(units: int = 3, kinds: int = 5) -> Any:
    """A step of an LSTM as char-rnn writes it."""
    index, c, h = (nn.Identity()() for _ in range(3))
    x = nn.OneHot(kinds)(index)
    both = nn.CAddTable()([nn.Linear(kinds, 4 * units)(x), nn.Linear(units, 4 * units)(h)])
    parts = nn.SplitTable(2)(nn.Reshape(4, units)(both))
    i, f, o, g = (nn.SelectTable(n)(parts) for n in (1, 2, 3, 4))
    i, f, o, g = (*(nn.Sigmoid()(gate) for gate in (i, f, o)), nn.Tanh()(g))
    memory = nn.CAddTable()([nn.CMulTable()([f, c]), nn.CMulTable()([i, g])])
    state = nn.CMulTable()([o, nn.Tanh()(memory)])
    scores = nn.LogSoftMax()(nn.Linear(units, kinds)(state))
    return nn.gModule([index, c, h], [memory, state, scores]).float()


def given(seed: int, batch: int = 2, units: int = 3) -> list[Any]:
    index = np.random.default_rng(seed).integers(1, 6, batch)
    return [index, values(seed, batch, units), values(seed + 1, batch, units)]


def pair(make: Callable[[], Any] = cell) -> tuple[Any, Any]:
    pythnn.manual_seed(3)
    graph = make()
    return graph, plain(graph)


def repeated(graph: Any, name: str) -> int:
    count: int = graph.__dict__["_recordings"].repeated[name]
    return count


def assert_alike(graph: Any, twin: Any, x: Any, seed: int) -> None:
    same(steps(graph, x, seed), steps(twin, copy.deepcopy(x), seed))
    assert_same_fields(graph, twin)


def warmed() -> tuple[Any, Any]:
    """A graph whose calls are repeated, and its twin."""
    graph, twin = pair()
    for seed in range(WARM):
        assert_alike(graph, twin, given(seed), seed)
    return graph, twin


def test_all_methods_of_a_step_are_repeated() -> None:
    graph, _ = warmed()
    for name in METHODS:
        assert repeated(graph, name) > 0, name


def test_methods_of_backward_are_repeated_by_themselves() -> None:
    graph, twin = pair()
    for seed in range(WARM):
        x = given(seed)
        for one in (graph, twin):
            slopes = [values(seed, *y.shape) for y in one.forward(x)]
            one.updateGradInput(x, slopes)
            one.accGradParameters(x, slopes, 0.5)
        assert_same_fields(graph, twin)
    for name in ("updateOutput", "updateGradInput", "accGradParameters"):
        assert repeated(graph, name) > 0, name


LAYERS: dict[type, Callable[[], Any]] = {
    nn.AddConstant: lambda: nn.AddConstant(2),
    nn.HardTanh: lambda: nn.HardTanh(-0.5, 0.5),
    nn.JoinTable: lambda: nn.JoinTable(2),
    nn.Linear: lambda: nn.Linear(4, 4),
    nn.MulConstant: lambda: nn.MulConstant(3),
    nn.OneHot: lambda: nn.OneHot(3),
    nn.Reshape: lambda: nn.Reshape(2, 2),
    nn.SelectTable: lambda: nn.SelectTable(2),
    nn.Threshold: lambda: nn.Threshold(0.1, 0.2),
    nn.View: lambda: nn.View(2, 2).setNumInputDims(1),
}
ON_TABLES = (nn.CAddTable, nn.CMulTable, nn.CSubTable, nn.JoinTable, nn.SelectTable)


@pytest.mark.parametrize("kind", sorted(REPEATABLE, key=lambda kind: kind.__name__))
def test_each_class_is_repeated(kind: Any) -> None:
    def make() -> Any:
        a, b = nn.Identity()(), nn.Identity()()
        x = nn.Linear(4, 4)(a)
        if kind is nn.SplitTable:
            layer, x = nn.CAddTable(), nn.SplitTable(2)(x)
            return nn.gModule([a, b], [layer(x), nn.Tanh()(b)]).float()
        layer = LAYERS.get(kind, kind)()
        y = layer([x, b]) if kind in ON_TABLES else layer(b if kind is nn.OneHot else x)
        return nn.gModule([a, b], [y, nn.Linear(4, 2)(x)]).float()

    graph, twin = pair(make)
    for seed in range(WARM):
        second = np.abs(values(seed, 2, 4))
        if kind is nn.OneHot:
            second = np.float32([1 + seed % 3, 2])
        x = [np.abs(values(seed, 2, 4)), second]
        assert_alike(graph, twin, x, seed)
    assert repeated(graph, "updateOutput") > 0
    assert repeated(graph, "backward") > 0


def test_arrays_that_are_held_stay_as_they_are() -> None:
    graph, twin = warmed()
    held, kept = [], []
    for seed in range(10, 16):
        x = given(seed)
        held.append((x, *steps(graph, x, seed), [one.output for one in graph.modules]))
        kept.append(copy.deepcopy(held[-1]))
        steps(twin, x, seed)
    assert_same_fields(graph, twin)
    for one, other in zip(held, kept, strict=True):
        for found, wanted in zip(one, other, strict=True):
            same(found, wanted)


def test_an_output_may_be_the_next_input() -> None:
    graph, twin = warmed()
    states = [given(1)[1:], given(1)[1:]]
    for seed in range(20, 26):
        for i, one in enumerate((graph, twin)):
            output, _ = steps(one, [given(seed)[0], *states[i]], seed)
            states[i] = output[:2]
        same(*states)
    assert_same_fields(graph, twin)


def _exchange(graph: Any) -> None:
    """Puts another module in the place of one."""
    place = next(i for i, one in enumerate(graph.modules) if type(one) in (nn.Tanh, nn.Sigmoid))
    other = nn.Sigmoid if type(graph.modules[place]) is nn.Tanh else nn.Tanh
    graph.modules[place] = other().float()


def _override(graph: Any) -> None:
    """Gives a module a method of its own."""
    module = next(one for one in graph.modules if type(one) is nn.Tanh)
    usual = module.updateOutput
    module.updateOutput = lambda x: usual(2 * np.asarray(x))


def _change(graph: Any) -> None:
    """Changes a field."""
    next(one for one in graph.modules if type(one) is nn.SelectTable).index = 4


def _replace_output(graph: Any) -> None:
    for module in graph.modules:
        if type(module) is nn.Sigmoid:
            module.output = 0.5 * module.output


def _resize(graph: Any) -> None:
    graph.tensors.__dict__.clear()
    graph.modules[-1].tensors.output.resize(1)


def _share(graph: Any) -> None:
    linear = [one for one in graph.modules if type(one) is nn.Linear]
    linear[1].share(nn.Linear(3, 12).float(), "weight", "gradWeight")


CHANGES: dict[str, Callable[[Any], Any]] = {
    "another module": _exchange,
    "a method": _override,
    "a field": _change,
    "an output": _replace_output,
    "a size": _resize,
    "a shared weight": _share,
    "a weight": lambda graph: graph.modules[-2].weight.fill(0.25),
    "flat parameters": lambda graph: graph.getParameters()[0].fill(0.5),
    "no bias": lambda graph: graph.modules[-2].noBias(),
    "a frozen layer": lambda graph: setattr(graph.modules[-2], "parameters", lambda: None),
    "evaluation": lambda graph: graph.evaluate(),
    "no state": lambda graph: graph.clearState(),
    "float64": lambda graph: graph.double().float(),
    "silence": lambda graph: graph.modules[-2].__dict__.update(_dontBackward=True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_user_changes_counts(change: str) -> None:
    graph, twin = warmed()
    for seed in (30, 40):
        for one in (graph, twin):
            pythnn.manual_seed(9)
            CHANGES[change](one)
        for i in range(seed, seed + WARM):
            assert_alike(graph, twin, given(i), i)


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_user_changes_before_backward_counts(change: str) -> None:
    graph, twin = warmed()
    x, results = given(50), []
    for one in (graph, twin):
        slopes = [values(i, *y.shape) for i, y in enumerate(one.forward(x))]
        pythnn.manual_seed(9)
        CHANGES[change](one)
        try:
            results.append(one.backward(x, slopes))
        except THNNError as error:
            results.append(str(error).replace("nn.Plain", "nn.gModule"))
    assert type(results[0]) is type(results[1])
    if isinstance(results[0], str):
        assert results[0] == results[1]
    else:
        same(*results)


def test_other_inputs_are_computed_as_ever() -> None:
    graph, twin = warmed()
    x = given(60)
    others = [
        given(61, batch=3),
        [x[0], np.asfortranarray(x[1]), x[2][:, ::-1]],
        [x[0].astype(np.float32), *x[1:]],
        [x[0][::-1], *x[1:]],
        given(62),
    ]
    frozen = given(63)
    frozen[1].flags.writeable = False
    for seed, other in enumerate([*others, frozen, *others]):
        assert_alike(graph, twin, other, seed)


def test_errors_are_those_of_the_methods() -> None:
    graph, twin = warmed()
    for wrong in ([1], [np.array([7, 1]), *given(1)[1:]], given(1, units=4), given(1)[:2]):
        messages = []
        for one in (graph, twin):
            with pytest.raises(THNNError) as raised:
                one.forward(wrong)
            messages.append(str(raised.value).replace("nn.Plain", "nn.gModule"))
        assert messages[0] == messages[1]
        assert_alike(graph, twin, given(2), 2)


class Counting(nn.Module):
    """A user's module, which looks at numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def updateOutput(self, input: Any) -> Any:
        self.calls += 1
        self.output = input * float(input.sum())
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput * self.calls
        return self.gradInput


@pytest.mark.parametrize(
    "layer",
    [Counting, lambda: nn.Dropout(0.5), lambda: nn.ReLU(True)],
    ids=("of a user", "random", "in place"),
)
def test_a_layer_of_another_class_runs_each_time(layer: Any) -> None:
    def make() -> Any:
        x = nn.Identity()()
        y = nn.Tanh()(nn.Linear(4, 4)(x))
        return nn.gModule([x], [nn.Tanh()(layer()(y)), nn.Sigmoid()(y)]).float()

    graph, twin = pair(make)
    for seed in range(2 * WARM):
        x = values(seed, 3, 4)
        found = []
        for one in (graph, twin):
            pythnn.manual_seed(seed)
            found.append(steps(one, x, seed))
        same(*found)
        assert_same_fields(graph, twin)


def test_a_module_in_two_places_and_a_graph_in_a_graph() -> None:
    def make() -> Any:
        x, shared = nn.Identity()(), nn.Linear(3, 3)
        inner = nn.Identity()()
        graph = nn.gModule([inner], [nn.Tanh()(nn.Linear(3, 3)(inner))])
        return nn.gModule([x], [nn.CAddTable()([shared(x), shared(graph(shared(x)))])]).float()

    graph, twin = pair(make)
    for seed in range(2 * WARM):
        assert_alike(graph, twin, values(seed, 2, 3), seed)


def test_copies_and_files_have_calls_of_their_own() -> None:
    graph, twin = warmed()
    for other in (graph.clone(), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        reference = plain(other)
        for seed in range(70, 70 + WARM):
            assert_alike(other, reference, given(seed), seed)
    assert "_recordings" not in graph._to_fields()
    assert_alike(graph, twin, given(80), 80)


def test_calls_that_are_never_repeated_are_not_recorded_for_ever() -> None:
    graph, _ = pair()
    for seed in range(30):
        graph.forward(given(seed, batch=1 + seed % 3))
    recordings = graph.__dict__["_recordings"]
    assert repeated(graph, "updateOutput") == 0
    assert recordings._made["updateOutput"] < 6


def test_another_thread_is_not_recorded() -> None:
    graph, twin = pair()
    end, other = threading.Event(), pythnn.Tensor(np.ones(4, np.float32))

    def disturb() -> None:
        while not end.is_set():
            other._call("zero")
            other.numpy()

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for seed in range(3 * WARM):
            assert_alike(graph, twin, given(seed), seed)
            other.fill(1)
    finally:
        end.set()
        thread.join()
    assert repeated(graph, "backward") > 0


@pytest.mark.parametrize("seed", range(12))
def test_any_order_of_calls_and_changes(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 (no secret)
    graph, twin = pair()
    names = [name for name in CHANGES if name not in ("a method", "a frozen layer")]
    held = []
    for i in range(60):
        batch = draw.choice((2, 2, 2, 2, 5))
        if draw.random() < 0.15:
            change = CHANGES[draw.choice(names)]
            for one in (graph, twin):
                pythnn.manual_seed(i)
                change(one)
        x = given(i, batch)
        if draw.random() < 0.3:
            same(graph.forward(x), twin.forward(x))
        found, wanted = steps(graph, x, i), steps(twin, x, i)
        same(found, wanted)
        if draw.random() < 0.5:
            assert_same_fields(graph, twin)
        if draw.random() < 0.3:
            held.append((found, copy.deepcopy(found)))
    for found, wanted in held:
        same(found, wanted)

"""Cells of LSTMs that graphs spell out with a layer for each function."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.programs import check_same, forward

import pythnn
from pythnn import nn
from pythnn.graph import lower
from pythnn.graph.operations import Buffer, Graph, Kernel, View, views_in
from pythnn.program.cells import join_cells
from pythnn.program.weights import Weights

UNITS = 6
Gates = dict[str, Any]


def halves(first: Any, second: Any, turned: bool) -> list[Any]:
    return [second, first] if turned else [first, second]


def quarters(total: Any, order: str) -> Gates:
    """The gates i, f, g, o, cut from a sum in some order."""
    parts = nn.SplitTable(2)(nn.Reshape(4, UNITS)(total))
    cut = {name: nn.SelectTable(order.index(name) + 1)(parts) for name in order}
    return {name: nn.Tanh()(x) if name == "g" else nn.Sigmoid()(x) for name, x in cut.items()}


def chunks(total: Any, order: str) -> Gates:
    """The same, with one sigmoid for the three gates that follow one another."""
    assert order[3] == "g"
    three = nn.Sigmoid()(nn.Narrow(2, 1, 3 * UNITS)(total))
    gates = {name: nn.Narrow(2, 1 + n * UNITS, UNITS)(three) for n, name in enumerate(order[:3])}
    return gates | {"g": nn.Tanh()(nn.Narrow(2, 1 + 3 * UNITS, UNITS)(total))}


def step(
    x: Any,
    state: Any,
    hidden: Any,
    features: int,
    order: str = "ifog",
    gates: Callable[[Any, str], Gates] = quarters,
    turned: bool = False,
    bias: bool = True,
) -> tuple[Any, Any]:
    """The state and the output of a cell."""
    layers = [nn.Linear(n, 4 * UNITS, bias) for n in (features, UNITS)]
    total = nn.CAddTable()(halves(layers[0](x), layers[1](hidden), turned))
    gate = gates(total, order)
    kept = nn.CMulTable()(halves(gate["f"], state, turned))
    added = nn.CMulTable()(halves(gate["i"], gate["g"], turned))
    after = nn.CAddTable()(halves(kept, added, turned))
    return after, nn.CMulTable()(halves(gate["o"], nn.Tanh()(after), turned))


def cell(**options: Any) -> nn.Module:
    """A cell that takes an input of 5 features, a state and an output before."""
    inputs = [nn.Identity()() for _ in range(3)]
    return nn.gModule(inputs, list(step(*inputs, 5, **options)))


def prepared(model: nn.Module, dtype: str = "torch.FloatTensor") -> nn.Module:
    model.type(dtype)
    model.evaluate()
    return model


def values(batch: int = 3, dtype: str = "float32", features: int = 5) -> list[np.ndarray]:
    numbers = np.random.default_rng(2)
    return [numbers.standard_normal((batch, n)).astype(dtype) for n in (features, UNITS, UNITS)]


def check(model: nn.Module, x: Any, cells: int) -> pythnn.Program:
    program = pythnn.compile(model, x)
    functions = [one.function for one in program.steps]
    assert functions.count("LSTMFused_updateOutput") == cells, program
    given = [one.copy() for one in x]
    for _ in range(2):
        check_same(program(x), forward(model, x), True)
    for one, before in zip(x, given, strict=True):
        np.testing.assert_array_equal(one, before)
    return program


@pytest.mark.parametrize("order", ["".join(one) for one in itertools.permutations("ifog")])
def test_gates_in_any_order(order: str) -> None:
    check(prepared(cell(order=order, turned=order < "go")), values(), 1)


@pytest.mark.parametrize("dtype", ["Float", "Double"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("gates", [quarters, chunks])
@pytest.mark.parametrize("turned", [True, False])
def test_cells(gates: Any, turned: bool, bias: bool, dtype: str) -> None:
    model = prepared(cell(gates=gates, turned=turned, bias=bias), f"torch.{dtype}Tensor")
    numbers = {"Float": "float32", "Double": "float64"}[dtype]
    program, x = check(model, values(3, numbers), 1), values(7, numbers)
    assert len(program.steps) == 3
    check_same(program(x), forward(model, x), True)


def test_layers_and_steps() -> None:
    """A graph of two layers, and of two steps of it; each takes the states of the one before."""
    inputs = [nn.Identity()() for _ in range(5)]
    outputs, x, features = [], inputs[0], 5
    for layer in range(2):
        state, x = step(x, *inputs[1 + 2 * layer : 3 + 2 * layer], features)
        outputs += [state, x]
        features = UNITS
    x = [*values(), *values()[1:]]
    check(prepared(nn.gModule(inputs, outputs)), x, 2)

    inputs = [nn.Identity()() for _ in range(3)]
    state, hidden = inputs[1:]
    for _ in range(3):
        state, hidden = step(inputs[0], state, hidden, 5)
    check(prepared(nn.gModule(inputs, [state, hidden])), values(), 3)


def test_parameters_that_change() -> None:
    model, x = prepared(cell(order="gifo")), values()
    program = check(model, x, 1)
    for parameter in model.parameters()[0]:
        before = forward(model, x)
        parameter *= 1.5
        check_same(program(x), before, True)
        program.update()
        check_same(program(x), forward(model, x), True)


def graph(make: Callable[..., list[Any]]) -> nn.Module:
    inputs = [nn.Identity()() for _ in range(3)]
    return prepared(nn.gModule(inputs, make(*inputs)))


def test_what_others_read_is_computed() -> None:
    """A gate, a product, the sum of both and what is left of the state, given away as well."""

    def given_away(which: int, scaled: bool) -> nn.Module:
        def make(x: Any, state: Any, hidden: Any) -> list[Any]:
            products = nn.Linear(5, 4 * UNITS)(x), nn.Linear(UNITS, 4 * UNITS)(hidden)
            total = nn.CAddTable()(list(products))
            gate = quarters(total, "ifog")
            kept, added = (
                nn.CMulTable()([gate[a], b]) for a, b in (("f", state), ("i", gate["g"]))
            )
            after = nn.CAddTable()([kept, added])
            output = nn.CMulTable()([gate["o"], nn.Tanh()(after)])
            others = [gate["o"], products[0], products[1], total, kept]
            other = others[which]
            return [after, output, nn.MulConstant(2)(other) if scaled else other]

        return graph(make)

    for which in range(5):
        check(given_away(which, True), values(), 0)
        check(given_away(which, False), values(), 0)


@pytest.mark.parametrize(
    "wrong",
    [
        "forget",
        "no tanh",
        "one quarter",
        "three terms",
        "difference",
        "half",
        "two sums",
        "no layer",
    ],
)
def test_what_is_no_cell(wrong: str) -> None:
    def make(x: Any, state: Any, hidden: Any) -> list[Any]:
        products = [nn.Linear(5, 4 * UNITS)(x), nn.Linear(UNITS, 4 * UNITS)(hidden)]
        if wrong == "three terms":
            products.append(nn.Linear(UNITS, 4 * UNITS)(state))
        if wrong == "no layer":
            products[0] = nn.Sigmoid()(products[0])
        total = nn.CSubTable()(products) if wrong == "difference" else nn.CAddTable()(products)
        parts = nn.SplitTable(2)(nn.Reshape(4, UNITS)(total))
        i, f, o, g = (nn.SelectTable(n)(parts) for n in (1, 2, 3, 4))
        if wrong == "one quarter":
            o = f
        if wrong == "two sums":
            other = nn.CAddTable()([nn.Linear(5, 4 * UNITS)(x), products[1]])
            o = nn.SelectTable(3)(nn.SplitTable(2)(nn.Reshape(4, UNITS)(other)))
        opens = nn.Tanh() if wrong == "forget" else nn.Sigmoid()
        kept = nn.CMulTable()([opens(f), state])
        entry = nn.CMulTable()([nn.Sigmoid()(i), nn.Tanh()(g)])
        if wrong == "half":
            entry = nn.MulConstant(0.5)(entry)
        after = nn.CAddTable()([kept, entry])
        shown = after if wrong == "no tanh" else nn.Tanh()(after)
        return [after, nn.CMulTable()([nn.Sigmoid()(o), shown])]

    check(graph(make), values(), 0)


def test_a_state_that_is_changed_after_the_cell() -> None:
    def make(x: Any, state: Any, hidden: Any) -> list[Any]:
        after, output = step(x, state, hidden, 5)
        return [nn.Clamp(-0.1, 0.1)(after), nn.MulConstant(3, True)(output)]

    check(graph(make), values(), 1)


# ---- Operations that no graph of modules has in this order


@pytest.fixture
def lowered() -> Graph:
    return lower(prepared(cell()), values())


def joined(graph: Graph) -> list[Kernel]:
    """The cells that are found."""
    operations = join_cells(graph.operations, views_in(graph.outputs), Weights(True))
    return [one for one in operations if one.function == "LSTMFused_updateOutput"]


def change(view: View) -> Kernel:
    """What changes a matrix in place."""
    return Kernel("ELU_updateOutput", [None, view, view, 1.0, True], [view], [view], "change")


def reader(graph: Graph, view: View) -> int:
    """The index of the operation that reads a view first."""
    return next(n for n, one in enumerate(graph.operations) if view in one.reads)


def sums(graph: Graph) -> list[int]:
    """The indices of both sums: that of the products, and the new state."""
    return [n for n, one in enumerate(graph.operations) if one.function == "Tensor.cadd"]


def test_a_state_that_is_changed_before_the_cell_has_ended(lowered: Graph) -> None:
    state = views_in(lowered.inputs)[1]
    place = reader(lowered, state)
    lowered.operations.insert(place, change(state))
    assert joined(lowered)
    lowered.operations.insert(place + 2, change(state))
    assert not joined(lowered)


def test_a_copy_of_a_state_that_is_changed(lowered: Graph) -> None:
    state = views_in(lowered.inputs)[1]
    copy = View(Buffer(state.size, state.dtype), state.shape, state.strides)
    place = reader(lowered, state)
    product = lowered.operations[place]
    given = [copy if one is state else one for one in product.arguments]
    lowered.operations[place : place + 1] = [
        Kernel("Tensor.copy", [copy, state], [state], [copy], "copy"),
        change(state),
        Kernel(product.function, given, [product.reads[0], copy], product.writes, product.place),
    ]
    (found,) = joined(lowered)
    assert copy in found.reads
    assert state not in found.reads


@pytest.mark.parametrize("which", [0, 1])
def test_sums_that_are_changed(lowered: Graph, which: int) -> None:
    place = sums(lowered)[which]
    lowered.operations.insert(place + 1, change(lowered.operations[place].writes[0]))
    assert not joined(lowered)


def test_what_is_in_the_memory_of_the_state_before_it(lowered: Graph) -> None:
    place = sums(lowered)[1]
    state = lowered.operations[place].writes[0]
    copy = View(Buffer(state.size, state.dtype), state.shape, state.strides)
    read = Kernel("Tensor.copy", [copy, state], [state], [copy], "copy")
    lowered.operations.insert(place, read)
    assert not joined(lowered)

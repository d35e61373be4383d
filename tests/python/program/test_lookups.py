"""Linear layers whose results are looked up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.programs import check_same, forward

import pythnn
from pythnn import nn

RNG = np.random.default_rng(3)


def indices(*shape: int, most: int = 30) -> np.ndarray:
    return RNG.integers(1, most + 1, shape)


def lookups(program: pythnn.Program) -> list[tuple[int, ...]]:
    """The sizes of all rows that a program looks up; it must have no linear layer then."""
    steps = program._latest.steps
    assert not any("Linear" in step.function for step in steps)
    return [step.shape for step in steps if step.function == "LookupTable_updateOutput"]


def prepared(*layers: nn.Module, dtype: str = "torch.FloatTensor") -> nn.Module:
    model = nn.Sequential(*layers).type(dtype)
    model.evaluate()
    return model


def check(model: nn.Module, x: Any, wanted: list[tuple[int, ...]], **options: Any) -> None:
    program = pythnn.compile(model, x, **options)
    assert lookups(program) == wanted
    check_same(program(x), forward(model, x), True)


@pytest.mark.parametrize("dtype", ["torch.FloatTensor", "torch.DoubleTensor"])
@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_layer(bias: bool, dtype: str) -> None:
    model = prepared(nn.LookupTable(30, 8), nn.Linear(8, 12, bias), dtype=dtype)
    check(model, indices(5), [(5, 12)])
    check(model, indices(1), [(1, 12)])
    model = prepared(nn.LookupTable(30, 8), nn.Bottle(nn.Linear(8, 12, bias)), dtype=dtype)
    check(model, indices(3, 5), [(15, 12)])


def test_rows_of_units() -> None:
    model = prepared(nn.OneHot(30), nn.Linear(30, 7))
    check(model, indices(5), [(5, 7)])


def test_a_recurrent_layer() -> None:
    model = prepared(nn.LookupTable(30, 8), nn.SeqLSTM(8, 6))
    x = indices(4, 3)
    check(model, x, [(12, 24)])


def test_a_normalisation_of_the_layer() -> None:
    model = prepared(nn.LookupTable(30, 8), nn.Linear(8, 12), nn.BatchNormalization(12))
    model.get(3).running_mean[:] = np.linspace(-1, 1, 12)
    check(model, indices(5), [(5, 12)])


@pytest.mark.parametrize("dimension", [1, 2])
def test_layers_that_read_some_of_the_rows(dimension: int) -> None:
    """Steps of sequences, which come first or second."""
    each = nn.ConcatTable(*(nn.Sequential(nn.SelectTable(n), nn.Linear(8, 12)) for n in (1, 3)))
    model = prepared(nn.LookupTable(30, 8), nn.SplitTable(dimension), each, nn.CAddTable())
    check(model, indices(3, 4) if dimension == 1 else indices(4, 3), [(4, 12)] * 2)


def test_indices_that_do_not_follow_one_another() -> None:
    """Columns of integers, which are read where they are."""
    table = nn.LookupTable(30, 8)
    model = prepared(nn.SplitTable(2), nn.SelectTable(2), table, nn.Linear(8, 12))
    x = indices(5, 3)
    program = pythnn.compile(model, x)
    check_same(program(x), forward(model, x), True)


def test_one_row() -> None:
    model = prepared(nn.LookupTable(30, 8), nn.SplitTable(1), nn.SelectTable(2), nn.Linear(8, 12))
    check(model, indices(3), [(1, 12)])


def test_rows_that_others_read_are_still_looked_up() -> None:
    model = prepared(nn.LookupTable(30, 8), nn.ConcatTable(nn.Linear(8, 12), nn.Tanh()))
    check(model, indices(5), [(5, 8), (5, 12)])
    model = prepared(nn.LookupTable(30, 8), nn.ConcatTable(nn.Linear(8, 12), nn.Identity()))
    check(model, indices(5), [(5, 8), (5, 12)])


@pytest.mark.parametrize(
    "layers",
    [
        (nn.Narrow(2, 2, 4), nn.Linear(4, 12)),
        (nn.View(10, 4), nn.Linear(4, 12)),
        (nn.View(40), nn.Linear(40, 12)),
        (nn.Tanh(), nn.Linear(8, 12)),
        (nn.Dropout(0.5, True, True), nn.Linear(8, 12)),
    ],
    ids=["columns", "parts", "several", "changed", "scaled"],
)
def test_layers_that_read_something_else(layers: tuple[nn.Module, ...]) -> None:
    model, x = prepared(nn.LookupTable(30, 8), *layers), indices(5)
    program = pythnn.compile(model, x)
    functions = [step.function for step in program._latest.steps]
    assert "Linear_updateOutput" in functions
    check_same(program(x), forward(model, x), True)


def test_rows_that_change_after_the_layer_has_read_them() -> None:
    """What is read before a change is looked up, and what is read after it is computed."""
    changed = nn.Sequential(nn.MulConstant(3, True), nn.Linear(8, 12))
    model = prepared(nn.LookupTable(30, 8), nn.ConcatTable(nn.Linear(8, 12), changed))
    x = indices(5)
    program = pythnn.compile(model, x)
    functions = [step.function for step in program._latest.steps]
    assert functions.count("Linear_updateOutput") == 1
    check_same(program(x), forward(model, x), True)


def test_tables_of_results_that_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x = prepared(nn.LookupTable(30, 4), nn.Linear(4, 40)), indices(5)
    computes = ["LookupTable_updateOutput", "Linear_updateOutput"]

    def functions(**options: Any) -> list[str]:
        return [step.function for step in pythnn.compile(model, x, **options)._latest.steps][-2:]

    assert functions() == computes  # 30 * 40 > 4 * (30 * 4 + 4 * 40)
    model = prepared(nn.LookupTable(30, 4), nn.Linear(4, 20))
    assert functions()[-1] == "LookupTable_updateOutput"
    assert functions(keep_weights=False) == computes  # since 30 * 20 > 30 * 4 + 4 * 20
    monkeypatch.setattr("pythnn.program.lookups._MOST_BYTES", 30 * 20 * 4 - 1)
    assert functions() == computes


def test_the_table_is_made_once() -> None:
    model = prepared(nn.LookupTable(30, 8), nn.Linear(8, 12))
    program = pythnn.compile(model, indices(5))
    for n in (1, 2, 3):
        x = indices(n)
        check_same(program(x), forward(model, x), True)
    assert len(program._weights._folded) == 1
    assert program.kept_nbytes == 30 * 12 * 4
    program.update()
    assert program.kept_nbytes == 30 * 12 * 4


def test_parameters_that_change() -> None:
    model, x = prepared(nn.LookupTable(30, 8), nn.Linear(8, 12)), indices(5)
    program = pythnn.compile(model, x)
    for layer in model.modules:
        before = forward(model, x)
        layer.weight *= 2
        check_same(program(x), before, True)
        program.update()
        check_same(program(x), forward(model, x), True)


@pytest.mark.parametrize("wrong", [0, 31])
def test_indices_outside_the_table(wrong: int) -> None:
    model = prepared(nn.LookupTable(30, 8), nn.Linear(8, 12))
    program = pythnn.compile(model, indices(2))
    with pytest.raises(pythnn.THNNArgumentError, match=f"from 1 to 30 .*found {wrong}"):
        program(np.array([1, wrong]))

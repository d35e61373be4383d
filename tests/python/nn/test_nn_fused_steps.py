"""Steps of cells through their formulas do what the modules inside do one by one."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_layers_agree
from support.programs import leaves

import pythnn
from pythnn import THNNError, nn

PLAIN = "LSTM without peepholes"
CELLS = ["FastLSTM", "GRU", "RecLSTM", "RecGRU", "LSTM", PLAIN]
FORMS: dict[str, tuple[int, ...]] = {"batch": (5, 2, 3), "one sample": (5, 3), "one": (1, 2, 3)}


def one_by_one(name: str) -> Any:
    """A class that always computes with the module inside, as users' own do."""
    return type(name, (getattr(nn, name.split()[0]),), {})


def pair(name: str) -> tuple[Any, Any]:
    """A cell, and one of the same parameters that computes one module after the other."""
    found = []
    options = {"cell2gate": False} if name == PLAIN else {}
    for kind in (getattr(nn, name.split()[0]), one_by_one(name)):
        pythnn.manual_seed(4)
        found.append(kind(3, 4, **options))
    return found[0], found[1]


def numbers(*shape: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def same(found: Any, wanted: Any) -> None:
    ours, theirs = leaves(found), leaves(wanted)
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert one.shape == other.shape
        assert_layers_agree(one, other)


def trained(module: Any, given: Any, weights: Any) -> list[Any]:
    module.zeroGradParameters()
    output = copy.deepcopy(module.forward(given))
    gradient = copy.deepcopy(module.backward(given, weights))
    return [output, gradient, module.parameters()[1]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_table", [False, True])
@pytest.mark.parametrize("name", CELLS)
def test_sequences(name: str, is_table: bool, form: str) -> None:
    given = numbers(*FORMS[form])
    weights = numbers(*given.shape[:-1], 4, seed=2)
    results = []
    for cell in pair(name):
        forms = (list(given), list(weights)) if is_table else (given, weights)
        net = nn.Sequencer(cell)
        results.append([trained(net, *forms), trained(net, *forms)])
        net.evaluate()
        results[-1].append(copy.deepcopy(net.forward(forms[0])))
    same(*results)


@pytest.mark.parametrize("name", CELLS)
def test_single_steps(name: str) -> None:
    steps, weights = numbers(4, 2, 3), numbers(4, 2, 4, seed=2)
    results = []
    for cell in pair(name):
        cell.zeroGradParameters()
        found = [np.array(cell.forward(step)) for step in steps]
        backs = [
            np.array(cell.backward(*both)) for both in zip(steps[::-1], weights[::-1], strict=True)
        ]
        found += [*backs, cell.parameters()[1], cell.getGradHiddenState(), cell.getHiddenState()]
        cell.forget()
        results.append([found, np.array(cell.forward(steps[0]))])
    same(*results)


@pytest.mark.parametrize("name", CELLS)
def test_calls_of_many_kinds_after_each_other(name: str) -> None:
    """Sequences that go on, single steps between, backward over parts, set states."""
    results = []
    for cell in pair(name):
        net = nn.Sequencer(cell).remember("both")
        found: list[Any] = [np.array(net.forward(numbers(3, 2, 3)))]
        found.append(np.array(cell.forward(numbers(2, 3, seed=3))))
        found.append(np.array(net.forward(numbers(2, 2, 3, seed=4))))
        net.zeroGradParameters()
        found.append(np.array(net.backward(numbers(2, 2, 3, seed=4), numbers(2, 2, 4, seed=5))))
        found.append(np.array(cell.backward(numbers(2, 3, seed=3), numbers(2, 4, seed=6))))
        found.append(np.array(cell.backward(numbers(3, 2, 3)[2], numbers(2, 4, seed=7))))
        found.append(np.array(net.backward(numbers(3, 2, 3)[:2], numbers(2, 2, 4, seed=8))))
        results.append([found, copy.deepcopy(net.parameters()[1])])
        net.forget()
        net.forward(numbers(2, 2, 3))
        state = cell.getHiddenState(2)
        changed = [one + 0.5 for one in state] if isinstance(state, list) else state + 0.5
        cell.setHiddenState(2, changed)
        results[-1].append(np.array(net.forward(numbers(3, 2, 3, seed=8))))
        cell.setGradHiddenState(5, changed)
        cell.zeroGradParameters()
        results[-1].append(
            np.array(net.backward(numbers(3, 2, 3, seed=8), numbers(3, 2, 4, seed=9)))
        )
        results[-1].append(np.array(net.backward(numbers(2, 2, 3), numbers(2, 2, 4, seed=9))))
        results[-1].append(net.parameters()[1])
    same(*results)


@pytest.mark.parametrize("name", CELLS)
def test_states_that_are_given(name: str) -> None:
    results = []
    for cell in pair(name):
        cell.userPrevOutput = numbers(2, 4, seed=5)
        if "LSTM" in name:
            cell.userPrevCell, cell.userNextGradCell = numbers(2, 4, seed=6), numbers(2, 4, seed=7)
        net = nn.Sequencer(cell)
        results.append(trained(net, numbers(3, 2, 3), numbers(3, 2, 4, seed=2)))
        results[-1].append(cell.userGradPrevOutput)
    same(*results)


@pytest.mark.parametrize("name", CELLS)
def test_float(name: str) -> None:
    given, weights = numbers(3, 2, 3), numbers(3, 2, 4, seed=2)
    wanted = trained(nn.Sequencer(pair(name)[0]), given, weights)
    single = nn.Sequencer(pair(name)[0])
    single.forward(given)  # which leaves doubles behind
    single.float()
    found = trained(single, given.astype("float32"), weights.astype("float32"))
    for one, other in zip(leaves(found), leaves(wanted), strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def calls_inside(run: Callable[[], Any], monkeypatch: Any) -> int:
    """How often layers inside a cell compute an output."""
    calls = []
    for kind in (nn.Linear, nn.StepLSTM, nn.StepGRU):
        usual = kind.updateOutput

        def counted(self: Any, input: Any, usual: Any = usual) -> Any:
            calls.append(self)
            return usual(self, input)

        monkeypatch.setattr(kind, "updateOutput", counted)
    run()
    monkeypatch.undo()
    return len(calls)


@pytest.mark.parametrize("name", CELLS)
def test_the_module_inside_is_not_called(name: str, monkeypatch: Any) -> None:
    cell, other = pair(name)
    for one, is_called in ((cell, False), (other, True)):
        for net in (nn.Sequencer(one), nn.Sequencer(nn.Sequential(one))):
            calls = calls_inside(lambda net=net: net.forward(numbers(3, 2, 3)), monkeypatch)
            assert (calls > 0) == is_called


def _replace(cell: Any, kind: type, make: Callable[[Any], Any]) -> None:
    """Puts another module in the place of the first of a class."""
    for container in cell.inside.listModules():
        for place, one in enumerate(container.__dict__.get("modules", ())):
            if type(one) is kind:
                container.modules[place] = make(one)
                return


def _replaced_function(cell: Any) -> None:
    _replace(cell, nn.Sigmoid, lambda _: nn.HardTanh())


def _replaced_product(cell: Any) -> None:
    _replace(cell, nn.Linear, lambda linear: nn.Sequential(linear, nn.MulConstant(0.5)))


def _replaced_setting(cell: Any) -> None:
    shift = next((one for one in cell.inside.listModules() if type(one) is nn.SAdd), None)
    if shift is not None:
        shift.addend = -2
        return
    selects = [one for one in cell.inside.listModules() if type(one) is nn.SelectTable]
    selects[-1].index = 2


def _without_bias(cell: Any) -> None:
    next(one for one in cell.inside.listModules() if type(one) is nn.Linear).noBias()


def _replaced_method(cell: Any) -> None:
    linear = next(one for one in cell.inside.listModules() if type(one) is nn.Linear)
    linear.updateOutput = lambda given: nn.Linear.updateOutput(linear, given.array() * 2)


@pytest.mark.parametrize(
    "change",
    [_replaced_function, _replaced_product, _replaced_setting, _without_bias, _replaced_method],
)
@pytest.mark.parametrize("name", ["FastLSTM", "GRU", "LSTM"])
def test_a_module_that_was_changed_is_called(name: str, change: Any) -> None:
    cells = pair(name)
    given = numbers(3, 2, 3)
    unchanged = nn.Sequencer(cells[0]).forward(given)
    for cell in cells:
        change(cell)
    results = [np.array(nn.Sequencer(cell).forward(given)) for cell in cells]
    same(*results)
    assert not np.allclose(results[0], unchanged)


def test_parameters_stay_those_of_the_layers() -> None:
    cell = nn.FastLSTM(3, 4)
    net = nn.Sequencer(cell)
    flat, gradient = net.getParameters()
    given, weights = numbers(3, 2, 3), numbers(3, 2, 4, seed=2)
    trained(net, given, weights)
    assert np.any(gradient)
    assert np.shares_memory(cell.i2g.gradWeight, gradient)
    before = np.array(net.forward(given))
    flat[...] *= 0.5
    assert not np.allclose(net.forward(given), before)
    other = nn.FastLSTM(3, 4)
    other.share(cell, "weight", "bias", "gradWeight", "gradBias")
    same(nn.Sequencer(other).forward(given), net.forward(given))


def test_frozen_layers_get_no_gradient() -> None:
    cell = nn.FastLSTM(3, 4)
    cell.i2g.accGradParameters = lambda *_: None
    net = nn.Sequencer(cell)
    trained(net, numbers(3, 2, 3), numbers(3, 2, 4, seed=2))
    assert not np.any(cell.i2g.gradWeight)
    assert np.any(cell.o2g.gradWeight)


@pytest.mark.parametrize("name", CELLS)
def test_copies_go_on_and_files_hold_nothing_of_it(name: str) -> None:
    cell, _ = pair(name)
    net = nn.Sequencer(cell)
    given, weights = numbers(3, 2, 3), numbers(3, 2, 4, seed=2)
    net.forward(given)
    other = copy.deepcopy(net)
    same(other.backward(given, weights), net.backward(given, weights))
    file = io.BytesIO()
    pythnn.save(file, net)
    assert b"_runs" not in file.getvalue()
    file.seek(0)
    same(trained(pythnn.load(file), given, weights), trained(net, given, weights))


@pytest.mark.parametrize("name", CELLS)
def test_backward_in_use(name: str) -> None:
    results = []
    for cell in (pair(name)[0], pair(name)[0]):
        net = nn.Sequencer(cell)
        if results:
            net.evaluate()
        results.append(trained(net, numbers(3, 2, 3), numbers(3, 2, 4, seed=2)))
    same(*results)


@pytest.mark.parametrize("name", CELLS)
def test_more_steps_back_than_forward(name: str) -> None:
    net = nn.Sequencer(pair(name)[0])
    net.forward(numbers(3, 2, 3))
    net.backward(numbers(3, 2, 3), numbers(3, 2, 4))
    with pytest.raises(THNNError, match="no more steps"):
        net.backward(numbers(3, 2, 3), numbers(3, 2, 4))


@pytest.mark.parametrize("name", CELLS)
def test_inputs_that_do_not_fit_are_refused_as_ever(name: str) -> None:
    for given in (numbers(3, 2, 5), numbers(3, 2, 3).astype("float32"), numbers(3, 2, 2, 3)):
        assert len({outcome(cell, given) for cell in pair(name)}) == 1


def outcome(cell: Any, given: Any) -> str:
    """What comes of a call: an error's text, or the result rounded."""
    try:
        return str(np.round(nn.Sequencer(cell).forward(given), 6).tolist())
    except THNNError as error:
        return str(error)

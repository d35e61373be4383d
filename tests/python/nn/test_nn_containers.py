"""Containers, decorators and the trainer beyond what the recordings show."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_layers_agree

import pythnn
from pythnn import nn


def data(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape)


# ---- Text


def test_function_of_the_modules_alone() -> None:
    inside = nn.Sequential().add(nn.Tanh())
    found: list[Any] = []
    nn.Sequential().add(inside).add(nn.ReLU()).applyToModules(found.append)
    assert [module.typename() for module in found] == ["nn.Sequential", "nn.ReLU"]


def test_tree_of_nested_containers() -> None:
    inner = nn.Sequential().add(nn.Linear(2, 3, False)).add(nn.ReLU(True))
    block = nn.ConcatTable().add(inner).add(nn.Identity())
    module = nn.Sequential().add(block).add(nn.CAddTable()).add(nn.Bottle(nn.Linear(3, 1)))
    wanted = """\
        nn.Sequential {
          [input -> (1) -> (2) -> (3) -> output]
          (1): nn.ConcatTable {
            input
              |`-> (1): nn.Sequential {
              |      [input -> (1) -> (2) -> output]
              |      (1): nn.Linear(2 -> 3) without bias
              |      (2): nn.ReLU
              |    }
               `-> (2): nn.Identity
               ... -> output
          }
          (2): nn.CAddTable
          (3): nn.Bottle @ nn.Linear(3 -> 1)
        }"""
    assert repr(module) == textwrap.dedent(wanted)


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (nn.Sequential(), "nn.Sequential {\n  [input -> output]\n}"),
        (nn.SelectTable(-1), "nn.SelectTable(-1)"),
        (nn.NaN(nn.Identity(), 3), "nn.NaN(3) @ nn.Identity"),
    ],
)
def test_text(module: Any, text: str) -> None:
    assert repr(module) == text


# ---- Errors


@pytest.mark.parametrize(
    ("module", "given"),
    [
        (nn.CAddTable(), [np.ones(3), np.ones(4)]),
        (nn.JoinTable(3), [np.ones((2, 2))]),
        (nn.SelectTable(3), [np.ones(2)]),
        (nn.ParallelTable().add(nn.Identity()), []),
        (nn.Concat(1).add(nn.Linear(3, 2)).add(nn.Linear(3, 4)), np.ones((2, 3))),
        (nn.Convert("bchw", "bf"), np.ones(3)),
        (nn.Kmeans(2, 3), np.ones((2, 4))),
        (nn.NaN(nn.Identity()), np.array([np.nan])),
    ],
    ids=lambda value: getattr(value, "typename", lambda: "")(),
)
def test_inputs_that_do_not_fit(module: Any, given: Any) -> None:
    with pytest.raises(pythnn.THNNError):
        module.forward(given)


@pytest.mark.parametrize(
    ("module", "given", "gradient"),
    [
        (nn.CAddTensorTable(), [np.ones(2), [np.ones(2)] * 2], [np.ones(2)]),
        (nn.ConcatTable().add(nn.Tanh()).add(nn.Tanh()), np.ones(2), [np.ones(2)]),
        (nn.FlattenTable(), [np.ones(2), [np.ones(2)]], [np.ones(2)]),
        (nn.JoinTable(1), [np.ones(2), np.ones(3)], np.ones(4)),
        (nn.MapTable(nn.Tanh()), [np.ones(2)] * 2, [np.ones(2)]),
        (nn.SplitTable(1), np.ones((3, 2)), [np.ones(2)] * 2),
    ],
    ids=lambda value: getattr(value, "typename", lambda: "")(),
)
def test_gradients_that_do_not_fit(module: Any, given: Any, gradient: Any) -> None:
    module.forward(given)
    with pytest.raises(pythnn.THNNArgumentError):
        module.backward(given, gradient)


def test_shapes_that_cannot_be_converted() -> None:
    with pytest.raises(pythnn.THNNArgumentError, match="bchw"):
        nn.Convert("bchw", "bct")


def test_a_second_module_for_map_table() -> None:
    with pytest.raises(pythnn.THNNArgumentError):
        nn.MapTable(nn.Identity()).add(nn.Identity())


@pytest.mark.parametrize("name", ["CAddTable", "CDivTable", "CMaxTable", "CMulTable", "CSubTable"])
def test_entries_of_other_shapes(name: str) -> None:
    """Only the number of elements counts; each gradient has the shape of its entry."""
    module, given = getattr(nn, name)(), [data(2, 3), data(6) + 3]
    output = module.forward(given)
    assert output.shape == (2, 3)
    found = module.backward(given, np.ones((2, 3)))
    assert [gradient.shape for gradient in found] == [(2, 3), (6,)]


# ---- Conversions


@pytest.mark.parametrize(
    ("shapes", "size", "wanted"),
    [
        (("chw", "hwc"), (2, 3, 4, 5), (2, 4, 5, 3)),
        (("chw", "hwc"), (3, 4, 5), (4, 5, 3)),
        (("bchw", "chwb"), (2, 3, 4, 5), (3, 4, 5, 2)),
        (("chwb", "bf"), (3, 4, 5, 2), (2, 60)),
        (("bchw", "fb"), (2, 3, 4, 5), (60, 2)),
        (("b", "bt"), (4,), (4, 1)),
        (("tb", "b"), (3, 4), (4,)),
        (("bf", "bt"), (4, 3), (4, 1)),
    ],
)
def test_conversion_and_back(shapes: tuple[str, str], size: Any, wanted: Any) -> None:
    module, x = nn.Convert(*shapes), data(*size)
    output = module.forward(x)
    assert output.shape == wanted
    gradient = data(*wanted)
    found = module.backward(x, gradient)
    # Moving numbers is linear: forward and backward are adjoint.
    assert (output * gradient).sum() == pytest.approx((x * found).sum())


# ---- What is printed


def test_sizes_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    module = nn.PrintSize("here")
    module.forward([np.ones((2, 3)), np.ones(4)])
    assert "here" in (text := capsys.readouterr().out)
    assert "(2, 3)" in text


def test_times_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    module = nn.Profile(nn.Identity(), 2, "it")
    for _ in range(2):
        module.backward(module.forward(np.ones(3)), np.ones(3))
    assert capsys.readouterr().out.count("it took") == 2


# ---- Training


def trainer(**fields: Any) -> nn.StochasticGradient:
    pythnn.manual_seed(5)
    made = nn.StochasticGradient(nn.Linear(3, 1), nn.MSECriterion())
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def examples(n: int = 8) -> list[tuple[np.ndarray, np.ndarray]]:
    x = data(n, 3)
    return [(row, np.array([row.sum()])) for row in x]


def test_training_lowers_the_error_and_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    errors = trainer(learningRate=0.1, maxIteration=20).train(examples())
    assert len(errors) == 20
    assert errors[-1] < errors[0] / 10
    assert "20/20" in capsys.readouterr().out


def test_silence(capsys: pytest.CaptureFixture[str]) -> None:
    trainer(verbose=False, maxIteration=1).train(examples())
    assert capsys.readouterr().out == ""


def test_hooks_and_order() -> None:
    seen: list[Any] = []
    made = trainer(verbose=False, maxIteration=2, shuffleIndices=False)
    made.hookExample = lambda _, example: seen.append(example)
    made.hookIteration = lambda _, epoch, error: seen.append((epoch, error))
    given = examples(2)
    errors = made.train(given)
    assert [id(entry) for entry in seen[:2]] == [id(entry) for entry in given]
    assert (seen[2], seen[5]) == ((1, errors[0]), (2, errors[1]))


def test_an_order_is_drawn_even_if_examples_keep_theirs() -> None:
    """As in Lua, so that what draws in training draws the same numbers."""
    after = []
    for shuffle in (True, False):
        trainer(verbose=False, maxIteration=1, shuffleIndices=shuffle).train(examples())
        after.append(pythnn._random.integer(1000))
    assert after[0] == after[1]


def test_learning_rate_decays() -> None:
    steps: list[float] = []
    made = trainer(verbose=False, maxIteration=3, learningRate=1.0, learningRateDecay=0.5)
    made.module.accUpdateGradParameters = lambda _, __, rate: steps.append(rate)
    made.train(examples(1))
    assert steps == [1.0, 1 / (1 + 2 * 0.5), 1 / (1 + 3 * 0.5)]


# ---- Modules that are passed over


class Told(nn.Tanh):
    """A layer without parameters that has something to do nevertheless."""

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self.told.append("accGradParameters")

    def zeroGradParameters(self) -> None:
        self.told.append("zeroGradParameters")

    def updateParameters(self, learningRate: Any) -> None:
        self.told.append("updateParameters")


def told_on_the_object() -> Any:
    layer = nn.Tanh()
    layer.accGradParameters = lambda *_: layer.told.append("accGradParameters")
    layer.zeroGradParameters = lambda: layer.told.append("zeroGradParameters")
    layer.updateParameters = lambda _: layer.told.append("updateParameters")
    return layer


def in_a_graph(layer: Any) -> Any:
    node = layer()
    return nn.gModule([node], [node])


@pytest.mark.parametrize("make", [Told, told_on_the_object])
@pytest.mark.parametrize("around", [nn.Sequential, in_a_graph, nn.ConcatTable])
def test_layers_without_parameters_hear_of_each_step(make: Any, around: Any) -> None:
    layer, x = make(), data(2, 3)
    layer.told = []
    net = around(layer)
    net.zeroGradParameters()
    net.backward(x, net.forward(x))
    net.updateParameters(0.1)
    assert layer.told == ["zeroGradParameters", "accGradParameters", "updateParameters"]


def test_parameters_of_a_kind_that_the_object_has_are_trained() -> None:
    layer, own = nn.Tanh(), [np.ones(2), np.full(2, 3.0)]
    layer.value, layer.gradValue = own
    layer.parameters = lambda: ([layer.value], [layer.gradValue])
    net = nn.Sequential(layer)
    net.updateParameters(0.5)
    np.testing.assert_array_equal(layer.value, [-0.5, -0.5])
    net.zeroGradParameters()
    np.testing.assert_array_equal(layer.gradValue, [0, 0])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_gradients_of_branches_add_up_in_memory_of_their_own(count: int) -> None:
    net, x, g = nn.ConcatTable(*(nn.Identity() for _ in range(count))), data(2, 3), data(2, 3)
    net.forward(x)
    given = [(i + 1) * g for i in range(count)]
    kept = [one.copy() for one in given]
    wanted = sum(given[1:], given[0])
    np.testing.assert_array_equal(net.backward(x, given), wanted)
    net.gradInput[...] = 0
    for one, before in zip(given, kept, strict=True):
        np.testing.assert_array_equal(one, before)


# ---- Weight normalisation


def test_normalised_weight_after_backward_in_evaluate_mode() -> None:
    module, x = nn.WeightNorm(nn.Linear(3, 2)), data(4, 3)
    module.evaluate()
    wanted = module.forward(x)
    module.backward(x, np.ones((4, 2)))
    np.testing.assert_array_equal(module.forward(x), wanted)


def test_a_step_changes_length_and_direction() -> None:
    module, x = nn.WeightNorm(nn.Linear(3, 2)), data(4, 3)
    other, gradient = module.clone(), np.ones((4, 2))
    module.zeroGradParameters()
    module.backward(x, gradient * module.forward(x))
    module.updateParameters(0.1)
    other.accUpdateGradParameters(x, gradient * other.forward(x), 0.1)
    for one, another in zip(module.parameters()[0], other.parameters()[0], strict=True):
        assert_layers_agree(another, one)


def test_the_module_of_a_map_table_comes_later_too() -> None:
    layer = nn.Linear(2, 3)
    assert nn.MapTable().add(layer).module is layer

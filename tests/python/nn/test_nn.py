"""What all modules have in common: fields as arrays, memory, copies."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import Tensor, nn
from pythnn.nn.object.flat import runs


def network() -> nn.Sequential:
    pythnn.manual_seed(3)
    return nn.Sequential().add(nn.Linear(3, 4)).add(nn.ReLU()).add(nn.Linear(4, 2))


def data(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(shape)


class Doubled(nn.Module):
    """A user's own layer, on arrays."""

    def updateOutput(self, input: Any) -> Any:
        self.output = input * 2
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput * 2
        return self.gradInput


def test_import_does_not_load_nn() -> None:
    code = "import sys, pythnn; assert 'pythnn.nn' not in sys.modules; pythnn.nn.Linear"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_results_that_are_held_never_change() -> None:
    module, x = network(), data(5, 3)
    first = module.forward(x)
    gradient = module.backward(x, np.ones_like(first))
    part = first[1]
    kept = first.copy(), gradient.copy()
    del first
    for size in (5, 9, 2):
        again = module.forward(data(size, 3) + 1)
        module.backward(data(size, 3) + 1, np.ones_like(again))
    np.testing.assert_array_equal(part, kept[0][1])
    np.testing.assert_array_equal(gradient, kept[1])


def test_memory_that_nobody_holds_is_used_again() -> None:
    module, x = nn.Linear(3, 2), data(5, 3)
    places = {module.forward(x).__array_interface__["data"][0] for _ in range(3)}
    assert len(places) == 1


@pytest.mark.parametrize(
    "arrange",
    [
        lambda x: x[::-1].copy()[::-1],
        lambda x: np.asfortranarray(x),
        lambda x: np.repeat(x, 2, 1)[:, ::2],
        lambda x: np.broadcast_to(x, x.shape),
    ],
)
def test_inputs_may_have_any_layout(arrange: Any) -> None:
    module, x = network(), data(5, 3)
    np.testing.assert_array_equal(module.forward(arrange(x)), module.forward(x))


def test_tensors_give_tensors() -> None:
    module, x = network(), data(5, 3)
    output = module.forward(Tensor(x))
    assert isinstance(output, Tensor)
    np.testing.assert_array_equal(output.numpy(), module.forward(x))
    assert isinstance(module.output, np.ndarray)


def test_assignment_keeps_the_place_in_the_flat_storage() -> None:
    module = network()
    flat, flat_gradient = module.getParameters()
    first = module.modules[0]
    first.weight = np.full((4, 3), 7.0)
    first.gradWeight[:] = 3
    assert (flat[:12] == 7).all()
    assert (flat_gradient[:12] == 3).all()
    with pytest.raises(pythnn.THNNArgumentError, match=r"weight.*\(4, 3\).*\(2, 2\)"):
        first.weight = np.ones((2, 2))
    with pytest.raises(pythnn.THNNArgumentError, match=r"weight.*\(4, 3\).*\(\)"):
        first.weight = 0.5


def test_runs_have_each_element_of_the_memory_once() -> None:
    memory = Tensor(np.arange(24.0))

    def elements(*views: tuple[tuple[int, ...], tuple[int, ...], int]) -> list[list[float]]:
        return [run.tolist() for run in runs([memory.as_strided(*view) for view in views])]

    assert elements(((2, 3), (3, 1), 6), ((4,), (1,), 0)) == [[0, 1, 2, 3], [6, 7, 8, 9, 10, 11]]
    assert elements(((6,), (1,), 6), ((6,), (1,), 0)) == [list(range(12))]
    assert elements(((6,), (1,), 2), ((6,), (1,), 4), ((2,), (1,), 4)) == [list(range(2, 10))]
    assert elements(((2, 2), (4, 1), 1), ((3,), (0,), 10)) == [[1, 2], [5, 6], [10]]
    assert elements() == []
    module = nn.Sequential(nn.Linear(3, 2), nn.SpatialConvolution(1, 2, 3, 3))
    parameters, _ = module.getParameters()
    (run,) = runs(module.parameterTensors()[0])
    assert np.shares_memory(run, parameters)
    assert (run == parameters).all()
    run[...] = 3
    assert (parameters == 3).all()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_keep_sharing(copied: Any) -> None:
    module = nn.Sequential().add(nn.Linear(3, 3)).add(nn.Linear(3, 3))
    module.modules[1].share(module.modules[0], "weight")
    flat, _ = module.getParameters()
    assert flat.shape == (9 + 3 + 3,)
    before = flat.copy()
    other = copied(module)
    weights, _ = other.parameters()
    weights[0][:] = 5
    assert (weights[2] == 5).all()
    np.testing.assert_array_equal(flat, before)
    assert other.getParameters()[0].shape == flat.shape


def test_a_users_class_works_on_arrays() -> None:
    module, x = nn.Sequential().add(nn.Linear(3, 3)).add(Doubled()), data(2, 3)
    np.testing.assert_array_equal(module.forward(x), 2 * module.modules[0].output)
    gradient = module.backward(x, np.ones((2, 3)))
    np.testing.assert_allclose(gradient, 2 * np.ones((2, 3)) @ module.modules[0].weight)


def test_absent_fields_are_errors() -> None:
    module = nn.Linear(3, 2, False)
    assert module.bias is None
    with pytest.raises(AttributeError, match=r"nn\.Linear has no field 'wieght'"):
        module.wieght  # noqa: B018


def test_none_stands_for_the_default() -> None:
    assert nn.Threshold(None, 3).threshold == 1e-6
    assert nn.MSECriterion(None).sizeAverage is True


def test_errors_say_which_module() -> None:
    with pytest.raises(pythnn.THNNArgumentError, match=r"in module 1 of nn\.Sequential"):
        network().forward(data(2, 5))


def test_fields_there_and_back() -> None:
    module = network()
    fields = module._to_fields()
    assert isinstance(fields["output"], Tensor)
    other = nn.Sequential._from_fields({**fields, "ratio": 2.0, "part": 0.5})
    assert other.modules is module.modules
    assert (type(other.ratio), other.part) == (int, 0.5)


def test_read_and_write(tmp_path: Path) -> None:
    module, x = network(), data(2, 3)
    module.write(tmp_path / "net.t7")
    other = nn.Sequential()
    assert other.read(tmp_path / "net.t7") is other
    np.testing.assert_array_equal(other.forward(x), module.forward(x))
    with pytest.raises(pythnn.THNNArgumentError, match=r"a nn\.Linear"):
        nn.Linear(1, 1).read(tmp_path / "net.t7")


UNFIT = [[1.0, 2.0, 3.0], 3.0, np.ones(3, np.float16), np.ones((1, 1, 3))]


@pytest.mark.parametrize("given", UNFIT)
def test_what_a_layer_cannot_take(given: Any) -> None:
    with pytest.raises(pythnn.THNNArgumentError, match=r"nn\.Linear: argument #1 'input'"):
        nn.Linear(3, 2).forward(given)


def test_fields_of_files_that_were_empty_lists() -> None:
    module = nn.CAddTable._from_fields({"output": Tensor(np.ones(2)), "gradInput": []})
    x = [np.ones(2), np.ones(2)]
    module.backward(x, module.forward(x))
    assert len(module.gradInput) == 2
    assert module.clearState().gradInput == []


def test_training_uses_its_memory_again() -> None:
    block = nn.ConcatTable().add(nn.SpatialConvolution(4, 4, 3, 3, 1, 1, 1, 1)).add(nn.Identity())
    module = nn.Sequential().add(nn.SpatialConvolution(3, 4, 3, 3)).add(nn.ReLU(True)).add(block)
    module.add(nn.CAddTable()).add(nn.Tanh())
    x = data(2, 3, 6, 6)

    def places() -> list[Any]:
        module.backward(x, np.ones_like(module.forward(x)))
        inside = module.listModules()
        arrays = [getattr(m, name) for m in inside for name in ("output", "gradInput")]
        return [a.__array_interface__["data"][0] for a in arrays if isinstance(a, np.ndarray)]

    assert places() == places()


def test_a_step_with_a_shared_weight_leaves_the_gradients_of_linear_alone() -> None:
    module, x = nn.Linear(3, 2).share(nn.Linear(3, 2), "weight"), data(4, 3)
    module.zeroGradParameters()
    before, gradient = module.weight.copy(), np.ones((4, 2))
    module.forward(x)
    module.accUpdateGradParameters(x, gradient, 0.5)
    assert not module.gradWeight.any()
    np.testing.assert_allclose(module.weight, before - 0.5 * gradient.T @ x)


@pytest.mark.parametrize(
    ("module", "given"),
    [
        (nn.Tanh(), [np.ones(2)]),
        (nn.AddConstant(1), None),
        (nn.CAddTable(), 3.0),
        (nn.View(2), "text"),
        (nn.Sequential().add(nn.Square()).add(nn.Max(1)), np.empty(0)),
        (nn.SpatialConvolution(1, 1, 1, 1), [data(2, 3), data(2, 3)]),
        (nn.Bottle(nn.Linear(3, 2)), np.zeros((1, 2, 3), np.uint8)),
        (nn.Parallel(1, 1).add(nn.Linear(3, 2)), np.zeros((2, 3), np.uint8)),
        (nn.CReLU(3), None),
        (nn.SplitTable(1), "text"),
        (nn.ParallelTable().add(nn.Identity()), None),
    ],
    ids=lambda value: getattr(value, "typename", lambda: "")(),
)
def test_other_kinds_of_inputs(module: Any, given: Any) -> None:
    with pytest.raises(pythnn.THNNArgumentError, match=r"nn\.\w+.* 'input'"):
        module.forward(given)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: nn.Linear(0, 2), r"nn\.Linear: .*'inputSize': expected an int of at least 1.* 0"),
        (lambda: nn.Maxout(3, 0, 2), r"nn\.Maxout: .*'outputSize': expected an int of at least 1"),
        (lambda: nn.Narrow(1, 5, 2).forward(data(2, 2)), r"nn\.Narrow: index 4 .* size 2"),
        (lambda: nn.Transpose((1, 5)).forward(data(2, 2)), r"nn\.Transpose: .*dimension"),
        (
            lambda: nn.Sequential().add(nn.Concat(1).add(nn.Tanh())).backward(data(2), data(2)),
            r"in module 1 of nn\.Sequential: nn\.Concat: size 0",
        ),
    ],
)
def test_errors_of_tensors_name_the_layer(work: Any, message: str) -> None:
    with pytest.raises(pythnn.THNNArgumentError, match=f"^{message}"):
        work()


class Broken(nn.Module):
    """A user's layer with a mistake."""

    def updateOutput(self, input: Any) -> Any:
        return input.no_such_method()


def test_mistakes_in_users_classes_stay_what_they_are() -> None:
    with pytest.raises(AttributeError, match="no_such_method"):
        nn.Sequential().add(Broken()).forward(np.ones(2))
    with pytest.raises(AttributeError, match="no_such_method"):
        nn.Concat(1).add(nn.Sequential().add(Broken())).forward(np.ones(2))


class Unstackable(nn.Module):
    """A user's layer whose mistake shows within numpy."""

    def updateOutput(self, input: Any) -> Any:
        return np.stack([input, input[:1]])


class Picky(nn.Linear):
    """A user's layer that refuses sizes in an error of its own."""

    def __init__(self, size: int) -> None:
        super().__init__(size, size)
        if size > 2:
            raise ValueError("too many for me")


def test_errors_are_blamed_on_the_class_that_they_come_out_of() -> None:
    with pytest.raises(ValueError, match="^all input arrays must have the same shape") as caught:
        nn.Sequential().add(nn.Identity()).add(Unstackable()).forward(np.ones(2))
    assert not isinstance(caught.value, pythnn.THNNError)
    with pytest.raises(ValueError, match="^too many for me"):
        Picky(3)
    inside = nn.Sequential().add(Picky(2)).add(nn.Index(1))
    with pytest.raises(pythnn.THNNArgumentError, match=r"nn\.Index: argument #1"):
        inside.forward(np.ones(2))


@pytest.mark.parametrize("rate", [0.5, 2, np.float64(0.25), np.array(0.125)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_step_down_the_gradient(rate, dtype):
    layer = nn.Linear(4, 3).type(dtype)
    layer.gradWeight = np.arange(12.0).reshape(3, 4)
    before = layer.weight.copy()
    layer.updateParameters(rate)
    bound = 2 * np.finfo(dtype).eps * (np.abs(before) + rate * layer.gradWeight)
    assert (np.abs(layer.weight - (before - rate * layer.gradWeight)) <= bound).all()

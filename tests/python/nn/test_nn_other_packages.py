"""Classes of other packages, against their definitions, and as files have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_layers_agree

import pythnn
from pythnn import THNNArgumentError, nn
from pythnn.t7 import TorchObject

RNG = np.random.default_rng(1)


def read(name: str, fields: dict[str, Any], tmp_path: Path) -> Any:
    """An object of a file that another program wrote."""
    pythnn.save(tmp_path / "object.t7", TorchObject(name, fields))
    return pythnn.load(tmp_path / "object.t7")


def slope(function: Any, array: Any) -> Any:
    """The gradient of a sum by differences."""
    found, step = np.zeros_like(array), 1e-6
    for index in np.ndindex(array.shape):
        kept = array[index]
        array[index] = kept + step
        above = function()
        array[index] = kept - step
        found[index] = (above - function()) / (2 * step)
        array[index] = kept
    return found


@pytest.mark.parametrize("affine", [True, False])
def test_instance_normalization(affine: bool) -> None:
    layer = nn.InstanceNormalization(3, 1e-3, 0, affine)
    layer.evaluate()  # no matter
    x = RNG.standard_normal((2, 3, 4, 5))
    weights = RNG.standard_normal(x.shape)
    mean, var = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
    wanted = (x - mean) / np.sqrt(var + 1e-3)
    if affine:
        layer.bias = RNG.standard_normal(3)
        wanted = wanted * layer.weight.reshape(3, 1, 1) + layer.bias.reshape(3, 1, 1)
    assert_layers_agree(layer.forward(x), wanted)

    def total() -> float:
        return float((layer.forward(x) * weights).sum())

    by_differences = slope(total, x)
    layer.forward(x)
    layer.zeroGradParameters()
    found = layer.backward(x, weights, 0.5)
    np.testing.assert_allclose(found, by_differences, atol=1e-7)
    for name in ("weight", "bias") if affine else ():
        parameter = getattr(layer, name)
        gradient = getattr(layer, f"grad{name.title()}")
        np.testing.assert_allclose(2 * gradient, slope(total, parameter), atol=1e-7)
    kept = layer.forward(x)
    np.testing.assert_array_equal(layer.clone().forward(x[:1].copy()), kept[:1])
    with pytest.raises(THNNArgumentError, match=r"nn\.InstanceNormalization.* batch x 3 x height"):
        layer.forward(x[0])


def test_instance_normalization_of_a_file(tmp_path: Path) -> None:
    fields = {
        "_type": "torch.FloatTensor",
        "affine": True,
        "bias": np.zeros(2, np.float32),
        "bn": nn.SpatialBatchNormalization(8).float(),
        "eps": 1e-5,
        "nOutput": 2,
        "prev_batch_size": 4,
        "running_mean": np.zeros(2, np.float32),
        "running_var": np.ones(2, np.float32),
        "weight": np.full(2, 3, np.float32),
    }
    layer = read("nn.InstanceNormalization", fields, tmp_path)
    x = RNG.standard_normal((1, 2, 8, 8)).astype(np.float32)
    found = layer.forward(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.std((2, 3)), 3, rtol=1e-3)
    np.testing.assert_allclose(found.mean((2, 3)), 0, atol=1e-5)
    layer.accGradParameters(x, x)  # there are no gradients to add to
    assert layer.updateGradInput(x, x).shape == x.shape


def test_inception_of_a_file(tmp_path: Path) -> None:
    branches = nn.Sequential().add(nn.Concat(2).add(nn.Linear(3, 2)).add(nn.Linear(3, 4)))
    for fields in ({"module": branches, "modules": [branches]}, {"module": branches}):
        layer = read("nn.Inception", fields, tmp_path)
        x = RNG.standard_normal((2, 3))
        np.testing.assert_array_equal(layer.forward(x), branches.forward(x))
        assert layer.backward(x, np.ones((2, 6))).shape == (2, 3)
        assert len(layer.parameters()[0]) == 4


def test_one_hot(tmp_path: Path) -> None:
    layer = read("OneHot", {"outputSize": 4, "_type": "torch.FloatTensor"}, tmp_path)
    found = layer.forward(np.array([2, 4, 1]))
    np.testing.assert_array_equal(found, np.eye(4, dtype=np.float32)[[1, 3, 0]])
    assert found.dtype == np.float32
    for bad in (0, 5):
        with pytest.raises(THNNArgumentError, match="OneHot"):
            layer.forward(np.array([bad]))
    x = nn.Identity()()
    graph = nn.gModule([x], [nn.Linear(4, 2)(layer.double()(x))])
    graph.forward(np.array([2, 4, 1]))
    graph.backward(np.array([2, 4, 1]), np.ones((3, 2)))
    np.testing.assert_array_equal(graph.modules[2].gradBias, [3, 3])


def test_shave_image(tmp_path: Path) -> None:
    for layer in (nn.ShaveImage(2), read("nn.ShaveImage", {"size": 2}, tmp_path)):
        x = RNG.standard_normal((1, 2, 7, 9))
        np.testing.assert_array_equal(layer.forward(x), x[:, :, 2:-2, 2:-2])
        found = layer.backward(x, np.ones((1, 2, 3, 5)))
        np.testing.assert_array_equal(
            found, np.pad(np.ones((1, 2, 3, 5)), [(0, 0)] * 2 + [(2, 2)] * 2)
        )


def test_total_variation(tmp_path: Path) -> None:
    x = RNG.standard_normal((2, 1, 4, 5))
    gradient = RNG.standard_normal(x.shape)
    before = gradient.copy()

    def variation() -> float:
        corner = x[..., :-1, :-1]
        across, down = corner - x[..., :-1, 1:], corner - x[..., 1:, :-1]
        return 0.3 / 2 * float((across**2 + down**2).sum())

    layer = read("nn.TotalVariation", {"strength": 0.3}, tmp_path)
    np.testing.assert_array_equal(layer.forward(x), x)
    found = layer.backward(x, gradient)
    np.testing.assert_allclose(found - gradient, slope(variation, x), atol=1e-8)
    np.testing.assert_array_equal(gradient, before)


def test_data_parallel_table_acts_as_its_first_module(tmp_path: Path) -> None:
    inner = nn.Sequential().add(nn.Linear(3, 2)).add(nn.Tanh())
    fields = {"modules": [inner, inner.clone()], "dimension": 1, "gpuAssignments": [1, 2]}
    made = nn.DataParallelTable(1).add(inner, [1, 2])
    for layer in (made, read("nn.DataParallelTable", fields, tmp_path)):
        net, alone = (
            nn.Sequential().add(m).add(nn.LogSoftMax()) for m in (layer, layer.get(1).clone())
        )
        x = RNG.standard_normal((4, 3))
        for model in (net, alone):
            model.training()
            model.zeroGradParameters()
            np.testing.assert_array_equal(model.forward(x), alone.forward(x))
            model.backward(x, np.cos(model.output))
            model.updateParameters(0.1)
        np.testing.assert_array_equal(net.gradInput, alone.gradInput)
        for ours, theirs in zip(net.parameters()[0], alone.parameters()[0], strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert len(net.float().parameters()[0]) == 2
        assert net.get(1).get(1).dtype == np.float32
        again = tmp_path / "again.t7"
        pythnn.save(again, layer)
        assert pythnn.load(again).gpuAssignments == [1, 2]


def test_just_element_and_just_table(tmp_path: Path) -> None:
    x = RNG.standard_normal((2, 3))
    element, table = nn.JustElement(), read("nngraph.JustTable", {}, tmp_path)
    assert element.typename() == "nngraph.JustElement"
    np.testing.assert_array_equal(element.forward([x]), x)
    np.testing.assert_array_equal(element.backward([x], 2 * x)[0], 2 * x)
    np.testing.assert_array_equal(table.forward(x)[0], x)
    np.testing.assert_array_equal(table.backward(x, [3 * x]), 3 * x)
    with pytest.raises(THNNArgumentError, match="JustElement.*a table of 1, found a table of 2"):
        element.forward([x, x])


@pytest.mark.parametrize(
    ("criterion", "target"),
    [
        (nn.MSECriterion(), RNG.standard_normal((2, 3))),
        (nn.ClassNLLCriterion(), np.array([1.0, 3.0])),
    ],
)
def test_module_from_criterion(criterion: Any, target: Any) -> None:
    x = RNG.standard_normal((2, 3))
    layer = nn.ModuleFromCriterion(criterion)
    found = layer.forward([x, target])
    np.testing.assert_array_equal(found, [criterion.forward(x, target)])
    slopes = layer.backward([x, target], np.array([3.0]))
    np.testing.assert_allclose(slopes[0], 3 * criterion.backward(x, target))
    np.testing.assert_array_equal(slopes[1], np.zeros_like(target))
    layer.float()
    assert layer.forward([x.astype("f4"), target.astype("f4")]).dtype == np.float32
    with pytest.raises(THNNArgumentError, match="input and target, found a table of 1"):
        layer.forward([x])

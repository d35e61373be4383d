"""Networks in onnxruntime as here: random ones, layers that work in place, free sizes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.onnx_checks import (
    NO_OTHER_SIZE,
    ROUNDED,
    check,
    check_network,
    check_network_of,
    sizes_of,
)
from support.onnx_networks import one_of
from support.onnx_rows import KINDS

import pythnn
from pythnn import nn, onnx


def values(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


# ---- Random networks


@pytest.mark.parametrize("part", range(4))
def test_random_networks(part: int) -> None:
    notes = [note for seed in range(part, 160, 4) for note in check_network(seed)]
    assert notes.count(ROUNDED) <= 1
    assert notes.count(NO_OTHER_SIZE) <= 1


def test_a_network_that_multiplies_roundings() -> None:
    """The square root of what interpolation leaves beside a zero: half of the digits are lost."""
    assert set(check_network(16792)) == {ROUNDED}


@pytest.mark.parametrize("kind", KINDS)
def test_random_networks_of_rows_and_volumes(kind: str) -> None:
    for seed in range(40):
        check_network_of(kind, seed)


# ---- Windows, planes, unpooling, and cases of one size

POOLINGS: list[Callable[[], Any]] = [
    lambda: nn.SpatialAveragePooling(1, 1, 2, 2).ceil(),
    lambda: nn.SpatialAveragePooling(1, 1, 3, 3).ceil().setCountExcludePad(),
    lambda: nn.SpatialAveragePooling(2, 1, 4, 3, 1, 0).ceil(),
    lambda: nn.SpatialMaxPooling(1, 1, 2, 2).ceil(),
    lambda: nn.SpatialMaxPooling(2, 3, 4, 5, 1, 1).ceil(),
    lambda: nn.SpatialDilatedMaxPooling(2, 2, 3, 3, 1, 1, 2, 2).ceil(),
    lambda: nn.SpatialCrossMapLRN(4),
    lambda: nn.SpatialCrossMapLRN(2, 0.7, 0.5, 2),
    lambda: nn.SpatialCrossMapLRN(10, 0.7),
    lambda: nn.SpatialConvolutionMap(np.array([[1, 1], [2, 2]]), 3, 3),
    lambda: nn.SpatialConvolutionMap(np.array([[3, 1]]), 2, 1, 2, 3),
]


@pytest.mark.parametrize("make", POOLINGS)
@pytest.mark.parametrize("sizes", [(4, 4), (5, 5), (6, 6), (7, 5), (6, 9)])
def test_windows_and_planes(make: Callable[[], Any], sizes: tuple[int, int]) -> None:
    layer = make().float()
    layer.evaluate()
    for shape in ((2, 8, *sizes), (8, *sizes)):
        x = values(*shape)
        check(layer, onnx.to_onnx(layer, x, dynamic_batch=x.ndim == 4, dynamic_size=False), x)
        check(layer, onnx.to_onnx(layer, x, dynamic_batch=x.ndim == 4), x)


def test_connections_of_a_transposed_convolution_that_leave_planes_out() -> None:
    layer = nn.SpatialFullConvolutionMap(np.array([[2, 1], [1, 3], [2, 2]]), 3, 2, 2, 2).float()
    x = values(4, 3, 5)
    check(layer, onnx.to_onnx(layer, x, dynamic_batch=False), x)


@pytest.mark.parametrize("rounding", ["floor", "ceil"])
@pytest.mark.parametrize("sizes", [(6, 6), (7, 9), (8, 7), (1, 5)])
def test_unpooling(sizes: tuple[int, int], rounding: str) -> None:
    pooling = getattr(nn.SpatialMaxPooling(one_of(np.random.default_rng(0), 2), 1), rounding)()
    net = nn.Sequential().add(pooling).add(nn.Tanh()).add(nn.SpatialMaxUnpooling(pooling)).float()
    x = values(2, 3, *sizes)
    model = onnx.to_onnx(net, x)
    check(net, model, x)
    check(net, model, values(3, 3, sizes[0] + 3, sizes[1] + 4))


def test_cosines_of_zeros() -> None:
    x = values(3, 4)
    x[1] = 0
    for layer, given in ((nn.Cosine(4, 2), x), (nn.CosineDistance(), [x, values(3, 4, seed=1)])):
        check(layer.float(), onnx.to_onnx(layer, given), given)


@pytest.mark.parametrize("features", [2, 3, 4])
def test_layer_normalisation_of_as_many_features_as_samples(features: int) -> None:
    layer = nn.LayerNormalization(features).float()
    model = onnx.to_onnx(layer, values(1, features))
    for batch in (1, 2, 3, 4):
        check(layer, model, values(batch, features))


def test_batch_normalisation_of_a_sample() -> None:
    layer = nn.BatchNormalization(3).float()
    layer.running_mean = values(3)
    x = values(3, seed=1)
    check(layer, onnx.to_onnx(layer, x, dynamic_batch=False), x)


# ---- Layers that work in place


def relu_first(container: Any) -> Any:
    return container.add(nn.ReLU(True)).add(nn.Identity()).add(nn.MulConstant(2, True))


def graph_of_changes() -> Any:
    """The input is used before and after a layer has changed it, and so is its sum."""
    x = nn.Identity()()
    before = nn.Tanh()(x)
    changed = nn.HardTanh(-0.5, 0.5, True)(x)
    total = nn.CAddTable(True)([x, before, changed, x])
    return nn.gModule([x], [nn.Abs()(total), nn.MulConstant(3, True)(x), changed])


IN_PLACE: dict[str, Callable[[], Any]] = {
    "Concat": lambda: relu_first(nn.Concat(2)),
    "DepthConcat": lambda: relu_first(nn.DepthConcat(2)),
    "ConcatTable": lambda: relu_first(nn.ConcatTable()),
    "table of one input": lambda: (
        nn.Sequential()
        .add(nn.ConcatTable().add(nn.Identity()).add(nn.Identity()))
        .add(nn.ParallelTable().add(nn.ELU(1, True)).add(nn.AddConstant(1, True)))
    ),
    "joined": lambda: nn.Sequential().add(relu_first(nn.ConcatTable())).add(nn.JoinTable(2)),
    "input again": lambda: (
        nn.Sequential()
        .add(nn.ConcatTable().add(nn.Identity()).add(nn.Sequential().add(nn.ReLU(True))))
        .add(nn.CAddTable(True))
        .add(nn.Threshold(0.3, -1, True))
    ),
    "views of the input": lambda: nn.ConcatTable().add(nn.View(-1, 48)).add(nn.Tanh()),
    "slices": lambda: (
        nn.Sequential()
        .add(nn.SplitTable(2))
        .add(nn.ParallelTable().add(nn.ReLU(True)).add(nn.Identity()).add(nn.Abs()))
    ),
    "elements in several places": lambda: (
        nn.Sequential(nn.Replicate(2, 4, 3))
        .add(nn.ConcatTable(nn.Identity(), nn.Tanh()))
        .add(nn.CAddTable(True))
        .add(nn.Sum(5))
        .add(nn.Replicate(2, 2))
        .add(nn.MulConstant(2, True))
    ),
    "graph": graph_of_changes,
    "one module twice": lambda: _twice(nn.SpatialConvolution(3, 3, 1, 1)),
    "one module twice in place": lambda: _twice(nn.ReLU6(True)),
}


def _twice(module: Any) -> Any:
    tables = nn.ParallelTable().add(module).add(module)
    split = nn.ConcatTable().add(nn.Identity()).add(nn.MulConstant(-1))
    return nn.Sequential().add(split).add(tables)


@pytest.mark.parametrize("name", IN_PLACE)
def test_what_others_read_of_memory_that_a_layer_changes(name: str) -> None:
    net = IN_PLACE[name]().float()
    net.evaluate()
    x = values(2, 3, 4, 4)
    for model in (onnx.to_onnx(net, np.zeros_like(x)), onnx.to_onnx(net, x, dynamic_batch=False)):
        check(net, model, x)


def test_a_view_of_what_a_layer_changes_is_refused() -> None:
    net = nn.ConcatTable().add(nn.View(-1, 48)).add(nn.ReLU(True))
    parts = nn.ConcatTable().add(nn.Identity()).add(
        nn.Sequential().add(nn.SplitTable(2)).add(nn.SelectTable(1)).add(nn.ReLU(True))
    )  # fmt: skip
    for one in (net, parts):
        with pytest.raises(onnx.NotExportableError, match="in place changed a part of what"):
            onnx.to_onnx(one.float(), values(2, 3, 4, 4))


# ---- Free sizes


@pytest.mark.parametrize("cls", [nn.SpatialConvolutionMap, nn.SpatialFullConvolutionMap])
def test_planes_beyond_those_that_are_joined_are_free(cls: Any) -> None:
    """Height as planes: of the size of the example, and of more than the layer joins."""
    layer = cls(np.array([[1, 1], [3, 2]]), 2, 2)
    net = nn.Sequential(nn.Transpose((2, 3)), nn.Squeeze(1), layer).float()
    model = onnx.to_onnx(net, values(1, 4, 3, 5), dynamic_batch=False)
    for height in (3, 4, 7):
        check(net, model, values(1, 4, height, 5))


def fully_convolutional() -> Any:
    net = nn.Sequential().add(nn.SpatialReflectionPadding(2, 2, 2, 2))
    net.add(nn.SpatialConvolution(3, 8, 5, 5, 2, 2)).add(nn.SpatialBatchNormalization(8))
    net.add(nn.ReLU(True)).add(nn.SpatialMaxPooling(3, 3, 2, 2).ceil())
    skip = nn.ConcatTable().add(nn.Identity()).add(nn.SpatialConvolution(8, 8, 3, 3, 1, 1, 1, 1))
    net.add(skip).add(nn.CAddTable(True))
    net.add(nn.SpatialAveragePooling(3, 3, 2, 2, 1, 1).ceil().setCountExcludePad())
    net.add(nn.SpatialFullConvolution(8, 4, 4, 4, 2, 2, 1, 1)).add(nn.InstanceNormalization(4))
    net.add(nn.SpatialUpSamplingBilinear(2)).add(nn.SpatialUpSamplingNearest(2))
    return net.add(nn.SpatialSoftMax())


def test_networks_of_convolutions_take_any_size() -> None:
    net = fully_convolutional().float()
    net.evaluate()
    model = onnx.to_onnx(net, values(1, 3, 20, 24))
    assert sizes_of(model) == ["batch", 3, "input_height", "input_width"]
    (output,) = model.graph.output
    named = [dim.dim_param or dim.dim_value for dim in output.type.tensor_type.shape.dim]
    assert named == ["batch", 4, "output_height", "output_width"]
    for sizes in ((20, 24), (33, 17), (64, 50), (11, 12)):
        check(net, model, values(2, 3, *sizes))
    fixed = onnx.to_onnx(net, values(1, 3, 20, 24), dynamic_size=False)
    assert sizes_of(fixed) == ["batch", 3, 20, 24]
    without_batch = onnx.to_onnx(net, values(2, 3, 20, 24), dynamic_batch=False)
    assert sizes_of(without_batch) == [2, 3, "input_height", "input_width"]
    check(net, without_batch, values(2, 3, 31, 26))


def test_volumes_take_any_size() -> None:
    net = nn.Sequential().add(nn.VolumetricConvolution(2, 3, 2, 3, 3, 1, 2, 2))
    net.add(nn.VolumetricMaxPooling(2, 2, 2).ceil()).add(
        nn.VolumetricAveragePooling(1, 2, 2, 2, 1, 1)
    )
    net.float().evaluate()
    model = onnx.to_onnx(net, values(1, 2, 5, 9, 10))
    assert sizes_of(model)[2:] == ["input_time", "input_height", "input_width"]
    for sizes in ((5, 9, 10), (8, 12, 15)):
        check(net, model, values(2, 2, *sizes))


@pytest.mark.parametrize("layer", [nn.SpatialAdaptiveAveragePooling, nn.SpatialAdaptiveMaxPooling])
def test_classes_of_images_of_any_size(layer: Any) -> None:
    """One number for each plane is no matter of sizes, and View then has none in it."""
    net = nn.Sequential().add(nn.SpatialConvolution(3, 8, 3, 3)).add(layer(1, 1))
    net.add(nn.View(8)).add(nn.Linear(8, 5)).float()
    assert sizes_of(onnx.to_onnx(net, values(1, 3, 9, 9))) == ["batch", 3, 9, 9]
    model = onnx.to_onnx(net, values(1, 3, 9, 9), dynamic_size=True)
    for sizes in ((9, 9), (6, 13)):
        check(net, model, values(2, 3, *sizes))


BAKED_IN: dict[str, tuple[Callable[[], Any], str]] = {
    "Linear": (
        lambda: nn.Sequential().add(nn.View(3 * 16)).add(nn.Linear(48, 2)),
        r"nn.View \(1:View\) .*leave height and width as",
    ),
    "View": (lambda: nn.View(-1, 16), r"nn.View \(the model itself\) .*the sizes that it was made"),
    "Reshape": (
        lambda: nn.Sequential().add(nn.Abs()).add(nn.Reshape(3, 16)),
        r"nn.Reshape \(2:Reshape\)|images of another size are refused",
    ),
    "adaptive pooling": (
        lambda: nn.Sequential().add(nn.SpatialAdaptiveMaxPooling(2, 2)),
        r"nn.SpatialAdaptiveMaxPooling \(1:",
    ),
    "split height": (lambda: nn.SplitTable(3), "SplitTable.* has a free size"),
    "local convolution": (lambda: nn.SpatialConvolutionLocal(3, 2, 4, 4, 3, 3), "Local.* in it"),
    "normalised borders": (
        lambda: nn.SpatialSubtractiveNormalization(3, np.ones((3, 3))),
        "SpatialSubtractiveNormalization",
    ),
}


@pytest.mark.parametrize("name", BAKED_IN)
def test_sizes_that_are_baked_in(name: str) -> None:
    make, message = BAKED_IN[name]
    net, x = make().float(), values(2, 3, 4, 4)
    with pytest.raises(onnx.NotExportableError, match=message):
        onnx.to_onnx(net, x, dynamic_size=True)
    model = onnx.to_onnx(net, x)
    assert sizes_of(model)[2:] == [4, 4]
    check(net, model, x)


def test_inputs_without_height_and_width() -> None:
    with pytest.raises(onnx.NotExportableError, match="no height and width that could be free"):
        onnx.to_onnx(nn.Linear(3, 2).float(), values(2, 3), dynamic_size=True)
    table = nn.ParallelTable().add(nn.SpatialConvolution(1, 2, 3, 3)).add(nn.Linear(3, 2)).float()
    model = onnx.to_onnx(table, [values(1, 1, 6, 7), values(1, 3)], dynamic_size=True)
    check(table, model, [values(4, 1, 9, 8), values(4, 3)])


GRAPHS = Path(__file__).parents[2] / "data" / "nngraph"
RECORDED = json.loads((GRAPHS / "index.json").read_text())


@pytest.mark.parametrize("entry", RECORDED, ids=lambda entry: entry["name"])
def test_graphs_of_lua_torch(entry: Any) -> None:
    model = pythnn.load(GRAPHS / entry["binary"]).float()
    model.evaluate()

    def recorded(names: Any) -> Any:
        if isinstance(names, list):
            return [recorded(name) for name in names]
        array = arrays[names]
        return array.astype(np.float32) if array.dtype == np.float64 else array

    with np.load(GRAPHS / entry["npz"]) as arrays:
        given = recorded(entry["input"])
    if "nn.ModuleFromCriterion" in entry["modules"]:
        with pytest.raises(onnx.NotExportableError, match="nn.ModuleFromCriterion"):
            onnx.to_onnx(model, given)
        return
    written = onnx.to_onnx(model, given)
    check(model, written, given)
    free = [name for name in sizes_of(written) if isinstance(name, str)]
    assert ("input_height" in free) == (entry["name"] in {"hourglass", "unet"})
    if "input_height" in free:
        for more in (16, 64):
            check(model, written, np.pad(given, [(0, 0)] * 2 + [(0, more), (0, 2 * more)]))

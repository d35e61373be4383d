"""Classes of nnx, inn, cudnn, stnbhwd and neural-style: their definitions, and objects of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_layers_agree

import pythnn
from pythnn import THNNArgumentError, nn
from pythnn.t7 import TorchObject

RNG = np.random.default_rng(9)


def real(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def read(name: str, fields: dict[str, Any], tmp_path: Path) -> Any:
    """An object of a file that another program wrote."""
    pythnn.save(tmp_path / "object.t7", TorchObject(name, fields))
    return pythnn.load(tmp_path / "object.t7")


# ---- cudnn


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def split(vector: Any, shapes: list[tuple[int, ...]]) -> list[Any]:
    sizes = [int(np.prod(shape)) for shape in shapes]
    parts = np.split(vector, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def one_layer(mode: str, x: Any, W: Any, R: Any, bW: Any, bR: Any, size: int) -> Any:
    h = c = np.zeros((x.shape[1], size))
    outputs = []
    for given in x:
        a, b = given @ W.T + bW, h @ R.T + bR
        if mode == "LSTM":
            i, f, g, o = np.split(a + b, 4, 1)
            c = logistic(f) * c + logistic(i) * np.tanh(g)
            h = logistic(o) * np.tanh(c)
        elif mode == "GRU":
            (ar, au, an), (br, bu, bn) = np.split(a, 3, 1), np.split(b, 3, 1)
            u = logistic(au + bu)
            h = (1 - u) * np.tanh(an + logistic(ar + br) * bn) + u * h
        else:
            h = np.tanh(a + b) if mode == "RNNTanh" else np.maximum(a + b, 0)
        outputs.append(h)
    return np.array(outputs)


@pytest.mark.parametrize(("mode", "gates"), [("LSTM", 4), ("GRU", 3), ("RNNTanh", 1), ("RNN", 1)])
def test_two_layers_of_cudnn(mode: str, gates: int) -> None:
    net = getattr(nn.cudnn, mode)(3, 2, 2)
    rows = gates * 2
    weights = [(rows, 3), (rows, 2), (rows, 2), (rows, 2)]
    W0, R0, W1, R1, *biases = split(net.weight, [*weights, *[(rows,)] * 4])
    x = real(4, 5, 3)
    between = one_layer(mode, x, W0, R0, *biases[:2], 2)
    wanted = one_layer(mode, between, W1, R1, *biases[2:], 2)
    assert_layers_agree(net.forward(x), wanted)
    assert_layers_agree(net.hiddenOutput, [between[-1], wanted[-1]])


def test_both_directions_of_cudnn(tmp_path: Path) -> None:
    net = nn.cudnn.BLSTM(3, 2, 1)
    shapes = [(8, 3), (8, 2)] * 2
    W, R, V, S, *biases = split(net.weight, [*shapes, *[(8,)] * 4])
    x = real(4, 5, 3)
    forth = one_layer("LSTM", x, W, R, *biases[:2], 2)
    back = one_layer("LSTM", x[::-1], V, S, *biases[2:], 2)[::-1]
    wanted = np.concatenate([forth, back], 2)
    assert_layers_agree(net.forward(x), wanted)
    fields = {**net._to_fields(), "batchFirst": True, "train": False}
    fields["weight"] = np.asarray(net.weight, np.float32)
    fields["_type"] = "torch.CudaTensor"
    for name in ("output", "gradInput", "gradWeight", "hiddenOutput", "cellOutput"):
        fields.pop(name)
    found = read("cudnn.BLSTM", fields, tmp_path)
    assert type(found) is nn.cudnn.BLSTM
    single = x.swapaxes(0, 1).astype(np.float32)
    np.testing.assert_allclose(found.forward(single), wanted.swapaxes(0, 1), atol=1e-6)
    with pytest.raises(THNNArgumentError, match="batch x time x 3"):
        found.forward(single[0])


def test_cudnn_goes_on_from_states() -> None:
    net = nn.cudnn.LSTM(3, 2, 2)
    x = real(6, 2, 3)
    wanted = np.array(net.forward(x))
    net.rememberStates = True
    parts = [np.array(net.forward(x[:4].copy())), np.array(net.forward(x[4:].copy()))]
    assert_layers_agree(np.concatenate(parts), wanted)
    net.resetStates()
    assert_layers_agree(net.forward(x[:4].copy()), wanted[:4])


def test_cudnn_drops_between_layers_only() -> None:
    pythnn.manual_seed(1)
    net = nn.cudnn.GRU(3, 2, 1, False, 0.5)
    x = real(4, 2, 3)
    kept = np.array(net.forward(x))
    np.testing.assert_array_equal(net.forward(x), kept)
    deep = nn.cudnn.GRU(3, 2, 2, False, 0.5)
    kept = np.array(deep.forward(x))
    assert (deep.forward(x) != kept).any()
    deep.evaluate()
    kept = np.array(deep.forward(x))
    np.testing.assert_array_equal(deep.forward(x), kept)


def test_losses_and_softmax_of_cudnn() -> None:
    scores, target = real(2, 3, 4, 5), RNG.integers(1, 4, (2, 4, 5))
    weights = [1, 2, 0.5]
    ours = nn.cudnn.SpatialCrossEntropyCriterion(weights)
    softmax, loss = nn.SpatialLogSoftMax(), nn.SpatialClassNLLCriterion(np.array(weights))
    logarithms = softmax.forward(scores)
    assert ours.forward(scores, target) == pytest.approx(loss.forward(logarithms, target))
    wanted = softmax.backward(scores, loss.backward(logarithms, target))
    assert_layers_agree(ours.backward(scores, target), wanted)
    volume = real(2, 3, 2, 4, 5)
    shares = np.exp(volume) / np.exp(volume).sum(1, keepdims=True)
    np.testing.assert_allclose(nn.cudnn.VolumetricSoftMax().forward(volume), shares)
    found = nn.cudnn.VolumetricLogSoftMax().forward(volume[0])
    np.testing.assert_allclose(found, np.log(shares[0]))


# ---- inn


def test_regions_of_interest() -> None:
    image = np.arange(36.0).reshape(1, 1, 6, 6)
    layer = nn.inn.ROIPooling(2, 2)
    whole = layer.forward([image, np.array([[1.0, 1, 1, 6, 6]])])
    np.testing.assert_array_equal(whole[0, 0], [[14, 17], [32, 35]])
    part = layer.forward([image, np.array([[1.0, 2, 3, 4, 6]])])  # columns 2 to 4, rows 3 to 6
    np.testing.assert_array_equal(part[0, 0], [[20, 21], [32, 33]])
    gradient = layer.backward([image, np.array([[1.0, 2, 3, 4, 6]])], np.ones((1, 1, 2, 2)))[0]
    assert np.flatnonzero(gradient).tolist() == [20, 21, 32, 33]
    layer.setSpatialScale(0.5)
    scaled = layer.forward([image, np.array([[1.0, 1, 1, 11, 11]])])
    np.testing.assert_array_equal(scaled, whole)
    layer.v2 = True
    less = layer.forward([image, np.array([[1.0, 1, 1, 9, 9]])])
    np.testing.assert_array_equal(less[0, 0], [[7, 9], [19, 21]])
    with pytest.raises(THNNArgumentError, match="images from 1 to 1"):
        layer.forward([image, np.array([[2.0, 1, 1, 2, 2]])])


def test_stochastic_pooling() -> None:
    image = RNG.uniform(0, 1, (1, 4, 5))
    layer = nn.inn.SpatialStochasticPooling(2, 2)
    layer.evaluate()
    found = layer.forward(image)
    assert found.shape == (1, 2, 3)
    window = image[0, :2, :2]
    assert found[0, 0, 0] == pytest.approx((window**2).sum() / window.sum())
    assert found[0, 0, 2] == pytest.approx((image[0, :2, 4] ** 2).sum() / image[0, :2, 4].sum())
    layer.training()
    drawn = [float(layer.forward(image)[0, 0, 0]) for _ in range(600)]
    assert set(drawn) <= set(window.ravel())
    share = drawn.count(window[1, 1]) / len(drawn)
    # Four standard deviations of a share of 600 draws are at most 4 / (2 sqrt(600)).
    assert share == pytest.approx(window[1, 1] / window.sum(), abs=0.082)


def test_normalization_in_a_plane() -> None:
    image = real(2, 5, 4)
    layer = nn.inn.SpatialSameResponseNormalization(3, 0.5, 0.7, 2)
    padded = np.pad(image**2, [(0, 0), (1, 1), (1, 1)])
    around = padded[1, 2:5, 1:4].sum() / 9
    found = layer.forward(image)
    assert found[1, 2, 1] == pytest.approx(image[1, 2, 1] / (2 + 0.5 * around) ** 0.7)


def test_other_classes_of_inn(tmp_path: Path) -> None:
    image = real(2, 3, 4, 4)
    layer = read("inn.ConstAffine", {"a": np.arange(3.0), "b": np.ones(3)}, tmp_path)
    wanted = image * np.arange(3.0).reshape(3, 1, 1) + 1
    np.testing.assert_allclose(layer.forward(image), wanted)
    np.testing.assert_allclose(layer.forward(image[:, :, 0, 0].copy()), wanted[:, :, 0, 0])
    pyramid = nn.inn.SpatialPyramidPooling([1, 1], [2, 2]).forward(image)
    assert pyramid.shape == (2, 3 + 12)
    np.testing.assert_array_equal(pyramid[:, :3], image.max((2, 3)))
    pooling = read("inn.SpatialMaxPooling", {"kW": 3, "kH": 3, "dW": 2, "dH": 2}, tmp_path)
    assert pooling.forward(image).shape == (2, 3, 2, 2)
    lrn = nn.inn.SpatialCrossResponseNormalization(3, 0.1)
    np.testing.assert_array_equal(lrn.forward(image), nn.SpatialCrossMapLRN(3, 0.1).forward(image))


# ---- stnbhwd


def test_a_spatial_transformer() -> None:
    images = real(2, 5, 4, 3)
    matrices = nn.AffineTransformMatrixGenerator(True, True, True)
    grids, sampler = nn.AffineGridGeneratorBHWD(5, 4), nn.BilinearSamplerBHWD()

    def transformed(*numbers: float) -> Any:
        given = np.tile(np.array(numbers, np.float64), (2, 1))
        return sampler.forward([images, grids.forward(matrices.forward(given))])

    assert_layers_agree(transformed(0, 1, 0, 0), images)
    turned = transformed(np.pi, 1, 0, 0)
    assert_layers_agree(turned, images[:, ::-1, ::-1])
    moved = transformed(0, 1, 0.5, 0)  # by one of the steps of 0.5 between 5 rows
    assert_layers_agree(moved[:, :4], images[:, 1:])
    assert_layers_agree(moved[:, 4], np.zeros_like(moved[:, 4]))
    np.testing.assert_array_equal(
        nn.AffineTransformMatrixGenerator().forward(np.arange(6.0)), [[0, 1, 2], [3, 4, 5]]
    )


@pytest.mark.parametrize(
    "used", [(True, False, False), (False, True, False), (False, True, True), (True, False, True)]
)
def test_gradients_of_parts_of_a_transformation(used: tuple[bool, ...]) -> None:
    layer = nn.AffineTransformMatrixGenerator(*used)
    given = real(1, used[0] + used[1] + 2 * used[2])
    weights = real(1, 2, 3)
    layer.forward(given)
    found = layer.backward(given, weights).copy()
    for place in range(given.shape[1]):
        values = []
        for step in (1e-6, -1e-6):
            moved = given.copy()
            moved[0, place] += step
            values.append(float((layer.forward(moved) * weights).sum()))
        assert found[0, place] == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-7)


# ---- neural-style


def test_losses_inside_a_network(tmp_path: Path) -> None:
    content, style = nn.ContentLoss(3), nn.StyleLoss(2, True)
    net = nn.Sequential(content, style)
    target, image = real(2, 3, 4), real(2, 3, 4)
    content.mode = style.mode = "capture"
    net.forward(target)
    content.mode = style.mode = "loss"
    np.testing.assert_array_equal(net.forward(image), image)
    assert content.loss == pytest.approx(3 * ((image - target) ** 2).mean())
    rows, wanted = (one.reshape(2, -1) for one in (image, target))
    difference = (rows @ rows.T - wanted @ wanted.T) / image.size
    assert style.loss == pytest.approx(2 * (difference**2).mean())
    found = net.backward(image, np.zeros_like(image))
    slope = (4 * difference @ rows / difference.size / image.size).reshape(image.shape)
    slope *= 2 / (np.abs(slope).sum() + 1e-8)
    assert_layers_agree(found, slope + 6 * (image - target) / image.size)
    old = {"strength": 3, "target": target, "crit": nn.MSECriterion(), "normalize": False}
    layer = read("nn.ContentLoss", old, tmp_path)
    layer.forward(image)
    assert layer.loss == pytest.approx(content.loss)


def test_styles_are_blended() -> None:
    layer, images = nn.StyleLoss(1), [real(2, 3, 4), real(2, 3, 4)]
    layer.mode = "capture"
    total: Any = 0
    for image, weight in zip(images, (0.25, 0.75), strict=True):
        layer.blend_weight = weight
        layer.forward(image)
        rows = image.reshape(2, -1)
        total = total + weight * (rows @ rows.T) / image.size
    np.testing.assert_allclose(layer.target, total)


# ---- nnx


def test_resampling_is_as_in_nn() -> None:
    image = real(2, 3, 4, 5)
    wanted = nn.SpatialUpSamplingBilinear({"owidth": 9, "oheight": 7}).forward(image)
    found = nn.SpatialReSampling(None, None, 9, 7).forward(image)
    assert_layers_agree(found, wanted)
    np.testing.assert_array_equal(
        nn.SpatialUpSampling(2, 2).forward(image), nn.SpatialUpSamplingNearest(2).forward(image)
    )
    halved = nn.SpatialDownSampling(0.5, 0.5).forward(real(1, 4, 6))
    assert halved.shape == (1, 2, 3)
    blocks = image[:, :, :, :4].reshape(2, 3, 2, 2, 2, 2).mean((3, 5))
    found = nn.SpatialReSamplingEx(0.5, 0.5, mode="average").forward(image[:, :, :, :4].copy())
    np.testing.assert_allclose(found, blocks)
    with pytest.raises(THNNArgumentError, match="rwidth or owidth"):
        nn.SpatialReSampling(None, 2)


def test_maps_for_each_pixel() -> None:
    image = real(3, 4, 5)
    linear = nn.Linear(3, 2)
    wanted = np.einsum("ij,jhw->ihw", linear.weight, image) + linear.bias[:, None, None]
    np.testing.assert_allclose(nn.SpatialClassifier(linear).forward(image), wanted)
    layer = nn.SpatialLinear(3, 2)
    layer.weight, layer.bias = linear.weight, linear.bias
    np.testing.assert_allclose(layer.forward(image), wanted)


def test_a_pyramid() -> None:
    image = real(1, 4, 6)
    both = nn.SpatialPyramid([1, 2], [nn.Identity(), nn.Identity()], 1, 1).forward(image)
    np.testing.assert_allclose(both[0], image)
    small = image.reshape(1, 2, 2, 3, 2).mean((2, 4))
    np.testing.assert_allclose(both[1], small.repeat(2, 1).repeat(2, 2))

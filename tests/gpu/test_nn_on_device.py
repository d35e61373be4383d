"""Models of pythnn.nn on a device."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_half_of_the_digits, assert_near

import pythnn
from pythnn import Tensor, nn


def model() -> Any:
    pythnn.manual_seed(3)
    net = nn.Sequential()
    net.add(nn.SpatialConvolutionMM(3, 4, 3, 3, 1, 1, 1, 1))
    net.add(nn.ELU())
    net.add(nn.ConcatTable().add(nn.Tanh()).add(nn.Identity()))
    net.add(nn.CAddTable())
    net.add(nn.SpatialFullConvolution(4, 2, 2, 2, 2, 2))
    net.add(nn.Threshold(0.01, 0))
    return net


def step(net: Any, x: Any, gradient: Any) -> list[Any]:
    net.zeroGradParameters()
    results = [net.forward(x), net.backward(x, gradient)]
    net.updateParameters(0.1)
    parameters, gradients = net.parameters()
    return [*results, *parameters, *gradients]


def graph() -> Any:
    """The same layers, of which one gives to two, and some of other packages."""
    layers = model().modules
    x = nn.Identity()()
    below = nn.InstanceNormalization(4)(layers[1](layers[0](x)))
    total = nn.CAddTable()([nn.Tanh()(below), below])
    padded = nn.SpatialZeroPadding(1, 1, 1, 1)(layers[4](total))
    end = nn.TotalVariation(0.1)(nn.ShaveImage(1)(padded))
    return nn.gModule([x], [layers[5](end)])


@pytest.mark.parametrize("make", [model, graph])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_a_step_is_that_of_the_cpu(xp: Any, real: Any, make: Any) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 6, 5)).astype(real)
    gradient = np.random.default_rng(1).standard_normal((2, 2, 12, 10)).astype(real)
    on_host, on_device = make().type(real), make()
    name = {np.float32: "torch.CudaTensor", np.float64: "torch.CudaDoubleTensor"}[real]
    assert on_device.type(name) is on_device
    assert on_device.type() == name
    expected = step(on_host, x, gradient)
    found = step(on_device, xp.asarray(x), xp.asarray(gradient))
    assert all(isinstance(array, xp.ndarray) for array in found)
    for one, other in zip(expected, found, strict=True):
        assert other.dtype == real
        assert_half_of_the_digits(other.get(), one)


def test_a_model_moves_and_comes_back(xp: Any) -> None:
    net = model()
    before = [p.copy() for p in net.parameters()[0]]
    assert net.cuda() is net
    assert net.get(1).tensors.weight.device == "cuda:0"
    assert net.get(1).dtype == np.float32
    for there, here in zip(net.parameters()[0], before, strict=True):
        np.testing.assert_array_equal(there.get(), here.astype(np.float32))
    net.float()
    assert net.type() == "torch.FloatTensor"
    assert all(isinstance(p, np.ndarray) for p in net.parameters()[0])
    assert net.cuda().double().type() == "torch.DoubleTensor"
    assert net.get(1).weight.dtype == np.float64


def test_flat_parameters(xp: Any) -> None:
    net = model().cuda()
    expected = np.concatenate([p.get().ravel() for p in net.parameters()[0]])
    parameters, gradients = net.getParameters()
    np.testing.assert_array_equal(parameters.get(), expected)
    gradients[...] = 2.0
    parameters -= gradients
    np.testing.assert_array_equal(net.get(1).weight.get().ravel(), expected[:108] - 2)
    shared = copy.deepcopy(net).getParameters()[0]
    np.testing.assert_array_equal(shared.get(), parameters.get())


def test_files_are_those_of_a_model_on_the_cpu(xp: Any) -> None:
    net = model().cuda()
    flat, _ = net.getParameters()
    file = io.BytesIO()
    pythnn.save(file, {"model": net, "flat": flat, "mask": xp.asarray(np.uint8([1, 0]))})
    assert b"Cuda" not in file.getvalue()
    file.seek(0)
    found = pythnn.load(file)
    loaded = found["model"]
    assert loaded.type() == "torch.FloatTensor"
    first, last = loaded.get(1).tensors.weight, loaded.get(5).tensors.weight
    assert first.shares_storage(last)
    np.testing.assert_array_equal(found["flat"], flat.get())
    np.testing.assert_array_equal(found["mask"], [1, 0])
    x = np.random.default_rng(0).standard_normal((1, 3, 6, 5)).astype(np.float32)
    output = net.forward(xp.asarray(x)).get()
    assert_half_of_the_digits(loaded.forward(x), output)
    np.testing.assert_array_equal(loaded.cuda().forward(xp.asarray(x)).get(), output)


def test_onnx(xp: Any) -> None:
    from pythnn import onnx

    net, x = model(), np.zeros((1, 3, 6, 5), np.float32)
    expected = onnx.to_onnx(net.float(), x).SerializeToString()
    assert onnx.to_onnx(net.cuda(), xp.asarray(x)).SerializeToString() == expected
    assert net.type() == "torch.CudaTensor"


def test_what_was_one_tensor_stays_one(xp: Any) -> None:
    net = nn.WeightNorm(nn.Linear(3, 2)).cuda()
    assert net.tensors.bias is net.get(1).tensors.bias
    there = nn.WeightNorm(nn.Linear(3, 2).cuda())
    assert there.forward(xp.zeros((1, 3), np.float32)).get().tolist() == [[0, 0]]


def test_places_that_repeat(xp: Any) -> None:
    """Gradients add to what is there, in memory that others share."""
    random = np.random.default_rng(0)
    x, gradient = random.standard_normal((3, 4)), random.standard_normal((3, 4))
    found = []
    for name, place in {
        "torch.DoubleTensor": np.array,
        "torch.CudaDoubleTensor": xp.asarray,
    }.items():
        pythnn.manual_seed(2)
        layer = nn.PartialLinear(4, 5).type(name)
        layer.setPartition([2, 5, 2, 1])
        layer.getParameters()[1][...] = 1
        for _ in range(2):
            layer.forward(place(x))
            layer.backward(place(x), place(gradient))
        layer.accUpdateGradParameters(place(x), place(gradient), 0.1)
        found.append([Tensor(p).cpu().numpy() for both in layer.parameters() for p in both])
    for one, other in zip(*found, strict=True):
        # Sums of gradients of twice three samples, a step, and products of numbers up to 4.
        assert_near(other, one, 2**5, 2**7)


def test_flat_parameters_of_nothing_lie_there_too(xp: Any) -> None:
    parameters, _ = nn.Sequential().add(nn.ReLU()).cuda().getParameters()
    assert (type(parameters), parameters.dtype) == (xp.ndarray, np.float32)


def test_shared_parameters_stay_shared(xp: Any) -> None:
    first = nn.SpatialConvolutionMM(2, 2, 3, 3)
    second = first.clone("weight", "bias")
    net = nn.Sequential().add(first).add(second).cuda()
    first.tensors.weight.fill(3)
    assert (second.weight.get() == 3).all()
    assert first.tensors.weight.shares_storage(second.tensors.weight)
    assert net.type() == "torch.CudaTensor"


def test_assignment(xp: Any) -> None:
    layer = nn.SpatialConvolutionMM(2, 2, 3, 3).cuda()
    tensor = layer.tensors.bias
    layer.bias = xp.asarray(np.float32([1, 2]))
    layer.weight = np.ones((2, 18), np.float32)
    assert layer.tensors.bias is tensor
    assert layer.bias.get().tolist() == [1, 2]
    assert (layer.weight.get() == 1).all()


def test_kept_results_do_not_change(xp: Any) -> None:
    layer = nn.Abs().cuda()
    kept = layer.forward(xp.asarray(np.float32([-1, 2])))
    layer.forward(xp.asarray(np.float32([-3, 4])))
    assert kept.get().tolist() == [1, 2]
    address = layer.tensors.output.address
    layer.forward(xp.asarray(np.float32([5, 6])))
    assert layer.tensors.output.address == address, "memory that nobody looks at is used again"


def test_an_array_in_the_wrong_place(xp: Any) -> None:
    layer = nn.SpatialConvolutionMM(2, 2, 3, 3).cuda()
    with pytest.raises(pythnn.THNNArgumentError, match="CPU's memory"):
        layer.forward(np.ones((1, 2, 4, 4), np.float32))


def classifier() -> Any:
    pythnn.manual_seed(5)
    net = nn.Sequential()
    net.add(nn.SpatialConvolutionMM(1, 4, 3, 3)).add(nn.SpatialBatchNormalization(4)).add(nn.ReLU())
    net.add(nn.SpatialMaxPooling(2, 2, 2, 2)).add(nn.Reshape(4 * 3 * 3)).add(nn.Dropout(0.2))
    return net.add(nn.Linear(36, 5)).add(nn.LogSoftMax())


def test_training_a_classifier(xp: Any) -> None:
    random = np.random.default_rng(2)
    x = random.standard_normal((6, 1, 8, 8)).astype(np.float32)
    target = random.integers(1, 6, 6)
    losses = []
    for net, criterion, images, classes in [
        (classifier().float(), nn.ClassNLLCriterion().float(), x, target),
        (classifier().cuda(), nn.ClassNLLCriterion().cuda(), xp.asarray(x), xp.asarray(target)),
    ]:
        pythnn.manual_seed(7)
        net.training()
        for _ in range(3):
            net.zeroGradParameters()
            output = net.forward(images)
            loss = criterion.forward(output, classes)
            net.backward(images, criterion.backward(output, classes))
            net.updateParameters(0.5)
            losses.append(float(loss))
    assert_half_of_the_digits(np.float32(losses[3:]), losses[:3])
    assert losses[2] < losses[0]

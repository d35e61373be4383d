"""Objects that old versions of nn saved, and those of cudnn, compute what they meant."""

from __future__ import annotations

import io

import numpy as np
import pytest
from support.bounds import assert_layers_agree

import pythnn
from pythnn import nn
from pythnn.t7 import TorchObject

X = np.random.default_rng(0).standard_normal((2, 4, 6, 6))


def as_saved(module, name=None, without=(), **fields):
    """What a file would hold: the fields of a module, some changed, under another name."""
    raw = TorchObject(name or module.typename(), module._to_fields())
    for field in without:
        del raw.fields[field]
    raw.fields.update(fields)
    file = io.BytesIO()
    pythnn.save(file, raw)
    file.seek(0)
    return pythnn.load(file)


def same(found, expected, x=X):
    """Whether two modules give the same outputs and gradients."""
    for module in (found, expected):
        module.zeroGradParameters()
        module.forward(x)
        module.backward(x, np.cos(module.output))
    assert_layers_agree(found.output, expected.output)
    assert_layers_agree(found.gradInput, expected.gradInput)
    for ours, theirs in zip(
        *((m.parameters() or ([], [])) for m in (found, expected)), strict=True
    ):
        for one, other in zip(ours, theirs, strict=True):
            assert_layers_agree(one.ravel(), other.ravel())


OLD = {
    "SpatialConvolution": (
        lambda: nn.SpatialConvolution(4, 2, 3, 3, 2, 2, 0, 0),
        ["padW", "padH"],
    ),
    "SpatialConvolutionMM": (lambda: nn.SpatialConvolutionMM(4, 2, 3, 3), ["padW", "padH"]),
    "SpatialFullConvolution": (lambda: nn.SpatialFullConvolution(4, 2, 3, 3), ["adjW", "adjH"]),
    "SpatialMaxPooling": (
        lambda: nn.SpatialMaxPooling(2, 2),
        ["padW", "padH", "ceil_mode", "indices"],
    ),
    "SpatialAveragePooling": (
        lambda: nn.SpatialAveragePooling(2, 2, 2, 2),
        ["padW", "padH", "ceil_mode", "count_include_pad"],
    ),
    "Threshold": (lambda: nn.Threshold(0, 0), ["inplace"]),
    "ReLU": (lambda: nn.ReLU(), ["inplace"]),
    "HardTanh": (lambda: nn.HardTanh(), ["min_val", "max_val", "inplace"]),
    "ELU": (lambda: nn.ELU(), ["alpha", "inplace"]),
    "LeakyReLU": (lambda: nn.LeakyReLU(), ["inplace"]),
    "SoftPlus": (lambda: nn.SoftPlus(), ["beta", "threshold"]),
    "MulConstant": (lambda: nn.MulConstant(3), ["inplace"]),
    "AddConstant": (lambda: nn.AddConstant(3), ["inplace"]),
    "BatchNormalization": (
        lambda: nn.SpatialBatchNormalization(4),
        ["eps", "momentum"],
    ),
    "Replicate": (lambda: nn.Replicate(3), ["dim"]),
    "SpatialCrossMapLRN": (lambda: nn.SpatialCrossMapLRN(3), ["alpha", "beta", "k"]),
}


@pytest.mark.parametrize("name", OLD)
def test_fields_that_were_added_later(name):
    make, without = OLD[name]
    module = make()
    same(as_saved(module, without=[n for n in without if n in module._to_fields()]), module)


def test_criterions_without_what_was_added_later():
    x, target = np.random.default_rng(0).standard_normal((3, 4)), np.array([1, 4, 2])
    criterion = nn.ClassNLLCriterion()
    old = as_saved(criterion, without=["ignoreIndex", "sizeAverage"])
    assert old.forward(x, target) == criterion.forward(x, target)
    mean = nn.MSECriterion()
    old = as_saved(mean, without=["sizeAverage"])
    assert old.forward(x, x + 2) == mean.forward(x, x + 2) == pytest.approx(4)
    entropy = nn.CrossEntropyCriterion(np.arange(1.0, 5), False)
    old = as_saved(entropy, without=["sizeAverage", "oldSizeAverage"])
    assert old.forward(x, target) == entropy.forward(x, target)


def test_soft_margins_of_a_sigmoid_and_a_cross_entropy():
    x, target = np.random.default_rng(0).standard_normal((3, 4)), np.eye(3, 4)
    weights = np.arange(1.0, 5)
    wanted = nn.MultiLabelSoftMarginCriterion(weights)
    parts = {"lsm": nn.Sigmoid(), "nll": nn.BCECriterion(weights)}
    old = as_saved(wanted, without=["sizeAverage", "sigmoid", "weights"], **parts)
    assert old._to_fields().keys() == wanted._to_fields().keys()
    assert old.forward(x, target) == wanted.forward(x, target)
    np.testing.assert_array_equal(old.backward(x, target), wanted.backward(x, target))


def test_models_without_gradients():
    """As saved for use alone: everything works that does not need them."""
    module = nn.Sequential().add(nn.Linear(3, 2)).add(nn.PReLU())
    for inside in module.modules:
        inside.tensors.gradWeight = inside.tensors.gradBias = None
    file = io.BytesIO()
    pythnn.save(file, module)
    file.seek(0)
    found, x = pythnn.load(file), X[:, 0, 0, :3]
    assert found.parameters()[1] == [None] * 3
    found.zeroGradParameters()
    np.testing.assert_array_equal(found.forward(x), module.forward(x))
    assert found.updateGradInput(x, found.output).shape == x.shape
    flat, gradients = found.getParameters()
    assert (flat.shape, gradients.shape) == ((9,), (0,))
    with pytest.raises(pythnn.THNNError, match="taken away"):
        found.updateParameters(0.1)
    found.accUpdateGradParameters(x, found.output, 0.1)
    assert (found.forward(x) != module.forward(x)).any()


@pytest.mark.parametrize("shape", [(2, 36), (2, 4, 3, 3)])
def test_weights_of_two_or_four_dimensions(shape):
    module = nn.SpatialConvolution(4, 2, 3, 3)
    same(as_saved(module, weight=module.weight.reshape(shape)), module)
    same(
        as_saved(
            module,
            weight=module.weight.reshape(shape),
            gradWeight=module.gradWeight.reshape(shape),
        ),
        module,
    )


def test_one_padding_for_both_directions():
    module = nn.SpatialConvolution(4, 2, 3, 3, 1, 1, 1, 1)
    same(as_saved(module, without=["padW", "padH"], padding=1), module)
    same(as_saved(module, without=["padH"]), module)


def test_without_bias():
    module = nn.SpatialConvolution(4, 2, 3, 3).noBias()
    same(as_saved(module), module)
    linear = nn.Linear(3, 2).noBias()
    same(as_saved(linear), linear, np.ones((4, 3)))


def test_batch_normalization_with_inverse_deviations():
    module = nn.SpatialBatchNormalization(4)
    for _ in range(3):
        module.forward(3 * X + 1)
    module.evaluate()
    inverse = 1 / np.sqrt(module.running_var + module.eps)
    old = as_saved(module, without=["running_var"], running_std=inverse)
    same(old, module)
    assert "running_std" not in old._to_fields()


def test_average_pooling_that_sums():
    module = nn.SpatialAveragePooling(2, 2, 2, 2)
    old = as_saved(module, without=["divide"])
    np.testing.assert_allclose(old.forward(X), 4 * module.forward(X))
    assert as_saved(module, "cudnn.SpatialAveragePooling", without=["divide"]).divide


def test_dropout_of_the_first_kind():
    module = nn.Dropout(0.25)
    old = as_saved(module, without=[n for n in ("v2", "inplace") if n in module._to_fields()])
    old.evaluate()
    np.testing.assert_allclose(old.forward(X), 0.75 * X)


def test_concat_with_its_old_field():
    module = nn.Concat(2).add(nn.Identity()).add(nn.Identity())
    module.forward(X)
    size = module._to_fields()["outputSize"]
    same(as_saved(module, without=["outputSize"], size=size), module)


# Twins, and the fields of nn that cudnn's class does not have.
CUDNN = {
    "SpatialConvolution": (lambda: nn.SpatialConvolution(4, 2, 3, 3, 1, 1, 1, 1), []),
    "SpatialFullConvolution": (lambda: nn.SpatialFullConvolution(4, 2, 3, 3), []),
    "SpatialMaxPooling": (lambda: nn.SpatialMaxPooling(2, 2, 2, 2).ceil(), ["indices"]),
    "SpatialAveragePooling": (
        lambda: nn.SpatialAveragePooling(3, 3, 3, 3, 1, 1),
        ["divide", "count_include_pad"],
    ),
    "SpatialBatchNormalization": (lambda: nn.SpatialBatchNormalization(4), []),
    "SpatialCrossMapLRN": (lambda: nn.SpatialCrossMapLRN(3), []),
    "ReLU": (lambda: nn.ReLU(), ["threshold", "val"]),
    "Sigmoid": (lambda: nn.Sigmoid(), []),
    "Tanh": (lambda: nn.Tanh(), []),
    "SoftMax": (lambda: nn.SoftMax(), []),
    "LogSoftMax": (lambda: nn.LogSoftMax(), []),
    "SpatialSoftMax": (lambda: nn.SpatialSoftMax(), []),
    "SpatialLogSoftMax": (lambda: nn.SpatialLogSoftMax(), []),
}


@pytest.mark.parametrize("name", CUDNN)
def test_cudnn(name):
    make, without = CUDNN[name]
    module = make()
    own = {"mode": "CUDNN_SOMETHING", "iSize": [1, 2], "fmode": 3}
    found = as_saved(module, f"cudnn.{name}", without, _type="torch.CudaDoubleTensor", **own)
    assert found.typename() == f"nn.{name}"
    same(found, module)


def test_cudnn_temporal_convolution():
    module = nn.TemporalConvolution(3, 4, 2)
    weight = module.weight.reshape(4, 1, 2, 3)
    found = as_saved(module, "cudnn.TemporalConvolution", weight=weight, gradWeight=weight.copy())
    same(found, module, np.random.default_rng(0).standard_normal((7, 3)))


def test_cudnn_modes():
    pooling = nn.SpatialAveragePooling(3, 3, 3, 3, 1, 1)
    mode = "CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING"
    without = ["divide", "count_include_pad"]
    found = as_saved(pooling, "cudnn.SpatialAveragePooling", without, mode=mode)
    same(found, pooling.setCountExcludePad())
    volumes = nn.VolumetricConvolution(4, 2, 1, 3, 3)
    with pytest.raises(pythnn.T7Error, match="2 groups; only SpatialConvolution"):
        as_saved(volumes, "cudnn.VolumetricConvolution", groups=2)


def test_cudnn_clipped_relu():
    found = as_saved(nn.Identity(), "cudnn.ClippedReLU", ceiling=0.5)
    np.testing.assert_array_equal(found.forward(X), np.clip(X, 0, 0.5))


@pytest.mark.parametrize("x", [X, X[0]], ids=["batch", "single"])
@pytest.mark.parametrize("bias", [True, False])
def test_cudnn_in_groups(x, bias):
    pythnn.manual_seed(3)
    parts = [nn.SpatialConvolution(2, 3, 3, 2, 2, 1, 1, 0) for _ in range(2)]
    fields = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("weight", "bias", "gradWeight", "gradBias")
        if bias or "ias" not in name
    }
    without = [] if bias else ["bias", "gradBias"]
    fields |= {"nInputPlane": 4, "nOutputPlane": 6, "groups": 2}
    found = as_saved(parts[0], "cudnn.SpatialConvolution", without, **fields)
    assert repr(found).startswith("cudnn.SpatialConvolution(4 -> 6, 3x2, 2,1, 1,0, 2 groups)")
    found.zeroGradParameters()
    found.forward(x)
    gradient = np.cos(found.output)
    found.backward(x, gradient)
    axis = x.ndim - 3
    for i, part in enumerate(parts):
        if not bias:
            part.noBias()
        part.zeroGradParameters()
        planes = np.split(x, 2, axis)[i]
        assert_layers_agree(np.split(found.output, 2, axis)[i], part.forward(planes))
        part.backward(planes, np.split(gradient, 2, axis)[i])
        assert_layers_agree(np.split(found.gradInput, 2, axis)[i], part.gradInput)
        assert_layers_agree(found.gradWeight[3 * i : 3 * i + 3], part.gradWeight)
    again = as_saved(found)
    assert again.groups == 2
    np.testing.assert_array_equal(again.forward(x), found.output)


def test_groups_that_do_not_fit():
    part = nn.SpatialConvolution(2, 3, 3, 3)
    with pytest.raises(pythnn.T7Error, match="for 2 groups; it should be"):
        as_saved(part, "cudnn.SpatialConvolution", nInputPlane=4, nOutputPlane=8, groups=2)


def test_half_becomes_float():
    module = nn.Linear(3, 2)
    fields = {
        name: value.numpy().astype(np.float16) for name, value in module.tensors.__dict__.items()
    }
    found = as_saved(module, _type="torch.CudaHalfTensor", **fields)
    assert found.dtype == np.float32
    x = np.ones((1, 3), np.float32)
    np.testing.assert_allclose(found.forward(x), module.float().forward(x), rtol=2e-3, atol=1e-3)


def test_cyclic_modules():
    first, second = nn.Sequential(), nn.Sequential()
    first.add(second)
    second.parent = first
    file = io.BytesIO()
    pythnn.save(file, first)
    file.seek(0)
    found = pythnn.load(file)
    assert found.modules[0].parent is found


def test_class_of_a_user_under_another_name():
    class Doubles(nn.Module):
        def updateOutput(self, input):  # noqa: N802
            self.output = 2 * input
            return self.output

    class Subclass(Doubles):
        pass

    try:
        assert nn.register("inn.Doubles")(Doubles) is Doubles
        assert Doubles.typename() == "inn.Doubles"
        assert Subclass.typename() == "nn.Subclass"
        assert Doubles.__module__ == __name__
        found = as_saved(Doubles())
        assert isinstance(found, Doubles)
        assert found.forward(np.ones(2)).tolist() == [2, 2]
    finally:
        del nn.registry["inn.Doubles"]


def test_class_of_a_user():
    @nn.register
    class AddsOneForTheTest(nn.Module):
        def updateOutput(self, input):  # noqa: N802
            self.output = input + self.one
            return self.output

    module = AddsOneForTheTest()
    module.one = 1
    try:
        assert as_saved(module).forward(np.zeros(2)).tolist() == [1, 1]
    finally:
        del nn.registry["nn.AddsOneForTheTest"]
    assert isinstance(as_saved(module), TorchObject)

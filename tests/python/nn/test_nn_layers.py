"""Layers of nn where the recorded cases say nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_layers_agree

import pythnn
from pythnn import Tensor, nn

RANDOM = np.random.default_rng(5)


def data(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape)


# ---- Text

TEXTS = [
    (nn.SpatialConvolution(3, 64, 3, 2), "nn.SpatialConvolution(3 -> 64, 3x2)"),
    (nn.SpatialConvolution(3, 8, 7, 7, 2, 2), "nn.SpatialConvolution(3 -> 8, 7x7, 2,2)"),
    (nn.SpatialConvolution(3, 8, 3, 3, 1, 1, 1), "nn.SpatialConvolution(3 -> 8, 3x3, 1,1, 1,1)"),
    (
        nn.SpatialConvolution(3, 8, 1, 1).noBias(),
        "nn.SpatialConvolution(3 -> 8, 1x1) without bias",
    ),
    (
        nn.SpatialDilatedConvolution(2, 3, 3, 3, 1, 1, 2, 2, 2, 2),
        "nn.SpatialDilatedConvolution(2 -> 3, 3x3, 1,1, 2,2, 2,2)",
    ),
    (
        nn.SpatialFullConvolution(4, 2, 4, 4, 2, 2, 1, 1, 1, 1),
        "nn.SpatialFullConvolution(4 -> 2, 4x4, 2,2, 1,1, 1,1)",
    ),
    (
        nn.SpatialConvolutionLocal(1, 2, 6, 5, 3, 3),
        "nn.SpatialConvolutionLocal(1 -> 2, 6x5, 3x3)",
    ),
    (
        nn.VolumetricConvolution(1, 2, 3, 4, 5, 2, 2, 2, 1),
        "nn.VolumetricConvolution(1 -> 2, 3x4x5, 2,2,2, 1,1,1)",
    ),
    (nn.SpatialMaxPooling(3, 3, 2, 2, 1, 1), "nn.SpatialMaxPooling(3x3, 2,2, 1,1)"),
    (nn.SpatialAveragePooling(7, 7), "nn.SpatialAveragePooling(7x7, 1,1)"),
    (
        nn.SpatialFractionalMaxPooling(2, 2, 0.5, 0.6),
        "nn.SpatialFractionalMaxPooling(0.5x0.6, 2,2)",
    ),
    (nn.SpatialBatchNormalization(16), "nn.SpatialBatchNormalization (4D) (16)"),
    (nn.SpatialZeroPadding(1, 2, 3, 4), "nn.SpatialZeroPadding(l=1, r=2, t=3, b=4)"),
    (nn.UpSampling(2), "nn.UpSampling(2, nearest)"),
    (nn.LeakyReLU(0.2), "nn.LeakyReLU(0.2)"),
    (nn.ELU(0.5), "nn.ELU (alpha:0.500000)"),
    (nn.RReLU(), "nn.RReLU (l:0.125000, u:0.333333)"),
    (nn.Dropout(0.25), "nn.Dropout(0.250000)"),
    (nn.WhiteNoise(0, 0.5), "nn.WhiteNoise mean: 0.000000, std: 0.500000"),
    (nn.Normalize(2.0), "nn.Normalize(2)"),
    (nn.Normalize(1.5), "nn.Normalize(1.500000)"),
    (nn.Normalize(float("inf")), "nn.Normalize(inf)"),
    (nn.LinearWeightNorm(3, 2, False), "nn.LinearWeightNorm(3 -> 2) without bias"),
    (nn.PartialLinear(3, 2), "nn.PartialLinear(3 -> 2)"),
]


@pytest.mark.parametrize(("module", "text"), TEXTS, ids=lambda value: type(value).__name__)
def test_text(module: Any, text: str) -> None:
    assert repr(module) == text


# ---- Convolutions


@pytest.mark.parametrize("height", [7, 8])
def test_transposed_convolution_of_a_wanted_size(height: int) -> None:
    module = nn.SpatialFullConvolution(2, 3, 3, 3, 2, 2, 1, 1)
    x, wanted = data(1, 2, 4, 4), data(1, 1, height, 8)
    output = module.forward([x, wanted])
    assert output.shape == (1, 3, height, 8)
    gradient, unused = module.backward([x, wanted], np.ones_like(output))
    assert unused.shape == wanted.shape
    assert not unused.any()
    other = nn.SpatialFullConvolution(2, 3, 3, 3, 2, 2, 1, 1, 1, height - 7)
    other.weight, other.bias = module.weight, module.bias
    np.testing.assert_array_equal(other.forward(x), output)
    other.zeroGradParameters()
    np.testing.assert_array_equal(other.backward(x, np.ones_like(output)), gradient)


def test_transposed_convolution_in_three_dimensions_of_a_wanted_size() -> None:
    module = nn.VolumetricFullConvolution(1, 2, 2, 2, 2, 3, 2, 2)
    output = module.forward([data(1, 1, 2, 2, 2), data(1, 7, 5, 4)])
    assert output.shape == (1, 2, 7, 5, 4)


def test_connection_tables() -> None:
    np.testing.assert_array_equal(nn.tables.oneToOne(2), [[1, 1], [2, 2]])
    with pytest.raises(pythnn.THNNArgumentError, match="nto"):
        nn.tables.random(2, 3, 3)


# ---- Pooling and sampling


def test_poolings_are_emptied_under_the_old_name() -> None:
    module, x = nn.SpatialMaxPooling(2, 2), data(1, 4, 4)
    module.forward(x)
    assert module.empty().indices.size == 0


def test_average_pooling_can_sum() -> None:
    module, x = nn.SpatialAveragePooling(2, 3, 2, 3), data(2, 6, 4)
    means = module.forward(x)
    gradient = module.backward(x, means)
    module.divide = False
    np.testing.assert_allclose(module.forward(x), 6 * means)
    np.testing.assert_allclose(module.backward(x, means), 6 * gradient)


def test_unpooling_needs_a_pooling_that_ran() -> None:
    pooling = nn.SpatialMaxPooling(2, 2)
    with pytest.raises(pythnn.THNNError, match="forward of its pooling module"):
        nn.SpatialMaxUnpooling(pooling).forward(data(1, 2, 2))
    with pytest.raises(pythnn.THNNArgumentError, match="steps"):
        nn.SpatialMaxUnpooling(nn.SpatialMaxPooling(3, 3, 2, 2))


def test_upsampling_says_what_it_lacks() -> None:
    with pytest.raises(pythnn.THNNArgumentError, match="factor"):
        nn.UpSampling({"owidth": 3, "oheight": 3})
    planes_only = nn.UpSampling({"owidth": 3, "oheight": 3}, "linear")
    with pytest.raises(pythnn.THNNArgumentError, match="odepth"):
        planes_only.forward(data(1, 1, 2, 2, 2))


# ---- Normalising


@pytest.mark.parametrize("kernel", [np.ones((3, 5)), np.array([1.0, 2, 1])], ids=["2-D", "1-D"])
@pytest.mark.parametrize(
    "cls",
    [
        nn.SpatialSubtractiveNormalization,
        nn.SpatialDivisiveNormalization,
        nn.SpatialContrastiveNormalization,
    ],
)
def test_local_normalisation_of_a_batch(cls: Any, kernel: np.ndarray) -> None:
    module, x, gradient = cls(2, kernel), data(3, 2, 6, 7), data(3, 2, 6, 7)
    output = module.forward(x)
    gradInput = module.backward(x, gradient)
    for i in range(3):
        assert_layers_agree(module.forward(x[i]), output[i])
        assert_layers_agree(module.backward(x[i], gradient[i]), gradInput[i])


def test_subtracting_the_mean_leaves_nothing_of_a_constant() -> None:
    module = nn.SpatialSubtractiveNormalization(2)
    assert_layers_agree(module.forward(np.full((2, 9, 9), 3.0)), np.zeros((2, 9, 9)))


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (nn.BatchNormalization, (1, 3)),
        (nn.SpatialBatchNormalization, (1, 3, 4, 5)),
        (nn.SpatialBatchNormalization, (1, 3, 1, 1)),
        (nn.VolumetricBatchNormalization, (1, 3, 2, 1, 4)),
    ],
)
@pytest.mark.parametrize("affine", [True, False])
def test_one_sample_is_normalised_as_in_use(make: Any, shape: Any, affine: bool) -> None:
    module, x, gradient = make(3, 1e-5, 0.1, affine), data(*shape), data(*shape)
    module.running_mean, module.running_var = data(3), data(3) ** 2 + 0.5
    in_use = module.clone()
    in_use.evaluate()
    results = [
        [
            one.forward(x), one.backward(x, gradient, 0.5), one.updateGradInput(x, gradient),
            one.running_mean, one.running_var, *((one.gradWeight, one.gradBias) if affine else ()),
        ]
        for one in (module, in_use)
    ]  # fmt: skip
    for found, wanted in zip(*results, strict=True):
        np.testing.assert_array_equal(found, wanted)
    planes, outputs = x.reshape(3, -1).T, results[0][0].reshape(3, -1).T
    wanted = (planes - module.running_mean) / np.sqrt(module.running_var + 1e-5)
    if affine:
        wanted = wanted * module.weight + module.bias
    assert_layers_agree(outputs, wanted)


def test_two_samples_are_normalised_by_themselves() -> None:
    module, x = nn.SpatialBatchNormalization(3, 1e-5, 0.1, False), data(2, 3, 4, 5)
    y = (x - x.mean((0, 2, 3), keepdims=True)) / np.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)
    assert_layers_agree(module.forward(x), y)


# ---- Linear


@pytest.mark.parametrize("make", [nn.LinearWeightNorm, lambda *n: nn.WeightNorm(nn.Linear(*n))])
def test_weight_norm_computes_the_same_after_backward(make: Any) -> None:
    module, x, gradient = make(3, 2), data(4, 3), data(4, 2)
    module.evaluate()
    output = module.forward(x)
    first = module.backward(x, gradient)
    np.testing.assert_array_equal(module.backward(x, gradient), first)
    np.testing.assert_array_equal(module.forward(x), output)


def test_index_linear_accumulates() -> None:
    module = nn.IndexLinear(4, 2).reset()
    dense = module.weight.copy()
    for keys, values in (([2, 4], [1.0, 2.0]), ([2], [-3.0])):
        given = [np.array(keys), np.array(values)]
        module.forward(given)
        module.backward(given, np.ones(2), 0.5)
        for key, value in zip(keys, values, strict=True):
            dense[key - 1] -= 0.1 * 0.5 * value
    assert [g.shape for g in module.parameters()[1]] == [(2, 2), (1, 2), (2,)]
    module.updateParameters(0.1)
    assert_layers_agree(module.weight, dense)


def test_sparse_linear_is_linear() -> None:
    sparse, dense = nn.SparseLinear(5, 2, True), nn.Linear(5, 2)
    dense.weight, dense.bias = sparse.weight, sparse.bias
    x = np.array([[0, 2.0, 0, 0, -1], [0.5, 0, 0, 0, 0]])
    entries = [np.stack([np.flatnonzero(row) + 1.0, row[row != 0]], axis=1) for row in x]
    gradient = data(2, 2)
    assert_layers_agree(sparse.forward(entries), dense.forward(x))
    for module in (sparse, dense):
        module.zeroGradParameters()
    found = sparse.backward(entries, gradient)
    wanted = dense.backward(x, gradient)
    assert_layers_agree([sample[:, 1] for sample in found], wanted)
    assert_layers_agree(sparse.gradWeight, dense.gradWeight)
    assert_layers_agree(sparse.gradBias, dense.gradBias)


def test_partial_linear_is_linear() -> None:
    partial, dense = nn.PartialLinear(3, 4), nn.Linear(3, 4)
    dense.weight, dense.bias = partial.parameters()[0][0], data(4)
    partial.bias = dense.bias
    x = data(2, 3)
    chosen = [4, 2]
    found = partial.setPartition(chosen).forward(x)
    assert_layers_agree(found, dense.forward(x)[:, [3, 1]])


def test_lookup_table_trains_without_gradients() -> None:
    table, other = nn.LookupTable(4, 2), nn.LookupTable(4, 2)
    other.weight, x, gradient = table.weight, np.array([1, 2, 2]), data(3, 2)
    table.accUpdateOnly().forward(x)
    assert table.parameters()[1] == [None]
    table.zeroGradParameters()
    for layer in (table, other):
        layer.accUpdateGradParameters(x, gradient, 0.5)
    np.testing.assert_array_equal(table.weight, other.weight)


@pytest.mark.parametrize("kind", [nn.Max, nn.Min, nn.Sum, nn.Mean])
def test_gradients_of_reductions_whatever_the_types(kind: Any) -> None:
    layer, x, gradient = kind(2).float(), data(3, 4, 2).astype("f"), data(3, 2).astype("f")
    layer.forward(x)
    wanted = layer.backward(x, gradient).copy()
    np.testing.assert_array_equal(layer.backward(x, gradient.astype("d")), wanted)
    if kind in (nn.Max, nn.Min):  # of a file, perhaps
        layer.tensors._indices = Tensor(layer._indices, dtype=np.int32)
        np.testing.assert_array_equal(layer.backward(x, gradient), wanted)


# ---- Shapes


@pytest.mark.parametrize("samples", [1, 2])
def test_a_batch_of_one_stays_a_batch_when_squeezed(samples: int) -> None:
    x = data(samples, 2, 1, 3)
    assert nn.Squeeze(None, 3).forward(x).shape == (samples, 2, 3)
    assert nn.Squeeze().setNumInputDims(3).forward(x).shape == (samples, 2, 3)
    assert nn.Squeeze(None, 3).forward(x[0]).shape == (2, 3)
    assert nn.Squeeze(None, 1).forward(np.ones((1, 1))).shape == (1, 1)


# ---- In training only


@pytest.mark.parametrize("make", [nn.SpatialDropout, nn.WhiteNoise])
def test_noise_has_no_gradient_in_use(make: Any) -> None:
    module, x = make(), data(2, 3, 4)
    module.evaluate()
    module.forward(x)
    with pytest.raises(pythnn.THNNError, match="training"):
        module.backward(x, x)


# ---- Inputs that are none


@pytest.mark.parametrize("given", [None, [data(2, 3)], "text", {}])
@pytest.mark.parametrize(
    "module",
    [nn.Dropout(), nn.Exp(), nn.SpatialMaxPooling(2, 2), nn.BatchNormalization(3)],
    ids=repr,
)
def test_what_is_no_array_is_refused(module: Any, given: Any) -> None:
    with pytest.raises(pythnn.THNNArgumentError, match="input"):
        module.forward(given)


@pytest.mark.parametrize("constant", [3, -0.1, 0, 1e30, 1e300, math.inf])
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["AddConstant", "MulConstant"])
@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value")
def test_constants_are_numbers_of_the_element_type(
    name: str, dtype: Any, in_place: bool, constant: float
) -> None:
    """A layer computes on Tensors what numpy computes on arrays."""
    x = np.array([[1.5, -2, 0], [np.inf, 1e-30, 7]], dtype)
    g = np.array([[0.25, -1, 3], [0, 1e30, -1e-30]], dtype)
    layer = getattr(nn, name)(constant, in_place)
    with np.errstate(all="ignore"):
        number = dtype(constant)
        wanted, slope = (x + number, g) if name == "AddConstant" else (x * number, g * number)
        undone = wanted - number if name == "AddConstant" else wanted / number
    given, gradient = Tensor(x), Tensor(g)
    output = layer.forward(given)
    assert (output.address == given.address) == in_place
    np.testing.assert_array_equal(output.numpy(), wanted)
    kept = output.numpy().copy() if in_place else x
    slopes = layer.backward(given, gradient)
    assert (slopes.address == gradient.address) == in_place
    np.testing.assert_array_equal(slopes.numpy(), slope)
    np.testing.assert_array_equal(given.numpy(), undone if in_place else kept)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize(
    "make",
    [
        lambda in_place: nn.AddConstant(2, in_place),
        lambda in_place: nn.MulConstant(3, in_place),
        lambda in_place: nn.Dropout(0.5, True, in_place),
        lambda in_place: _added_to_itself(nn.CAddTable(in_place)),
    ],
)
def test_elements_that_lie_in_several_places_are_changed_once(make: Any, dtype: Any) -> None:
    """In place or not, a Replicate's elements, and each of its gradient's, count once."""
    x, g = np.arange(4).astype(dtype).reshape(2, 2), np.ones((2, 3, 2), dtype)
    found = []
    for in_place in (False, True):
        net = nn.Sequential(nn.Replicate(3, 1, 1), make(in_place))
        if dtype is np.int64 and isinstance(net.get(2), nn.Dropout):
            return  # whose factors are no whole numbers
        net.evaluate()
        found.append((net.forward(x.copy()), net.updateGradInput(x, g.copy())))
        if dtype is np.float64:
            np.testing.assert_array_equal(pythnn.compile(net, x)(x), found[-1][0])
    np.testing.assert_array_equal(*(output for output, _ in found))
    np.testing.assert_array_equal(*(gradient for _, gradient in found))


def _added_to_itself(layer: Any) -> Any:
    return nn.Sequential(nn.ConcatTable(nn.Identity(), nn.MulConstant(2)), layer)

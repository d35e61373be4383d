"""pythnn.functional: the examples run, and gradients are those of the functions."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from support.bounds import difference_limit, is_near
from support.functional_cases import (
    Case,
    F,
    alone,
    apart,
    loss,
    normal,
    of_output,
    plain,
    pooling,
    rng,
    with_bias,
)
from support.functional_layers import CASES as LAYERS

from pythnn import THNNArgumentError, functional

MODULES = [m.name for m in pkgutil.iter_modules(functional.__path__) if not m.name.startswith("_")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(f"pythnn.functional.{name}")
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for function in module.__all__:
        # Not as the decorator has made it: doctest takes that for another module's.
        written = inspect.unwrap(getattr(module, function))
        for example in finder.find(
            written, function, globs={**vars(functional), **vars(module), "np": np}
        ):
            runner.run(example)
    found = runner.summarize()
    assert found.attempted > 1
    assert found.failed == 0


SIGNS = np.where(normal(3, 4) > 0, 1.0, -1.0)
LOG = np.log(F.softmax(normal(3, 4)))
CLASSES = np.array([0, 3, 1])
TABLE = [[0, 0], [1, 0], [1, 1]]
STEP = {"stride": (2, 1), "padding": (1, 0)}


CASES = {
    "absolute": plain("absolute", (apart(3, 4),)),
    "elu": of_output("elu", apart(3, 4), 0.7),
    "glu": plain("glu", (normal(3, 4),), 1),
    "hard_shrink": plain("hard_shrink", (apart(3, 4),)),
    "hard_tanh": plain("hard_tanh", (apart(3, 4),)),
    "leaky_relu": plain("leaky_relu", (apart(3, 4),)),
    "log_sigmoid": plain("log_sigmoid", (normal(3, 4),)),
    "prelu": plain("prelu", (apart(3, 4), normal(4))),
    "relu": plain("relu", (apart(3, 4),)),
    "sigmoid": of_output("sigmoid", normal(3, 4)),
    "soft_shrink": plain("soft_shrink", (apart(3, 4),)),
    "softplus": of_output("softplus", normal(3, 4), 2.0),
    "sqrt": of_output("sqrt", np.abs(normal(3, 4)) + 1),
    "square": plain("square", (normal(3, 4),)),
    "tanh": of_output("tanh", normal(3, 4)),
    "threshold": Case(
        (apart(3, 4),),
        lambda x: F.threshold(x, 0.1, -2.0),
        lambda g, x: F.threshold_backward(g, x, 0.1),
    ),
    "softmax": of_output("softmax", normal(3, 4, 2), 1),
    "softmax of one axis": of_output("softmax", normal(5)),
    "log_softmax": of_output("log_softmax", normal(3, 4, 2), 0),
    "batch_norm": Case(
        (normal(3, 2, 4), normal(2), normal(2)),
        lambda x, w, b: F.batch_norm(x, w, b)[0],
        lambda g, x, w, b: F.batch_norm_backward(g, x, w, *F.batch_norm(x, w, b)[1:]),
    ),
    "batch_norm in use": Case(
        (normal(3, 2, 4), normal(2), normal(2)),
        lambda x, w, b: F.batch_norm(
            x, w, b, np.array([1.0, 2.0]), np.array([3.0, 4.0]), training=False
        )[0],
        lambda g, x, w, _: F.batch_norm_backward(
            g, x, w, np.array([1.0, 2.0]), (np.array([3.0, 4.0]) + 1e-5) ** -0.5, training=False
        ),
    ),
    "feature_lp_pool": Case(
        (np.abs(normal(2, 7)) + 1,),
        lambda x: F.feature_lp_pool(x, 3.0, 3, 2),
        lambda g, x: F.feature_lp_pool_backward(g, x, F.feature_lp_pool(x, 3.0, 3, 2), 3.0, 3, 2),
    ),
    "cross_map_lrn": Case(
        (normal(1, 5, 2, 2),),
        lambda x: F.cross_map_lrn(x, 3, 0.5)[0],
        lambda g, x: F.cross_map_lrn_backward(g, x, *F.cross_map_lrn(x, 3, 0.5), 3, 0.5),
    ),
    "absolute_loss": loss("absolute_loss", apart(3, 4), np.zeros((3, 4))),
    "binary_cross_entropy": loss(
        "binary_cross_entropy",
        rng.uniform(0.1, 0.9, (3, 4)),
        rng.uniform(size=(3, 4)),
        rng.uniform(size=(3, 4)),
    ),
    "kl_div_loss": loss("kl_div_loss", LOG, F.softmax(normal(3, 4))),
    "l1_cost": loss("l1_cost", apart(3, 4)),
    "margin_loss": loss("margin_loss", apart(3, 4), SIGNS, 0.9),
    "mse_loss": loss("mse_loss", normal(3, 4), normal(3, 4)),
    "multi_label_margin_loss": loss(
        "multi_label_margin_loss", apart(2, 4) * 1.1, [[0, 2, -1, 0], [3, -1, 0, 0]]
    ),
    "multi_margin_loss": loss(
        "multi_margin_loss", apart(3, 4) * 1.1, CLASSES, [1.0, 2.0, 3.0, 4.0], p=2
    ),
    "nll_loss": loss("nll_loss", LOG, CLASSES, [1.0, 2.0, 3.0, 4.0], ignore_index=3),
    "nll_loss of one": loss("nll_loss", LOG[0], 2, average=False),
    "nll_loss2d": loss(
        "nll_loss2d", normal(2, 3, 2, 2), rng.integers(0, 3, (2, 2, 2)), [1.0, 2.0, 3.0]
    ),
    "smooth_l1_loss": loss("smooth_l1_loss", apart(3, 4), np.zeros((3, 4))),
    "soft_margin_loss": loss("soft_margin_loss", normal(3, 4), SIGNS),
    "linear": with_bias("linear", (normal(3, 4), normal(2, 4), normal(2))),
    "sparse_linear": Case(
        (normal(2, 3), normal(2)),
        lambda w, b: F.sparse_linear([0, 1, 1], [2, 0, 1], [1.0, 2.0, 3.0], w, b, 2),
        lambda g, w, _: F.sparse_linear_backward(g, [0, 1, 1], [2, 0, 1], [1.0, 2.0, 3.0], w),
    ),
    "index_linear": Case(
        (normal(3, 2), normal(2)),
        lambda w, b: F.index_linear([2, 0, 2], [1.0, 2.0, 3.0], [1, 2], w, b),
        lambda g, w, _: F.index_linear_backward(g, [2, 0, 2], [1.0, 2.0, 3.0], [1, 2], w),
    ),
    "embedding": Case(
        (normal(3, 2),),
        lambda w: F.embedding([[2, 0], [2, 1]], w),
        lambda g, w: F.embedding_backward(g, [[2, 0], [2, 1]], w),
    ),
    "embedding_bag": Case(
        (normal(3, 2),),
        lambda w: F.embedding_bag([2, 0, 2], [0, 1], w, mean=True)[0],
        lambda g, w: F.embedding_bag_backward(
            g, [2, 0, 2], F.embedding_bag([2, 0, 2], [0, 1], w, mean=True)[1], w, mean=True
        ),
    ),
    "embedding_bag of sums": Case(
        (normal(3, 2),),
        lambda w: F.embedding_bag([2, 0, 2], [0, 1], w, mode="sum")[0],
        lambda g, w: F.embedding_bag_backward(
            g, [2, 0, 2], F.embedding_bag([2, 0, 2], [0, 1], w, mode="sum")[1], w, mode="sum"
        ),
    ),
    "gru_cell": Case(
        (normal(2, 6), normal(2, 6), normal(2, 2)),
        lambda *a: F.gru_cell(*a)[0],
        lambda g, *a: F.gru_cell_backward(g, F.gru_cell(*a)[1]),
    ),
    "lstm_cell": Case(
        (normal(2, 8), normal(2, 2)),
        lambda x, cell: F.lstm_cell(x, np.zeros((2, 8)), cell)[0],
        lambda g, x, cell: F.lstm_cell_backward(
            g, np.zeros((2, 2)), cell, *F.lstm_cell(x, np.zeros((2, 8)), cell)[1:]
        ),
    ),
    "conv2d": with_bias(
        "conv2d", (normal(2, 3, 5, 6), normal(2, 3, 2, 3), normal(2)), dilation=(2, 1), **STEP
    ),
    "conv_transpose2d": with_bias(
        "conv_transpose2d",
        (normal(2, 3, 2, 3), normal(3, 2, 3, 2), normal(2)),
        output_padding=(1, 0),
        **STEP,
    ),
    "conv1d": with_bias(
        "conv1d",
        (normal(2, 4, 7), normal(6, 2, 3), normal(6)),
        groups=2,
        stride=2,
        padding=((1, 2),),
        flip=True,
    ),
    "conv1d_grad": alone(1, normal(2, 4, 7), normal(6, 2, 3), groups=2, padding="same"),
    "conv2d_grad": alone(2, normal(2, 3, 5, 6), normal(2, 3, 2, 3), dilation=(2, 1), **STEP),
    "conv3d_grad": alone(3, normal(1, 2, 3, 4, 3), normal(4, 1, 2, 1, 2), groups=2),
    "conv_transpose1d": with_bias(
        "conv_transpose1d",
        (normal(2, 4, 4), normal(4, 3, 3), normal(6)),
        groups=2,
        stride=2,
        output_size=10,
    ),
    "depthwise_conv2d": with_bias(
        "depthwise_conv2d", (normal(2, 3, 5, 6), normal(2, 3, 2, 3), normal(2, 3)), **STEP
    ),
    "conv2d_local": with_bias(
        "conv2d_local", (normal(2, 3, 4), normal(2, 2, 2, 2, 2, 3), normal(2, 2, 2))
    ),
    "conv2d_map": plain("conv2d_map", (normal(2, 3, 4), normal(3, 2, 3), normal(2)), TABLE),
    "conv_transpose2d_map": plain(
        "conv_transpose2d_map", (normal(2, 3, 4), normal(3, 2, 3), normal(2)), TABLE, stride=2
    ),
    "conv3d": with_bias(
        "conv3d",
        (normal(2, 3, 4, 4), normal(3, 2, 2, 2, 3), normal(3)),
        stride=(1, 2, 1),
        padding=1,
    ),
    "conv_transpose3d": with_bias(
        "conv_transpose3d",
        (normal(2, 2, 2, 3), normal(2, 3, 2, 2, 3), normal(3)),
        stride=(1, 2, 1),
        output_padding=(0, 1, 0),
    ),
    "temporal_conv1d": with_bias(
        "temporal_conv1d", (normal(2, 5, 3), normal(4, 6), normal(4)), 2, stride=2
    ),
    "row_conv1d": with_bias("row_conv1d", (normal(2, 5, 3), normal(3, 1, 2), normal(3)), padding=1),
    "max_pool1d": pooling("max_pool1d", apart(2, 6, 3), 3, 2),
    "max_pool1d of the last axis": pooling("max_pool1d", apart(2, 3, 6), 3, 2, axis=-1),
    "max_pool2d": pooling("max_pool2d", apart(2, 3, 6, 5), (3, 2), 2, padding=1, ceil_mode=True),
    "max_pool3d": pooling("max_pool3d", apart(2, 4, 5, 6), (2, 3, 2), padding=(0, 1, 1)),
    "adaptive_max_pool2d": Case(
        (apart(2, 5, 7),),
        lambda x: F.adaptive_max_pool2d(x, (2, 3))[0],
        lambda g, x: F.adaptive_max_pool2d_backward(g, x, F.adaptive_max_pool2d(x, (2, 3))[1]),
    ),
    "fractional_max_pool2d": Case(
        (apart(1, 2, 6, 7),),
        lambda x: F.fractional_max_pool2d(x, (3, 4), 2, np.full((1, 2, 2), 0.4))[0],
        lambda g, x: F.fractional_max_pool2d_backward(
            g, x, F.fractional_max_pool2d(x, (3, 4), 2, np.full((1, 2, 2), 0.4))[1], (3, 4), 2
        ),
    ),
    "fractional_max_pool3d": Case(
        (apart(1, 2, 5, 6, 7),),
        lambda x: F.fractional_max_pool3d(x, (3, 2, 2), 2, np.full((1, 2, 3), 0.4))[0],
        lambda g, x: F.fractional_max_pool3d_backward(
            g, x, F.fractional_max_pool3d(x, (3, 2, 2), 2, np.full((1, 2, 3), 0.4))[1], (3, 2, 2), 2
        ),
    ),
    "max_unpool2d": Case(
        (normal(1, 2, 2),),
        lambda x: F.max_unpool2d(x, [[[0, 3], [8, 15]]], 4),
        lambda g, x: F.max_unpool2d_backward(g, x, [[[0, 3], [8, 15]]]),
    ),
    "max_unpool3d": Case(
        (normal(1, 2, 2, 2),),
        lambda x: F.max_unpool3d(x, F.max_pool3d(normal(1, 4, 4, 4) * 0, 2)[1], 4, 2),
        lambda g, x: F.max_unpool3d_backward(g, x, F.max_pool3d(normal(1, 4, 4, 4) * 0, 2)[1], 2),
    ),
    "avg_pool2d": plain(
        "avg_pool2d", (normal(2, 3, 6, 5),), (3, 2), 2, padding=1, count_padding=False
    ),
    "avg_pool3d": plain("avg_pool3d", (normal(2, 4, 5, 6),), (2, 3, 2), padding=(0, 1, 1)),
    "adaptive_avg_pool2d": Case(
        (normal(2, 5, 7),),
        lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
        lambda g, x: F.adaptive_avg_pool2d_backward(g, x),
    ),
    "subsample1d": with_bias("subsample1d", (normal(6, 3), normal(3), normal(3)), 3, 2),
    "subsample2d": with_bias("subsample2d", (normal(3, 5, 6), normal(3), normal(3)), (2, 3)),
    "upsample_nearest2d": plain("upsample_nearest2d", (normal(2, 2, 3),), 3),
    "upsample_nearest3d": plain("upsample_nearest3d", (normal(2, 2, 3, 2),), 2),
    "upsample_bilinear2d": Case(
        (normal(2, 2, 3, 4),),
        lambda x: F.upsample_bilinear2d(x, (5, 6)),
        lambda g, x: F.upsample_bilinear2d_backward(g, x.shape),
    ),
    "upsample_trilinear3d": Case(
        (normal(2, 1, 2, 3, 2),),
        lambda x: F.upsample_trilinear3d(x, (3, 5, 4)),
        lambda g, x: F.upsample_trilinear3d_backward(g, x.shape),
    ),
    "upsample_bilinear2d of edges": Case(
        (normal(2, 2, 3, 4),),
        lambda x: F.upsample_bilinear2d(x, (5, 2), align_corners=False),
        lambda g, x: F.upsample_bilinear2d_backward(g, x.shape, align_corners=False),
    ),
    "upsample_trilinear3d of edges": Case(
        (normal(2, 1, 2, 3, 1),),
        lambda x: F.upsample_trilinear3d(x, (3, 2, 4), align_corners=False),
        lambda g, x: F.upsample_trilinear3d_backward(g, x.shape, align_corners=False),
    ),
    "grid_sample2d of edges": plain(
        "grid_sample2d", (normal(2, 3, 4, 5), normal(2, 2, 3, 2) / 3), align_corners=False
    ),
    "grid_sample2d of edges of one row": plain(
        "grid_sample2d", (normal(2, 3, 1, 5), normal(2, 2, 3, 2) / 3), align_corners=False
    ),
    "grid_sample2d": plain("grid_sample2d", (normal(2, 3, 4, 5), normal(2, 2, 3, 2) / 3)),
    "reflection_pad2d": plain("reflection_pad2d", (normal(2, 4, 5),), ((1, 2), (3, -1))),
    "replication_pad2d": plain("replication_pad2d", (normal(2, 4, 5),), 2),
    "replication_pad3d": plain(
        "replication_pad3d", (normal(2, 3, 4, 5),), ((1, 0), (0, 2), (1, 1))
    ),
}
CASES |= LAYERS


STEP = 1e-6
"""To either side of an element, of quotients of differences."""


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    case = CASES[name]
    output = np.asarray(case.forward(*case.arrays))
    grad_output = rng.standard_normal(output.shape)
    found = case.backward(grad_output, *case.arrays)
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(case.arrays)
    for i, (array, gradient) in enumerate(zip(case.arrays, found, strict=True)):
        assert gradient.shape == array.shape
        wanted = np.empty_like(array)
        for place in np.ndindex(array.shape):
            sides = []
            for step in (STEP, -STEP):
                moved = array.copy()
                moved[place] += step
                given = [*case.arrays[:i], moved, *case.arrays[i + 1 :]]
                sides.append(np.sum(case.forward(*given) * grad_output))
            wanted[place] = (sides[0] - sides[1]) / (2 * STEP)
        # The loss is a sum of results, each of which has fewer terms than the arrays elements.
        terms = output.size + sum(a.size for a in case.arrays)
        magnitude = 1 + np.abs(output * grad_output).sum()
        assert np.abs(gradient - wanted).max() <= difference_limit(terms, magnitude, STEP).item()


@pytest.mark.parametrize("name", CASES)
def test_arguments_are_not_changed(name):
    case = CASES[name]
    before = [array.copy() for array in case.arrays]
    output = np.asarray(case.forward(*case.arrays))
    case.backward(np.ones(output.shape), *case.arrays)
    for array, copy in zip(case.arrays, before, strict=True):
        assert array.tobytes() == copy.tobytes()


def test_every_function_has_a_gradient_that_is_tested():
    public = {n for m in MODULES for n in importlib.import_module(f"pythnn.functional.{m}").__all__}
    backward = {name for name in public if name.endswith("_backward")}
    single = {f"conv{n}d_grad_{of}" for n in (1, 2, 3) for of in ("input", "weight")}
    single |= {"convolution_plan", "convolution_times"}
    assert {name.removesuffix("_backward") for name in backward} == public - backward - single - {
        "embedding_renorm",
        "one_hot",
    }
    tested = {name.split()[0].removesuffix("_grad") for name in CASES} | {"rrelu"}
    assert tested == {name.removesuffix("_backward") for name in backward}


def test_rrelu_slopes():
    x = apart(3, 4)
    output, slopes = F.rrelu(x)
    np.testing.assert_array_equal(output, x * slopes)
    np.testing.assert_array_equal(F.rrelu_backward(np.ones_like(x), x, slopes), slopes)
    assert (slopes[x < 0] >= 1 / 8).all()
    assert (slopes[x < 0] < 1 / 3).all()
    mean = np.where(x > 0, 1.0, (1 / 8 + 1 / 3) / 2)
    np.testing.assert_allclose(F.rrelu(x, training=False)[0], x * mean)
    grad = F.rrelu_backward(np.ones_like(x), x, slopes, training=False)
    np.testing.assert_allclose(grad, mean)


def test_every_module_of_thnn_has_its_functions():
    from pythnn._table import FUNCTIONS

    modules = {name.split("_")[0] for name in FUNCTIONS} - {"unfolded"}
    text = "".join(importlib.import_module(f"pythnn.functional.{m}").__doc__ or "" for m in MODULES)
    for m in MODULES:
        module = importlib.import_module(f"pythnn.functional.{m}")
        text += "".join(getattr(module, name).__doc__ for name in module.__all__)
    missing = {name for name in modules if name not in text}
    # Those that others do as well, with the same results.
    assert missing == {
        "GroupedConvolution",
        "GroupedFullConvolution",
        "Reduction",
        "SpatialConvolutionJoined",
        "SpatialFullDilatedConvolution",
        "SpatialGreatest",
        "VolumetricConvolutionMM",
        "VolumetricFullDilatedConvolution",
    }


def test_interpolation_between_edges():
    """Against the definition, element by element: centres at i + 1/2, outermost values stay."""
    x = normal(1, 1, 3, 4)
    found = F.upsample_bilinear2d(x, (7, 2), align_corners=False)
    for row, column in np.ndindex(7, 2):
        places = [(row + 0.5) * 3 / 7 - 0.5, (column + 0.5) * 4 / 2 - 0.5]
        places = [min(max(p, 0), n - 1) for p, n in zip(places, (3, 4), strict=True)]
        total = sum(
            max(1 - abs(places[0] - i), 0) * max(1 - abs(places[1] - j), 0) * x[0, 0, i, j]
            for i, j in np.ndindex(3, 4)
        )
        assert is_near(found[0, 0, row, column], total, 2**5)
    same = F.upsample_bilinear2d(x, (3, 4), align_corners=False)
    np.testing.assert_allclose(same, x)
    assert F.upsample_bilinear2d(x.astype(np.float32), 5, align_corners=False).dtype == np.float32
    with pytest.raises(THNNArgumentError, match="'align_corners': expected True or False"):
        F.upsample_bilinear2d(x, 5, align_corners=1)


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (3, 1), (1, 1)])
def test_samples_between_edges(shape):
    x = normal(1, 1, *shape)
    centres = [(2 * np.arange(n) + 1) / n - 1 for n in shape]
    grid = np.stack(np.meshgrid(*centres, indexing="ij")[::-1], axis=-1)[None]
    assert is_near(F.grid_sample2d(x, grid, align_corners=False), x, 2**5, np.abs(x).max())
    edges = np.array(
        [[[[-1.0, -1.0]]]]
    )  # half of the outermost element, and half of what is beyond
    found = F.grid_sample2d(x, edges, align_corners=False)
    np.testing.assert_allclose(found.item(), x[0, 0, 0, 0] / 4)


def test_the_axis_of_max_pool1d():
    x = apart(2, 6, 3)
    output, indices = F.max_pool1d(x, 2)
    turned = F.max_pool1d(x.swapaxes(1, 2), 2, axis=-1)
    np.testing.assert_array_equal(turned[0], output.swapaxes(1, 2))
    np.testing.assert_array_equal(turned[1], indices.swapaxes(1, 2))
    with pytest.raises(THNNArgumentError, match="'axis': expected -2 .* or -1"):
        F.max_pool1d(x, 2, axis=0)


def test_the_mode_of_embedding_bag():
    weight = normal(4, 2)
    for mode, by in (("sum", np.sum), ("mean", np.mean)):
        found = F.embedding_bag([2, 0, 1], [0, 1], weight, mode=mode)[0]
        np.testing.assert_allclose(found, [weight[2], by(weight[[0, 1]], axis=0)])
    np.testing.assert_array_equal(F.embedding_bag([], [0, 0], weight)[0], np.zeros((2, 2)))
    with pytest.raises(THNNArgumentError, match="'mode': expected 'sum' or 'mean', found 'max'"):
        F.embedding_bag([0], [0], weight, mode="max")


def test_types():
    assert F.relu(np.float32([1, -1])).dtype == np.float32
    assert F.relu([1, -1]).dtype == np.float64
    with pytest.raises(THNNArgumentError, match="weight"):
        F.linear(np.ones(2, np.float32), np.ones((1, 2)))
    with pytest.raises(ValueError, match="2 ints"):
        F.avg_pool2d(np.ones((1, 2, 2)), (1, 2, 3))

"""pythnn.functional: the examples run, and gradients are those of the functions."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from support.bounds import difference_limit, is_near
from support.functional_cases import F, apart, normal, rng
from support.functional_modules import CASES

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
        "SeqGRU",
        "SeqLSTM",
        "SpatialConvolutionJoined",
        "SpatialFullConvolutionJoined",
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

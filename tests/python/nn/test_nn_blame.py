"""Errors blame what the caller got wrong, and say what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import THNNArgumentError, nn

RNG = np.random.default_rng(0)


def data(*shape: int) -> Any:
    return RNG.standard_normal(shape)


# Layers with parameters, an input that fits, and one with other features.
LAYERS: dict[str, tuple[Callable[[], Any], Any, Any]] = {
    "Linear": (lambda: nn.Linear(3, 2), data(2, 3), data(2, 4)),
    "LinearWeightNorm": (lambda: nn.LinearWeightNorm(3, 2), data(2, 3), data(2, 4)),
    "WeightNorm": (lambda: nn.WeightNorm(nn.Linear(3, 2)), data(2, 3), data(2, 4)),
    "PartialLinear": (lambda: nn.PartialLinear(3, 2), data(2, 3), data(2, 4)),
    "Maxout": (lambda: nn.Maxout(3, 2, 2), data(2, 3), data(2, 4)),
    "PReLU": (lambda: nn.PReLU(3), data(2, 3), data(2, 4)),
    "LayerNormalization": (lambda: nn.LayerNormalization(3), data(2, 3), data(2, 4)),
    "BatchNormalization": (lambda: nn.BatchNormalization(3), data(2, 3), data(2, 4)),
    "SpatialConvolution": (
        lambda: nn.SpatialConvolution(3, 2, 2, 2),
        data(1, 3, 5, 5),
        data(1, 4, 5, 5),
    ),
    "SpatialConvolutionLocal": (
        lambda: nn.SpatialConvolutionLocal(3, 2, 5, 5, 2, 2),
        data(1, 3, 5, 5),
        data(1, 4, 5, 5),
    ),
    "SpatialFullConvolution": (
        lambda: nn.SpatialFullConvolution(3, 2, 2, 2),
        data(1, 3, 5, 5),
        data(4, 5, 5),
    ),
    "SpatialSubSampling": (
        lambda: nn.SpatialSubSampling(3, 2, 2),
        data(1, 3, 5, 5),
        data(1, 4, 5, 5),
    ),
    "TemporalConvolution": (lambda: nn.TemporalConvolution(3, 2, 2), data(6, 3), data(256, 1)),
    "TemporalSubSampling": (lambda: nn.TemporalSubSampling(3, 2), data(6, 3), data(6, 4)),
    "TemporalRowConvolution": (
        lambda: nn.TemporalRowConvolution(3, 2),
        data(2, 6, 3),
        data(2, 6, 4),
    ),
    "VolumetricConvolution": (
        lambda: nn.VolumetricConvolution(3, 2, 2, 2, 2),
        data(1, 3, 4, 4, 4),
        data(1, 2, 4, 4, 4),
    ),
}
each = pytest.mark.parametrize("name", LAYERS)


def error_of(call: Callable[[], Any]) -> THNNArgumentError:
    with pytest.raises(THNNArgumentError) as caught:
        call()
    return caught.value


@each
def test_other_features_are_the_input_s_fault(name: str) -> None:
    make, _, other = LAYERS[name]
    error = error_of(lambda: make().forward(other))
    assert error.argument == "input"
    assert "3" in str(error)
    assert " x ".join(map(str, other.shape)) in str(error) or str(other.shape) in str(error)


def test_the_frame_size_that_was_meant() -> None:
    error = error_of(lambda: nn.TemporalSubSampling(3, 35).forward(np.zeros((256, 1))))
    assert str(error) == (
        "TemporalSubSampling_updateOutput: argument #2 'input': expected size 3 (inputFrameSize) "
        "in dimension 2, found [256 x 1]"
    )


MIXING = {"LayerNormalization", "PartialLinear"}  # which array expressions compute


@each
def test_another_real_type(name: str) -> None:
    make, given, _ = LAYERS[name]
    for dtype, other, convert in (
        (np.float64, np.float32, "float"),
        (np.float32, np.float64, "double"),
    ):
        layer, x = make().type(dtype), given.astype(other)
        if name in MIXING:
            continue
        error = error_of(lambda layer=layer, x=x: nn.Sequential().add(layer).forward(x))
        text = str(error)
        assert error.argument == "input"
        assert f"expected {np.dtype(dtype)}, as the module is, found {np.dtype(other)}" in text
        assert f"with .{convert}(), or give input.astype(np.{np.dtype(dtype)})" in text


@each
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.int16, np.float16, bool])
def test_images_of_whole_numbers(name: str, dtype: Any) -> None:
    make, given, _ = LAYERS[name]
    layer, x = make().float(), np.abs(given * 100).astype(dtype)
    if name in MIXING:
        return
    error = error_of(lambda: nn.Sequential().add(layer).forward(x))
    assert error.argument == "input"
    assert f"found {np.dtype(dtype)}; give input.astype(np.float32)" in str(error)
    assert ("scaled as in training" in str(error)) == (np.dtype(dtype).kind in "iu")


@pytest.mark.parametrize(
    ("layer", "given"),
    [
        (nn.BatchNormalization(3), data(3)),
        (nn.SpatialBatchNormalization(3), data(3, 4, 4)),
        (nn.InstanceNormalization(3), data(3, 4, 4)),
        (nn.UpSampling(2), data(3, 4, 4)),
        (nn.SpatialConvolution(1, 2, 3, 3), data(28, 28)),
        (nn.TemporalConvolution(3, 2, 1), data(3)),
        (nn.PartialLinear(3, 2), data(3)),
        (nn.Sequential().add(nn.SpatialMaxPooling(2, 2)), data(28, 28)),
    ],
    ids=lambda value: getattr(value, "typename", lambda: "")(),
)
def test_a_batch_that_is_missing(layer: Any, given: Any) -> None:
    layer.training()
    error = error_of(lambda: layer.forward(given))
    assert error.argument == "input"
    assert "a dimension is missing, that of the batch perhaps: give input[None]" in str(error)
    layer.forward(given[None])


def test_gradients_and_targets_of_another_type() -> None:
    layer = nn.Linear(3, 2).float()
    x = data(2, 3).astype(np.float32)
    layer.forward(x)
    error = error_of(lambda: layer.backward(x, data(2, 2)))
    assert error.argument == "gradOutput"
    assert "give gradOutput.astype(np.float32)" in str(error)
    error = error_of(lambda: nn.MSECriterion().float().forward(x, data(2, 3)))
    assert error.argument == "target"
    assert "give target.astype(np.float32)" in str(error)
    error = error_of(lambda: nn.ClassNLLCriterion(np.ones(3)).forward(x, np.array([1, 2])))
    assert error.argument == "input"
    assert "convert the module with .float()" in str(error)


def test_indices_beyond_a_table() -> None:
    """Kernels find them; the error is the layer's."""
    table = nn.LookupTable(3, 2)
    table.forward(np.array([1, 2]))
    for call in (
        lambda: table.forward(np.array([1, 4])),
        lambda: table.backward(np.array([1, 4]), data(2, 2)),
    ):
        error = error_of(call)
        assert (error.function, error.argument) == ("nn.LookupTable", "input")
        assert "indices from 1 to 3, found 1 to 4" in str(error)


@pytest.mark.filterwarnings("error")
def test_indices_that_are_none() -> None:
    nan = np.array([np.nan, 1e30])
    for layer in (nn.LookupTable(3, 2), nn.OneHot(3)):
        assert error_of(lambda layer=layer: layer.forward(nan)).argument == "input"
    assert error_of(lambda: nn.Index(1).forward([data(3), nan])).argument == "input"
    with pytest.raises(pythnn.THNNError):
        nn.ClassNLLCriterion().forward(data(2, 3), nan)
    np.testing.assert_array_equal(
        nn.LookupTable(3, 2).forward(np.array([1, 3], np.uint8)).shape, (2, 2)
    )

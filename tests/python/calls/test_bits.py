"""What leaves bits as they are: where arrays lie, and the samples beside a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import golden
from support.deviations import adapted

from pythnn import State, functional, nn

CASES = [adapted(c) for m in golden.modules() for c in golden.cases(m) if not c.is_error]
FUNCTIONS = sorted({c.function for c in CASES})
LINE = 64
"""Bytes of a cache line, and of the widest vectors."""


def placed(array: np.ndarray, offset: int) -> np.ndarray:
    """A copy of an array, as densely laid out, so many bytes behind a line of the cache."""
    memory = np.empty(array.nbytes + 2 * LINE, np.uint8)
    start = -memory.ctypes.data % LINE + offset
    copied = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copied[...] = array
    return copied


def results(case: golden.Case, real: str, state: State, offset: int) -> list[tuple[str, bytes]]:
    """What a call leaves in its arrays, each of which starts so many elements behind a line."""
    call = golden.prepare(case, real, "arrays")
    moved: dict[int, Any] = {}
    for i, value in enumerate(call.values):
        if isinstance(value, np.ndarray) and value.flags.c_contiguous:
            if id(value) not in moved:
                moved[id(value)] = placed(value, offset * value.itemsize)
            call.values[i] = moved[id(value)]
    if case.arguments[0].kind == "state":
        call.values[0] = state
    call.run()
    left = [(a.name, golden.as_array(v).tobytes()) for a, v in call.tensors()]
    call.close()
    return left


@pytest.mark.parametrize("real", golden.REALS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_alignment_does_not_change_bits(function: str, real: str) -> None:
    """Arrays at the start of a line, one element behind it, and three."""
    with State(threads=2, minimum_work=1) as state:
        for case in (c for c in CASES if c.function == function):
            wanted = results(case, real, state, 0)
            for offset in (1, 3):
                assert results(case, real, state, offset) == wanted, f"{case.name}: {offset}"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gaps_do_not_change_bits(function: str) -> None:
    """Tensors with gaps between their elements give the bits of dense ones."""
    with State(threads=1) as state:
        for case in (c for c in CASES if c.function == function):
            for real in golden.REALS:
                dense = laid_out(case, real, "tensors", state)
                assert laid_out(case, real, "strided tensors", state) == dense, case.name


def laid_out(case: golden.Case, real: str, kind: str, state: State) -> list[tuple[str, bytes]]:
    call = golden.prepare(case, real, kind)
    if case.arguments[0].kind == "state":
        call.values[0] = state
    call.run()
    left = [
        (a.name, golden.as_array(v).tobytes()) for a, v in call.tensors() if a.role != "scratch"
    ]
    call.close()
    return left


# ---- Alone or in a batch: layers whose results do not depend on the samples beside them

Made = tuple[Callable[[], Any], tuple[int, ...]]
"""A layer, and the shape of a sample."""

LAYERS: dict[str, list[Made]] = {
    "elements": [
        (nn.Tanh, (7, 33)),
        (nn.Sigmoid, (7, 33)),
        (nn.ELU, (5, 19)),
        (nn.LogSigmoid, (77,)),
        (nn.SoftPlus, (77,)),
        (nn.HardTanh, (77,)),
        (lambda: nn.PReLU(3), (3, 9, 9)),
    ],
    "rows": [
        (nn.SoftMax, (77,)),
        (nn.LogSoftMax, (1000,)),
        (nn.SpatialSoftMax, (7, 9, 11)),
        (lambda: nn.Normalize(2), (77,)),
    ],
    "normalisation": [
        (lambda: nn.BatchNormalization(77), (77,)),
        (lambda: nn.SpatialBatchNormalization(5), (5, 9, 11)),
        (lambda: nn.InstanceNormalization(5), (5, 9, 11)),
        (lambda: nn.SpatialCrossMapLRN(5), (9, 7, 11)),
    ],
    "pooling": [
        (lambda: nn.SpatialMaxPooling(3, 3, 2, 2), (5, 17, 19)),
        (lambda: nn.SpatialAveragePooling(3, 3, 2, 2, 1, 1), (5, 17, 19)),
        (lambda: nn.SpatialAdaptiveAveragePooling(3, 4), (5, 17, 19)),
        (lambda: nn.SpatialLPPooling(5, 2, 3, 3, 2, 2), (5, 17, 19)),
        (lambda: nn.SpatialSubSampling(5, 3, 3, 2, 2), (5, 17, 19)),
        (lambda: nn.TemporalMaxPooling(3, 2), (19, 7)),
        (lambda: nn.VolumetricMaxPooling(2, 2, 2), (3, 6, 8, 9)),
        (lambda: nn.VolumetricAveragePooling(2, 2, 2), (3, 6, 8, 9)),
    ],
    "resampling": [
        (lambda: nn.SpatialUpSamplingBilinear(2), (3, 9, 11)),
        (lambda: nn.SpatialUpSamplingNearest(2), (3, 9, 11)),
        (lambda: nn.SpatialReflectionPadding(1, 2, 2, 1), (3, 9, 11)),
        (lambda: nn.SpatialReplicationPadding(1, 2, 2, 1), (3, 9, 11)),
    ],
    "planes": [
        (lambda: nn.SpatialDepthWiseConvolution(16, 1, 3, 3, 1, 1, 1, 1), (16, 14, 14)),
        (lambda: nn.SpatialDepthWiseConvolution(32, 2, 3, 3, 2, 2, 1, 1), (32, 28, 28)),
        (lambda: nn.TemporalRowConvolution(9, 3), (17, 9)),
    ],
}
BATCH, FIRST = 16, 3


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("kind", LAYERS)
def test_samples_beside_a_sample_do_not_change_bits(kind: str, real: Any) -> None:
    """A sample, two and five give in evaluation what they give within a batch of sixteen."""
    for make, shape in LAYERS[kind]:
        layer = make().type("torch.FloatTensor" if real is np.float32 else "torch.DoubleTensor")
        layer.evaluate()
        rng = np.random.default_rng(0)
        x = rng.standard_normal((BATCH, *shape)).astype(real)
        y = np.array(layer.forward(x))
        g = rng.standard_normal(y.shape).astype(real)
        gradient = np.array(layer.updateGradInput(x, g))
        for count in (1, 2, 5):
            some = slice(FIRST, FIRST + count)
            assert np.array(layer.forward(x[some])).tobytes() == y[some].tobytes(), layer
            found = np.array(layer.updateGradInput(x[some], g[some]))
            assert found.tobytes() == gradient[some].tobytes(), layer


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_rows_beside_a_row_do_not_change_bits(real: Any) -> None:
    """`functional.layer_norm`, whose rows are samples."""
    rng = np.random.default_rng(0)
    x, g = rng.standard_normal((2, BATCH, 77)).astype(real)
    y, mean, std = functional.layer_norm(x)
    gradient = functional.layer_norm_backward(g, x, None, mean, std)[0]
    for count in (1, 2, 5):
        some = slice(FIRST, FIRST + count)
        assert functional.layer_norm(x[some])[0].tobytes() == y[some].tobytes()
        found = functional.layer_norm_backward(g[some], x[some], None, mean[some], std[some])[0]
        assert found.tobytes() == gradient[some].tobytes()

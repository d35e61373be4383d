"""Results too large for the caches are written past them: they are those of the pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pythnn import State, thnn

PIECES = 4
BYTES = 20 << 20  # of one tensor; a piece of it is written as usual
MORE_BYTES = 36 << 20  # the same where caches may be larger, or other tensors are read for it


def calls(module: str, arguments: tuple[Any, ...], tensors: list[np.ndarray]) -> list[np.ndarray]:
    """The outputs of one call and of a call per piece, at an address that is not aligned."""
    results = []
    for pieces in (1, PIECES):
        output = np.full(tensors[0].size + 3, 7, tensors[0].dtype)
        parts = np.split(output[2:-1].reshape(tensors[0].shape), pieces)
        for i, part in enumerate(parts):
            given = [np.split(tensor, pieces)[i] for tensor in tensors]
            with State(threads=2, minimum_work=1) as state:
                getattr(thnn, module)(state, *given, part, *arguments)
        assert (output[:2] == 7).all()
        assert output[-1] == 7
        results.append(output)
    return results


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_pointwise(real: Any) -> None:
    rng = np.random.default_rng(0)
    # No multiple of a vector, and blocks and tiles that end anywhere.
    shape = (4 * 3, 3, MORE_BYTES // 36 // np.dtype(real).itemsize + 1)
    x, gradient = (rng.standard_normal(shape).astype(real) for _ in range(2))
    for module, arguments, tensors in [
        ("Threshold_updateOutput", (0.5, 0.25, False), [x]),
        ("Threshold_updateGradInput", (0.5, 0.25, False), [x, gradient]),
        ("Tanh_updateOutput", (), [x]),
        ("Sqrt_updateOutput", (0,), [abs(x)]),
        ("DistKLDivCriterion_updateGradInput", (False,), [x, gradient]),
        ("PReLU_updateOutput", (np.array([0.5, -1, 2], real), 3), [x]),
        ("PReLU_updateGradInput", (np.array([0.5, -1, 2], real), 3), [x, gradient]),
    ]:
        whole, pieces = calls(module, arguments, tensors)
        assert whole.tobytes() == pieces.tobytes(), module


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("module", ["SoftMax", "LogSoftMax"])
@pytest.mark.parametrize("sample", [(1001,), (5, 23, 31)], ids=["rows", "tiles"])
def test_softmax(sample: tuple[int, ...], module: str, real: Any) -> None:
    """Rows, and planes of more positions than a tile has; neither is a multiple of a vector."""
    batch = MORE_BYTES // int(np.prod(sample)) // np.dtype(real).itemsize // PIECES * PIECES
    rng = np.random.default_rng(0)
    y, gradient = (-rng.random((batch, *sample), real) for _ in range(2))
    memory = np.full(2 * y.size + 3, 7, real)  # not aligned
    whole, pieces = memory[2:-1].reshape(2, *y.shape)
    update = getattr(thnn, module + "_updateGradInput")
    with State(threads=2, minimum_work=1) as state:
        update(state, y, gradient, whole, y)
        parts = (np.split(tensor, PIECES) for tensor in (y, gradient, pieces))
        for some, its_gradient, result in zip(*parts, strict=True):
            update(state, some, its_gradient, result, some)
    assert whole.tobytes() == pieces.tobytes()
    assert (memory[[0, 1, -1]] == 7).all()


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_copies(real: Any) -> None:
    planes = 4 * (2 * BYTES // 4 // 37 // 48 // np.dtype(real).itemsize // 4 + 1)
    x = np.random.default_rng(0).standard_normal((planes, 37, 48)).astype(real)
    for module, arguments, shape in [
        ("SpatialUpSamplingNearest_updateOutput", (2,), (74, 96)),  # rows of whole lines
        ("SpatialReplicationPadding_updateOutput", (30, 28, 20, 17), (74, 106)),
    ]:
        whole, pieces = (np.empty((planes, *shape), real) for _ in range(2))
        with State(threads=2, minimum_work=1) as state:
            getattr(thnn, module)(state, x, whole, *arguments)
            for some, result in zip(np.split(x, PIECES), np.split(pieces, PIECES), strict=True):
                getattr(thnn, module)(state, some, result, *arguments)
        assert whole.tobytes() == pieces.tobytes(), module


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize(("width", "left"), [(3, 2), (61, 4), (70, -2), (90, 1), (1500, 3)])
def test_padded_rows(width: int, left: int, real: Any) -> None:
    """Rows that end anywhere in a cache line, rows that are too short, and rows of more than a
    page."""
    shape = (4, width + left)
    planes = MORE_BYTES // 4 // shape[1] // np.dtype(real).itemsize // 4 * 4
    x = np.random.default_rng(0).standard_normal((planes, 2, width)).astype(real)
    memory = np.full(planes * 4 * shape[1] + 5, 7, real)
    whole = memory[3:-2].reshape(planes, *shape)
    with State(threads=2, minimum_work=1) as state:
        thnn.SpatialReplicationPadding_updateOutput(state, x, whole, left, 0, 1, 1)
    at = np.clip(np.arange(-left, width), 0, width - 1)
    np.testing.assert_array_equal(whole, x[:, [0, 0, 1, 1]][..., at])
    assert (memory[[0, 1, 2, -2, -1]] == 7).all()


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_planes(real: Any) -> None:
    """Planes that are put together in a tile, whose size is no multiple of a vector."""
    planes = 4 * (MORE_BYTES // 4 // 151 // 203 // np.dtype(real).itemsize + 1)
    rng = np.random.default_rng(0)
    indices = rng.integers(1, 151 * 203, (planes, 75, 101), endpoint=True)
    x = rng.standard_normal((planes, 151, 203)).astype(real)
    small = rng.standard_normal(indices.shape).astype(real)
    window = (2, 2, 2, 2, 0, 0, False)
    for module, arguments in [
        ("SpatialMaxPooling_updateGradInput", lambda x, small, to, i: (x, small, to, i, *window)),
        ("SpatialMaxUnpooling_updateOutput", lambda _, small, to, i: (small, to, i, 203, 151)),
        ("SpatialMaxUnpooling_updateGradInput", lambda x, y, to, i: (y, x, to, i, 203, 151)),
    ]:
        like = small if "Unpooling_updateGradInput" in module else x
        whole, pieces = (np.empty_like(like) for _ in range(2))
        parts = (np.split(tensor, PIECES) for tensor in (x, small, pieces, indices))
        with State(threads=2, minimum_work=1) as state:
            getattr(thnn, module)(state, *arguments(x, small, whole, indices))
            for part in zip(*parts, strict=True):
                getattr(thnn, module)(state, *arguments(*part))
        assert whole.tobytes() == pieces.tobytes(), module


@pytest.mark.parametrize(("kernel", "stride", "size"), [(3, 2, 1003), (2, 3, 1003), (3, 3, 13)])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_frames(real: Any, kernel: int, stride: int, size: int) -> None:
    """Frames that are longer than what is put together at a time, under windows that overlap; and
    windows that are put together, or are too long for that."""
    frames = BYTES // PIECES // size // np.dtype(real).itemsize
    rng = np.random.default_rng(0)
    x = rng.standard_normal((PIECES, frames, size)).astype(real)
    small = (PIECES, (frames - kernel) // stride + 1, size)
    gradient, indices = rng.standard_normal(small).astype(real), rng.integers(-1, kernel, small)
    memory = np.full(2 * x.size + 3, 7, real)  # not aligned
    whole, pieces = memory[2:-1].reshape(2, *x.shape)
    update = thnn.TemporalMaxPooling_updateGradInput
    with State(threads=2, minimum_work=1) as state:
        update(state, x, gradient, whole, indices, kernel, stride)
        for part in zip(x, gradient, pieces, indices, strict=True):
            update(state, *part, kernel, stride)
    assert whole.tobytes() == pieces.tobytes()
    assert (memory[[0, 1, -1]] == 7).all()

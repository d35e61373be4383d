"""The indices that pooling writes and reads: their layout, and wrong ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from support.definitions.pooling import regions
from support.pooling import call

from pythnn import State, Tensor, THNNArgumentError, thnn


def volumetric_indices(x: np.ndarray) -> np.ndarray:
    """Windows of two neighbouring columns: which of the two is chosen."""
    return x.reshape(*x.shape[:-1], -1, 2).argmax(-1)[None] << 16


def adaptive_indices(x: np.ndarray) -> np.ndarray:
    """Rows and columns of the same windows; single precision does not divide them evenly."""
    pairs = x.shape[-1] // 2
    first = [part.start for part in regions(x.shape[-1], pairs, True)]
    chosen = 2 * np.arange(pairs) + x.reshape(*x.shape[:-1], -1, 2).argmax(-1)
    columns = chosen - np.array(first) + 1
    return np.stack([np.ones_like(columns), columns])


WINDOWS_OF_TWO = {
    "VolumetricMaxPooling": (volumetric_indices, (1, 2, 1, 1, 2, 1, 0, 0, 0, False), 255),
    "SpatialAdaptiveMaxPooling": (adaptive_indices, (), 0),
}


@pytest.mark.parametrize("columns", [1, 3, 7, 8, 9, 28, 64, 511, 512, 513, 1023, 1024, 1025, 2100])
@pytest.mark.parametrize("module", WINDOWS_OF_TWO)
def test_rows_of_indices(module: str, columns: int) -> None:
    """Rows shorter and longer than a vector, and than what is decoded at a time."""
    find, arguments, bad = WINDOWS_OF_TWO[module]
    rng = np.random.default_rng(columns)
    shape = (2, 3, 5, 2 * columns)[-4 if "Volumetric" in module else -3 :]
    x = rng.standard_normal(shape)
    gradient = rng.standard_normal((*shape[:-1], columns))
    indices = find(x).reshape(-1, *gradient.shape)
    if "Volumetric" in module:
        indices = indices[0]
    pairs = x.reshape(*gradient.shape, 2)
    wanted = np.where(pairs == pairs.max(-1, keepdims=True), gradient[..., None], 0)
    given = (indices, *arguments)
    (found,) = call(f"{module}_updateGradInput", x, gradient, np.float64, *given, outputs=(2,))
    np.testing.assert_array_equal(found, wanted.reshape(shape))

    for at in {0, columns // 2, gradient.size // 2, gradient.size - 1}:
        wrong = indices.copy()
        wrong.reshape(-1)[at] = bad
        found = np.full(shape, 7.0)
        with pytest.raises(THNNArgumentError, match=rf"at element {at + 1}\b"):
            getattr(thnn, f"{module}_updateGradInput")(None, x, gradient, found, wrong, *arguments)
        assert (found == 7).all()


INDEX = {
    "SpatialMaxPooling": (np.ones((1, 2, 2), np.int64), (2, 2, 2, 2, 0, 0, False), [-1, 17]),
    "VolumetricMaxPooling": (
        np.zeros((1, 1, 2, 2), np.int64),
        (1, 2, 2, 1, 2, 2, 0, 0, 0, False),
        # Windows begin at 0 and 2: in the last one, tap 2 is the first outside.
        [1, 2 << 8, 2 << 16, 4 << 8, 4 << 16, 0x80, 0x82 << 8, 0xFF << 16],
    ),
    "TemporalMaxPooling": (np.zeros((2, 2), np.int64), (2, 2), [-2, 4]),
}


@pytest.mark.parametrize("module", INDEX)
def test_bad_indices(module: str) -> None:
    """Named in the message, and found wherever the tensor's elements lie."""
    indices, arguments, wrong = INDEX[module]
    x = np.ones({2: (4, 2), 3: (1, 4, 4), 4: (1, 1, 4, 4)}[indices.ndim])
    backward = getattr(thnn, f"{module}_updateGradInput")
    for value, step in product(wrong, (1, 2)):
        spread = np.repeat(indices, step, -1)[..., ::step]
        spread[(-1,) * spread.ndim] = value
        result = Tensor(dtype=np.float64)
        with pytest.raises(THNNArgumentError, match=r"'indices': .* found " + str(value)):
            backward(None, x, np.ones(indices.shape), result, spread, *arguments)
        assert result.numpy().size == 0


@pytest.mark.parametrize("tap", [4, 4 << 8, 4 << 16])
def test_taps_beyond_32_bits(tap: int) -> None:
    """Four steps of 2^30 do not come back to the window's first element."""
    x = np.ones((1, 2, 3, 5))
    gradient, indices = np.arange(30.0).reshape(x.shape), np.zeros(x.shape, np.int64)
    window = *(1, 1, 1), *(1, 1, 1), *(0, 0, 0), *(2**30, 2**30, 2**30), False
    backward = thnn.VolumetricDilatedMaxPooling_updateGradInput
    found = np.empty_like(x)
    backward(None, x, gradient, found, indices, *window)
    np.testing.assert_array_equal(found, gradient)

    indices[0, 1, 0, 2] = tap
    with pytest.raises(THNNArgumentError, match=rf"found {tap} at element 18\b"):
        backward(None, x, gradient, found, indices, *window)
    np.testing.assert_array_equal(found, gradient)


@pytest.mark.parametrize(
    ("count", "output"),
    [
        (10, (2, 3, 5)),
        (10, (4, 15, 17)),
        (10, (70, 4, 5)),
        (10, (3, 37, 34)),
        (10, (2, 1100, 2)),
        (1300, (1, 10, 10)),
        (1300, (2, 5, 10)),
    ],
)
@pytest.mark.parametrize("module", ["VolumetricMaxPooling", "SpatialAdaptiveMaxPooling"])
def test_planes_of_many_indices(module: str, count: int, output: tuple[int, int, int]) -> None:
    """Planes, slices and rows of fewer and of more indices than are decoded at a time, and as many
    planes as are decoded together at most, under windows that overlap; and one bad index in each of
    a few places."""
    rng = np.random.default_rng(0)
    flat = module == "SpatialAdaptiveMaxPooling"
    kernel = (1, 3, 3) if flat else (2, 4, 4)
    if flat:
        output = (1, *output[1:])
    planes, size = (count, *output), [o + k - 1 for o, k in zip(output, kernel, strict=True)]
    x = rng.standard_normal((count, *(size[1:] if flat else size)))
    arguments = () if flat else (2, 4, 4, 1, 1, 1, 0, 0, 0, False)
    start = np.indices(output)
    if flat:
        starts = [[r.start for r in regions(n, o, True)] for n, o in zip(size, output, strict=True)]
        start = np.stack(np.meshgrid(*starts, indexing="ij"))
    taps = np.stack([rng.integers(0, k, planes) for k in kernel])
    taps = np.minimum(taps, np.array(size).reshape(3, 1, 1, 1, 1) - 1 - start[:, None])
    gradient = rng.integers(1, 9, planes).astype(np.float64)
    wanted = np.zeros((planes[0], *size))
    at = np.indices(planes)[0], *(start[:, None] + taps)
    np.add.at(wanted, at, gradient)

    indices = taps[1:, :, 0] + 1 if flat else taps[0] | taps[1] << 8 | taps[2] << 16
    gradient = gradient[:, 0] if flat else gradient
    (found,) = call(
        f"{module}_updateGradInput", x, gradient, np.float64, indices, *arguments, outputs=(2,)
    )
    np.testing.assert_array_equal(found, wanted.reshape(x.shape))

    outside = [250 << 8 * d for d in range(3) if size[d] <= 250]
    places = 0, gradient.size // 2, gradient.size - 1
    for place, bad in product(places, [-1, max(size) + 1] if flat else outside):
        wrong = indices.copy()
        wrong.reshape(-1)[place] = bad
        found = np.full_like(x, 7)
        with pytest.raises(THNNArgumentError, match=rf"at element {place + 1}\b"):
            getattr(thnn, f"{module}_updateGradInput")(None, x, gradient, found, wrong, *arguments)
        assert (found == 7).all()


@pytest.fixture(params=[None, 150_000, 64 << 10], ids=["all", "some", "few"])
def keeping(request: pytest.FixtureRequest) -> State:
    """States in which a check has room for what all indices name, or for that of some planes."""
    return State() if request.param is None else State(workspace_limit=request.param)


def many_indices(dtype: type, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Of 2x2 windows in planes of 120x120, and a value for each: too many for a cache."""
    rows, columns = np.meshgrid(*2 * [2 * np.arange(60)], indexing="ij")
    chosen = rng.integers(0, 2, (2, 40, 60, 60))
    indices = (rows + chosen[0]) * 120 + columns + chosen[1] + 1
    return indices, rng.standard_normal(indices.shape).astype(dtype)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_indices(keeping: State, dtype: type, threads: int) -> None:
    rng = np.random.default_rng(threads)
    indices, values = many_indices(dtype, rng)
    small, large = values.shape, (40, 120, 120)
    plane = np.arange(40)[:, None, None]
    wanted = np.zeros((40, 120 * 120), dtype)
    wanted[plane, indices - 1] = values
    keeping.threads = threads

    found = np.full(large, 7, dtype)
    thnn.SpatialMaxUnpooling_updateOutput(keeping, values, found, indices, 120, 120)
    np.testing.assert_array_equal(found, wanted.reshape(large))
    gradient = rng.standard_normal(large).astype(dtype)
    gotten = np.full(small, 7, dtype)
    thnn.SpatialMaxUnpooling_updateGradInput(keeping, values, gradient, gotten, indices, 120, 120)
    np.testing.assert_array_equal(gotten, gradient.reshape(40, -1)[plane, indices - 1])

    missing = indices.copy()
    missing[3:30, :, ::7] = 0  # no element
    wanted = np.zeros((40, 120 * 120), dtype)
    wanted[plane, indices - 1] = np.where(missing > 0, values, 0)
    window = (2, 2, 2, 2, 0, 0, False)
    for given in (indices, missing):
        thnn.SpatialMaxPooling_updateGradInput(
            keeping, np.zeros(large, dtype), values, found, given, *window
        )
        expected = np.zeros((40, 120 * 120), dtype)
        expected[plane, indices - 1] = np.where(given > 0, values, 0)
        np.testing.assert_array_equal(found, expected.reshape(large))

    for at, value in ((0, -1), (50_000, 14_401), (143_999, 1 + (1 << 16)), (7, 1 << 40)):
        wrong = missing.copy()
        wrong.reshape(-1)[at] = value
        found[:] = 7
        with pytest.raises(THNNArgumentError, match=f"found {value}"):
            thnn.SpatialMaxPooling_updateGradInput(
                keeping, np.zeros(large, dtype), values, found, wrong, *window
            )
        assert (found == 7).all()
    found[:] = 7
    with pytest.raises(THNNArgumentError, match="found 0"):
        thnn.SpatialMaxUnpooling_updateOutput(keeping, values, found, missing, 120, 120)
    assert (found == 7).all()

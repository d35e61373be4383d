"""Winograd's algorithms for kernels of 2x2, 3x3 and 5x5, also dilated, and their slices with
stride 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bounds import WINOGRAD, WINOGRAD4
from support.processes import run_again
from test_convolution import (
    DTYPES,
    MODULES,
    Geometry,
    Module,
    check,
    check_bits,
    compute,
    expected,
    operands,
    strided_layer,
)

from pythnn import State, Tensor, THNNArgumentError, thnn
from pythnn import functional as F  # noqa: N812

ALGORITHMS = ["winograd", "winograd4"]
OTHERS = ["direct", "gemm"]
TILES = [("winograd", 3), ("winograd4", 3), ("winograd4", 5), ("winograd4", 2)]
"""Algorithms, and the taps of their kernels in height and width."""


def tiles_with(*planes: tuple[int, int]) -> list[tuple[str, int, tuple[int, int]]]:
    """Each kind of tiles with numbers of planes; kernels other than of 3x3 with some of them."""
    return [
        (name, taps, some)
        for name, taps in TILES
        for some in (planes if taps == 3 else [(5, 17), (33, 70)])
    ]


TWO_DIMENSIONAL = [module for module in MODULES if module.dimensions == 2]
DILATED = [module for module in MODULES if "d" in module.order]
THREE_DIMENSIONAL = [module for module in MODULES if module.dimensions == 3]


def layer(
    module: Module,
    batch: int,
    planes: tuple[int, int],
    near: tuple[int, ...],
    pad: tuple[int, ...],
    depth: int = 3,
    dilation: tuple[int, ...] | None = None,
    taps: int = 3,
) -> Geometry:
    """`depth` is the kernel's where there are three dimensions; in the others `pad` is what goes
    with three taps."""
    n = module.dimensions
    kernel = (depth, taps, taps)[-n:]
    dilation = dilation or (1,) * n
    more = (taps - 3) // 2 if module.transposed else (taps - 2) // 2
    wider = [more * d for d in dilation[-2:]]
    pad = (*pad[:-2], *(max(p + w, 0) for p, w in zip(pad[-2:], wider, strict=True)))
    grown = [
        (2 * p - d * (k - 1)) * (-1 if module.transposed else 1)
        for p, k, d in zip(pad, kernel, dilation, strict=True)
    ]
    far = tuple(size + by for size, by in zip(near, grown, strict=True))
    return Geometry(batch, planes, near, far, kernel, (1,) * n, pad, dilation, (0,) * n)


def padding(taps: int) -> int:
    return (taps - 1) // 2


def convolve(
    x: np.ndarray, w: np.ndarray, algorithm: str, stride: int = 1, taps: int = 3
) -> np.ndarray:
    y, pad = Tensor(dtype=x.dtype), padding(taps)
    with State(convolution=algorithm) as state:
        thnn.SpatialConvolutionMM_updateOutput(
            state, x, y, w, None, None, None, taps, taps, stride, stride, pad, pad
        )
    return y.numpy()


KEPT = (4, 3), None
TOO_MANY_TO_KEEP = (130, 150), 200_000
"""Planes and how many elements there is room for: where gradients cannot be kept until all are
known, elements and gradients are looked at first."""


def correlate(
    x: np.ndarray, go: np.ndarray, algorithm: str, limit: int | None = None, taps: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    """gradWeight and gradBias, which start at 1, from what of `go` goes with the kernel."""
    pad = padding(taps)
    go = go[..., : x.shape[2] + 2 * pad - taps + 1, : x.shape[3] + 2 * pad - taps + 1]
    gw = np.ones((go.shape[1], taps**2 * x.shape[1]), x.dtype)
    gb = np.ones(go.shape[1], x.dtype)
    if limit:
        limit *= x.itemsize
    with State(convolution=algorithm, workspace_limit=limit) as state:
        thnn.SpatialConvolutionMM_accGradParameters(
            state, x, go, gw, gb, None, None, taps, taps, 1, 1, pad, pad, 0.5
        )
    return gw, gb


def assert_by_another(found: list[np.ndarray], others: list[list[np.ndarray]]) -> None:
    """`found` is what one of the algorithms without sums of elements computes, to the last bit: the
    one that is expected to be the fastest, which differs between instruction sets."""
    assert any(
        all(np.array_equal(f, o, equal_nan=True) for f, o in zip(found, other, strict=True))
        for other in others
    )


@pytest.mark.parametrize(
    ("algorithm", "taps", "planes"),
    tiles_with((1, 1), (5, 17), (33, 70), (70, 150)),
    ids=str,
)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", TWO_DIMENSIONAL, ids=lambda m: m.name)
def test_layers(
    algorithm: str, taps: int, module: Module, dtype: str, planes: tuple[int, int]
) -> None:
    """Tiles reach outside at each side; rows of a block lie in several samples, or blocks in a row;
    some blocks are not full."""
    settings = [
        # batch, size, pad
        (1, (3, 3), (0, 0)),
        (2, (4, 3), (1, 1)),
        (1, (3, 5), (2, 2)),
        (7, (5, 4), (1, 0)),
        (3, (7, 7), (1, 1)),
        (2, (14, 15), (2, 1)),
        (1, (9, 140), (1, 1)),
    ]
    for batch, size, pad in settings:
        g = layer(module, batch, planes, size, pad, taps=taps)
        check(module, g, dtype, algorithm, batch)
    check_bits(module, layer(module, 3, planes, (9, 11), (1, 1), taps=taps), dtype, algorithm)


@pytest.mark.parametrize(
    ("algorithm", "taps", "planes"),
    tiles_with((1, 1), (5, 17), (33, 70)),
    ids=str,
)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", DILATED, ids=lambda m: m.name)
def test_dilated_layers(
    algorithm: str, taps: int, module: Module, dtype: str, planes: tuple[int, int]
) -> None:
    """Tiles of a row begin in pairs or larger groups, which blocks cut; some lie outside."""
    settings = [
        # batch, size, pad, dilation
        (3, (8, 8), (2, 2), (2, 2)),
        (2, (7, 11), (2, 1), (2, 2)),
        (2, (9, 10), (3, 3), (1, 2)),
        (2, (14, 13), (1, 1), (3, 1)),
        (2, (13, 14), (3, 3), (3, 3)),
        (1, (29, 31), (4, 4), (4, 4)),
        (1, (12, 140), (1, 5), (2, 5)),
        (1, (12, 150), (2, 2), (2, 2)),
        (1, (8, 145), (1, 7), (2, 7)),
        (1, (8, 60), (7, 17), (7, 17)),
        (1, (9, 66), (64, 64), (64, 64)),
        (1, (5, 7), (65, 65), (65, 65)),
    ]
    for batch, size, pad, dilation in settings:
        pad, size, dilation = (
            (some, *values)[-module.dimensions :]
            for some, values in ((0, pad), (2, size), (1, dilation))
        )
        g = layer(module, batch, planes, size, pad, 1, dilation, taps)
        check(module, g, dtype, algorithm, batch)
        check_bits(module, g, dtype, algorithm)


@pytest.mark.parametrize(
    ("algorithm", "kernel"),
    [(name, kernel) for name in ALGORITHMS for kernel in [(4, 4), (5, 5), (6, 5), (5, 6), (6, 6)]]
    + [("winograd4", (9, 10))],
    ids=str,
)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", TWO_DIMENSIONAL, ids=lambda m: m.name)
def test_strides(algorithm: str, kernel: tuple[int, int], module: Module, dtype: str) -> None:
    """Slices of an image, or phases of a map, with and without a last tap in rows and columns."""
    for batch, planes, image, pad in [
        (1, (5, 17), (18, 19), (0, 0)),
        (2, (33, 70), (15, 22), (2, 1)),
        (3, (17, 3), (11, 10), (1, 3)),
    ]:
        g = strided_layer(module, batch, planes, image, kernel, (2, 2), pad)
        with State(convolution=algorithm) as state:
            shapes = (
                (batch, planes[0], *g.near),
                (*planes[:: 1 if module.transposed else -1], *kernel),
            )
            results = ["output", "grad_input", "grad_weight"]
            for result in results[: 2 if (algorithm, kernel) == ("winograd", (4, 4)) else 3]:
                plan = F.convolution_plan(
                    *shapes, result, stride=2, padding=pad, transposed=module.transposed,
                    output_padding=g.adjustment, dtype=dtype, state=state,
                )  # fmt: skip
                assert plan.algorithm == algorithm
        check(module, g, dtype, algorithm, batch)
        check_bits(module, g, dtype, algorithm)


@pytest.mark.parametrize(
    ("algorithm", "taps", "planes"),
    tiles_with((1, 1), (5, 17), (33, 70)),
    ids=str,
)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", THREE_DIMENSIONAL, ids=lambda m: m.name)
def test_taps_in_depth(
    algorithm: str, taps: int, module: Module, dtype: str, planes: tuple[int, int]
) -> None:
    """A result sees a slice of each plane through each of them; some of them lie outside."""
    settings = [
        # batch, size, pad, taps in depth
        (1, (1, 3, 3), (0, 0, 0), 1),
        (3, (4, 5, 4), (0, 1, 0), 1),
        (2, (3, 4, 7), (1, 1, 1), 3),
        (1, (5, 7, 7), (2, 0, 1), 3),
        (2, (2, 6, 5), (1, 2, 1), 2),
    ]
    for batch, size, pad, depth in settings:
        g = layer(module, batch, planes, size, pad, depth, taps=taps)
        check(module, g, dtype, algorithm, batch)
    g = layer(module, 2, planes, (4, 7, 9), (1, 1, 1), taps=taps)
    check_bits(module, g, dtype, algorithm)


@pytest.mark.parametrize(("algorithm", "taps"), TILES)
@pytest.mark.parametrize("planes", [(150, 115), (115, 150)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_that_do_not_fit(
    algorithm: str, taps: int, dtype: str, planes: tuple[int, int]
) -> None:
    """They are transformed for each group of blocks, panel by panel."""
    module = TWO_DIMENSIONAL[0]
    g = layer(module, 3, planes, (22, 25), (1, 1), taps=taps)
    check(module, g, dtype, algorithm, 0, limits=(600_000, 1_000_000, 2_000_000))


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_each_level_on_poisoned_memory(level: str) -> None:
    some = "(fit and float32) or (layers and 33 and Spatial and not Full)"
    run_again(level, "-k", some, __file__, poisoned=True)


@pytest.mark.parametrize("taps", [2, 3, 5])
@pytest.mark.parametrize("dtype", DTYPES)
def test_error_is_that_of_other_algorithms(dtype: str, taps: int) -> None:
    module = TWO_DIMENSIONAL[0]
    g = layer(module, 2, (96, 80), (20, 30), (1, 1), taps=taps)
    arguments = operands(module, g, dtype, np.random.default_rng(0))
    wanted = expected(module, g, *arguments)
    squares = {}
    for algorithm in ("direct", *(name for name, of in TILES if of == taps)):
        with State(convolution=algorithm) as state:
            y, gx, gw, _ = compute(module, g, *arguments, state)
        found = y, gx, 2 * (gw.astype(np.float64) - 1)
        squares[algorithm] = [((f - w) ** 2).mean() for f, w in zip(found, wanted, strict=True)]
    for direct, winograd4 in zip(squares["direct"], squares["winograd4"], strict=True):
        assert direct < winograd4 < WINOGRAD4**2 * direct
    for direct, winograd, winograd4 in zip(
        squares["direct"], squares.get("winograd", ()), squares["winograd4"], strict=taps == 3
    ):
        assert 0 < winograd < WINOGRAD**2 * direct
        assert winograd < winograd4


def convolved(kind: str, taps: int, algorithm: str) -> tuple[np.ndarray, np.ndarray]:
    """The result for data of one kind, and the exact one."""
    random = np.random.default_rng(0)
    x = random.uniform(0, 255, (1, 32, 16, 16))
    if kind != "images":
        x = random.standard_normal(x.shape)
    if kind == "one element":
        x[0, 0, 8, 8] = 1e4
    w = random.standard_normal((32, 32, taps, taps))
    if kind == "long tails":
        w = random.laplace(size=w.shape) * np.exp(random.standard_normal((32, 32, 1, 1)))
        x = np.maximum(x, 0)
    x, w = x.astype("float32"), w.astype("float32")
    with State(convolution="direct") as exact, State(convolution=algorithm) as state:
        wanted = F.conv2d(x.astype(float), w.astype(float), state=exact)
        return F.conv2d(x, w, state=state), wanted


@pytest.mark.parametrize(("algorithm", "taps"), TILES)
@pytest.mark.parametrize("kind", ["normal", "images", "one element", "long tails"])
def test_errors_on_kinds_of_data(kind: str, algorithm: str, taps: int) -> None:
    """Errors are in single precision at most what the page on performance says of layers with more
    planes: 4e-7 in the root mean square, and with more than four points 1.2e-6."""
    found, wanted = convolved(kind, taps, algorithm)
    most = 4e-7 if algorithm == "winograd" else 1.2e-6
    assert np.sqrt(((found - wanted) ** 2).mean() / (wanted**2).mean()) < most


@pytest.mark.parametrize(("algorithm", "taps"), TILES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_overflows_on_the_way_only(algorithm: str, taps: int, dtype: str) -> None:
    """Sums of elements that are too large, of results that are not."""
    random = np.random.default_rng(0)
    x = random.uniform(0.5, 1, (2, 4, 9, 10)).astype(dtype) * np.finfo(dtype).max
    w = random.uniform(-1, 1, (3, 4 * taps**2)).astype(dtype) / 128
    found, *others = ([convolve(x, w, name, taps=taps)] for name in (algorithm, *OTHERS))
    assert np.isfinite(found).all()
    assert_by_another(found, others)


@pytest.mark.parametrize(("algorithm", "taps"), TILES)
@pytest.mark.parametrize(("planes", "limit"), [KEPT, TOO_MANY_TO_KEEP])
@pytest.mark.parametrize("dtype", DTYPES)
def test_weight_gradient_of_what_overflows_on_the_way_only(
    algorithm: str, taps: int, dtype: str, planes: tuple[int, int], limit: int | None
) -> None:
    random = np.random.default_rng(0)
    x = random.uniform(0.5, 1, (2, planes[0], 9, 10)).astype(dtype) * np.finfo(dtype).max
    go = random.uniform(-1, 1, (2, planes[1], 9, 10)).astype(dtype) / 1024
    found, *others = (list(correlate(x, go, name, limit, taps)) for name in (algorithm, *OTHERS))
    assert all(np.isfinite(f).all() for f in found)
    assert_by_another(found, others)


@pytest.mark.parametrize(("algorithm", "taps"), TILES)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize(("planes", "limit"), [KEPT, TOO_MANY_TO_KEEP])
@pytest.mark.parametrize("dtype", DTYPES)
def test_weight_gradient_of_infinity_and_nan(
    algorithm: str, taps: int, dtype: str, planes: tuple[int, int], limit: int | None, value: float
) -> None:
    """In an element and in a gradient: results are those of the other algorithm, and what the
    gradients were before is added to once."""
    random = np.random.default_rng(0)
    x = random.standard_normal((2, planes[0], 9, 10)).astype(dtype)
    go = random.standard_normal((2, planes[1], 9, 10)).astype(dtype)
    for array in (x, go):
        array.flat[40] = value
        found, *others = (
            list(correlate(x, go, name, limit, taps)) for name in (algorithm, *OTHERS)
        )
        assert_by_another(found, others)
        assert {True, False} == set(np.isfinite(found[0]).flat)
        array.flat[40] = 1


@pytest.mark.parametrize(("algorithm", "taps"), TILES)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("dtype", DTYPES)
def test_infinity_and_nan(algorithm: str, taps: int, dtype: str, value: float) -> None:
    """In an element and in a weight: results are those of the other algorithm."""
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 4, 9, 10)).astype(dtype)
    w = random.standard_normal((3, 4 * taps**2)).astype(dtype)
    for array in (x, w):
        array.flat[40] = value
        found, *others = ([convolve(x, w, name, taps=taps)] for name in (algorithm, *OTHERS))
        assert_by_another(found, others)
        assert {True, False} == set(np.isfinite(found[0]).flat)
        array.flat[40] = 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_depend_on_what_they_see_only(dtype: str) -> None:
    """A large element changes no bit of a result that does not see it, in the same tile or not."""
    random = np.random.default_rng(0)
    x = random.standard_normal((1, 3, 8, 9)).astype(dtype)
    w = random.standard_normal((2, 27)).astype(dtype)
    before = convolve(x, w, "winograd")
    for row in range(3, 5):
        for column in range(3, 5):
            changed = x.copy()
            changed[0, 1, row, column] = 1e20
            after = convolve(changed, w, "winograd")
            seen = np.zeros((8, 9), bool)
            seen[row - 1 : row + 2, column - 1 : column + 2] = True
            np.testing.assert_array_equal(after != before, np.broadcast_to(seen, after.shape))


def root_mean_square_error(planes: int) -> float:
    """Of tiles of 4x4 results, relative to the results'."""
    random = np.random.default_rng(0)
    x = random.standard_normal((2, planes, 56, 56)).astype("float32")
    w = random.standard_normal((24, planes, 3, 3)).astype("float32")
    with State(convolution="winograd4") as state:
        found = F.conv2d(x, w, padding=1, state=state)
    wanted = F.conv2d(x.astype("float64"), w.astype("float64"), padding=1)
    return float(np.sqrt(np.mean((found - wanted) ** 2) / np.mean(wanted**2)))


def test_errors_with_many_planes() -> None:
    """No sum has so many terms that their errors add up to much more than those of 96. Those of 256
    terms are 1.6 times as large."""
    assert root_mean_square_error(256) < 1.25 * root_mean_square_error(96)


def test_errors_with_many_planes_at_avx2() -> None:
    run_again("avx2", "-k", "test_errors_with_many_planes and not avx2", __file__)


def test_other_convolutions_are_chosen_for_automatically() -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((1, 3, 8, 9)).astype("float32")
    w = random.standard_normal((2, 27)).astype("float32")
    found, wanted = (convolve(x, w, algorithm, stride=3) for algorithm in ("winograd", "auto"))
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("result", ["output", "grad_input", "grad_weight"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_high_accuracy_does_without_tiles_of_four(dtype: str, result: str) -> None:
    shapes = (1, 64, 56, 56), (64, 64, 3, 3)
    with State(convolution="winograd4") as state:
        plan = F.convolution_plan(*shapes, result, padding=1, dtype=dtype, state=state)
        assert plan.algorithm == "winograd4"
        state.accuracy = "high"
        x, w = (np.ones((1, 2, 5, 5), dtype), np.ones((2, 2, 3, 3), dtype))
        with pytest.raises(THNNArgumentError, match="which an accuracy of 'high' does without"):
            F.convolution_plan(*shapes, result, padding=1, dtype=dtype, state=state)
        with pytest.raises(THNNArgumentError, match="which an accuracy of 'high' does without"):
            F.conv2d(x, w, state=state)
        state.convolution = "auto"
        plan = F.convolution_plan(*shapes, result, padding=1, dtype=dtype, state=state)
        assert plan.algorithm != "winograd4"
        state.convolution, state.accuracy = "winograd4", "standard"
        np.testing.assert_allclose(F.conv2d(x, w, state=state), np.full((1, 2, 3, 3), 18), 1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_high_accuracy_of_modules(dtype: str) -> None:
    """Asking for tiles of 4x4 nevertheless leaves the choice to the costs."""
    random = np.random.default_rng(0)
    x = random.standard_normal((1, 3, 8, 9)).astype(dtype)
    w = random.standard_normal((2, 27)).astype(dtype)
    found = {}
    for algorithm in ("auto", "winograd4"):
        for accuracy in ("standard", "high"):
            y = Tensor(dtype=dtype)
            with State(convolution=algorithm, accuracy=accuracy) as state:
                thnn.SpatialConvolutionMM_updateOutput(
                    state, x, y, w, None, None, None, 3, 3, 1, 1, 1, 1
                )
            found[algorithm, accuracy] = y.numpy().tobytes()
    assert found["auto", "standard"] == found["auto", "high"] == found["winograd4", "high"]
    assert found["winograd4", "standard"] != found["auto", "standard"]


# images, planes in and out, height, width
WHOLE_ROWS = [
    (2, 160, 32, 28, 14),
    (1, 256, 96, 25, 12),
    (2, 384, 16, 11, 4),
    (2, 4, 32, 6, 26),
    (2, 16, 128, 13, 24),
]
PARTS_OF_ROWS = [(1, 64, 64, 25, 11), (2, 32, 128, 22, 23), (2, 64, 16, 12, 24)]
ODD_PLANES = [(2, 16, 9, 21, 8), (1, 64, 4, 20, 14)]


@pytest.mark.parametrize("sizes", WHOLE_ROWS + PARTS_OF_ROWS + ODD_PLANES, ids=str)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_of_threads(dtype: str, algorithm: str, sizes: tuple[int, ...]) -> None:
    """Small layers, whose tiles are cut into blocks for each thread where that changes no bit: of a
    gradient of inputs, also of infinite elements, and where that is added to an array."""
    images, planes_in, planes_out, height, width = sizes
    random = np.random.default_rng(0)
    grad = random.standard_normal((images, planes_in, height, width)).astype(dtype)
    weight = random.standard_normal((planes_in, planes_out, 3, 3)).astype(dtype)
    x = random.standard_normal((images, planes_out, height, width)).astype(dtype)
    infinite = grad.copy()
    infinite[0, 1, ::6, width // 2] = infinite[-1, 2, 3::6, -1] = np.inf
    found = set()
    for threads in (1, 2, 3, 4):
        with State(convolution=algorithm, threads=threads, minimum_work=1) as state:
            total = x.copy()
            given: list[tuple[np.ndarray, Any]] = [
                (grad, None),
                (infinite, None),
                (infinite, {"x": total}),
            ]
            made = [
                F.conv2d_backward(g, x, weight, padding=1, needs=("x",), add_to=to, state=state)[0]
                for g, to in given
            ]
        found.add(tuple(np.asarray(one).tobytes() for one in made))
    assert len(found) == 1

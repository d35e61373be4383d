"""The convolutions against their definition: random geometries, both algorithms, all modules."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import pytest
from support.bounds import FFT_TILING, WINOGRAD, WINOGRAD4, assert_sums, sum_limit
from support.definitions import convolution as definition
from support.processes import run_again

from pythnn import State, Tensor, thnn

DTYPES = ["float32", "float64"]
ALGORITHMS = ["auto", "gemm", "direct", "winograd", "winograd4", "fft_tiling"]


@dataclass
class Module:
    """A convolution module and the order of its arguments."""

    name: str
    dimensions: int
    transposed: bool
    scratch: tuple[int, int, int]
    """Scratch arguments of updateOutput, updateGradInput, accGradParameters."""
    order: str
    """k kernel, s stride, p pad, d dilation, a adjustment, in the order of the arguments."""


MODULES = [
    Module("SpatialConvolutionMM", 2, False, (2, 2, 2), "ksp"),
    Module("SpatialDilatedConvolution", 2, False, (2, 1, 2), "kspd"),
    Module("SpatialFullConvolution", 2, True, (2, 1, 2), "kspa"),
    Module("SpatialFullDilatedConvolution", 2, True, (2, 1, 2), "kspda"),
    Module("VolumetricConvolution", 3, False, (2, 1, 2), "sp"),
    Module("VolumetricConvolutionMM", 3, False, (1, 2, 1), "ksp"),
    Module("VolumetricDilatedConvolution", 3, False, (2, 1, 2), "kspd"),
    Module("VolumetricFullConvolution", 3, True, (2, 2, 2), "spa"),
    Module("VolumetricFullDilatedConvolution", 3, True, (2, 2, 2), "spda"),
]


@dataclass
class Geometry:
    """One call's sizes, outermost dimension first."""

    batch: int | None
    planes: tuple[int, int]
    near: tuple[int, ...]
    far: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    dilation: tuple[int, ...]
    adjustment: tuple[int, ...]


def random_geometry(module: Module, random: np.random.Generator, largest: int) -> Geometry:
    """Any geometry that the module accepts: strides above the kernel, full padding, dilation."""
    n = module.dimensions

    def draw(low: int, high: int) -> tuple[int, ...]:
        return tuple(int(v) for v in random.integers(low, high, n))

    while True:
        kernel, stride = draw(1, 5), draw(1, 4)
        dilation = draw(1, 4) if "d" in module.order else (1,) * n
        reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
        pad = tuple(int(random.integers(0, r + 1)) for r in reach)
        near = draw(1, largest)
        adjustment = (0,) * n
        if module.transposed:
            adjustment = tuple(
                int(random.integers(0, max(s, d))) for s, d in zip(stride, dilation, strict=True)
            )
            far = tuple(
                (m - 1) * s - 2 * p + r + a
                for m, s, p, r, a in zip(near, stride, pad, reach, adjustment, strict=True)
            )
        else:
            far = tuple(
                (m + 2 * p - r) // s + 1 if m + 2 * p >= r else 0
                for m, s, p, r in zip(near, stride, pad, reach, strict=True)
            )
        if min(far) >= 1:
            planes = (int(random.integers(1, 20)), int(random.integers(1, 20)))
            batch = [None, 1, 3][random.integers(3)]
            return Geometry(batch, planes, near, far, kernel, stride, pad, dilation, adjustment)


def strided_layer(
    module: Module,
    batch: int,
    planes: tuple[int, int],
    image: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    pad: tuple[int, ...],
) -> Geometry:
    """A layer between an image, which a transposed module makes, and its map."""
    steps = [n + 2 * p - k for n, k, p in zip(image, kernel, pad, strict=True)]
    mapped = tuple(n // s + 1 for n, s in zip(steps, stride, strict=True))
    left = tuple(n % s for n, s in zip(steps, stride, strict=True))
    near, far = (mapped, image) if module.transposed else (image, mapped)
    none = (0,) * len(image)
    adjustment = left if module.transposed else none
    dilation = (1,) * len(image)
    return Geometry(batch, planes, near, far, kernel, stride, pad, dilation, adjustment)


def scalars(module: Module, g: Geometry) -> list[int]:
    """The integer arguments: (depth,) width, height for each group."""
    groups = {"k": g.kernel, "s": g.stride, "p": g.pad, "d": g.dilation, "a": g.adjustment}
    order = [1, 0] if module.dimensions == 2 else [0, 2, 1]
    return [groups[name][i] for name in module.order for i in order]


def expected(
    module: Module, g: Geometry, x: np.ndarray, w: np.ndarray, b: np.ndarray, go: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """output, gradInput and gradWeight by definition, in float64, with a batch dimension."""
    x, w, b, go = (a.astype(np.float64) for a in (x, w, b, go))
    settings = (g.stride, g.pad, g.dilation)
    if module.transposed:
        return (
            definition.backward_data(x, w, b, g.far, *settings),
            definition.forward(go, w, None, g.near, *settings),
            definition.backward_weight(go, x, g.kernel, *settings),
        )
    return (
        definition.forward(x, w, b, g.far, *settings),
        definition.backward_data(go, w, None, g.near, *settings),
        definition.backward_weight(x, go, g.kernel, *settings),
    )


def compute(
    module: Module,
    g: Geometry,
    x: np.ndarray,
    w: np.ndarray,
    b: np.ndarray,
    go: np.ndarray,
    state: State | None,
) -> tuple[np.ndarray, ...]:
    """output, gradInput, gradWeight and gradBias of the module; the last two start at 1."""
    numbers = scalars(module, g)
    scratch = [[None] * n for n in module.scratch]

    def shaped(a: np.ndarray) -> np.ndarray:
        return a if g.batch else a[0]

    y, gx = Tensor(dtype=x.dtype), Tensor(dtype=x.dtype)
    gw, gb = np.ones_like(w), np.ones_like(b)
    name = module.name
    getattr(thnn, f"{name}_updateOutput")(state, shaped(x), y, w, b, *scratch[0], *numbers)
    getattr(thnn, f"{name}_updateGradInput")(
        state, shaped(x), shaped(go), gx, w, *scratch[1], *numbers
    )
    getattr(thnn, f"{name}_accGradParameters")(
        state, shaped(x), shaped(go), gw, gb, *scratch[2], *numbers, 0.5
    )
    return y.numpy(), gx.numpy(), gw, gb


def operands(
    module: Module, g: Geometry, dtype: str, random: np.random.Generator
) -> tuple[np.ndarray, ...]:
    near_planes, far_planes = g.planes
    batch = g.batch or 1
    x = random.standard_normal((batch, near_planes, *g.near))
    go = random.standard_normal((batch, far_planes, *g.far))
    w = random.standard_normal(
        (near_planes, far_planes, *g.kernel)
        if module.transposed
        else (far_planes, near_planes, *g.kernel)
    )
    b = random.standard_normal(far_planes)
    return tuple(a.astype(dtype) for a in (x, w, b, go))


GROWTH = {
    "auto": WINOGRAD4,
    "winograd": WINOGRAD,
    "winograd4": WINOGRAD4,
    "fft_tiling": FFT_TILING,
}
"""By how much algorithms may increase the limit of a sum."""


Sides = tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]


def defined(module: Module, g: Geometry, operands: tuple[np.ndarray, ...]) -> Sides:
    """output, gradInput, gradWeight and gradBias by definition, and the same for the operands'
    absolute values."""
    x, w, b, go = (a.astype(np.float64) for a in operands)
    sides = []
    for arguments in ((x, w, b, go), tuple(map(np.abs, (x, w, b, go)))):
        y, gx, gw = expected(module, g, *arguments)
        gb = arguments[3].sum(axis=(0, *range(2, go.ndim)))
        if not g.batch:
            y, gx = y[0], gx[0]
        sides.append((y, gx, 1 + 0.5 * gw, 1 + 0.5 * gb))
    return sides[0], sides[1]


def check_results(
    module: Module,
    g: Geometry,
    sides: Sides,
    found: tuple[np.ndarray | None, ...],
    algorithm: str,
    what: str,
) -> None:
    """output, gradInput, gradWeight and gradBias, of which None is not looked at, against what is
    defined, as exact as sums of so many terms are."""
    taps = int(np.prod(g.kernel))
    positions = (g.batch or 1) * int(np.prod(g.far if not module.transposed else g.near))
    terms = (
        g.planes[0] * taps,
        g.planes[1] * taps,
        positions,
        (g.batch or 1) * int(np.prod(g.far)),
    )
    names = ("output", "gradInput", "gradWeight", "gradBias")
    for name, result, wanted, magnitudes, count in zip(names, found, *sides, terms, strict=True):
        if result is None:
            continue
        if algorithm in GROWTH and name != "gradBias":
            largest = np.max(magnitudes, initial=0)
            assert_sums(result, wanted, count, largest, f"{name} of {what}", GROWTH[algorithm])
        else:
            assert_sums(result, wanted, count, magnitudes, f"{name} of {what}")


def check(
    module: Module,
    g: Geometry,
    dtype: str,
    algorithm: str,
    seed: int,
    limits: tuple[int | None, ...] = (None,),
) -> None:
    """With each of these limits on scratch memory."""
    given = operands(module, g, dtype, np.random.default_rng(seed))
    sides = defined(module, g, given)
    for limit in limits:
        with State(
            convolution=algorithm, threads=2, minimum_work=1, workspace_limit=limit
        ) as state:
            found = compute(module, g, *given, state)
        where = f"{module.name} {dtype} {algorithm} {g}, limit {limit}"
        check_results(module, g, sides, found, algorithm, where)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_random_geometries(module: Module, dtype: str, algorithm: str) -> None:
    random = np.random.default_rng([len(module.name), module.dimensions])
    for seed in range(8):
        largest = [8, 20][seed % 2] if module.dimensions == 2 else 8
        check(module, random_geometry(module, random, largest), dtype, algorithm, seed)


WIDTHS = [1, 2, 7, 14, 15, 16, 17, 28, 31, 47, 48, 49, 56, 64, 112]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["SpatialConvolutionMM", "SpatialFullConvolution"])
def test_widths_and_planes_around_the_vector_length(name: str, dtype: str, algorithm: str) -> None:
    module = next(m for m in MODULES if m.name == name)
    for i, width in enumerate(WIDTHS):
        planes = [(1, 1), (3, 8), (16, 33), (64, 7), (17, 48)][i % 5]
        kernel, stride, pad = [(3, 1, 1), (4, 2, 1), (1, 1, 0), (5, 2, 2), (2, 3, 0)][i % 5]
        near = (min(width, 9) + 4, width + 4)
        if module.transposed:
            far = tuple((n - 1) * stride - 2 * pad + kernel for n in near)
        else:
            far = tuple((n + 2 * pad - kernel) // stride + 1 for n in near)
        g = Geometry(2, planes, near, far, *((v, v) for v in (kernel, stride, pad, 1, 0)))
        check(module, g, dtype, algorithm, i)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("planes", [4, 16, 32, 48, 64, 80], ids=str)
def test_lines_whose_ends_see_few_taps(planes: int, dtype: str) -> None:
    """Lines of one to four vectors, in one tile and in several; kernels reach far outside."""
    module = next(m for m in MODULES if m.name == "SpatialDilatedConvolution")
    settings = [
        # width, kernel, stride, pad, dilation
        (1, 7, 1, 4, 1),
        (3, 9, 1, 4, 1),
        (5, 9, 1, 4, 1),
        (7, 7, 1, 6, 1),
        (9, 5, 1, 2, 1),
        (16, 7, 1, 3, 1),
        (26, 6, 1, 3, 1),
        (37, 5, 2, 3, 1),
        (29, 4, 3, 4, 2),
        (31, 3, 1, 4, 4),
        (30, 2, 2, 9, 9),
    ]
    for i, (width, *line) in enumerate(settings):
        kernel, stride, pad, dilation = line
        far = (width + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
        for near, out in [((3, width), (3, far)), ((width, 3), (far, 3))]:
            across = near[0] == 3
            pairs = [(1, v) if across else (v, 1) for v in (kernel, stride)]
            pads = (0, pad) if across else (pad, 0)
            spread = (1, dilation) if across else (dilation, 1)
            g = Geometry(2, (planes, planes), near, out, *pairs, pads, spread, (0, 0))
            check(module, g, dtype, "direct", i)


@pytest.mark.parametrize("dtype", DTYPES)
def test_taps_that_few_positions_share(dtype: str) -> None:
    """The gradients of a strided layer: positions of many samples are taken together."""
    module = next(m for m in MODULES if m.name == "SpatialConvolutionMM")
    for batch in (2, 7, 40):
        for size, kernel, stride, pad in [((20, 20), 7, 3, 0), ((9, 33), 6, 3, 2)]:
            far = tuple((n + 2 * pad - kernel) // stride + 1 for n in size)
            pairs = ((v, v) for v in (kernel, stride, pad, 1, 0))
            check(module, Geometry(batch, (9, 35), size, far, *pairs), dtype, "direct", batch)


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_each_level_on_poisoned_memory(level: str) -> None:
    names = ("test_random_geometries", "test_lines_whose_ends_see_few_taps")
    run_again(level, *(f"{__file__}::{name}" for name in names), poisoned=True)


def check_bits(module: Module, g: Geometry, dtype: str, algorithm: str) -> None:
    """Results are the same for any number of threads."""
    arguments = operands(module, g, dtype, np.random.default_rng(0))
    wanted: tuple[bytes, ...] | None = None
    for threads in (1, 2, 3, 4, 7):
        with State(convolution=algorithm, threads=threads, minimum_work=1) as state:
            found = tuple(a.tobytes() for a in compute(module, g, *arguments, state))
        wanted = wanted or found
        assert found == wanted, f"{threads} threads"


@pytest.mark.parametrize("algorithm", ["gemm", "direct"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_threads_do_not_change_bits(module: Module, dtype: str, algorithm: str) -> None:
    """Also on problems that are large enough for several blocks of every kind."""
    n = module.dimensions
    near = (25, 37) if n == 2 else (6, 11, 13)
    settings = {"kernel": (3,) * n, "stride": (2,) * n, "pad": (1,) * n, "dilation": (1,) * n}
    if module.transposed:
        far = tuple((m - 1) * 2 + 1 for m in near)
    else:
        far = tuple((m - 1) // 2 + 1 for m in near)
    g = Geometry(5, (33, 47), near, far, adjustment=(0,) * n, **settings)
    check_bits(module, g, dtype, algorithm)


@pytest.mark.parametrize("planes", [(24, 147), (147, 24), (70, 70)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pointwise_layers(dtype: str, planes: tuple[int, int]) -> None:
    """The weight gradient transposes whichever side has fewer planes."""
    module = next(m for m in MODULES if m.name == "SpatialConvolutionMM")
    pairs = ((1, 1), (1, 1), (0, 0), (1, 1), (0, 0))
    for batch, size in [(1, (9, 13)), (7, (5, 5)), (3, (41, 37)), (2, (80, 90))]:
        g = Geometry(batch, planes, size, size, *pairs)
        check(module, g, dtype, "direct", batch)
        check_bits(module, g, dtype, "direct")


@pytest.mark.parametrize("planes", [(20, 40), (64, 20), (300, 32)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pointwise_layers_of_few_positions(dtype: str, planes: tuple[int, int]) -> None:
    """Of few samples, too: there is not an even part for each thread. Of many, some are taken
    together."""
    module = next(m for m in MODULES if m.name == "SpatialConvolutionMM")
    pairs = ((1, 1), (1, 1), (0, 0), (1, 1), (0, 0))
    for batch in (1, 2, 3, 5, 29):
        for size in [(1, 5), (3, 3), (5, 5)]:
            g = Geometry(batch, planes, size, size, *pairs)
            check(module, g, dtype, "direct", batch)
            check_bits(module, g, dtype, "direct")


def check_one_tap(
    module: Module,
    dtype: str,
    planes: tuple[int, int],
    batch: int,
    near: tuple[int, ...],
    stride: tuple[int, ...],
) -> None:
    """Positions between the strides and some behind the last one are seen by nothing."""
    n = module.dimensions
    if module.transposed:
        far = tuple((m - 1) * s + 1 for m, s in zip(near, stride, strict=True))
    else:
        far = tuple((m - 1) // s + 1 for m, s in zip(near, stride, strict=True))
    g = Geometry(batch, planes, near, far, (1,) * n, stride, (0,) * n, (1,) * n, (0,) * n)
    for algorithm in ("direct", "auto"):
        check(module, g, dtype, algorithm, batch)
        check_bits(module, g, dtype, algorithm)


@pytest.mark.parametrize("planes", [(33, 70), (70, 33)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_one_tap_with_strides(module: Module, dtype: str, planes: tuple[int, int]) -> None:
    n = module.dimensions
    for batch, near, stride in [(1, (9, 16, 14), (2, 3, 2)), (3, (7, 9, 21), (1, 2, 4))]:
        check_one_tap(module, dtype, planes, batch, near[-n:], stride[-n:])


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_tap_with_strides_and_many_planes(dtype: str) -> None:
    """Gradients of the weights as products, too, and samples in two groups."""
    for name in ("SpatialConvolutionMM", "SpatialFullConvolution"):
        module = next(m for m in MODULES if m.name == name)
        check_one_tap(module, dtype, (160, 480), 9, (13, 14), (2, 2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("planes", "kernel"), [((40, 3), 1), ((150, 20), 1), ((200, 2), 3)])
def test_many_planes_to_few(planes: tuple[int, int], kernel: int, dtype: str) -> None:
    """Source planes are added block by block."""
    module = next(m for m in MODULES if m.name == "SpatialConvolutionMM")
    pair = ((v, v) for v in (kernel, 1, kernel // 2, 1, 0))
    g = Geometry(2, planes, (19, 37), (19, 37), *pair)
    check(module, g, dtype, "direct", 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("planes", [(40, 530), (200, 128), (300, 192)], ids=str)
def test_many_planes_of_few_positions(planes: tuple[int, int], dtype: str) -> None:
    """Threads share out the planes, where they are enough for as many even parts."""
    module = next(m for m in MODULES if m.name == "SpatialConvolutionMM")
    g = Geometry(1, planes, (7, 9), (7, 9), *((v, v) for v in (1, 1, 0, 1, 0)))
    check(module, g, dtype, "direct", 0)
    arguments = operands(module, g, dtype, np.random.default_rng(0))
    outputs = set()
    for threads in (1, 2, 3, 4):
        with State(convolution="direct", threads=threads, minimum_work=1) as state:
            outputs.add(compute(module, g, *arguments, state)[0].tobytes())
    assert len(outputs) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_position_of_taps_that_lie_apart(dtype: str) -> None:
    """The gradient of the input is the product of a matrix and a column, which is folded."""
    module = next(m for m in MODULES if m.name == "SpatialDilatedConvolution")
    g = Geometry(2, (64, 70), (5, 6), (1, 1), (3, 3), (1, 3), (0, 0), (2, 2), (0, 0))
    check(module, g, dtype, "gemm", 0)


# Few map planes: image and map change roles.
WEIGHT_GRADIENTS = {
    "few map planes, stride 2": ((24, 2), (31, 40), (3, 3), (2, 2), (1, 1), (1, 1)),
    "few map planes, different strides": ((33, 3), (40, 23), (5, 4), (3, 2), (2, 3), (1, 1)),
    "few map planes, strides that share a factor with the dilation": (
        *((40, 2), (37, 29), (4, 5), (4, 6), (0, 3), (2, 4)),
    ),
    "few map planes, strides beyond the kernel": (
        *((17, 1), (50, 31), (2, 3), (5, 7), (0, 1), (1, 1)),
    ),
    "few map planes": ((65, 3), (19, 33), (3, 5), (1, 1), (1, 2), (1, 1)),
    "chains of taps with a stride": ((17, 16), (19, 23), (3, 7), (1, 2), (1, 3), (1, 1)),
    "chains of dilated taps": ((13, 12), (17, 29), (3, 3), (1, 1), (2, 4), (2, 4)),
    "lines of taps whose sums are many": ((12, 12), (3, 90), (1, 80), (1, 1), (0, 20), (1, 1)),
    "boxes at one edge and at none": ((24, 33), (64, 66), (3, 3), (2, 2), (1, 1), (1, 1)),
    "each of 81 taps sees other positions": ((24, 33), (12, 13), (9, 9), (1, 1), (4, 4), (1, 1)),
}


@pytest.mark.parametrize("workspace_limit", [200_000, None])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", WEIGHT_GRADIENTS)
def test_weight_gradient(name: str, dtype: str, workspace_limit: int | None) -> None:
    """With little memory, in many groups of boxes."""
    planes, near, kernel, stride, pad, dilation = WEIGHT_GRADIENTS[name]
    module = next(m for m in MODULES if m.name == "SpatialDilatedConvolution")
    far = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(near, kernel, stride, pad, dilation, strict=True)
    )
    g = Geometry(7, planes, near, far, kernel, stride, pad, dilation, (0, 0))
    arguments = operands(module, g, dtype, np.random.default_rng(1))
    sides = defined(module, g, arguments)
    limit = {} if workspace_limit is None else {"workspace_limit": workspace_limit}
    first: bytes | None = None
    for threads in (1, 2, 3, 5):
        with State(convolution="direct", threads=threads, minimum_work=1, **limit) as state:
            found = compute(module, g, *arguments, state)[2]
        if first is None:
            check_results(module, g, sides, (None, None, found, None), "direct", name)
        first = first or found.tobytes()
        assert found.tobytes() == first, f"{threads} threads"


def contraction_limit(module: Module, g: Geometry, arrays: tuple[np.ndarray, ...]) -> float:
    """How far the sum of output x gradient may be off in float64, whichever operand comes last:
    each term is an element of each operand, and each sum is as long as all operands at most."""
    x, w, b, go = (np.abs(a) for a in arrays)
    y = expected(module, g, x, w, b, go)[0]
    terms = x.size + w.size + b.size + go.size
    # A gradient of the weight starts at 1, which is taken off again.
    return float(sum_limit(terms, np.vdot(y, go) + 2 * w.sum() + 2 * b.sum(), np.float64))


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_adjoint(module: Module) -> None:
    """<forward(x), g> = <x, backward(g)>, in the input and in the weight."""
    random = np.random.default_rng(3)
    g = random_geometry(module, random, 9)
    x, w, b, go = operands(module, g, "float64", random)
    b[:] = 0
    y, gx, gw, _ = compute(module, g, x, w, b, go, None)
    product = np.vdot(y, go)
    limit = 2 * contraction_limit(module, g, (x, w, b, go))
    assert abs(np.vdot(x, gx) - product) <= limit
    assert abs(np.vdot(w, (gw - 1) / 0.5) - product) <= limit


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_gradients_by_finite_differences(module: Module) -> None:
    random = np.random.default_rng(4)
    g = random_geometry(module, random, 5)
    x, w, b, go = operands(module, g, "float64", random)
    _, gx, gw, gb = compute(module, g, x, w, b, go, None)
    gx = gx if g.batch else gx[None]

    def loss() -> float:
        return float(np.vdot(compute(module, g, x, w, b, go, None)[0], go))

    for array, gradient in ((x, gx), (w, 2 * (gw - 1)), (b, 2 * (gb - 1))):
        at = tuple(int(random.integers(n)) for n in array.shape)
        kept = array[at]
        values, limit = [], contraction_limit(module, g, (x, w, b, go))
        for step in (1, -1):  # the loss is linear in each operand
            array[at] = kept + step
            values.append(loss())
            limit += contraction_limit(module, g, (x, w, b, go)) / 2
        array[at] = kept
        assert abs((values[0] - values[1]) / 2 - gradient[at]) <= limit


def test_a_large_stride_is_planned_at_once() -> None:
    """Taps are looked for among the kernel's, not among as many as the stride."""
    x, weight = np.ones((1, 2, 2)), np.ones((1, 1, 2, 2))
    output = Tensor(dtype=np.float64)
    started = time.process_time()
    thnn.SpatialFullConvolution_updateOutput(
        None, x, output, weight, None, None, None, 2, 2, 100_000, 1, 0, 0, 0, 0
    )
    assert time.process_time() - started < 2
    assert output.shape == (1, 3, 100_002)
    assert output.numpy().sum() == x.sum() * weight.sum()

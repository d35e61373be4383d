"""Convolutions that join single planes, and the one without shared weights, against their
definition: random geometries, several tiles, every instruction set."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from support.bounds import assert_sums
from support.definitions import convolution as definition
from support.processes import run_again

from pythnn import State, Tensor, functional, thnn

DTYPES = ["float32", "float64"]
MODULES = [
    "SpatialDepthWiseConvolution",
    "SpatialConvolutionMap",
    "SpatialFullConvolutionMap",
    "TemporalRowConvolution",
]
Results = dict[str, np.ndarray]


@dataclass
class Problem:
    """A call's arguments; input and output have a batch dimension and are channels first.

    ``joins`` has the input plane and the output plane of each connection, from 0, and ``bias`` the
    place of each output plane's bias.
    """

    module: str
    x: np.ndarray
    g: np.ndarray
    weight: np.ndarray
    bias: np.ndarray
    joins: np.ndarray
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    batched: bool = True
    features_first: bool = True
    dilation: tuple[int, int] = (1, 1)

    @property
    def transposed(self) -> bool:
        return self.module == "SpatialFullConvolutionMap"


def make(module: str, dtype: str, seed: int, largest: int) -> Problem:
    random = np.random.default_rng([seed, len(module), largest])
    n = 1 if module == "TemporalRowConvolution" else 2
    transposed = module == "SpatialFullConvolutionMap"
    while True:
        kernel, stride, near = (
            tuple(int(v) for v in random.integers(low, high, n))
            for low, high in ((1, 6), (1, 5), (1, largest))
        )
        pad = (0,) * n if "Map" in module else tuple(int(v) for v in random.integers(-1, 4, n))
        if transposed:
            far = tuple((m - 1) * s + k for m, s, k in zip(near, stride, kernel, strict=True))
        else:
            room = [m + 2 * p - k for m, p, k in zip(near, pad, kernel, strict=True)]
            if min(room) < 0:
                continue
            far = tuple(r // s + 1 for r, s in zip(room, stride, strict=True))
        break

    def draw(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(dtype)

    batched = transposed is False and bool(random.integers(3))
    batch = 3 if batched else 1
    if "Map" in module:
        planes, maps = (int(v) for v in random.integers(1, 5, 2))
        every = np.array([(i, o) for i in range(planes) for o in range(maps)])
        joins = random.permutation(np.concatenate([every, every]))[: random.integers(1, 8)]
        weight, bias = draw(len(joins), *kernel), draw(maps)
    else:
        planes = int(random.integers(1, 20))
        multiplier = 1 if n == 1 else int(random.integers(1, 4))
        maps = planes * multiplier
        joins = np.array(
            [(c, c * multiplier + m) for m in range(multiplier) for c in range(planes)]
        )
        weight = draw(planes, 1, *kernel) if n == 1 else draw(multiplier, planes, *kernel)
        bias = draw(planes) if n == 1 else draw(multiplier, planes)
    x, g = draw(batch, planes, *near), draw(batch, maps, *far)
    return Problem(
        module, x, g, weight, bias, joins, kernel, stride, pad, batched, bool(random.integers(2))
    )


def arranged(p: Problem, a: np.ndarray) -> np.ndarray:
    """As the module takes it: without a batch, or with frames first."""
    if p.module == "TemporalRowConvolution" and not p.features_first:
        a = a.swapaxes(1, 2)
    return a if p.batched else a[0]


def compute(p: Problem, state: State | None) -> Results:
    x, g = arranged(p, p.x), arranged(p, p.g)
    y, gx = Tensor(dtype=x.dtype), Tensor(dtype=x.dtype)
    gw, gb = np.ones_like(p.weight), np.ones_like(p.bias)
    planes = (p.x.shape[1], p.g.shape[1])
    table = (p.joins + 1).astype(x.dtype)
    forward: tuple[object, ...]
    if p.module == "GroupedConvolution":
        settings = (False, planes[0], 1, *p.stride, *(0, *p.pad) * 2, 1, *p.dilation)
        thnn.GroupedConvolution_updateOutput(state, x, y, p.weight, p.bias, *settings)
        thnn.GroupedConvolution_updateGradInput(
            state, g, gx, p.weight, 1, *x.shape[2:], False, *settings
        )
        thnn.GroupedConvolution_accGradParameters(state, x, g, gw, gb, 2, *settings, 0.5)
        return {"output": y.numpy(), "gradInput": gx.numpy(), "gradWeight": gw, "gradBias": gb}
    if p.module == "TemporalRowConvolution":
        scalars = (*p.kernel, *p.stride, *p.pad, p.features_first)
        forward = backward = (None, None, *scalars)
    elif p.module == "SpatialDepthWiseConvolution":
        scalars = (*p.kernel[::-1], *p.stride[::-1], *p.pad[::-1])
        forward = backward = (None, None, *scalars)
    else:
        forward = (table, *planes, *p.stride[::-1])
        backward = (None, *forward)
    getattr(thnn, f"{p.module}_updateOutput")(state, x, y, p.weight, p.bias, *forward)
    getattr(thnn, f"{p.module}_updateGradInput")(state, x, g, gx, p.weight, *backward)
    getattr(thnn, f"{p.module}_accGradParameters")(state, x, g, gw, gb, *forward, 0.5)
    return {"output": y.numpy(), "gradInput": gx.numpy(), "gradWeight": gw, "gradBias": gb}


def expected(p: Problem) -> Results:
    """By the ordinary convolution whose kernels are 0 between planes that are not joined."""
    x, g, weight = (a.astype(np.float64) for a in (p.x, p.g, p.weight))
    side = p.joins[:, ::-1] if not p.transposed else p.joins  # map, image
    image, map_ = (g, x) if p.transposed else (x, g)
    dense = np.zeros((map_.shape[1], image.shape[1], *p.kernel))
    for (m, c), kernel in zip(side, weight.reshape(-1, *p.kernel), strict=True):
        dense[m, c] += kernel
    settings = (p.stride, p.pad, p.dilation[: len(p.kernel)])
    to_map = definition.forward(image, dense, None, map_.shape[2:], *settings)
    to_image = definition.backward_data(map_, dense, None, image.shape[2:], *settings)
    y, gx = (to_image, to_map) if p.transposed else (to_map, to_image)
    gradient = definition.backward_weight(image, map_, p.kernel, *settings)
    gw = np.stack([gradient[m, c] for m, c in side]).reshape(p.weight.shape)
    bias, sums = p.bias.astype(np.float64), g.sum(axis=(0, *range(2, g.ndim)))
    by_plane = bias.T.reshape(-1) if bias.ndim == 2 else bias
    sums = sums.reshape(bias.T.shape).T if bias.ndim == 2 else sums
    return {
        "output": arranged(p, y + by_plane.reshape(-1, *[1] * len(p.kernel))),
        "gradInput": arranged(p, gx),
        "gradWeight": 1 + 0.5 * gw,
        "gradBias": 1 + 0.5 * sums,
    }


def check(p: Problem, state: State | None) -> None:
    """Against the definition, as exact as sums are that have this many terms at most."""
    found, wanted = compute(p, state), expected(p)
    arrays = {name: np.abs(getattr(p, name)) for name in ("x", "g", "weight", "bias")}
    magnitudes = expected(replace(p, **arrays))
    joined = len(p.joins) * int(np.prod(p.kernel))  # one plane with all others, each tap
    positions = max(p.x[:, 0].size, p.g[:, 0].size)
    terms = {"output": joined, "gradInput": joined, "gradWeight": positions, "gradBias": positions}
    for name, value in wanted.items():
        assert_sums(found[name], value, terms[name], magnitudes[name], f"{p.module} {name}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", MODULES)
def test_random_geometries(module: str, dtype: str) -> None:
    with State(threads=2, minimum_work=1) as state:
        for seed in range(30):
            check(make(module, dtype, seed, [6, 12, 40][seed % 3]), state)


def small_kernel(dtype: str, seed: int, stride: int, dilation: tuple[int, int] = (1, 1)) -> Problem:
    """A depth-wise layer of 3x3 or 5x5 taps: rows shorter and longer than a vector,
    as many samples as are summed up at a time or not, padding from less than none to more than the
    kernel."""
    random = np.random.default_rng([seed, len(dtype)])
    side = int(random.choice([3, 5]))
    reach = [(side - 1) * d + 1 for d in dilation]
    pad = tuple(int(random.integers(-2, r + 2)) for r in reach)
    size = [max(int(random.integers(1, 75)), r - 2 * p) for r, p in zip(reach, pad, strict=True)]
    far = [(s + 2 * p - r) // stride + 1 for s, p, r in zip(size, pad, reach, strict=True)]
    planes, multiplier, batch = (int(v) for v in random.integers(1, (20, 3, 10)))
    joins = np.array([(c, c * multiplier + m) for m in range(multiplier) for c in range(planes)])

    def draw(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(dtype)

    p = Problem(
        "SpatialDepthWiseConvolution",
        draw(batch, planes, *size),
        draw(batch, planes * multiplier, *far),
        draw(multiplier, planes, side, side),
        draw(multiplier, planes),
        joins,
        (side, side),
        (stride, stride),
        pad,
    )
    if dilation != (1, 1):  # which the module does not have
        p.module, p.dilation = "GroupedConvolution", dilation
        p.joins = joins[np.argsort(joins[:, 1], kind="stable")]
        p.weight = p.weight.reshape(-1, 1, side, side)
        p.bias = p.bias.reshape(-1)
    return p


def check_threads(p: Problem) -> None:
    """Against the definition; and results have the same bits for any number of threads."""
    check(p, None)
    with State(threads=1) as one, State(threads=3, minimum_work=1) as three:
        wanted, found = compute(p, one), compute(p, three)
    for name, value in wanted.items():
        assert found[name].tobytes() == value.tobytes(), name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("stride", [1, 2])
def test_small_kernels(stride: int, dtype: str) -> None:
    for seed in range(40):
        check_threads(small_kernel(dtype, seed, stride))


def transposed(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, shape: list[int], pad: tuple[int, int]
) -> np.ndarray:
    """A transposed depth-wise layer with stride 2, by the ordinary one."""
    planes = len(weight)
    dense = np.zeros((planes, *weight.shape))[:, :, 0]
    dense[np.arange(planes), np.arange(planes)] = weight[:, 0]
    settings = ((2, 2), pad, (1, 1))
    image = definition.backward_data(x.astype(np.float64), dense, None, shape, *settings)
    return image + bias[:, None, None].astype(np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_transposed_small_kernels_with_stride_2(dtype: str) -> None:
    """What they compute is the gradient of an image, and a bias."""
    random = np.random.default_rng(len(dtype))
    for _ in range(20):
        planes, side = int(random.integers(1, 20)), int(random.choice([3, 5]))
        ranges = ((0, 3), (0, 2), (2, 40))
        pad, more, size = (tuple(map(int, random.integers(*of, 2))) for of in ranges)
        shape = [2 * (n - 1) + side - 2 * p + m for n, p, m in zip(size, pad, more, strict=True)]
        x = random.standard_normal((3, planes, *size)).astype(dtype)
        weight = random.standard_normal((planes, 1, side, side)).astype(dtype)
        bias = random.standard_normal(planes).astype(dtype)
        found = functional.conv_transpose2d(
            x, weight, bias, stride=2, padding=pad, output_padding=more, groups=planes
        )
        wanted = transposed(x, weight, bias, shape, pad)
        magnitudes = transposed(*map(np.abs, (x, weight, bias)), shape, pad)
        assert_sums(found, wanted, side * side + 1, magnitudes, f"{side}x{side} taps, {size}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", [3, 5])
def test_transposed_layers_of_every_width(side: int, dtype: str) -> None:
    """Rows end within a vector, at its end, or before what is seen does."""
    random = np.random.default_rng(side)
    weight, bias = random.standard_normal((2, 1, side, side)).astype(dtype), np.zeros(2, dtype)
    for width in range(1, 75):
        x = random.standard_normal((1, 2, 2, width)).astype(dtype)
        for left in range(side + 2):
            columns, pad = 2 * (width - 1) + side - 2 * left, (0, left)
            if columns < 1:
                continue
            found = functional.conv_transpose2d(x, weight, stride=2, padding=pad, groups=2)
            wanted = transposed(x, weight, bias, [side + 2, columns], pad)
            magnitudes = transposed(abs(x), abs(weight), bias, [side + 2, columns], pad)
            assert_sums(found, wanted, side * side, magnitudes, f"{width} with {left}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_dilated_kernels(dtype: str) -> None:
    """Also more rows of zeros than of the image, and fewer rows than the dilation."""
    random = np.random.default_rng(len(dtype))
    for seed in range(40):
        rows, columns = (int(v) for v in random.integers(1, (9, 6)))
        check_threads(small_kernel(dtype, seed, 1, (rows, columns + (rows == 1))))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [7, 14, 28])
def test_a_sample_has_the_same_bits_in_any_batch(size: int, stride: int, dtype: str) -> None:
    """Few samples of small planes are summed up with a plane in each lane, more of them are not."""
    random = np.random.default_rng(size)

    def draw(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(dtype)

    x, weight, bias = draw(8, 32, size, size), draw(1, 32, 3, 3), draw(1, 32)
    g = draw(8, 32, (size - 1) // stride + 1, (size - 1) // stride + 1)
    scalars = (None, None, 3, 3, stride, stride, 1, 1)

    def results(samples: slice) -> tuple[np.ndarray, np.ndarray]:
        y, gx = np.empty_like(g[samples]), np.empty_like(x[samples])
        thnn.SpatialDepthWiseConvolution_updateOutput(None, x[samples], y, weight, bias, *scalars)
        thnn.SpatialDepthWiseConvolution_updateGradInput(
            None, x[samples], g[samples], gx, weight, *scalars
        )
        return y, gx

    together = results(slice(None))
    for sample in range(8):
        for whole, alone in zip(together, results(slice(sample, sample + 1)), strict=True):
            assert whole[sample].tobytes() == alone[0].tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sample_of_a_dilated_layer_has_the_same_bits_in_any_batch(dtype: str) -> None:
    """Of this size, one sample is summed up with a plane in each lane, and eight are not."""
    random = np.random.default_rng(0)
    x = random.standard_normal((8, 32, 14, 14)).astype(dtype)
    weight = random.standard_normal((32, 1, 3, 3)).astype(dtype)
    for dilation in (2, (3, 1), (1, 4)):
        settings = {"padding": dilation, "dilation": dilation, "groups": 32}
        together = functional.conv2d(x, weight, **settings)
        for sample in range(8):
            alone = functional.conv2d(x[sample : sample + 1], weight, **settings)
            assert together[sample].tobytes() == alone[0].tobytes()


@pytest.mark.parametrize("value", [np.inf, np.nan])
@pytest.mark.parametrize("side", [3, 5])
@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize("stride", [1, 2])
def test_weights_that_are_not_finite_meet_the_zeros_around_an_image(
    stride: int, side: int, value: float, place: int
) -> None:
    """What a tap adds outside of the image is 0 times its weight, as in a matrix product."""
    x = np.ones((2, 3, 20, 41), np.float32)
    weight = np.ones((1, 3, side, side), np.float32)
    weight[0, 1, place, place] = value
    y = np.empty_like(x[..., ::stride, ::stride])
    pad = side // 2
    thnn.SpatialDepthWiseConvolution_updateOutput(
        None, x, y, weight, None, None, None, side, side, stride, stride, pad, pad
    )
    assert np.isfinite(y[:, [0, 2]]).all()
    outside = np.ones(x.shape[2:], bool)
    inside = slice(pad, None) if place == 0 else slice(None, -pad)
    outside[inside, inside] = False
    outside = outside[::stride, ::stride]
    assert np.isnan(y[:, 1, outside]).all()
    found = y[:, 1, ~outside]
    assert np.isnan(found).all() if np.isnan(value) else (found == value).all()


@pytest.mark.parametrize("side", [3, 5])
@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 2), (1, 3)])
def test_weights_that_are_not_finite_meet_lines_that_are_all_zeros(
    stride: int, dilation: int, side: int
) -> None:
    """Above and below an image, a row of the kernel can see nothing else."""
    x = np.ones((2, 3, 20, 41), np.float32)
    pad, reach = side * dilation, (side - 1) * dilation + 1
    zeros = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    seen = np.lib.stride_tricks.sliding_window_view(zeros, (reach, reach), (2, 3))
    seen = seen[:, :, ::stride, ::stride, ::dilation, ::dilation]
    for row in range(side):
        weight = np.ones((3, 1, side, side), np.float32)
        weight[1, 0, row, side - 1 - row] = np.inf
        y = functional.conv2d(x, weight, stride=stride, padding=pad, dilation=dilation, groups=3)
        with np.errstate(invalid="ignore"):
            wanted = (seen * weight[:, 0, None, None]).sum((-2, -1))
        np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("stride", [1, 2])
def test_gradients_of_many_positions_are_sums_of_short_sums(stride: int) -> None:
    """Sums of float32 have at most 256 terms. Above 1024, they would lose the 2^-15 of each."""
    random = np.random.default_rng(stride)
    x = random.choice([0.5, 1], (3, 16, stride * 128 + 2, stride * 148 + 2)).astype(np.float32)
    g = np.full((3, 16, 128, 148), 1 + 2.0**-15, np.float32)
    gw, gb = np.zeros((1, 16, 3, 3), np.float32), np.zeros((1, 16), np.float32)
    thnn.SpatialDepthWiseConvolution_accGradParameters(
        None, x, g, gw, gb, None, None, 3, 3, stride, stride, 0, 0, 1.0
    )
    seen = np.lib.stride_tricks.sliding_window_view(x, (128 * stride, 148 * stride), (2, 3))
    wanted = g[0, 0, 0, 0] * seen[..., ::stride, ::stride].sum((0, 4, 5), dtype=np.float64)
    np.testing.assert_allclose(gw[0], wanted, rtol=np.finfo(np.float32).eps)
    np.testing.assert_allclose(gb, g[:, 0].sum(dtype=np.float64), rtol=np.finfo(np.float32).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", MODULES)
def test_planes_of_several_tiles(module: str, dtype: str) -> None:
    """Also: results have the same bits for any number of threads."""
    for seed in range(3):
        p = make(module, dtype, seed, 3000 if module == "TemporalRowConvolution" else 300)
        check(p, None)
        wanted: Results | None = None
        for threads in (1, 2, 3):
            with State(threads=threads, minimum_work=1) as state:
                found = compute(p, state)
            wanted = wanted or found
            for name, value in wanted.items():
                assert found[name].tobytes() == value.tobytes(), f"{name}: {threads} threads"


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_random_geometries_at_each_level_on_poisoned_memory(level: str) -> None:
    run_again(
        level,
        f"{__file__}::test_random_geometries",
        f"{__file__}::test_small_kernels",
        f"{__file__}::test_small_dilated_kernels",
        f"{__file__}::test_transposed_layers_of_every_width",
        poisoned=True,
    )


@pytest.mark.parametrize(("samples", "planes"), [(1, 1), (1, 16), (8, 16)])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_value_outside_every_window_stays_outside(
    dtype: str, stride: int, samples: int, planes: int
) -> None:
    """Infinite elements of the input reach the gradients of those taps alone that see them."""
    for row, column in ((2, 57), (0, 5), (53, 7), (3, 56), (52, 55)):
        x = np.ones((samples, planes, 54, 58), dtype)
        x[-1, -1, row, column] = np.inf
        g = np.ones((samples, planes, 51 // stride + 1, 55 // stride + 1), dtype)
        gw = np.zeros((1, planes, 3, 3), dtype)
        thnn.SpatialDepthWiseConvolution_accGradParameters(
            None, x, g, gw, None, None, None, 3, 3, stride, stride, 0, 0, 1.0
        )
        seen = np.zeros((3, 3), bool)
        for i in range(3):
            for j in range(3):
                seen[i, j] = row - i in range(
                    0, g.shape[2] * stride, stride
                ) and column - j in range(0, g.shape[3] * stride, stride)
        assert np.isfinite(gw[0, :-1]).all()
        assert (np.isfinite(gw[0, -1]) == ~seen).all()


def local_results(
    x: np.ndarray,
    g: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    stride: tuple[int, int],
    pad: tuple[int, int],
) -> tuple[np.ndarray, ...]:
    """A convolution without shared weights by its definition: output, gradInput, and gradWeight and
    gradBias that start at 1 and are added half of theirs."""
    (dh, dw), (ph, pw) = stride, pad
    oh, ow, _, _, kh, kw = weight.shape
    height, width = x.shape[2:]
    padded = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    spread, gradient, output = np.zeros_like(padded), np.zeros_like(weight), np.zeros_like(g)
    for i in range(oh):
        for j in range(ow):
            at = np.s_[:, :, i * dh : i * dh + kh, j * dw : j * dw + kw]
            output[:, :, i, j] = np.einsum("ncab,ocab->no", padded[at], weight[i, j])
            spread[at] += np.einsum("no,ocab->ncab", g[:, :, i, j], weight[i, j])
            gradient[i, j] = np.einsum("no,ncab->ocab", g[:, :, i, j], padded[at])
    spread = spread[:, :, ph : ph + height, pw : pw + width]
    return output + bias, spread, 1 + 0.5 * gradient, 1 + 0.5 * g.sum(axis=0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("flat", [False, True])
def test_local(dtype: str, flat: bool) -> None:
    """Without shared weights: the definition, position by position."""
    random = np.random.default_rng(5)
    for _ in range(12):
        batch, planes, maps, height, width, kh, kw = (
            int(v) for v in random.integers(1, [5, 9, 6, 9, 9, 4, 4])
        )
        dh, dw, ph, pw = (int(v) for v in random.integers([1, 1, 0, 0], 3))
        oh, ow = (height + 2 * ph - kh) // dh + 1, (width + 2 * pw - kw) // dw + 1
        if height + 2 * ph < kh or width + 2 * pw < kw:
            continue
        x, g, weight, bias = (
            random.standard_normal(shape).astype(dtype)
            for shape in (
                (batch, planes, height, width),
                (batch, maps, oh, ow),
                (oh, ow, maps, planes, kh, kw),
                (maps, oh, ow),
            )
        )
        w = weight.reshape(oh * ow, maps, -1) if flat else weight
        scalars = (kw, kh, dw, dh, pw, ph, width, height, ow, oh)
        y, gx = Tensor(dtype=x.dtype), Tensor(dtype=x.dtype)
        gw, gb = np.ones_like(w), np.ones_like(bias)
        with State(threads=2, minimum_work=1) as state:
            thnn.SpatialConvolutionLocal_updateOutput(state, x, y, w, bias, None, None, *scalars)
            thnn.SpatialConvolutionLocal_updateGradInput(state, x, g, gx, w, None, None, *scalars)
            thnn.SpatialConvolutionLocal_accGradParameters(
                state, x, g, gw, gb, None, None, *scalars, 0.5
            )
        found = (y.numpy(), gx.numpy(), gw, gb)
        operands = [a.astype(np.float64) for a in (x, g, weight, bias)]
        wanted = local_results(*operands, (dh, dw), (ph, pw))
        magnitudes = local_results(*map(np.abs, operands), (dh, dw), (ph, pw))
        terms = (planes * kh * kw, maps * kh * kw, batch, batch)
        for f, want, size, count in zip(found, wanted, magnitudes, terms, strict=True):
            assert_sums(f, want.reshape(f.shape), count, size.reshape(f.shape))

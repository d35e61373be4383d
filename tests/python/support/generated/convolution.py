"""Convolutions of all kinds. Each is an ordinary one in some layout, possibly with a kernel that is
0 between planes that are not joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from support.bounds import FFT_TILING, WINOGRAD4, assert_sums
from support.definitions import convolution as definition

from . import RESULT, Added, Draw, family


@dataclass
class Geometry:
    """Sizes and settings, outermost dimension first; `near` is the input's."""

    near: tuple[int, ...]
    far: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    dilation: tuple[int, ...]
    adjustment: tuple[int, ...]
    transposed: bool

    @property
    def settings(self) -> tuple[tuple[int, ...], ...]:
        return self.stride, self.pad, self.dilation

    def arguments(self, letters: str) -> list[int]:
        """k kernel, s stride, p pad, d dilation, a adjustment: width before height, depth first."""
        groups = dict(
            zip(
                "kspda",
                (self.kernel, self.stride, self.pad, self.dilation, self.adjustment),
                strict=True,
            )
        )
        order = {1: [0], 2: [1, 0], 3: [0, 2, 1]}[len(self.near)]
        return [groups[letter][i] for letter in letters for i in order]


def geometry(draw: Draw, dimensions: int, letters: str, transposed: bool = False) -> Geometry:
    """What a module with these settings accepts; others are 1, or 0 for padding."""
    most = {1: 33, 2: 9, 3: 4}[dimensions]
    while True:
        kernel = tuple(draw.between("k", 1, 4 if dimensions < 3 else 3) for _ in range(dimensions))
        if draw.random.random() < 0.3:
            kernel = (1,) * dimensions
        stride = tuple(draw.between("s", 1, 5) for _ in range(dimensions))
        dilation = tuple(draw.between("d", 1, 3) if "d" in letters else 1 for _ in kernel)
        reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
        pad = tuple(draw.between("p", 0, r // 2 + 1) if "p" in letters else 0 for r in reach)
        near = draw.sizes("near", dimensions, most)
        if draw.random.random() < 0.1:  # the image is seen as a whole
            near, pad = tuple(reach), (0,) * dimensions
        more = [max(s, d) - 1 for s, d in zip(stride, dilation, strict=True)]
        adjustment = tuple(draw.between("a", 0, m) if "a" in letters else 0 for m in more)
        room = [n + 2 * p - r for n, p, r in zip(near, pad, reach, strict=True)]
        if transposed:
            far = tuple(
                (n - 1) * s - 2 * p + r + a
                for n, s, p, r, a in zip(near, stride, pad, reach, adjustment, strict=True)
            )
        else:
            far = tuple(r // s + 1 if r >= 0 else 0 for r, s in zip(room, stride, strict=True))
        if min(far) >= 1:
            break
    found = Geometry(near, far, kernel, stride, pad, dilation, adjustment, transposed)
    draw.chosen.update(vars(found))
    return found


@dataclass
class Problem:
    """An ordinary convolution: batch, planes, then the image; `dense` joins output with input."""

    geometry: Geometry
    x: np.ndarray
    g: np.ndarray
    dense: np.ndarray
    bias: np.ndarray
    scale: float

    def output(self) -> np.ndarray:
        of, wide = self.geometry, self.bias.astype(float)
        x, dense = self.x.astype(float), self.dense.astype(float)
        if of.transposed:
            return definition.backward_data(x, dense, wide, of.far, *of.settings)
        return definition.forward(x, dense, wide, of.far, *of.settings)

    def grad_input(self) -> np.ndarray:
        of, g, dense = self.geometry, self.g.astype(float), self.dense.astype(float)
        if of.transposed:
            return definition.forward(g, dense, None, of.near, *of.settings)
        return definition.backward_data(g, dense, None, of.near, *of.settings)

    def grad_weight(self) -> np.ndarray:
        of, x, g = self.geometry, self.x.astype(float), self.g.astype(float)
        if of.transposed:
            return self.scale * definition.backward_weight(g, x, of.kernel, *of.settings)
        return self.scale * definition.backward_weight(x, g, of.kernel, *of.settings)

    def grad_bias(self) -> np.ndarray:
        return self.scale * self.g.astype(float).sum((0, *range(2, self.g.ndim)))

    def magnitudes(self) -> Problem:
        """The same of absolute values."""
        x, g, dense, bias = (np.abs(a) for a in (self.x, self.g, self.dense, self.bias))
        return Problem(self.geometry, x, g, dense, bias, abs(self.scale))


def problem(draw: Draw, of: Geometry, planes: int, maps: int, batch: int) -> Problem:
    sides = (planes, maps) if of.transposed else (maps, planes)
    return Problem(
        of,
        draw.integers(batch, planes, *of.near),
        draw.integers(batch, maps, *of.far),
        draw.integers(*sides, *of.kernel),
        draw.integers(maps),
        draw.scale,
    )


def batch_of(draw: Draw) -> int | None:
    """None for an input without a batch dimension."""
    batch: int | None = draw.one_of("batch", [None, 1, 1, 2, 3, 17])
    return batch


ALGORITHMS = ["auto", "gemm", "direct", "winograd", "winograd4", "fft_tiling"]
GROWTH = {"auto": WINOGRAD4, "winograd4": WINOGRAD4, "fft_tiling": max(WINOGRAD4, FFT_TILING)}
"""By how much limits grow with algorithms whose transforms round, or which may choose those that
they do not apply to by costs."""

# dimensions, scratch arguments of the three functions, settings in the order of the arguments
DENSE = {
    "SpatialConvolutionMM": (2, (2, 2, 2), "ksp"),
    "SpatialDilatedConvolution": (2, (2, 1, 2), "kspd"),
    "SpatialFullConvolution": (2, (2, 1, 2), "kspa"),
    "SpatialFullDilatedConvolution": (2, (2, 1, 2), "kspda"),
    "VolumetricConvolution": (3, (2, 1, 2), "sp"),
    "VolumetricConvolutionMM": (3, (1, 2, 1), "ksp"),
    "VolumetricDilatedConvolution": (3, (2, 1, 2), "kspd"),
    "VolumetricFullConvolution": (3, (2, 2, 2), "spa"),
    "VolumetricFullDilatedConvolution": (3, (2, 2, 2), "spda"),
}


def agree(
    draw: Draw, what: str, found: np.ndarray, wanted: np.ndarray, terms: int, sums: np.ndarray
) -> None:
    """Equal numbers; near ones where tiles may be whose transforms round. A tile's sums enter all
    of its results: the largest one limits their roundings."""
    growth = GROWTH.get(draw.chosen["algorithm"])
    if growth is not None:
        assert_sums(found, wanted, terms, sums.max(), what, growth=growth)
    else:
        draw.equal(what, found, wanted)


@family(900)
def dense(draw: Draw) -> None:
    module = draw.one_of("module", list(DENSE))
    dimensions, scratch, letters = DENSE[module]
    draw.one_of("algorithm", ALGORITHMS)
    of = geometry(draw, dimensions, letters, "Full" in module)
    planes, maps = draw.sizes("planes", 2, 17)
    batch = batch_of(draw)
    p = problem(draw, of, planes, maps, batch or 1)
    x, g = (p.x, p.g) if batch else (p.x[0], p.g[0])
    w = p.dense
    if module in ("SpatialConvolutionMM", "VolumetricConvolutionMM") and draw.flag():
        w = w.reshape(maps, -1)
    none = [[None] * count for count in scratch]
    numbers = of.arguments(letters)

    output = draw.result(f"{module}_updateOutput", x, RESULT, w, p.bias, *none[0], *numbers)
    sums = p.magnitudes()
    terms = planes * int(np.prod(of.kernel)) + 1
    agree(draw, "output", output, p.output().reshape(g.shape), terms, sums.output())
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, w, *none[1], *numbers)
    terms = maps * int(np.prod(of.kernel))
    agree(draw, "gradInput", found, p.grad_input().reshape(x.shape), terms, sums.grad_input())
    gw, gb = draw.added(
        f"{module}_accGradParameters",
        *(x, g, Added(w.shape), Added(p.bias.shape), *none[2], *numbers, draw.scale),
    )
    terms = (batch or 1) * min(int(np.prod(of.near)), int(np.prod(of.far)))
    agree(draw, "gradWeight", gw, p.grad_weight().reshape(w.shape), terms, sums.grad_weight() + 1)
    draw.equal("gradBias", gb, p.grad_bias())


@family(800)
def temporal(draw: Draw) -> None:
    of = geometry(draw, 1, "ks")
    planes, maps = draw.sizes("planes", 2)
    batch = batch_of(draw)
    p = problem(draw, of, planes, maps, batch or 1)

    def frames(a: np.ndarray) -> np.ndarray:
        a = a.swapaxes(1, 2)
        return a if batch else a[0]

    x, g, w = frames(p.x), frames(p.g), p.dense.swapaxes(1, 2).reshape(maps, -1)
    numbers = of.arguments("ks")
    output = draw.result(
        "TemporalConvolution_updateOutput", x, RESULT, w, p.bias, *numbers, planes, maps
    )
    draw.equal("output", output, frames(p.output()))
    found = draw.result("TemporalConvolution_updateGradInput", x, g, RESULT, w, *numbers)
    draw.equal("gradInput", found, frames(p.grad_input()))
    gw, gb = draw.added(
        "TemporalConvolution_accGradParameters",
        *(x, g, Added(w.shape), Added([maps]), *numbers, draw.scale),
    )
    draw.equal("gradWeight", gw, p.grad_weight().swapaxes(1, 2).reshape(w.shape))
    draw.equal("gradBias", gb, p.grad_bias())


@family(400)
def temporal_row(draw: Draw) -> None:
    of = geometry(draw, 1, "ksp")
    planes = draw.size("planes")
    batch, features_first = batch_of(draw), draw.one_of("features first", [True, False])
    p = problem(draw, of, planes, planes, batch or 1)
    p.dense *= np.eye(planes, dtype=p.dense.dtype)[:, :, None]
    w = p.dense[np.arange(planes), np.arange(planes)][:, None]

    def arranged(a: np.ndarray) -> np.ndarray:
        a = a if features_first else a.swapaxes(1, 2)
        return a if batch else a[0]

    x, g = arranged(p.x), arranged(p.g)
    numbers = (None, None, *of.arguments("ksp"), features_first)
    module = "TemporalRowConvolution"
    output = draw.result(f"{module}_updateOutput", x, RESULT, w, p.bias, *numbers)
    draw.equal("output", output, arranged(p.output()))
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, w, *numbers)
    draw.equal("gradInput", found, arranged(p.grad_input()))
    gw, gb = draw.added(
        f"{module}_accGradParameters", x, g, Added(w.shape), Added([planes]), *numbers, draw.scale
    )
    draw.equal("gradWeight", gw[:, 0], p.grad_weight()[np.arange(planes), np.arange(planes)])
    draw.equal("gradBias", gb, p.grad_bias())


@family(400)
def depth_wise(draw: Draw) -> None:
    of = geometry(draw, 2, "ksp")
    planes, multiplier = draw.size("planes", 17), draw.between("multiplier", 1, 3)
    batch = batch_of(draw)
    p = problem(draw, of, planes, planes * multiplier, batch or 1)
    plane, number = np.arange(planes), np.arange(multiplier)
    joins = (plane * multiplier + number[:, None], np.broadcast_to(plane, (multiplier, planes)))
    w = p.dense[joins]
    p.dense[...] = 0
    p.dense[joins] = w
    x, g = (p.x, p.g) if batch else (p.x[0], p.g[0])
    bias = p.bias.reshape(planes, multiplier).T
    module, numbers = "SpatialDepthWiseConvolution", (None, None, *of.arguments("ksp"))
    output = draw.result(f"{module}_updateOutput", x, RESULT, w, bias, *numbers)
    draw.equal("output", output, p.output().reshape(g.shape))
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, w, *numbers)
    draw.equal("gradInput", found, p.grad_input().reshape(x.shape))
    gw, gb = draw.added(
        f"{module}_accGradParameters", x, g, Added(w.shape), Added(bias.shape), *numbers, draw.scale
    )
    draw.equal("gradWeight", gw, p.grad_weight()[joins])
    draw.equal("gradBias", gb, p.grad_bias().reshape(planes, multiplier).T)


def check_map(draw: Draw, module: str, batch: int | None, transposed: bool) -> None:
    of = geometry(draw, 2, "ks", transposed)
    planes, maps = draw.sizes("planes", 2, 5)
    p = problem(draw, of, planes, maps, batch or 1)
    every = np.array(list(product(range(planes), range(maps))))
    # A connection may occur twice.
    joins = draw.random.permutation(np.concatenate([every, every]))[: draw.between("joins", 1, 12)]
    w = draw.integers(len(joins), *of.kernel)
    sides = (joins[:, 0], joins[:, 1]) if transposed else (joins[:, 1], joins[:, 0])
    p.dense[...] = 0
    np.add.at(p.dense, sides, w)
    x, g = (p.x, p.g) if batch else (p.x[0], p.g[0])
    table = (joins + 1).astype(draw.real)
    numbers = (table, planes, maps, *of.arguments("s"))
    output = draw.result(f"{module}_updateOutput", x, RESULT, w, p.bias, *numbers)
    draw.equal("output", output, p.output().reshape(g.shape))
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, w, p.bias, *numbers)
    draw.equal("gradInput", found, p.grad_input().reshape(x.shape))
    gw, gb = draw.added(
        f"{module}_accGradParameters", x, g, Added(w.shape), Added([maps]), *numbers, draw.scale
    )
    draw.equal("gradWeight", gw, p.grad_weight()[sides])
    draw.equal("gradBias", gb, p.grad_bias())


@family(300)
def connected(draw: Draw) -> None:
    check_map(draw, "SpatialConvolutionMap", batch_of(draw), False)


@family(300)
def connected_full(draw: Draw) -> None:
    check_map(draw, "SpatialFullConvolutionMap", None, True)


def seen(of: Geometry, position: Sequence[int]) -> tuple[slice, ...]:
    """What an output position sees of an image that has its padding around it."""
    return tuple(
        slice(i * s, i * s + k) for i, s, k in zip(position, of.stride, of.kernel, strict=True)
    )


@family(300)
def local(draw: Draw) -> None:
    of = geometry(draw, 2, "ksp")
    planes, maps = draw.sizes("planes", 2, 9)
    batch = batch_of(draw)
    p = problem(draw, of, planes, maps, batch or 1)
    w, bias = draw.integers(*of.far, maps, planes, *of.kernel), draw.integers(maps, *of.far)
    width = [(0, 0), (0, 0), *((pad, pad) for pad in of.pad)]
    image, g = np.pad(p.x.astype(float), width), p.g.astype(float)
    output, grad_image = np.zeros(p.g.shape), np.zeros(image.shape)
    grad_weight = np.zeros(w.shape)
    for at in np.ndindex(*of.far):
        part = (slice(None), slice(None), *seen(of, at))
        here = (slice(None), slice(None), *at)
        output[here] = np.einsum("bchw,ochw->bo", image[part], w[at]) + bias[here[1:]]
        grad_image[part] += np.einsum("bo,ochw->bchw", g[here], w[at])
        grad_weight[at] = draw.scale * np.einsum("bo,bchw->ochw", g[here], image[part])
    inside = tuple(slice(pad, pad + n) for pad, n in zip(of.pad, of.near, strict=True))
    grad_input = grad_image[(slice(None), slice(None), *inside)]
    x, g = (p.x, p.g) if batch else (p.x[0], p.g[0])
    shape = w.shape
    if draw.flag():
        w = w.reshape(of.far[0] * of.far[1], maps, -1)
    numbers = (None, None, *of.arguments("ksp"), *of.near[::-1], *of.far[::-1])
    module = "SpatialConvolutionLocal"
    found = draw.result(f"{module}_updateOutput", x, RESULT, w, bias, *numbers)
    draw.equal("output", found, output.reshape(g.shape))
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, w, *numbers)
    draw.equal("gradInput", found, grad_input.reshape(x.shape))
    gw, gb = draw.added(
        f"{module}_accGradParameters", x, g, Added(w.shape), Added(bias.shape), *numbers, draw.scale
    )
    draw.equal("gradWeight", gw.reshape(shape), grad_weight)
    draw.equal("gradBias", gb, draw.scale * p.g.astype(float).sum(0))

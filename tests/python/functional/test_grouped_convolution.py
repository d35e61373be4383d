"""Convolutions in groups against their definition: random settings, all functions, exactly what was
asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from support.bounds import WINOGRAD4, assert_sums
from support.definitions import convolution as definition
from support.memory import counting_memory

from pythnn import State, THNNMemoryError
from pythnn import functional as F  # noqa: N812

REALS = ["float32", "float64"]


@dataclass
class Call:
    """A convolution or a transposed one; sizes are those of the image and the map."""

    n: int
    transposed: bool
    batch: int | None
    groups: int
    planes: tuple[int, int]
    """Of a group: image, map."""
    image: tuple[int, ...]
    map: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    before: tuple[int, ...]
    dilation: tuple[int, ...]
    flip: bool
    settings: dict[str, Any] = field(default_factory=dict)

    def weight_shape(self) -> tuple[int, ...]:
        return (self.groups * self.planes[1], self.planes[0], *self.kernel)

    def shape(self, image: bool) -> tuple[int, ...]:
        planes = self.groups * self.planes[not image]
        leading = () if self.batch is None else (self.batch,)
        return (*leading, planes, *(self.image if image else self.map))

    def function(self, suffix: str = "") -> Callable[..., Any]:
        name = "conv_transpose" if self.transposed else "conv"
        return getattr(F, f"{name}{self.n}d{suffix}")  # type: ignore[no-any-return]


def draw(random: np.random.Generator, n: int, low: int, high: int) -> tuple[int, ...]:
    return tuple(int(v) for v in random.integers(low, high, n))


def borders(
    random: np.random.Generator, extent: tuple[int, ...], stride: tuple[int, ...]
) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """One way to give padding, with what it is before and after."""
    n = len(extent)
    kind = ["int", "ints", "pairs", "valid", "full", "half", "same"][int(random.integers(7))]
    if kind == "same" and stride == (1,) * n:
        before = tuple((e - 1) // 2 for e in extent)
        return kind, before, tuple(e - 1 - b for e, b in zip(extent, before, strict=True))
    of_extent = {
        "valid": [0] * n,
        "full": [e - 1 for e in extent],
        "half": [e // 2 for e in extent],
    }
    if kind in of_extent:
        each = tuple(of_extent[kind])
        return kind, each, each
    if kind == "int":
        one = int(random.integers(0, min(extent) + 1))
        return one, (one,) * n, (one,) * n
    if kind == "ints":
        each = draw(random, n, -1, 3)
        return each, each, each
    before, after = draw(random, n, -1, 4), draw(random, n, -1, 4)
    return tuple(zip(before, after, strict=True)), before, after


def random_call(n: int, transposed: bool, seed: int) -> Call:
    random = np.random.default_rng([n, transposed, seed])
    while True:
        groups = int(random.choice([1, 2, 3, 4, 8, 17]))
        planes = (int(random.integers(1, 5)), int(random.integers(1, 5)))
        if random.integers(3) == 0:
            planes = (1, int(random.integers(1, 4)))  # depth-wise
        kernel, stride = draw(random, n, 1, 4), draw(random, n, 1, 3)
        if random.integers(2):
            stride = (1,) * n
        dilation = draw(random, n, 1, 3) if random.integers(2) else (1,) * n
        extent = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True))
        padding, before, after = borders(random, extent, stride)
        image = draw(random, n, 2, 12 if n < 3 else 7)
        rooms = [i + b + a - e for i, b, a, e in zip(image, before, after, extent, strict=True)]
        if min(rooms) < 0:
            continue
        map_ = tuple(r // s + 1 for r, s in zip(rooms, stride, strict=True))
        settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        flip = bool(not transposed and random.integers(2))
        more = tuple(r % s for r, s in zip(rooms, stride, strict=True))
        if not transposed:
            settings["flip"] = flip
        elif random.integers(2):
            settings["output_size"] = image
        else:
            settings["output_padding"] = more
        batch = [None, 1, 2, 6][int(random.integers(4))]
        return Call(
            n, transposed, batch, groups, planes, image, map_, kernel, stride, before, dilation,
            flip, settings,
        )  # fmt: skip


def by_definition(
    call: Call, x: np.ndarray, w: np.ndarray, b: np.ndarray, g: np.ndarray
) -> dict[str, np.ndarray]:
    """Output and gradients in float64, group by group."""
    x, w, b, g = (a.astype(np.float64) for a in (x, w, b, g))
    if call.batch is None:
        x, g = x[None], g[None]
    spread = (call.stride, call.before, call.dilation)
    axes = tuple(range(-call.n, 0))
    found: dict[str, list[np.ndarray]] = {"output": [], "x": [], "weight": []}
    parts = (np.split(a, call.groups, axis) for a, axis in ((x, 1), (w, 0), (b, 0), (g, 1)))
    for px, pw, pb, pg in zip(*parts, strict=True):
        kernels = np.flip(pw, axes) if call.flip else pw
        if call.transposed:
            output = definition.backward_data(px, kernels, pb, call.image, *spread)
            of_x = definition.forward(pg, kernels, None, call.map, *spread)
            of_weight = definition.backward_weight(pg, px, call.kernel, *spread)
        else:
            output = definition.forward(px, kernels, pb, call.map, *spread)
            of_x = definition.backward_data(pg, kernels, None, call.image, *spread)
            of_weight = definition.backward_weight(px, pg, call.kernel, *spread)
        found["output"].append(output)
        found["x"].append(of_x)
        found["weight"].append(np.flip(of_weight, axes) if call.flip else of_weight)
    result = {n: np.concatenate(p, 0 if n == "weight" else 1) for n, p in found.items()}
    if call.batch is None:
        result = {n: a if n == "weight" else a[0] for n, a in result.items()}
    result["bias"] = g.sum(axis=(0, *axes))
    return result


def arrays(call: Call, real: str) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(0)
    planes = call.groups * call.planes[not call.transposed]
    shapes = (
        call.shape(not call.transposed), call.weight_shape(), (planes,), call.shape(call.transposed)
    )  # fmt: skip
    return tuple(random.standard_normal(s).astype(real) for s in shapes)


def terms(call: Call) -> dict[str, int]:
    """The most terms of a sum."""
    taps = int(np.prod(call.kernel))
    positions = (call.batch or 1) * max(int(np.prod(call.map)), int(np.prod(call.image)))
    return {
        "output": taps * max(call.planes), "x": taps * max(call.planes),
        "weight": positions, "bias": positions,
    }  # fmt: skip


def check(call: Call, real: str, state: State | None = None, spreads: bool = False) -> None:
    """Output and gradients against the definition. With `spreads`, roundings of a tile may be in
    all of its results, also in those that are sums of fewer terms."""
    x, w, b, g = arrays(call, real)
    wanted = by_definition(call, x, w, b, g)
    sizes = by_definition(call, *map(np.abs, (x, w, b, g)))
    if spreads:
        sizes = {name: np.full_like(size, size.max()) for name, size in sizes.items()}
    found = {"output": call.function()(x, w, b, **call.settings, state=state)}
    gradients = call.function("_backward")(g, x, w, **call.settings, state=state)
    found |= dict(zip(("x", "weight", "bias"), gradients, strict=True))
    for name, one in found.items():
        assert one.dtype == real
        assert_sums(
            one, wanted[name], terms(call)[name], sizes[name], f"{name} of {call}", WINOGRAD4
        )
    starts = {n: np.ones_like(found[n]) for n in ("x", "weight", "bias")}
    for name, start in starts.items():
        only = call.function("_backward")(
            g, x, w, **call.settings, needs=(name,), add_to={name: start}, state=state
        )
        at = ("x", "weight", "bias").index(name)
        assert only[at] is start
        assert [o is None for o in only] == [i != at for i in range(3)]
        assert_sums(
            start, 1 + wanted[name], terms(call)[name], 1 + sizes[name], f"{name} of {call}",
            WINOGRAD4,
        )  # fmt: skip
    if not call.transposed:
        alone = call.function("_grad_input")(g, w, call.image, **call.settings, state=state)
        np.testing.assert_array_equal(alone, found["x"])
        alone = call.function("_grad_weight")(g, x, call.kernel, **call.settings, state=state)
        np.testing.assert_array_equal(alone, found["weight"])


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_random_settings(n: int, transposed: bool, seed: int, real: str) -> None:
    check(random_call(n, transposed, seed), real)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("transposed", [False, True])
def test_threads_do_not_change_bits(transposed: bool, seed: int) -> None:
    call = random_call(2, transposed, seed)
    x, w, b, g = arrays(call, "float32")
    results = []
    for threads in (1, 2, 3):
        with State(threads=threads, minimum_work=1) as state:
            found = [call.function()(x, w, b, **call.settings, state=state)]
            found += call.function("_backward")(g, x, w, **call.settings, state=state)
            start = np.ones_like(x)
            call.function("_backward")(
                g, x, w, **call.settings, needs=("x",), add_to={"x": start}, state=state
            )
            results.append([a.tobytes() for a in (*found, start)])
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("x_shape", "weight_shape", "settings"),
    [
        ((3, 40, 19, 23), (17, 40, 3, 3), {"padding": 1}),
        ((3, 40, 19, 23), (17, 40, 3, 2), {"padding": 1, "stride": (2, 1)}),
        ((2, 70, 9, 31), (33, 70, 1, 1), {}),
        ((2, 70, 9, 30), (33, 70, 1, 1), {"stride": 2}),
        ((2, 5, 40, 37), (5, 1, 3, 3), {"padding": 1, "groups": 5}),
        ((2, 5, 40, 37), (5, 1, 3, 3), {"padding": 1, "groups": 5, "stride": (2, 1)}),
        ((2, 5, 40, 37), (5, 1, 3, 3), {"padding": 1, "groups": 5, "stride": 2}),
        ((2, 5, 40, 37), (10, 1, 3, 3), {"padding": 1, "groups": 5}),
        ((2, 6, 20, 37), (9, 2, 3, 3), {"padding": 1, "groups": 3}),
    ],
    ids=str,
)
def test_direct_algorithms_add(
    x_shape: Any, weight_shape: Any, settings: dict[str, Any], threads: int, real: str
) -> None:
    """To what is there, without a scratch result or with one: the sum of two arrays."""
    random = np.random.default_rng(3)
    x, weight, start = (
        random.standard_normal(shape).astype(real) for shape in (x_shape, weight_shape, x_shape)
    )
    with State(convolution="direct", threads=threads, minimum_work=1) as state:
        grad = F.conv2d(x, weight, **settings)
        more = {**settings, "needs": ("x",), "state": state}
        wanted = start + F.conv2d_backward(grad, x, weight, **more)[0]
        F.conv2d_backward(grad, x, weight, **more, add_to={"x": start})
    scale = F.conv2d_backward(abs(grad), x, abs(weight), **settings)[0] + abs(start)
    terms = weight_shape[0] * weight_shape[2] * weight_shape[3] + 1
    assert_sums(start, wanted, terms, scale, "the sum")


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("side", [3, 5])
@pytest.mark.parametrize(
    ("planes", "more", "settings"),
    [
        (5, 1, {"padding": 1}),
        (5, 2, {"padding": 1, "dilation": 2}),
        (5, 1, {"padding": 1, "stride": 2}),
        (5, 2, {"padding": 1, "stride": 3}),
        (37, 1, {"padding": 1}),
        (37, 2, {"padding": 2, "stride": 2}),
        (37, 1, {"stride": (4, 1)}),
    ],
    ids=str,
)
def test_single_planes_add_the_same_bits(
    planes: int,
    more: int,
    settings: dict[str, Any],
    side: int,
    transposed: bool,
    threads: int,
    real: str,
) -> None:
    """Depth-wise, in tiles or with planes in lanes: results are added where they are."""
    random = np.random.default_rng(4)
    weight = random.standard_normal((planes * more, 1, side, side)).astype(real)
    of_x = planes * more if transposed else planes
    x = random.standard_normal((3, of_x, 20, 37)).astype(real)
    start = random.standard_normal(x.shape).astype(real)
    name = "conv_transpose2d" if transposed else "conv2d"
    with State(threads=threads, minimum_work=1) as state:
        settings = {**settings, "groups": planes, "state": state}
        grad = getattr(F, name)(x, weight, **settings)
        backward = getattr(F, f"{name}_backward")
        wanted = start + backward(grad, x, weight, **settings, needs=("x",))[0]
        backward(grad, x, weight, **settings, needs=("x",), add_to={"x": start})
    assert start.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("planes", [3, 64])
def test_adding_planes_needs_no_copy_of_them(planes: int) -> None:
    with State(workspace_limit=2**28) as state:
        shapes = (2, planes, 512, 512), (planes, 1, 3, 3)
        plan = F.convolution_plan(
            *shapes, "grad_input", groups=planes, padding=1, add=True, state=state
        )
    assert plan.scratch_bytes < 512 * 512 * 8


def test_unused_dilation_leaves_room() -> None:
    """With one tap the dilation spreads nothing, but the output can be larger by less than it."""
    x, w = np.arange(6.0).reshape(1, 1, 2, 3), np.array([[[[2.0], [1.0]]]])
    settings: dict[str, Any] = {"dilation": 2, "output_padding": (1, 1)}
    output = F.conv_transpose2d(x, w, [5.0], **settings)
    wanted = np.zeros((1, 1, 5, 4))
    wanted[:, :, :2, :3] += 2 * x
    wanted[:, :, 2:4, :3] += x
    np.testing.assert_array_equal(output, wanted + 5)
    grad_x, grad_weight, _ = F.conv_transpose2d_backward(output, x, w, **settings)
    np.testing.assert_array_equal(grad_x, 2 * output[:, :, :2, :3] + output[:, :, 2:4, :3])
    sums = [(x * output[:, :, :2, :3]).sum(), (x * output[:, :, 2:4, :3]).sum()]
    np.testing.assert_array_equal(grad_weight.ravel(), sums)


@pytest.mark.parametrize("transposed", [False, True])
def test_failing_allocations_change_nothing(transposed: bool) -> None:
    """Without scratch memory a call adds nothing, and leaves no block behind."""
    call = next(c for c in (random_call(2, transposed, s) for s in range(99)) if c.groups == 3)
    x, w, _, g = arrays(call, "float64")
    starts = {"x": np.ones_like(x), "weight": np.ones_like(w)}
    for name, start in starts.items():
        with counting_memory() as memory:
            memory.fail_from(1)
            with pytest.raises(THNNMemoryError):
                call.function("_backward")(
                    g, x, w, **call.settings, needs=(name,), add_to={name: start}
                )
            memory.fail_from(0)
            assert memory.live == 0
        assert (start == 1).all()

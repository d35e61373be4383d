"""Functions of pythnn.functional that are no call of C alone: recurrent layers, softmax over axes.

A part computes the same on both sides, from arrays; gradients are computed with the forward pass
that they belong to, since PyTorch's come from its record.
"""

from __future__ import annotations

import math
from typing import Any

from pythnn import functional

from .cases import Case, Contents, Normal, Part, Uniform

STEPS = 16


def _names(layers: int) -> list[tuple[str, ...]]:
    """Weights and biases of each layer."""
    return [tuple(f"{n}{layer}" for n in ("wi", "wh", "bi", "bh")) for layer in range(layers)]


def recurrent(kind: str, layers: int, batch: int, units: int) -> Case:
    """A recurrent layer of as many inputs as units, over 16 steps."""
    rows = {"lstm": 4, "gru": 3}[kind] * units
    start = (layers, batch, units)
    tensors: dict[str, Contents] = {
        "x": Normal((STEPS, batch, units)),
        "h0": Normal(start),
        "c0": Normal(start),
        "gradOutput": Normal((STEPS, batch, units)),
    }
    bound = 1 / math.sqrt(units)
    for names in _names(layers):
        shapes = [(rows, units), (rows, units), (rows,), (rows,)]
        tensors |= {n: Uniform(s, -bound, bound) for n, s in zip(names, shapes, strict=True)}

    def parameters(t: Any) -> list[tuple[Any, ...]]:
        return [tuple(getattr(t, name) for name in names) for names in _names(layers)]

    def ours(t: Any) -> Any:
        state = (t.h0, t.c0) if kind == "lstm" else t.h0
        return getattr(functional, kind)(t.x, state, parameters(t), layers=layers)

    def our_gradients(t: Any) -> Any:
        _, _, saved = ours(t)
        grad_x, _, grads = getattr(functional, f"{kind}_backward")(t.gradOutput, None, saved)
        return grad_x, *(grad for layer in grads for grad in layer)

    def peer(torch: Any, x: Any, t: Any, flat: list[Any]) -> Any:
        state = (t.h0, t.c0) if kind == "lstm" else t.h0
        return getattr(torch, kind)(x, state, flat, True, layers, 0.0, False, False, False)[0]

    def without_record(torch: Any, t: Any) -> Any:
        with torch.no_grad():
            return peer(torch, t.x, t, [array for layer in parameters(t) for array in layer])

    def peer_gradients(torch: Any, t: Any) -> Any:
        flat = [array for layer in parameters(t) for array in layer]
        leaves = [array.detach().requires_grad_() for array in (t.x, *flat)]
        output = peer(torch, leaves[0], t, leaves[1:])
        return torch.autograd.grad(output, leaves, t.gradOutput)

    flops = 2 * layers * STEPS * batch * rows * 2 * units
    return Case(
        f"{kind}{layers}_{batch}x{units}",
        "sequences",
        tensors,
        (
            Part("output", (), without_record, flops, function=lambda t: ours(t)[0]),
            Part("gradients", (), peer_gradients, 3 * flops, function=our_gradients),
        ),
        arrays=True,
    )


def softmax(shape: tuple[int, ...], axes: tuple[int, ...]) -> Case:
    """Softmax over several axes; PyTorch has one, into which these are flattened."""
    flat = (*shape[: axes[0]], math.prod(shape[axis] for axis in axes))
    elements = 2 * math.prod(shape)
    return Case(
        f"softmax_{'x'.join(map(str, shape))}_over_{len(axes)}",
        "softmax",
        {"x": Normal(shape), "gradOutput": Normal(shape)},
        (
            Part(
                "output",
                (),
                lambda torch, t: torch.softmax(t.x.view(flat), -1).view(shape),
                elements=elements,
                function=lambda t: functional.softmax(t.x, axes),
            ),
        ),
        arrays=True,
    )


def layer_norm(rows: int, units: int) -> Case:
    """Layer normalisation with a weight and a bias."""
    shape = (rows, units)
    return Case(
        f"layer_norm_{rows}x{units}",
        "normalisation",
        {"x": Normal(shape), "weight": Normal((units,)), "bias": Normal((units,))},
        (
            Part(
                "output",
                (),
                lambda torch, t: torch.layer_norm(t.x, (units,), t.weight, t.bias),
                elements=2 * rows * units,
                function=lambda t: functional.layer_norm(t.x, t.weight, t.bias)[0],
            ),
        ),
        arrays=True,
    )


def layer_norm_gradients(rows: int, units: int) -> Case:
    """Its gradients, from given statistics."""
    shape = (rows, units)

    def gradients(torch: Any, t: Any) -> Any:
        statistics = t.mean.view(rows, 1), t.std.view(rows, 1)
        return torch.ops.aten.native_layer_norm_backward.default(
            t.gradOutput, t.x, (units,), *statistics, t.weight, t.bias, [True] * 3
        )

    tensors: dict[str, Contents] = {name: Normal(shape) for name in ("x", "gradOutput")}
    tensors |= {name: Normal((units,)) for name in ("weight", "bias")}
    tensors |= {"mean": Normal((rows,)), "std": Uniform((rows,), 0.5, 1.5)}
    return Case(
        f"layer_norm_backward_{rows}x{units}",
        "normalisation",
        tensors,
        (
            Part(
                "gradients",
                (),
                gradients,
                elements=3 * rows * units,
                function=lambda t: functional.layer_norm_backward(
                    t.gradOutput, t.x, t.weight, t.mean, t.std
                ),
            ),
        ),
        arrays=True,
    )


def group_norm(shape: tuple[int, ...], groups: int) -> Case:
    """Group normalisation with a weight and a bias."""
    planes, statistics = shape[1], (shape[0], groups)

    def gradients(torch: Any, t: Any) -> Any:
        sizes = (shape[0], planes, math.prod(shape[2:]), groups)
        return torch.ops.aten.native_group_norm_backward.default(
            t.gradOutput, t.x, t.mean, t.std, t.weight, *sizes, [True] * 3
        )

    tensors: dict[str, Contents] = {name: Normal(shape) for name in ("x", "gradOutput")}
    tensors |= {name: Normal((planes,)) for name in ("weight", "bias")}
    tensors |= {"mean": Normal(statistics), "std": Uniform(statistics, 0.5, 1.5)}
    elements = math.prod(shape)
    return Case(
        f"group_norm_{'x'.join(map(str, shape))}_g{groups}",
        "normalisation",
        tensors,
        (
            Part(
                "output",
                (),
                lambda torch, t: torch.group_norm(t.x, groups, t.weight, t.bias),
                elements=2 * elements,
                function=lambda t: functional.group_norm(t.x, groups, t.weight, t.bias)[0],
            ),
            Part(
                "gradients",
                (),
                gradients,
                elements=3 * elements,
                function=lambda t: functional.group_norm_backward(
                    t.gradOutput, t.x, groups, t.weight, t.mean, t.std
                ),
            ),
        ),
        arrays=True,
    )


def gaussian_mixture(batch: int, centres: int) -> Case:
    """A mixture in the plane; PyTorch computes it by operations on whole arrays."""
    shape = (batch, centres)
    tensors: dict[str, Contents] = {name: Normal((batch,)) for name in ("x1", "x2")}
    tensors["weight"] = Uniform(shape, 0.5 / centres, 1.5 / centres)
    tensors |= {name: Normal(shape) for name in ("mean1", "mean2")}
    tensors |= {name: Uniform(shape, 0.5, 1.5) for name in ("std1", "std2")}
    tensors["correlation"] = Uniform(shape, -0.7, 0.7)

    def peer(torch: Any, t: Any) -> Any:
        z1 = (t.x1[:, None] - t.mean1) / t.std1
        z2 = (t.x2[:, None] - t.mean2) / t.std2
        rest = 1 - t.correlation * t.correlation
        distance = (z1 * z1 + z2 * z2 - 2 * t.correlation * z1 * z2) / rest
        area = t.std1 * t.std2 * torch.sqrt(rest)
        parts = torch.log(t.weight) - torch.log(area) - distance / 2
        return math.log(2 * math.pi) - torch.logsumexp(parts, 1)

    return Case(
        f"gaussian_mixture2d_{batch}x{centres}",
        "criterion",
        tensors,
        (
            Part(
                "output",
                (),
                peer,
                elements=7 * batch * centres,
                function=lambda t: functional.gaussian_mixture2d(
                    *(t.x1, t.x2, t.weight, t.mean1, t.mean2, t.std1, t.std2, t.correlation)
                )[0],
            ),
        ),
        arrays=True,
    )


def padding(shape: tuple[int, ...], p: int, mode: str) -> Case:
    """Padding of both sides of the last two axes."""
    outer = (*shape[:-2], shape[-2] + 2 * p, shape[-1] + 2 * p)
    return Case(
        f"pad_{'x'.join(map(str, shape))}_p{p}_{mode}",
        "padding",
        {"x": Normal(shape)},
        (
            Part(
                "output",
                (),
                lambda torch, t: torch.nn.functional.pad(t.x, [p] * 4, mode),
                elements=math.prod(shape) + math.prod(outer),
                function=lambda t: functional.pad(t.x, [(p, p), (p, p)], mode),
            ),
        ),
        arrays=True,
    )


def summing(shape: tuple[int, ...], axes: tuple[int, ...]) -> Case:
    """A sum along some axes."""
    return Case(
        f"sum_{'x'.join(map(str, shape))}_over_{'_'.join(map(str, axes))}",
        "pooling",
        {"x": Normal(shape)},
        (
            Part(
                "output",
                (),
                lambda torch, t: torch.sum(t.x, axes),
                elements=math.prod(shape),
                function=lambda t: functional.sum(t.x, axes),
            ),
        ),
        arrays=True,
    )


def interpolation(shape: tuple[int, ...], size: tuple[int, int], mode: str = "linear") -> Case:
    """Interpolation between elements whose outer edges coincide, or their nearest ones."""
    outer = (*shape[:2], *size)

    def peer(torch: Any, t: Any) -> Any:
        if mode == "nearest":
            return torch.ops.aten.upsample_nearest2d.default(t.x, size)
        if mode == "cubic":
            return torch.ops.aten.upsample_bicubic2d.default(t.x, size, False)
        return torch.ops.aten.upsample_bilinear2d.default(t.x, size, False)

    def peer_gradient(torch: Any, t: Any) -> Any:
        if mode == "nearest":
            return torch.ops.aten.upsample_nearest2d_backward.default(t.gradOutput, size, shape)
        if mode == "cubic":
            return torch.ops.aten.upsample_bicubic2d_backward.default(
                t.gradOutput, size, shape, False
            )
        return torch.ops.aten.upsample_bilinear2d_backward.default(t.gradOutput, size, shape, False)

    kind = "" if mode == "linear" else f"_{mode}"
    return Case(
        f"interpolate_{'x'.join(map(str, shape))}_{'x'.join(map(str, size))}{kind}",
        "resampling",
        {"x": Normal(shape), "gradOutput": Normal(outer)},
        (
            Part(
                "output",
                (),
                peer,
                elements=math.prod(shape) + math.prod(outer),
                function=lambda t: functional.interpolate(t.x, size, mode=mode),
            ),
            Part(
                "gradInput",
                (),
                peer_gradient,
                elements=math.prod(shape) + math.prod(outer),
                function=lambda t: functional.interpolate_backward(
                    t.gradOutput, shape, size, mode=mode
                ),
            ),
        ),
        arrays=True,
    )


FUNCTIONS = [
    *(
        recurrent(kind, *sizes)
        for kind in ("lstm", "gru")
        for sizes in (
            (1, 1, 32), (1, 1, 1024), (1, 8, 256), (1, 64, 32), (1, 64, 256), (1, 64, 512),
            (1, 64, 1024), (2, 8, 32), (3, 1, 256), (3, 64, 128),
        )
    ),
    softmax((8, 64, 28, 28), (1, 2, 3)),
    softmax((64, 10, 8, 8), (2, 3)),
    layer_norm(512, 768),
    layer_norm(4096, 64),
    layer_norm_gradients(512, 768),
    layer_norm_gradients(4096, 64),
    layer_norm_gradients(32, 4096),
    group_norm((8, 64, 56, 56), 32),
    group_norm((8, 256, 14, 14), 32),
    gaussian_mixture(4096, 20),
    padding((8, 64, 56, 56), 1, "constant"),
    padding((8, 64, 56, 56), 1, "circular"),
    summing((512, 768), (1,)),
    summing((1000, 1000), (0,)),
    summing((64, 64, 28, 28), (0, 2, 3)),
    interpolation((8, 64, 28, 28), (56, 56)),
    interpolation((8, 64, 28, 28), (42, 42), "nearest"),
    interpolation((8, 64, 28, 28), (56, 56), "cubic"),
    interpolation((1, 3, 256, 256), (128, 128), "cubic"),
]  # fmt: skip

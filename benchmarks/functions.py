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
]  # fmt: skip

"""Convolutions in groups, of one dimension, and with padding that differs from side to side."""

from __future__ import annotations

import math
from typing import Any

from .cases import Argument, Case, Normal, Part, Shape, Zeros, part
from .convolutions import convolution_gradients

Sides = tuple[int, int]
"""Padding before and after, in every dimension."""


def _sides(values: tuple[int, ...], fill: int) -> tuple[int, ...]:
    """Of three dimensions, from those that there are."""
    return (*[fill] * (3 - len(values)), *values)


def grouped(
    batch: int,
    n_in: int,
    n_out: int,
    size: Shape,
    k: int,
    groups: int = 1,
    s: int = 1,
    p: Sides = (0, 0),
    d: int = 1,
) -> Case:
    """GroupedConvolution with kernels as wide as high; PyTorch pads where the sides differ."""
    n = len(size)
    before, after = p
    out = tuple((i + before + after - d * (k - 1) - 1) // s + 1 for i in size)
    weight = (n_out, n_in // groups, *[k] * n)
    settings: tuple[Argument, ...] = (
        groups,
        *_sides((s,) * n, 1),
        *_sides((before,) * n, 0),
        *_sides((after,) * n, 0),
        *_sides((d,) * n, 1),
    )
    even = before == after
    geometry = ([s] * n, [before if even else 0] * n, [d] * n, False, [0] * n, groups)
    inside = (..., *[slice(before, before + i) for i in size])

    def padded(torch: Any, t: Any) -> Any:
        return t.input if even else torch.nn.functional.pad(t.input, p * n)

    def forward(torch: Any, t: Any) -> Any:
        return torch.ops.aten.convolution.default(padded(torch, t), t.weight, t.bias, *geometry)

    def backward(torch: Any, t: Any, wanted: list[bool]) -> Any:
        found = convolution_gradients(t, torch, geometry, wanted, padded(torch, t))
        return [found[0][inside]] if wanted[0] and not even else found

    flops = 2 * batch * math.prod(weight) * math.prod(out)
    parts: tuple[Part, ...] = (
        part(
            "output",
            "GroupedConvolution_updateOutput",
            ("input", "output", "weight", "bias", False, *settings),
            forward,
            flops,
        ),
        part(
            "gradInput",
            "GroupedConvolution_updateGradInput",
            ("gradOutput", "gradInput", "weight", *_sides(size, 1), False, False, *settings),
            lambda torch, t: backward(torch, t, [True, False, False]),
            flops,
        ),
        part(
            "gradParameters",
            "GroupedConvolution_accGradParameters",
            ("input", "gradOutput", "gradWeight", "gradBias", n, False, *settings, 1.0),
            lambda torch, t: backward(torch, t, [False, True, True]),
            flops,
        ),
    )
    area = f"{size[0]}" if len(set(size)) == 1 and n == 2 else "x".join(map(str, size))
    pads = f"p{before}" if even else f"p{before}-{after}"
    stride, dilation = (f"s{s}" if s > 1 else ""), (f"d{d}" if d > 1 else "")
    return Case(
        f"{'' if n == 2 else f'{n}d'}G{groups}_{batch}x{n_in}-{n_out}_{area}"
        f"_k{k}{stride}{pads if p != (0, 0) else ''}{dilation}",
        "convolution",
        {
            "input": Normal((batch, n_in, *size)),
            "weight": Normal(weight),
            "bias": Normal((n_out,)),
            "gradOutput": Normal((batch, n_out, *out)),
            "gradWeight": Zeros(weight),
            "gradBias": Zeros((n_out,)),
        },
        parts,
    )


CONVOLUTIONS = [
    *(grouped(8, 128, 128, (28, 28), k=3, groups=g, p=(1, 1)) for g in (2, 4, 8, 16, 32)),
    grouped(16, 256, 256, (14, 14), k=3, groups=32, p=(1, 1)),
    grouped(32, 512, 512, (7, 7), k=3, groups=32, p=(1, 1)),
    grouped(8, 256, 256, (28, 28), k=1, groups=8),
    grouped(8, 64, 128, (56, 56), k=3, groups=2, s=2, p=(1, 1)),
    grouped(8, 64, 64, (56, 56), k=3, groups=64, p=(2, 2), d=2),
    grouped(8, 64, 64, (56, 56), k=3, p=(0, 1)),
    grouped(8, 64, 64, (56, 56), k=3, s=2, p=(0, 1)),
    grouped(8, 64, 64, (1000,), k=5, p=(2, 2)),
    grouped(8, 64, 64, (1000,), k=5, groups=4, p=(4, 0)),
    grouped(1, 1, 64, (16000,), k=400, s=160),
    grouped(2, 16, 16, (8, 28, 28), k=3, groups=2, p=(1, 1)),
]

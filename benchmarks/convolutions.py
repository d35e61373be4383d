"""Convolutions, ordinary and transposed, of planes and volumes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .cases import Case, Contents, Normal, Part, Shape, Zeros, part, suffix


def convolution_gradients(
    t: Any, torch: Any, geometry: tuple[Any, ...], mask: list[bool], image: Any = None
) -> Any:
    """aten's convolution_backward, of which oneDNN computes each result apart.

    `image` is the input where that is not the case's.
    """
    bias = [t.bias.shape[0]]
    image = t.input if image is None else image
    results = torch.ops.aten.convolution_backward.default(
        t.gradOutput, image, t.weight, bias, *geometry, mask
    )
    return [result for result, wanted in zip(results, mask, strict=True) if wanted]


def convolution_parts(
    module: str,
    arguments: tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]],
    geometry: tuple[Any, ...],
    flops: int,
) -> tuple[Part, Part, Part]:
    """The three parts of a convolution module.

    `arguments` are those that follow (input, output, weight, bias), (input, gradOutput, gradInput,
    weight) and (input, gradOutput, gradWeight, gradBias); `geometry` is aten's, with the groups.
    """
    forward, backward_data, backward_weight = arguments
    return (
        part(
            "output",
            f"{module}_updateOutput",
            ("input", "output", "weight", "bias", *forward),
            lambda torch, t: torch.ops.aten.convolution.default(
                t.input, t.weight, t.bias, *geometry
            ),
            flops,
        ),
        part(
            "gradInput",
            f"{module}_updateGradInput",
            ("input", "gradOutput", "gradInput", "weight", *backward_data),
            lambda torch, t: convolution_gradients(t, torch, geometry, [True, False, False]),
            flops,
        ),
        part(
            "gradParameters",
            f"{module}_accGradParameters",
            ("input", "gradOutput", "gradWeight", "gradBias", *backward_weight, 1.0),
            lambda torch, t: convolution_gradients(t, torch, geometry, [False, True, True]),
            flops,
        ),
    )


def _convolution(
    module: str,
    name: str,
    tensors: Mapping[str, Contents],
    forward: tuple[Any, ...],
    backward_data: tuple[Any, ...],
    backward_weight: tuple[Any, ...],
    geometry: tuple[Any, ...],
    flops: int,
) -> Case:
    """A convolution module whose planes are all joined."""
    arguments = forward, backward_data, backward_weight
    parts = convolution_parts(module, arguments, (*geometry, 1), flops)
    return Case(name, "convolution", tensors, parts)


def _tensors(input: Shape, output: Shape, weight: Shape, planes: int) -> dict[str, Contents]:
    return {
        "input": Normal(input),
        "weight": Normal(weight),
        "bias": Normal((planes,)),
        "gradOutput": Normal(output),
        "gradWeight": Zeros(weight),
        "gradBias": Zeros((planes,)),
    }


def convolution(
    batch: int, n_in: int, n_out: int, size: int | tuple[int, int], k: int, s: int = 1, p: int = 0
) -> Case:
    """SpatialConvolutionMM."""
    h, w = size if isinstance(size, tuple) else (size, size)
    out = tuple((n + 2 * p - k) // s + 1 for n in (h, w))
    area = f"{h}" if h == w else f"{h}x{w}"
    window = k, k, s, s, p, p
    return _convolution(
        "SpatialConvolutionMM",
        f"{batch}x{n_in}-{n_out}_{area}_{suffix(k=k, s=s, p=p)}",
        _tensors((batch, n_in, h, w), (batch, n_out, *out), (n_out, n_in, k, k), n_out),
        (None, None, *window),
        (None, None, *window),
        (None, None, *window),
        ([s, s], [p, p], [1, 1], False, [0, 0]),
        2 * batch * n_in * n_out * math.prod(out) * k * k,
    )


def dilated(batch: int, n_in: int, n_out: int, size: int, k: int, p: int, d: int) -> Case:
    """SpatialDilatedConvolution."""
    out = size + 2 * p - d * (k - 1)
    window = k, k, 1, 1, p, p, d, d
    return _convolution(
        "SpatialDilatedConvolution",
        f"{batch}x{n_in}-{n_out}_{size}_{suffix(k=k, p=p, d=d)}",
        _tensors((batch, n_in, size, size), (batch, n_out, out, out), (n_out, n_in, k, k), n_out),
        (None, None, *window),
        (None, *window),
        (None, None, *window),
        ([1, 1], [p, p], [d, d], False, [0, 0]),
        2 * batch * n_in * n_out * out * out * k * k,
    )


def transposed(
    batch: int, n_in: int, n_out: int, size: int, k: int, s: int = 1, p: int = 0, a: int = 0
) -> Case:
    """SpatialFullConvolution."""
    out = (size - 1) * s - 2 * p + k + a
    window = k, k, s, s, p, p, a, a
    return _convolution(
        "SpatialFullConvolution",
        f"T{batch}x{n_in}-{n_out}_{size}_{suffix(k=k, s=s, p=p, a=a)}",
        _tensors((batch, n_in, size, size), (batch, n_out, out, out), (n_in, n_out, k, k), n_out),
        (None, None, *window),
        (None, *window),
        (None, None, *window),
        ([s, s], [p, p], [1, 1], True, [a, a]),
        2 * batch * n_in * n_out * size * size * k * k,
    )


def volumetric(
    batch: int, n_in: int, n_out: int, size: tuple[int, int, int], k: int, p: int
) -> Case:
    """VolumetricConvolutionMM."""
    out = tuple(n + 2 * p - k + 1 for n in size)
    window = k, k, k, 1, 1, 1, p, p, p
    return _convolution(
        "VolumetricConvolutionMM",
        f"3d{batch}x{n_in}-{n_out}_{'x'.join(map(str, size))}_{suffix(k=k, p=p)}",
        _tensors((batch, n_in, *size), (batch, n_out, *out), (n_out, n_in, k, k, k), n_out),
        (None, *window),
        (None, None, *window),
        (None, *window),
        ([1] * 3, [p] * 3, [1] * 3, False, [0] * 3),
        2 * batch * n_in * n_out * math.prod(out) * k**3,
    )


CONVOLUTIONS = [
    convolution(8, 64, 64, 56, k=3, p=1),
    convolution(8, 256, 256, 14, k=3, p=1),
    convolution(8, 3, 64, 224, k=7, s=2, p=3),
    convolution(8, 256, 64, 56, k=1),
    convolution(4, 512, 512, 7, k=3, p=1),
    convolution(8, 512, 512, 7, k=3, p=1),
    convolution(4, 96, 128, 28, k=5, p=2),
    convolution(1, 64, 64, 112, k=3, p=1),
    convolution(8, 64, 64, 56, k=3, s=2, p=1),
    transposed(8, 128, 64, 28, k=4, s=2, p=1),
    transposed(4, 64, 64, 56, k=3, p=1),
    transposed(4, 96, 48, 31, k=5, s=2, p=2, a=1),
    volumetric(2, 16, 32, (16, 56, 56), k=3, p=1),
    volumetric(8, 3, 16, (8, 16, 16), k=3, p=1),
    # beyond the shapes that the kernels were tuned on
    convolution(8, 128, 128, 28, k=3, p=1),
    convolution(8, 64, 256, 56, k=1),
    convolution(8, 1024, 256, 14, k=1),
    convolution(1, 256, 256, 14, k=3, p=1),
    convolution(1, 512, 1000, 1, k=1),
    convolution(8, 64, 128, 56, k=1, s=2),
    convolution(4, 3, 32, (97, 131), k=3, s=2, p=1),
    convolution(2, 20, 24, (45, 37), k=3),
    convolution(8, 256, 512, 56, k=1, s=2),
    convolution(64, 1, 6, 28, k=5),
    convolution(128, 1, 32, 28, k=3, p=1),
    convolution(64, 3, 64, 32, k=4, s=2, p=1),
    convolution(256, 8, 16, 6, k=3, p=1),
    convolution(16, 1, 32, 34, k=5),
    convolution(16, 32, 32, 30, k=3),
    convolution(1, 3, 16, 512, k=3, p=1),
    convolution(1, 16, 3, 512, k=3, p=1),
    convolution(1, 64, 3, 256, k=7, p=3),
    convolution(128, 16, 16, 16, k=7, p=3),
    convolution(1, 128, 128, 46, k=7, p=3),
    convolution(8, 64, 64, 56, k=7, p=3),
    convolution(8, 64, 192, 27, k=5, p=2),
    convolution(1, 3, 64, 128, k=9, p=4),
    convolution(2, 32, 32, 64, k=11, p=5),
    dilated(4, 128, 128, 28, k=3, p=2, d=2),
    dilated(1, 512, 512, 32, k=3, p=4, d=4),
    dilated(1, 256, 256, 33, k=3, p=12, d=12),
    dilated(2, 32, 32, 128, k=3, p=8, d=8),
    transposed(16, 32, 1, 26, k=6, s=2, p=4),
    transposed(1, 256, 128, 16, k=3, s=2, p=1, a=1),
]

"""Convolutions along time and of volumes, and bags of rows of a table."""

from __future__ import annotations

import math
from typing import Any

from .cases import Call, Case, Contents, Indices, Normal, Part, Shape, Steps, Zeros, part
from .convolutions import convolution_parts


def temporal(batch: int, frames: int, n_in: int, n_out: int, k: int) -> Case:
    """TemporalConvolution: ours has the values of a frame side by side, PyTorch the frames."""
    out = frames - k + 1
    flops = 2 * batch * out * n_in * n_out * k

    def backward(torch: Any, t: Any, mask: list[bool]) -> Any:
        geometry = [1], [0], [1], False, [0], 1
        results = torch.ops.aten.convolution_backward.default(
            t.gradPlanes, t.planes, t.kernels, [n_out], *geometry, mask
        )
        return [result for result, wanted in zip(results, mask, strict=True) if wanted]

    def gradients(torch: Any, t: Any) -> Any:
        weight, bias = backward(torch, t, [False, True, True])
        return weight.transpose(1, 2), bias

    return Case(
        f"1d{batch}x{n_in}-{n_out}_{frames}_k{k}",
        "convolution",
        {
            "input": Normal((batch, frames, n_in)),
            "weight": Normal((n_out, k * n_in)),
            "bias": Normal((n_out,)),
            "gradOutput": Normal((batch, out, n_out)),
            "gradWeight": Zeros((n_out, k * n_in)),
            "gradBias": Zeros((n_out,)),
        },
        (
            part(
                "output",
                "TemporalConvolution_updateOutput",
                ("input", "output", "weight", "bias", k, 1, n_in, n_out),
                lambda torch, t: torch.conv1d(t.planes, t.kernels, t.bias).transpose(1, 2),
                flops,
            ),
            part(
                "gradInput",
                "TemporalConvolution_updateGradInput",
                ("input", "gradOutput", "gradInput", "weight", k, 1),
                lambda torch, t: backward(torch, t, [True, False, False])[0].transpose(1, 2),
                flops,
            ),
            part(
                "gradParameters",
                "TemporalConvolution_accGradParameters",
                ("input", "gradOutput", "gradWeight", "gradBias", k, 1, 1.0),
                gradients,
                flops,
            ),
        ),
        prepare=lambda _, t: {
            "planes": t.input.transpose(1, 2).contiguous(),
            "gradPlanes": t.gradOutput.transpose(1, 2).contiguous(),
            "kernels": t.weight.view(n_out, k, n_in).transpose(1, 2).contiguous(),
        },
    )


def _volumes(input: Shape, output: Shape, weight: Shape, planes: int) -> dict[str, Contents]:
    return {
        "input": Normal(input),
        "weight": Normal(weight),
        "bias": Normal((planes,)),
        "gradOutput": Normal(output),
        "gradWeight": Zeros(weight),
        "gradBias": Zeros((planes,)),
    }


def volumetric_transposed(
    batch: int, n_in: int, n_out: int, size: Shape, k: int, s: int, p: int
) -> Case:
    """VolumetricFullConvolution."""
    out = tuple((n - 1) * s - 2 * p + k for n in size)
    window = (None, None, *[s] * 3, *[p] * 3, 0, 0, 0)
    return Case(
        f"3dT{batch}x{n_in}-{n_out}_{'x'.join(map(str, size))}_k{k}s{s}p{p}",
        "convolution",
        _volumes((batch, n_in, *size), (batch, n_out, *out), (n_in, n_out, k, k, k), n_out),
        convolution_parts(
            "VolumetricFullConvolution",
            (window, window, window),
            ([s] * 3, [p] * 3, [1] * 3, True, [0] * 3, 1),
            2 * batch * n_in * n_out * math.prod(size) * k**3,
        ),
    )


def volumetric_dilated(batch: int, n_in: int, n_out: int, size: Shape, k: int, d: int) -> Case:
    """VolumetricDilatedConvolution that keeps the size."""
    window = (*[k] * 3, 1, 1, 1, *[d * (k // 2)] * 3, *[d] * 3)
    return Case(
        f"3d{batch}x{n_in}-{n_out}_{'x'.join(map(str, size))}_k{k}p{d * (k // 2)}d{d}",
        "convolution",
        _volumes((batch, n_in, *size), (batch, n_out, *size), (n_out, n_in, k, k, k), n_out),
        convolution_parts(
            "VolumetricDilatedConvolution",
            ((None, None, *window), (None, *window), (None, None, *window)),
            ([1] * 3, [d * (k // 2)] * 3, [d] * 3, False, [0] * 3, 1),
            2 * batch * n_in * n_out * math.prod(size) * k**3,
        ),
    )


def bags(words: int, width: int, bags: int, each: int, mode: str) -> Case:
    """LookupTableBag; PyTorch writes a new gradient, ours adds to one."""
    number, count = ["sum", "mean"].index(mode), bags * each

    def forward(torch: Any, t: Any) -> Any:
        return torch.ops.aten._embedding_bag.default(
            t.weight, t.zeroBased, t.starts, False, number, False, None, False, -1
        )

    def backward(torch: Any, t: Any) -> Any:
        _, bag, size, most = t.forward
        return torch.ops.aten._embedding_bag_backward.default(
            *(t.gradOutput, t.zeroBased, t.starts, bag, size, most),
            *(words, False, number, False, None, -1),
        )

    def prepare(torch: Any, t: Any) -> dict[str, Any]:
        t.zeroBased, t.starts = t.input - 1, t.offsets - 1
        return {"forward": forward(torch, t)}

    return Case(
        f"LookupTableBag_{words}x{width}_{bags}x{each}_{mode}",
        "tables",
        {
            "input": Indices((count,), words),
            "offsets": Steps((bags,), each),
            "weight": Normal((words, width)),
            "gradOutput": Normal((bags, width)),
            "gradWeight": Zeros((words, width)),
        },
        (
            Part(
                "output",
                (
                    Call(
                        "LookupTableBag_updateOutput",
                        ("input", "offsets", "weight", "output", "offset2bag", number, "lengths"),
                    ),
                ),
                lambda torch, t: forward(torch, t)[:1],
                elements=(count + bags) * width,
            ),
            Part(
                "gradWeight",
                (
                    Call(
                        "LookupTableBag_accGradParameters",
                        (
                            *("input", "gradOutput", "gradWeight", "offset2bag"),
                            *(None, None, None, False, number, "lengths", 1.0),
                        ),
                    ),
                ),
                backward,
                elements=(2 * count + bags) * width,
            ),
        ),
        prepare=prepare,
    )


CONVOLUTIONS = [
    temporal(8, 128, 64, 64, k=5),
    temporal(4, 512, 256, 256, k=5),
    temporal(8, 256, 128, 128, k=7),
    temporal(32, 512, 256, 256, k=3),
    volumetric_transposed(2, 32, 16, (8, 28, 28), k=4, s=2, p=1),
    volumetric_dilated(2, 16, 16, (12, 28, 28), k=3, d=2),
]
TABLES = [
    bags(1000, 64, 16, 8, "sum"),
    bags(10000, 256, 512, 8, "sum"),
    bags(10000, 256, 512, 8, "mean"),
    bags(100000, 64, 1024, 16, "sum"),
]

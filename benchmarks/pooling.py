"""Pooling at drawn places, putting pooled values back, and small and large shapes of the rest."""

from __future__ import annotations

from typing import Any

from .cases import Call, Case, Chosen, Normal, Shape, Taps, Uniform, part
from .layers import adaptive_average_pooling
from .planes import adaptive_max_pooling, average_pooling, max_pooling, pooling


def fractional(batch: int, planes: int, size: Shape, out: Shape) -> Case:
    """Regions of two elements along each dimension; of volumes, time is our last dimension."""
    dimensions = len(size)
    module = f"{'Spatial' if dimensions == 2 else 'Volumetric'}FractionalMaxPooling"
    operator = f"fractional_max_pool{dimensions}d"
    window = [2] * dimensions
    sizes = (*reversed(out), *window)

    def forward(torch: Any, t: Any) -> Any:
        return getattr(torch.ops.aten, operator).default(t.input, window, list(out), t.turned)

    def backward(torch: Any, t: Any) -> Any:
        return getattr(torch.ops.aten, f"{operator}_backward").default(
            t.gradOutput, t.input, window, list(out), t.chosen
        )

    def prepare(torch: Any, t: Any) -> dict[str, Any]:
        # PyTorch takes the numbers of volumes in the order of the dimensions
        t.turned = t.samples if dimensions == 2 else t.samples.flip(-1).contiguous()
        return {"chosen": forward(torch, t)[1]}

    case = pooling(
        f"{module}_{batch}x{planes}_{'x'.join(map(str, size))}to{'x'.join(map(str, out))}",
        (batch, planes, *size),
        (batch, planes, *out),
        Call(f"{module}_updateOutput", ("input", "output", *sizes, "indices", "samples")),
        Call(f"{module}_updateGradInput", ("input", "gradOutput", "gradInput", *sizes, "indices")),
        lambda torch, t: forward(torch, t)[0],
        backward,
        prepare,
    )
    samples = {"samples": Uniform((batch, planes, dimensions))}
    return Case(case.name, case.family, {**case.tensors, **samples}, case.parts, prepare)


def max_unpooling(batch: int, planes: int, size: int) -> Case:
    """Each value goes to an element of its 2 x 2 window, and its gradient comes from there."""
    small, large = (batch, planes, size, size), (batch, planes, 2 * size, 2 * size)
    to = (2 * size, 2 * size)
    return Case(
        f"SpatialMaxUnpooling_{batch}x{planes}_{size}",
        "pooling",
        {"input": Normal(small), "indices": Chosen(small), "gradOutput": Normal(large)},
        (
            part(
                "output",
                "SpatialMaxUnpooling_updateOutput",
                ("input", "output", "indices", *to),
                lambda torch, t: torch.ops.aten.max_unpool2d.default(t.input, t.zeroBased, to),
            ),
            part(
                "gradInput",
                "SpatialMaxUnpooling_updateGradInput",
                ("input", "gradOutput", "gradInput", "indices", *to),
                lambda _, t: t.gradOutput.flatten(2).gather(2, t.zeroBased.flatten(2)),
            ),
        ),
        prepare=lambda _, t: {"zeroBased": t.indices - 1},
    )


def volumetric_unpooling(batch: int, planes: int, size: Shape) -> Case:
    small, large = (batch, planes, *size), (batch, planes, *(2 * n for n in size))
    to, window = large[2:], (2, 2, 2, 0, 0, 0)
    ours = (to[0], to[2], to[1], *window)

    def elements(torch: Any, t: Any) -> dict[str, Any]:
        axes = [2 * torch.arange(n, device=t.indices.device) for n in size]
        first = torch.meshgrid(*axes, indexing="ij")
        at = [n + (t.indices >> 8 * d & 255) for d, n in enumerate(first)]
        return {"elements": (at[0] * to[1] + at[1]) * to[2] + at[2]}

    return Case(
        f"VolumetricMaxUnpooling_{batch}x{planes}_{'x'.join(map(str, size))}",
        "pooling",
        {"input": Normal(small), "indices": Taps(small), "gradOutput": Normal(large)},
        (
            part(
                "output",
                "VolumetricMaxUnpooling_updateOutput",
                ("input", "output", "indices", *ours),
                lambda torch, t: torch.ops.aten.max_unpool3d.default(
                    t.input, t.elements, list(to), [2] * 3, [0] * 3
                ),
            ),
            part(
                "gradInput",
                "VolumetricMaxUnpooling_updateGradInput",
                ("input", "gradOutput", "gradInput", "indices", *ours),
                lambda _, t: t.gradOutput.flatten(2).gather(2, t.elements.flatten(2)),
            ),
        ),
        prepare=elements,
    )


def temporal_max_pooling(batch: int, frames: int, size: int, k: int) -> Case:
    """Ours has the values of a frame side by side, PyTorch the frames."""
    out = frames // k

    def planes(tensor: Any) -> Any:
        return tensor.transpose(1, 2).contiguous().unsqueeze(2)

    def forward(torch: Any, t: Any) -> Any:
        return torch.ops.aten.max_pool2d_with_indices.default(t.planes, [1, k], [1, k])

    def backward(torch: Any, t: Any) -> Any:
        gradient = torch.ops.aten.max_pool2d_with_indices_backward.default(
            t.gradPlanes, t.planes, [1, k], [1, k], [0, 0], [1, 1], False, t.chosen
        )
        return gradient.squeeze(2).transpose(1, 2)

    def prepare(torch: Any, t: Any) -> dict[str, Any]:
        t.planes = planes(t.input)
        return {"gradPlanes": planes(t.gradOutput), "chosen": forward(torch, t)[1]}

    return pooling(
        f"TemporalMaxPooling_{batch}x{frames}x{size}_k{k}s{k}",
        (batch, frames, size),
        (batch, out, size),
        Call("TemporalMaxPooling_updateOutput", ("input", "output", "indices", k, k)),
        Call(
            "TemporalMaxPooling_updateGradInput",
            ("input", "gradOutput", "gradInput", "indices", k, k),
        ),
        lambda torch, t: forward(torch, t)[0].squeeze(2).transpose(1, 2),
        backward,
        prepare,
    )


def dilated_max_pooling(batch: int, planes: int, size: Shape, k: int, d: int) -> Case:
    """Of planes or volumes, with stride 1 and as much padding as keeps most of the size."""
    dimensions, p = len(size), k // 2
    module = f"{'Spatial' if dimensions == 2 else 'Volumetric'}DilatedMaxPooling"
    operator = f"max_pool{dimensions}d_with_indices"
    out = tuple(n + 2 * p - d * (k - 1) for n in size)
    window = [k] * dimensions, [1] * dimensions, [p] * dimensions, [d] * dimensions
    numbers = tuple(n for setting in window for n in setting)

    def forward(torch: Any, t: Any) -> Any:
        return getattr(torch.ops.aten, operator).default(t.input, *window)

    return pooling(
        f"{module}_{batch}x{planes}_{'x'.join(map(str, size))}_k{k}p{p}d{d}",
        (batch, planes, *size),
        (batch, planes, *out),
        Call(f"{module}_updateOutput", ("input", "output", "indices", *numbers, False)),
        Call(
            f"{module}_updateGradInput",
            ("input", "gradOutput", "gradInput", "indices", *numbers, False),
        ),
        lambda torch, t: forward(torch, t)[0],
        lambda torch, t: getattr(torch.ops.aten, f"{operator}_backward").default(
            t.gradOutput, t.input, *window, False, t.chosen
        ),
        lambda torch, t: {"chosen": forward(torch, t)[1]},
    )


POOLING = [
    max_pooling(1, 16, 14, k=2, s=2, p=0),
    max_pooling(32, 64, 56, k=3, s=1, p=1),
    average_pooling(1, 16, 14, k=2, s=2, p=0),
    average_pooling(32, 64, 112, k=2, s=2, p=0),
    adaptive_max_pooling(1, 16, 14, 7),
    adaptive_max_pooling(4, 64, 13, 6),
    adaptive_max_pooling(32, 64, 112, 7),
    adaptive_average_pooling(1, 16, 14, 7),
    adaptive_average_pooling(32, 512, 7, 1),
    dilated_max_pooling(8, 32, (56, 56), k=3, d=2),
    dilated_max_pooling(2, 16, (16, 28, 28), k=3, d=2),
    fractional(1, 16, (14, 14), (9, 9)),
    fractional(8, 64, (56, 56), (39, 39)),
    fractional(32, 64, (112, 112), (81, 81)),
    fractional(2, 16, (28, 28, 16), (19, 19, 11)),
    max_unpooling(1, 16, 7),
    max_unpooling(8, 64, 56),
    volumetric_unpooling(2, 16, (8, 28, 28)),
    temporal_max_pooling(8, 128, 64, 2),
    temporal_max_pooling(32, 1024, 256, 2),
]

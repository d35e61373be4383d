"""Pooling, resampling and padding of planes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .cases import Call, Case, Normal, Part, Peer, Shape, Uniform, part, suffix

# --- Pooling --------------------------------------------------------------------------------------


def pooling(
    name: str,
    input: Shape,
    output: Shape,
    forward: Call,
    backward: Call,
    peer_forward: Peer,
    peer_backward: Peer,
    prepare: Callable[[Any, Any], dict[str, Any]] | None = None,
) -> Case:
    return Case(
        name,
        "pooling",
        {"input": Normal(input), "gradOutput": Normal(output)},
        (
            Part("output", (forward,), peer_forward),
            Part("gradInput", (backward,), peer_backward),
        ),
        prepare,
    )


def max_pooling(batch: int, planes: int, size: int, k: int, s: int, p: int) -> Case:
    out = (size + 2 * p - k) // s + 1
    window = (k, k, s, s, p, p, False)

    def forward(torch: Any, t: Any) -> Any:
        return torch.ops.aten.max_pool2d_with_indices.default(t.input, [k, k], [s, s], [p, p])

    return pooling(
        f"SpatialMaxPooling_{batch}x{planes}_{size}_{suffix(k=k, s=s, p=p)}",
        (batch, planes, size, size),
        (batch, planes, out, out),
        Call("SpatialMaxPooling_updateOutput", ("input", "output", "indices", *window)),
        Call(
            "SpatialMaxPooling_updateGradInput",
            ("input", "gradOutput", "gradInput", "indices", *window),
        ),
        lambda torch, t: forward(torch, t)[0],
        lambda torch, t: torch.ops.aten.max_pool2d_with_indices_backward.default(
            t.gradOutput, t.input, [k, k], [s, s], [p, p], [1, 1], False, t.indices
        ),
        lambda torch, t: {"indices": forward(torch, t)[1]},
    )


def average_pooling(batch: int, planes: int, size: int, k: int, s: int, p: int) -> Case:
    out = (size + 2 * p - k) // s + 1
    window = (k, k, s, s, p, p, False, True)
    peer_window = ([k, k], [s, s], [p, p], False, True, None)
    return pooling(
        f"SpatialAveragePooling_{batch}x{planes}_{size}_{suffix(k=k, s=s, p=p)}",
        (batch, planes, size, size),
        (batch, planes, out, out),
        Call("SpatialAveragePooling_updateOutput", ("input", "output", *window)),
        Call(
            "SpatialAveragePooling_updateGradInput",
            ("input", "gradOutput", "gradInput", *window),
        ),
        lambda torch, t: torch.ops.aten.avg_pool2d.default(t.input, *peer_window),
        lambda torch, t: torch.ops.aten.avg_pool2d_backward.default(
            t.gradOutput, t.input, *peer_window
        ),
    )


def adaptive_max_pooling(batch: int, planes: int, size: int, out: int) -> Case:
    def forward(torch: Any, t: Any) -> Any:
        return torch.ops.aten.adaptive_max_pool2d.default(t.input, [out, out])

    return pooling(
        f"SpatialAdaptiveMaxPooling_{batch}x{planes}_{size}to{out}",
        (batch, planes, size, size),
        (batch, planes, out, out),
        Call("SpatialAdaptiveMaxPooling_updateOutput", ("input", "output", "indices", out, out)),
        Call(
            "SpatialAdaptiveMaxPooling_updateGradInput",
            ("input", "gradOutput", "gradInput", "indices"),
        ),
        lambda torch, t: forward(torch, t)[0],
        lambda torch, t: torch.ops.aten.adaptive_max_pool2d_backward.default(
            t.gradOutput, t.input, t.indices
        ),
        lambda torch, t: {"indices": forward(torch, t)[1]},
    )


POOLING = [
    max_pooling(8, 64, 112, k=3, s=2, p=1),
    max_pooling(8, 64, 112, k=2, s=2, p=0),
    average_pooling(8, 64, 112, k=3, s=2, p=1),
    adaptive_max_pooling(8, 64, 56, 7),
]


# --- Resampling, padding --------------------------------------------------------------------------


def bilinear(batch: int, planes: int, size: int, output: int) -> Case:
    small, large = (batch, planes, size, size), (batch, planes, output, output)
    sizes, small_sizes = f"{{{output}, {output}}}", f"{{{', '.join(map(str, small))}}}"
    return Case(
        f"SpatialUpSamplingBilinear_{batch}x{planes}_{size}to{output}",
        "resampling",
        {"input": Normal(small), "gradOutput": Normal(large)},
        (
            part(
                "output",
                "SpatialUpSamplingBilinear_updateOutput",
                ("input", "output", output, output),
                lambda torch, t: torch.ops.aten.upsample_bilinear2d.default(
                    t.input, [output, output], True, None, None
                ),
                peer_cpp=f"at::upsample_bilinear2d(input, {sizes}, true)",
            ),
            part(
                "gradInput",
                "SpatialUpSamplingBilinear_updateGradInput",
                ("gradOutput", "gradInput", *small, output, output),
                lambda torch, t: torch.ops.aten.upsample_bilinear2d_backward.default(
                    t.gradOutput, [output, output], list(small), True, None, None
                ),
                peer_cpp="at::upsample_bilinear2d_backward"
                f"(gradOutput, {sizes}, {small_sizes}, true)",
            ),
        ),
        # places are computed in single precision, as in the original
        tolerance={"float32": 1e-4, "float64": 1e-4},
    )


def nearest(batch: int, planes: int, size: int, scale: int) -> Case:
    small = (batch, planes, size, size)
    large = (batch, planes, scale * size, scale * size)
    return Case(
        f"SpatialUpSamplingNearest_{batch}x{planes}_{size}to{scale * size}",
        "resampling",
        {"input": Normal(small), "gradOutput": Normal(large)},
        (
            part(
                "output",
                "SpatialUpSamplingNearest_updateOutput",
                ("input", "output", scale),
                lambda torch, t: torch.ops.aten.upsample_nearest2d.default(
                    t.input, list(large[2:]), None, None
                ),
            ),
            part(
                "gradInput",
                "SpatialUpSamplingNearest_updateGradInput",
                ("input", "gradOutput", "gradInput", scale),
                lambda torch, t: torch.ops.aten.upsample_nearest2d_backward.default(
                    t.gradOutput, list(large[2:]), list(small), None, None
                ),
            ),
        ),
    )


def reflection_padding(batch: int, planes: int, size: int, p: int) -> Case:
    large = (batch, planes, size + 2 * p, size + 2 * p)
    return Case(
        f"SpatialReflectionPadding_{batch}x{planes}_{size}_p{p}",
        "resampling",
        {"input": Normal((batch, planes, size, size)), "gradOutput": Normal(large)},
        (
            part(
                "output",
                "SpatialReflectionPadding_updateOutput",
                ("input", "output", p, p, p, p),
                lambda torch, t: torch.ops.aten.reflection_pad2d.default(t.input, [p] * 4),
            ),
            part(
                "gradInput",
                "SpatialReflectionPadding_updateGradInput",
                ("input", "gradOutput", "gradInput", p, p, p, p),
                lambda torch, t: torch.ops.aten.reflection_pad2d_backward.default(
                    t.gradOutput, t.input, [p] * 4
                ),
            ),
        ),
    )


def grid_sampler(batch: int, planes: int, size: int) -> Case:
    shape = (batch, planes, size, size)
    return Case(
        f"SpatialGridSamplerBilinear_{batch}x{planes}_{size}",
        "resampling",
        {
            "input": Normal(shape),
            "grid": Uniform((batch, size, size, 2), -1.0, 1.0),
            "gradOutput": Normal(shape),
        },
        (
            part(
                "output",
                "SpatialGridSamplerBilinear_updateOutput",
                ("input", "grid", "output"),
                lambda torch, t: torch.ops.aten.grid_sampler_2d.default(
                    t.input, t.grid, 0, 0, True
                ),
            ),
            part(
                "gradients",
                "SpatialGridSamplerBilinear_updateGradInput",
                ("input", "gradInput", "grid", "gradGrid", "gradOutput"),
                lambda torch, t: torch.ops.aten.grid_sampler_2d_backward.default(
                    t.gradOutput, t.input, t.grid, 0, 0, True, [True, True]
                ),
            ),
        ),
        tolerance={"float32": 1e-4, "float64": 1e-11},
    )


RESAMPLING = [
    bilinear(1, 3, 16, 32),
    bilinear(8, 64, 56, 112),
    bilinear(1, 3, 512, 1024),
    nearest(8, 64, 56, 2),
    reflection_padding(8, 64, 56, 2),
    grid_sampler(8, 64, 56),
]

"""Small and large shapes of modules that other files have at one size, and modules beside them."""

from __future__ import annotations

from typing import Any

from .cases import LARGE, MEDIUM, SMALL, Case, Normal, Shape, part
from .layers import gated_linear, gru, lstm, resampling
from .planes import bilinear, grid_sampler, nearest, reflection_padding
from .pointwise import (
    absolute,
    batch_normalization,
    elu,
    hard_shrink,
    hard_tanh,
    leaky_relu,
    log_sigmoid,
    prelu,
    sigmoid,
    soft_shrink,
    softmax,
    softplus,
    square,
    square_root,
)


def rrelu(shape: Shape) -> Case:
    """Evaluated, backward: the slope is the mean of its bounds. Forward it is LeakyReLU's loop."""
    return Case(
        f"RReLU_{'x'.join(map(str, shape))}",
        "pointwise",
        {"input": Normal(shape), "gradOutput": Normal(shape), "noise": Normal((1,))},
        (
            part(
                "gradInput",
                "RReLU_updateGradInput",
                ("input", "gradOutput", "gradInput", "noise", 0.125, 0.375, False, False),
                lambda torch, t: torch.ops.aten.leaky_relu_backward.default(
                    t.gradOutput, t.input, 0.25, False
                ),
            ),
        ),
    )


POINTWISE = [
    *(module(SMALL) for module in (hard_tanh, soft_shrink, hard_shrink, absolute, square)),
    square_root(SMALL),
    log_sigmoid(SMALL),
    prelu(SMALL),
    *(rrelu(shape) for shape in (SMALL, MEDIUM)),
    *(module(LARGE) for module in (leaky_relu, elu, sigmoid, softplus, prelu)),
    gated_linear(1, 8, 14),
    gated_linear(32, 64, 56),
]
SOFTMAX = [
    softmax((512, 10000)),
    softmax((512, 10000), "LogSoftMax"),
    softmax((100, 100)),  # no multiple of a vector
    softmax((100, 100), "LogSoftMax"),
]


# --- Normalisation --------------------------------------------------------------------------------


def across_maps(batch: int, planes: int, size: int, n: int = 5) -> Case:
    """SpatialCrossMapLRN; PyTorch has its forward pass, and its gradient is composed alike."""
    alpha, beta, k = 1e-4, 0.75, 1.0
    shape = (batch, planes, size, size)
    settings = (n, alpha, beta, k)

    def mean(torch: Any, x: Any) -> Any:
        """Over n neighbouring planes."""
        around = torch.nn.functional.pad(x.unsqueeze(1), (0, 0, 0, 0, n // 2, (n - 1) // 2))
        return torch.nn.functional.avg_pool3d(around, (n, 1, 1), stride=1).squeeze(1)

    def prepare(torch: Any, t: Any) -> dict[str, Any]:
        scale = k + alpha * mean(torch, t.input * t.input)
        return {"peerScale": scale, "peerOutput": t.input * scale**-beta}

    def backward(torch: Any, t: Any) -> Any:
        shared = mean(torch, t.gradOutput * t.peerOutput / t.peerScale)
        return t.gradOutput * t.peerScale**-beta - 2 * alpha * beta * t.input * shared

    return Case(
        f"SpatialCrossMapLRN_{batch}x{planes}_{size}",
        "normalisation",
        {"input": Normal(shape), "gradOutput": Normal(shape)},
        (
            part(
                "output",
                "SpatialCrossMapLRN_updateOutput",
                ("input", "output", "scale", *settings),
                lambda torch, t: torch.nn.functional.local_response_norm(t.input, *settings),
            ),
            part(
                "gradInput",
                "SpatialCrossMapLRN_updateGradInput",
                ("input", "gradOutput", "gradInput", "scale", "output", *settings),
                backward,
            ),
        ),
        prepare=prepare,
    )


NORMALISATION = [
    batch_normalization((8, 32)),
    batch_normalization(LARGE),
    across_maps(1, 16, 14),
    across_maps(8, 64, 56),
]
RECURRENT = [gru(1, 64), gru(256, 1024), lstm(1, 64), lstm(256, 1024)]


# --- Resampling, padding --------------------------------------------------------------------------


def replication_padding(batch: int, planes: int, size: Shape, p: int) -> Case:
    """Of planes or volumes."""
    dimensions = len(size)
    module = f"{'Spatial' if dimensions == 2 else 'Volumetric'}ReplicationPadding"
    operator, around = f"replication_pad{dimensions}d", [p] * 2 * dimensions
    return resampling(
        f"{batch}x{planes}_{'x'.join(map(str, size))}_p{p}",
        module,
        ((batch, planes, *size), (batch, planes, *(n + 2 * p for n in size))),
        (tuple(around), tuple(around)),
        (
            lambda torch, t: getattr(torch.ops.aten, operator).default(t.input, around),
            lambda torch, t: getattr(torch.ops.aten, f"{operator}_backward").default(
                t.gradOutput, t.input, around
            ),
        ),
    )


RESAMPLING = [
    bilinear(8, 64, 112, 56),
    nearest(1, 3, 16, 2),
    nearest(1, 3, 512, 2),
    nearest(8, 64, 28, 3),
    reflection_padding(1, 3, 16, 1),
    reflection_padding(1, 3, 512, 8),
    reflection_padding(32, 64, 112, 1),
    replication_padding(1, 3, (16, 16), 1),
    replication_padding(32, 64, (112, 112), 1),
    replication_padding(1, 3, (8, 16, 16), 1),
    replication_padding(4, 32, (32, 56, 56), 1),
    grid_sampler(1, 3, 16),
    grid_sampler(1, 16, 224),
]

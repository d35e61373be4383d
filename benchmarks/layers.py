"""Cases of further modules that PyTorch has, too: depthwise, recurrent, volumetric and others."""

from __future__ import annotations

from typing import Any

from .cases import (
    MEDIUM,
    Argument,
    Call,
    Case,
    Contents,
    Indices,
    Normal,
    Part,
    Peer,
    Shape,
    Uniform,
    Zeros,
    part,
)
from .convolutions import convolution_parts
from .criteria import criterion
from .planes import pooling

# --- Convolutions ---------------------------------------------------------------------------------


def depthwise(batch: int, planes: int, size: int, k: int, s: int = 1, p: int = 0) -> Case:
    """SpatialDepthWiseConvolution with one output plane for each input plane."""
    out = (size + 2 * p - k) // s + 1
    window = (None, None, k, k, s, s, p, p)
    weight = (planes, 1, k, k)
    return Case(
        f"D{batch}x{planes}_{size}_k{k}s{s}p{p}",
        "convolution",
        {
            "input": Normal((batch, planes, size, size)),
            "weight": Normal((1, planes, k, k)),
            "bias": Normal((1, planes)),
            "gradOutput": Normal((batch, planes, out, out)),
            "gradWeight": Zeros((1, planes, k, k)),
            "gradBias": Zeros((1, planes)),
        },
        convolution_parts(
            "SpatialDepthWiseConvolution",
            (window, window, window),
            ([s, s], [p, p], [1, 1], False, [0, 0], planes),
            2 * batch * planes * out * out * k * k,
        ),
        prepare=lambda _, t: {"weight": t.weight.reshape(weight), "bias": t.bias.reshape(-1)},
    )


DEPTHWISE = [
    depthwise(8, 64, 56, k=3, p=1),
    depthwise(8, 64, 56, k=3, s=2, p=1),
    depthwise(8, 256, 14, k=3, p=1),
    depthwise(8, 512, 7, k=3, p=1),
    depthwise(8, 96, 28, k=5, p=2),
]


# --- Recurrent cells ------------------------------------------------------------------------------


def _gru(torch: Any, t: Any) -> Any:
    reset, update, new = (t.input + t.bias1).chunk(3, 1)
    hidden_reset, hidden_update, hidden_new = (t.hidden + t.bias2).chunk(3, 1)
    r = torch.sigmoid(reset + hidden_reset)
    z = torch.sigmoid(update + hidden_update)
    n = torch.tanh(new + r * hidden_new)
    return n + z * (t.hx - n)


def _gru_backward(torch: Any, t: Any) -> Any:
    r, z, n, hx, m = t.storage.chunk(5, 1)
    to_new = t.gradOutput * (1 - z) * (1 - n * n)
    to_reset = to_new * m * r * (1 - r)
    to_update = t.gradOutput * (hx - n) * z * (1 - z)
    to_input = torch.cat([to_reset, to_update, to_new], 1)
    return to_input, torch.cat([to_reset, to_update, to_new * r], 1), t.gradOutput * z


def gru(batch: int, units: int) -> Case:
    state, gates, bias = (batch, units), (batch, 3 * units), (3 * units,)
    return Case(
        f"GRUFused_{batch}x{units}",
        "recurrent",
        {
            "input": Normal(gates),
            "hidden": Normal(gates),
            "bias1": Normal(bias),
            "bias2": Normal(bias),
            "hx": Normal(state),
            "storage": Uniform((batch, 5 * units)),
            "gradOutput": Normal(state),
        },
        (
            part(
                "output",
                "GRUFused_updateOutput",
                ("input", "hidden", "bias1", "bias2", "hx", "output", "stored"),
                _gru,
            ),
            part(
                "gradients",
                "GRUFused_updateGradInput",
                ("gradInInput", "gradInHidden", "gradOutput", "gradInputHx", "storage"),
                _gru_backward,
            ),
        ),
    )


def _lstm(torch: Any, t: Any) -> Any:
    i, f, c, o = (t.input + t.hidden + t.bias1 + t.bias2).chunk(4, 1)
    i, f, c, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(c), torch.sigmoid(o)
    cell = f * t.cell + i * c
    return torch.cat([i, f, c, o], 1), o * torch.tanh(cell), cell


def _lstm_backward(torch: Any, t: Any) -> Any:
    i, f, c, o = t.storage.chunk(4, 1)
    after = torch.tanh(t.outputCell)
    to_cell = t.gradOutput * o * (1 - after * after) + t.gradOutputCell
    gates = (
        to_cell * c * i * (1 - i),
        to_cell * t.cell * f * (1 - f),
        to_cell * i * (1 - c * c),
        t.gradOutput * after * o * (1 - o),
    )
    return torch.cat(gates, 1), to_cell * f


def lstm(batch: int, units: int) -> Case:
    state, gates, bias = (batch, units), (batch, 4 * units), (4 * units,)
    return Case(
        f"LSTMFused_{batch}x{units}",
        "recurrent",
        {
            "input": Normal(gates),
            "hidden": Normal(gates),
            "bias1": Normal(bias),
            "bias2": Normal(bias),
            "cell": Normal(state),
            "outputCell": Normal(state),
            "storage": Uniform(gates),
            "gradOutput": Normal(state),
            "gradOutputCell": Normal(state),
        },
        (
            part(
                "output",
                "LSTMFused_updateOutput",
                ("input", "hidden", "bias1", "bias2", "cell", "output", "cellAfter"),
                _lstm,
            ),
            part(
                "gradients",
                "LSTMFused_updateGradInput",
                (
                    *("storage", "gradInGates", "cell", "outputCell"),
                    *("gradOutput", "gradOutputCell", "gradInputCx"),
                ),
                _lstm_backward,
            ),
        ),
    )


RECURRENT = [gru(64, 512), lstm(64, 512)]


# --- Element by element, criteria -----------------------------------------------------------------


def gated_linear(batch: int, planes: int, size: int) -> Case:
    half, whole = (batch, planes, size, size), (batch, 2 * planes, size, size)
    return Case(
        f"GatedLinear_{batch}x{2 * planes}_{size}",
        "pointwise",
        {"input": Normal(whole), "gradOutput": Normal(half)},
        (
            part(
                "output",
                "GatedLinear_updateOutput",
                ("input", "output", 2),
                lambda torch, t: torch.ops.aten.glu.default(t.input, 1),
            ),
            part(
                "gradInput",
                "GatedLinear_updateGradInput",
                ("input", "gradOutput", "gradInput", 2),
                lambda torch, t: torch.ops.aten.glu_backward.default(t.gradOutput, t.input, 1),
            ),
        ),
    )


def absolute_error(shape: Shape) -> Case:
    return criterion(
        "AbsCriterion",
        shape,
        lambda _, t: (t.input - t.target).abs().mean(),
        lambda torch, t: torch.sign(t.input - t.target) / t.input.numel(),
    )


def divergence(shape: Shape) -> Case:
    return criterion(
        "DistKLDivCriterion",
        shape,
        lambda torch, t: torch.ops.aten.kl_div.default(t.input, t.target, 1),
        lambda _, t: t.target * (-1 / t.input.numel()),
        target=Uniform(shape, 0.01, 1.0),
    )


def multi_margin(batch: int, classes: int) -> Case:
    return Case(
        f"MultiMarginCriterion_{batch}x{classes}",
        "criteria",
        {
            "input": Normal((batch, classes)),
            "target": Indices((batch,), classes),
            "output": Zeros((1,)),
        },
        (
            part(
                "output",
                "MultiMarginCriterion_updateOutput",
                ("input", "target", "output", True, 1, None, 1.0),
                lambda torch, t: torch.ops.aten.multi_margin_loss.default(
                    t.input, t.zeroBased, 1, 1, None, 1
                ),
            ),
            part(
                "gradInput",
                "MultiMarginCriterion_updateGradInput",
                ("input", "target", "gradInput", True, 1, None, 1.0),
                lambda torch, t: torch.ops.aten.multi_margin_loss_backward.default(
                    t.one, t.input, t.zeroBased, 1, 1, None, 1
                ),
            ),
        ),
        prepare=lambda torch, t: {
            "one": torch.ones((), dtype=t.input.dtype),
            "zeroBased": t.target - 1,
        },
    )


CRITERIA = [absolute_error(MEDIUM), divergence(MEDIUM), multi_margin(128, 1000)]
POINTWISE = [gated_linear(8, 32, 56)]


# --- Pooling --------------------------------------------------------------------------------------


def adaptive_average_pooling(batch: int, planes: int, size: int, out: int) -> Case:
    module = "SpatialAdaptiveAveragePooling"
    return pooling(
        f"{module}_{batch}x{planes}_{size}to{out}",
        (batch, planes, size, size),
        (batch, planes, out, out),
        Call(f"{module}_updateOutput", ("input", "output", out, out)),
        Call(f"{module}_updateGradInput", ("input", "gradOutput", "gradInput")),
        lambda torch, t: torch.ops.aten._adaptive_avg_pool2d.default(t.input, [out, out]),
        lambda torch, t: torch.ops.aten._adaptive_avg_pool2d_backward.default(
            t.gradOutput, t.input
        ),
    )


def volumetric_pooling(
    kind: str,
    peers: tuple[Peer, Peer],
    more: tuple[Argument, ...],
    indices: tuple[Argument, ...] = (),
) -> Case:
    """Windows of 2 x 2 x 2 side by side."""
    module = f"Volumetric{kind}Pooling"
    window = (2, 2, 2, 2, 2, 2, 0, 0, 0, *more)
    return pooling(
        f"{module}_4x32_16x56x56_k2s2",
        (4, 32, 16, 56, 56),
        (4, 32, 8, 28, 28),
        Call(f"{module}_updateOutput", ("input", "output", *indices, *window)),
        Call(f"{module}_updateGradInput", ("input", "gradOutput", "gradInput", *indices, *window)),
        *peers,
        lambda torch, t: {
            "chosen": torch.ops.aten.max_pool3d_with_indices.default(t.input, [2, 2, 2])[1]
        },
    )


WINDOW = [2, 2, 2]
POOLING = [
    adaptive_average_pooling(8, 64, 56, 7),
    volumetric_pooling(
        "Max",
        (
            lambda torch, t: torch.ops.aten.max_pool3d_with_indices.default(t.input, WINDOW)[0],
            lambda torch, t: torch.ops.aten.max_pool3d_with_indices_backward.default(
                t.gradOutput, t.input, WINDOW, WINDOW, [0] * 3, [1] * 3, False, t.chosen
            ),
        ),
        (False,),
        ("indices",),
    ),
    volumetric_pooling(
        "Average",
        (
            lambda torch, t: torch.ops.aten.avg_pool3d.default(t.input, WINDOW),
            lambda torch, t: torch.ops.aten.avg_pool3d_backward.default(
                t.gradOutput, t.input, WINDOW, WINDOW, [0] * 3, False, True, None
            ),
        ),
        (False, True),
    ),
]


# --- Resampling, padding --------------------------------------------------------------------------


def resampling(
    name: str,
    module: str,
    sizes: tuple[Shape, Shape],
    arguments: tuple[tuple[Argument, ...], tuple[Argument, ...]],
    peers: tuple[Peer, Peer],
    tolerance: float = 1e-12,
) -> Case:
    """`arguments` are those after the tensors; without an input the sizes come before them."""
    tensors: dict[str, Contents] = {"input": Normal(sizes[0]), "gradOutput": Normal(sizes[1])}
    backward = ("gradOutput", "gradInput")
    return Case(
        f"{module}_{name}",
        "resampling",
        tensors,
        (
            Part(
                "output",
                (Call(f"{module}_updateOutput", ("input", "output", *arguments[0])),),
                peers[0],
            ),
            Part(
                "gradInput",
                (
                    Call(
                        f"{module}_updateGradInput",
                        (*(() if "linear" in module else ("input",)), *backward, *arguments[1]),
                    ),
                ),
                peers[1],
            ),
        ),
        tolerance={"float32": max(2e-5, tolerance), "float64": tolerance},
    )


_VOLUME, _TWICE = (2, 16, 16, 28, 28), (2, 16, 32, 56, 56)
_TO = list(_TWICE[2:])
RESAMPLING = [
    resampling(
        "8x64_56_p2",
        "SpatialReplicationPadding",
        ((8, 64, 56, 56), (8, 64, 60, 60)),
        ((2, 2, 2, 2), (2, 2, 2, 2)),
        (
            lambda torch, t: torch.ops.aten.replication_pad2d.default(t.input, [2] * 4),
            lambda torch, t: torch.ops.aten.replication_pad2d_backward.default(
                t.gradOutput, t.input, [2] * 4
            ),
        ),
    ),
    resampling(
        "2x16_16x28x28_p2",
        "VolumetricReplicationPadding",
        (_VOLUME, (2, 16, 20, 32, 32)),
        ((2,) * 6, (2,) * 6),
        (
            lambda torch, t: torch.ops.aten.replication_pad3d.default(t.input, [2] * 6),
            lambda torch, t: torch.ops.aten.replication_pad3d_backward.default(
                t.gradOutput, t.input, [2] * 6
            ),
        ),
    ),
    resampling(
        "2x16_16x28x28",
        "VolumetricUpSamplingNearest",
        (_VOLUME, _TWICE),
        ((2,), (2,)),
        (
            lambda torch, t: torch.ops.aten.upsample_nearest3d.default(t.input, _TO),
            lambda torch, t: torch.ops.aten.upsample_nearest3d_backward.default(
                t.gradOutput, _TO, list(_VOLUME)
            ),
        ),
    ),
    resampling(
        "2x16_16x28x28",
        "VolumetricUpSamplingTrilinear",
        (_VOLUME, _TWICE),
        (_TWICE[2:], (*_VOLUME, *_TWICE[2:])),
        (
            lambda torch, t: torch.ops.aten.upsample_trilinear3d.default(t.input, _TO, True),
            lambda torch, t: torch.ops.aten.upsample_trilinear3d_backward.default(
                t.gradOutput, _TO, list(_VOLUME), True
            ),
        ),
        tolerance=1e-4,  # places are computed in single precision, as in the original
    ),
]

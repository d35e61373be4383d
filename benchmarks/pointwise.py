"""Functions of each element, softmax and batch normalisation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from .cases import (
    LARGE,
    MEDIUM,
    SMALL,
    Argument,
    Call,
    Case,
    Contents,
    Normal,
    Part,
    Peer,
    Shape,
    Uniform,
    Zeros,
    part,
    shape_name,
)

# --- Element by element ---------------------------------------------------------------------------


def pointwise(
    module: str,
    shape: Shape,
    forward: tuple[Argument, ...],
    backward: tuple[Argument, ...],
    peer_forward: Peer,
    peer_backward: Peer,
    cpp: tuple[str, str] | None = None,
    contents: Contents | None = None,
) -> Case:
    """A module without parameters.

    `forward` are the arguments after (input, output), `backward` those after (input, gradOutput,
    gradInput); among the latter, and in `peer_backward`, `output` is each side's own.
    """
    forward_cpp, backward_cpp = cpp or (None, None)
    return Case(
        f"{module}_{shape_name(shape)}",
        "pointwise",
        {"input": contents or Normal(shape), "gradOutput": Normal(shape)},
        (
            part(
                "output",
                f"{module}_updateOutput",
                ("input", "output", *forward),
                peer_forward,
                peer_cpp=forward_cpp,
            ),
            part(
                "gradInput",
                f"{module}_updateGradInput",
                ("input", "gradOutput", "gradInput", *backward),
                peer_backward,
                peer_cpp=backward_cpp,
                elements=3 * math.prod(shape),  # of input and output it reads one
            ),
        ),
        prepare=lambda torch, t: {"output": peer_forward(torch, t)},
    )


def threshold(shape: Shape) -> Case:
    return pointwise(
        "Threshold",
        shape,
        (0.0, 0.0, False),
        (0.0, 0.0, False),
        lambda torch, t: torch.ops.aten.threshold.default(t.input, 0.0, 0.0),
        lambda torch, t: torch.ops.aten.threshold_backward.default(t.gradOutput, t.input, 0.0),
        ("at::threshold(input, 0, 0)", "at::threshold_backward(gradOutput, input, 0)"),
    )


def leaky_relu(shape: Shape) -> Case:
    return pointwise(
        "LeakyReLU",
        shape,
        (0.01, False),
        (0.01, False),
        lambda torch, t: torch.ops.aten.leaky_relu.default(t.input, 0.01),
        lambda torch, t: torch.ops.aten.leaky_relu_backward.default(
            t.gradOutput, t.input, 0.01, False
        ),
        (
            "at::leaky_relu(input, 0.01)",
            "at::leaky_relu_backward(gradOutput, input, 0.01, false)",
        ),
    )


def elu(shape: Shape) -> Case:
    return pointwise(
        "ELU",
        shape,
        (1.0, False),
        ("output", 1.0, False),
        lambda torch, t: torch.ops.aten.elu.default(t.input),
        lambda torch, t: torch.ops.aten.elu_backward.default(t.gradOutput, 1, 1, 1, True, t.output),
        ("at::elu(input)", "at::elu_backward(gradOutput, 1, 1, 1, true, output)"),
    )


def sigmoid(shape: Shape) -> Case:
    return pointwise(
        "Sigmoid",
        shape,
        (),
        ("output",),
        lambda torch, t: torch.ops.aten.sigmoid.default(t.input),
        lambda torch, t: torch.ops.aten.sigmoid_backward.default(t.gradOutput, t.output),
        ("at::sigmoid(input)", "at::sigmoid_backward(gradOutput, output)"),
    )


def tanh(shape: Shape) -> Case:
    return pointwise(
        "Tanh",
        shape,
        (),
        ("output",),
        lambda torch, t: torch.ops.aten.tanh.default(t.input),
        lambda torch, t: torch.ops.aten.tanh_backward.default(t.gradOutput, t.output),
        ("at::tanh(input)", "at::tanh_backward(gradOutput, output)"),
    )


def softplus(shape: Shape) -> Case:
    return pointwise(
        "SoftPlus",
        shape,
        (1.0, 20.0),
        ("output", 1.0, 20.0),
        lambda torch, t: torch.ops.aten.softplus.default(t.input),
        lambda torch, t: torch.ops.aten.softplus_backward.default(t.gradOutput, t.input, 1, 20),
        ("at::softplus(input)", "at::softplus_backward(gradOutput, input, 1, 20)"),
    )


def log_sigmoid(shape: Shape) -> Case:
    case = pointwise(
        "LogSigmoid",
        shape,
        (None,),
        (None,),
        lambda torch, t: torch.ops.aten.log_sigmoid_forward.default(t.input)[0],
        lambda torch, t: torch.ops.aten.log_sigmoid_backward.default(
            t.gradOutput, t.input, t.buffer
        ),
    )
    return replace(
        case,
        prepare=lambda torch, t: {"buffer": torch.ops.aten.log_sigmoid_forward.default(t.input)[1]},
    )


def hard_tanh(shape: Shape) -> Case:
    return pointwise(
        "HardTanh",
        shape,
        (-1.0, 1.0, False),
        (-1.0, 1.0, False),
        lambda torch, t: torch.ops.aten.hardtanh.default(t.input, -1, 1),
        lambda torch, t: torch.ops.aten.hardtanh_backward.default(t.gradOutput, t.input, -1, 1),
    )


def soft_shrink(shape: Shape) -> Case:
    return pointwise(
        "SoftShrink",
        shape,
        (0.5,),
        (0.5,),
        lambda torch, t: torch.ops.aten.softshrink.default(t.input, 0.5),
        lambda torch, t: torch.ops.aten.softshrink_backward.default(t.gradOutput, t.input, 0.5),
    )


def hard_shrink(shape: Shape) -> Case:
    return pointwise(
        "HardShrink",
        shape,
        (0.5,),
        (0.5,),
        lambda torch, t: torch.ops.aten.hardshrink.default(t.input, 0.5),
        lambda torch, t: torch.ops.aten.hardshrink_backward.default(t.gradOutput, t.input, 0.5),
    )


def absolute(shape: Shape) -> Case:
    return pointwise(
        "Abs",
        shape,
        (),
        (),
        lambda torch, t: torch.ops.aten.abs.default(t.input),
        lambda _, t: t.gradOutput * t.input.sgn(),
    )


def gelu(shape: Shape) -> Case:
    return pointwise(
        "GELU",
        shape,
        (),
        (),
        lambda torch, t: torch.ops.aten.gelu.default(t.input),
        lambda torch, t: torch.ops.aten.gelu_backward.default(t.gradOutput, t.input),
    )


def gelu_tanh(shape: Shape) -> Case:
    return pointwise(
        "GELUTanh",
        shape,
        (),
        (),
        lambda torch, t: torch.ops.aten.gelu.default(t.input, approximate="tanh"),
        lambda torch, t: torch.ops.aten.gelu_backward.default(
            t.gradOutput, t.input, approximate="tanh"
        ),
    )


def silu(shape: Shape) -> Case:
    return pointwise(
        "SiLU",
        shape,
        (),
        (),
        lambda torch, t: torch.ops.aten.silu.default(t.input),
        lambda torch, t: torch.ops.aten.silu_backward.default(t.gradOutput, t.input),
    )


def square(shape: Shape) -> Case:
    return pointwise(
        "Square",
        shape,
        (),
        (),
        lambda _, t: t.input * t.input,
        lambda _, t: t.gradOutput * (2 * t.input),
    )


def square_root(shape: Shape) -> Case:
    return pointwise(
        "Sqrt",
        shape,
        (0.0,),
        ("output",),
        lambda torch, t: torch.ops.aten.sqrt.default(t.input),
        lambda _, t: t.gradOutput / (2 * t.output),
        contents=Uniform(shape, 0.1, 2.0),
    )


def prelu(shape: Shape) -> Case:
    """One weight per plane; PyTorch computes both gradients at once."""
    planes = shape[1]
    added = ("gradWeight", None, None, planes, 1.0)

    def backward(torch: Any, t: Any) -> Any:
        weight = t.weight.view(1, -1, *[1] * (len(shape) - 2))
        grad_input, grads = torch.ops.aten._prelu_kernel_backward.default(
            t.gradOutput, t.input, weight
        )
        return grad_input, grads.sum([0, *range(2, len(shape))])

    return Case(
        f"PReLU_{shape_name(shape)}",
        "pointwise",
        {
            "input": Normal(shape),
            "gradOutput": Normal(shape),
            "weight": Uniform((planes,)),
            "gradWeight": Zeros((planes,)),
        },
        (
            part(
                "output",
                "PReLU_updateOutput",
                ("input", "output", "weight", planes),
                lambda torch, t: torch.prelu(t.input, t.weight),
            ),
            Part(
                "gradients",
                (
                    Call(
                        "PReLU_updateGradInput",
                        ("input", "gradOutput", "gradInput", "weight", planes),
                    ),
                    Call(
                        "PReLU_accGradParameters",
                        ("input", "gradOutput", None, "weight", *added),
                    ),
                ),
                backward,
            ),
        ),
    )


POINTWISE = [
    *(threshold(shape) for shape in (SMALL, MEDIUM, LARGE)),
    *(leaky_relu(shape) for shape in (SMALL, MEDIUM)),
    *(elu(shape) for shape in (SMALL, MEDIUM)),
    *(sigmoid(shape) for shape in (SMALL, MEDIUM)),
    *(tanh(shape) for shape in (SMALL, MEDIUM, LARGE)),
    *(softplus(shape) for shape in (SMALL, MEDIUM)),
    log_sigmoid(MEDIUM),
    hard_tanh(MEDIUM),
    soft_shrink(MEDIUM),
    hard_shrink(MEDIUM),
    absolute(MEDIUM),
    square(MEDIUM),
    gelu(MEDIUM),
    gelu_tanh(MEDIUM),
    silu(MEDIUM),
    square_root(MEDIUM),
    prelu(MEDIUM),
]


# --- Softmax, normalisation -----------------------------------------------------------------------


def softmax(shape: Shape, module: str = "SoftMax") -> Case:
    """Over dimension 1; also LogSoftMax."""
    aten = {"SoftMax": "_softmax", "LogSoftMax": "_log_softmax"}[module]

    def forward(torch: Any, t: Any) -> Any:
        return getattr(torch.ops.aten, aten).default(t.input, 1, False)

    def backward(torch: Any, t: Any) -> Any:
        function = getattr(torch.ops.aten, f"{aten}_backward_data").default
        return function(t.gradOutput, t.output, 1, t.input.dtype)

    return replace(
        pointwise(module, shape, (), ("output",), forward, backward),
        family="softmax",
    )


SOFTMAX = [
    softmax((128, 1000)),
    softmax((8, 10)),
    softmax(MEDIUM),
    softmax((128, 1000), "LogSoftMax"),
    softmax((8, 10), "LogSoftMax"),
    softmax(MEDIUM, "LogSoftMax"),
]


def batch_normalization(shape: Shape) -> Case:
    """In training."""
    planes = (shape[1],)

    def forward(torch: Any, t: Any) -> Any:
        return torch.ops.aten.native_batch_norm.default(
            t.input, t.weight, t.bias, t.mean, t.variance, True, 0.1, 1e-5
        )

    def backward(torch: Any, t: Any, mask: list[bool]) -> Any:
        results = torch.ops.aten.native_batch_norm_backward.default(
            t.gradOutput, t.input, t.weight, t.mean, t.variance, *t.saved, True, 1e-5, mask
        )
        return [result for result, wanted in zip(results, mask, strict=True) if wanted]

    statistics = ("mean", "variance", "saveMean", "saveStd", True)
    saved = ("weight", *statistics)
    return Case(
        f"BatchNormalization_{shape_name(shape)}",
        "normalisation",
        {
            "input": Normal(shape),
            "gradOutput": Normal(shape),
            "weight": Normal(planes),
            "bias": Normal(planes),
            "mean": Zeros(planes),
            "variance": Uniform(planes),
            "saveMean": Zeros(planes),
            "saveStd": Zeros(planes),
            "gradWeight": Zeros(planes),
            "gradBias": Zeros(planes),
        },
        (
            part(
                "output",
                "BatchNormalization_updateOutput",
                ("input", "output", "weight", "bias", *statistics, 0.1, 1e-5),
                lambda torch, t: forward(torch, t)[:1],
            ),
            part(
                "gradInput",
                "BatchNormalization_backward",
                ("input", "gradOutput", "gradInput", None, None, *saved, 1.0, 1e-5),
                lambda torch, t: backward(torch, t, [True, False, False]),
            ),
            part(
                "gradients",
                "BatchNormalization_backward",
                ("input", "gradOutput", "gradInput", "gradWeight", "gradBias", *saved, 1.0, 1e-5),
                lambda torch, t: backward(torch, t, [True, True, True]),
            ),
        ),
        prepare=lambda torch, t: {"saved": forward(torch, t)[1:]},
    )


NORMALISATION = [batch_normalization(MEDIUM), batch_normalization((64, 128))]

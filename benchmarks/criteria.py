"""Criteria that compare element by element, and class probabilities."""

from __future__ import annotations

from dataclasses import replace

from .cases import (
    LARGE,
    MEDIUM,
    SMALL,
    Argument,
    Case,
    Contents,
    Indices,
    Normal,
    Peer,
    Shape,
    Uniform,
    Zeros,
    part,
    shape_name,
)


def criterion(
    module: str,
    shape: Shape,
    peer_forward: Peer,
    peer_backward: Peer,
    cpp: tuple[str, str] | None = None,
    input: Contents | None = None,
    target: Contents | None = None,
    more: tuple[Argument, ...] = (),
) -> Case:
    """A criterion that averages; `peer_backward` finds a gradient of 1 in ``t.one``."""
    forward_cpp, backward_cpp = cpp or (None, None)
    return Case(
        f"{module}_{shape_name(shape)}",
        "criteria",
        {
            "input": input or Normal(shape),
            "target": target or Normal(shape),
            "output": Zeros((1,)),
        },
        (
            part(
                "output",
                f"{module}_updateOutput",
                ("input", "target", "output", True, *more),
                peer_forward,
                peer_cpp=forward_cpp,
            ),
            part(
                "gradInput",
                f"{module}_updateGradInput",
                ("input", "target", "gradInput", True, *more),
                peer_backward,
                peer_cpp=backward_cpp,
            ),
        ),
        prepare=lambda torch, t: {"one": torch.ones((), dtype=t.input.dtype)},
    )


def mean_squared_error(shape: Shape) -> Case:
    return criterion(
        "MSECriterion",
        shape,
        lambda torch, t: torch.ops.aten.mse_loss.default(t.input, t.target, 1),
        lambda torch, t: torch.ops.aten.mse_loss_backward.default(t.one, t.input, t.target, 1),
        (
            "at::mse_loss(input, target)",
            "at::mse_loss_backward(at::ones({}, input.options()), input, target, 1)",
        ),
    )


def smooth_l1(shape: Shape) -> Case:
    return criterion(
        "SmoothL1Criterion",
        shape,
        lambda torch, t: torch.ops.aten.smooth_l1_loss.default(t.input, t.target, 1, 1.0),
        lambda torch, t: torch.ops.aten.smooth_l1_loss_backward.default(
            t.one, t.input, t.target, 1, 1.0
        ),
    )


def binary_cross_entropy(shape: Shape) -> Case:
    case = criterion(
        "BCECriterion",
        shape,
        lambda torch, t: torch.ops.aten.binary_cross_entropy.default(t.input, t.target, None, 1),
        lambda torch, t: torch.ops.aten.binary_cross_entropy_backward.default(
            t.one, t.input, t.target, None, 1
        ),
        input=Uniform(shape, 0.05, 0.95),
        target=Uniform(shape),
        more=(None,),
    )
    # ours adds 1e-12 to the argument of the logarithm, as the original does
    return replace(case, tolerance={"float32": 2e-5, "float64": 1e-9})


def soft_margin(shape: Shape) -> Case:
    return criterion(
        "SoftMarginCriterion",
        shape,
        lambda torch, t: torch.ops.aten.soft_margin_loss.default(t.input, t.target, 1),
        lambda torch, t: torch.ops.aten.soft_margin_loss_backward.default(
            t.one, t.input, t.target, 1
        ),
    )


def class_nll(batch: int, classes: int) -> Case:
    """Ours writes the targets' elements only; PyTorch also clears the others."""
    rest = ("totalWeight", -100)
    return Case(
        f"ClassNLLCriterion_{batch}x{classes}",
        "criteria",
        {
            "input": Normal((batch, classes)),
            "target": Indices((batch,), classes),
            "output": Zeros((1,)),
            "totalWeight": Zeros((1,)),
            "gradInput": Zeros((batch, classes)),
        },
        (
            part(
                "output",
                "ClassNLLCriterion_updateOutput",
                ("input", "target", "output", True, None, *rest),
                lambda torch, t: torch.ops.aten.nll_loss_forward.default(
                    t.input, t.zeroBased, None, 1, -100
                )[0],
                elements=2 * batch,
            ),
            part(
                "gradInput",
                "ClassNLLCriterion_updateGradInput",
                ("input", "target", "gradInput", True, None, *rest),
                lambda torch, t: torch.ops.aten.nll_loss_backward.default(
                    t.one, t.input, t.zeroBased, None, 1, -100, t.weightSum
                ),
                elements=2 * batch,
            ),
        ),
        prepare=lambda torch, t: {
            "one": torch.ones((), dtype=t.input.dtype),
            "zeroBased": t.target - 1,
            "weightSum": torch.tensor(float(batch), dtype=t.input.dtype),
        },
    )


CRITERIA = [
    *(mean_squared_error(shape) for shape in (SMALL, MEDIUM, LARGE)),
    smooth_l1(MEDIUM),
    binary_cross_entropy(MEDIUM),
    soft_margin(MEDIUM),
    class_nll(128, 1000),
]

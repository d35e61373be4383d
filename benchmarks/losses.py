"""Criteria over classes, and other shapes of those that compare element by element."""

from __future__ import annotations

from typing import Any

from .cases import LARGE, SMALL, Case, Indices, Labels, Normal, Zeros, part
from .criteria import binary_cross_entropy, class_nll, smooth_l1, soft_margin
from .layers import absolute_error, divergence, multi_margin


def multi_label_margin(batch: int, classes: int) -> Case:
    """Five targets, of which some may be equal."""

    def forward(torch: Any, t: Any) -> Any:
        return torch.ops.aten.multilabel_margin_loss_forward.default(t.input, t.zeroBased, 1)

    def prepare(torch: Any, t: Any) -> dict[str, Any]:
        t.zeroBased = t.target - 1
        return {"one": torch.ones((), dtype=t.input.dtype), "isTarget": forward(torch, t)[1]}

    return Case(
        f"MultiLabelMarginCriterion_{batch}x{classes}",
        "criteria",
        {
            "input": Normal((batch, classes)),
            "target": Labels((batch, classes), classes, 5),
            "output": Zeros((1,)),
        },
        (
            part(
                "output",
                "MultiLabelMarginCriterion_updateOutput",
                ("input", "target", "output", "isTarget", True),
                forward,
            ),
            part(
                "gradInput",
                "MultiLabelMarginCriterion_updateGradInput",
                ("input", "target", "gradInput", "isTarget", True),
                lambda torch, t: torch.ops.aten.multilabel_margin_loss_backward.default(
                    t.one, t.input, t.zeroBased, 1, t.isTarget
                ),
            ),
        ),
        prepare=prepare,
    )


def spatial_class_nll(batch: int, classes: int, size: int) -> Case:
    """A target per pixel."""
    shape = (batch, classes, size, size)
    pixels = batch * size * size
    return Case(
        f"SpatialClassNLLCriterion_{batch}x{classes}_{size}",
        "criteria",
        {
            "input": Normal(shape),
            "target": Indices((batch, size, size), classes),
            "output": Zeros((1,)),
            "totalWeight": Zeros((1,)),
            "gradInput": Zeros(shape),
        },
        (
            part(
                "output",
                "SpatialClassNLLCriterion_updateOutput",
                ("input", "target", "output", True, None, "totalWeight"),
                lambda torch, t: torch.ops.aten.nll_loss2d_forward.default(
                    t.input, t.zeroBased, None, 1, -100
                )[0],
                elements=2 * pixels,
            ),
            part(
                "gradInput",
                "SpatialClassNLLCriterion_updateGradInput",
                ("input", "target", "gradInput", True, None, "totalWeight"),
                lambda torch, t: torch.ops.aten.nll_loss2d_backward.default(
                    t.one, t.input, t.zeroBased, None, 1, -100, t.weightSum
                ),
                elements=2 * pixels,
            ),
        ),
        prepare=lambda torch, t: {
            "one": torch.ones((), dtype=t.input.dtype),
            "zeroBased": t.target - 1,
            "weightSum": torch.tensor(float(pixels), dtype=t.input.dtype),
        },
    )


CRITERIA = [
    *(smooth_l1(shape) for shape in (SMALL, LARGE)),
    *(binary_cross_entropy(shape) for shape in (SMALL, LARGE)),
    *(soft_margin(shape) for shape in (SMALL, LARGE)),
    absolute_error(SMALL),
    *(divergence(shape) for shape in (SMALL, LARGE)),
    class_nll(8, 10),
    multi_margin(8, 10),
    multi_label_margin(8, 10),
    multi_label_margin(128, 1000),
    spatial_class_nll(1, 10, 14),
    spatial_class_nll(8, 21, 56),
]

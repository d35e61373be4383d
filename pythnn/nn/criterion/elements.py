"""Losses that compare input and target element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ... import thnn
from ..._tensor import Tensor
from ..object.object import register
from ..object.values import as_real
from .criterion import Criterion, KernelCriterion
from .weighted import WeightedCriterion

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "AbsCriterion",
    "BCECriterion",
    "DistKLDivCriterion",
    "L1Cost",
    "MSECriterion",
    "MarginCriterion",
    "SmoothL1Criterion",
    "SoftMarginCriterion",
    "SpatialAutoCropMSECriterion",
    "WeightedMSECriterion",
]


@register
class MSECriterion(KernelCriterion, kernel=True):
    """Mean, or without `sizeAverage` sum, of (input - target)^2 over all elements."""

    _function = "MSECriterion"


@register
class WeightedMSECriterion(MSECriterion, kernel=True):
    """Mean of (input - w target)^2 over all elements.

    `w` has the shape of the target, or of one sample of a batch.
    """

    def __init__(self, w: ArrayLike) -> None:
        super().__init__()
        self.tensors.weight = as_real(w)

    def wanted(self, input: Tensor, target: Any) -> Tensor:
        return Tensor(target.array() * self.tensors.weight.array())


@register
class SpatialAutoCropMSECriterion(MSECriterion, kernel=True):
    """MSECriterion with the centre of the target, cropped to the height and width of the input.

    Input: [batch x] planes x height x width; the target is as large or larger.
    """

    def wanted(self, input: Tensor, target: Any) -> Tensor:
        cropped: Tensor = target
        for axis in (-2, -1):
            size = input.shape[axis]
            cropped = cropped.narrow(axis, (target.shape[axis] - size) // 2, size)
        return cropped


@register
class AbsCriterion(KernelCriterion, kernel=True):
    """Mean, or without `sizeAverage` sum, of |input - target| over all elements."""

    _function = "AbsCriterion"


@register
class SmoothL1Criterion(KernelCriterion, kernel=True):
    """Mean, or without `sizeAverage` sum, of e^2 / 2 where |e| < 1, else of |e| - 1/2.

    e = input - target.
    """

    _function = "SmoothL1Criterion"


@register
class DistKLDivCriterion(KernelCriterion, kernel=True):
    """Mean over all elements of target (log target - input): input holds log-probabilities.

    With the field ``sizeAverage`` False it is the sum.
    """

    _function = "DistKLDivCriterion"

    def __init__(self) -> None:
        super().__init__()


@register
class SoftMarginCriterion(KernelCriterion, kernel=True):
    """Mean over all elements of log(1 + exp(-input target)); targets are 1 or -1.

    With the field ``sizeAverage`` False it is the sum.
    """

    _function = "SoftMarginCriterion"

    def __init__(self) -> None:
        super().__init__()


@register
class MarginCriterion(KernelCriterion, kernel=True):
    """Mean over all elements of max(0, margin - input target); targets are 1 or -1.

    With the field ``sizeAverage`` False it is the sum.
    """

    _function = "MarginCriterion"

    def __init__(self, margin: float = 1) -> None:
        super().__init__()
        self.margin = margin

    def settings(self, input: Tensor) -> tuple[Any, ...]:
        return self.sizeAverage, self.margin


@register
class BCECriterion(WeightedCriterion, kernel=True):
    """Binary cross entropy of probabilities, with targets from 0 to 1.

    Mean, or without `sizeAverage` sum, of -w (target log input + (1 - target) log(1 - input)).
    `weights` are those of the elements of one sample.
    """

    _function = "BCECriterion"

    def settings(self, input: Tensor) -> tuple[Any, ...]:
        weights = self.tensors.weights
        return self.sizeAverage, None if weights is None else weights.expand(input.shape)


@register
class L1Cost(Criterion, kernel=True):
    """Sum of |input|. There is no target."""

    def updateOutput(self, input: Any, target: Any = None) -> Any:
        loss = self.loss_tensor(input)
        thnn.L1Cost_updateOutput(None, input, loss)
        self.output = loss.item()
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        gradInput = self.result("gradInput", input)
        thnn.L1Cost_updateGradInput(None, input, None, gradInput)
        return gradInput

    def clearState(self) -> Self:
        """Empties ``output_tensor``; returns the criterion."""
        self.clear("output_tensor")
        return self

"""Losses. Each returns a float; its backward function the gradient of `x`.

For arrays on a CUDA device the loss is an array without dimensions there: it is not waited for.

``average`` divides the sum by the number of elements, or of samples where the function says so.
Class targets count from 0.
"""

from __future__ import annotations

from .. import thnn
from ._arrays import Array, Indices, Real, like, zeros
from ._front import function
from ._losses import classes_of, loss_value

__all__ = [
    "absolute_loss",
    "absolute_loss_backward",
    "binary_cross_entropy",
    "binary_cross_entropy_backward",
    "kl_div_loss",
    "kl_div_loss_backward",
    "l1_cost",
    "l1_cost_backward",
    "margin_loss",
    "margin_loss_backward",
    "mse_loss",
    "mse_loss_backward",
    "multi_label_margin_loss",
    "multi_label_margin_loss_backward",
    "multi_margin_loss",
    "multi_margin_loss_backward",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "soft_margin_loss",
    "soft_margin_loss_backward",
]


@function(x="...", target="...")
def absolute_loss(x: Real, target: Real, *, average: bool = True) -> float:
    """The mean of abs(x - target). THNN's AbsCriterion.

    >>> absolute_loss([0.0, 4.0], [1.0, 1.0])
    2.0
    """
    output = zeros(1, x)
    thnn.AbsCriterion_updateOutput(None, x, target, output, average)
    return loss_value(output)


@function(x="...", target="...")
def absolute_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.AbsCriterion_updateGradInput(None, x, target, grad_x, average)
    return grad_x


@function(x="...", target="...", weights="...")
def binary_cross_entropy(
    x: Real, target: Real, weights: Real | None = None, *, average: bool = True
) -> float:
    """The mean of -weights (target log x + (1 - target) log(1 - x)). THNN's BCECriterion.

    Parameters
    ----------
    x : probabilities, from 0 to 1
    target : from 0 to 1
    weights : optional, of the same shape

    >>> round(binary_cross_entropy([0.5, 0.5], [0.0, 1.0]), 4)
    0.6931
    """
    output = zeros(1, x)
    thnn.BCECriterion_updateOutput(None, x, target, output, average, weights)
    return loss_value(output)


@function(x="...", target="...", weights="...")
def binary_cross_entropy_backward(
    x: Real, target: Real, weights: Real | None = None, *, average: bool = True
) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.BCECriterion_updateGradInput(None, x, target, grad_x, average, weights)
    return grad_x


@function(x="...", target="...")
def kl_div_loss(x: Real, target: Real, *, average: bool = True) -> float:
    """The mean of target (log target - x) over the elements. THNN's DistKLDivCriterion.

    `x` are logarithms of probabilities, `target` probabilities; those of 0 add nothing.

    >>> round(kl_div_loss([0.0, 0.0], [1.0, 0.5], average=False), 4)
    -0.3466
    """
    output = zeros(1, x)
    thnn.DistKLDivCriterion_updateOutput(None, x, target, output, average)
    return loss_value(output)


@function(x="...", target="...")
def kl_div_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.DistKLDivCriterion_updateGradInput(None, x, target, grad_x, average)
    return grad_x


@function(x="...")
def l1_cost(x: Real) -> float:
    """The sum of abs(x). THNN's L1Cost.

    >>> l1_cost([-1.0, 2.0])
    3.0
    """
    output = zeros(1, x)
    thnn.L1Cost_updateOutput(None, x, output)
    return loss_value(output)


@function(x="...")
def l1_cost_backward(x: Real) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.L1Cost_updateGradInput(None, x, None, grad_x)
    return grad_x


@function(x="...", target="...")
def margin_loss(x: Real, target: Real, margin: float = 1.0, *, average: bool = True) -> float:
    """The mean of max(0, margin - x * target), for targets -1 and 1. THNN's MarginCriterion.

    >>> margin_loss([0.5, 2.0], [1.0, 1.0])
    0.25
    """
    output = zeros(1, x)
    thnn.MarginCriterion_updateOutput(None, x, target, output, average, margin)
    return loss_value(output)


@function(x="...", target="...")
def margin_loss_backward(
    x: Real, target: Real, margin: float = 1.0, *, average: bool = True
) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.MarginCriterion_updateGradInput(None, x, target, grad_x, average, margin)
    return grad_x


@function(x="...", target="...")
def mse_loss(x: Real, target: Real, *, average: bool = True) -> float:
    """The mean of (x - target)**2. THNN's MSECriterion.

    >>> mse_loss([0.0, 4.0], [1.0, 1.0])
    5.0
    """
    output = zeros(1, x)
    thnn.MSECriterion_updateOutput(None, x, target, output, average)
    return loss_value(output)


@function(x="...", target="...")
def mse_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.MSECriterion_updateGradInput(None, x, target, grad_x, average)
    return grad_x


@function(x="[batch] classes", target="[batch] classes")
def multi_label_margin_loss(x: Real, target: Indices, *, average: bool = True) -> float:
    """Targets are to be 1 above all other classes. THNN's MultiLabelMarginCriterion.

    Parameters
    ----------
    x : [batch x] classes
    target : ints of the same shape; each sample's classes, ended by -1
    average : divide by the number of samples

    >>> multi_label_margin_loss([1.0, 0.5], [0, -1])
    0.25
    """
    output, is_target = zeros(1, x), like(x)
    function = thnn.MultiLabelMarginCriterion_updateOutput
    function(None, x, target + 1, output, is_target, average)
    return loss_value(output)


@function(x="[batch] classes", target="[batch] classes")
def multi_label_margin_loss_backward(x: Real, target: Indices, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    target = target + 1
    is_target, grad_x = zeros(x.shape, x), like(x)
    output = zeros(1, x)
    thnn.MultiLabelMarginCriterion_updateOutput(None, x, target, output, is_target, average)
    thnn.MultiLabelMarginCriterion_updateGradInput(None, x, target, grad_x, is_target, average)
    return grad_x


@function(below={"target": "classes"}, x="[batch] classes", weights="classes")
def multi_margin_loss(
    x: Real,
    target: Indices,
    weights: Real | None = None,
    *,
    p: int = 1,
    margin: float = 1.0,
    average: bool = True,
) -> float:
    """The target's class is to be a margin above all others. THNN's MultiMarginCriterion.

    Parameters
    ----------
    x : [batch x] classes
    target : ints, (batch,) or one
    weights : (classes,), optional
    p : 1 or 2, the exponent of what is missing
    average : divide by the number of samples

    >>> multi_margin_loss([1.0, 0.5], 0)
    0.25
    """
    output = zeros(1, x)
    function = thnn.MultiMarginCriterion_updateOutput
    function(None, x, classes_of(x, target), output, average, p, weights, margin)
    return loss_value(output)


@function(below={"target": "classes"}, x="[batch] classes", weights="classes")
def multi_margin_loss_backward(
    x: Real,
    target: Indices,
    weights: Real | None = None,
    *,
    p: int = 1,
    margin: float = 1.0,
    average: bool = True,
) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    function = thnn.MultiMarginCriterion_updateGradInput
    function(None, x, classes_of(x, target), grad_x, average, p, weights, margin)
    return grad_x


@function(x="...", target="...")
def smooth_l1_loss(x: Real, target: Real, *, average: bool = True) -> float:
    """The mean of d**2 / 2 where d = abs(x - target) is below 1, else of d - 1/2.

    THNN's SmoothL1Criterion.

    >>> smooth_l1_loss([1.0, 4.0], [1.0, 1.0])
    1.25
    """
    output = zeros(1, x)
    thnn.SmoothL1Criterion_updateOutput(None, x, target, output, average)
    return loss_value(output)


@function(x="...", target="...")
def smooth_l1_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.SmoothL1Criterion_updateGradInput(None, x, target, grad_x, average)
    return grad_x


@function(x="...", target="...")
def soft_margin_loss(x: Real, target: Real, *, average: bool = True) -> float:
    """The mean of log(1 + exp(-x * target)), for targets -1 and 1. THNN's SoftMarginCriterion.

    >>> round(soft_margin_loss([0.0], [1.0]), 4)
    0.6931
    """
    output = zeros(1, x)
    thnn.SoftMarginCriterion_updateOutput(None, x, target, output, average)
    return loss_value(output)


@function(x="...", target="...")
def soft_margin_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.SoftMarginCriterion_updateGradInput(None, x, target, grad_x, average)
    return grad_x

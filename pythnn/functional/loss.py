"""Losses. Each returns a float; its backward function the gradient of `x`.

For arrays on a CUDA device the loss is an array without dimensions there: it is not waited for.

``average`` divides the sum by the number of elements, or of samples where the function says so.
Class targets count from 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import thnn
from ._arrays import Array, Indices, Real, Unfit, integer, like, zeros
from ._front import function

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
    "nll_loss",
    "nll_loss2d",
    "nll_loss2d_backward",
    "nll_loss_backward",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "soft_margin_loss",
    "soft_margin_loss_backward",
]

_IGNORED = -(2**62)
"""A target that nobody means."""


def _value(output: Any) -> float:
    """The loss that was written there."""
    if type(output) is np.ndarray:
        loss: float = output.item()
        return loss
    on_device: float = output.reshape(())
    return on_device


def _classes(x: Array, target: Any) -> Any:
    """Targets of samples as the C functions count them; one alone is a sample."""
    shape = x.shape[:-1]
    is_one = target.size == 1 and target.ndim < 2 and x.size == x.shape[-1]
    if target.shape != shape and not is_one:
        wanted = f"shape {shape}, a class for each sample"
        raise Unfit("target", wanted, f"shape {tuple(target.shape)}")
    return (target + 1).reshape(shape or (1,))


def _ignored(index: int | None) -> int:
    """A target that does not count, as the C functions count."""
    if index is None:
        return _IGNORED
    return integer("ignore_index", index) + 1


@function(x="...", target="...")
def absolute_loss(x: Real, target: Real, *, average: bool = True) -> float:
    """The mean of abs(x - target). THNN's AbsCriterion.

    >>> absolute_loss([0.0, 4.0], [1.0, 1.0])
    2.0
    """
    output = zeros(1, x)
    thnn.AbsCriterion_updateOutput(None, x, target, output, average)
    return _value(output)


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
    return _value(output)


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
    return _value(output)


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
    return _value(output)


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
    return _value(output)


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
    return _value(output)


@function(x="...", target="...")
def mse_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.MSECriterion_updateGradInput(None, x, target, grad_x, average)
    return grad_x


@function(x="[batch] classes", target="[batch] classes")
def multi_label_margin_loss(x: Real, target: Indices, *, average: bool = True) -> float:
    """Targets are to lie 1 above all other classes. THNN's MultiLabelMarginCriterion.

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
    return _value(output)


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
    """The target's class is to lie a margin above all others. THNN's MultiMarginCriterion.

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
    function(None, x, _classes(x, target), output, average, p, weights, margin)
    return _value(output)


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
    function(None, x, _classes(x, target), grad_x, average, p, weights, margin)
    return grad_x


@function(below={"target": "classes"}, x="[batch] classes", weights="classes")
def nll_loss(
    x: Real,
    target: Indices,
    weights: Real | None = None,
    *,
    ignore_index: int | None = None,
    average: bool = True,
) -> float:
    """Minus the log probability of the target's class. THNN's ClassNLLCriterion.

    Parameters
    ----------
    x : [batch x] classes, log probabilities
    target : ints, (batch,) or one
    weights : (classes,), optional
    ignore_index : targets of this value do not count
    average : divide by the sum of the targets' weights

    >>> nll_loss([[-1.0, -2.0], [-3.0, -4.0]], [0, 1])
    2.5
    """
    output, total = zeros(1, x), zeros(1, x)
    function = thnn.ClassNLLCriterion_updateOutput
    ignored = _ignored(ignore_index)
    function(None, x, _classes(x, target), output, average, weights, total, ignored)
    return _value(output)


@function(below={"target": "classes"}, x="[batch] classes", weights="classes")
def nll_loss_backward(
    x: Real,
    target: Indices,
    weights: Real | None = None,
    *,
    ignore_index: int | None = None,
    average: bool = True,
) -> Array:
    """The gradient of `x`."""
    indices, ignored = _classes(x, target), _ignored(ignore_index)
    output, total = zeros(1, x), zeros(1, x)
    grad_x: Array = zeros(x.shape, x)
    function = thnn.ClassNLLCriterion_updateOutput
    function(None, x, indices, output, average, weights, total, ignored)
    thnn.ClassNLLCriterion_updateGradInput(
        None, x, indices, grad_x, average, weights, total, ignored
    )
    return grad_x


@function(
    below={"target": "classes"},
    x="batch classes height width",
    target="batch height width",
    weights="classes",
)
def nll_loss2d(
    x: Real, target: Indices, weights: Real | None = None, *, average: bool = True
) -> float:
    """Minus the log probability of each position's class. THNN's SpatialClassNLLCriterion.

    Parameters
    ----------
    x : batch x classes x height x width, log probabilities
    target : ints, batch x height x width
    weights : (classes,), optional
    average : divide by the sum of the targets' weights

    >>> nll_loss2d(np.full((1, 2, 3, 3), -0.5), np.zeros((1, 3, 3), int))
    0.5
    """
    output, total = zeros(1, x), zeros(1, x)
    function = thnn.SpatialClassNLLCriterion_updateOutput
    function(None, x, target + 1, output, average, weights, total)
    return _value(output)


@function(
    below={"target": "classes"},
    x="batch classes height width",
    target="batch height width",
    weights="classes",
)
def nll_loss2d_backward(
    x: Real, target: Indices, weights: Real | None = None, *, average: bool = True
) -> Array:
    """The gradient of `x`."""
    indices = target + 1
    output, total = zeros(1, x), zeros(1, x)
    grad_x: Array = zeros(x.shape, x)
    function = thnn.SpatialClassNLLCriterion_updateOutput
    function(None, x, indices, output, average, weights, total)
    thnn.SpatialClassNLLCriterion_updateGradInput(None, x, indices, grad_x, average, weights, total)
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
    return _value(output)


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
    return _value(output)


@function(x="...", target="...")
def soft_margin_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.SoftMarginCriterion_updateGradInput(None, x, target, grad_x, average)
    return grad_x

"""Losses. Each returns a float; its backward function the gradient of `x`.

For arrays on a CUDA device the loss is an array without dimensions there: it is not waited for.

``average`` divides the sum by the number of elements, or of samples where the function says so.
Class targets count from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import thnn
from ._arrays import OUT, Array, Real, call, from_zero, optional, real, zeros
from ._places import anywhere

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


def _one(x: Array) -> Array:
    """Where a C function writes its loss."""
    one: Array = zeros(1, x)
    return one


def _value(output: Any) -> float:
    """The loss that was written there."""
    loss: float = output.item() if type(output) is np.ndarray else output.reshape(())
    return loss


def _classes(target: Any) -> Any:
    """Targets of samples as the C functions count them; one alone is a sample."""
    indices = from_zero(target)
    return indices if indices.ndim else indices.reshape(1)


def _loss(function: Callable[..., None], x: Real, target: Any, *rest: Any) -> float:
    """Calls a criterion whose arguments are input, target, output and the rest."""
    x = real(x)
    output = _one(x)
    function(None, x, target, output, *rest)
    return _value(output)


@anywhere
def absolute_loss(x: Real, target: Real, *, average: bool = True) -> float:
    """The mean of abs(x - target). THNN's AbsCriterion.

    >>> absolute_loss([0.0, 4.0], [1.0, 1.0])
    2.0
    """
    return _loss(thnn.AbsCriterion_updateOutput, x, real(target), average)


@anywhere
def absolute_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    return call(thnn.AbsCriterion_updateGradInput, real(x), real(target), OUT, average)


@anywhere
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
    given = optional(weights)
    return _loss(thnn.BCECriterion_updateOutput, x, real(target), average, given)


@anywhere
def binary_cross_entropy_backward(
    x: Real, target: Real, weights: Real | None = None, *, average: bool = True
) -> Array:
    """The gradient of `x`."""
    given = optional(weights)
    return call(thnn.BCECriterion_updateGradInput, real(x), real(target), OUT, average, given)


@anywhere
def kl_div_loss(x: Real, target: Real, *, average: bool = True) -> float:
    """The mean of target (log target - x) over the elements. THNN's DistKLDivCriterion.

    `x` are logarithms of probabilities, `target` probabilities; those of 0 add nothing.

    >>> round(kl_div_loss([0.0, 0.0], [1.0, 0.5], average=False), 4)
    -0.3466
    """
    return _loss(thnn.DistKLDivCriterion_updateOutput, x, real(target), average)


@anywhere
def kl_div_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    return call(thnn.DistKLDivCriterion_updateGradInput, real(x), real(target), OUT, average)


@anywhere
def l1_cost(x: Real) -> float:
    """The sum of abs(x). THNN's L1Cost.

    >>> l1_cost([-1.0, 2.0])
    3.0
    """
    x = real(x)
    output = _one(x)
    thnn.L1Cost_updateOutput(None, x, output)
    return _value(output)


@anywhere
def l1_cost_backward(x: Real) -> Array:
    """The gradient of `x`."""
    return call(thnn.L1Cost_updateGradInput, real(x), None, OUT)


@anywhere
def margin_loss(x: Real, target: Real, margin: float = 1.0, *, average: bool = True) -> float:
    """The mean of max(0, margin - x * target), for targets -1 and 1. THNN's MarginCriterion.

    >>> margin_loss([0.5, 2.0], [1.0, 1.0])
    0.25
    """
    return _loss(thnn.MarginCriterion_updateOutput, x, real(target), average, margin)


@anywhere
def margin_loss_backward(
    x: Real, target: Real, margin: float = 1.0, *, average: bool = True
) -> Array:
    """The gradient of `x`."""
    return call(thnn.MarginCriterion_updateGradInput, real(x), real(target), OUT, average, margin)


@anywhere
def mse_loss(x: Real, target: Real, *, average: bool = True) -> float:
    """The mean of (x - target)**2. THNN's MSECriterion.

    >>> mse_loss([0.0, 4.0], [1.0, 1.0])
    5.0
    """
    return _loss(thnn.MSECriterion_updateOutput, x, real(target), average)


@anywhere
def mse_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    return call(thnn.MSECriterion_updateGradInput, real(x), real(target), OUT, average)


@anywhere
def multi_label_margin_loss(x: Real, target: Any, *, average: bool = True) -> float:
    """Targets are to lie 1 above all other classes. THNN's MultiLabelMarginCriterion.

    Parameters
    ----------
    x : [batch x] classes
    target : ints of the same shape; each sample's classes, ended by -1
    average : divide by the number of samples

    >>> multi_label_margin_loss([1.0, 0.5], [0, -1])
    0.25
    """
    x = real(x)
    output, is_target = _one(x), zeros(x.shape, x)
    function = thnn.MultiLabelMarginCriterion_updateOutput
    function(None, x, from_zero(target), output, is_target, average)
    return _value(output)


@anywhere
def multi_label_margin_loss_backward(x: Real, target: Any, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    x, target = real(x), from_zero(target)
    is_target = zeros(x.shape, x)
    thnn.MultiLabelMarginCriterion_updateOutput(None, x, target, _one(x), is_target, average)
    return call(thnn.MultiLabelMarginCriterion_updateGradInput, x, target, OUT, is_target, average)


@anywhere
def multi_margin_loss(
    x: Real,
    target: Any,
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
    given = optional(weights)
    indices = _classes(target)
    return _loss(thnn.MultiMarginCriterion_updateOutput, x, indices, average, p, given, margin)


@anywhere
def multi_margin_loss_backward(
    x: Real,
    target: Any,
    weights: Real | None = None,
    *,
    p: int = 1,
    margin: float = 1.0,
    average: bool = True,
) -> Array:
    """The gradient of `x`."""
    given = optional(weights)
    indices = _classes(target)
    return call(
        thnn.MultiMarginCriterion_updateGradInput, real(x), indices, OUT, average, p, given, margin
    )


@anywhere
def nll_loss(
    x: Real,
    target: Any,
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
    return _nll(real(x), target, weights, ignore_index, average)[0]


def _nll(
    x: Array, target: Any, weights: Real | None, ignore_index: int | None, average: bool
) -> tuple[float, Array, tuple[Any, ...]]:
    """The loss, the targets' weight, and the arguments that both directions have."""
    ignored = _IGNORED if ignore_index is None else ignore_index + 1
    given = optional(weights)
    indices = _classes(target)
    output, total = _one(x), _one(x)
    function = thnn.ClassNLLCriterion_updateOutput
    function(None, x, indices, output, average, given, total, ignored)
    return _value(output), total, (indices, given, ignored)


@anywhere
def nll_loss_backward(
    x: Real,
    target: Any,
    weights: Real | None = None,
    *,
    ignore_index: int | None = None,
    average: bool = True,
) -> Array:
    """The gradient of `x`."""
    x = real(x)
    _, total, (indices, given, ignored) = _nll(x, target, weights, ignore_index, average)
    grad_x: Array = zeros(x.shape, x)
    function = thnn.ClassNLLCriterion_updateGradInput
    function(None, x, indices, grad_x, average, given, total, ignored)
    return grad_x


@anywhere
def nll_loss2d(x: Real, target: Any, weights: Real | None = None, *, average: bool = True) -> float:
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
    x = real(x)
    output, total = _one(x), _one(x)
    given = optional(weights)
    function = thnn.SpatialClassNLLCriterion_updateOutput
    function(None, x, from_zero(target), output, average, given, total)
    return _value(output)


@anywhere
def nll_loss2d_backward(
    x: Real, target: Any, weights: Real | None = None, *, average: bool = True
) -> Array:
    """The gradient of `x`."""
    x, indices = real(x), from_zero(target)
    given = optional(weights)
    total = _one(x)
    grad_x: Array = zeros(x.shape, x)
    thnn.SpatialClassNLLCriterion_updateOutput(None, x, indices, _one(x), average, given, total)
    thnn.SpatialClassNLLCriterion_updateGradInput(None, x, indices, grad_x, average, given, total)
    return grad_x


@anywhere
def smooth_l1_loss(x: Real, target: Real, *, average: bool = True) -> float:
    """The mean of d**2 / 2 where d = abs(x - target) is below 1, else of d - 1/2.

    THNN's SmoothL1Criterion.

    >>> smooth_l1_loss([1.0, 4.0], [1.0, 1.0])
    1.25
    """
    return _loss(thnn.SmoothL1Criterion_updateOutput, x, real(target), average)


@anywhere
def smooth_l1_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    return call(thnn.SmoothL1Criterion_updateGradInput, real(x), real(target), OUT, average)


@anywhere
def soft_margin_loss(x: Real, target: Real, *, average: bool = True) -> float:
    """The mean of log(1 + exp(-x * target)), for targets -1 and 1. THNN's SoftMarginCriterion.

    >>> round(soft_margin_loss([0.0], [1.0]), 4)
    0.6931
    """
    return _loss(thnn.SoftMarginCriterion_updateOutput, x, real(target), average)


@anywhere
def soft_margin_loss_backward(x: Real, target: Real, *, average: bool = True) -> Array:
    """The gradient of `x`."""
    return call(thnn.SoftMarginCriterion_updateGradInput, real(x), real(target), OUT, average)

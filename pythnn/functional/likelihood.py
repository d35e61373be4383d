"""Losses that are minus the logarithm of a likelihood: of classes, and of points of the plane.

Class targets count from 0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .. import thnn
from .._tensor import array_module
from ._arrays import Array, Indices, Real, Unfit, check_shape, dense, like, shaped, zeros
from ._front import function
from ._losses import classes_of, ignored_class, loss_value

__all__ = [
    "cross_entropy",
    "cross_entropy_backward",
    "gaussian_mixture2d",
    "gaussian_mixture2d_backward",
    "nll_loss",
    "nll_loss2d",
    "nll_loss2d_backward",
    "nll_loss_backward",
]


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
    ignored = ignored_class(ignore_index)
    function(None, x, classes_of(x, target), output, average, weights, total, ignored)
    return loss_value(output)


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
    indices, ignored = classes_of(x, target), ignored_class(ignore_index)
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
    return loss_value(output)


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


# ---- Of classes, from logits


def _log_probabilities(x: Array, target: Any) -> tuple[Array, Any]:
    """Logarithms of the probabilities, samples x classes, and the targets of as many samples."""
    if x.ndim == 0:
        raise Unfit("x", "[batch x] classes [x ...]", "shape ()")
    if x.ndim > 2:
        shape = (x.shape[0], *x.shape[2:])
        check_shape("target", target, shape)
        xp = array_module(x)
        x = dense(xp.moveaxis(x, 1, -1)).reshape(-1, x.shape[1])
        target = target.reshape(-1)
    output = like(x)
    thnn.LogSoftMax_updateOutput(None, x, output)
    return shaped(output, x.shape), classes_of(x, target)


@function()
def cross_entropy(
    x: Real,
    target: Indices,
    weights: Real | None = None,
    *,
    ignore_index: int | None = None,
    average: bool = True,
) -> float:
    """Minus the log probability of the target's class, where softmax makes the probabilities.

    Parameters
    ----------
    x : [batch x] classes, or batch x classes x ...
    target : ints, of the shape of `x` without the classes
    weights : (classes,), optional
    ignore_index : targets of this value do not count
    average : divide by the sum of the targets' weights

    >>> round(cross_entropy([[0.0, 0.0], [0.0, 0.0]], [0, 1]), 4)
    0.6931
    """
    rows, indices = _log_probabilities(x, target)
    _check_weights(rows, weights)
    output, total = zeros(1, x), zeros(1, x)
    thnn.ClassNLLCriterion_updateOutput(
        None, rows, indices, output, average, weights, total, ignored_class(ignore_index)
    )
    return loss_value(output)


@function()
def cross_entropy_backward(
    x: Real,
    target: Indices,
    weights: Real | None = None,
    *,
    ignore_index: int | None = None,
    average: bool = True,
) -> Array:
    """The gradient of `x`."""
    rows, indices = _log_probabilities(x, target)
    _check_weights(rows, weights)
    ignored = ignored_class(ignore_index)
    output, total, grad_rows = zeros(1, x), zeros(1, x), zeros(rows.shape, x)
    thnn.ClassNLLCriterion_updateOutput(
        None, rows, indices, output, average, weights, total, ignored
    )
    thnn.ClassNLLCriterion_updateGradInput(
        None, rows, indices, grad_rows, average, weights, total, ignored
    )
    made = like(rows)
    thnn.LogSoftMax_updateGradInput(None, None, grad_rows, made, rows)
    if x.ndim < 3:
        return made
    xp = array_module(x)
    split = shaped(made, (x.shape[0], *x.shape[2:], x.shape[1]))
    return dense(xp.moveaxis(split, -1, 1))


def _check_weights(rows: Array, weights: Any) -> None:
    if weights is not None:
        check_shape("weights", weights, rows.shape[-1:])


# ---- Of points of the plane


class _Mixture(NamedTuple):
    """How far points are from the centres of a mixture, in deviations."""

    z1: Array
    z2: Array
    correlation: Array
    rest: Array
    """1 - correlation^2."""
    distance: Array
    """z1^2 + z2^2 - 2 correlation z1 z2, divided by the rest."""
    loss: Array
    responsibilities: Array


def _mixture(
    x1: Array, x2: Array, weight: Array, means: Any, stds: Any, correlation: Array
) -> _Mixture:
    """What the loss and its gradients are made of."""
    if x1.ndim not in (1, 2) or x1.shape[1:] not in ((), (1,)):
        raise Unfit("x1", "batch x 1, or (batch,)", f"shape {tuple(x1.shape)}")
    check_shape("x2", x2, x1.shape)
    if weight.ndim != 2 or len(weight) != len(x1) or not weight.shape[1]:
        raise Unfit("weight", f"{len(x1)} (batch) x centres", f"shape {tuple(weight.shape)}")
    named = zip(_OF_CENTRES, (*means, *stds, correlation), strict=True)
    for name, array in named:
        check_shape(name, array, weight.shape)
    xp, real = array_module(x1), x1.dtype.type
    z1, z2 = (
        (x.reshape(-1, 1) - mean) / std for x, mean, std in zip((x1, x2), means, stds, strict=True)
    )
    rest = 1 - correlation * correlation
    distance = (z1 * z1 + z2 * z2 - 2 * correlation * z1 * z2) / rest
    area, half = stds[0] * stds[1], distance * real(0.5)
    # Where a weight is 0, its logarithm counts as the lowest number.
    lowest = xp.log(xp.maximum(weight, xp.finfo(weight.dtype).tiny))
    width = xp.log(area * xp.sqrt(rest))
    density = lowest - half - width
    highest = density.max(1).reshape(-1, 1)
    shares = xp.exp(density - highest)
    total = shares.sum(1).reshape(-1, 1)
    loss = real(math.log(2 * math.pi)) - highest - xp.log(total)
    return _Mixture(z1, z2, correlation, rest, distance, loss.reshape(x1.shape), shares / total)


_OF_CENTRES = ("mean1", "mean2", "std1", "std2", "correlation")


@function(takes_empty=True)
def gaussian_mixture2d(
    x1: Real,
    x2: Real,
    weight: Real,
    mean1: Real,
    mean2: Real,
    std1: Real,
    std2: Real,
    correlation: Real,
) -> tuple[Array, Array]:
    """Minus the logarithm of a mixture's density at points of the plane (Graves, 2013).

    Parameters
    ----------
    x1, x2 : batch x 1, or (batch,)
        The coordinates of each sample's point.
    weight : batch x centres
        The probability of each centre; those of a sample add up to 1.
    mean1, mean2, std1, std2, correlation : batch x centres
        Where the centres are, the deviations, which are positive, and how both coordinates depend
        on each other, between -1 and 1.

    Returns the loss of each sample, in the shape of `x1`, and the responsibilities, batch x
    centres: the probability of each centre, given the point.

    >>> one = [[1.0]]
    >>> loss, shares = gaussian_mixture2d(one, one, one, one, one, one, one, [[0.0]])
    >>> loss.round(4), shares
    (array([[1.8379]]), array([[1.]]))
    """
    found = _mixture(x1, x2, weight, (mean1, mean2), (std1, std2), correlation)
    return found.loss, found.responsibilities


@function(takes_empty=True)
def gaussian_mixture2d_backward(
    grad_output: Real,
    x1: Real,
    x2: Real,
    weight: Real,
    mean1: Real,
    mean2: Real,
    std1: Real,
    std2: Real,
    correlation: Real,
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """The gradients of what a network computes for the parameters.

    `grad_output` has the shape of the loss, or is one number for all samples. The six gradients are
    those of the logits, of which softmax makes `weight`; of `mean1` and `mean2`; of the logarithms
    of `std1` and `std2`; and of the number whose tanh is `correlation`.
    """
    found = _mixture(x1, x2, weight, (mean1, mean2), (std1, std2), correlation)
    if grad_output.ndim:
        check_shape("grad_output", grad_output, x1.shape)
    grad = grad_output.reshape(-1, 1)
    share = grad * found.responsibilities
    z1, z2, correlation, rest = found.z1, found.z2, found.correlation, found.rest
    towards1, towards2 = (z1 - correlation * z2) / rest, (z2 - correlation * z1) / rest
    return (
        grad * weight - share,
        -share * towards1 / std1,
        -share * towards2 / std2,
        share * (1 - z1 * towards1),
        share * (1 - z2 * towards2),
        -share * (z1 * z2 - correlation * found.distance + correlation),
    )

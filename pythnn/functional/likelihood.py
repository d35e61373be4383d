"""Losses that are minus the logarithm of a likelihood: of classes, and of points of the plane.

Class targets count from 0.
"""

from __future__ import annotations

from typing import Any

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


def _planes_of(x: Array, target: Any) -> tuple[Array, Array, Any]:
    """Batch x classes x positions x 1, logarithms of the probabilities there, and the targets."""
    shape = (x.shape[0], *x.shape[2:])
    check_shape("target", target, shape)
    planes = x.reshape(*x.shape[:2], -1, 1)
    output = like(planes)
    thnn.LogSoftMax_updateOutput(None, planes, output)
    return planes, shaped(output, planes.shape), (target + 1).reshape(len(x), -1, 1)


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
    output, total = zeros(1, x), zeros(1, x)
    if x.ndim > 2 and ignore_index is None:
        _check_weights(x.shape[1], weights)
        _, logs, indices = _planes_of(x, target)
        function = thnn.SpatialClassNLLCriterion_updateOutput
        function(None, logs, indices, output, average, weights, total)
        return loss_value(output)
    rows, indices = _log_probabilities(x, target)
    _check_weights(rows.shape[-1], weights)
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
    output, total = zeros(1, x), zeros(1, x)
    if x.ndim > 2 and ignore_index is None:
        _check_weights(x.shape[1], weights)
        planes, logs, indices = _planes_of(x, target)
        grad_logs, grad_planes = zeros(planes.shape, x), like(planes)
        function = thnn.SpatialClassNLLCriterion_updateOutput
        function(None, logs, indices, output, average, weights, total)
        thnn.SpatialClassNLLCriterion_updateGradInput(
            None, logs, indices, grad_logs, average, weights, total
        )
        thnn.LogSoftMax_updateGradInput(None, None, grad_logs, grad_planes, logs)
        return shaped(grad_planes, x.shape)
    rows, indices = _log_probabilities(x, target)
    _check_weights(rows.shape[-1], weights)
    ignored = ignored_class(ignore_index)
    grad_rows = zeros(rows.shape, x)
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


def _check_weights(classes: int, weights: Any) -> None:
    if weights is not None:
        check_shape("weights", weights, (classes,))


# ---- Of points of the plane


def _check_mixture(x1: Array, x2: Array, weight: Array, *others: Array) -> None:
    """Raises unless these are the arguments of a mixture."""
    if x1.ndim not in (1, 2) or x1.shape[1:] not in ((), (1,)):
        raise Unfit("x1", "batch x 1, or (batch,)", f"shape {tuple(x1.shape)}")
    check_shape("x2", x2, x1.shape)
    if weight.ndim != 2 or len(weight) != len(x1) or not weight.shape[1]:
        raise Unfit("weight", f"{len(x1)} (batch) x centres", f"shape {tuple(weight.shape)}")
    for name, array in zip(_OF_CENTRES, others, strict=True):
        check_shape(name, array, weight.shape)


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

    GaussianMixture.

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
    _check_mixture(x1, x2, weight, mean1, mean2, std1, std2, correlation)
    if not x1.size:
        return zeros(x1.shape, x1), zeros(weight.shape, x1)
    loss, responsibilities = like(x1), like(weight)
    thnn.GaussianMixture_updateOutput(
        None, x1, x2, weight, mean1, mean2, std1, std2, correlation, loss, responsibilities
    )
    return loss, responsibilities


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
    _check_mixture(x1, x2, weight, mean1, mean2, std1, std2, correlation)
    if grad_output.ndim:
        check_shape("grad_output", grad_output, x1.shape)
    grads = [like(weight) if x1.size else zeros(weight.shape, x1) for _ in range(6)]
    if x1.size:
        thnn.GaussianMixture_updateGradInput(
            None, x1, x2, weight, mean1, mean2, std1, std2, correlation, grad_output, *grads
        )
    logits, grad1, grad2, log1, log2, raw = grads
    return logits, grad1, grad2, log1, log2, raw

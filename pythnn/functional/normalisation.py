"""Softmax, and layers that normalise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import thnn
from ._arrays import (
    Array,
    Real,
    Unfit,
    Written,
    axis_of,
    check_shape,
    integer,
    like,
    new,
    shaped,
    zeros,
)
from ._front import function

__all__ = [
    "batch_norm",
    "batch_norm_backward",
    "cross_map_lrn",
    "cross_map_lrn_backward",
    "feature_lp_pool",
    "feature_lp_pool_backward",
    "log_softmax",
    "log_softmax_backward",
    "softmax",
    "softmax_backward",
]


def _as_planes(x: Array, axis: int) -> Array:
    """The axis as the second of four dimensions, along which THNN normalises 4-D tensors."""
    axis = axis_of(x, axis)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    return x.reshape(math.prod(before), x.shape[axis], math.prod(after), 1)


@function(x="...")
def softmax(x: Real, axis: int = -1) -> Array:
    """exp(x) divided by its sum along an axis. THNN's SoftMax.

    >>> softmax([[0.0, 0.0], [-np.inf, 0.0]])
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    planes = _as_planes(x, axis)
    output = like(planes)
    thnn.SoftMax_updateOutput(None, planes, output)
    return shaped(output, x.shape)


@function(output="...", grad_output="...")
def softmax_backward(grad_output: Real, output: Real, axis: int = -1) -> Array:
    """The gradient of `x`, from what :func:`softmax` returned."""
    planes = _as_planes(output, axis)
    grad_x = like(planes)
    thnn.SoftMax_updateGradInput(None, None, _as_planes(grad_output, axis), grad_x, planes)
    return shaped(grad_x, output.shape)


@function(x="...")
def log_softmax(x: Real, axis: int = -1) -> Array:
    """x minus the logarithm of the sum of exp(x) along an axis. THNN's LogSoftMax.

    >>> log_softmax([0.0, 0.0]).round(4)
    array([-0.6931, -0.6931])
    """
    planes = _as_planes(x, axis)
    output = like(planes)
    thnn.LogSoftMax_updateOutput(None, planes, output)
    return shaped(output, x.shape)


@function(output="...", grad_output="...")
def log_softmax_backward(grad_output: Real, output: Real, axis: int = -1) -> Array:
    """The gradient of `x`, from what :func:`log_softmax` returned."""
    planes = _as_planes(output, axis)
    grad_x = like(planes)
    thnn.LogSoftMax_updateGradInput(None, None, _as_planes(grad_output, axis), grad_x, planes)
    return shaped(grad_x, output.shape)


@function(
    per_sample=(0,),
    statistics=True,
    x="batch planes ...",
    weight="planes",
    bias="planes",
    running_mean="planes",
    running_var="planes",
)
def batch_norm(
    x: Real,
    weight: Real | None = None,
    bias: Real | None = None,
    running_mean: Written | None = None,
    running_var: Written | None = None,
    *,
    training: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(var + eps) * weight + bias, plane by plane. THNN's BatchNormalization.

    Parameters
    ----------
    x : batch x planes [x ...]
    weight, bias : (planes,), optional
    running_mean, running_var : (planes,), optional
        Updated in place in training, by a share of `momentum` of the batch's. Needed without
        `training`, where they are what is normalised by.

    Returns the output, and what the backward function needs: the mean and 1 / sqrt(var + eps) of
    the batch in training, the running ones otherwise.

    >>> output, mean, inverse_std = batch_norm([[1.0], [3.0]], eps=0.0)
    >>> output.ravel(), mean, inverse_std
    (array([-1.,  1.]), array([2.]), array([1.]))
    """
    planes = x.shape[1]
    if running_mean is None or running_var is None:
        if not training:
            missing = "running_mean" if running_mean is None else "running_var"
            raise Unfit(missing, "an array: without training it is what is used", "None")
        running_mean = zeros(planes, x) if running_mean is None else running_mean
        running_var = zeros(planes, x) + 1 if running_var is None else running_var
    mean, inverse_std = zeros(planes, x), zeros(planes, x)
    output = like(x)
    thnn.BatchNormalization_updateOutput(
        None, x, output, weight, bias, running_mean, running_var,
        mean, inverse_std, training, momentum, eps,
    )  # fmt: skip
    if not training:
        mean, inverse_std = running_mean.copy(), 1 / np.sqrt(running_var + x.dtype.type(eps))
    return output, mean, inverse_std


@function(x="batch planes ...", weight="planes", mean="planes", inverse_std="planes")
def batch_norm_backward(
    grad_output: Real,
    x: Real,
    weight: Real | None,
    mean: Real,
    inverse_std: Real,
    *,
    training: bool = True,
) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`.

    `mean` and `inverse_std` as :func:`batch_norm` returned them.
    """
    check_shape("grad_output", grad_output, x.shape)
    # Without training the C function takes the variance, to which it adds eps.
    statistics = (
        (None, None, mean, inverse_std) if training else (mean, inverse_std**-2, None, None)
    )
    grad_x, grad_weight, grad_bias = like(x), zeros(mean.shape, x), zeros(mean.shape, x)
    thnn.BatchNormalization_backward(
        None, x, grad_output, grad_x, grad_weight, grad_bias, weight, *statistics,
        training, 1.0, 0.0,
    )  # fmt: skip
    return grad_x, grad_weight, grad_bias


def _pooled_features(x: Array, width: Any, stride: Any, batch: bool) -> tuple[int, ...]:
    """The shape of the output."""
    axis = 1 if batch else 0
    if not axis < x.ndim < axis + 4:
        layout = "batch x features" if batch else "features"
        raise Unfit("x", f"{layout} [x d1 [x d2]]", f"shape {tuple(x.shape)}")
    step = max(integer("stride", stride), 1)
    features = (x.shape[axis] - integer("width", width)) // step + 1
    return (*x.shape[:axis], features, *x.shape[axis + 1 :])


@function()
def feature_lp_pool(x: Real, power: float, width: int, stride: int, *, batch: bool = True) -> Array:
    """The p-norm of neighbouring features. THNN's FeatureLPPooling.

    Parameters
    ----------
    x : [batch x] features [x d1 [x d2]], with `batch` unless that is False
    width, stride : features in a window (2 to 16) and between windows (1 to 4)

    >>> feature_lp_pool([[3.0, 4.0]], 2, 2, 1)
    array([[5.]])
    """
    output = new(_pooled_features(x, width, stride, batch), x)
    thnn.FeatureLPPooling_updateOutput(None, x, output, power, width, stride, batch)
    return output


@function()
def feature_lp_pool_backward(
    grad_output: Real,
    x: Real,
    output: Real,
    power: float,
    width: int,
    stride: int,
    *,
    batch: bool = True,
) -> Array:
    """The gradient of `x`; `output` as :func:`feature_lp_pool` returned it."""
    shape = _pooled_features(x, width, stride, batch)
    check_shape("output", output, shape)
    check_shape("grad_output", grad_output, shape)
    grad_x = like(x)
    thnn.FeatureLPPooling_updateGradInput(
        None, grad_output, x, output, grad_x, power, width, stride, batch
    )
    return grad_x


@function(x="[batch] channels height width")
def cross_map_lrn(
    x: Real, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> tuple[Array, Array]:
    """x * scale**-beta, scale = k + alpha times the mean square of `size` neighbouring channels.

    THNN's SpatialCrossMapLRN (Krizhevsky et al., 2012). `x` is [batch x] channels x height x width.
    Returns the output and the scale.

    >>> cross_map_lrn(np.ones((1, 1, 1)), 1, alpha=1.0, beta=1.0)
    (array([[[0.5]]]), array([[[2.]]]))
    """
    output, scale = like(x), like(x)
    thnn.SpatialCrossMapLRN_updateOutput(None, x, output, scale, size, alpha, beta, k)
    return output, scale


@function(x="[batch] channels height width")
def cross_map_lrn_backward(
    grad_output: Real,
    x: Real,
    output: Real,
    scale: Real,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
) -> Array:
    """The gradient of `x`; `output` and `scale` as :func:`cross_map_lrn` returned them."""
    for name, array in (("grad_output", grad_output), ("output", output), ("scale", scale)):
        check_shape(name, array, x.shape)
    grad_x = like(x)
    thnn.SpatialCrossMapLRN_updateGradInput(
        None, x, grad_output, grad_x, scale, output, size, alpha, beta, k
    )
    return grad_x

"""Softmax, and layers that normalise."""

from __future__ import annotations

import math

import numpy as np

from .. import thnn
from ._arrays import OUT, Array, Real, Sum, call, calls, optional, real, zeros
from ._places import anywhere

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
    axis %= x.ndim
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    return x.reshape(math.prod(before), x.shape[axis], math.prod(after), 1)


@anywhere
def softmax(x: Real, axis: int = -1) -> Array:
    """exp(x) divided by its sum along an axis. THNN's SoftMax.

    >>> softmax([[0.0, 0.0], [-np.inf, 0.0]])
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    x = real(x)
    output: Array = call(thnn.SoftMax_updateOutput, _as_planes(x, axis), OUT).reshape(x.shape)
    return output


@anywhere
def softmax_backward(grad_output: Real, output: Real, axis: int = -1) -> Array:
    """The gradient of `x`, from what :func:`softmax` returned."""
    output, grad_output = real(output), real(grad_output)
    grads = _as_planes(grad_output, axis), OUT, _as_planes(output, axis)
    grad_x: Array = call(thnn.SoftMax_updateGradInput, None, *grads).reshape(output.shape)
    return grad_x


@anywhere
def log_softmax(x: Real, axis: int = -1) -> Array:
    """x minus the logarithm of the sum of exp(x) along an axis. THNN's LogSoftMax.

    >>> log_softmax([0.0, 0.0]).round(4)
    array([-0.6931, -0.6931])
    """
    x = real(x)
    output: Array = call(thnn.LogSoftMax_updateOutput, _as_planes(x, axis), OUT).reshape(x.shape)
    return output


@anywhere
def log_softmax_backward(grad_output: Real, output: Real, axis: int = -1) -> Array:
    """The gradient of `x`, from what :func:`log_softmax` returned."""
    output, grad_output = real(output), real(grad_output)
    grads = _as_planes(grad_output, axis), OUT, _as_planes(output, axis)
    grad_x: Array = call(thnn.LogSoftMax_updateGradInput, None, *grads).reshape(output.shape)
    return grad_x


@anywhere
def batch_norm(
    x: Real,
    weight: Real | None = None,
    bias: Real | None = None,
    running_mean: Array | None = None,
    running_var: Array | None = None,
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
    x = real(x)
    planes = x.shape[1] if x.ndim > 1 else 0
    if running_mean is None or running_var is None:
        if not training:
            raise ValueError("batch_norm: running_mean and running_var are needed without training")
        running_mean = zeros(planes, x) if running_mean is None else running_mean
        running_var = zeros(planes, x) + 1 if running_var is None else running_var
    mean, inverse_std = zeros(planes, x), zeros(planes, x)
    output = call(
        thnn.BatchNormalization_updateOutput,
        x, OUT, optional(weight), optional(bias), running_mean, running_var,
        mean, inverse_std, training, momentum, eps,
    )  # fmt: skip
    if not training:
        mean, inverse_std = running_mean.copy(), 1 / np.sqrt(running_var + x.dtype.type(eps))
    return output, mean, inverse_std


@anywhere
def batch_norm_backward(
    grad_output: Real,
    x: Real,
    weight: Real | None,
    mean: Array,
    inverse_std: Array,
    *,
    training: bool = True,
) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`.

    `mean` and `inverse_std` as :func:`batch_norm` returned them.
    """
    x = real(x)
    # Without training the C function takes the variance, to which it adds eps.
    statistics = (
        (None, None, mean, inverse_std) if training else (mean, inverse_std**-2, None, None)
    )
    found: tuple[Array, Array, Array] = calls(
        thnn.BatchNormalization_backward,
        x, real(grad_output), OUT, Sum(mean), Sum(mean), optional(weight), *statistics,
        training, 1.0, 0.0,
    )  # fmt: skip
    return found


@anywhere
def feature_lp_pool(x: Real, power: float, width: int, stride: int, *, batch: bool = True) -> Array:
    """The p-norm of neighbouring features. THNN's FeatureLPPooling.

    Parameters
    ----------
    x : [batch x] features [x d1 [x d2]], with `batch` unless that is False
    width, stride : features in a window (2 to 16) and between windows (1 to 4)

    >>> feature_lp_pool([[3.0, 4.0]], 2, 2, 1)
    array([[5.]])
    """
    return call(thnn.FeatureLPPooling_updateOutput, real(x), OUT, power, width, stride, batch)


@anywhere
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
    return call(
        thnn.FeatureLPPooling_updateGradInput,
        real(grad_output), real(x), real(output), OUT, power, width, stride, batch,
    )  # fmt: skip


@anywhere
def cross_map_lrn(
    x: Real, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> tuple[Array, Array]:
    """x * scale**-beta, scale = k + alpha times the mean square of `size` neighbouring channels.

    THNN's SpatialCrossMapLRN (Krizhevsky et al., 2012). `x` is [batch x] channels x height x width.
    Returns the output and the scale.

    >>> cross_map_lrn(np.ones((1, 1, 1)), 1, alpha=1.0, beta=1.0)
    (array([[[0.5]]]), array([[[2.]]]))
    """
    found: tuple[Array, Array] = calls(
        thnn.SpatialCrossMapLRN_updateOutput, real(x), OUT, OUT, size, alpha, beta, k
    )
    return found


@anywhere
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
    return call(
        thnn.SpatialCrossMapLRN_updateGradInput,
        real(x), real(grad_output), OUT, real(scale), real(output), size, alpha, beta, k,
    )  # fmt: skip

"""Softmax and its logarithm, over one axis or several."""

from __future__ import annotations

from typing import Any

from .. import thnn
from ._arrays import Array, Real, like
from ._axes import Axes, Block, as_block, axes_of, from_block
from ._front import function

__all__ = ["log_softmax", "log_softmax_backward", "softmax", "softmax_backward"]


def _as_planes(x: Array, axis: Axes) -> Block:
    """The axes as the second of four dimensions, along which THNN normalises 4-D tensors."""
    block = as_block(x, axes_of(x, axis))
    return block._replace(array=block.array[..., None])


@function(x="...")
def softmax(x: Real, axis: Axes = -1) -> Array:
    """exp(x) divided by its sum along an axis, or along several. THNN's SoftMax.

    >>> softmax([[0.0, 0.0], [-np.inf, 0.0]])
    array([[0.5, 0.5],
           [0. , 1. ]])
    >>> softmax([[0.0, 0.0], [0.0, 0.0]], axis=(0, 1))
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    planes = _as_planes(x, axis)
    output = like(planes.array)
    thnn.SoftMax_updateOutput(None, planes.array, output)
    return from_block(output, planes)


@function(output="...", grad_output="...")
def softmax_backward(grad_output: Real, output: Real, axis: Axes = -1) -> Array:
    """The gradient of `x`, from what :func:`softmax` returned."""
    return _gradient(thnn.SoftMax_updateGradInput, grad_output, output, axis)


@function(x="...")
def log_softmax(x: Real, axis: Axes = -1) -> Array:
    """x minus the logarithm of the sum of exp(x) along an axis, or along several.

    THNN's LogSoftMax.

    >>> log_softmax([0.0, 0.0]).round(4)
    array([-0.6931, -0.6931])
    """
    planes = _as_planes(x, axis)
    output = like(planes.array)
    thnn.LogSoftMax_updateOutput(None, planes.array, output)
    return from_block(output, planes)


@function(output="...", grad_output="...")
def log_softmax_backward(grad_output: Real, output: Real, axis: Axes = -1) -> Array:
    """The gradient of `x`, from what :func:`log_softmax` returned."""
    return _gradient(thnn.LogSoftMax_updateGradInput, grad_output, output, axis)


def _gradient(of: Any, grad_output: Array, output: Array, axis: Axes) -> Array:
    planes = _as_planes(output, axis)
    grad_x = like(planes.array)
    of(None, None, _as_planes(grad_output, axis).array, grad_x, planes.array)
    return from_block(grad_x, planes)

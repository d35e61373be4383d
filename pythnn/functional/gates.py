"""Activations that multiply by a gate between 0 and 1."""

from __future__ import annotations

import math
from typing import Any

from .. import thnn
from ._arrays import Array, Real, Unfit, axis_of, check_shape, like, new, shaped
from ._front import function

__all__ = ["gelu", "gelu_backward", "glu", "glu_backward", "silu", "silu_backward"]


def _sigmoid(x: Array) -> Array:
    output = like(x)
    thnn.Sigmoid_updateOutput(None, x, output)
    return shaped(output, x.shape)


def _tanh(x: Array) -> Array:
    output = like(x)
    thnn.Tanh_updateOutput(None, x, output)
    return shaped(output, x.shape)


def _is_tanh(approximate: Any) -> bool:
    if approximate not in ("none", "tanh"):
        raise Unfit("approximate", "'none' or 'tanh'", repr(approximate))
    return bool(approximate == "tanh")


# Of the approximation (Hendrycks and Gimpel, 2016): tanh of _FACTOR (x + _CUBIC x^3).
_FACTOR, _CUBIC = math.sqrt(2 / math.pi), 0.044715


@function(x="...")
def gelu(x: Real, *, approximate: str = "none") -> Array:
    """x times the normal distribution's probability of a number below x: GELU.

    Parameters
    ----------
    x : any shape
    approximate : "none" or "tanh"
        With "tanh", 1/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) stands for the probability.

    >>> gelu([0.0, 1.0]).round(4)
    array([0.    , 0.8413])
    """
    if not _is_tanh(approximate):
        output = like(x)
        thnn.GELU_updateOutput(None, x, output)
        return output
    real = x.dtype.type
    gate = _tanh(real(_FACTOR) * (x + real(_CUBIC) * x * x * x))
    gate += real(1)
    gate *= x
    gate *= real(0.5)
    return gate


@function(x="...", grad_output="...")
def gelu_backward(grad_output: Real, x: Real, *, approximate: str = "none") -> Array:
    """The gradient of `x`."""
    real = x.dtype.type
    if not _is_tanh(approximate):
        grad_x = like(x)
        thnn.GELU_updateGradInput(None, x, grad_output, grad_x)
        return grad_x
    gate = _tanh(real(_FACTOR) * (x + real(_CUBIC) * x * x * x))
    slope = real(_FACTOR) * (real(1) + real(3 * _CUBIC) * x * x)
    half = real(0.5)
    found: Array = grad_output * (half * (1 + gate) + half * x * (1 - gate * gate) * slope)
    return found


@function(x="...")
def glu(x: Real, axis: int = -1) -> Array:
    """The first half of `x` along an axis times the sigmoid of the second. THNN's GatedLinear.

    >>> glu([3.0, 0.0])
    array([1.5])
    """
    axis = axis_of(x, axis)
    output = new((*x.shape[:axis], x.shape[axis] // 2, *x.shape[axis + 1 :]), x)
    thnn.GatedLinear_updateOutput(None, x, output, axis + 1)
    return output


@function()
def glu_backward(grad_output: Real, x: Real, axis: int = -1) -> Array:
    """The gradient of `x`."""
    axis = axis_of(x, axis)
    check_shape(
        "grad_output", grad_output, (*x.shape[:axis], x.shape[axis] // 2, *x.shape[axis + 1 :])
    )
    grad_x = like(x)
    thnn.GatedLinear_updateGradInput(None, x, grad_output, grad_x, axis + 1)
    return grad_x


@function(x="...")
def silu(x: Real) -> Array:
    """x / (1 + exp(-x)), also called swish.

    >>> silu([0.0, 1.0]).round(4)
    array([0.    , 0.7311])
    """
    output = _sigmoid(x)
    output *= x
    return output


@function(x="...", grad_output="...")
def silu_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    gate = _sigmoid(x)
    slope = 1 - gate
    slope *= x
    slope += 1
    slope *= gate
    slope *= grad_output
    return slope

"""Activations that multiply by a gate between 0 and 1."""

from __future__ import annotations

from typing import Any

from .. import thnn
from ._arrays import Array, Real, Unfit, axis_of, check_shape, like, new
from ._front import function

__all__ = ["gelu", "gelu_backward", "glu", "glu_backward", "silu", "silu_backward"]


def _is_tanh(approximate: Any) -> bool:
    if approximate not in ("none", "tanh"):
        raise Unfit("approximate", "'none' or 'tanh'", repr(approximate))
    return bool(approximate == "tanh")


@function(x="...")
def gelu(x: Real, *, approximate: str = "none") -> Array:
    """x times the normal distribution's probability of a number below x: GELU.

    Parameters
    ----------
    x : any shape
    approximate : "none" or "tanh"
        With "tanh", 1/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) stands for the probability
        (Hendrycks and Gimpel, 2016): GELUTanh.

    >>> gelu([0.0, 1.0]).round(4)
    array([0.    , 0.8413])
    """
    forward = thnn.GELUTanh_updateOutput if _is_tanh(approximate) else thnn.GELU_updateOutput
    output = like(x)
    forward(None, x, output)
    return output


@function(x="...", grad_output="...")
def gelu_backward(grad_output: Real, x: Real, *, approximate: str = "none") -> Array:
    """The gradient of `x`."""
    is_tanh = _is_tanh(approximate)
    backward = thnn.GELUTanh_updateGradInput if is_tanh else thnn.GELU_updateGradInput
    grad_x = like(x)
    backward(None, x, grad_output, grad_x)
    return grad_x


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
    """x / (1 + exp(-x)): SiLU, also called swish.

    >>> silu([0.0, 1.0]).round(4)
    array([0.    , 0.7311])
    """
    output = like(x)
    thnn.SiLU_updateOutput(None, x, output)
    return output


@function(x="...", grad_output="...")
def silu_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.SiLU_updateGradInput(None, x, grad_output, grad_x)
    return grad_x

"""Convolutions in one to three dimensions, of groups of planes.

The settings are those of all functions here:

stride, dilation
    An int, or one for each dimension, height before width.
padding
    Zeros around `x`: an int, one for each dimension, or a pair (before, after) for each; or
    "valid" (none), "full" (the kernel's extent - 1), "half" (its extent // 2) or "same" (as many
    results as elements; with stride 1 only). The extent is dilation * (kernel - 1) + 1. Negative
    padding crops.
groups
    Planes in and planes out are cut into this number of groups, each with weights of its own. With
    as many as planes in, each plane has its own kernels (depth-wise).
flip
    The convolution of mathematics, whose kernels are flipped; otherwise it is a cross-correlation.
state
    How it is computed: :class:`pythnn.State`.

Backward functions return the gradients of `x`, `weight` and, also where the layer had none, `bias`:
those that `needs` names, and None for the others, which are not computed. `add_to` has arrays by
name; these gradients are added to them, and they are returned.
"""

from __future__ import annotations

from .._state import State
from ._arrays import Array, Real, Size
from ._front import function
from ._grouped import (
    ALL,
    AddTo,
    Gradients,
    Needs,
    convolve,
    convolve_back,
    grad_of_input,
    grad_of_weight,
)
from ._windows import Border

__all__ = [
    "conv1d",
    "conv1d_backward",
    "conv1d_grad_input",
    "conv1d_grad_weight",
    "conv2d",
    "conv2d_backward",
    "conv2d_grad_input",
    "conv2d_grad_weight",
    "conv3d",
    "conv3d_backward",
    "conv3d_grad_input",
    "conv3d_grad_weight",
]


@function(
    x="[batch] planes_in width",
    weight="planes_out planes_of_group kernel_width",
    bias="planes_out",
)
def conv1d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    state: State | None = None,
) -> Array:
    """A 1-D convolution.

    Parameters
    ----------
    x : [batch x] planes in x width
    weight : planes out x (planes in / groups) x kernel width
    bias : (planes out,), optional

    >>> conv1d([[1.0, 2.0, 3.0]], [[[1.0, 10.0]]], padding=(1, 0))
    array([[10., 21., 32.]])
    """
    return convolve(x, weight, bias, stride, padding, dilation, groups, flip, state)


@function(
    x="[batch] planes_in width",
    weight="planes_out planes_of_group kernel_width",
)
def conv1d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    needs: Needs = ALL,
    add_to: AddTo = None,
    state: State | None = None,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    return convolve_back(
        grad_output, x, weight, stride, padding, dilation, groups, flip, needs, add_to, state
    )


@function(
    grad_output="[batch] planes_out width",
    weight="planes_out planes_of_group kernel_width",
)
def conv1d_grad_input(
    grad_output: Real,
    weight: Real,
    input_size: Size,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `x` alone, of which only the width is given."""
    return grad_of_input(
        grad_output, weight, input_size, stride, padding, dilation, groups, flip, state
    )


@function(
    per_sample=(),
    grad_output="[batch] planes_out width_out",
    x="[batch] planes_in width",
)
def conv1d_grad_weight(
    grad_output: Real,
    x: Real,
    kernel_size: Size,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `weight` alone, of which only the kernel's width is given."""
    return grad_of_weight(
        grad_output, x, kernel_size, 1, stride, padding, dilation, groups, flip, state
    )


@function(
    x="[batch] planes_in height width",
    weight="planes_out planes_of_group kernel_height kernel_width",
    bias="planes_out",
)
def conv2d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    state: State | None = None,
) -> Array:
    """A 2-D convolution. THNN's SpatialConvolutionMM and SpatialDilatedConvolution.

    Parameters
    ----------
    x : [batch x] planes in x height x width
    weight : planes out x (planes in / groups) x kernel height x kernel width
    bias : (planes out,), optional

    >>> conv2d(np.ones((1, 3, 3)), np.ones((1, 1, 2, 2)), [1.0])
    array([[[5., 5.],
            [5., 5.]]])
    """
    return convolve(x, weight, bias, stride, padding, dilation, groups, flip, state)


@function(
    x="[batch] planes_in height width",
    weight="planes_out planes_of_group kernel_height kernel_width",
)
def conv2d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    needs: Needs = ALL,
    add_to: AddTo = None,
    state: State | None = None,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    return convolve_back(
        grad_output, x, weight, stride, padding, dilation, groups, flip, needs, add_to, state
    )


@function(
    grad_output="[batch] planes_out height width",
    weight="planes_out planes_of_group kernel_height kernel_width",
)
def conv2d_grad_input(
    grad_output: Real,
    weight: Real,
    input_size: Size,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `x` alone, of which only the height, width are given."""
    return grad_of_input(
        grad_output, weight, input_size, stride, padding, dilation, groups, flip, state
    )


@function(
    per_sample=(),
    grad_output="[batch] planes_out height_out width_out",
    x="[batch] planes_in height width",
)
def conv2d_grad_weight(
    grad_output: Real,
    x: Real,
    kernel_size: Size,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `weight` alone, of which only the kernel's height, width are given."""
    return grad_of_weight(
        grad_output, x, kernel_size, 2, stride, padding, dilation, groups, flip, state
    )


@function(
    x="[batch] planes_in depth height width",
    weight="planes_out planes_of_group kernel_depth kernel_height kernel_width",
    bias="planes_out",
)
def conv3d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    state: State | None = None,
) -> Array:
    """A 3-D convolution. THNN's VolumetricConvolution and VolumetricDilatedConvolution.

    Parameters
    ----------
    x : [batch x] planes in x depth x height x width
    weight : planes out x (planes in / groups) x kernel depth x kernel height x kernel width
    bias : (planes out,), optional

    >>> conv3d(np.ones((1, 2, 2, 2)), np.ones((1, 1, 2, 2, 2)))
    array([[[[8.]]]])
    """
    return convolve(x, weight, bias, stride, padding, dilation, groups, flip, state)


@function(
    x="[batch] planes_in depth height width",
    weight="planes_out planes_of_group kernel_depth kernel_height kernel_width",
)
def conv3d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    needs: Needs = ALL,
    add_to: AddTo = None,
    state: State | None = None,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    return convolve_back(
        grad_output, x, weight, stride, padding, dilation, groups, flip, needs, add_to, state
    )


@function(
    grad_output="[batch] planes_out depth height width",
    weight="planes_out planes_of_group kernel_depth kernel_height kernel_width",
)
def conv3d_grad_input(
    grad_output: Real,
    weight: Real,
    input_size: Size,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `x` alone, of which only the depth, height, width are given."""
    return grad_of_input(
        grad_output, weight, input_size, stride, padding, dilation, groups, flip, state
    )


@function(
    per_sample=(),
    grad_output="[batch] planes_out depth_out height_out width_out",
    x="[batch] planes_in depth height width",
)
def conv3d_grad_weight(
    grad_output: Real,
    x: Real,
    kernel_size: Size,
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    flip: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `weight` alone, of which only the kernel's depth, height, width are given."""
    return grad_of_weight(
        grad_output, x, kernel_size, 3, stride, padding, dilation, groups, flip, state
    )

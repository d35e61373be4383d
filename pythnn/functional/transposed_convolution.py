"""Transposed convolutions in one to three dimensions, of groups of planes.

The settings are those of :mod:`pythnn.functional.convolution`, for the convolution from the output
to `x`: what `padding` adds there is cut off here. Beside them:

output_padding
    Rows and columns added at the end of each dimension; less than the stride or the dilation.
output_size
    The output's sizes, in place of `output_padding`: an int, or one for each dimension.
"""

from __future__ import annotations

from .._state import State
from ._arrays import Array, Real, Size
from ._front import function
from ._grouped import ALL, AddTo, Gradients, Needs, transposed, transposed_back
from ._windows import Border

__all__ = [
    "conv_transpose1d",
    "conv_transpose1d_backward",
    "conv_transpose2d",
    "conv_transpose2d_backward",
    "conv_transpose3d",
    "conv_transpose3d_backward",
]


@function(
    x="[batch] planes_in width",
    weight="planes_in planes_of_group kernel_width",
)
def conv_transpose1d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Border = 0,
    output_padding: Size = 0,
    output_size: Size | None = None,
    dilation: Size = 1,
    groups: int = 1,
    state: State | None = None,
) -> Array:
    """A transposed 1-D convolution.

    Parameters
    ----------
    x : [batch x] planes in x width
    weight : planes in x (planes out / groups) x kernel width
    bias : (planes out,), optional

    >>> conv_transpose1d([[1.0, 2.0]], [[[1.0, 10.0]]], stride=2)
    array([[ 1., 10.,  2., 20.]])
    """
    window = (stride, padding, output_padding, output_size, dilation, groups)
    return transposed(x, weight, bias, *window, state)


@function(
    x="[batch] planes_in width",
    weight="planes_in planes_of_group kernel_width",
)
def conv_transpose1d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: Size = 1,
    padding: Border = 0,
    output_padding: Size = 0,
    output_size: Size | None = None,
    dilation: Size = 1,
    groups: int = 1,
    needs: Needs = ALL,
    add_to: AddTo = None,
    state: State | None = None,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window = (stride, padding, output_padding, output_size, dilation, groups)
    return transposed_back(grad_output, x, weight, *window, needs, add_to, state)


@function(
    x="[batch] planes_in height width",
    weight="planes_in planes_of_group kernel_height kernel_width",
)
def conv_transpose2d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Border = 0,
    output_padding: Size = 0,
    output_size: Size | None = None,
    dilation: Size = 1,
    groups: int = 1,
    state: State | None = None,
) -> Array:
    """A transposed 2-D convolution. THNN's SpatialFullConvolution and its dilated twin.

    Parameters
    ----------
    x : [batch x] planes in x height x width
    weight : planes in x (planes out / groups) x kernel height x kernel width
    bias : (planes out,), optional

    >>> conv_transpose2d(np.ones((1, 1, 2)), np.ones((1, 1, 1, 2)), stride=2)
    array([[[1., 1., 1., 1.]]])
    """
    window = (stride, padding, output_padding, output_size, dilation, groups)
    return transposed(x, weight, bias, *window, state)


@function(
    x="[batch] planes_in height width",
    weight="planes_in planes_of_group kernel_height kernel_width",
)
def conv_transpose2d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: Size = 1,
    padding: Border = 0,
    output_padding: Size = 0,
    output_size: Size | None = None,
    dilation: Size = 1,
    groups: int = 1,
    needs: Needs = ALL,
    add_to: AddTo = None,
    state: State | None = None,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window = (stride, padding, output_padding, output_size, dilation, groups)
    return transposed_back(grad_output, x, weight, *window, needs, add_to, state)


@function(
    x="[batch] planes_in depth height width",
    weight="planes_in planes_of_group kernel_depth kernel_height kernel_width",
)
def conv_transpose3d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Border = 0,
    output_padding: Size = 0,
    output_size: Size | None = None,
    dilation: Size = 1,
    groups: int = 1,
    state: State | None = None,
) -> Array:
    """A transposed 3-D convolution. THNN's VolumetricFullConvolution and its dilated twin.

    Parameters
    ----------
    x : [batch x] planes in x depth x height x width
    weight : planes in x (planes out / groups) x kernel depth x kernel height x kernel width
    bias : (planes out,), optional

    >>> conv_transpose3d(np.ones((1, 1, 1, 1)), np.ones((1, 1, 2, 1, 1)))
    array([[[[1.]],
    <BLANKLINE>
            [[1.]]]])
    """
    window = (stride, padding, output_padding, output_size, dilation, groups)
    return transposed(x, weight, bias, *window, state)


@function(
    x="[batch] planes_in depth height width",
    weight="planes_in planes_of_group kernel_depth kernel_height kernel_width",
)
def conv_transpose3d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: Size = 1,
    padding: Border = 0,
    output_padding: Size = 0,
    output_size: Size | None = None,
    dilation: Size = 1,
    groups: int = 1,
    needs: Needs = ALL,
    add_to: AddTo = None,
    state: State | None = None,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window = (stride, padding, output_padding, output_size, dilation, groups)
    return transposed_back(grad_output, x, weight, *window, needs, add_to, state)

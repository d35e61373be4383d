"""Convolutions of single planes, by position, by a table of connections, and over frames.

Sizes, strides and paddings are one int, or (height, width).

Backward functions return the gradients of `x`, `weight` and, also where the layer had none, `bias`.
"""

from __future__ import annotations

from typing import TypeAlias

from .. import thnn
from ._arrays import Array, Indices, Real, Size, check_shape, like, new, zeros
from ._convolved import (
    connections_of,
    convolved2d,
    frames_of,
    local_window,
    mapped,
    mapped_back,
    plane_window,
    row_frames,
)
from ._front import function

__all__ = [
    "conv2d_local",
    "conv2d_local_backward",
    "conv2d_map",
    "conv2d_map_backward",
    "conv_transpose2d_map",
    "conv_transpose2d_map_backward",
    "depthwise_conv2d",
    "depthwise_conv2d_backward",
    "row_conv1d",
    "row_conv1d_backward",
    "temporal_conv1d",
    "temporal_conv1d_backward",
]

Gradients: TypeAlias = tuple[Array, Array, Array]


@function(
    x="[batch] planes height width",
    weight="multiplier planes kernel_height kernel_width",
    bias="multiplier planes",
)
def depthwise_conv2d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Size = 0,
) -> Array:
    """Each plane's own 2-D convolutions. THNN's SpatialDepthWiseConvolution.

    Parameters
    ----------
    x : [batch x] planes x height x width
    weight : multiplier x planes x kernel height x kernel width
    bias : multiplier x planes, optional

    Returns an array [batch x] (planes * multiplier) x height x width, those of a plane together.

    >>> depthwise_conv2d(np.ones((2, 1, 1)), [[[[2.0]], [[3.0]]]]).ravel()
    array([2., 3.])
    """
    window = plane_window(weight, stride, padding)
    output = new(convolved2d(x, weight.shape[0] * weight.shape[1], window), x)
    thnn.SpatialDepthWiseConvolution_updateOutput(
        None, x, output, weight, bias, None, None, *window
    )
    return output


@function(x="[batch] planes height width", weight="multiplier planes kernel_height kernel_width")
def depthwise_conv2d_backward(
    grad_output: Real, x: Real, weight: Real, *, stride: Size = 1, padding: Size = 0
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window = plane_window(weight, stride, padding)
    check_shape(
        "grad_output", grad_output, convolved2d(x, weight.shape[0] * weight.shape[1], window)
    )
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape[:2], weight)
    thnn.SpatialDepthWiseConvolution_updateGradInput(
        None, x, grad_output, grad_x, weight, None, None, *window
    )
    thnn.SpatialDepthWiseConvolution_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, None, None, *[*window, 1.0]
    )
    return grad_x, grad_weight, grad_bias


@function(
    x="[batch] planes_in height width",
    weight="height_out width_out planes_out planes_in kernel_height kernel_width",
    bias="planes_out height_out width_out",
)
def conv2d_local(
    x: Real, weight: Real, bias: Real, *, stride: Size = 1, padding: Size = 0
) -> Array:
    """A 2-D convolution with weights of its own at each position. THNN's SpatialConvolutionLocal.

    Parameters
    ----------
    x : [batch x] planes in x height x width
    weight : height out x width out x planes out x planes in x kernel height x kernel width
    bias : planes out x height out x width out

    >>> weight = np.reshape([3.0, 4.0], (1, 2, 1, 1, 1, 1))
    >>> conv2d_local(np.ones((1, 1, 2)), weight, np.zeros((1, 1, 2)))
    array([[[3., 4.]]])
    """
    window, shape = local_window(x, weight, stride, padding)
    output = new(shape, x)
    thnn.SpatialConvolutionLocal_updateOutput(None, x, output, weight, bias, None, None, *window)
    return output


@function(
    x="[batch] planes_in height width",
    weight="height_out width_out planes_out planes_in kernel_height kernel_width",
)
def conv2d_local_backward(
    grad_output: Real, x: Real, weight: Real, *, stride: Size = 1, padding: Size = 0
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window, shape = local_window(x, weight, stride, padding)
    check_shape("grad_output", grad_output, shape)
    grad_x, grad_weight, grad_bias = like(x), zeros(weight.shape, weight), zeros(shape[-3:], weight)
    thnn.SpatialConvolutionLocal_updateGradInput(
        None, x, grad_output, grad_x, weight, None, None, *window
    )
    thnn.SpatialConvolutionLocal_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, None, None, *[*window, 1.0]
    )
    return grad_x, grad_weight, grad_bias


@function(
    below={"table": ("planes_in", "planes_out")},
    x="[batch] planes_in height width",
    weight="connections kernel_height kernel_width",
    bias="planes_out",
    table="connections 2",
)
def conv2d_map(x: Real, weight: Real, bias: Real, table: Indices, *, stride: Size = 1) -> Array:
    """A 2-D convolution between the planes that a table connects. THNN's SpatialConvolutionMap.

    Parameters
    ----------
    x : [batch x] planes in x height x width
    weight : connections x kernel height x kernel width
    bias : (planes out,)
    table : connections x 2
        Plane in and plane out of each connection, from 0.

    >>> conv2d_map(np.ones((2, 1, 1)), [[[3.0]]], [1.0], [[1, 0]])
    array([[[4.]]])
    """
    connections, rest = connections_of(table, x, bias, stride)
    output = new(mapped(x, weight, rest), x)
    thnn.SpatialConvolutionMap_updateOutput(None, x, output, weight, bias, connections, *rest)
    return output


@function(
    below={"table": ("planes_in", "planes_out")},
    x="[batch] planes_in height width",
    weight="connections kernel_height kernel_width",
    bias="planes_out",
    table="connections 2",
)
def conv2d_map_backward(
    grad_output: Real, x: Real, weight: Real, bias: Real, table: Indices, *, stride: Size = 1
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    connections, rest = connections_of(table, x, bias, stride)
    check_shape("grad_output", grad_output, mapped(x, weight, rest))
    grad_x, grad_weight, grad_bias = like(x), zeros(weight.shape, x), zeros(bias.shape, x)
    thnn.SpatialConvolutionMap_updateGradInput(
        None, x, grad_output, grad_x, weight, bias, connections, *rest
    )
    thnn.SpatialConvolutionMap_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, connections, *[*rest, 1.0]
    )
    return grad_x, grad_weight, grad_bias


@function(
    below={"table": ("planes_in", "planes_out")},
    x="planes_in height width",
    weight="connections kernel_height kernel_width",
    bias="planes_out",
    table="connections 2",
)
def conv_transpose2d_map(
    x: Real, weight: Real, bias: Real, table: Indices, *, stride: Size = 1
) -> Array:
    """A transposed 2-D convolution between connected planes. THNN's SpatialFullConvolutionMap.

    Parameters as those of :func:`conv2d_map`, but without a batch.

    >>> conv_transpose2d_map(np.ones((1, 1, 1)), [[[3.0, 4.0]]], [1.0], [[0, 0]])
    array([[[4., 5.]]])
    """
    connections, rest = connections_of(table, x, bias, stride)
    output = new(mapped_back(x, weight, rest), x)
    thnn.SpatialFullConvolutionMap_updateOutput(None, x, output, weight, bias, connections, *rest)
    return output


@function(
    below={"table": ("planes_in", "planes_out")},
    x="planes_in height width",
    weight="connections kernel_height kernel_width",
    bias="planes_out",
    table="connections 2",
)
def conv_transpose2d_map_backward(
    grad_output: Real, x: Real, weight: Real, bias: Real, table: Indices, *, stride: Size = 1
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    connections, rest = connections_of(table, x, bias, stride)
    check_shape("grad_output", grad_output, mapped_back(x, weight, rest))
    grad_x, grad_weight, grad_bias = like(x), zeros(weight.shape, x), zeros(bias.shape, x)
    thnn.SpatialFullConvolutionMap_updateGradInput(
        None, x, grad_output, grad_x, weight, bias, connections, *rest
    )
    thnn.SpatialFullConvolutionMap_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, connections, *[*rest, 1.0]
    )
    return grad_x, grad_weight, grad_bias


@function(x="[batch] frames features_in", weight="features_out entries", bias="features_out")
def temporal_conv1d(x: Real, weight: Real, bias: Real, kernel: Size, *, stride: Size = 1) -> Array:
    """A convolution over frames. THNN's TemporalConvolution.

    Parameters
    ----------
    x : [batch x] frames x features in
    weight : features out x (kernel * features in), frame after frame
    bias : (features out,)
    kernel : frames in a window

    Returns an array [batch x] frames out x features out.

    >>> temporal_conv1d([[1.0], [2.0], [3.0]], [[10.0, 1.0]], [0.0], 2)
    array([[12.],
           [23.]])
    """
    window, shape = frames_of(x, weight, kernel, stride)
    output = new(shape, x)
    thnn.TemporalConvolution_updateOutput(
        None, x, output, weight, bias, *window, x.shape[-1], weight.shape[0]
    )
    return output


@function(x="[batch] frames features_in", weight="features_out entries")
def temporal_conv1d_backward(
    grad_output: Real, x: Real, weight: Real, kernel: Size, *, stride: Size = 1
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window, shape = frames_of(x, weight, kernel, stride)
    check_shape("grad_output", grad_output, shape)
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape[0], weight)
    thnn.TemporalConvolution_updateGradInput(None, x, grad_output, grad_x, weight, *window)
    thnn.TemporalConvolution_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, *window, 1.0
    )
    return grad_x, grad_weight, grad_bias


@function(x="[batch] rows columns", weight="features 1 kernel", bias="features")
def row_conv1d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Size = 0,
    features_first: bool = False,
) -> Array:
    """Each feature's own convolution over frames. THNN's TemporalRowConvolution.

    Parameters
    ----------
    x : [batch x] frames x features, or features x frames with `features_first`
    weight : features x 1 x kernel
    bias : (features,), optional

    >>> row_conv1d([[1.0], [2.0], [3.0]], [[[10.0, 1.0]]])
    array([[12.],
           [23.]])
    """
    window, shape = row_frames(x, weight, stride, padding, features_first)
    output = new(shape, x)
    thnn.TemporalRowConvolution_updateOutput(
        None, x, output, weight, bias, None, None, *window, features_first
    )
    return output


@function(x="[batch] rows columns", weight="features 1 kernel")
def row_conv1d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: Size = 1,
    padding: Size = 0,
    features_first: bool = False,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window, shape = row_frames(x, weight, stride, padding, features_first)
    check_shape("grad_output", grad_output, shape)
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape[0], weight)
    thnn.TemporalRowConvolution_updateGradInput(
        None, x, grad_output, grad_x, weight, None, None, *window, features_first
    )
    thnn.TemporalRowConvolution_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, None, None, *window, features_first, 1.0
    )
    return grad_x, grad_weight, grad_bias

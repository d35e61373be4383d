"""Convolutions.

Sizes, strides and paddings are one int, or (height, width) and (depth, height, width).

Backward functions return the gradients of `x`, `weight` and, also where the layer had none, `bias`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from .. import thnn
from ._arrays import (
    Array,
    Indices,
    Real,
    Size,
    Unfit,
    check_shape,
    integer,
    like,
    new,
    pair,
    triple,
    zeros,
)
from ._front import function

__all__ = [
    "conv2d",
    "conv2d_backward",
    "conv2d_local",
    "conv2d_local_backward",
    "conv2d_map",
    "conv2d_map_backward",
    "conv3d",
    "conv3d_backward",
    "conv_transpose2d",
    "conv_transpose2d_backward",
    "conv_transpose2d_map",
    "conv_transpose2d_map_backward",
    "conv_transpose3d",
    "conv_transpose3d_backward",
    "depthwise_conv2d",
    "depthwise_conv2d_backward",
    "row_conv1d",
    "row_conv1d_backward",
    "temporal_conv1d",
    "temporal_conv1d_backward",
]

Gradients: TypeAlias = tuple[Array, Array, Array]


def _reversed(name: str, value: Any) -> tuple[int, int]:
    """A pair as C functions take it: width before height."""
    height, width = pair(name, value)
    return width, height


def _plane_window(weight: Array, stride: Any, padding: Any, *dilation: Any) -> Any:
    """Kernel, stride, padding and dilation, of each width before height."""
    height, width = weight.shape[-2:]
    stride_y, stride_x = pair("stride", stride)
    pad_y, pad_x = pair("padding", padding)
    window = [width, height, stride_x, stride_y, pad_x, pad_y]
    for value in dilation:
        window += _reversed("dilation", value)
    return window


def _space_window(weight: Array, stride: Any, padding: Any, *rest: Any) -> Any:
    """Kernel, stride, padding, dilation and output padding, of each depth, width, height."""
    depth, height, width = weight.shape[-3:]
    window = [depth, width, height]
    names = ("stride", "padding", "dilation", "output_padding")
    for name, value in zip(names, (stride, padding, *rest), strict=False):
        depth, height, width = triple(name, value)
        window += [depth, width, height]
    return window


def _count(size: int, kernel: int, stride: int, padding: int, dilation: int = 1) -> int:
    """Positions of a kernel; a stride that the C function refuses counts as 1."""
    reach = dilation * (kernel - 1) + 1
    return (size + 2 * padding - reach) // (stride if stride > 0 else 1) + 1


def _spread(size: int, kernel: int, stride: int, padding: int, dilation: int, more: int) -> int:
    """What a transposed convolution makes of a size."""
    return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1 + more


def _convolved2d(x: Array, planes: int, window: Sequence[int]) -> tuple[int, ...]:
    """The shape of the output of a convolution."""
    width, height, dx, dy, px, py, *dilation = window
    across, down = dilation or (1, 1)
    *batch, _, rows, columns = x.shape
    return (
        *batch, planes, _count(rows, height, dy, py, down), _count(columns, width, dx, px, across)
    )  # fmt: skip


def _transposed2d(x: Array, planes: int, window: Sequence[int]) -> tuple[int, ...]:
    width, height, dx, dy, px, py, across, down, more_x, more_y = window
    *batch, _, rows, columns = x.shape
    rows = _spread(rows, height, dy, py, down, more_y)
    return (*batch, planes, rows, _spread(columns, width, dx, px, across, more_x))


def _by_axis(window: Sequence[int]) -> list[Sequence[int]]:
    """What a window of three axes has for depth, height and width."""
    return [window[0::3], window[2::3], window[1::3]]


def _convolved3d(x: Array, planes: int, window: Sequence[int]) -> tuple[int, ...]:
    sizes = zip(x.shape[-3:], _by_axis(window), strict=True)
    return (*x.shape[:-4], planes, *(_count(size, *axis) for size, axis in sizes))


def _transposed3d(x: Array, planes: int, window: Sequence[int]) -> tuple[int, ...]:
    sizes = zip(x.shape[-3:], _by_axis(window), strict=True)
    return (*x.shape[:-4], planes, *(_spread(size, *axis) for size, axis in sizes))


@function(
    x="[batch] planes_in height width",
    weight="planes_out planes_in kernel_height kernel_width",
    bias="planes_out",
)
def conv2d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
) -> Array:
    """A 2-D convolution. THNN's SpatialConvolutionMM and SpatialDilatedConvolution.

    Parameters
    ----------
    x : [batch x] planes in x height x width
    weight : planes out x planes in x kernel height x kernel width
    bias : (planes out,), optional
    padding : zeros added on all sides

    >>> conv2d(np.ones((1, 3, 3)), np.ones((1, 1, 2, 2)), [1.0])
    array([[[5., 5.],
            [5., 5.]]])
    """
    window = _plane_window(weight, stride, padding, dilation)
    output = new(_convolved2d(x, weight.shape[0], window), x)
    thnn.SpatialDilatedConvolution_updateOutput(None, x, output, weight, bias, None, None, *window)
    return output


@function(
    x="[batch] planes_in height width", weight="planes_out planes_in kernel_height kernel_width"
)
def conv2d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window = _plane_window(weight, stride, padding, dilation)
    check_shape("grad_output", grad_output, _convolved2d(x, weight.shape[0], window))
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape[0], weight)
    thnn.SpatialDilatedConvolution_updateGradInput(
        None, x, grad_output, grad_x, weight, None, *window
    )
    thnn.SpatialDilatedConvolution_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, None, None, *window, 1.0
    )
    return grad_x, grad_weight, grad_bias


@function(
    x="[batch] planes_in height width",
    weight="planes_in planes_out kernel_height kernel_width",
    bias="planes_out",
)
def conv_transpose2d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    dilation: Size = 1,
) -> Array:
    """A transposed 2-D convolution. THNN's SpatialFullConvolution and its dilated twin.

    Parameters
    ----------
    x : [batch x] planes in x height x width
    weight : planes in x planes out x kernel height x kernel width
    bias : (planes out,), optional
    padding : rows and columns cut off on all sides
    output_padding : rows and columns added at the bottom and on the right; less than stride

    >>> conv_transpose2d(np.ones((1, 1, 2)), np.ones((1, 1, 1, 2)), stride=2)
    array([[[1., 1., 1., 1.]]])
    """
    window = [
        *_plane_window(weight, stride, padding, dilation),
        *_reversed("output_padding", output_padding),
    ]
    output = new(_transposed2d(x, weight.shape[1], window), x)
    thnn.SpatialFullDilatedConvolution_updateOutput(
        None, x, output, weight, bias, None, None, *window
    )
    return output


@function(
    x="[batch] planes_in height width", weight="planes_in planes_out kernel_height kernel_width"
)
def conv_transpose2d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    dilation: Size = 1,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window = [
        *_plane_window(weight, stride, padding, dilation),
        *_reversed("output_padding", output_padding),
    ]
    check_shape("grad_output", grad_output, _transposed2d(x, weight.shape[1], window))
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape[1], weight)
    thnn.SpatialFullDilatedConvolution_updateGradInput(
        None, x, grad_output, grad_x, weight, None, *window
    )
    thnn.SpatialFullDilatedConvolution_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, None, None, *window, 1.0
    )
    return grad_x, grad_weight, grad_bias


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
    window = _plane_window(weight, stride, padding)
    output = new(_convolved2d(x, weight.shape[0] * weight.shape[1], window), x)
    thnn.SpatialDepthWiseConvolution_updateOutput(
        None, x, output, weight, bias, None, None, *window
    )
    return output


@function(x="[batch] planes height width", weight="multiplier planes kernel_height kernel_width")
def depthwise_conv2d_backward(
    grad_output: Real, x: Real, weight: Real, *, stride: Size = 1, padding: Size = 0
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window = _plane_window(weight, stride, padding)
    check_shape(
        "grad_output", grad_output, _convolved2d(x, weight.shape[0] * weight.shape[1], window)
    )
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape[:2], weight)
    thnn.SpatialDepthWiseConvolution_updateGradInput(
        None, x, grad_output, grad_x, weight, None, None, *window
    )
    thnn.SpatialDepthWiseConvolution_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, None, None, *window, 1.0
    )
    return grad_x, grad_weight, grad_bias


def _local_window(
    x: Array, weight: Array, stride: Any, padding: Any
) -> tuple[list[int], tuple[int, ...]]:
    """The arguments behind the tensors, and the shape of the output."""
    window = _plane_window(weight, stride, padding)
    rows, columns, planes = weight.shape[:3]
    shape = _convolved2d(x, planes, window)
    if shape[-2:] != (rows, columns):
        wanted = f"weights for {shape[-2]} x {shape[-1]} positions, height out x width out"
        raise Unfit("weight", wanted, f"{rows} x {columns}")
    return [*window, x.shape[-1], x.shape[-2], columns, rows], shape


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
    window, shape = _local_window(x, weight, stride, padding)
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
    window, shape = _local_window(x, weight, stride, padding)
    check_shape("grad_output", grad_output, shape)
    grad_x, grad_weight, grad_bias = like(x), zeros(weight.shape, weight), zeros(shape[-3:], weight)
    thnn.SpatialConvolutionLocal_updateGradInput(
        None, x, grad_output, grad_x, weight, None, None, *window
    )
    thnn.SpatialConvolutionLocal_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, None, None, *window, 1.0
    )
    return grad_x, grad_weight, grad_bias


def _connections(table: Any, x: Array, bias: Array, stride: Any) -> tuple[Array, list[int]]:
    """The connection table as THNN takes it, and the arguments behind it."""
    connections: Array = (table + 1).astype(x.dtype)
    return connections, [x.shape[-3], bias.shape[0], *_reversed("stride", stride)]


def _mapped(x: Array, weight: Array, rest: Sequence[int]) -> tuple[int, ...]:
    """The shape of the output."""
    _, planes, dx, dy = rest
    return _convolved2d(x, planes, (weight.shape[2], weight.shape[1], dx, dy, 0, 0))


def _mapped_back(x: Array, weight: Array, rest: Sequence[int]) -> tuple[int, ...]:
    """The shape of the output of the transposed one."""
    _, planes, dx, dy = rest
    window = (weight.shape[2], weight.shape[1], dx, dy, 0, 0, 1, 1, 0, 0)
    return _transposed2d(x, planes, window)


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
    connections, rest = _connections(table, x, bias, stride)
    output = new(_mapped(x, weight, rest), x)
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
    connections, rest = _connections(table, x, bias, stride)
    check_shape("grad_output", grad_output, _mapped(x, weight, rest))
    grad_x, grad_weight, grad_bias = like(x), zeros(weight.shape, x), zeros(bias.shape, x)
    thnn.SpatialConvolutionMap_updateGradInput(
        None, x, grad_output, grad_x, weight, bias, connections, *rest
    )
    thnn.SpatialConvolutionMap_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, connections, *rest, 1.0
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
    connections, rest = _connections(table, x, bias, stride)
    output = new(_mapped_back(x, weight, rest), x)
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
    connections, rest = _connections(table, x, bias, stride)
    check_shape("grad_output", grad_output, _mapped_back(x, weight, rest))
    grad_x, grad_weight, grad_bias = like(x), zeros(weight.shape, x), zeros(bias.shape, x)
    thnn.SpatialFullConvolutionMap_updateGradInput(
        None, x, grad_output, grad_x, weight, bias, connections, *rest
    )
    thnn.SpatialFullConvolutionMap_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, connections, *rest, 1.0
    )
    return grad_x, grad_weight, grad_bias


@function(
    x="[batch] planes_in depth height width",
    weight="planes_out planes_in kernel_depth kernel_height kernel_width",
    bias="planes_out",
)
def conv3d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
) -> Array:
    """A 3-D convolution. THNN's VolumetricConvolution and VolumetricDilatedConvolution.

    Parameters
    ----------
    x : [batch x] planes in x depth x height x width
    weight : planes out x planes in x kernel depth x kernel height x kernel width
    bias : (planes out,), optional

    >>> conv3d(np.ones((1, 2, 2, 2)), np.ones((1, 1, 2, 2, 2)))
    array([[[[8.]]]])
    """
    window = _space_window(weight, stride, padding, dilation)
    output = new(_convolved3d(x, weight.shape[0], window), x)
    thnn.VolumetricDilatedConvolution_updateOutput(
        None, x, output, weight, bias, None, None, *window
    )
    return output


@function(
    x="[batch] planes_in depth height width",
    weight="planes_out planes_in kernel_depth kernel_height kernel_width",
)
def conv3d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window = _space_window(weight, stride, padding, dilation)
    check_shape("grad_output", grad_output, _convolved3d(x, weight.shape[0], window))
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape[0], weight)
    thnn.VolumetricDilatedConvolution_updateGradInput(
        None, x, grad_output, grad_x, weight, None, *window
    )
    thnn.VolumetricDilatedConvolution_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, None, None, *window, 1.0
    )
    return grad_x, grad_weight, grad_bias


@function(
    x="[batch] planes_in depth height width",
    weight="planes_in planes_out kernel_depth kernel_height kernel_width",
    bias="planes_out",
)
def conv_transpose3d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    dilation: Size = 1,
) -> Array:
    """A transposed 3-D convolution. THNN's VolumetricFullConvolution and its dilated twin.

    Parameters
    ----------
    x : [batch x] planes in x depth x height x width
    weight : planes in x planes out x kernel depth x kernel height x kernel width
    bias : (planes out,), optional

    >>> conv_transpose3d(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1, 2)))
    array([[[[1., 1.]]]])
    """
    window = _space_window(weight, stride, padding, dilation, output_padding)
    output = new(_transposed3d(x, weight.shape[1], window), x)
    thnn.VolumetricFullDilatedConvolution_updateOutput(
        None, x, output, weight, bias, None, None, *window[3:]
    )
    return output


@function(
    x="[batch] planes_in depth height width",
    weight="planes_in planes_out kernel_depth kernel_height kernel_width",
)
def conv_transpose3d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    dilation: Size = 1,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    window = _space_window(weight, stride, padding, dilation, output_padding)
    check_shape("grad_output", grad_output, _transposed3d(x, weight.shape[1], window))
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape[1], weight)
    thnn.VolumetricFullDilatedConvolution_updateGradInput(
        None, x, grad_output, grad_x, weight, None, None, *window[3:]
    )
    thnn.VolumetricFullDilatedConvolution_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, None, None, *window[3:], 1.0
    )
    return grad_x, grad_weight, grad_bias


def _frames(x: Array, weight: Array, kernel: Any, stride: Any) -> tuple[int, ...]:
    """The shape of the output."""
    *batch, frames, features = x.shape
    count = integer("kernel", kernel)
    if weight.shape[1] != count * features:
        wanted = f"features out x {count * features} (kernel * features in)"
        raise Unfit("weight", wanted, f"shape {tuple(weight.shape)}")
    return (*batch, _count(frames, count, integer("stride", stride), 0), weight.shape[0])


@function(x="[batch] frames features_in", weight="features_out entries", bias="features_out")
def temporal_conv1d(x: Real, weight: Real, bias: Real, kernel: int, *, stride: int = 1) -> Array:
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
    output = new(_frames(x, weight, kernel, stride), x)
    thnn.TemporalConvolution_updateOutput(
        None, x, output, weight, bias, kernel, stride, x.shape[-1], weight.shape[0]
    )
    return output


@function(x="[batch] frames features_in", weight="features_out entries")
def temporal_conv1d_backward(
    grad_output: Real, x: Real, weight: Real, kernel: int, *, stride: int = 1
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    check_shape("grad_output", grad_output, _frames(x, weight, kernel, stride))
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape[0], weight)
    thnn.TemporalConvolution_updateGradInput(None, x, grad_output, grad_x, weight, kernel, stride)
    thnn.TemporalConvolution_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, kernel, stride, 1.0
    )
    return grad_x, grad_weight, grad_bias


def _row_frames(
    x: Array, weight: Array, stride: Any, padding: Any, features_first: bool
) -> tuple[int, ...]:
    """The shape of the output."""
    *batch, frames, features = x.shape
    if features_first:
        frames, features = features, frames
    if features != weight.shape[0]:
        layout = "features x frames" if features_first else "frames x features"
        wanted = f"[batch x] {layout} with {weight.shape[0]} features, as in weight"
        raise Unfit("x", wanted, f"shape {tuple(x.shape)}")
    frames = _count(frames, weight.shape[2], integer("stride", stride), integer("padding", padding))
    return (*batch, features, frames) if features_first else (*batch, frames, features)


@function(x="[batch] rows columns", weight="features 1 kernel", bias="features")
def row_conv1d(
    x: Real,
    weight: Real,
    bias: Real | None = None,
    *,
    stride: int = 1,
    padding: int = 0,
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
    output = new(_row_frames(x, weight, stride, padding, features_first), x)
    thnn.TemporalRowConvolution_updateOutput(
        None, x, output, weight, bias, None, None, weight.shape[2], stride, padding, features_first
    )
    return output


@function(x="[batch] rows columns", weight="features 1 kernel")
def row_conv1d_backward(
    grad_output: Real,
    x: Real,
    weight: Real,
    *,
    stride: int = 1,
    padding: int = 0,
    features_first: bool = False,
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    shape = _row_frames(x, weight, stride, padding, features_first)
    check_shape("grad_output", grad_output, shape)
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape[0], weight)
    window = (weight.shape[2], stride, padding, features_first)
    thnn.TemporalRowConvolution_updateGradInput(
        None, x, grad_output, grad_x, weight, None, None, *window
    )
    thnn.TemporalRowConvolution_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, None, None, *window, 1.0
    )
    return grad_x, grad_weight, grad_bias

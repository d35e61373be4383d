"""Convolutions.

Sizes, strides and paddings are one int, or (height, width) and (depth, height, width).

Backward functions return the gradients of `x`, `weight` and, also where the layer had none, `bias`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .. import thnn
from ._arrays import OUT, Array, Real, Sum, as_array, call, calls, numbers, optional, real
from ._places import anywhere

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

Size: TypeAlias = int | Sequence[int]
Gradients: TypeAlias = tuple[Array, Array, Array]
_Function: TypeAlias = Callable[..., None]


def _plane(name: str, *values: Size) -> list[int]:
    """Pairs as C functions take them: width before height."""
    return [n for value in values for n in reversed(numbers(name, value, 2))]


def _space(name: str, *values: Size) -> list[int]:
    """Triples as C functions take them: depth, width, height."""
    found = []
    for value in values:
        depth, height, width = numbers(name, value, 3)
        found += [depth, width, height]
    return found


def _backward(
    grad_input: _Function,
    grad_parameters: _Function,
    x: Real,
    grad_output: Real,
    weight: Real,
    window: Sequence[int],
    scratch: tuple[int, int] = (2, 2),
    bias_shape: Sequence[int] | None = None,
    transposed: bool = False,
) -> Gradients:
    """Calls the two backward functions of a module, which take so many scratch tensors each."""
    x, grad_output, weight = real(x), real(grad_output), real(weight)
    if bias_shape is None:
        bias_shape = (weight.shape[1 if transposed else 0],)
    none = [None]
    grad_x = call(grad_input, x, grad_output, OUT, weight, *none * scratch[0], *window)
    grad_weight, grad_bias = calls(
        grad_parameters,
        x, grad_output, Sum(weight), Sum(weight, bias_shape), *none * scratch[1], *window, 1.0,
    )  # fmt: skip
    return grad_x, grad_weight, grad_bias


def _conv2d_window(weight: Array, stride: Size, padding: Size, dilation: Size) -> list[int]:
    kernel = weight.shape[-2:]
    return _plane("conv2d", kernel, stride, padding, dilation)


@anywhere
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
    weight = real(weight)
    window = _conv2d_window(weight, stride, padding, dilation)
    return call(
        thnn.SpatialDilatedConvolution_updateOutput,
        real(x), OUT, weight, optional(bias), None, None, *window,
    )  # fmt: skip


@anywhere
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
    weight = real(weight)
    return _backward(
        thnn.SpatialDilatedConvolution_updateGradInput,
        thnn.SpatialDilatedConvolution_accGradParameters,
        x, grad_output, weight, _conv2d_window(weight, stride, padding, dilation), (1, 2),
    )  # fmt: skip


@anywhere
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
    weight = real(weight)
    window = _conv2d_window(weight, stride, padding, dilation)
    return call(
        thnn.SpatialFullDilatedConvolution_updateOutput,
        real(x), OUT, weight, optional(bias), None, None,
        *window, *_plane("output_padding", output_padding),
    )  # fmt: skip


@anywhere
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
    weight = real(weight)
    window = _conv2d_window(weight, stride, padding, dilation)
    window += _plane("output_padding", output_padding)
    return _backward(
        thnn.SpatialFullDilatedConvolution_updateGradInput,
        thnn.SpatialFullDilatedConvolution_accGradParameters,
        x, grad_output, weight, window, (1, 2), transposed=True,
    )  # fmt: skip


@anywhere
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
    weight = real(weight)
    window = _plane("depthwise_conv2d", weight.shape[-2:], stride, padding)
    return call(
        thnn.SpatialDepthWiseConvolution_updateOutput,
        real(x), OUT, weight, optional(bias), None, None, *window,
    )  # fmt: skip


@anywhere
def depthwise_conv2d_backward(
    grad_output: Real, x: Real, weight: Real, *, stride: Size = 1, padding: Size = 0
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    weight = real(weight)
    return _backward(
        thnn.SpatialDepthWiseConvolution_updateGradInput,
        thnn.SpatialDepthWiseConvolution_accGradParameters,
        x, grad_output, weight, _plane("depthwise_conv2d", weight.shape[-2:], stride, padding),
        bias_shape=weight.shape[:2],
    )  # fmt: skip


def _local_window(x: Array, weight: Array, stride: Size, padding: Size) -> list[int]:
    sizes = [x.shape[-1], x.shape[-2], weight.shape[1], weight.shape[0]]
    return [*_plane("conv2d_local", weight.shape[-2:], stride, padding), *sizes]


@anywhere
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
    x, weight = real(x), real(weight)
    return call(
        thnn.SpatialConvolutionLocal_updateOutput,
        x, OUT, weight, real(bias), None, None, *_local_window(x, weight, stride, padding),
    )  # fmt: skip


@anywhere
def conv2d_local_backward(
    grad_output: Real, x: Real, weight: Real, *, stride: Size = 1, padding: Size = 0
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    x, weight = real(x), real(weight)
    height, width, planes = weight.shape[:3]
    return _backward(
        thnn.SpatialConvolutionLocal_updateGradInput,
        thnn.SpatialConvolutionLocal_accGradParameters,
        x, grad_output, weight, _local_window(x, weight, stride, padding),
        bias_shape=(planes, height, width),
    )  # fmt: skip


def _connections(table: Any, x: Array, bias: Array, stride: Size) -> tuple[Array, list[int]]:
    """The connection table as THNN takes it, and the arguments behind it."""
    table = as_array(table).astype(x.dtype) + 1
    return table, [x.shape[-3], bias.shape[0], *_plane("stride", stride)]


@anywhere
def conv2d_map(x: Real, weight: Real, bias: Real, table: Any, *, stride: Size = 1) -> Array:
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
    x, bias = real(x), real(bias)
    connections, rest = _connections(table, x, bias, stride)
    return call(
        thnn.SpatialConvolutionMap_updateOutput, x, OUT, real(weight), bias, connections, *rest
    )


@anywhere
def conv2d_map_backward(
    grad_output: Real, x: Real, weight: Real, bias: Real, table: Any, *, stride: Size = 1
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    return _map_backward(
        thnn.SpatialConvolutionMap_updateGradInput,
        thnn.SpatialConvolutionMap_accGradParameters,
        grad_output, x, weight, bias, table, stride,
    )  # fmt: skip


def _map_backward(
    grad_input: _Function,
    grad_parameters: _Function,
    grad_output: Real,
    x: Real,
    weight: Real,
    bias: Real,
    table: Any,
    stride: Size,
) -> Gradients:
    x, grad_output, weight, bias = real(x), real(grad_output), real(weight), real(bias)
    connections, rest = _connections(table, x, bias, stride)
    grad_x = call(grad_input, x, grad_output, OUT, weight, bias, connections, *rest)
    sums = calls(grad_parameters, x, grad_output, Sum(weight), Sum(bias), connections, *rest, 1.0)
    return grad_x, *sums


@anywhere
def conv_transpose2d_map(
    x: Real, weight: Real, bias: Real, table: Any, *, stride: Size = 1
) -> Array:
    """A transposed 2-D convolution between connected planes. THNN's SpatialFullConvolutionMap.

    Parameters as those of :func:`conv2d_map`, but without a batch.

    >>> conv_transpose2d_map(np.ones((1, 1, 1)), [[[3.0, 4.0]]], [1.0], [[0, 0]])
    array([[[4., 5.]]])
    """
    x, bias = real(x), real(bias)
    connections, rest = _connections(table, x, bias, stride)
    return call(
        thnn.SpatialFullConvolutionMap_updateOutput, x, OUT, real(weight), bias, connections, *rest
    )


@anywhere
def conv_transpose2d_map_backward(
    grad_output: Real, x: Real, weight: Real, bias: Real, table: Any, *, stride: Size = 1
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    return _map_backward(
        thnn.SpatialFullConvolutionMap_updateGradInput,
        thnn.SpatialFullConvolutionMap_accGradParameters,
        grad_output, x, weight, bias, table, stride,
    )  # fmt: skip


def _conv3d_window(weight: Array, stride: Size, padding: Size, dilation: Size) -> list[int]:
    return _space("conv3d", weight.shape[-3:], stride, padding, dilation)


@anywhere
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
    weight = real(weight)
    return call(
        thnn.VolumetricDilatedConvolution_updateOutput,
        real(x), OUT, weight, optional(bias), None, None,
        *_conv3d_window(weight, stride, padding, dilation),
    )  # fmt: skip


@anywhere
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
    weight = real(weight)
    return _backward(
        thnn.VolumetricDilatedConvolution_updateGradInput,
        thnn.VolumetricDilatedConvolution_accGradParameters,
        x, grad_output, weight, _conv3d_window(weight, stride, padding, dilation), (1, 2),
    )  # fmt: skip


def _transpose3d_window(
    stride: Size, padding: Size, output_padding: Size, dilation: Size
) -> list[int]:
    return _space("conv_transpose3d", stride, padding, dilation, output_padding)


@anywhere
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
    return call(
        thnn.VolumetricFullDilatedConvolution_updateOutput,
        real(x), OUT, real(weight), optional(bias), None, None,
        *_transpose3d_window(stride, padding, output_padding, dilation),
    )  # fmt: skip


@anywhere
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
    return _backward(
        thnn.VolumetricFullDilatedConvolution_updateGradInput,
        thnn.VolumetricFullDilatedConvolution_accGradParameters,
        x, grad_output, weight, _transpose3d_window(stride, padding, output_padding, dilation),
        transposed=True,
    )  # fmt: skip


@anywhere
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
    x, weight = real(x), real(weight)
    return call(
        thnn.TemporalConvolution_updateOutput,
        x, OUT, weight, real(bias), kernel, stride, x.shape[-1], weight.shape[0],
    )  # fmt: skip


@anywhere
def temporal_conv1d_backward(
    grad_output: Real, x: Real, weight: Real, kernel: int, *, stride: int = 1
) -> Gradients:
    """The gradients of `x`, `weight` and `bias`."""
    return _backward(
        thnn.TemporalConvolution_updateGradInput,
        thnn.TemporalConvolution_accGradParameters,
        x, grad_output, weight, [kernel, stride], (0, 0),
    )  # fmt: skip


@anywhere
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
    weight = real(weight)
    return call(
        thnn.TemporalRowConvolution_updateOutput,
        real(x), OUT, weight, optional(bias), None, None,
        weight.shape[-1], stride, padding, features_first,
    )  # fmt: skip


@anywhere
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
    weight = real(weight)
    return _backward(
        thnn.TemporalRowConvolution_updateGradInput,
        thnn.TemporalRowConvolution_accGradParameters,
        x, grad_output, weight, [weight.shape[-1], stride, padding, features_first],
    )  # fmt: skip

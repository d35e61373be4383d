"""Poolings over regions that follow from the size of the output, un-pooling, and sub-sampling.

Windows, strides and sizes are one int, or one for each dimension: (width,), (height, width) and
(depth, height, width).
"""

from __future__ import annotations

from .. import thnn
from ._arrays import (
    Array,
    Indices,
    Real,
    Size,
    Unfit,
    check_shape,
    from_one,
    like,
    new,
    new_indices,
    pair,
    triple,
    zeros,
)
from ._front import function
from ._pooled import (
    check_planes,
    check_samples,
    frames_window,
    plane_window,
    pooled2d,
    pooled_frames,
    space_of,
)

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool2d_backward",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_backward",
    "fractional_max_pool2d",
    "fractional_max_pool2d_backward",
    "fractional_max_pool3d",
    "fractional_max_pool3d_backward",
    "max_unpool2d",
    "max_unpool2d_backward",
    "max_unpool3d",
    "max_unpool3d_backward",
    "subsample1d",
    "subsample1d_backward",
    "subsample2d",
    "subsample2d_backward",
]


@function(per_sample=(0, (1, 1)), x="[batch] planes height width")
def adaptive_max_pool2d(x: Real, size: Size) -> tuple[Array, Array]:
    """The largest of each of `size` (height, width) regions. THNN's SpatialAdaptiveMaxPooling.

    Returns the output, [batch x] planes x height x width, and row and column of the maxima in their
    regions.

    >>> adaptive_max_pool2d([[[1.0, 2.0], [4.0, 3.0]]], 1)[0]
    array([[[4.]]])
    """
    height, width = pair("size", size)
    shape = (*x.shape[:-2], height, width)
    output, indices = new(shape, x), new_indices((2, *shape), x)
    thnn.SpatialAdaptiveMaxPooling_updateOutput(None, x, output, indices, width, height)
    return output, from_one(indices)


@function(x="[batch] planes height width")
def adaptive_max_pool2d_backward(grad_output: Real, x: Real, indices: Indices) -> Array:
    """The gradient of `x`."""
    check_planes(grad_output, x)
    check_shape("indices", indices, (2, *grad_output.shape))
    grad_x = like(x)
    thnn.SpatialAdaptiveMaxPooling_updateGradInput(None, x, grad_output, grad_x, indices + 1)
    return grad_x


@function(x="[batch] planes height width")
def fractional_max_pool2d(x: Real, size: Size, window: Size, samples: Real) -> tuple[Array, Array]:
    """The largest of windows at pseudo-random places. THNN's SpatialFractionalMaxPooling.

    Parameters
    ----------
    x : [batch x] planes x height x width
    size : of the output
        Together with `window` at most the sizes of `x`.
    samples : batch x planes x 2
        From 0 to 1: where the windows are, for columns and for rows (Graham, 2014).

    Returns the output, and the positions of the maxima in their planes.

    >>> fractional_max_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), 2, 2, [[[0.5, 0.5]]])[1]
    array([[[[ 5,  7],
             [13, 15]]]])
    """
    (height, width), (window_y, window_x) = pair("size", size), pair("window", window)
    check_samples(samples, x, 4, 2)
    shape = (*x.shape[:-2], height, width)
    output, indices = new(shape, x), new_indices(shape, x)
    thnn.SpatialFractionalMaxPooling_updateOutput(
        None, x, output, width, height, window_x, window_y, indices, samples
    )
    return output, from_one(indices)


@function(x="[batch] planes height width")
def fractional_max_pool2d_backward(
    grad_output: Real, x: Real, indices: Indices, size: Size, window: Size
) -> Array:
    """The gradient of `x`."""
    (height, width), (window_y, window_x) = pair("size", size), pair("window", window)
    shape = (*x.shape[:-2], height, width)
    check_shape("grad_output", grad_output, shape)
    check_shape("indices", indices, shape)
    grad_x = like(x)
    thnn.SpatialFractionalMaxPooling_updateGradInput(
        None, x, grad_output, grad_x, width, height, window_x, window_y, indices + 1
    )
    return grad_x


@function(x="[batch] planes height width time")
def fractional_max_pool3d(x: Real, size: Size, window: Size, samples: Real) -> tuple[Array, Array]:
    """The same in three dimensions. THNN's VolumetricFractionalMaxPooling.

    Parameters
    ----------
    x : [batch x] planes x height x width x time
    size, window : one int, or (time, height, width)
        Together at most the sizes of `x`.
    samples : batch x planes x 3
        From 0 to 1: for time, columns and rows.

    Returns the output, and the positions of the maxima in their planes.

    >>> x = np.arange(27.0).reshape(1, 1, 3, 3, 3)
    >>> fractional_max_pool3d(x, 1, 2, [[[1.0] * 3]])[0].shape
    (1, 1, 1, 1, 1)
    """
    (time, height, width), windows = triple("size", size), triple("window", window)
    check_samples(samples, x, 5, 3)
    shape = (*x.shape[:-3], height, width, time)
    output, indices = new(shape, x), new_indices(shape, x)
    thnn.VolumetricFractionalMaxPooling_updateOutput(
        None, x, output, time, width, height, windows[0], windows[2], windows[1], indices, samples
    )
    return output, from_one(indices)


@function(x="[batch] planes height width time")
def fractional_max_pool3d_backward(
    grad_output: Real, x: Real, indices: Indices, size: Size, window: Size
) -> Array:
    """The gradient of `x`."""
    (time, height, width), windows = triple("size", size), triple("window", window)
    shape = (*x.shape[:-3], height, width, time)
    check_shape("grad_output", grad_output, shape)
    check_shape("indices", indices, shape)
    grad_x = like(x)
    thnn.VolumetricFractionalMaxPooling_updateGradInput(
        None, x, grad_output, grad_x, time, width, height, windows[0], windows[2], windows[1],
        indices + 1,
    )  # fmt: skip
    return grad_x


@function(x="[batch] planes height width")
def max_unpool2d(x: Real, indices: Indices, size: Size) -> Array:
    """Puts maxima back where they were, 0 elsewhere. THNN's SpatialMaxUnpooling.

    Parameters
    ----------
    x : [batch x] planes x height x width
    indices : ints of the same shape, as :func:`max_pool2d` returns them
    size : of the output

    >>> max_unpool2d([[[4.0]]], [[[2]]], 2)
    array([[[0., 0.],
            [4., 0.]]])
    """
    height, width = pair("size", size)
    check_shape("indices", indices, x.shape)
    output = new((*x.shape[:-2], height, width), x)
    thnn.SpatialMaxUnpooling_updateOutput(None, x, output, indices + 1, width, height)
    return output


@function(x="[batch] planes height width")
def max_unpool2d_backward(grad_output: Real, x: Real, indices: Indices) -> Array:
    """The gradient of `x`."""
    check_planes(grad_output, x)
    check_shape("indices", indices, x.shape)
    height, width = grad_output.shape[-2:]
    grad_x = like(x)
    thnn.SpatialMaxUnpooling_updateGradInput(
        None, x, grad_output, grad_x, indices + 1, width, height
    )
    return grad_x


@function(index_base=0, x="[batch] planes depth height width")
def max_unpool3d(
    x: Real, indices: Indices, size: Size, stride: Size, *, padding: Size = 0
) -> Array:
    """Puts maxima back where they were, 0 elsewhere. THNN's VolumetricMaxUnpooling.

    Parameters
    ----------
    x : [batch x] planes x depth x height x width
    indices : as :func:`max_pool3d` returned them
    size : of the output
    stride, padding : as in the pooling

    >>> output, indices = max_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 2)
    >>> max_unpool3d(output, indices, 2, 2).ravel()
    array([0., 0., 0., 0., 0., 0., 0., 7.])
    """
    check_shape("indices", indices, x.shape)
    depth, height, width = triple("size", size)
    output = new((*x.shape[:-3], depth, height, width), x)
    thnn.VolumetricMaxUnpooling_updateOutput(
        None, x, output, indices, depth, width, height, *space_of(stride, padding)
    )
    return output


@function(index_base=0, x="[batch] planes depth height width")
def max_unpool3d_backward(
    grad_output: Real, x: Real, indices: Indices, stride: Size, *, padding: Size = 0
) -> Array:
    """The gradient of `x`."""
    check_shape("indices", indices, x.shape)
    if grad_output.shape[:-3] != x.shape[:-3]:
        raise Unfit("grad_output", f"{x.shape[:-3]} and sizes", f"shape {grad_output.shape}")
    depth, height, width = grad_output.shape[-3:]
    grad_x = like(x)
    thnn.VolumetricMaxUnpooling_updateGradInput(
        None, x, grad_output, grad_x, indices, depth, width, height, *space_of(stride, padding)
    )
    return grad_x


@function(x="[batch] planes height width")
def adaptive_avg_pool2d(x: Real, size: Size) -> Array:
    """The mean of each of `size` (height, width) regions. THNN's SpatialAdaptiveAveragePooling.

    >>> adaptive_avg_pool2d([[[1.0, 2.0], [4.0, 3.0]]], (2, 1))
    array([[[1.5],
            [3.5]]])
    """
    height, width = pair("size", size)
    output = new((*x.shape[:-2], height, width), x)
    thnn.SpatialAdaptiveAveragePooling_updateOutput(None, x, output, width, height)
    return output


@function(x="[batch] planes height width")
def adaptive_avg_pool2d_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    check_planes(grad_output, x)
    grad_x = like(x)
    thnn.SpatialAdaptiveAveragePooling_updateGradInput(None, x, grad_output, grad_x)
    return grad_x


@function(x="frames features", weight="features", bias="features")
def subsample1d(
    x: Real, weight: Real, bias: Real, window: Size, stride: Size | None = None
) -> Array:
    """The sum of each window of frames, times weight, plus bias. THNN's TemporalSubSampling.

    Parameters
    ----------
    x : frames x features
    weight, bias : (features,)

    >>> subsample1d([[1.0], [3.0]], [2.0], [1.0], 2)
    array([[9.]])
    """
    sizes = frames_window(window, stride)
    output = new(pooled_frames(x, *sizes), x)
    thnn.TemporalSubSampling_updateOutput(None, x, output, weight, bias, *sizes, x.shape[1])
    return output


@function(x="frames features", weight="features")
def subsample1d_backward(
    grad_output: Real, x: Real, weight: Real, window: Size, stride: Size | None = None
) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`."""
    sizes = frames_window(window, stride)
    check_shape("grad_output", grad_output, pooled_frames(x, *sizes))
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape, weight)
    thnn.TemporalSubSampling_updateGradInput(None, x, grad_output, grad_x, weight, *sizes)
    thnn.TemporalSubSampling_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, *sizes, 1.0
    )
    return grad_x, grad_weight, grad_bias


@function(x="[batch] planes height width", weight="planes", bias="planes")
def subsample2d(
    x: Real, weight: Real, bias: Real, window: Size, stride: Size | None = None
) -> Array:
    """The sum of each window, times weight, plus bias. THNN's SpatialSubSampling.

    Parameters
    ----------
    x : [batch x] planes x height x width
    weight, bias : (planes,)

    >>> subsample2d([[[1.0, 3.0]]], [2.0], [1.0], (1, 2))
    array([[[9.]]])
    """
    sizes = plane_window(window, stride)
    output = new(pooled2d(x, sizes), x)
    thnn.SpatialSubSampling_updateOutput(None, x, output, weight, bias, *sizes)
    return output


@function(x="[batch] planes height width", weight="planes")
def subsample2d_backward(
    grad_output: Real, x: Real, weight: Real, window: Size, stride: Size | None = None
) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`."""
    sizes = plane_window(window, stride)
    check_shape("grad_output", grad_output, pooled2d(x, sizes))
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape, weight)
    thnn.SpatialSubSampling_updateGradInput(None, x, grad_output, grad_x, weight, *sizes)
    width, height, step_x, step_y = sizes
    thnn.SpatialSubSampling_accGradParameters(
        None, x, grad_output, grad_weight, grad_bias, width, height, step_x, step_y, 1.0
    )
    return grad_x, grad_weight, grad_bias

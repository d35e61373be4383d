"""Pooling: the maximum, the mean or the sum of each window.

Windows, strides and paddings are one int, or one for each dimension: (width,), (height, width) and
(depth, height, width); a stride that is not given is the window. Padding is less than a window.

What a max pooling returns second says where the maxima were: positions in the plane, from 0, in two
dimensions; offsets in the window in one dimension, and packed into bytes in three. In one and two
dimensions -1 stands for a window that sees the padding alone. One dimension is pooled as planes of
a height of one are, with `ceil_mode` and without: sizes, results and gradients are the same.

`state` says how many threads compute it, and whether cuDNN does on a GPU (:class:`pythnn.State`).
cuDNN does not say where maxima were: for these it computes only where use_cudnn is True, and the
library's own kernels find the places.
"""

from __future__ import annotations

from typing import Any

from .. import thnn
from .._state import State
from ._arrays import (
    Array,
    Indices,
    Real,
    Size,
    check_shape,
    like,
    new,
    new_indices,
    on_host,
    pair,
    shaped,
    triple,
)
from ._choices import checked
from ._framed import as_offsets, as_positions, frame_sizes, of_frames, over_frames
from ._front import function
from ._pooled import axis_back, frames_axis, frames_second, pooled_frames
from ._pools import (
    Windows,
    grad_of_maxima,
    max_of,
    max_of_backward,
    maxima_of,
    mean_of,
    mean_of_backward,
)

__all__ = [
    "avg_pool1d",
    "avg_pool1d_backward",
    "avg_pool2d",
    "avg_pool2d_backward",
    "avg_pool3d",
    "avg_pool3d_backward",
    "max_pool1d",
    "max_pool1d_backward",
    "max_pool2d",
    "max_pool2d_backward",
    "max_pool3d",
    "max_pool3d_backward",
    "sum_pool1d",
    "sum_pool1d_backward",
    "sum_pool2d",
    "sum_pool2d_backward",
    "sum_pool3d",
    "sum_pool3d_backward",
]


def _over_planes(
    window: Any, stride: Any, padding: Any, dilation: Any = 1, *, ceil_mode: bool
) -> Windows:
    kernel = pair("window", window)
    step = kernel if stride is None else pair("stride", stride)
    return Windows(kernel, step, pair("padding", padding), pair("dilation", dilation), ceil_mode)


def _over_volumes(
    window: Any, stride: Any, padding: Any, dilation: Any = 1, *, ceil_mode: bool
) -> Windows:
    kernel = triple("window", window)
    step = kernel if stride is None else triple("stride", stride)
    sizes = triple("padding", padding), triple("dilation", dilation)
    return Windows(kernel, step, *sizes, ceil_mode)


# ---- One dimension


def _by_cudnn(x: Array, state: State | None) -> bool:
    """Whether cuDNN computes maxima, which it does on request only."""
    return not on_host(x) and state is not None and checked(state).use_cudnn is True


@function(x="[batch] frames features")
def max_pool1d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    axis: int = -2,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    state: State | None = None,
) -> tuple[Array, Array]:
    """The largest of each window of frames. THNN's TemporalMaxPooling.

    Parameters
    ----------
    x : [batch x] frames x features; with axis -1 [batch x] features x frames
    axis : -2 or -1
        The axis that is pooled, which may also be counted from the first one: by default the
        frames, which come first as in Lua Torch. PyTorch's max_pool1d pools the last axis: axis=-1.
    padding : less than a window
    ceil_mode : a last window that is cut off counts as well

    Returns the output and the indices.

    >>> max_pool1d([[1.0], [3.0], [2.0], [0.0]], 2)[0]
    array([[3.],
           [2.]])
    """
    axis = frames_axis(x, axis)
    sizes = frame_sizes(window, stride, padding, dilation)
    if sizes[2:] == (0, 1) and not ceil_mode and not _by_cudnn(x, state):
        frames = frames_second(x, axis)
        kernel, step = sizes[:2]
        shape = pooled_frames(frames, kernel, step)
        output, indices = new(shape, x), new_indices(shape, x)
        thnn.TemporalMaxPooling_updateOutput(state, frames, output, indices, kernel, step)
        return axis_back(output, axis), axis_back(indices, axis)
    planes, windows = over_frames(x, axis, sizes, ceil_mode)
    found = maxima_of(planes, windows, state)
    output = of_frames(found.output, windows, planes)
    return output, as_offsets(found, windows, planes, axis)


@function(index_base=0, x="[batch] frames features")
def max_pool1d_backward(
    grad_output: Real,
    x: Real,
    indices: Indices,
    window: Size,
    stride: Size | None = None,
    *,
    axis: int = -2,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `x`."""
    axis = frames_axis(x, axis)
    sizes = frame_sizes(window, stride, padding, dilation)
    if sizes[2:] == (0, 1) and not ceil_mode and not _by_cudnn(x, state):
        frames, grads, places = (frames_second(a, axis) for a in (x, grad_output, indices))
        kernel, step = sizes[:2]
        shape = pooled_frames(frames, kernel, step)
        for name, array in (("grad_output", grads), ("indices", places)):
            if array.shape != shape:
                check_shape(name, axis_back(array, axis), axis_back(new(shape, x), axis).shape)
        grad_x = like(frames)
        thnn.TemporalMaxPooling_updateGradInput(state, frames, grads, grad_x, places, kernel, step)
        return axis_back(grad_x, axis)
    planes, windows = over_frames(x, axis, sizes, ceil_mode)
    shape = windows.shape(planes)
    for name, array in (("grad_output", grad_output), ("indices", indices)):
        check_shape(name, array, (*shape[:-3], *shape[-2:]))
    positions = as_positions(indices, windows, planes, axis)[..., None, :, :]
    grads = grad_output[..., None, :, :]
    return shaped(grad_of_maxima(grads, planes, positions, windows, state), x.shape)


@function(x="[batch] planes height width")
def max_pool2d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    state: State | None = None,
) -> tuple[Array, Array]:
    """The largest of each window. THNN's SpatialMaxPooling and SpatialDilatedMaxPooling.

    Parameters
    ----------
    x : [batch x] planes x height x width
    padding : less than a window
    ceil_mode : a last window that is cut off counts as well

    Returns the output, and the positions of the maxima in their planes.

    >>> max_pool2d([[[1.0, 2.0], [4.0, 3.0]]], 2)
    (array([[[4.]]]), array([[[2]]]))
    """
    windows = _over_planes(window, stride, padding, dilation, ceil_mode=ceil_mode)
    return max_of(x, windows, state)


@function(x="[batch] planes height width")
def max_pool2d_backward(
    grad_output: Real,
    x: Real,
    indices: Indices,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `x`."""
    windows = _over_planes(window, stride, padding, dilation, ceil_mode=ceil_mode)
    found: Array = max_of_backward(grad_output, x, indices, windows, state)
    return found


@function(x="[batch] planes depth height width")
def max_pool3d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    state: State | None = None,
) -> tuple[Array, Array]:
    """The largest of each window. THNN's VolumetricMaxPooling and VolumetricDilatedMaxPooling.

    `x` is [batch x] planes x depth x height x width; windows have at most 256 in each direction.
    Returns the output and the indices.

    >>> max_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 2)[0]
    array([[[[7.]]]])
    """
    windows = _over_volumes(window, stride, padding, dilation, ceil_mode=ceil_mode)
    return max_of(x, windows, state)


@function(index_base=0, x="[batch] planes depth height width")
def max_pool3d_backward(
    grad_output: Real,
    x: Real,
    indices: Indices,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `x`."""
    windows = _over_volumes(window, stride, padding, dilation, ceil_mode=ceil_mode)
    found: Array = max_of_backward(grad_output, x, indices, windows, state)
    return found


@function(x="[batch] frames features")
def avg_pool1d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    axis: int = -2,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_padding: bool = True,
    state: State | None = None,
) -> Array:
    """The mean of each window of frames. THNN's SpatialAveragePooling.

    Parameters
    ----------
    x : [batch x] frames x features; with axis -1 [batch x] features x frames
    axis : -2 or -1
        The axis that is pooled, as in :func:`max_pool1d`.
    padding : zeros added on both sides, less than a window
    ceil_mode : a last window that is cut off counts as well
    count_padding : whether the zeros count as elements of the mean

    >>> avg_pool1d([[1.0], [3.0], [2.0], [0.0]], 2)
    array([[2.],
           [1.]])
    """
    axis = frames_axis(x, axis)
    sizes = frame_sizes(window, stride, padding)
    planes, windows = over_frames(x, axis, sizes, ceil_mode)
    return of_frames(mean_of(planes, windows, count_padding, state), windows, planes)


@function(x="[batch] frames features")
def avg_pool1d_backward(
    grad_output: Real,
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    axis: int = -2,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_padding: bool = True,
    state: State | None = None,
) -> Array:
    """The gradient of `x`."""
    axis = frames_axis(x, axis)
    sizes = frame_sizes(window, stride, padding)
    planes, windows = over_frames(x, axis, sizes, ceil_mode)
    shape = windows.shape(planes)
    check_shape("grad_output", grad_output, (*shape[:-3], *shape[-2:]))
    grads = grad_output[..., None, :, :]
    return shaped(mean_of_backward(grads, planes, windows, count_padding, state), x.shape)


@function(x="[batch] planes height width")
def avg_pool2d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_padding: bool = True,
    state: State | None = None,
) -> Array:
    """The mean of each window. THNN's SpatialAveragePooling.

    Parameters
    ----------
    x : [batch x] planes x height x width
    padding : zeros added on all sides, less than a window
    ceil_mode : a last window that is cut off counts as well
    count_padding : whether the zeros count as elements of the mean

    >>> avg_pool2d([[[1.0, 2.0], [4.0, 3.0]]], 2)
    array([[[2.5]]])
    """
    windows = _over_planes(window, stride, padding, ceil_mode=ceil_mode)
    output: Array = mean_of(x, windows, count_padding, state)
    return output


@function(x="[batch] planes height width")
def avg_pool2d_backward(
    grad_output: Real,
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_padding: bool = True,
    state: State | None = None,
) -> Array:
    """The gradient of `x`."""
    windows = _over_planes(window, stride, padding, ceil_mode=ceil_mode)
    grad_x: Array = mean_of_backward(grad_output, x, windows, count_padding, state)
    return grad_x


@function(x="[batch] planes depth height width")
def avg_pool3d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_padding: bool = True,
    state: State | None = None,
) -> Array:
    """The mean of each window. THNN's VolumetricAveragePooling.

    `x` is [batch x] planes x depth x height x width, all else as in :func:`avg_pool2d`.

    >>> avg_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 2)
    array([[[[3.5]]]])
    """
    windows = _over_volumes(window, stride, padding, ceil_mode=ceil_mode)
    output: Array = mean_of(x, windows, count_padding, state)
    return output


@function(x="[batch] planes depth height width")
def avg_pool3d_backward(
    grad_output: Real,
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_padding: bool = True,
    state: State | None = None,
) -> Array:
    """The gradient of `x`."""
    windows = _over_volumes(window, stride, padding, ceil_mode=ceil_mode)
    grad_x: Array = mean_of_backward(grad_output, x, windows, count_padding, state)
    return grad_x


@function(x="[batch] frames features")
def sum_pool1d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    axis: int = -2,
    padding: Size = 0,
    ceil_mode: bool = False,
    state: State | None = None,
) -> Array:
    """The sum of each window of frames.

    Parameters
    ----------
    x : [batch x] frames x features; with axis -1 [batch x] features x frames
    axis : -2 or -1
        The axis that is pooled, as in :func:`max_pool1d`.
    padding : zeros added on both sides, less than a window
    ceil_mode : a last window that is cut off counts as well

    >>> sum_pool1d([[1.0], [3.0], [2.0], [0.0]], 2)
    array([[4.],
           [2.]])
    """
    axis = frames_axis(x, axis)
    sizes = frame_sizes(window, stride, padding)
    planes, windows = over_frames(x, axis, sizes, ceil_mode)
    return of_frames(mean_of(planes, windows, None, state), windows, planes)


@function(x="[batch] frames features")
def sum_pool1d_backward(
    grad_output: Real,
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    axis: int = -2,
    padding: Size = 0,
    ceil_mode: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `x`."""
    axis = frames_axis(x, axis)
    sizes = frame_sizes(window, stride, padding)
    planes, windows = over_frames(x, axis, sizes, ceil_mode)
    shape = windows.shape(planes)
    check_shape("grad_output", grad_output, (*shape[:-3], *shape[-2:]))
    grads = grad_output[..., None, :, :]
    return shaped(mean_of_backward(grads, planes, windows, None, state), x.shape)


@function(x="[batch] planes height width")
def sum_pool2d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    state: State | None = None,
) -> Array:
    """The sum of each window.

    Parameters
    ----------
    x : [batch x] planes x height x width
    padding : zeros added on all sides, less than a window
    ceil_mode : a last window that is cut off counts as well

    >>> sum_pool2d([[[1.0, 2.0], [4.0, 3.0]]], 2)
    array([[[10.]]])
    """
    windows = _over_planes(window, stride, padding, ceil_mode=ceil_mode)
    output: Array = mean_of(x, windows, None, state)
    return output


@function(x="[batch] planes height width")
def sum_pool2d_backward(
    grad_output: Real,
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `x`."""
    windows = _over_planes(window, stride, padding, ceil_mode=ceil_mode)
    grad_x: Array = mean_of_backward(grad_output, x, windows, None, state)
    return grad_x


@function(x="[batch] planes depth height width")
def sum_pool3d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    state: State | None = None,
) -> Array:
    """The sum of each window.

    `x` is [batch x] planes x depth x height x width, all else as in :func:`sum_pool2d`.

    >>> sum_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 2)
    array([[[[28.]]]])
    """
    windows = _over_volumes(window, stride, padding, ceil_mode=ceil_mode)
    output: Array = mean_of(x, windows, None, state)
    return output


@function(x="[batch] planes depth height width")
def sum_pool3d_backward(
    grad_output: Real,
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    state: State | None = None,
) -> Array:
    """The gradient of `x`."""
    windows = _over_volumes(window, stride, padding, ceil_mode=ceil_mode)
    grad_x: Array = mean_of_backward(grad_output, x, windows, None, state)
    return grad_x

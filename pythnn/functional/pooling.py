"""Pooling and its inverse.

Windows, strides and paddings are one int, or (height, width) and (depth, height, width); a stride
that is not given is the window.

What a max pooling returns second says where the maxima were: positions in the plane, from 0, in two
dimensions; offsets in the window in one dimension, and packed into bytes in three.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from .. import thnn
from ._arrays import INDICES, OUT, Array, Real, Sum, call, calls, from_one, from_zero, numbers, real
from ._places import anywhere

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool2d_backward",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_backward",
    "avg_pool2d",
    "avg_pool2d_backward",
    "avg_pool3d",
    "avg_pool3d_backward",
    "fractional_max_pool2d",
    "fractional_max_pool2d_backward",
    "fractional_max_pool3d",
    "fractional_max_pool3d_backward",
    "max_pool1d",
    "max_pool1d_backward",
    "max_pool2d",
    "max_pool2d_backward",
    "max_pool3d",
    "max_pool3d_backward",
    "max_unpool2d",
    "max_unpool2d_backward",
    "max_unpool3d",
    "max_unpool3d_backward",
    "subsample1d",
    "subsample1d_backward",
    "subsample2d",
    "subsample2d_backward",
]

Size: TypeAlias = int | Sequence[int]


def _plane(window: Size, stride: Size | None, *rest: Size) -> list[int]:
    """Width before height, as C functions take them."""
    values = (window, window if stride is None else stride, *rest)
    return [n for value in values for n in reversed(numbers("pooling", value, 2))]


def _space(window: Size, stride: Size | None, *rest: Size) -> list[int]:
    """Depth, width, height, as C functions take them."""
    found = []
    for value in (window, window if stride is None else stride, *rest):
        depth, height, width = numbers("pooling", value, 3)
        found += [depth, width, height]
    return found


# --- Maxima ---------------------------------------------------------------------------------------


@anywhere
def max_pool1d(x: Real, window: int, stride: int | None = None) -> tuple[Array, Array]:
    """The largest of each window of frames. THNN's TemporalMaxPooling.

    `x` is [batch x] frames x features. Returns the output and the indices.

    >>> max_pool1d([[1.0], [3.0], [2.0], [0.0]], 2)[0]
    array([[3.],
           [2.]])
    """
    step = window if stride is None else stride
    found: tuple[Array, Array] = calls(
        thnn.TemporalMaxPooling_updateOutput, real(x), OUT, INDICES, window, step
    )
    return found


@anywhere
def max_pool1d_backward(
    grad_output: Real, x: Real, indices: Array, window: int, stride: int | None = None
) -> Array:
    """The gradient of `x`."""
    step = window if stride is None else stride
    return call(
        thnn.TemporalMaxPooling_updateGradInput,
        real(x), real(grad_output), OUT, indices, window, step,
    )  # fmt: skip


@anywhere
def max_pool2d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
) -> tuple[Array, Array]:
    """The largest of each window. THNN's SpatialMaxPooling and SpatialDilatedMaxPooling.

    Parameters
    ----------
    x : [batch x] planes x height x width
    padding : at most half a window
    ceil_mode : a last window that is cut off counts as well

    Returns the output, and the positions of the maxima in their planes.

    >>> max_pool2d([[[1.0, 2.0], [4.0, 3.0]]], 2)
    (array([[[4.]]]), array([[[2]]]))
    """
    output, indices = calls(
        thnn.SpatialDilatedMaxPooling_updateOutput,
        real(x), OUT, INDICES, *_plane(window, stride, padding, dilation), ceil_mode,
    )  # fmt: skip
    return output, from_one(indices)


@anywhere
def max_pool2d_backward(
    grad_output: Real,
    x: Real,
    indices: Array,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
) -> Array:
    """The gradient of `x`."""
    return call(
        thnn.SpatialDilatedMaxPooling_updateGradInput,
        real(x), real(grad_output), OUT, from_zero(indices),
        *_plane(window, stride, padding, dilation), ceil_mode,
    )  # fmt: skip


@anywhere
def max_pool3d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
) -> tuple[Array, Array]:
    """The largest of each window. THNN's VolumetricMaxPooling and VolumetricDilatedMaxPooling.

    `x` is [batch x] planes x depth x height x width; windows have at most 256 in each direction.
    Returns the output and the indices.

    >>> max_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 2)[0]
    array([[[[7.]]]])
    """
    found: tuple[Array, Array] = calls(
        thnn.VolumetricDilatedMaxPooling_updateOutput,
        real(x), OUT, INDICES, *_space(window, stride, padding, dilation), ceil_mode,
    )  # fmt: skip
    return found


@anywhere
def max_pool3d_backward(
    grad_output: Real,
    x: Real,
    indices: Array,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
) -> Array:
    """The gradient of `x`."""
    return call(
        thnn.VolumetricDilatedMaxPooling_updateGradInput,
        real(x), real(grad_output), OUT, indices,
        *_space(window, stride, padding, dilation), ceil_mode,
    )  # fmt: skip


@anywhere
def adaptive_max_pool2d(x: Real, size: Size) -> tuple[Array, Array]:
    """The largest of each of `size` (height, width) regions. THNN's SpatialAdaptiveMaxPooling.

    Returns the output, [batch x] planes x height x width, and row and column of the maxima in their
    regions.

    >>> adaptive_max_pool2d([[[1.0, 2.0], [4.0, 3.0]]], 1)[0]
    array([[[4.]]])
    """
    height, width = numbers("size", size, 2)
    output, indices = calls(
        thnn.SpatialAdaptiveMaxPooling_updateOutput, real(x), OUT, INDICES, width, height
    )
    return output, from_one(indices)


@anywhere
def adaptive_max_pool2d_backward(grad_output: Real, x: Real, indices: Array) -> Array:
    """The gradient of `x`."""
    return call(
        thnn.SpatialAdaptiveMaxPooling_updateGradInput,
        real(x), real(grad_output), OUT, from_zero(indices),
    )  # fmt: skip


@anywhere
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
    height, width = numbers("size", size, 2)
    output, indices = calls(
        thnn.SpatialFractionalMaxPooling_updateOutput,
        real(x), OUT, width, height, *_plane(window, 1)[:2], INDICES, real(samples),
    )  # fmt: skip
    return output, from_one(indices)


@anywhere
def fractional_max_pool2d_backward(
    grad_output: Real, x: Real, indices: Array, size: Size, window: Size
) -> Array:
    """The gradient of `x`."""
    height, width = numbers("size", size, 2)
    return call(
        thnn.SpatialFractionalMaxPooling_updateGradInput,
        real(x), real(grad_output), OUT, width, height, *_plane(window, 1)[:2], from_zero(indices),
    )  # fmt: skip


@anywhere
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
    output, indices = calls(
        thnn.VolumetricFractionalMaxPooling_updateOutput,
        real(x), OUT, *_space(size, window), INDICES, real(samples),
    )  # fmt: skip
    return output, from_one(indices)


@anywhere
def fractional_max_pool3d_backward(
    grad_output: Real, x: Real, indices: Array, size: Size, window: Size
) -> Array:
    """The gradient of `x`."""
    return call(
        thnn.VolumetricFractionalMaxPooling_updateGradInput,
        real(x), real(grad_output), OUT, *_space(size, window), from_zero(indices),
    )  # fmt: skip


@anywhere
def max_unpool2d(x: Real, indices: Array, size: Size) -> Array:
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
    height, width = numbers("size", size, 2)
    return call(
        thnn.SpatialMaxUnpooling_updateOutput, real(x), OUT, from_zero(indices), width, height
    )


@anywhere
def max_unpool2d_backward(grad_output: Real, x: Real, indices: Array) -> Array:
    """The gradient of `x`."""
    grad_output = real(grad_output)
    height, width = grad_output.shape[-2:]
    return call(
        thnn.SpatialMaxUnpooling_updateGradInput,
        real(x), grad_output, OUT, from_zero(indices), width, height,
    )  # fmt: skip


@anywhere
def max_unpool3d(x: Real, indices: Array, size: Size, stride: Size, *, padding: Size = 0) -> Array:
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
    return call(
        thnn.VolumetricMaxUnpooling_updateOutput,
        real(x), OUT, indices, *_space(size, stride, padding),
    )  # fmt: skip


@anywhere
def max_unpool3d_backward(
    grad_output: Real, x: Real, indices: Array, stride: Size, *, padding: Size = 0
) -> Array:
    """The gradient of `x`."""
    grad_output = real(grad_output)
    return call(
        thnn.VolumetricMaxUnpooling_updateGradInput,
        real(x), grad_output, OUT, indices, *_space(grad_output.shape[-3:], stride, padding),
    )  # fmt: skip


# --- Means and sums -------------------------------------------------------------------------------


@anywhere
def avg_pool2d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_padding: bool = True,
) -> Array:
    """The mean of each window. THNN's SpatialAveragePooling.

    Parameters
    ----------
    x : [batch x] planes x height x width
    padding : zeros added on all sides, at most half a window
    count_padding : they count in the number that is divided by

    >>> avg_pool2d([[[1.0, 2.0], [4.0, 3.0]]], 2)
    array([[[2.5]]])
    """
    return call(
        thnn.SpatialAveragePooling_updateOutput,
        real(x), OUT, *_plane(window, stride, padding), ceil_mode, count_padding,
    )  # fmt: skip


@anywhere
def avg_pool2d_backward(
    grad_output: Real,
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_padding: bool = True,
) -> Array:
    """The gradient of `x`."""
    return call(
        thnn.SpatialAveragePooling_updateGradInput,
        real(x), real(grad_output), OUT,
        *_plane(window, stride, padding), ceil_mode, count_padding,
    )  # fmt: skip


@anywhere
def avg_pool3d(
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_padding: bool = True,
) -> Array:
    """The mean of each window. THNN's VolumetricAveragePooling.

    `x` is [batch x] planes x depth x height x width, all else as in :func:`avg_pool2d`.

    >>> avg_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 2)
    array([[[[3.5]]]])
    """
    return call(
        thnn.VolumetricAveragePooling_updateOutput,
        real(x), OUT, *_space(window, stride, padding), ceil_mode, count_padding,
    )  # fmt: skip


@anywhere
def avg_pool3d_backward(
    grad_output: Real,
    x: Real,
    window: Size,
    stride: Size | None = None,
    *,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_padding: bool = True,
) -> Array:
    """The gradient of `x`."""
    return call(
        thnn.VolumetricAveragePooling_updateGradInput,
        real(x), real(grad_output), OUT,
        *_space(window, stride, padding), ceil_mode, count_padding,
    )  # fmt: skip


@anywhere
def adaptive_avg_pool2d(x: Real, size: Size) -> Array:
    """The mean of each of `size` (height, width) regions. THNN's SpatialAdaptiveAveragePooling.

    >>> adaptive_avg_pool2d([[[1.0, 2.0], [4.0, 3.0]]], (2, 1))
    array([[[1.5],
            [3.5]]])
    """
    height, width = numbers("size", size, 2)
    return call(thnn.SpatialAdaptiveAveragePooling_updateOutput, real(x), OUT, width, height)


@anywhere
def adaptive_avg_pool2d_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    return call(thnn.SpatialAdaptiveAveragePooling_updateGradInput, real(x), real(grad_output), OUT)


@anywhere
def subsample1d(x: Real, weight: Real, bias: Real, window: int, stride: int | None = None) -> Array:
    """The sum of each window of frames, times weight, plus bias. THNN's TemporalSubSampling.

    Parameters
    ----------
    x : frames x features
    weight, bias : (features,)

    >>> subsample1d([[1.0], [3.0]], [2.0], [1.0], 2)
    array([[9.]])
    """
    x = real(x)
    step = window if stride is None else stride
    return call(
        thnn.TemporalSubSampling_updateOutput,
        x, OUT, real(weight), real(bias), window, step, x.shape[-1],
    )  # fmt: skip


@anywhere
def subsample1d_backward(
    grad_output: Real, x: Real, weight: Real, window: int, stride: int | None = None
) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`."""
    sizes = [window, window if stride is None else stride]
    return _subsample_backward(
        thnn.TemporalSubSampling_updateGradInput,
        thnn.TemporalSubSampling_accGradParameters,
        grad_output, x, weight, sizes,
    )  # fmt: skip


@anywhere
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
    return call(
        thnn.SpatialSubSampling_updateOutput,
        real(x), OUT, real(weight), real(bias), *_plane(window, stride),
    )  # fmt: skip


@anywhere
def subsample2d_backward(
    grad_output: Real, x: Real, weight: Real, window: Size, stride: Size | None = None
) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`."""
    return _subsample_backward(
        thnn.SpatialSubSampling_updateGradInput,
        thnn.SpatialSubSampling_accGradParameters,
        grad_output, x, weight, _plane(window, stride),
    )  # fmt: skip


def _subsample_backward(
    grad_input: Any,
    grad_parameters: Any,
    grad_output: Real,
    x: Real,
    weight: Real,
    sizes: Sequence[int],
) -> tuple[Array, Array, Array]:
    x, grad_output, weight = real(x), real(grad_output), real(weight)
    grad_x = call(grad_input, x, grad_output, OUT, weight, *sizes)
    sums = calls(grad_parameters, x, grad_output, Sum(weight), Sum(weight), *sizes, 1.0)
    return grad_x, *sums

"""Up-sampling, other sizes, and sampling at given places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import thnn
from ._arrays import (
    Array,
    Real,
    Size,
    Unfit,
    check_shape,
    integer,
    is_list,
    like,
    new,
    number,
    pair,
    triple,
)
from ._front import function
from ._interpolation import (
    aligned,
    on_corners,
    resized,
    resized_backward,
    sample_backward,
)

__all__ = [
    "grid_sample2d",
    "grid_sample2d_backward",
    "interpolate",
    "interpolate_backward",
    "upsample_bilinear2d",
    "upsample_bilinear2d_backward",
    "upsample_nearest2d",
    "upsample_nearest2d_backward",
    "upsample_nearest3d",
    "upsample_nearest3d_backward",
    "upsample_trilinear3d",
    "upsample_trilinear3d_backward",
]


def _times(shape: Sequence[int], factor: Any) -> list[int]:
    times = integer("factor", factor)
    return [n * times for n in shape]


def _shape(shape: Any, grad_output: Array) -> tuple[int, ...]:
    """The shape of `x` that a gradient is asked for."""
    wanted = f"{grad_output.ndim} sizes, the first two {grad_output.shape[:2]}"
    if not is_list(shape):
        raise Unfit("shape", wanted, repr(shape))
    sizes = tuple(integer("shape", size) for size in shape)
    if len(sizes) != grad_output.ndim or sizes[:2] != grad_output.shape[:2]:
        raise Unfit("shape", wanted, f"{sizes}")
    return sizes


@function(x="[batch] planes height width")
def upsample_nearest2d(x: Real, factor: int) -> Array:
    """Each element as a square of `factor` x `factor`. THNN's SpatialUpSamplingNearest.

    `x` is [batch x] planes x height x width.

    >>> upsample_nearest2d([[[1.0]]], 2)
    array([[[1., 1.],
            [1., 1.]]])
    """
    output = new((*x.shape[:-2], *_times(x.shape[-2:], factor)), x)
    thnn.SpatialUpSamplingNearest_updateOutput(None, x, output, factor)
    return output


@function(x="[batch] planes height width")
def upsample_nearest2d_backward(grad_output: Real, x: Real, factor: int) -> Array:
    """The gradient of `x`, of which only the shape matters."""
    check_shape("grad_output", grad_output, (*x.shape[:-2], *_times(x.shape[-2:], factor)))
    grad_x = like(x)
    thnn.SpatialUpSamplingNearest_updateGradInput(None, x, grad_output, grad_x, factor)
    return grad_x


@function(x="[batch] planes depth height width")
def upsample_nearest3d(x: Real, factor: int) -> Array:
    """Each element as a cube. THNN's VolumetricUpSamplingNearest.

    `x` is [batch x] planes x depth x height x width.

    >>> upsample_nearest3d([[[[1.0]]]], 2).shape
    (1, 2, 2, 2)
    """
    output = new((*x.shape[:-3], *_times(x.shape[-3:], factor)), x)
    thnn.VolumetricUpSamplingNearest_updateOutput(None, x, output, factor)
    return output


@function(x="[batch] planes depth height width")
def upsample_nearest3d_backward(grad_output: Real, x: Real, factor: int) -> Array:
    """The gradient of `x`, of which only the shape matters."""
    check_shape("grad_output", grad_output, (*x.shape[:-3], *_times(x.shape[-3:], factor)))
    grad_x = like(x)
    thnn.VolumetricUpSamplingNearest_updateGradInput(None, x, grad_output, grad_x, factor)
    return grad_x


@function(x="batch planes height width")
def upsample_bilinear2d(x: Real, size: Size, *, align_corners: bool = True) -> Array:
    """Bilinear interpolation. THNN's SpatialUpSamplingBilinear.

    Parameters
    ----------
    x : batch x planes x height x width
    size : (height, width) of the output, or one for both
    align_corners : bool
        Whether the centres of the corner elements of `x` and of the output coincide, as in
        THNN; else their outer edges do. PyTorch's default is False.

    >>> upsample_bilinear2d([[[[0.0, 2.0]]]], (1, 3))
    array([[[[0., 1., 2.]]]])
    >>> upsample_bilinear2d([[[[0.0, 2.0]]]], (1, 4), align_corners=False)
    array([[[[0. , 0.5, 1.5, 2. ]]]])
    """
    height, width = pair("size", size)
    if not aligned(align_corners):
        return resized(x, (height, width))
    output = new((*x.shape[:2], height, width), x)
    thnn.SpatialUpSamplingBilinear_updateOutput(None, x, output, height, width)
    return output


@function(grad_output="batch planes height width")
def upsample_bilinear2d_backward(
    grad_output: Real, shape: Sequence[int], *, align_corners: bool = True
) -> Array:
    """The gradient of an `x` of this shape."""
    sizes = _shape(shape, grad_output)
    if not aligned(align_corners):
        return resized_backward(grad_output, sizes[2:])
    grad_x = new(sizes, grad_output)
    thnn.SpatialUpSamplingBilinear_updateGradInput(
        None, grad_output, grad_x, *sizes, *grad_output.shape[2:]
    )
    return grad_x


@function(x="batch planes depth height width")
def upsample_trilinear3d(x: Real, size: Size, *, align_corners: bool = True) -> Array:
    """Trilinear interpolation. THNN's VolumetricUpSamplingTrilinear.

    Parameters
    ----------
    x : batch x planes x depth x height x width
    size : (depth, height, width) of the output, or one for all
    align_corners : bool
        Whether the centres of the corner elements of `x` and of the output coincide, as in
        THNN; else their outer edges do. PyTorch's default is False.

    >>> upsample_trilinear3d([[[[[0.0, 2.0]]]]], (1, 1, 3))
    array([[[[[0., 1., 2.]]]]])
    """
    depth, height, width = triple("size", size)
    if not aligned(align_corners):
        return resized(x, (depth, height, width))
    output = new((*x.shape[:2], depth, height, width), x)
    thnn.VolumetricUpSamplingTrilinear_updateOutput(None, x, output, depth, height, width)
    return output


@function(grad_output="batch planes depth height width")
def upsample_trilinear3d_backward(
    grad_output: Real, shape: Sequence[int], *, align_corners: bool = True
) -> Array:
    """The gradient of an `x` of this shape."""
    sizes = _shape(shape, grad_output)
    if not aligned(align_corners):
        return resized_backward(grad_output, sizes[2:])
    grad_x = new(sizes, grad_output)
    thnn.VolumetricUpSamplingTrilinear_updateGradInput(
        None, grad_output, grad_x, *sizes, *grad_output.shape[2:]
    )
    return grad_x


@function(x="batch planes height width", grid="batch height_out width_out 2")
def grid_sample2d(x: Real, grid: Real, *, align_corners: bool = True) -> Array:
    """Bilinear samples at given places. THNN's SpatialGridSamplerBilinear.

    Parameters
    ----------
    x : batch x planes x height x width
    grid : batch x height out x width out x 2
        x and y of each sample, from -1 to 1; beyond are zeros.
    align_corners : bool
        Whether -1 and 1 are the centres of the corner elements, as in THNN; else they are their
        outer edges. PyTorch's default is False.

    >>> grid_sample2d([[[[0.0, 2.0]]]], [[[[0.0, 0.0]]]])
    array([[[[1.]]]])
    """
    if not aligned(align_corners):
        x, grid = on_corners(x, grid)
    output = new((*x.shape[:2], *grid.shape[1:3]), x)
    thnn.SpatialGridSamplerBilinear_updateOutput(None, x, grid, output)
    return output


@function(per_sample=(0, 1), x="batch planes height width", grid="batch height_out width_out 2")
def grid_sample2d_backward(
    grad_output: Real, x: Real, grid: Real, *, align_corners: bool = True
) -> tuple[Array, Array]:
    """The gradients of `x` and `grid`."""
    check_shape("grad_output", grad_output, (*x.shape[:2], *grid.shape[1:3]))
    if not aligned(align_corners):
        return sample_backward(grad_output, x, grid)
    grad_x, grad_grid = like(x), like(grid)
    thnn.SpatialGridSamplerBilinear_updateGradInput(None, x, grad_x, grid, grad_grid, grad_output)
    return grad_x, grad_grid


def _new_sizes(
    before: Sequence[int], size: Any, scale: Any
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """The sizes that an array gets, and by how much it is stretched where that is given."""
    count = len(before)
    if (size is None) == (scale is None):
        found = "both" if size is not None else "neither of them"
        raise Unfit("size", "either a size or a scale", found)
    if size is not None:
        sizes = tuple(size) if is_list(size) else (size,) * count
        if len(sizes) != count:
            raise Unfit("size", f"an int or {count} ints", repr(size))
        sizes = tuple(integer("size", n) for n in sizes)
        scales: tuple[Any, ...] = (None,) * count
    else:
        given = tuple(scale) if is_list(scale) else (scale,) * count
        wanted = f"a positive number or {count} of them"
        if len(given) != count:
            raise Unfit("scale", wanted, repr(scale))
        scales = tuple(number("scale", wanted, one, scale) for one in given)
        if not all(0 < one < 2**31 for one in scales):
            raise Unfit("scale", wanted, repr(scale))
        sizes = tuple(math.floor(n * one) for n, one in zip(before, scales, strict=True))
    if min(sizes) < 1:
        raise Unfit("size" if size is not None else "scale", "sizes from 1 on", f"{sizes}")
    return sizes, scales


def _spatial(shape: Sequence[int], mode: Any) -> Sequence[int]:
    if not 3 <= len(shape) <= 5:
        wanted = "batch x planes x one to three sizes"
        raise Unfit("x", wanted, f"shape {tuple(shape)}")
    if mode not in ("nearest", "linear", "cubic"):
        raise Unfit("mode", "'nearest', 'linear' or 'cubic'", repr(mode))
    if min(shape[2:]) < 1:
        raise Unfit("x", "sizes from 1 on", f"shape {tuple(shape)}")
    return shape[2:]


@function(takes_empty=True)
def interpolate(
    x: Real,
    size: Size | None = None,
    *,
    scale: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
) -> Array:
    """An image, a sequence or a volume in another size, or stretched by a factor.

    Interpolation.

    Parameters
    ----------
    x : batch x planes x one to three sizes
    size : of the output, an int for all axes or one for each
    scale : in place of `size`, a number for all axes or one for each
        The output has floor(size of x times scale) elements along an axis. Each is where the
        scale puts it, also if these reach less far than `x` does.
    mode : "nearest", "linear" or "cubic"
        Cubic convolution has the parameter -3/4; beyond the edges the outermost elements go on.
    align_corners : bool
        Whether the centres of the corner elements of `x` and of the output coincide; else
        their outer edges do. Without meaning for "nearest".

    >>> interpolate([[[0.0, 2.0]]], 3, mode="linear", align_corners=True)
    array([[[0., 1., 2.]]])
    >>> interpolate([[[1.0, 2.0]]], scale=1.5)
    array([[[1., 1., 2.]]])
    """
    before = _spatial(x.shape, mode)
    sizes, scales = _new_sizes(before, size, scale)
    return resized(x, sizes, scales, mode, align_corners)


@function(takes_empty=True)
def interpolate_backward(
    grad_output: Real,
    shape: Sequence[int],
    size: Size | None = None,
    *,
    scale: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
) -> Array:
    """The gradient of an `x` of this shape."""
    sizes = _shape(shape, grad_output)
    after, scales = _new_sizes(_spatial(sizes, mode), size, scale)
    check_shape("grad_output", grad_output, (*sizes[:2], *after))
    return resized_backward(grad_output, sizes[2:], scales, mode, align_corners)

"""Up-sampling, sampling at given places, and padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from .. import thnn
from ._arrays import Array, Real, Size, Unfit, check_shape, integer, like, new, pair, triple
from ._front import function
from ._interpolation import aligned, interpolate, interpolate_backward, on_corners, sample_backward

__all__ = [
    "grid_sample2d",
    "grid_sample2d_backward",
    "reflection_pad2d",
    "reflection_pad2d_backward",
    "replication_pad2d",
    "replication_pad2d_backward",
    "replication_pad3d",
    "replication_pad3d_backward",
    "upsample_bilinear2d",
    "upsample_bilinear2d_backward",
    "upsample_nearest2d",
    "upsample_nearest2d_backward",
    "upsample_nearest3d",
    "upsample_nearest3d_backward",
    "upsample_trilinear3d",
    "upsample_trilinear3d_backward",
]

Padding: TypeAlias = Sequence[tuple[int, int]]


def _times(shape: Sequence[int], factor: Any) -> list[int]:
    times = integer("factor", factor)
    return [n * times for n in shape]


def _shape(shape: Any, grad_output: Array) -> tuple[int, ...]:
    """The shape of `x` that a gradient is asked for."""
    wanted = f"{grad_output.ndim} sizes, the first two {grad_output.shape[:2]}"
    if not isinstance(shape, Sequence) or isinstance(shape, str):
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
        Whether the centres of the corner elements of `x` and of the output lie on each other, as in
        THNN; else their outer edges do. PyTorch's default is False.

    >>> upsample_bilinear2d([[[[0.0, 2.0]]]], (1, 3))
    array([[[[0., 1., 2.]]]])
    >>> upsample_bilinear2d([[[[0.0, 2.0]]]], (1, 4), align_corners=False)
    array([[[[0. , 0.5, 1.5, 2. ]]]])
    """
    height, width = pair("size", size)
    if not aligned(align_corners):
        return interpolate(x, (height, width))
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
        return interpolate_backward(grad_output, sizes[2:])
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
        Whether the centres of the corner elements of `x` and of the output lie on each other, as in
        THNN; else their outer edges do. PyTorch's default is False.

    >>> upsample_trilinear3d([[[[[0.0, 2.0]]]]], (1, 1, 3))
    array([[[[[0., 1., 2.]]]]])
    """
    depth, height, width = triple("size", size)
    if not aligned(align_corners):
        return interpolate(x, (depth, height, width))
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
        return interpolate_backward(grad_output, sizes[2:])
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


def _sides(padding: Any, dimensions: int) -> list[int]:
    """Left, right, top, bottom, front, back."""
    if not isinstance(padding, Sequence) or isinstance(padding, str):
        return [integer("padding", padding)] * (2 * dimensions)
    pairs = [entry for entry in padding if isinstance(entry, Sequence) and len(entry) == 2]
    if len(padding) != dimensions or len(pairs) != dimensions:
        raise Unfit("padding", f"an int or {dimensions} pairs", repr(padding))
    return [integer("padding", side) for entry in reversed(pairs) for side in entry]


def _padded(shape: Sequence[int], sides: Sequence[int]) -> tuple[int, ...]:
    """A shape with as much more on both sides of its last dimensions."""
    added = [first + last for first, last in zip(sides[::2], sides[1::2], strict=True)]
    count = len(added)
    inner = [n + more for n, more in zip(shape[-count:], reversed(added), strict=True)]
    return (*shape[:-count], *inner)


@function(x="[batch] planes height width")
def reflection_pad2d(x: Real, padding: int | Padding) -> Array:
    """Borders that mirror what lies inside. THNN's SpatialReflectionPadding.

    Parameters
    ----------
    x : [batch x] planes x height x width
    padding : int, or ((top, bottom), (left, right)) as numpy.pad takes it
        Negative ones crop.

    >>> reflection_pad2d([[[1.0, 2.0, 3.0]]], ((0, 0), (1, 1)))
    array([[[2., 1., 2., 3., 2.]]])
    """
    sides = _sides(padding, 2)
    output = new(_padded(x.shape, sides), x)
    thnn.SpatialReflectionPadding_updateOutput(None, x, output, *sides)
    return output


@function(x="[batch] planes height width")
def reflection_pad2d_backward(grad_output: Real, x: Real, padding: int | Padding) -> Array:
    """The gradient of `x`."""
    sides = _sides(padding, 2)
    check_shape("grad_output", grad_output, _padded(x.shape, sides))
    grad_x = like(x)
    thnn.SpatialReflectionPadding_updateGradInput(None, x, grad_output, grad_x, *sides)
    return grad_x


@function(x="[batch] planes height width")
def replication_pad2d(x: Real, padding: int | Padding) -> Array:
    """Borders that repeat the outermost elements. THNN's SpatialReplicationPadding.

    Parameters as those of :func:`reflection_pad2d`.

    >>> replication_pad2d([[[1.0, 2.0, 3.0]]], ((0, 0), (1, 1)))
    array([[[1., 1., 2., 3., 3.]]])
    """
    sides = _sides(padding, 2)
    output = new(_padded(x.shape, sides), x)
    thnn.SpatialReplicationPadding_updateOutput(None, x, output, *sides)
    return output


@function(x="[batch] planes height width")
def replication_pad2d_backward(grad_output: Real, x: Real, padding: int | Padding) -> Array:
    """The gradient of `x`."""
    sides = _sides(padding, 2)
    check_shape("grad_output", grad_output, _padded(x.shape, sides))
    grad_x = like(x)
    thnn.SpatialReplicationPadding_updateGradInput(None, x, grad_output, grad_x, *sides)
    return grad_x


@function(x="[batch] planes depth height width")
def replication_pad3d(x: Real, padding: int | Padding) -> Array:
    """Borders that repeat the outermost elements. THNN's VolumetricReplicationPadding.

    Parameters
    ----------
    x : [batch x] planes x depth x height x width
    padding : int, or ((front, back), (top, bottom), (left, right))

    >>> replication_pad3d([[[[1.0, 2.0]]]], ((0, 0), (0, 0), (1, 0)))
    array([[[[1., 1., 2.]]]])
    """
    sides = _sides(padding, 3)
    output = new(_padded(x.shape, sides), x)
    thnn.VolumetricReplicationPadding_updateOutput(None, x, output, *sides)
    return output


@function(x="[batch] planes depth height width")
def replication_pad3d_backward(grad_output: Real, x: Real, padding: int | Padding) -> Array:
    """The gradient of `x`."""
    sides = _sides(padding, 3)
    check_shape("grad_output", grad_output, _padded(x.shape, sides))
    grad_x = like(x)
    thnn.VolumetricReplicationPadding_updateGradInput(None, x, grad_output, grad_x, *sides)
    return grad_x

"""Up-sampling, sampling at given places, and padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .. import thnn
from ._arrays import OUT, Array, Real, call, calls, numbers, real
from ._places import anywhere

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

Size: TypeAlias = int | Sequence[int]
Padding: TypeAlias = Sequence[tuple[int, int]]


@anywhere
def upsample_nearest2d(x: Real, factor: int) -> Array:
    """Each element as a square of `factor` x `factor`. THNN's SpatialUpSamplingNearest.

    `x` is [batch x] planes x height x width.

    >>> upsample_nearest2d([[[1.0]]], 2)
    array([[[1., 1.],
            [1., 1.]]])
    """
    return call(thnn.SpatialUpSamplingNearest_updateOutput, real(x), OUT, factor)


@anywhere
def upsample_nearest2d_backward(grad_output: Real, x: Real, factor: int) -> Array:
    """The gradient of `x`, of which only the shape matters."""
    return call(
        thnn.SpatialUpSamplingNearest_updateGradInput, real(x), real(grad_output), OUT, factor
    )


@anywhere
def upsample_nearest3d(x: Real, factor: int) -> Array:
    """Each element as a cube. THNN's VolumetricUpSamplingNearest.

    `x` is [batch x] planes x depth x height x width.

    >>> upsample_nearest3d([[[[1.0]]]], 2).shape
    (1, 2, 2, 2)
    """
    return call(thnn.VolumetricUpSamplingNearest_updateOutput, real(x), OUT, factor)


@anywhere
def upsample_nearest3d_backward(grad_output: Real, x: Real, factor: int) -> Array:
    """The gradient of `x`, of which only the shape matters."""
    return call(
        thnn.VolumetricUpSamplingNearest_updateGradInput, real(x), real(grad_output), OUT, factor
    )


@anywhere
def upsample_bilinear2d(x: Real, size: Size) -> Array:
    """Bilinear interpolation with corners on corners. THNN's SpatialUpSamplingBilinear.

    Parameters
    ----------
    x : batch x planes x height x width
    size : (height, width) of the output, or one for both

    >>> upsample_bilinear2d([[[[0.0, 2.0]]]], (1, 3))
    array([[[[0., 1., 2.]]]])
    """
    return call(
        thnn.SpatialUpSamplingBilinear_updateOutput, real(x), OUT, *numbers("size", size, 2)
    )


@anywhere
def upsample_bilinear2d_backward(grad_output: Real, shape: Sequence[int]) -> Array:
    """The gradient of an `x` of this shape."""
    grad_output = real(grad_output)
    return call(
        thnn.SpatialUpSamplingBilinear_updateGradInput,
        grad_output, OUT, *shape, *grad_output.shape[2:],
    )  # fmt: skip


@anywhere
def upsample_trilinear3d(x: Real, size: Size) -> Array:
    """Trilinear interpolation with corners on corners. THNN's VolumetricUpSamplingTrilinear.

    Parameters
    ----------
    x : batch x planes x depth x height x width
    size : (depth, height, width) of the output, or one for all

    >>> upsample_trilinear3d([[[[[0.0, 2.0]]]]], (1, 1, 3))
    array([[[[[0., 1., 2.]]]]])
    """
    return call(
        thnn.VolumetricUpSamplingTrilinear_updateOutput, real(x), OUT, *numbers("size", size, 3)
    )


@anywhere
def upsample_trilinear3d_backward(grad_output: Real, shape: Sequence[int]) -> Array:
    """The gradient of an `x` of this shape."""
    grad_output = real(grad_output)
    return call(
        thnn.VolumetricUpSamplingTrilinear_updateGradInput,
        grad_output, OUT, *shape, *grad_output.shape[2:],
    )  # fmt: skip


@anywhere
def grid_sample2d(x: Real, grid: Real) -> Array:
    """Bilinear samples at given places. THNN's SpatialGridSamplerBilinear.

    Parameters
    ----------
    x : batch x planes x height x width
    grid : batch x height out x width out x 2
        x and y of each sample; -1 and 1 are the centres of the corner elements.

    >>> grid_sample2d([[[[0.0, 2.0]]]], [[[[0.0, 0.0]]]])
    array([[[[1.]]]])
    """
    return call(thnn.SpatialGridSamplerBilinear_updateOutput, real(x), real(grid), OUT)


@anywhere
def grid_sample2d_backward(grad_output: Real, x: Real, grid: Real) -> tuple[Array, Array]:
    """The gradients of `x` and `grid`."""
    found: tuple[Array, Array] = calls(
        thnn.SpatialGridSamplerBilinear_updateGradInput,
        real(x), OUT, real(grid), OUT, real(grad_output),
    )  # fmt: skip
    return found


def _sides(padding: int | Padding, dimensions: int) -> list[int]:
    """Left, right, top, bottom, front, back."""
    if not isinstance(padding, Sequence):
        return [*numbers("padding", padding, 1) * (2 * dimensions)]
    if len(padding) != dimensions:
        raise ValueError(f"padding: expected an int or {dimensions} pairs, found {padding!r}")
    return [n for pair in reversed(padding) for n in numbers("padding", pair, 2)]


@anywhere
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
    return call(thnn.SpatialReflectionPadding_updateOutput, real(x), OUT, *_sides(padding, 2))


@anywhere
def reflection_pad2d_backward(grad_output: Real, x: Real, padding: int | Padding) -> Array:
    """The gradient of `x`."""
    sides = _sides(padding, 2)
    return call(
        thnn.SpatialReflectionPadding_updateGradInput, real(x), real(grad_output), OUT, *sides
    )


@anywhere
def replication_pad2d(x: Real, padding: int | Padding) -> Array:
    """Borders that repeat the outermost elements. THNN's SpatialReplicationPadding.

    Parameters as those of :func:`reflection_pad2d`.

    >>> replication_pad2d([[[1.0, 2.0, 3.0]]], ((0, 0), (1, 1)))
    array([[[1., 1., 2., 3., 3.]]])
    """
    return call(thnn.SpatialReplicationPadding_updateOutput, real(x), OUT, *_sides(padding, 2))


@anywhere
def replication_pad2d_backward(grad_output: Real, x: Real, padding: int | Padding) -> Array:
    """The gradient of `x`."""
    sides = _sides(padding, 2)
    return call(
        thnn.SpatialReplicationPadding_updateGradInput, real(x), real(grad_output), OUT, *sides
    )


@anywhere
def replication_pad3d(x: Real, padding: int | Padding) -> Array:
    """Borders that repeat the outermost elements. THNN's VolumetricReplicationPadding.

    Parameters
    ----------
    x : [batch x] planes x depth x height x width
    padding : int, or ((front, back), (top, bottom), (left, right))

    >>> replication_pad3d([[[[1.0, 2.0]]]], ((0, 0), (0, 0), (1, 0)))
    array([[[[1., 1., 2.]]]])
    """
    return call(thnn.VolumetricReplicationPadding_updateOutput, real(x), OUT, *_sides(padding, 3))


@anywhere
def replication_pad3d_backward(grad_output: Real, x: Real, padding: int | Padding) -> Array:
    """The gradient of `x`."""
    sides = _sides(padding, 3)
    return call(
        thnn.VolumetricReplicationPadding_updateGradInput, real(x), real(grad_output), OUT, *sides
    )

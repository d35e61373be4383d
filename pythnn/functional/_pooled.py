"""Windows of poolings as the C functions take them, the shapes that result, and checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrays import Array, Unfit, check_shape, dense, pair, shaped, single, triple

__all__ = [
    "axis_back",
    "check_planes",
    "check_samples",
    "counted",
    "frames_axis",
    "frames_second",
    "frames_window",
    "plane_window",
    "pooled2d",
    "pooled_frames",
    "space_of",
]


def plane_window(window: Any, stride: Any) -> Any:
    """Window and stride as C functions take them: width before height."""
    height, width = pair("window", window)
    step_y, step_x = (height, width) if stride is None else pair("stride", stride)
    return width, height, step_x, step_y


def space_of(stride: Any, padding: Any) -> list[int]:
    """Stride and padding of three axes: depth, width, height."""
    sizes = (triple("stride", stride), triple("padding", padding))
    return [n for depth, height, width in sizes for n in (depth, width, height)]


def _count(size: int, axis: Sequence[int], ceil_mode: bool, padded: bool) -> int:
    """How many windows there are along an axis; a stride that is refused later counts as 1."""
    window, stride, padding, *dilation = axis
    stride = stride if stride > 0 else 1
    reach = (dilation[0] if dilation else 1) * (window - 1) + 1
    room = size + 2 * padding - reach
    count = (-(-room // stride) if ceil_mode else room // stride) + 1
    # With padding no window begins beyond the elements.
    return count - 1 if padded and (count - 1) * stride >= size + padding else count


def pooled2d(x: Array, sizes: Sequence[int]) -> tuple[int, ...]:
    """The shape of the output, without padding."""
    width, height, step_x, step_y = sizes
    windows = ((height, width), (step_y, step_x), (0, 0))
    return (*x.shape[:-2], *counted(x.shape[-2:], windows, False))


def counted(
    sizes: Sequence[int], windows: Sequence[Sequence[int]], ceil_mode: bool
) -> tuple[int, ...]:
    """How many windows there are along each axis; of all axes their kernels, strides and so on."""
    padded = any(windows[2])
    axes = zip(sizes, zip(*windows, strict=True), strict=True)
    return tuple(_count(size, axis, ceil_mode, padded) for size, axis in axes)


def frames_window(window: Any, stride: Any) -> tuple[int, int]:
    """Window and stride along frames."""
    size = single("window", window)
    return size, size if stride is None else single("stride", stride)


def pooled_frames(x: Array, window: int, stride: int) -> tuple[int, ...]:
    """The shape of the output, frames second to last."""
    axis = (window, stride, 0)
    return (*x.shape[:-2], _count(x.shape[-2], axis, False, False), x.shape[-1])


def frames_axis(x: Array, axis: int) -> int:
    """The axis of frames, -2 or -1."""
    found = axis if axis < 0 else axis - x.ndim
    if found not in (-2, -1):
        raise Unfit("axis", "-2 (frames x features) or -1 (features x frames)", f"{axis}")
    return found


def frames_second(x: Array, axis: int) -> Array:
    """An array whose frames are along an axis, with features last."""
    if axis == -2:
        return x
    swapped: Array = x.swapaxes(-1, -2)
    return swapped


def axis_back(result: Any, axis: int) -> Array:
    """A result with frames second to last as the argument was."""
    if axis == -2:
        made: Array = result
        return made
    array = shaped(result, result.shape)
    return dense(array.swapaxes(-1, -2))


def check_planes(grad_output: Array, x: Array) -> None:
    """Raises unless a gradient has the batch and the planes of `x`."""
    if grad_output.shape[:-2] != x.shape[:-2]:
        wanted = f"{' x '.join(map(str, x.shape[:-2]))} x height x width"
        raise Unfit("grad_output", wanted, f"shape {tuple(grad_output.shape)}")


def check_samples(samples: Array, x: Array, batched: int, dimensions: int) -> None:
    batch = x.shape[0] if x.ndim == batched else 1
    check_shape("samples", samples, (batch, x.shape[x.ndim == batched], dimensions))

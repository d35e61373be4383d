"""Windows of convolutions as the C functions take them, and the shapes that result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrays import Array, Unfit, pair, single

__all__ = [
    "connections_of",
    "convolved2d",
    "frames_of",
    "local_window",
    "mapped",
    "mapped_back",
    "plane_window",
    "row_frames",
    "transposed2d",
    "width_first",
]


def width_first(name: str, value: Any) -> tuple[int, int]:
    """A pair as C functions take it: width before height."""
    height, width = pair(name, value)
    return width, height


def plane_window(weight: Array, stride: Any, padding: Any, *dilation: Any) -> Any:
    """Kernel, stride, padding and dilation, of each width before height."""
    height, width = weight.shape[-2:]
    stride_y, stride_x = pair("stride", stride)
    pad_y, pad_x = pair("padding", padding)
    window = [width, height, stride_x, stride_y, pad_x, pad_y]
    for value in dilation:
        window += width_first("dilation", value)
    return window


def positions(size: int, kernel: int, stride: int, padding: int, dilation: int = 1) -> int:
    """Positions of a kernel; a stride that the C function refuses counts as 1."""
    reach = dilation * (kernel - 1) + 1
    return (size + 2 * padding - reach) // (stride if stride > 0 else 1) + 1


def _spread(size: int, kernel: int, stride: int, padding: int, dilation: int, more: int) -> int:
    """What a transposed convolution makes of a size."""
    return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1 + more


def convolved2d(x: Array, planes: int, window: Sequence[int]) -> tuple[int, ...]:
    """The shape of the output of a convolution."""
    width, height, dx, dy, px, py, *dilation = window
    across, down = dilation or (1, 1)
    *batch, _, rows, columns = x.shape
    rows = positions(rows, height, dy, py, down)
    return (*batch, planes, rows, positions(columns, width, dx, px, across))


def transposed2d(x: Array, planes: int, window: Sequence[int]) -> tuple[int, ...]:
    width, height, dx, dy, px, py, across, down, more_x, more_y = window
    *batch, _, rows, columns = x.shape
    rows = _spread(rows, height, dy, py, down, more_y)
    return (*batch, planes, rows, _spread(columns, width, dx, px, across, more_x))


def local_window(x: Array, weight: Array, stride: Any, padding: Any) -> tuple[Any, tuple[int, ...]]:
    """The arguments after the tensors, and the shape of the output."""
    window = plane_window(weight, stride, padding)
    rows, columns, planes = weight.shape[:3]
    shape = convolved2d(x, planes, window)
    if shape[-2:] != (rows, columns):
        wanted = f"weights for {shape[-2]} x {shape[-1]} positions, height out x width out"
        raise Unfit("weight", wanted, f"{rows} x {columns}")
    return [*window, x.shape[-1], x.shape[-2], columns, rows], shape


def connections_of(table: Any, x: Array, bias: Array, stride: Any) -> tuple[Array, Any]:
    """The connection table as THNN takes it, and the arguments after it."""
    connections: Array = (table + 1).astype(x.dtype)
    return connections, [x.shape[-3], bias.shape[0], *width_first("stride", stride)]


def mapped(x: Array, weight: Array, rest: Sequence[int]) -> tuple[int, ...]:
    """The shape of the output."""
    _, planes, dx, dy = rest
    return convolved2d(x, planes, (weight.shape[2], weight.shape[1], dx, dy, 0, 0))


def mapped_back(x: Array, weight: Array, rest: Sequence[int]) -> tuple[int, ...]:
    """The shape of the output of the transposed one."""
    _, planes, dx, dy = rest
    window = (weight.shape[2], weight.shape[1], dx, dy, 0, 0, 1, 1, 0, 0)
    return transposed2d(x, planes, window)


def frames_of(
    x: Array, weight: Array, kernel: Any, stride: Any
) -> tuple[tuple[int, int], tuple[int, ...]]:
    """Kernel and stride, and the shape of the output."""
    *batch, frames, features = x.shape
    count, step = single("kernel", kernel), single("stride", stride)
    if weight.shape[1] != count * features:
        wanted = f"features out x {count * features} (kernel * features in)"
        raise Unfit("weight", wanted, f"shape {tuple(weight.shape)}")
    return (count, step), (*batch, positions(frames, count, step, 0), weight.shape[0])


def row_frames(
    x: Array, weight: Array, stride: Any, padding: Any, features_first: bool
) -> tuple[tuple[int, int, int], tuple[int, ...]]:
    """Kernel, stride and padding, and the shape of the output."""
    *batch, frames, features = x.shape
    if features_first:
        frames, features = features, frames
    if features != weight.shape[0]:
        layout = "features x frames" if features_first else "frames x features"
        wanted = f"[batch x] {layout} with {weight.shape[0]} features, as in weight"
        raise Unfit("x", wanted, f"shape {tuple(x.shape)}")
    window = (weight.shape[2], single("stride", stride), single("padding", padding))
    frames = positions(frames, *window)
    inner = (features, frames) if features_first else (frames, features)
    return window, (*batch, *inner)

"""Arrays as small pictures: PNG in the address of an image."""

from __future__ import annotations

import base64
import io
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

__all__ = [
    "ROW",
    "color_picture",
    "filter_pictures",
    "pixel_picture",
    "plane_pictures",
    "signed_picture",
]

Array = NDArray[Any]

SIDE = 64  # pixels at most, of planes
ROW = 64  # elements of a vector in a row of its picture

# The colours of viridis (matplotlib, CC0), from least to most; between them it is linear.
_ANCHORS = np.array(
    [
        (68, 1, 84),
        (71, 44, 122),
        (59, 81, 139),
        (44, 113, 142),
        (33, 144, 141),
        (39, 173, 129),
        (92, 200, 99),
        (170, 220, 50),
        (253, 231, 37),
    ]
)
_PALETTE = [
    round(float(np.interp(i / 255 * (len(_ANCHORS) - 1), range(len(_ANCHORS)), _ANCHORS[:, c])))
    for i in range(256)
    for c in range(3)
]


def filter_pictures(weight: Array, count: int, *, bgr: bool = False) -> list[str]:
    """The first filters of outputs x inputs x height x width.

    In colour where there are three inputs, red last with `bgr`; else a picture for each input.
    Zero is the middle gray, the largest magnitude of a filter black or white.
    """
    if weight.shape[1] == 3:
        planes = weight[:count, ::-1] if bgr else weight[:count]
        return [signed_picture(plane.transpose(1, 2, 0)) for plane in planes]
    return [signed_picture(plane) for plane in _first_planes(weight, count)]


def _first_planes(array: Array, count: int) -> list[Array]:
    """The first planes, without a copy of all."""
    shape = array.shape[:-2]
    total = min(count, math.prod(shape))
    return [array[tuple(np.unravel_index(i, shape))] for i in range(total)]


def signed_picture(values: Array) -> str:
    """Height x width [x 3] with zero in the middle gray."""
    values = np.nan_to_num(np.asarray(values, np.float64), posinf=0, neginf=0)
    largest = np.abs(values).max(initial=0) or 1.0
    return _png(_shrunk(values / largest / 2 + 0.5))


def color_picture(planes: Array) -> str:
    """1 or 3 planes, from their least value, black, to their largest."""
    low, high = _scale_of(planes, cut=0)
    values = _shares(planes, low, high)
    return _png(_shrunk(values[0] if len(values) == 1 else values.transpose(1, 2, 0), 4 * SIDE))


def pixel_picture(pixels: Array) -> str:
    """Height x width [x 3] of uint8."""
    return _png(_shrunk(pixels / 255, 4 * SIDE))


def _scale_of(values: Array, cut: float = 0.5) -> tuple[float, float]:
    """The range that a picture shows: all finite values but `cut` percent at either end."""
    finite = values[np.isfinite(values)].astype(np.float64)
    if not finite.size:
        return 0.0, 0.0
    low, high = np.percentile(finite, [cut, 100 - cut])
    return float(low), float(high)


def plane_pictures(values: Array, count: int) -> tuple[list[str], tuple[float, float]]:
    """The first planes of […] x height x width, or a vector, on one scale of colours; the scale."""
    planes = _planes(values, count)
    low, high = _scale_of(np.stack(planes)) if planes else (0.0, 0.0)
    return [_png(_shrunk(_shares(plane, low, high)), _PALETTE) for plane in planes], (low, high)


def _planes(values: Array, count: int) -> list[Array]:
    if not values.size:
        return []
    if values.ndim > 1:
        return _first_planes(values, count)
    vector = values.reshape(-1)[: ROW * SIDE]
    if vector.size <= ROW:
        return [vector[None]]
    whole = vector[: vector.size // ROW * ROW]
    return [whole.reshape(-1, ROW)]


def _shares(values: Array, low: float, high: float) -> Array:
    """Values as 0 to 1 of the range; what is not finite as its nearer end, nan as the lower one."""
    half = max(high / 2 - low / 2, 1e-300)
    values = np.nan_to_num(values.astype(np.float64), nan=low, posinf=high, neginf=low)
    return np.clip((values / 2 - low / 2) / half, 0, 1)


def _shrunk(shares: Array, side: int = SIDE) -> Array:
    """Height x width [x 3] of at most `side` pixels, averaged."""
    if max(shares.shape[:2]) <= side:
        return shares
    factor = side / max(shares.shape[:2])
    height, width = (max(1, round(length * factor)) for length in shares.shape[:2])
    channels = shares[..., None] if shares.ndim == 2 else shares
    averaged = [
        Image.fromarray(np.ascontiguousarray(channels[..., i], np.float32)).resize(
            (width, height), Image.Resampling.BOX
        )
        for i in range(channels.shape[2])
    ]
    stacked = np.stack([np.asarray(image) for image in averaged], 2)
    return stacked[..., 0] if shares.ndim == 2 else stacked


def _png(shares: Array, palette: list[int] | None = None) -> str:
    pixels = np.ascontiguousarray(np.rint(np.clip(shares, 0, 1) * 255).astype(np.uint8))
    image = Image.fromarray(pixels)
    if palette is not None:
        image.putpalette(palette)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")

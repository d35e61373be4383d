"""Unfolding into columns and folding back against their definition, with windows inside, across and
outside the image, and strides that no convolution has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pythnn import thnn

GEOMETRIES = [  # kW, kH, dW, dH, padW, padH, planes, width, height, outputWidth, outputHeight
    (3, 3, 1, 1, 1, 1, 4, 56, 5, 56, 5),
    (3, 2, 1, 1, 0, 0, 3, 300, 4, 298, 3),  # rows that are copied by the C library
    (5, 3, 2, 1, 2, 1, 2, 33, 7, 17, 7),
    (2, 4, 3, 2, 1, 2, 3, 20, 9, 7, 5),
    (4, 4, 1, 1, 6, 6, 2, 3, 3, 12, 12),  # taps that see nothing
    (1, 1, 1, 1, 0, 0, 2, 1, 1, 1, 1),
    (2, 2, 0, 0, 0, 0, 2, 5, 4, 6, 3),  # one position, again and again
    (2, 3, -1, -2, -8, -6, 2, 10, 9, 11, 4),  # backwards
    (2, 2, 1, 1, 0, 0, 2, 0, 3, 2, 2),
]


def seen(geometry: tuple[int, ...]) -> np.ndarray:
    """For each element of the columns the number of the image's, or -1."""
    k_w, k_h, d_w, d_h, pad_w, pad_h, planes, width, height, out_width, out_height = geometry
    plane, i, j, y, x = np.ogrid[:planes, :k_h, :k_w, :out_height, :out_width]
    row, column = y * d_h - pad_h + i, x * d_w - pad_w + j
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    return np.where(inside, (plane * height + row) * width + column, -1).ravel()


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_unfolded(geometry: tuple[int, ...], real: Any) -> None:
    rng = np.random.default_rng(0)
    at = seen(geometry)
    image = rng.standard_normal(max(1, geometry[6] * geometry[7] * geometry[8])).astype(real)
    columns = np.full(at.size + 1, 7, real)
    thnn.unfolded_copy(columns, image, *geometry)
    np.testing.assert_array_equal(columns[:-1], np.where(at < 0, 0, image[at]))
    assert columns[-1] == 7

    columns = rng.standard_normal(at.size).astype(real)
    wanted = image.copy()
    np.add.at(wanted, at[at >= 0], columns[at >= 0])
    thnn.unfolded_acc(columns, image, *geometry)
    np.testing.assert_array_equal(image, wanted)

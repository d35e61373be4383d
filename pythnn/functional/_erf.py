"""The distribution function of the normal distribution."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .._tensor import array_module
from ._arrays import Array

__all__ = ["normal_cdf"]

_DEGREES = {np.dtype(np.float32): 13, np.dtype(np.float64): 23}
"""Of the interpolation: what its error is below a rounding for."""
_SCALE = 3.75
"""Where the new variable is 0: between small arguments and the tail."""
_BLOCK = 4096
"""Elements at a time on the CPU, whose intermediate results fit into a cache of 64 KiB."""


@functools.lru_cache(maxsize=2)
def _coefficients(dtype: np.dtype[Any]) -> list[Any]:
    """Coefficients of exp(z^2) erfc(z) / 2, z >= 0, in powers of (z - s) / (z + s), highest first.

    They interpolate at Chebyshev's nodes; the powers lose no digits, since the coefficients of
    Chebyshev's polynomials fall faster than those of the polynomials rise.
    """
    degree = _DEGREES[dtype]
    nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
    values = [_scaled_erfc(_SCALE * (1 + t) / (1 - t)) / 2 for t in nodes.tolist()]
    angles = np.outer(np.arange(degree + 1), np.arccos(nodes))
    series = 2 / (degree + 1) * np.cos(angles) @ values
    series[0] /= 2
    return list(np.polynomial.chebyshev.cheb2poly(series)[::-1].astype(dtype))


def _scaled_erfc(z: float) -> float:
    """exp(z^2) erfc(z); where erfc underflows, its continued fraction, from the far end."""
    if z < 5:
        return math.exp(z * z) * math.erfc(z)
    tail = z
    for k in range(60, 0, -1):
        tail = z + k / 2 / tail
    return 1 / math.sqrt(math.pi) / tail


def normal_cdf(x: Array) -> Array:
    """The probability of a number below each element."""
    flat = x.reshape(-1)
    if type(x) is not np.ndarray or x.size <= _BLOCK:
        return _of_block(flat).reshape(x.shape)
    found = np.empty(x.size, x.dtype)
    for start in range(0, x.size, _BLOCK):
        found[start : start + _BLOCK] = _of_block(flat[start : start + _BLOCK])
    return found.reshape(x.shape)


def _of_block(x: Array) -> Array:
    xp, real = array_module(x), x.dtype.type
    z = xp.absolute(x)
    z *= real(math.sqrt(0.5))
    xp.minimum(z, real(30), out=z)  # beyond, the probability is 0 or 1; infinities are no numbers
    t = z + real(_SCALE)
    xp.divide(z - real(_SCALE), t, out=t)
    highest, *others = _coefficients(x.dtype)
    tail = t * highest
    for coefficient in others[:-1]:
        tail += coefficient
        tail *= t
    tail += others[-1]
    z *= -z
    tail *= xp.exp(z)
    found: Array = xp.where(x > 0, 1 - tail, tail)
    return found

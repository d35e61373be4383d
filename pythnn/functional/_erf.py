"""The distribution function of the normal distribution."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .._tensor import array_module
from ._arrays import Array

__all__ = ["normal_cdf"]

_DEGREE = 22
"""Of the interpolation, whose error is then below that of math.erfc, from which it is made."""
_FLOAT_TERMS = 13
"""How many coefficients exceed half of a float's epsilon times the value."""
_SCALE = 3.75
"""Where the new variable is 0: between small arguments and the tail."""


@functools.lru_cache(maxsize=1)
def _coefficients() -> list[float]:
    """Chebyshev coefficients of exp(z^2) erfc(z), z >= 0, in the variable (z - s) / (z + s).

    For large z, where erfc underflows, its asymptotic series stands in.
    """
    nodes = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    values = [_scaled_erfc(_SCALE * (1 + t) / (1 - t)) for t in nodes.tolist()]
    angles = np.outer(np.arange(_DEGREE + 1), np.arccos(nodes))
    found = 2 / (_DEGREE + 1) * np.cos(angles) @ values
    found[0] /= 2
    coefficients: list[float] = found.tolist()
    return coefficients


def _scaled_erfc(z: float) -> float:
    if z < 5:
        return math.exp(z * z) * math.erfc(z)
    # The continued fraction, from its far end.
    tail = z
    for k in range(60, 0, -1):
        tail = z + k / 2 / tail
    return 1 / math.sqrt(math.pi) / tail


def normal_cdf(x: Array) -> Array:
    """The probability of a number below each element."""
    xp, real = array_module(x), x.dtype.type
    z = xp.absolute(x) * real(math.sqrt(0.5))
    z = xp.minimum(z, real(30))  # beyond, the probability is 0 or 1, and infinities are no numbers
    t = (z - real(_SCALE)) / (z + real(_SCALE))
    later: Any = real(0)
    last: Any = real(0)
    terms = _coefficients()[: _DEGREE + 1 if x.dtype.itemsize == 8 else _FLOAT_TERMS]
    for coefficient in reversed(terms[1:]):  # Clenshaw's recurrence
        later, last = last, 2 * t * last - later + real(coefficient)
    series = t * last - later + real(terms[0])
    tail = series * xp.exp(-z * z) * real(0.5)
    found: Array = xp.where(x > 0, 1 - tail, tail)
    return found

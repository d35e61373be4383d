"""How far results in floating point may be from exact ones: the limits of comparisons.

The limits hold for every order of a sum, in blocks or lanes, with fused multiplication or without:
so for each instruction set and for each BLAS. N. J. Higham, Accuracy and Stability of Numerical
Algorithms, 2nd edition: section 3.1 (gamma and inner products) and 4.2 (sums).
"""

from __future__ import annotations

from typing import Any

import numpy as np

FUNCTION = 8
"""Roundings that an elementary function counts as: numpy's are up to 4 units in the last place off,
two roundings each; those of the library, up to 2.5 (``tests/c/simd/elementary.c``)."""

AROUND_A_SUM = 4
"""Roundings beside a sum's additions: a term's product, a factor, and adding the sum to two
numbers, such as a bias and what was there."""

WINOGRAD = 8
"""By how much F(2x2, 3x3), F(3x3, 2x2) and F(2, 3) may increase the limit of a sum. A dimension's
transforms have magnitudes that sum up to 8 where the definition has 3 terms: (8 / 3)^2 is 7.1. What
they cancel are neighbours of a result: its limit is the largest of all."""

WINOGRAD4 = 460
"""The same for F(4x4, 3x3), F(2x2, 5x5) and F(4x4, 2x2), and the gradients of their weights.
Magnitudes sum up to 25 where the definition has 3 terms, to 38 where it has 5, and to 19 where it
has 2: at most (19 / 2)^2, 91. The transforms add up to 29 roundings, five times as many as a sum of
few terms has."""

FFT_TILING = 176
"""The same for Fourier transforms of tiles of 16x16. A plane's part of an error is in proportion to
the norms of its elements and taps, multiplied; this is at most 16 times the largest sum of the
magnitudes of the plane's terms: as much where all elements are alike and one tap is not 0. Two
transforms, the products and the transform back are 66 roundings beside the sum over planes, 11
times as many as a sum of two terms has."""

FOURIER_FRAMES = 48
"""The same for Fourier transforms of 16 frames. By Parseval's theorem the coefficients' products
sum up to at most the product of the norms of the 16 elements and of the taps: with k taps and
magnitudes that are all the same, 4 / sqrt(k) times as much as the definition's, less than 3, and up
to 4 if they differ. The three products of parts have magnitudes that sum up to 3 times that of a
complex one. The transforms add about 20 roundings, where the smallest sum counts as 6: another
4."""


def gamma(roundings: float, dtype: Any) -> float:
    """The largest relative error of that many roundings one after the other."""
    unit = float(np.finfo(dtype).eps) / 2
    assert roundings * unit < 0.1, f"{roundings} roundings in {np.dtype(dtype)} leave no digits"
    return roundings * unit / (1 - roundings * unit)


def sum_limit(terms: float, magnitudes: Any, dtype: Any, growth: float = 1) -> np.ndarray:
    """How far a sum of ``terms`` products in ``dtype`` may be from the same sum in float64.

    ``magnitudes`` are the sums of the terms' absolute values: the result that the computation by
    the definition has for the absolute values of its operands. ``growth`` multiplies the limit.
    """
    roundings = terms + AROUND_A_SUM
    relative = growth * gamma(roundings, dtype) + gamma(roundings, np.float64)
    # What underflows is off by up to half of the smallest number, each time.
    return relative * np.asarray(magnitudes, np.float64) + growth * roundings * float(
        np.finfo(dtype).smallest_subnormal
    )


def assert_sums(
    found: np.ndarray,
    wanted: np.ndarray,
    terms: float,
    magnitudes: Any,
    what: str = "",
    growth: float = 1,
) -> None:
    """Sums of ``terms`` products are as near to ``wanted``, in float64, as `sum_limit` says."""
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, expected {wanted.shape}"
    limit = sum_limit(terms, magnitudes, found.dtype, growth)
    ratio = np.abs(found - wanted) / limit
    worst = np.max(ratio, initial=0)
    assert worst <= 1, f"{what}: error of {worst:.3g} times what rounding explains"


def assert_products(
    found: np.ndarray, left: np.ndarray, right: np.ndarray, added: Any = 0, factor: float = 1
) -> None:
    """``found`` is ``added + factor * left @ right``, rounded any way."""
    left, right = left.astype(np.float64), right.astype(np.float64)
    wanted = added + factor * (left @ right)
    magnitudes = np.abs(added) + abs(factor) * (np.abs(left) @ np.abs(right))
    assert_sums(found, wanted, left.shape[-1], magnitudes)


def is_near(found: Any, wanted: Any, roundings: float, least: Any = 1) -> bool:
    """Whether each element went through that many roundings at most, in the dtype of ``found``.

    A rounding changes a number of the size of the result, or of ``least`` where the result is
    smaller: of what it is the difference of. What is not finite has to be the same.
    """
    found, wanted = np.asarray(found), np.asarray(wanted)
    limit = gamma(roundings, found.dtype) * np.maximum(np.abs(wanted), least)
    with np.errstate(invalid="ignore"):
        near = np.abs(found - wanted) <= limit
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    finite = np.isfinite(found) & np.isfinite(wanted)
    return found.shape == wanted.shape and bool((same | (near & finite)).all())


def assert_near(found: Any, wanted: Any, roundings: float, least: Any = 1, what: str = "") -> None:
    """`is_near`, with what differs in the message."""
    if is_near(found, wanted, roundings, least):
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, expected {wanted.shape}"
    unit = float(np.finfo(found.dtype).eps) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.abs(found - wanted) / (unit * np.maximum(np.abs(wanted), least))
    worst = np.unravel_index(np.nanargmax(np.where(found == wanted, 0, apart)), found.shape)
    raise AssertionError(
        f"{what}{list(map(int, worst))}: found {found[worst]!r}, expected {wanted[worst]!r}:"
        f" {apart[worst]:.3g} roundings apart, {roundings:.3g} are allowed"
    )


SMALL_LAYERS = 2**10
"""Roundings of two ways to compute a few small layers: sums of up to 2^7 terms on each side, of
magnitudes that add up to at most four times the largest result, or 1."""


def assert_layers_agree(found: Any, wanted: Any, what: str = "") -> None:
    """Results of small layers, computed in two ways, differ by what rounding explains."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert_near(found, wanted, SMALL_LAYERS, np.abs(wanted).max(initial=1), what)


def assert_half_of_the_digits(found: Any, wanted: Any, what: str = "") -> None:
    """Results of networks and of training, whose roundings nobody counts, agree in half of the
    digits of the coarser dtype, relative to the largest of them and to 1; integers are equal.

    It takes 4,000 roundings in single precision, and 10^8 in double, to use up the other half; a
    wrong formula is off by more than what is left.
    """
    found, wanted = np.asarray(found), np.asarray(wanted)
    if {found.dtype.kind, wanted.dtype.kind} != {"f"}:
        np.testing.assert_array_equal(found, wanted, err_msg=what)
        return
    limit = max(float(np.finfo(a.dtype).eps) for a in (found, wanted)) ** 0.5
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=1)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=limit * largest, err_msg=what)


def difference_limit(terms: float, magnitudes: Any, step: float) -> np.ndarray:
    """How far a central difference quotient in float64 may be from the slope of a sum.

    Each side is off by its rounding. The third derivative, whose part is step^2 / 6, is taken to be
    at most six times ``magnitudes``, the sums of the terms' absolute values.
    """
    return sum_limit(terms, magnitudes, np.float64) / step + step**2 * np.asarray(magnitudes)


def assert_identical(found: Any, wanted: Any) -> None:
    """The same numbers in an array of the same shape and dtype."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(found, wanted)

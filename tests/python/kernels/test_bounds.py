"""The limits of comparisons: they hold for any order of a sum, and nothing that is wrong passes."""

from __future__ import annotations

import numpy as np
import pytest
from support.bounds import assert_products, assert_sums, gamma, is_near

SUMS = {
    "one after the other": lambda terms: np.cumsum(terms, axis=-1, dtype=terms.dtype)[..., -1],
    "from the largest": lambda terms: np.cumsum(-np.sort(-terms), axis=-1, dtype=terms.dtype)[
        ..., -1
    ],
    "in eight lanes": lambda terms: (
        terms.reshape(*terms.shape[:-1], -1, 8).cumsum(-2)[..., -1, :].sum(-1)
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", SUMS)
def test_sums_in_any_order(order: str, dtype: str) -> None:
    x, w = np.random.default_rng(0).standard_normal((2, 300, 520)).astype(dtype)
    wide = x.astype(float) * w.astype(float)
    found = SUMS[order](x * w)
    assert found.dtype == dtype
    assert_sums(found, wide.sum(-1), 520, np.abs(wide).sum(-1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_term_too_few_is_found(dtype: str) -> None:
    x, w = np.random.default_rng(1).standard_normal((2, 300, 520)).astype(dtype)
    found = x @ w.T
    assert_products(found, x, w.T)
    with pytest.raises(AssertionError, match="times what rounding explains"):
        assert_products(x[:, 1:] @ w[:, 1:].T, x, w.T)
    with pytest.raises(AssertionError, match="times what rounding explains"):
        assert_products(np.where(found == found[3, 4], np.nan, found), x, w.T)


def test_half_the_digits_are_found() -> None:
    x, w = np.random.default_rng(2).standard_normal((2, 30, 64))
    single = x.astype("float32") @ w.astype("float32").T
    with pytest.raises(AssertionError, match="times what rounding explains"):
        assert_products(single.astype(float), x, w.T)


def test_roundings() -> None:
    one = np.ones(3, np.float32)
    next_but_two = one + 3 * np.finfo(np.float32).eps
    assert is_near(next_but_two, one, 6)
    assert not is_near(next_but_two, one, 5)
    assert not is_near(one, np.ones((1, 3)), 6)
    with pytest.raises(AssertionError, match="leave no digits"):
        gamma(1e7, np.float32)

"""Products of arrays in the library's threads: what they give, and that there are no others."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_sums

import pythnn
from pythnn._products import add_product, multiply, product

SHAPES = [
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((2, 3), (3, 4)),
    ((2, 5, 3), (3, 4)),
    ((5, 3), (2, 3, 4)),
    ((2, 5, 3), (2, 3, 4)),
    ((6, 1, 5, 3), (2, 3, 4)),
    ((3,), (2, 3, 4)),
    ((2, 5, 3), (3,)),
    ((2, 80, 70), (2, 70, 60)),  # for which numpy would use threads of its own
    ((1, 80, 70), (2, 70, 60)),
    ((0, 3), (3, 4)),
    ((2, 0), (0, 4)),
]
OTHERS = {"dot", "vdot", "inner", "matmul", "einsum", "tensordot"}


def normal(shape: tuple[int, ...], dtype: Any, turned: bool, seed: int = 0) -> Any:
    """Numbers in an array of this shape, which may be a transposed view."""
    values = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    if turned and values.ndim > 1:
        return np.ascontiguousarray(values.swapaxes(-1, -2)).swapaxes(-1, -2)
    return values


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("shapes", SHAPES)
def test_products_are_those_of_numpy(shapes, turned, dtype):
    a, b = (
        normal(shape, dtype, t, i) for i, (shape, t) in enumerate(zip(shapes, turned, strict=True))
    )
    wide = [one.astype(np.float64) for one in (a, b)]
    found = np.asarray(product(a, b))
    assert found.dtype == dtype
    magnitudes = np.abs(wide[0]) @ np.abs(wide[1])
    assert_sums(found, np.asarray(wide[0] @ wide[1]), a.shape[-1], magnitudes)


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_a_product_is_added_in_place(turned):
    a, b = normal((5, 7), np.float64, turned[0]), normal((7, 4), np.float64, turned[1], 1)
    held = np.ones((8, 6))
    total = held[1:6, 2:6]
    assert add_product(total, a, b, 0.5) is total
    assert np.allclose(held[1:6, 2:6], 1 + 0.5 * (a @ b), rtol=0, atol=1e-13)
    assert held.sum() == pytest.approx(28 + total.sum())  # nothing beside it changes


def test_types_that_the_library_does_not_multiply():
    whole = np.arange(6).reshape(2, 3)
    assert product(whole, whole.T).tolist() == (whole @ whole.T).tolist()
    assert multiply(whole, whole.T.astype(np.float32)).dtype == np.float64


def test_products_that_do_not_exist():
    with pytest.raises(ValueError, match="mismatch"):
        product(np.ones((2, 3)), np.ones((2, 3)))


def test_no_other_products():
    """Those of numpy run in a pool of threads that fights the library's for the cores."""
    package = Path(pythnn.__file__).parent
    found = [
        f"{path.relative_to(package)}:{node.lineno}"
        for folder in ("nn", "functional", "program", "optim")
        for path in sorted(package.joinpath(folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(getattr(node, "op", None), ast.MatMult)
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in OTHERS
        )
    ]
    assert found == []

"""Results of functions on arrays against definitions, and gradients of what is linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from .bounds import gamma


def near(found: Any, wanted: Any, terms: int = 1) -> None:
    """Equal but for roundings of sums of so many terms, of the size of the largest result."""
    assert found.shape == np.shape(wanted)
    size = max(1, np.abs(wanted).max(initial=0))
    limit = gamma(16 * terms, found.dtype) * size
    np.testing.assert_allclose(found, wanted, rtol=0, atol=limit)


def adjoint(grad: Any, output: Any, grad_x: Any, x: Any) -> None:
    """The gradient of what is linear in x."""
    assert grad_x.shape == x.shape
    limit = gamma(64, x.dtype) * (np.abs(grad * output).sum() + np.abs(grad_x * x).sum())
    assert abs(np.vdot(grad, output) - np.vdot(grad_x, x)) <= limit

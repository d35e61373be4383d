"""Programs held against the models that they were compiled from."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import pythnn

LIMITS = {np.dtype(np.float32): 2e-6, np.dtype(np.float64): 1e-12}
"""Of the largest result: how far programs with joined layers may be from forward."""


def leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for entry in value for leaf in leaves(entry)]
    return [np.asarray(value)]


def shuffled(value: Any, numbers: Any) -> Any:
    """Other numbers of the same kind in the same shape; indices stay."""
    if isinstance(value, list):
        return [shuffled(entry, numbers) for entry in value]
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    return 0.9 * numbers.permutation(value.reshape(-1)).reshape(value.shape)


def check_same(found: Any, wanted: Any, fused: bool) -> None:
    found, wanted = leaves(found), leaves(wanted)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        if not fused or one.dtype.kind != "f":
            np.testing.assert_array_equal(one, other)
        elif np.isfinite(other).all():
            limit = LIMITS[one.dtype] * max(1, np.abs(other).max(initial=0))
            assert np.abs(one - other).max(initial=0) <= limit


def forward(model: Any, x: Any) -> Any:
    """The output of a copy of a model for a copy of an input, with the same random numbers."""
    pythnn.manual_seed(5)
    return copy.deepcopy(model).forward(copy.deepcopy(x))


def run(program: Any, x: Any) -> Any:
    pythnn.manual_seed(5)
    return program(x)

"""Programs held against the models that they were compiled from."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import pythnn
from support.random_trees import PLANES, SIZE, Trees

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


def check_tree(seed: int, fuse: bool) -> None:
    """The program of a random model, for two inputs, which it leaves alone."""
    trees = Trees(seed)
    model = trees.model().module
    dtype = np.dtype(trees.random.choice((np.float32, np.float64)))
    model.float() if dtype == np.float32 else model.double()
    model.evaluate()
    shape = trees.random.randint(1, 3), PLANES, SIZE, SIZE
    program = pythnn.compile(model, np.zeros(shape, dtype), fuse=fuse)
    for _ in range(2):
        x = trees.numbers.standard_normal(shape).astype(dtype)
        given = x.copy()
        wanted, found = forward(model, x), program(given)
        again = program(given)
        try:
            np.testing.assert_array_equal(given, x)
            np.testing.assert_array_equal(again, found)
            check_same(found, wanted, fuse)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{model}\n{program}") from error


def image(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape or (2, 3, 8, 8))

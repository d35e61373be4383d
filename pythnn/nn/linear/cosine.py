"""The cosine of the angle between vectors."""

from __future__ import annotations

from typing import Any

from ..object.tables import same_sizes
from ..object.values import array_module

__all__ = ["SMALL", "cosine"]

SMALL = 1e-12  # keeps the cosine of zeros finite


def cosine(name: str, pair: list[Any]) -> tuple[Any, list[Any]]:
    """The cosines of two tensors' rows, and their derivatives with respect to each tensor.

    The tensors are [batch x] size; the results batch and, twice, batch x size. Raises
    THNNArgumentError in the name of a class for tensors that differ in size.
    """
    xp = array_module(pair)
    first, second = (xp.atleast_2d(entry) for entry in same_sizes(name, pair))
    one, other = (1 / ((x * x).sum(1, keepdims=True) + SMALL) for x in (first, second))
    lengths = xp.sqrt(one * other)
    cosines = (first * second).sum(1, keepdims=True) * lengths
    gradients = [
        second * lengths - cosines * one * first,
        first * lengths - cosines * other * second,
    ]
    return cosines[:, 0], gradients

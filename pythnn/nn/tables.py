"""Connection tables: rows of (input plane, output plane), both from 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _random
from .._errors import THNNArgumentError

__all__ = ["full", "oneToOne", "random"]

Table = NDArray[np.float64]


def _table(inputs: Any, outputs: Any) -> Table:
    return np.stack([np.asarray(inputs), np.asarray(outputs)], axis=1).astype(np.float64)


def full(nin: int, nout: int) -> Table:
    """Every input with every output."""
    return _table(np.tile(np.arange(nin) + 1, nout), np.repeat(np.arange(nout) + 1, nin))


def oneToOne(nfeat: int) -> Table:
    """Each input with the output of its number."""
    planes = np.arange(nfeat) + 1
    return _table(planes, planes)


def random(nin: int, nout: int, nto: int) -> Table:
    """Each output with `nto` inputs, dealt from permutations of all.

    Raises THNNArgumentError unless 1 <= nto <= nin.
    """
    if not 1 <= nto <= nin:
        raise THNNArgumentError.expected("nn.tables.random", 3, "nto", f"1 to {nin}", str(nto))
    groups: list[Any] = []
    while len(groups) <= nout:  # a new permutation as soon as one is used up
        groups += np.split(_random.permutation(nin)[: nin // nto * nto], nin // nto)
    return _table(np.concatenate(groups[:nout]), np.repeat(np.arange(nout) + 1, nto))

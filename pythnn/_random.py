"""The random numbers of modules: one generator for the whole program, as in Lua Torch.

All draws are made by libTH, in double and one after the other in memory order, so that they are
those of Lua Torch for the same seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._generator import Generator
from ._library import lib
from ._tensor import Tensor

__all__ = [
    "bernoulli",
    "default_generator",
    "fill_uniform",
    "integer",
    "manual_seed",
    "normal",
    "permutation",
    "set_state",
    "uniform",
]

_generators: list[Generator] = []


def default_generator() -> Generator:
    """The generator that all modules draw from; seeded by the system until manual_seed."""
    if not _generators:
        _generators.append(Generator())
    return _generators[0]


def manual_seed(seed: int) -> None:
    """Starts the sequence of this seed: initial weights and noise are then Lua Torch's.

    `seed` is an int from 0 to 2**64 - 1, of which the low 32 bits count.
    """
    default_generator().manual_seed(seed)


def set_state(generator: Generator) -> None:
    """Goes on where another generator stands."""
    lib.THGenerator_copy(default_generator()._open(), generator._open())


def _drawn(shape: Sequence[int], function: str, *parameters: float) -> NDArray[np.float64]:
    if 0 in shape:
        return np.empty(tuple(shape))
    tensor = Tensor.empty(tuple(shape) or (1,), dtype=np.float64)
    tensor._call(function, default_generator()._open(), *parameters)
    return tensor.numpy().reshape(shape)


def uniform(shape: Sequence[int], a: float, b: float) -> NDArray[np.float64]:
    """Numbers from [a, b)."""
    return _drawn(shape, "uniform", a, b)


def normal(shape: Sequence[int], mean: float, stdv: float) -> NDArray[np.float64]:
    """Normally distributed numbers; `stdv` must be positive."""
    return _drawn(shape, "normal", mean, stdv)


def bernoulli(shape: Sequence[int], p: float) -> NDArray[np.float64]:
    """1 with probability `p`, else 0."""
    return _drawn(shape, "bernoulli", p)


def permutation(n: int) -> NDArray[Any]:
    """The numbers from 1 to `n` in random order."""
    tensor = Tensor(dtype=np.int64)
    tensor._call("randperm", default_generator()._open(), n)
    return tensor.numpy() + 1


def integer(n: int) -> int:
    """A number from 1 to `n`."""
    return default_generator().random() % n + 1


def fill_uniform(limit: float, *tensors: Tensor | None) -> None:
    """Fills tensors, one after the other, with numbers from [-limit, limit)."""
    for tensor in tensors:
        if tensor is not None:
            tensor.copy_from(uniform(tensor.shape, -limit, limit))

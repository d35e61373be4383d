"""Memory in which runs work, one after the other, whatever the sizes of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from .._tensor import Tensor
from .instance import Instance

__all__ = ["Arena", "Arenas"]

Memory: TypeAlias = Mapping["np.dtype[Any]", Tensor]
"""A piece for each element type."""


class Arena:
    """Memory for one run at a time, and the plans that are bound to it; left, it is idle again."""

    def __init__(self, idle: list[Arena]) -> None:
        self._idle = idle
        self._memory: dict[np.dtype[Any], Tensor] = {}
        self._instances: WeakKeyDictionary[Any, Instance] = WeakKeyDictionary()

    def instance(
        self, plan: Any, sizes: Mapping[np.dtype[Any], int], bind: Callable[[Memory], Instance]
    ) -> Instance:
        """A plan that needs so many elements of each type, bound to the memory by `bind`."""
        instance = self._instances.get(plan)
        if instance is not None:
            return instance
        for dtype, size in sizes.items():
            if dtype not in self._memory or self._memory[dtype].size < size:
                # Nothing looks at the old memory any more, which is gone before there is new one.
                self._instances.clear()
                self._memory.pop(dtype, None)
                self._memory[dtype] = Tensor.empty(size, dtype=dtype)
        made = self._instances[plan] = bind(self._memory)
        return made

    def __enter__(self) -> Arena:
        return self

    def __exit__(self, *exception: object) -> None:
        self._idle.append(self)


class Arenas:
    """An arena for each run under way at the same time; each grows to what its runs need."""

    def __init__(self) -> None:
        self._idle: list[Arena] = []

    def one(self) -> Arena:
        """An arena that no other run uses until it is left."""
        try:
            return self._idle.pop()
        except IndexError:
            return Arena(self._idle)

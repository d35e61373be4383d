"""Memory in which runs work, one after the other, whatever the sizes of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from .._tensor import Tensor
from .instance import Instance

__all__ = ["Arenas"]

Memory: TypeAlias = Mapping["np.dtype[Any]", Tensor]
"""A piece for each element type."""


class _Arena:
    """Memory for one run at a time, and the plans that are bound to it."""

    def __init__(self) -> None:
        self._memory: dict[np.dtype[Any], Tensor] = {}
        self._instances: WeakKeyDictionary[Any, Instance] = WeakKeyDictionary()

    def instance(
        self, plan: Any, sizes: Mapping[np.dtype[Any], int], bind: Callable[[Memory], Instance]
    ) -> Instance:
        """A plan that needs so many elements of each type, bound to the memory."""
        for dtype, size in sizes.items():
            if dtype not in self._memory or self._memory[dtype].size < size:
                # Nothing looks at the old memory any more, which is gone before there is new one.
                self._instances.clear()
                self._memory.pop(dtype, None)
                self._memory[dtype] = Tensor.empty(size, dtype=dtype)
        if plan not in self._instances:
            self._instances[plan] = bind(self._memory)
        return self._instances[plan]


class Arenas:
    """An arena for each run under way at the same time; each grows to what its runs need."""

    def __init__(self) -> None:
        self._idle: list[_Arena] = []

    @contextmanager
    def instance(
        self, plan: Any, sizes: Mapping[np.dtype[Any], int], bind: Callable[[Memory], Instance]
    ) -> Iterator[Instance]:
        """A plan bound to memory that no other run uses; `bind` binds it to some."""
        try:
            arena = self._idle.pop()
        except IndexError:
            arena = _Arena()
        try:
            yield arena.instance(plan, sizes, bind)
        finally:
            self._idle.append(arena)

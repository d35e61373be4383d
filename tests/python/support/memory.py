"""Counting the C library's blocks, and making their allocation fail."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pythnn import THNNMemoryError, ffi, lib

from .compiling import library

SOURCE = Path(__file__).with_name("memory.c")


def _hooks(functions: ctypes.CDLL) -> Any:
    """A THMemoryHooks of the functions."""
    hooks = ffi.new("THMemoryHooks *")
    for field in ("malloc", "realloc", "free"):
        address = ctypes.cast(functions[f"counting{field.title()}"], ctypes.c_void_p).value
        ctype = ffi.typeof(getattr(hooks, field))
        setattr(hooks, field, ffi.cast(ctype, address))
    return hooks


class Memory:
    """The blocks of libTH since counting began."""

    def __init__(self, functions: ctypes.CDLL) -> None:
        self._functions = functions

    @property
    def live(self) -> int:
        """Blocks that were allocated and not freed."""
        return int(self._functions.liveBlocks())

    def fail_from(self, allocation: int) -> None:
        """Makes this allocation, counted from 1 and from now, and all after it fail; 0: none."""
        self._functions.failFrom(ctypes.c_int64(allocation))


@contextmanager
def counting_memory() -> Iterator[Memory]:
    """Counts blocks inside. Garbage of before is collected first, so that it does not count, and
    what is left then is not looked through each time that blocks are counted again."""
    functions = library(SOURCE)
    functions.liveBlocks.restype = ctypes.c_int64
    gc.collect()
    gc.freeze()
    functions.startCounting()
    lib.THSetMemoryHooks(_hooks(functions))
    memory = Memory(functions)
    try:
        yield memory
    finally:
        memory.fail_from(0)
        lib.THSetMemoryHooks(ffi.NULL)


def fail_each_allocation(call: Callable[[], object], arrays: Mapping[str, Any]) -> int:
    """Makes a call until it goes well: each time one allocation more succeeds, and the rest fails.

    A failing call leaves no block behind, and the arrays as they are. Returns how many failed.
    """
    before = {name: array.copy() for name, array in arrays.items()}
    failures = 0
    while True:
        with counting_memory() as memory:
            memory.fail_from(failures + 1)
            try:
                call()
            except THNNMemoryError:
                failures += 1
            else:
                return failures
            finally:
                memory.fail_from(0)
            assert memory.live == 0
        for name, array in before.items():
            np.testing.assert_array_equal(arrays[name], array, name)

"""Counting the C library's blocks, and making their allocation fail."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from pythnn._library import native


class Memory:
    """The blocks of libTH since counting began."""

    @property
    def live(self) -> int:
        """Blocks that were allocated and not freed."""
        return int(native.pythnn_liveBlocks())

    def fail_from(self, allocation: int) -> None:
        """Makes this allocation, counted from 1 and from now, and all after it fail; 0: none."""
        native.pythnn_failAllocation(allocation)


@contextmanager
def counting_memory() -> Iterator[Memory]:
    """Counts blocks inside. Garbage of before is collected first, so that it does not count."""
    gc.collect()
    native.pythnn_trackMemory(True)
    try:
        yield Memory()
    finally:
        native.pythnn_failAllocation(0)
        native.pythnn_trackMemory(False)

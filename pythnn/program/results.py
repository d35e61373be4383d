"""Results of runs, which go to callers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._errors import THNNArgumentError
from .._library import ffi, native
from .._tensor import Tensor
from ..graph.operations import Buffer
from ..nn.object.values import describe, is_array

__all__ = ["Place", "check_out", "taken_over"]

_ADDRESS = ffi.typeof("void *")


class Place:
    """Where steps write a result: memory of the run, or an array of the caller's."""

    def __init__(self, buffer: Buffer, memory: Tensor) -> None:
        self.buffer = buffer
        """What it is in the program's graph."""
        self.array = memory.numpy()
        """The result in the memory of the run."""
        self._tensor = Tensor.from_numpy(self.array)
        self._storage = self._tensor._open().storage
        self._views = 0

    def view(self, shape: Sequence[int], strides: Sequence[int], offset: int) -> Tensor:
        """A Tensor that is wherever the place is."""
        self._views += 1
        return self._tensor.as_strided(shape, strides, offset)

    @contextmanager
    def moved(self, array: np.ndarray[Any, Any]) -> Iterator[None]:
        """Has the place in an array as large as the memory."""
        self._move(array)
        try:
            yield
        finally:
            self._move(self.array)

    def _move(self, array: np.ndarray[Any, Any]) -> None:
        address, owner = ffi.from_buffer(array), ffi.cast(_ADDRESS, id(array))
        references = 1 + self._views
        if native.pythnn_moveStorage(self._storage, references, address, array.itemsize, owner):
            raise AssertionError("somebody else looks at the memory of a program's result")


def check_out(results: Any, out: Any) -> None:
    """Raises THNNArgumentError unless `out` is None or has the shapes and types of results."""
    if out is None:
        return
    if isinstance(results, list):
        if not isinstance(out, (list, tuple)) or len(out) != len(results):
            raise _refused(f"a list of {len(results)}", describe(out))
        for result, place in zip(results, out, strict=True):
            check_out(result, place)
    elif not is_array(out) or (out.shape, out.dtype) != (results.shape, results.dtype):
        wanted = f"an array of {results.dtype}, shape {results.shape}"
        found = f"one of {out.dtype}, shape {out.shape}" if is_array(out) else describe(out)
        raise _refused(wanted, found)


def taken_over(results: Any, out: Any) -> Any:
    """Copies of results, in tables too; or `out` with them."""
    if isinstance(results, list):
        places = [None] * len(results) if out is None else out
        made = [taken_over(one, place) for one, place in zip(results, places, strict=True)]
        return made if out is None else out
    if out is None:
        return results.copy() if is_array(results) else results
    out[...] = results
    return out


def _refused(wanted: str, found: str) -> THNNArgumentError:
    return THNNArgumentError.expected("Program", 2, "out", wanted, found)

"""A model as a function of batches, for the workers of Ray Data and Dask."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import nn, t7
from .._errors import THNNArgumentError
from .._state import set_num_threads
from ..program import Program
from ..program import compile as compile_model

__all__ = ["Predictor"]

Batch = dict[str, NDArray[Any]]
_FEWEST = 2
"""Samples that a model is given at least."""
_KEPT = 4
"""Models that a worker keeps; the one not used for longest goes first."""


class Predictor:
    """Runs a ``.t7`` model on batches: dicts of arrays with samples along the first axis.

    A worker loads and compiles the model (:func:`pythnn.compile`) at its first batch, and keeps it:
    a copy that comes to it with each batch finds it there. What is pickled are the arguments below.

    Parameters
    ----------
    path : path
        The file, which all workers can read.
    input : str or sequence of str
        The column that the model takes; several are a table.
    output : str or sequence of str
        The column that the result becomes; several for a model that returns a table.
    key : str, optional
        Where in the file the model is, when the file has a table of several things.
    prepare : function, optional
        What makes of the batch's input columns, its arguments, what the model takes: numbers from 0
        to 1 of bytes, for example. Workers have to be able to import it or unpickle it.
    columns : sequence of str, optional
        The columns of the batch that are in the result too; all by default.
    threads : int, optional
        Threads of the worker for each call of the library; its own choice by default.
    fuse : bool
        As in :func:`pythnn.compile`. False gives the very numbers of ``forward``.

    Columns are converted to the model's type, unless there is `prepare`: then its results are what
    the model gets.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        input: str | Sequence[str] = "input",
        output: str | Sequence[str] = "output",
        key: str | None = None,
        prepare: Callable[..., Any] | None = None,
        columns: Sequence[str] | None = None,
        threads: int | None = None,
        fuse: bool = True,
    ) -> None:
        self.path = str(Path(path).absolute())
        self.input, self.output, self.key = input, output, key
        self.prepare, self.columns, self.threads, self.fuse = prepare, columns, threads, fuse

    def __call__(self, batch: Mapping[str, NDArray[Any]]) -> Batch:
        """The batch with the model's results.

        Raises THNNArgumentError when a column is missing or the model gives another number of
        results, and what loading and ``forward`` raise.
        """
        names = _listed(self.input)
        kept = list(batch) if self.columns is None else _listed(self.columns)
        for name in (*names, *kept):
            if name not in batch:
                raise self._expected(1, "batch", f"a column '{name}'", f"{list(batch)}")
        worker = _worker(self.path, _version(self.path), self.key, self.fuse, self.threads)
        inputs = [batch[name] for name in names]
        if self.prepare is not None:
            prepared = self.prepare(*inputs)
            inputs = list(prepared) if isinstance(prepared, (list, tuple)) else [prepared]
        else:
            inputs = [self._numbers(name, batch[name], worker.dtype) for name in names]
        results = self._results(worker, inputs)
        return {**{name: batch[name] for name in kept}, **results}

    def _numbers(self, name: str, values: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
        """A column as numbers of the model's type."""
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            wanted = f"numbers of one shape in column '{name}'"
            raise self._expected(1, "batch", wanted, f"an array of {array.dtype}")
        return array.astype(dtype, copy=False)

    def _results(self, worker: _Worker, inputs: list[Any]) -> Batch:
        """The model's results as columns.

        Torch's models may take a batch of one sample for a sample alone, and none takes one of no
        samples: the model never sees less than two.
        """
        samples = len(inputs[0])
        if samples < _FEWEST:
            inputs = [_filled(one) for one in inputs]
        found = worker.run(inputs)
        names, results = _listed(self.output), found if isinstance(found, list) else [found]
        if len(names) != len(results):
            raise self._expected(3, "output", f"names of {len(results)} results", f"{names}")
        for name, result in zip(names, results, strict=True):
            if len(result) != len(inputs[0]):
                wanted = f"a model with a result '{name}' for each of {len(inputs[0])} samples"
                raise self._expected(1, "path", wanted, f"one of shape {result.shape}")
        return {name: one[:samples] for name, one in zip(names, results, strict=True)}

    def _expected(self, position: int, argument: str, wanted: str, found: str) -> THNNArgumentError:
        return THNNArgumentError.expected(
            "distributed.Predictor", position, argument, wanted, found
        )

    def __repr__(self) -> str:
        return f"Predictor({self.path!r}, input={self.input!r}, output={self.output!r})"


def _filled(values: Any) -> Any:
    """A batch with as many samples as a model needs: the first again, or ones, a valid index."""
    if len(values):
        return np.repeat(values, _FEWEST, 0)
    return np.ones((_FEWEST, *values.shape[1:]), values.dtype)


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


# ---- In a worker


class _Worker:
    """A model that is loaded; it is compiled for the first inputs."""

    def __init__(self, path: str, key: str | None, fuse: bool) -> None:
        found = t7.load(path)
        if key is not None:
            if not isinstance(found, dict) or key not in found:
                keys = list(found) if isinstance(found, dict) else f"a {type(found).__name__}"
                raise THNNArgumentError.expected(
                    "distributed.Predictor", 4, "key", f"a key of {path}", f"{key!r}, not in {keys}"
                )
            found = found[key]
        if not isinstance(found, nn.Module):
            raise THNNArgumentError.expected(
                "distributed.Predictor", 1, "path", "a file with a model, or the key of one in it",
                f"a {type(found).__name__} in {path}",
            )  # fmt: skip
        self.dtype = found.dtype
        self._model, self._fuse = found, fuse
        self._lock = threading.Lock()
        self._program: Program | None = None

    def run(self, inputs: list[Any]) -> Any:
        """The model's output; several threads may call at once."""
        with self._lock:
            if self._program is None:
                self._program = compile_model(self._model, *inputs, fuse=self._fuse)
        return self._program(*inputs)


_loading = threading.Lock()


def _worker(
    path: str, version: tuple[int, int], key: str | None, fuse: bool, threads: int | None
) -> _Worker:
    """The model of a file, which one thread loads while the others wait."""
    with _loading:
        return _loaded(path, version, key, fuse, threads)


@lru_cache(_KEPT)
def _loaded(
    path: str,
    version: tuple[int, int],  # noqa: ARG001 (files that differ in it are different models)
    key: str | None,
    fuse: bool,
    threads: int | None,
) -> _Worker:
    if threads is not None:
        set_num_threads(threads)
    return _Worker(path, key, fuse)


def _version(path: str) -> tuple[int, int]:
    """What tells a file from one that replaces it later."""
    found = Path(path).stat()
    return found.st_mtime_ns, found.st_size

"""The processes of a communicator: how they wait for each other, and what happens when one fails.

A process that waits must learn that another one will never come. Three things see to that:

- What a process raises inside a function of this package is told to all others, which raise it as
  ProcessError.
- An exception that nobody catches ends all processes of the program, after it was shown: importing
  the package sees to that.
- A process that ends tells the one after it, which may be waiting for it. The processes are a ring
  for that, so that it costs one message; whoever waits for a process that has ended raises
  ProcessError, and so ends the others.

MPI itself ends the others when a process is killed.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._errors import THNNArgumentError, THNNError

__all__ = ["Group", "ProcessError", "group_of", "world"]

Result = TypeVar("Result")

_ENDED = 1  # tag of the message that a process ends
_BUSY = 2e-4  # seconds of waiting without sleep: longer than messages take that are on their way
_SLEEP = 0.02  # of the time waited so far is slept at once: what waiting may add to itself
_LONGEST_SLEEP = 0.01  # seconds
_LATE = 2.0  # seconds after which a message of a process that has ended does not come any more
_PASSED_ON = 0.3  # seconds in which mpirun passes a traceback on, before it ends
_SHOWN = 1.0  # seconds that other processes leave the one that failed for that


class ProcessError(THNNError):
    """Another process failed, or ended too early."""


def _mpi() -> Any:
    """The module mpi4py.MPI."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # RuntimeError: mpi4py finds no library of MPI
        raise THNNError(
            "pythnn.distributed trains with the package mpi4py and a library of MPI: "
            f"pip install '.[mpi]', or mpi4py and mpich ({error})"
        ) from error
    return MPI


def world() -> Any:
    """The communicator of all processes, ``mpi4py.MPI.COMM_WORLD``, which wait for each other here.

    A program calls it first: a process that leaves later, while others wait for it, is noticed.
    Raises THNNError where mpi4py or a library of MPI is not installed.
    """
    comm = _mpi().COMM_WORLD
    group_of("world", 1, comm)
    return comm


class Group:
    """The processes of a communicator, with a communicator of their own for the package."""

    def __init__(self, comm: Any) -> None:
        self.mpi = _mpi()
        self.rank, self.size = int(comm.rank), int(comm.size)
        self.comm = comm
        if self.size > 1:
            self.comm = comm.Dup()
            self._ended = self.comm.Irecv(
                bytearray(1), (self.rank - 1) % self.size, _ENDED
            )  # of the process before
            self._ended_at: float | None = None
            atexit.register(self._end)

    def _end(self) -> None:
        """Tells the next process that this one ends, and waits until the one before ends."""
        if self.mpi.Is_finalized():
            return
        sent = self.comm.Isend(bytearray(1), (self.rank + 1) % self.size, _ENDED)
        while not (sent.Test() and (self._ended_at is not None or self._ended.Test())):
            time.sleep(_LONGEST_SLEEP)

    def _wait(self, request: Any, function: str) -> None:
        """Waits for a message to which all processes contribute, without keeping a core busy.

        Raises ProcessError when the process before this one has ended.
        """
        begun = time.monotonic()
        while not request.Test():
            now = time.monotonic()
            if now - begun < _BUSY:
                os.sched_yield()
                continue
            time.sleep(min(_SLEEP * (now - begun), _LONGEST_SLEEP))
            if self._ended_at is None and self._ended.Test():
                self._ended_at = now
            if self._ended_at is not None and now - max(self._ended_at, begun) > _LATE:
                before = (self.rank - 1) % self.size
                raise ProcessError(
                    f"distributed.{function}: process {before} of {self.size} has ended, while "
                    f"process {self.rank} waits for it; all must make the same calls"
                )

    def gather(
        self, function: str, values: NDArray[np.float64], error: BaseException | None = None
    ) -> list[NDArray[np.float64]]:
        """The values of each process, once all have come here; all have as many.

        Raises the error of this process, or ProcessError with that of another one.
        """
        if self.size == 1:
            if error is not None:
                raise error
            return [values]
        mine = np.concatenate([[error is not None], values])
        everything = np.empty((self.size, mine.size))
        self._wait(self.comm.Iallgather(mine, everything), function)
        failed = np.flatnonzero(everything[:, 0])
        if failed.size:
            first = int(failed[0])
            text = f"{type(error).__name__}: {error}" if error is not None else ""
            text = self.comm.bcast(text, first)
            if error is not None:
                raise error
            raise ProcessError(
                f"distributed.{function}: process {first} of {self.size} failed: {text}"
            )
        return list(everything[:, 1:])

    def agree(self, function: str, work: Callable[[], Result]) -> Result:
        """The result of `work`, when it has not failed in any process."""
        error, result = None, None
        try:
            result = work()
        except BaseException as raised:  # raised again when all processes know
            error = raised
        self.gather(function, np.empty(0), error)
        return result  # type: ignore[return-value]  # there is one where nothing was raised

    def from_root(self, function: str, root: int, work: Callable[[], Result]) -> Result:
        """What `work` gives in the process `root`, in all."""
        result = self.agree(function, work if self.rank == root else lambda: None)
        return self.comm.bcast(result, root)  # type: ignore[no-any-return]


def _end_all(
    before: Callable[..., Any],
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType | None,
) -> None:
    """Shows an exception that nobody catches, as the hook `before` does, and ends all processes."""
    before(kind, error, traceback)
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not mpi.Is_initialized() or mpi.Is_finalized() or mpi.COMM_WORLD.size == 1:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    time.sleep(_SHOWN if isinstance(error, ProcessError) else _PASSED_ON)
    mpi.COMM_WORLD.Abort(1)


# From the import on: a process may fail before it meets the others for the first time.
sys.excepthook = functools.partial(_end_all, sys.excepthook)

_keys: list[int] = []


def group_of(function: str, position: int, comm: Any) -> Group:
    """The group of a communicator, or of all processes for None.

    Raises THNNArgumentError for what is no communicator.
    """
    mpi = _mpi()
    if comm is None:
        comm = mpi.COMM_WORLD
    if not isinstance(comm, mpi.Intracomm) or comm == mpi.COMM_NULL:
        raise THNNArgumentError.expected(
            f"distributed.{function}", position, "comm",
            "a communicator of mpi4py, such as MPI.COMM_WORLD", type(comm).__name__,
        )  # fmt: skip
    if not _keys:
        _keys.append(mpi.Comm.Create_keyval())
    found: Group | None = comm.Get_attr(_keys[0])
    if found is None:
        found = Group(comm)
        comm.Set_attr(_keys[0], found)
    return found

"""Fuzzing of pythnn.load: damaged files give T7Error or a sound value, whatever they hold.

    python tests/fuzz/t7.py --seconds 60 [FILE …]
    python tests/fuzz/t7.py --count 10000000 --jobs 2

damages files, by default the small ones of tests/data, at random, and keeps what it finds in a
file. With Python 3.12 or later a damaged file that reaches other lines or branches of pythnn is
damaged further.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import random
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from damage import Entry, damaged
from reached import Reached

import pythnn
from pythnn._models.rows import is_object, rows_of
from pythnn.commands._values import lines_of

DATA = Path(__file__).parents[1] / "data"
LARGEST = 3000
"""Bytes of the files that are damaged by default; larger ones have more of the same."""
MOST_SECONDS = 10
"""Processor time that a file may take: it takes less than a millisecond."""


def fuzz_one(data: bytes) -> bool:
    """Loads a file; returns whether that succeeded. Whatever is unsound raises."""
    try:
        value = pythnn.load(io.BytesIO(data))
    except pythnn.T7Error:
        return False
    held = 0
    for array in arrays_in(value):
        held += check_bounds(array)
    if held > 64 * len(data):
        raise MemoryError(f"{len(data)} bytes became {held}")
    with contextlib.suppress(pythnn.T7Error):  # a size that modules made of damaged ones
        pythnn.save(io.BytesIO(), value)
    if is_object(value):
        rows_of(value)
    lines_of(value, 5, 10)
    return True


def arrays_in(root: Any) -> Iterator[np.ndarray]:
    """All arrays of a value."""
    seen: dict[int, Any] = {}
    pending = [root]
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, pythnn.Tensor):
            yield value.numpy()
        elif isinstance(value, pythnn.t7.TorchStorage):
            yield value.data
        elif isinstance(value, (list, tuple)):
            pending.extend(value)
        elif isinstance(value, (dict, pythnn.t7.Table)):
            pending.extend(value.keys())
            pending.extend(value.values())
        elif isinstance(value, pythnn.t7.TorchFunction):
            pending.append(value.upvalues)
        elif isinstance(value, pythnn.t7.TorchObject):
            pending += [value.header, value.fields]
        elif hasattr(value, "_to_fields"):
            pending.append(value._to_fields())


def check_bounds(array: np.ndarray) -> int:
    """Reads the first and last element; returns the bytes of the memory that all lie in."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if not array.size:
        return 0
    start, stop = bounds(array)
    first, end = bounds(root)
    if start < first or stop > end:
        raise IndexError(f"{start}-{stop} outside {first}-{end}")
    array[(0,) * array.ndim].item()
    array[(-1,) * array.ndim].item()
    return end - first


def bounds(array: np.ndarray) -> tuple[int, int]:
    """The addresses between which the elements lie; no stride is negative."""
    start = array.__array_interface__["data"][0]
    reach = sum((n - 1) * d for n, d in zip(array.shape, array.strides, strict=True))
    return start, start + reach + array.itemsize


class TooLong(BaseException):
    """A file takes longer than it should."""


def _too_long(*_: Any) -> None:
    raise TooLong


class Counts(NamedTuple):
    """What a run has seen."""

    files: int
    loaded: int
    kept: int
    reached: int
    megabytes: int


class Corpus:
    """The files to damage: those given, and damaged ones that reach what no other has reached."""

    def __init__(self, files: Sequence[bytes]) -> None:
        self.entries = [Entry(data) for data in files]
        self.given = len(files)
        self.strings = sorted({text for entry in self.entries for text in entry.strings()})

    def next(self, rng: random.Random) -> bytes:
        """A damaged file; as often of the found ones as of the given ones."""
        first = self.given if len(self.entries) > self.given and rng.random() < 0.5 else 0
        entry = self.entries[rng.randrange(first, len(self.entries))]
        return damaged(entry, self.entries, self.strings, rng)


def run(files: Sequence[bytes], seed: int, count: int, seconds: float) -> Counts:
    """Damages files until that many are done or the time is over, or something is found."""
    signal.signal(signal.SIGPROF, _too_long)
    reached = Reached(Path(pythnn.__file__).parent)
    corpus, rng = Corpus(files), random.Random(seed)  # noqa: S311
    for data in files:
        fuzz_one(data)
    end, runs, loaded = time.monotonic() + seconds, 0, 0
    while runs < count and time.monotonic() < end:
        data, before = corpus.next(rng), reached.count
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        try:
            loaded += fuzz_one(data)
        except BaseException:
            found = Path(f"fuzz-t7-{seed}-{runs}.t7")
            found.write_bytes(data)
            print(f"kept in {found}", file=sys.stderr)
            raise
        signal.setitimer(signal.ITIMER_PROF, 0)
        runs += 1
        if reached.count > before and len(data) <= LARGEST:
            corpus.entries.append(Entry(data))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return Counts(runs, loaded, len(corpus.entries) - corpus.given, reached.count, memory)


def small_files() -> list[Path]:
    """The files of the tests that are damaged by default."""
    files = [*sorted(DATA.glob("t7/*.t7")), *sorted(DATA.glob("nn/t7/*.t7"))]
    return [path for path in files if path.stat().st_size <= LARGEST]


def main() -> int:
    """Runs until all files are done, the time is over or something is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=small_files())
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--count", type=int, default=sys.maxsize)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    if arguments.seconds == float("inf") and arguments.count == sys.maxsize:
        arguments.seconds = 60.0
    files = [path.read_bytes() for path in arguments.files]
    start, jobs = time.monotonic(), arguments.jobs
    shares = [
        (files, arguments.seed + job, arguments.count // jobs, arguments.seconds)
        for job in range(jobs)
    ]
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        done = pool.starmap(run, shares)
    for share, counts in zip(shares, done, strict=True):
        print(
            f"seed {share[1]}: {counts.files} files, {counts.loaded} of which could still be read; "
            f"{counts.reached} lines and branches reached, for which {counts.kept} files were "
            f"kept; {counts.megabytes} MB of memory"
        )
    print(f"{sum(c.files for c in done)} files in {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

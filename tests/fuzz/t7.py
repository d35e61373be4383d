"""Fuzzing of pythnn.load: damaged files give T7Error or a sound value, whatever they hold.

    python tests/fuzz/t7.py --seconds 60 [FILE …]

changes the files, by default all of tests/data/t7, at random, and keeps what it finds in a file.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import pythnn
from pythnn._models.rows import is_object, rows_of
from pythnn.commands._values import lines_of

DATA = Path(__file__).parents[1] / "data" / "t7"
# Numbers that break things: counts just outside of what fits, and type tags.
INTERESTING = [*range(-2, 10), 31, 33, 64, 127, 255, 256, 2**16, 2**31 - 1, -(2**31), 2**31, 2**32]
INTERESTING += [2**60, 2**61, 2**62, 2**63 - 1, -(2**63), 2**64 - 1]


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


def mutate(data: bytes, rng: random.Random) -> bytes:
    """A damaged copy of a file."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8))):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(7)
        if kind == 0:
            out[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            size = rng.choice((4, 8))
            value = rng.choice(INTERESTING) % (1 << 8 * size)
            at -= at % 4 if rng.random() < 0.5 else 0
            out[at : at + size] = value.to_bytes(size, "little")
        elif kind == 2:
            del out[at : at + rng.choice((1, 4, 8, 64))]
        elif kind == 3:
            out = out[: max(at, 1)]
        elif kind == 4:
            start = rng.randrange(len(out) + 1)
            out[at:at] = out[start : start + rng.choice((4, 8, 40, 200))]
        elif kind == 5:
            out[at : at + rng.randrange(12)] = str(rng.choice(INTERESTING)).encode()
        else:
            start, size = rng.randrange(len(out) + 1), rng.choice((4, 8, 12))
            out[at : at + size] = out[start : start + size]
        if not out:
            break
    return bytes(out)


def main() -> int:
    """Runs until the time is over or something is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(DATA.glob("*.t7")))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    corpus = [path.read_bytes() for path in arguments.files]
    rng = random.Random(arguments.seed)  # noqa: S311
    end, runs, loaded = time.monotonic() + arguments.seconds, 0, 0
    while time.monotonic() < end:
        data = mutate(rng.choice(corpus), rng)
        try:
            loaded += fuzz_one(data)
        except Exception:
            found = Path(f"fuzz-t7-{arguments.seed}-{runs}.t7")
            found.write_bytes(data)
            print(f"kept in {found}", file=sys.stderr)
            raise
        runs += 1
    print(f"seed {arguments.seed}: {runs} files, {loaded} of which could still be read")
    return 0


if __name__ == "__main__":
    sys.exit(main())

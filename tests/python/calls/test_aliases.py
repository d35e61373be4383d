"""One Tensor, or one storage, as two arguments of a call: a refused call changes nothing, any other
leaves what it leaves with a copy as the second one.

Freed memory is overwritten at once, so that reading it shows.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from support import golden
from support.deviations import adapted
from support.processes import importing

import pythnn
from pythnn import Tensor

CASES = [adapted(c) for m in golden.modules() for c in golden.cases(m) if not c.is_error]
# Of glibc: free fills memory, at once and not only when the thread has a list full of it.
OVERWRITE = "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0"
# Each part of them in a process of its own.
PARTS = 4

Replace = Callable[[Tensor], Tensor]


def itself(tensor: Tensor) -> Tensor:
    return tensor


def first_element(tensor: Tensor) -> Tensor:
    """A view of the same storage that most calls have to resize."""
    return tensor.as_strided((1,), (1,)) if tensor.size else tensor


def pairs(case: golden.Case) -> Iterator[tuple[int, int]]:
    """Arguments that are read, and those that are written, of one type."""
    tensors = [(i, a) for i, a in enumerate(case.arguments) if a.is_tensor]
    for i, read in tensors:
        for j, written in tensors:
            if (read.role == "in") > (written.role == "in") and read.dtype == written.dtype:
                yield i, j


def left_by(call: golden.Call, places: list[int]) -> list[tuple[tuple[int, ...], bytes]]:
    return [(v.shape, v.numpy().tobytes()) for v in (call.values[i] for i in places)]


def call_with(case: golden.Case, read: int, written: int, replace: Replace) -> golden.Call:
    call = golden.prepare(case, "float", "tensors")
    call.values[written] = replace(call.values[read])
    return call


def check(case: golden.Case, read: int, written: int, replace: Replace) -> None:
    names = [case.arguments[i].name for i in (read, written)]
    print(case.function, case.name, *names, replace.__name__)
    call = call_with(case, read, written, replace)
    before = call.snapshot()
    outputs = [i for i, a in enumerate(case.arguments) if a.is_tensor and a.role != "in"]
    outputs = [i for i in outputs if call.values[i] is not None and a_result(case, i)]
    try:
        call.run()
    except pythnn.THNNError:
        assert call.snapshot() == before
        call.close()
        return
    found = left_by(call, outputs)
    call.close()
    apart = call_with(case, read, written, lambda tensor: replace(Tensor(tensor)))
    apart.run()
    assert found == left_by(apart, outputs)
    apart.close()


def a_result(case: golden.Case, place: int) -> bool:
    """Scratch arguments hold whatever a call leaves there."""
    return case.arguments[place].role != "scratch"


def every_pair(part: int) -> None:
    done: set[tuple[str, int, int, tuple[bool, ...]]] = set()
    for case in CASES:
        flags = tuple(a.value for a in case.arguments if isinstance(a.value, bool))
        for read, written in pairs(case):
            if (key := (case.function, read, written, flags)) in done:
                continue
            done.add(key)
            if len(done) % PARTS == part:
                check(case, read, written, itself)
                check(case, read, written, first_element)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_pair_of_arguments(part: int) -> None:
    code = f"import test_aliases as t; t.every_pair({part})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**importing(__file__), "GLIBC_TUNABLES": OVERWRITE, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-2000:]

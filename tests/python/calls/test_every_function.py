"""What holds for every function, shown on its recorded calls."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from support import golden
from support.deviations import adapted
from support.memory import counting_memory

import pythnn
from pythnn import State, Tensor, thnn

CASES = [adapted(c) for m in golden.modules() for c in golden.cases(m) if not c.is_error]
FUNCTIONS = sorted({c.function for c in CASES})


def cases_of(function: str) -> list[golden.Case]:
    return [c for c in CASES if c.function == function]


def results(case: golden.Case, state: State | None) -> list[tuple[str, bytes]]:
    call = golden.prepare(case, "double", "strided tensors")
    if call.case.arguments[0].kind == "state":
        call.values[0] = state
    call.run()
    call.close()
    return [
        (a.name, golden.as_array(v).tobytes()) for a, v in call.tensors() if a.role != "scratch"
    ]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_threads_do_not_change_bits(function: str) -> None:
    """With every block on a thread of its own, results have the same bits as with one thread."""
    for case in cases_of(function):
        with State(threads=1) as alone:
            wanted = results(case, alone)
        for threads in (2, 3, 4):
            with State(threads=threads, minimum_work=1) as state:
                assert results(case, state) == wanted, f"{case.name}: {threads} threads"


def test_threads_that_call_at_once_do_not_disturb_each_other() -> None:
    """Four threads make all calls, each in an order of its own: results have the bits of one."""
    with State(threads=1) as alone:
        wanted = [results(case, alone) for case in CASES]

    def differing(seed: int) -> list[str]:
        order = np.random.default_rng(seed).permutation(len(CASES))
        with State(threads=1 + seed % 2, minimum_work=1) as state:
            return [CASES[i].function for i in order if results(CASES[i], state) != wanted[i]]

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(differing, range(4))] == [[]] * 4


@pytest.mark.parametrize("function", FUNCTIONS)
def test_failing_allocations(function: str) -> None:
    """The 1st, 2nd, … allocation of a call fails until the call succeeds: each time a MemoryError,
    no block is left behind, and the tensors are as they were."""
    case = cases_of(function)[-1]
    for kind in ("tensors", "strided tensors"):
        failures = 0
        while True:
            call = golden.prepare(case, "double", kind)
            before = contents(call)
            with counting_memory() as memory:
                memory.fail_from(failures + 1)
                try:
                    call.run()
                except pythnn.THNNMemoryError:
                    failures += 1
                else:
                    break
                finally:
                    memory.fail_from(0)
                growth = sum(grown_blocks(v) for _, v in call.tensors())
                assert memory.live <= growth, f"{memory.live} blocks left after failure {failures}"
            assert contents(call) == before
            call.close()
            assert failures < 100
        golden.check_results(call)
        call.close()


def grown_blocks(value: Any) -> int:
    """Blocks that a tensor may own by now: sizes, strides and data."""
    return 3 if isinstance(value, Tensor) else 0


def contents(call: golden.Call) -> list[Any]:
    """Names, shapes, strides and elements of all tensors."""
    arrays = [(argument.name, golden.as_array(value)) for argument, value in call.tensors()]
    return [(name, array.shape, array.strides, array.tobytes()) for name, array in arrays]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_inputs_are_left_alone(function: str) -> None:
    """Arguments of role `in` are not written, not even for a moment: read-only arrays will do."""
    for case in cases_of(function):
        call = golden.prepare(case, "double", "arrays")
        written = {a.shares for a in case.arguments} | {
            a.name for a in case.arguments if a.role != "in"
        }
        for argument, value in call.tensors():
            if argument.name not in written and isinstance(value, np.ndarray):
                value.setflags(write=False)
        call.run()
        golden.check_results(call)
        call.close()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_help(function: str) -> None:
    """The docstring names every argument, with its role, and which are optional."""
    text = getattr(thnn, function).__doc__
    for argument in cases_of(function)[0].arguments:
        assert argument.name in text, argument.name

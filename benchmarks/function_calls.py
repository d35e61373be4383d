"""What a call of pythnn.functional takes where next to nothing is computed.

    python -m benchmarks.function_calls             all calls of the tests' cases, and those that
                                                    draw random numbers, slowest first
    python -m benchmarks.function_calls lstm sum    those whose names contain one of these
    python -m benchmarks.function_calls --above 6   those with more than 6 us of Python

Each call is repeated with the same arrays, and takes the shortest time of many. What C takes of it
is what a call takes longer that makes its calls of C twice, and likewise what numpy takes; a
function that cannot prepare its calls counts as Python altogether.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pythnn import functional
from pythnn._calls import prepared

from .environment import ROOT, settle

REPEATS, BATCH = 20, 50
"""How often a number of calls is measured, and how many these are."""
ROUNDS = 3
"""Calls until a function has prepared itself."""
LIMIT = 6
"""Microseconds of Python that a call may take."""


def calls() -> Iterator[tuple[str, Any, Callable[[], Any]]]:
    """The name of each call of the tests' cases, the function, and the call."""
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    from support.functional_calls import calls_of
    from support.functional_modules import CASES

    for case_name, case in CASES.items():
        for _ in range(ROUNDS):
            found = calls_of(case)
        for name, given, named in found:
            function = getattr(functional, name)
            call = functools.partial(function, *given, **named)
            yield f"{name} ({case_name})", function, call
    x = np.ones((4, 5))
    for function in (functional.dropout, functional.rrelu):  # of random results there is no case
        yield f"{function.__name__} (drawn)", function, functools.partial(function, x)


def shortest(call: Callable[[], Any]) -> float:
    """Microseconds of a call."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(BATCH):
            call()
        best = min(best, (time.perf_counter() - start) / BATCH)
    return best * 1e6


class _Repeated:
    """A function that does its work several times: how much longer that takes is its time."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.times = function, 1

    def __call__(self, *given: Any, **named: Any) -> Any:
        for _ in range(self.times - 1):
            self.function(*given, **named)
        return self.function(*given, **named)


def _of(repeated: list[_Repeated], call: Callable[[], Any]) -> float:
    """Microseconds that functions take within a call."""
    times = []
    for several in (1, 2):
        for function in repeated:
            function.times = several
        times.append(shortest(call))
        call()  # so that what it leaves is of whole work
    for function in repeated:
        function.times = 1
    return max(times[1] - times[0], 0.0)


class _Operations(list[_Repeated]):
    """Those of numpy in what is prepared while this is entered."""

    def __enter__(self) -> _Operations:
        self.constant = prepared._Writer._constant
        prepared._Writer._constant = lambda writer, value: self.constant(writer, self._noted(value))
        return self

    def _noted(self, value: Any) -> Any:
        """What prepared code refers to, which is an operation, or a constant."""
        if not callable(value) or str(getattr(value, "__module__", "")).startswith("pythnn"):
            return value
        self.append(_Repeated(value))
        return self[-1]

    def __exit__(self, *_: object) -> None:
        prepared._Writer._constant = self.constant


def _forget(function: Any) -> None:
    """Has a function prepare its calls anew."""
    function.__globals__["plan_of"].__self__.clear()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.function_calls")
    parser.add_argument("filters", nargs="*", help="parts of names")
    parser.add_argument("--above", type=float, default=0.0, help="only calls of more Python")
    options = parser.parse_args()
    settle(None)
    prepared.run = in_c = _Repeated(prepared.run)
    rows = []
    for name, function, call in calls():
        if options.filters and not any(f in name for f in options.filters):
            continue
        for _ in range(ROUNDS):
            call()
        whole, of_c = shortest(call), _of([in_c], call)
        _forget(function)
        with _Operations() as operations:
            for _ in range(ROUNDS):
                call()
        of_numpy = _of(operations, call) if operations else 0.0
        _forget(function)
        rows.append((whole - of_c - of_numpy, of_numpy, of_c, name))
    print("  Python    numpy        C   (us)")
    for *times, name in sorted(rows, reverse=True):
        if times[0] > options.above:
            print("".join(f"{each:8.2f} " for each in times), name)
    print(f"{sum(row[0] > LIMIT for row in rows)} of {len(rows)} calls take more than {LIMIT} us")


if __name__ == "__main__":
    main()

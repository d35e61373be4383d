"""What a call of pythnn.functional takes where next to nothing is computed.

    python -m benchmarks.function_calls             all calls of the tests' cases, slowest first
    python -m benchmarks.function_calls lstm sum    those whose names contain one of these
    python -m benchmarks.function_calls --above 6   those with more than 6 us of Python

Each call is repeated with the same arrays, and takes the shortest time of many. What C takes of it
is what a call takes longer that makes its calls of C twice; a function that cannot prepare its
calls counts as Python altogether.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from pythnn import functional
from pythnn._calls import prepared

from .environment import ROOT, settle

REPEATS, BATCH = 20, 50
"""How often a number of calls is measured, and how many these are."""
ROUNDS = 3
"""Calls until a function has prepared itself."""
LIMIT = 6
"""Microseconds of Python that a call may take."""


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The name of each call of the tests' cases, and the call."""
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    from support.functional_calls import calls_of
    from support.functional_modules import CASES

    for case_name, case in CASES.items():
        for _ in range(ROUNDS):
            found = calls_of(case)
        for name, given, named in found:
            function = getattr(functional, name)
            yield f"{name} ({case_name})", lambda f=function, g=given, n=named: f(*g, **n)


def shortest(call: Callable[[], Any]) -> float:
    """Microseconds of a call."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(BATCH):
            call()
        best = min(best, (time.perf_counter() - start) / BATCH)
    return best * 1e6


class _Twice:
    """Makes prepared calls of C once or twice: the difference is what C takes."""

    def __init__(self) -> None:
        self.run, self.times = prepared.run, 1

    def __call__(self, calls: Any) -> int:
        for _ in range(self.times - 1):
            self.run(calls)
        return int(self.run(calls))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.function_calls")
    parser.add_argument("filters", nargs="*", help="parts of names")
    parser.add_argument("--above", type=float, default=0.0, help="only calls of more Python")
    options = parser.parse_args()
    settle(None)
    prepared.run = twice = _Twice()
    rows = []
    for name, call in calls():
        if options.filters and not any(f in name for f in options.filters):
            continue
        for _ in range(ROUNDS):
            call()
        times = []
        for twice.times in (1, 2):
            times.append(shortest(call))
        twice.times = 1
        of_c = max(times[1] - times[0], 0.0)
        rows.append((times[0] - of_c, of_c, name))
    print("  Python        C   (us)")
    for of_python, of_c, name in sorted(rows, reverse=True):
        if of_python > options.above:
            print(f"{of_python:8.2f} {of_c:8.2f}   {name}")
    print(f"{sum(row[0] > LIMIT for row in rows)} of {len(rows)} calls take more than {LIMIT} us")


if __name__ == "__main__":
    main()

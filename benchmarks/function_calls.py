"""What a call of pythnn.functional takes where next to nothing is computed.

    python -m benchmarks.function_calls             all calls of the tests' cases, and those that
                                                    draw random numbers, slowest first
    python -m benchmarks.function_calls lstm sum    those whose names contain one of these
    python -m benchmarks.function_calls --above 6   those with more than 6 us of Python

Each call is repeated with the same arrays, and takes the shortest time of many, in several passes
over all calls. What C takes of it is what a call takes longer that makes its calls of C twice, and
likewise what numpy takes; a function that cannot prepare its calls counts as Python altogether.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pythnn import State, functional
from pythnn._calls import prepared

from .environment import ROOT, settle

PASSES, REPEATS, BATCH = 3, 10, 50
"""How often all calls are gone through, how often a number of each is measured in each pass, and
what that number is. What disturbs the machine lasts longer than one call is measured."""
ROUNDS = 3
"""Calls until a function has prepared itself."""
STATE = State(convolution="direct")
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
            settings = inspect.signature(function).parameters
            if "state" in settings and settings["state"].annotation == "State | None":
                with_state = functools.partial(function, *given, **named | {"state": STATE})
                yield f"{name} ({case_name}, with a state)", function, with_state
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


@dataclass
class _Row:
    """A call, and the shortest times that were measured of it, by what was done twice in it."""

    name: str
    function: Any
    call: Callable[[], Any]
    times: dict[str, float] = field(default_factory=dict)

    def measure(self, in_c: _Repeated) -> None:
        """Measures it with each kind of work once and twice."""
        _forget(self.function)
        for _ in range(ROUNDS):
            self.call()
        self._note("nothing", [])
        self._note("C", [in_c])
        _forget(self.function)
        with _Operations() as operations:
            for _ in range(ROUNDS):
                self.call()
        if operations:  # they take longer where they are looked after
            self._note("no operation of numpy", [])
            self._note("operations of numpy", operations)

    def _note(self, kind: str, repeated: list[_Repeated]) -> None:
        for function in repeated:
            function.times = 2
        self.times[kind] = min(self.times.get(kind, float("inf")), shortest(self.call))
        for function in repeated:
            function.times = 1
        self.call()  # so that what it leaves is of whole work

    def parts(self) -> tuple[float, float, float]:
        """Microseconds of Python, of numpy and of C."""
        times = self.times
        of_c = max(times["C"] - times["nothing"], 0.0)
        of_numpy = 0.0
        if "operations of numpy" in times:
            of_numpy = max(times["operations of numpy"] - times["no operation of numpy"], 0.0)
        return times["nothing"] - of_c - of_numpy, of_numpy, of_c


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.function_calls")
    parser.add_argument("filters", nargs="*", help="parts of names")
    parser.add_argument("--above", type=float, default=0.0, help="only calls of more Python")
    options = parser.parse_args()
    settle(None)
    prepared.run = in_c = _Repeated(prepared.run)
    chosen = [
        _Row(*one)
        for one in calls()
        if not options.filters or any(part in one[0] for part in options.filters)
    ]
    for _ in range(PASSES):
        for row in chosen:
            row.measure(in_c)
    rows = [(*row.parts(), row.name) for row in chosen]
    print("  Python    numpy        C   (us)")
    for *times, name in sorted(rows, reverse=True):
        if times[0] > options.above:
            print("".join(f"{each:8.2f} " for each in times), name)
    print(f"{sum(row[0] > LIMIT for row in rows)} of {len(rows)} calls take more than {LIMIT} us")


if __name__ == "__main__":
    main()

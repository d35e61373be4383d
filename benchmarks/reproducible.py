"""What reproducible results cost: the cases of the benchmark with and without them, in turns.

    python -m benchmarks.reproducible                    every case, both types
    python -m benchmarks.reproducible k3p1 --simd avx2   cases whose name contains this, at AVX2

Prints the dearest rows, and how many times as long reproducible calls take in the geometric mean of
each family and of all rows. Times are of one thread, without what others take of its processor.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable

from .environment import LEVELS, settle

SHOWN = 20
"""Rows that are listed."""
_LEAST = 1e-3
"""Seconds of a turn."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproducible",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("filters", nargs="*", metavar="FILTER", help="parts of names: of a case or family")
    add("--dtype", nargs="+", default=["float32", "float64"], choices=["float32", "float64"])
    add("--simd", choices=LEVELS, help="keep to this instruction set")
    add("--seconds", type=float, default=0.1, help="per side and row (default: %(default)s)")
    return parser.parse_args()


def _times(calls: list[Callable[[], object]], seconds: float) -> list[float]:
    """The shortest time of each call; they take turns."""
    clock = time.thread_time
    best = [float("inf")] * len(calls)
    spent = 0.0
    for call in calls:
        call()
    while spent < seconds * len(calls):
        for i, call in enumerate(calls):
            start, count = clock(), 0
            while clock() - start < _LEAST or count == 0:
                call()
                count += 1
            taken = clock() - start
            spent += taken
            best[i] = min(best[i], taken / count)
    return best


def main() -> int:
    options = _arguments()
    settle(options.simd)

    from pythnn import State

    from .measure import Bound
    from .table import CASES

    usual, reproducible = State(threads=1), State(threads=1, reproducible=True)
    ratios: dict[str, float] = {}
    families: dict[str, list[float]] = defaultdict(list)
    for case in CASES:
        if options.filters and not any(f in f"{case.family} {case.name}" for f in options.filters):
            continue
        for dtype in options.dtype:
            bound = Bound(case, dtype, None)
            for part in case.parts:
                if part.function is not None:
                    continue
                calls = [bound.ours(part, state) for state in (usual, reproducible)]
                before, after = _times(calls, options.seconds)
                ratios[f"{case.name}, {part.name}, {dtype}"] = after / before
                families[case.family].append(after / before)
    for name in sorted(ratios, key=ratios.__getitem__, reverse=True)[:SHOWN]:
        print(f"{ratios[name]:6.2f}  {name}")
    for family, values in families.items():
        print(f"{statistics.geometric_mean(values):6.2f}  {family}, {len(values)} rows")
    print(f"{statistics.geometric_mean(ratios.values()):6.2f}  all, {len(ratios)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Measures whole networks in evaluation.

    python -m benchmarks.networks                   all networks, one and sixteen inputs
    python -m benchmarks.networks ResNet --batch 1  some

Times are the shortest of many runs; all sides take turns in one process. Results are compared.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from typing import Any

import numpy as np

from ..environment import LEVELS, facts, settle
from .models import NETWORKS, Network
from .peers import PEERS, Runner, ours

ERROR = 1e-4
"""Of the largest result: what two ways of computing a network may differ by in float32."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.networks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    cores = len(os.sched_getaffinity(0))
    add("filters", nargs="*", metavar="FILTER", help="parts of names of networks")
    add("--batch", nargs="+", type=int, default=[1, 16])
    add("--threads", nargs="+", type=int, default=[1, 2] if cores > 1 else [1])
    add("--peers", nargs="*", default=[p for p in PEERS if p != "PyTorch compiled"], choices=PEERS)
    add("--simd", choices=LEVELS, help="keep all sides to this instruction set")
    add("--seconds", type=float, default=1.0, help="per side and row (default: %(default)s)")
    return parser.parse_args()


def main() -> int:
    options = _arguments()
    settle(options.simd)
    for name, value in facts(None).items():
        print(f"{name}: {value}")
    print()
    names = ["ours", *options.peers]
    print("| network | batch | threads |", " | ".join(names), "| ratio |")
    print("|---" * (len(names) + 4) + "|")
    ratios = []
    for network in NETWORKS:
        if options.filters and not any(part in network.name for part in options.filters):
            continue
        for batch in options.batch:
            for threads in options.threads:
                times = _measure(network, batch, threads, options.peers, options.seconds)
                others = [t for name, t in times.items() if name not in ("ours", "modules")]
                ratio = min(others, default=math.nan) / times["ours"]
                ratios.append(ratio)
                cells = [f"{1e3 * times[name]:.3g}" for name in names]
                row = [network.name, str(batch), str(threads), *cells, f"{ratio:.2f}"]
                print("|", " | ".join(row), "|", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    print(f"\nms; ratio: the fastest peer's time over ours. Geometric mean {mean:.2f}.")
    return 0


def _measure(
    network: Network, batch: int, threads: int, peers: list[str], seconds: float
) -> dict[str, float]:
    """The shortest time of each side."""
    model, x = network.model(), network.input(batch)
    runners: dict[str, Runner] = {"ours": ours(model, x, threads)}
    wanted = runners["ours"](x)
    for name in peers:
        runner = PEERS[name](model, x, threads)
        _compare(network, name, runner(x), wanted)
        runners[name] = runner
    times = dict.fromkeys(runners, math.inf)
    end = time.perf_counter() + seconds * len(runners)
    while True:
        for name, runner in runners.items():
            times[name] = min(times[name], _shortest(runner, x))
        if time.perf_counter() > end:
            return times


def _shortest(runner: Runner, x: Any, slice_: float = 0.05) -> float:
    """The shortest of the calls that fit a slice of time, at least two."""
    best, end, count = math.inf, time.perf_counter() + slice_, 0
    while count < 2 or time.perf_counter() < end:
        begin = time.perf_counter()
        runner(x)
        best = min(best, time.perf_counter() - begin)
        count += 1
    return best


def _compare(network: Network, name: str, found: Any, wanted: Any) -> None:
    largest = np.abs(wanted).max()
    error = np.abs(np.reshape(found, wanted.shape) - wanted).max() / largest
    if not error <= ERROR:
        print(f"{network.name}: {name} differs by {error:.1e} of the largest", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

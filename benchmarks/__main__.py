"""Measures pythnn against PyTorch.

    python -m benchmarks                       every case, both types, 1 and 2 threads
    python -m benchmarks k3p1 Threshold        cases whose name contains one of these
    python -m benchmarks --check               compare the ratios to PyTorch with guard.json

Times are the shortest of many calls; both sides take turns in one process. A star at a ratio says
that the machine did not run all threads at once, however often the row was measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from .environment import LEVELS, ROOT, facts, import_torch, settle

GUARD = Path(__file__).with_name("guard.json")
TOLERANCE = 0.1
"""How far a ratio may fall below its guard, as a part of it."""
ATTEMPTS = 3
BUSY = 0.5
"""Load average above which the figures need a warning."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    cores = len(os.sched_getaffinity(0))
    add("filters", nargs="*", metavar="FILTER", help="parts of names: of a case, family or part")
    add("--dtype", nargs="+", default=["float32", "float64"], choices=["float32", "float64"])
    add("--threads", nargs="+", type=int, default=[1, 2] if cores > 1 else [1])
    algorithms = ["auto", "gemm", "direct", "winograd", "winograd4", "fft_tiling"]
    add("--algorithm", nargs="+", default=["auto"], choices=algorithms)
    add("--simd", choices=LEVELS, help="keep both sides to this instruction set")
    add("--seconds", type=float, default=0.5, help="per side and row (default: %(default)s)")
    add("--no-peer", action="store_true", help="without PyTorch")
    add("--no-c", action="store_true", help="short calls from Python only")
    add("--output", type=Path, default=ROOT / "build" / "benchmarks", help="folder for results")
    add("--document", action="store_true", help="also write docs/performance*.md")
    add("--also", nargs="+", type=Path, default=[], metavar="FILE",
        help="results.json of runs at other instruction sets, for the document")  # fmt: skip
    add("--check", action="store_true", help=f"fail where a ratio is below {GUARD.name}")
    add("--update-guard", action="store_true", help=f"write the ratios to {GUARD.name}")
    add("--list", action="store_true", help="name the cases and end")
    return parser.parse_args()


def main() -> int:
    options = _arguments()
    settle(options.simd)
    torch = None if options.no_peer else import_torch()

    from rich.console import Console

    from . import report
    from .measure import Bench, Settings
    from .table import CASES

    console = Console(soft_wrap=True)
    if not console.is_terminal:
        console.width = 160
    cases = [
        case
        for case in CASES
        if not options.filters or any(f in f"{case.family} {case.name}" for f in options.filters)
    ]
    if options.list:
        for case in cases:
            console.print(f"{case.family:12} {case.name}", highlight=False)
        return 0
    if not cases:
        console.print(f"no case is called like {' or '.join(options.filters)}; see --list")
        return 2

    found = facts(torch)
    for name, value in found.items():
        console.print(f"{name:16} {value}", highlight=False)
    if float(found["load before"]) > BUSY:
        console.print("other programs are running here: do not trust the figures", style="yellow")
    settings = Settings(options.dtype, options.threads, options.algorithm, options.seconds)
    bench = Bench(torch, found["instruction set"], settings)
    if torch is not None:
        torch.inference_mode().__enter__()
        if not options.no_c:
            bench.prepare_peer_batches(cases)

    table = report.TerminalTable(console)
    rows = []
    for case in cases:
        for row in bench.rows(case):
            table.add(row)
            rows.append(row)
    if torch is not None:
        console.print(report.summary(rows))

    options.output.mkdir(parents=True, exist_ok=True)
    report.save(rows, found, options.output / "results.json")
    report.plots(rows, found, options.output)
    console.print(f"results and plots: {options.output}", highlight=False)
    if options.document:
        images = report.plots(rows, found, ROOT / "docs" / "images")
        others = [row for file in options.also for row in report.load(file)[0]]
        docs = ROOT / "docs"
        report.update_document(docs / "performance-tables.md", rows + others, found, images)
        report.update_summary(docs / "performance.md", rows)

    wrong = [row.key for row in rows if row.wrong]
    for key in wrong:
        console.print(f"wrong result: {key}", style="red", highlight=False)
    if options.update_guard:
        guard = report.read_guard(GUARD) | {
            row.key: round(row.ratio, 2) for row in rows if row.ratio is not None
        }
        GUARD.write_text(json.dumps(dict(sorted(guard.items())), indent=1) + "\n")
    slower = _check(bench, cases, rows, console) if options.check else 0
    return 1 if wrong or slower else 0


def _check(bench: Any, cases: Any, rows: Any, console: Any) -> int:
    """Compares with the guard; what falls short is measured again before it counts."""
    from .report import read_guard

    guard = read_guard(GUARD)
    best = {row.key: row.ratio for row in rows if row.ratio is not None and row.key in guard}
    owner = {row.key: row.case for row in rows}

    def short() -> list[str]:
        return [key for key, ratio in best.items() if ratio < (1 - TOLERANCE) * guard[key]]

    for _ in range(ATTEMPTS - 1):
        again = {owner[key] for key in short()}
        for case in (case for case in cases if case.name in again):
            for row in bench.rows(case):
                if row.key in best and row.ratio is not None:
                    best[row.key] = max(best[row.key], row.ratio)
    for key in short():
        message = f"slower than the guard: {key}: {best[key]:.2f}, guard {guard[key]:.2f}"
        console.print(message, style="red", highlight=False)
    console.print(f"{len(best)} rows compared with {GUARD.name}, {len(short())} slower")
    return len(short())


if __name__ == "__main__":
    sys.exit(main())

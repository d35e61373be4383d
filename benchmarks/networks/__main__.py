"""Measures whole networks: in evaluation, and training steps.

    python -m benchmarks.networks                   all networks, one and sixteen inputs
    python -m benchmarks.networks ResNet --batch 1  some
    python -m benchmarks.networks --peers "PyTorch compiled" --dtype float32 float64
    python -m benchmarks.networks --layers          their single convolutions instead
    python -m benchmarks.networks --document        also write docs/networks.md

Times are the shortest of many runs; all sides take turns in one process. Results are compared.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib.metadata import version
from pathlib import Path

from ..environment import LEVELS, ROOT, facts, import_torch, settle
from .layers import LAYERS
from .measuring import measure
from .models import NETWORKS
from .page import line, update_page
from .peers import FLOAT32_ONLY, INFERENCE, TRAINING
from .rows import Row, load, mean_ratio, save

KINDS = {"inference": INFERENCE, "training": TRAINING}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.networks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    cores = len(os.sched_getaffinity(0))
    usual = [name for name in INFERENCE if name != "PyTorch compiled"]
    add("filters", nargs="*", metavar="FILTER", help="parts of names of networks")
    add("--kind", nargs="+", default=list(KINDS), choices=KINDS)
    add("--dtype", nargs="+", default=["float32"], choices=["float32", "float64"])
    add(
        "--batch", nargs="+", type=int, help="by default one and sixteen inputs, or a network's own"
    )
    add("--threads", nargs="+", type=int, default=[1, 2] if cores > 1 else [1])
    add("--peers", nargs="*", default=usual, choices=INFERENCE)
    add("--simd", choices=LEVELS, help="keep all sides but onnxruntime to this instruction set")
    add("--seconds", type=float, default=1.0, help="per side and row (default: %(default)s)")
    add("--output", type=Path, default=ROOT / "build" / "benchmarks", help="folder for results")
    add("--layers", action="store_true", help="single convolutions, in evaluation")
    add("--document", action="store_true", help="also write docs/networks.md and its pictures")
    add("--also", nargs="+", type=Path, default=[], metavar="FILE",
        help="networks.json of other runs, for the document")  # fmt: skip
    options = parser.parse_args()
    if options.layers:
        if options.document:
            parser.error("--document is about networks, not about --layers")
        options.kind = ["inference"]
    return options


def main() -> int:
    options = _arguments()
    settle(options.simd)
    found = facts(import_torch() if any("PyTorch" in peer for peer in options.peers) else None)
    for name in options.peers:
        if name in FLOAT32_ONLY:  # those whose package has their name
            found[name] = version(name.lower())
    for name, value in found.items():
        print(f"{name}: {value}")
    rows: list[Row] = []
    right = True
    for kind in options.kind:
        for dtype in options.dtype:
            made, agree = _rows(options, kind, dtype)
            rows += made
            right &= agree
    save(rows, found, options.output / "networks.json")
    if options.document:
        others = [row for file in options.also for row in load(file)[0]]
        update_page(ROOT / "docs" / "networks.md", rows + others, found)
    return 0 if right else 1


def _rows(options: argparse.Namespace, kind: str, dtype: str) -> tuple[list[Row], bool]:
    """The rows of a kind and type, printed as they come, and whether all results agree."""
    peers = {
        name: make
        for name, make in KINDS[kind].items()
        if name in options.peers and not (dtype == "float64" and name in FLOAT32_ONLY)
    }
    sides = ["ours", *peers]
    print(f"\n{kind}, {dtype}, ms\n\n| network | batch | threads | {' | '.join(sides)} | ratio |")
    print("|---" * (len(sides) + 4) + "|")
    rows, right = [], True
    for network in LAYERS if options.layers else NETWORKS:
        if options.filters and not any(part in network.name for part in options.filters):
            continue
        for batch in options.batch or network.batches:
            for threads in options.threads:
                row = Row(network.name, kind, dtype, batch, threads)
                for message in measure(row, network, peers, options.seconds):
                    print(message, file=sys.stderr)
                    right = False
                rows.append(row)
                print(line(row, sides), flush=True)
    print(f"\nratio: the fastest peer's time over ours. Geometric mean {mean_ratio(rows):.2f}.")
    return rows, right


if __name__ == "__main__":
    sys.exit(main())

"""Measures how time and memory grow with the size of a convolution.

    python -m benchmarks.growth                 the table in the terminal
    python -m benchmarks.growth --document      … and in docs/performance-tables.md, with a picture

Each size is a process of its own, so that its peak memory is its own too. Scratch is by how much
the resident memory during a call exceeds what it was with inputs and results in place: of the part
that takes most.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .environment import ROOT, facts, settle

SECONDS = 0.3
"""Spent on each part of each size."""
LIMIT = 8
"""MB of scratch for each thread that the design allows."""


@dataclass(frozen=True)
class Size:
    """A 3x3 convolution with padding 1 over square images."""

    batch: int = 4
    planes: int = 32
    image: int = 64
    threads: int = 1

    @property
    def flops(self) -> int:
        return 2 * 9 * self.batch * self.planes**2 * self.image**2


def _sweeps(cores: int) -> dict[str, list[Size]]:
    """What varies, and the sizes; all else is as in Size()."""
    powers = [2**n for n in range(13)]
    return {
        "batch": [Size(batch=n) for n in powers if n <= 128],
        "planes": [Size(planes=n) for n in powers if 4 <= n <= 512],
        "image": [Size(batch=1, planes=8, image=n) for n in powers if n >= 16],
        "threads": [Size(batch=16, threads=n) for n in range(1, cores + 1)],
    }


def _resident(field: str) -> int:
    """Bytes: VmRSS, or VmHWM for the peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise OSError(f"/proc/self/status has no {field}")


def _risen(call: Any) -> int:
    """Bytes by which the resident memory rises above what it was before the call."""
    ctypes.CDLL(None).malloc_trim(0)  # what was given back would be used again
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again
    call()
    return _resident("VmHWM") - before


def _shortest(call: Any) -> float:
    best = math.inf
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or best == math.inf:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def measure(size: Size) -> dict[str, Any]:
    """Seconds of each part, and bytes of scratch; to be called once in a process."""
    import numpy as np

    from pythnn import State, Tensor, thnn

    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Tensor:
        return Tensor(rng.standard_normal(shape, np.float32))

    state = State(threads=size.threads)
    shape = size.batch, size.planes, size.image, size.image
    images = [normal(*shape) for _ in range(2)]
    gx = normal(*shape)
    w, gw = (normal(size.planes, size.planes, 3, 3) for _ in range(2))
    b, gb = (normal(size.planes) for _ in range(2))
    window = None, None, 3, 3, 1, 1, 1, 1
    small = [normal(1, size.planes, 4, 4) for _ in range(2)]
    parts: dict[str, Callable[..., None]] = {
        "output": lambda x, y: thnn.SpatialConvolutionMM_updateOutput(state, x, y, w, b, *window),
        "gradInput": lambda x, y: thnn.SpatialConvolutionMM_updateGradInput(
            state, x, y, gx, w, *window
        ),
        "gradParameters": lambda x, y: thnn.SpatialConvolutionMM_accGradParameters(
            state, x, y, gw, gb, *window, 1.0
        ),
    }
    for part in parts.values():
        part(*small)  # threads and code are there before memory is looked at
    scratch = max(_risen(partial(part, *images)) for part in parts.values())
    seconds = {name: _shortest(partial(part, *images)) for name, part in parts.items()}
    return {"size": asdict(size), "flops": size.flops, "seconds": seconds, "scratch": scratch}


def _in_process(size: Size) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.growth", "--size", json.dumps(asdict(size))]
    text = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    found: dict[str, Any] = json.loads(text)
    return found


def _rows(sweep: str, results: list[dict[str, Any]]) -> Iterator[list[str]]:
    for found in results:
        rates = [found["flops"] / s / 1e9 for s in found["seconds"].values()]
        yield [
            sweep,
            str(found["size"][sweep]),
            *(f"{1e3 * s:.3f}" for s in found["seconds"].values()),
            " / ".join(f"{rate:.0f}" for rate in rates),
            f"{found['scratch'] / 2**20:.1f}",
        ]


_HEADINGS = (
    "varied", "value", "output ms", "gradInput ms", "gradParameters ms", "GFLOP/s", "scratch MB",
)  # fmt: skip


def _plot(results: dict[str, list[dict[str, Any]]], caption: str, file: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "pythnn", "font.size": 8})
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        2, len(results), figsize=(11, 4.6), sharey="row", layout="constrained"
    )
    for column, (sweep, found) in enumerate(results.items()):
        values = [entry["size"][sweep] for entry in found]
        speed, memory = axes[0, column], axes[1, column]
        for part in ("output", "gradInput", "gradParameters"):
            rates = [entry["flops"] / entry["seconds"][part] / 1e9 for entry in found]
            speed.plot(values, rates, marker=".", label=part)
        memory.plot(
            values, [entry["scratch"] / 2**20 for entry in found], marker=".", color="#333333"
        )
        memory.plot(
            values,
            [LIMIT * entry["size"]["threads"] for entry in found],
            linestyle=":",
            color="#b00020",
            label=f"{LIMIT} MB a thread",
        )
        for axis in (speed, memory):
            if sweep != "threads":
                axis.set_xscale("log", base=2)
            else:
                axis.set_xticks(values)
            axis.spines[["top", "right"]].set_visible(False)
            axis.grid(color="#dddddd", linewidth=0.5)
        memory.set_xlabel(sweep)
    axes[0, 0].set_ylabel("GFLOP/s")
    axes[1, 0].set_ylabel("scratch, MB")
    axes[0, 0].set_ylim(bottom=0)
    axes[1, 0].set_ylim(bottom=0)
    axes[0, 0].legend(frameon=False)
    axes[1, 0].legend(frameon=False)
    figure.supxlabel(caption, fontsize=6, color="#555555")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


BEGIN, END = "<!-- begin: growth -->", "<!-- end: growth -->"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--document", action="store_true", help="write docs/performance-tables.md")
    parser.add_argument("--size", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    settle(None)
    if options.size is not None:
        print(json.dumps(measure(Size(**options.size))))
        return 0

    from rich.console import Console
    from rich.table import Table

    from .report import caption, replace_between

    table = Table(*_HEADINGS)
    results = {}
    for sweep, sizes in _sweeps(len(os.sched_getaffinity(0))).items():
        results[sweep] = [_in_process(size) for size in sizes]
        for row in _rows(sweep, results[sweep]):
            table.add_row(*row)
    Console().print(table)
    if options.document:
        image = ROOT / "docs" / "images" / "growth.svg"
        _plot(results, caption(facts(None)), image)
        lines = [f"![{image.stem}](images/{image.name})", ""]
        lines += [f"| {' | '.join(_HEADINGS)} |", "|" + "---|" * len(_HEADINGS)]
        for sweep, found in results.items():
            lines += [f"| {' | '.join(row)} |" for row in _rows(sweep, found)]
        replace_between(ROOT / "docs" / "performance-tables.md", BEGIN, END, "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())

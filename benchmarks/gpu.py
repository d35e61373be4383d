"""Measures pythnn against PyTorch on a GPU.

    python -m benchmarks.gpu                   every case, both types
    python -m benchmarks.gpu k3p1 Threshold    cases whose name contains one of these
    python -m benchmarks.gpu --tf32            also with PyTorch free to use TF32, which we never do

Times are those of CUDA's events around one call, the shortest of many; before each, memory beyond
the cache's size is written, so that every call begins with a cold cache. Results are compared with
pythnn on the CPU in float64.
"""

from __future__ import annotations

import argparse
import functools
import math
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pythnn import Tensor
from pythnn._cuda.driver import device_names, driver_version, status
from pythnn._cuda.package import find, load

from .cases import Case, Contents, Part
from .environment import ROOT, commit
from .measure import ON_GPU, Bound, Row, largest_error

DEVICE = "cuda:0"
LARGE = 2**25
"""Elements from which on a tensor is larger than any cache."""
_FEWEST_SAMPLES = 10


# --- The card -------------------------------------------------------------------------------------

# Multiply-adds per multiprocessor and cycle, by compute capability.
_LANES = {(7, 0): 64, (7, 2): 64, (7, 5): 64, (8, 0): 64}
_USUAL_LANES = 128
_TENSOR_CORES_DOUBLE = {(8, 0): 2, (9, 0): 2}  # times as fast as the other units
_TENSOR_CORES_TF32 = {(8, 0): 512, (9, 0): 1024}


@dataclass(frozen=True)
class Card:
    """What a GPU can do."""

    name: str
    capability: tuple[int, int]
    processors: int
    hertz: float
    cache_bytes: int
    double_is_slower: int
    """How many times fewer multiply-adds in float64 than in float32."""

    @classmethod
    def of(cls, cupy: Any) -> Card:
        device = cupy.cuda.Device(0)
        facts = device.attributes
        capability = str(device.compute_capability)
        return cls(
            cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(),
            (int(capability[:-1]), int(capability[-1])),
            facts["MultiProcessorCount"],
            1e3 * facts["ClockRate"],
            facts["L2CacheSize"],
            facts["SingleToDoublePrecisionPerfRatio"],
        )

    def flops_per_second(self, dtype: str, tf32: bool = False) -> float:
        """The peak that the maker states, at the highest clock."""
        lanes: float = _LANES.get(self.capability, _USUAL_LANES)
        if dtype == "float64":
            lanes *= _TENSOR_CORES_DOUBLE.get(self.capability, 1) / self.double_is_slower
        elif tf32:
            lanes = _TENSOR_CORES_TF32.get(self.capability, lanes)
        return 2 * lanes * self.processors * self.hertz


class Clock(Protocol):
    """How long work on the device takes."""

    def seconds(self, call: Callable[[], object]) -> float: ...


class Events:
    """CUDA's events on the current stream."""

    def __init__(self, cupy: Any, cache_bytes: int) -> None:
        self._events = cupy.cuda.Event(), cupy.cuda.Event()
        self._elapsed = cupy.cuda.get_elapsed_time
        # Writing it also keeps the device busy while Python queues the call that is measured.
        self._memory = cupy.empty(max(4 * cache_bytes, 2**29), np.uint8)

    def seconds(self, call: Callable[[], object]) -> float:
        begin, end = self._events
        self._memory.fill(0)
        begin.record()
        call()
        end.record()
        end.synchronize()
        return 1e-3 * float(self._elapsed(begin, end))


def samples(
    clock: Clock, calls: Sequence[Callable[[], object]], budget: float
) -> list[list[float]]:
    """Samples of each call's time, in seconds; the calls take turns."""
    for call in calls:
        clock.seconds(call)  # memory pools fill, libraries choose their algorithms
    found: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + budget * len(calls)
    while len(found[0]) < _FEWEST_SAMPLES or time.perf_counter() < end:
        for call, sample in zip(calls, found, strict=True):
            sample.append(clock.seconds(call))
    return found


# --- Cases ----------------------------------------------------------------------------------------

_BY_BATCH = ("pointwise", "softmax", "normalisation", "pooling")
"""Families whose arguments do not name the batch's size."""


def enlarged(case: Case, elements: int = LARGE) -> Case | None:
    """The case with a batch so long that its tensors do not fit a cache; None where it has one."""
    if case.family not in _BY_BATCH or "input" not in case.tensors:
        return None
    shape = case.tensors["input"].shape
    times = round(elements / math.prod(shape))
    if times < 2:
        return None

    def longer(contents: Contents) -> Contents:
        own = contents.shape
        if len(own) != len(shape):
            return contents
        return replace(contents, shape=(own[0] * times, *own[1:]))

    tensors = {name: longer(contents) for name, contents in case.tensors.items()}
    parts = tuple(replace(part, elements=part.elements * times) for part in case.parts)
    return replace(case, name=f"{case.name}_x{times}", tensors=tensors, parts=parts)


def chosen(cases: Sequence[Case], filters: Sequence[str]) -> list[Case]:
    """The cases for a GPU that are called like one of the filters, and the enlarged ones."""
    usable = [case for case in cases if not case.arrays]
    both = [c for case in usable for c in (case, enlarged(case)) if c is not None]
    return [c for c in both if not filters or any(f in f"{c.family} {c.name}" for f in filters)]


# --- Measuring ------------------------------------------------------------------------------------


class DeviceBound(Bound):
    """A case with memory on the device; the same on the CPU, in float64, to compare with."""

    def __init__(self, case: Case, dtype: str, torch: Any | None, torch_device: str) -> None:
        self._torch_device = torch_device
        super().__init__(case, dtype, torch)
        self._exact = Bound(case, "float64", None)
        self._exact.take_values(self)

    def _our_tensor(self, array: NDArray[Any]) -> Any:
        return Tensor(array, device=DEVICE)

    def _empty(self, dtype: Any) -> Any:
        return Tensor(dtype=dtype, device=DEVICE)

    def _torch_tensor(self, array: NDArray[Any]) -> Any:
        return self._torch.tensor(array, device=self._torch_device)  # a copy: it may be written

    @property
    def has_peer(self) -> bool:
        return self._torch is not None

    def errors(self, part: Part, state: Any = None) -> tuple[float | None, float | None]:
        """Ours and PyTorch's, against the CPU. Parts come in their order: they share tensors."""
        names = self.written(part)
        for side in (self, self._exact):
            side.clear(names)
            side.ours(part, state)()
        wanted = self._exact.values(names)
        theirs = None
        if self.has_peer:
            theirs = largest_error(self.peer_values(part), wanted)
        return largest_error(self.values(names), wanted), theirs


class DeviceBench:
    """What all cases share."""

    def __init__(
        self, cupy: Any, clock: Clock, card: Card, torch: Any | None = None, peer: str = DEVICE
    ) -> None:
        self._cupy = cupy
        self._clock = clock
        self._card = card
        self._torch = torch
        self._peer_device = peer
        self.failures: list[str] = []

    def measured(self, case: Case, dtype: str, seconds: float, tf32: bool = False) -> list[Row]:
        """The rows of a case; without PyTorch where it fails. What fails is noted, not raised."""
        for beside in (True, False) if self._torch is not None else (False,):
            try:
                return list(self.rows(case, dtype, seconds, tf32, beside))
            except RuntimeError as error:
                how = "beside PyTorch" if beside else "alone"
                reason = str(error).splitlines()[0]
                self.failures.append(f"{case.name} {dtype} {how}: {reason}")
        return []

    def rows(
        self, case: Case, dtype: str, seconds: float, tf32: bool = False, beside: bool = True
    ) -> Iterator[Row]:
        """A row per part; with `tf32`, also one that lets PyTorch round products to TF32."""
        if any(call.function not in load().functions for part in case.parts for call in part.calls):
            return  # not on CUDA
        if any(part.function is not None for part in case.parts):
            return  # of arrays in the CPU's memory
        bound = DeviceBound(case, dtype, self._torch if beside else None, self._peer_device)
        for part in case.parts:
            self._let_torch_round(False)
            errors = bound.errors(part)
            rounds = tf32 and dtype == "float32" and part.flops and bound.has_peer
            for rounded in (False, True) if rounds else (False,):
                row = self._row(bound, part, dtype, seconds, rounded)
                row.error, row.torch_error = errors
                yield row

    def _row(self, bound: DeviceBound, part: Part, dtype: str, seconds: float, tf32: bool) -> Row:
        case, size = bound.case, bound.bytes(part)
        limit = self._card.flops_per_second(dtype, tf32) if part.flops else self.copy_speed(size)
        row = Row(
            case.name, case.family, part.name, dtype, ON_GPU, "tf32" if tf32 else "", "cuda",
            part.flops, size, limit, tolerance=case.tolerance[dtype],
        )  # fmt: skip
        calls: list[Callable[[], object]] = [bound.ours(part, None)]
        if bound.has_peer:
            self._let_torch_round(tf32)
            calls.append(bound.peer(part))
        found = samples(self._clock, calls, seconds)
        row.ours, row.ours_median = min(found[0]), statistics.median(found[0])
        if len(found) > 1:
            row.torch, row.torch_median = min(found[1]), statistics.median(found[1])
        return row

    def _let_torch_round(self, tf32: bool) -> None:
        if self._torch is not None:
            self._torch.backends.cuda.matmul.allow_tf32 = tf32
            self._torch.backends.cudnn.allow_tf32 = tf32

    @functools.cache  # noqa: B019 - there is one object, for the life of the process
    def copy_speed(self, size: int) -> float:
        """Bytes per second, read and written, of a copy that moves `size` bytes."""
        half = max(1, size // 2)
        source, target = (self._cupy.empty(half, np.uint8) for _ in range(2))
        copy = functools.partial(self._cupy.copyto, target, source)
        return 2 * half / min(samples(self._clock, [copy], 0.0)[0])


# --- The command ----------------------------------------------------------------------------------


def unusable() -> str | None:
    """Why nothing can be measured here, in one line; None where it can."""
    if not device_names():
        return f"There is no GPU to measure on: {status()}."
    if find() is None or find_spec("cupy") is None:
        return "pythnn has no part for CUDA here: pip install '.[cuda13]' ./packaging/cuda13."
    return None


def facts(cupy: Any, card: Card, torch: Any | None) -> dict[str, str]:
    """What a figure depends on."""
    version = cupy.cuda.runtime.runtimeGetVersion()
    found = {
        "GPU": f"{card.name}, {card.processors} multiprocessors, {card.hertz / 1e9:.2f} GHz",
        "CUDA": f"{version // 1000}.{version % 1000 // 10}, driver {driver_version() // 1000}",
        "CuPy": cupy.__version__,
        "commit": commit(),
        "Python": platform.python_version(),
    }
    if torch is not None:
        cudnn = torch.backends.cudnn.version()
        found["PyTorch"] = f"{torch.__version__}, cuDNN {cudnn}, its fastest algorithms"
    return found


PAGE = """# Performance on GPUs

pythnn and PyTorch on one GPU, taking turns, results compared with pythnn on the CPU in float64. To
measure again: `python -m benchmarks.gpu --tf32 --document`.

Times are the shortest of many, by CUDA's events around one call with a cold cache. The ratio is
PyTorch's time over ours: above 1 we are faster. The limit of a convolution is the peak that the
card's maker states, that of everything else the measured speed of a copy of as many bytes. Rows
called tf32 let PyTorch round the factors of products to 10 bits; ours are always exact.

{begin}
{end}
"""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("filters", nargs="*", metavar="FILTER", help="parts of names: of a case or family")
    add("--dtype", nargs="+", default=["float32", "float64"], choices=["float32", "float64"])
    add("--tf32", action="store_true", help="also with PyTorch free to use TF32")
    add("--seconds", type=float, default=0.1, help="per side and row (default: %(default)s)")
    add("--no-peer", action="store_true", help="without PyTorch")
    add("--output", type=Path, default=ROOT / "build" / "benchmarks-gpu", help="for results")
    add("--document", action="store_true", help="also write docs/cuda-performance.md")
    add("--list", action="store_true", help="name the cases and end")
    return parser.parse_args()


def main() -> int:
    options = _arguments()
    from .table import CASES

    cases = chosen(CASES, options.filters)
    if options.list:
        print("\n".join(f"{case.family:12} {case.name}" for case in cases))
        return 0
    if not cases:
        print(f"no case is called like {' or '.join(options.filters)}; see --list")
        return 2
    reason = unusable()
    if reason:
        print(reason)
        return 2

    import cupy
    from rich.console import Console

    from . import report

    torch = None if options.no_peer else _torch_on_a_gpu()
    console = Console(soft_wrap=True)
    if not console.is_terminal:
        console.width = 160
    card = Card.of(cupy)
    found = facts(cupy, card, torch)
    for name, value in found.items():
        console.print(f"{name:8} {value}", highlight=False)
    bench = DeviceBench(cupy, Events(cupy, card.cache_bytes), card, torch)
    table, rows = report.TerminalTable(console), []
    for case in cases:
        for dtype in options.dtype:
            for row in bench.measured(case, dtype, options.seconds, options.tf32):
                table.add(row)
                rows.append(row)
        report.save(rows, found, options.output / "results.json")  # whatever ends the run later
    if torch is not None:
        console.print(report.summary(rows))
    report.plots(rows, found, options.output)
    console.print(f"results and plots: {options.output}", highlight=False)
    if options.document:
        page = ROOT / "docs" / "cuda-performance.md"
        page.write_text(PAGE.format(begin=report.BEGIN, end=report.END))
        images = report.plots(rows, found, ROOT / "docs" / "images" / "cuda")
        report.update_document(page, rows, found, images)
    wrong = [row.key for row in rows if row.wrong]
    for key in wrong:
        console.print(f"wrong result: {key}", style="red", highlight=False)
    for failure in bench.failures:
        console.print(f"failed: {failure}", style="red", highlight=False)
    return 1 if wrong or bench.failures else 0


def _torch_on_a_gpu() -> Any:
    from .environment import import_torch

    torch = import_torch()
    if not torch.cuda.is_available():
        sys.exit("This PyTorch has no CUDA: install one that has, or measure with --no-peer.")
    torch.backends.cudnn.benchmark = True
    torch.set_default_device(DEVICE)
    torch.inference_mode().__enter__()
    return torch


if __name__ == "__main__":
    sys.exit(main())

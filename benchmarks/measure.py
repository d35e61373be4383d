"""Measuring one case: both sides in turn, results compared, rows of figures."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import repeat
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

import pythnn
from pythnn import State, Tensor, thnn
from pythnn._table import FUNCTIONS

from .cases import Call, Case, Chosen, Contents, Indices, Labels, Part, Steps, Taps, Uniform, Zeros
from .native import Batch, Limits, PeerBatches

Algorithm: TypeAlias = Literal["auto", "gemm", "direct", "winograd", "winograd4", "fft_tiling"]

ON_GPU = 0
"""In the place of the number of threads."""

SHORT = 20e-6
"""Seconds; shorter calls are also measured without Python."""

FEW_CORES = 0.9
"""Of the threads, the part that the machine must run at once; machines share their cores."""

WAITS = (1, 2, 4, 8)
"""Seconds before a row is measured again because the machine gave too few cores."""

_SLICE = 0.03
_WRITTEN = ("out", "inout", "accumulate")


def workers(threads: int) -> str:
    """What a row was measured on, in short."""
    return "GPU" if threads == ON_GPU else f"{threads}t"


def is_wrong(error: float, torch_error: float | None, tolerance: float) -> bool:
    """Not where PyTorch's own error is as large: beside steps, rounding decides."""
    return not error <= max(tolerance, 1.5 * (torch_error or 0))


@dataclass
class Row:
    """The figures of one part. Times are seconds per call, rates per second."""

    case: str
    family: str
    part: str
    dtype: str
    threads: int
    algorithm: str
    level: str
    flops: int
    bytes: int
    """Of the tensors that a call reads and writes, each once (twice where it adds to one)."""
    limit: float
    """FLOP/s of multiply-adds in registers, or bytes/s of memcpy on as many bytes."""
    ours: float = 0.0
    ours_median: float = 0.0
    torch: float | None = None
    torch_median: float | None = None
    ours_c: float | None = None
    """A call from a loop in C; for short calls."""
    torch_c: float | None = None
    error: float | None = None
    """Against float64 PyTorch, as a part of the largest value."""
    torch_error: float | None = None
    tolerance: float = 0.0
    cores: float | None = None
    """That the machine gave before and after, at least; None where it has fewer than threads."""

    @property
    def short_of_cores(self) -> bool:
        """Whether the machine never ran all threads at once while this was measured."""
        return self.cores is not None and self.cores < FEW_CORES * self.threads

    @property
    def key(self) -> str:
        where = workers(self.threads)
        return " ".join([self.case, self.part, self.dtype, where, self.algorithm, self.level])

    @property
    def ratio(self) -> float | None:
        """PyTorch's time over ours, of loops in C where there are any: above 1 we are faster."""
        if self.ours_c and self.torch_c:
            return self.torch_c / self.ours_c
        return self.torch / self.ours if self.torch else None

    @property
    def work(self) -> int:
        """What `limit` counts."""
        return self.flops or self.bytes

    @property
    def wrong(self) -> bool:
        return self.error is not None and is_wrong(self.error, self.torch_error, self.tolerance)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}


@dataclass(frozen=True)
class Settings:
    dtypes: Sequence[str]
    threads: Sequence[int]
    algorithms: Sequence[Algorithm]
    seconds: float
    """To spend on each side of each row."""
    patience: float = 600.0
    """Seconds to wait for cores in all, before rows are taken as they come."""


def seconds_per_call(calls: Sequence[Callable[[], object]], budget: float) -> list[list[float]]:
    """Samples of each call's time, in seconds; the calls take turns."""
    batches = [_batch_size(call) for call in calls]
    samples: list[list[float]] = [[] for _ in calls]
    clock = time.perf_counter
    end = clock() + budget * len(calls)
    while clock() < end or min(map(len, samples)) < 5:
        for call, n, sample in zip(calls, batches, samples, strict=True):
            turn = clock() + _SLICE
            while True:
                start = clock()
                for _ in repeat(None, n):
                    call()
                now = clock()
                sample.append((now - start) / n)
                if now >= turn:
                    break
    return samples


def _batch_size(call: Callable[[], object]) -> int:
    """Calls for a sample of at least half a millisecond."""
    call()
    start = time.perf_counter()
    call()
    return max(1, round(5e-4 / (time.perf_counter() - start)))


class Bench:
    """What all cases share."""

    def __init__(self, torch: Any | None, level: str, settings: Settings) -> None:
        self.torch = torch
        self.level = level
        self.settings = settings
        self.limits = Limits(level)
        self._patience = settings.patience
        self._peer_batches: PeerBatches | None = None

    def prepare_peer_batches(self, cases: Sequence[Case]) -> None:
        """Compiles PyTorch's side of the short calls, all in one."""
        calls = {
            _identifier(case, part): (part.peer_cpp, _inputs(part))
            for case in cases
            for part in case.parts
            if part.peer_cpp is not None and _elements(case) <= 20_000
        }
        if calls and self.torch is not None:
            self._peer_batches = PeerBatches(calls)

    def rows(self, case: Case) -> Iterator[Row]:
        if any(call.function not in FUNCTIONS for part in case.parts for call in part.calls):
            return  # the module is not there yet
        algorithms = self.settings.algorithms if case.family == "convolution" else ("auto",)
        for dtype in self.settings.dtypes:
            bound = Bound(case, dtype, self.torch)
            for algorithm in algorithms:
                state = None if algorithm == "auto" else State(convolution=algorithm)
                for part in case.parts:
                    errors = bound.errors(part, state)
                    for threads in self.settings.threads:
                        row = self._row(bound, part, dtype, algorithm, state, threads)
                        row.error, row.torch_error = errors
                        yield row

    def _row(
        self,
        bound: Bound,
        part: Part,
        dtype: str,
        algorithm: str,
        state: State | None,
        threads: int,
    ) -> Row:
        case = bound.case
        size = bound.bytes(part)
        limit = (
            self.limits.flops_per_second(dtype, threads)
            if part.flops
            else self.limits.bytes_per_second(size, threads)
        )
        row = Row(
            case.name, case.family, part.name, dtype, threads, algorithm, self.level,
            part.flops, size, limit, tolerance=case.tolerance[dtype],
        )  # fmt: skip
        pythnn.set_num_threads(threads)
        calls: list[Callable[[], object]] = [bound.ours(part, state)]
        if self.torch is not None:
            self.torch.set_num_threads(threads)
            calls.append(bound.peer(part))
        for wait in (*WAITS, None):
            before = self._cores(threads)
            samples = seconds_per_call(calls, self.settings.seconds)
            row.ours, row.ours_median = min(samples[0]), statistics.median(samples[0])
            if len(samples) > 1:
                row.torch, row.torch_median = min(samples[1]), statistics.median(samples[1])
            if row.ours < SHORT and not case.arrays:
                self._measure_in_c(row, bound, part, state)
            after = self._cores(threads)
            row.cores = None if before is None or after is None else min(before, after)
            if not row.short_of_cores or wait is None or self._patience < wait:
                break
            time.sleep(wait)
            self._patience -= wait
        return row

    def _cores(self, threads: int) -> float | None:
        """What the machine gives at this moment, where it has enough."""
        if not 1 < threads <= len(os.sched_getaffinity(0)):
            return None
        return self.limits.cores(threads)

    def _measure_in_c(self, row: Row, bound: Bound, part: Part, state: State | None) -> None:
        calls = [(call.function, bound.arguments(call, state)) for call in part.calls]
        batch = Batch(calls, row.dtype)
        n = max(10, round(2e-3 / row.ours))
        sides: list[Callable[[], float]] = [lambda: batch.seconds(n)]
        name = _identifier(bound.case, part)
        if self._peer_batches is not None and part.peer_cpp is not None:
            peers, tensors = self._peer_batches, bound.peer_tensors(part)
            sides.append(lambda: peers.seconds(name, n, tensors))
        best = [float("inf")] * len(sides)
        for _ in range(30):
            for i, side in enumerate(sides):
                best[i] = min(best[i], side() / n)
        row.ours_c = best[0]
        row.torch_c = best[1] if len(best) > 1 else None


class Bound:
    """A case with memory: both sides work on the same arrays."""

    def __init__(self, case: Case, dtype: str, torch: Any | None) -> None:
        self.case = case
        self._dtype = dtype
        self._torch: Any = torch
        rng = np.random.default_rng(0)
        self._arrays = {name: _fill(t, rng, dtype) for name, t in case.tensors.items()}
        self._tensors: dict[str, Any] = {
            name: self._our_tensor(array) for name, array in self._arrays.items()
        }
        for part in case.parts:
            for name, kind, role in _tensor_arguments(part):
                if role in _WRITTEN and name not in self._tensors:
                    self._tensors[name] = self._empty(np.int64 if kind == "index" else dtype)
        if torch is not None:
            self._peer = self._torch_tensors(self._arrays)

    def _our_tensor(self, array: NDArray[Any]) -> Any:
        return array if self.case.arrays else Tensor.from_numpy(array)

    def _empty(self, dtype: Any) -> Any:
        return Tensor(dtype=dtype)

    def _torch_tensor(self, array: NDArray[Any]) -> Any:
        return self._torch.from_numpy(array)

    def _torch_tensors(self, arrays: dict[str, NDArray[Any]]) -> SimpleNamespace:
        tensors = {name: self._torch_tensor(array) for name, array in arrays.items()}
        found = SimpleNamespace(**tensors)
        if self.case.prepare is not None:
            vars(found).update(self.case.prepare(self._torch, found))
        return found

    def arguments(self, call: Call, state: State | None) -> tuple[Any, ...]:
        given = (self._tensors[a] if isinstance(a, str) else a for a in call.arguments)
        takes_state = FUNCTIONS[call.function][0][0][1] == "state"
        return (state, *given) if takes_state else tuple(given)

    def ours(self, part: Part, state: State | None) -> Callable[[], object]:
        if part.function is not None:
            return partial(part.function, SimpleNamespace(**self._arrays))
        calls = [
            partial(getattr(thnn, call.function), *self.arguments(call, state))
            for call in part.calls
        ]
        if len(calls) == 1:
            return calls[0]

        def in_turn() -> None:
            for call in calls:
                call()

        return in_turn

    def peer(self, part: Part) -> Callable[[], object]:
        return partial(part.peer, self._torch, self._peer)

    def peer_tensors(self, part: Part) -> list[Any]:
        return [getattr(self._peer, name) for name in _inputs(part)]

    def bytes(self, part: Part) -> int:
        """Known once the part has run."""
        if part.elements:
            return part.elements * np.dtype(self._dtype).itemsize
        times = {"in": 1, "out": 1, "inout": 2, "accumulate": 2}
        tensors = _tensor_arguments(part)
        return sum(times[role] * self._tensors[name].nbytes for name, _, role in tensors)

    def errors(self, part: Part, state: State | None) -> tuple[float | None, float | None]:
        """Ours and PyTorch's, against PyTorch in float64."""
        written = self.written(part)
        self.clear(written)
        if self._torch is None:
            self.ours(part, state)()
            return None, None
        exact = self._torch_tensors(
            {
                name: array if array.dtype == np.int64 else array.astype(np.float64)
                for name, array in self._arrays.items()
            }
        )
        wanted = _results(part.peer(self._torch, exact))
        theirs = _results(part.peer(self._torch, self._peer))
        made = self.ours(part, state)()  # last: it may overwrite what it reads
        found = self.values(written) if part.function is None else _results(made)
        theirs_error = None if self._dtype == "float64" else largest_error(theirs, wanted)
        return largest_error(found, wanted), theirs_error

    def written(self, part: Part) -> list[str]:
        """The real tensors that a part writes."""
        return [
            name
            for name, kind, role in _tensor_arguments(part)
            if kind == "real" and role in _WRITTEN
        ]

    def clear(self, names: Sequence[str]) -> None:
        """Puts zeros where calls add to what is there."""
        for name in names:
            if isinstance(self.case.tensors.get(name), Zeros):
                self._tensors[name].fill(0)

    def values(self, names: Sequence[str]) -> list[NDArray[Any]]:
        return [np.asarray(_array(self._tensors[name])) for name in names]

    def peer_values(self, part: Part) -> list[NDArray[Any]]:
        return _results(self.peer(part)())

    def take_values(self, other: Bound) -> None:
        """Takes the values that another one of the same case begins with."""
        for name, array in other._arrays.items():
            self._arrays[name][...] = array


def _tensor_arguments(part: Part) -> Iterator[tuple[str, str, str]]:
    """Name of the tensor, kind and role of each tensor argument."""
    for call in part.calls:
        described = [a for a in FUNCTIONS[call.function][0] if a[1] != "state"]
        for (_, kind, role, _), value in zip(described, call.arguments, strict=True):
            if isinstance(value, str):
                yield value, kind, role


def _inputs(part: Part) -> list[str]:
    return [name for name, _, role in _tensor_arguments(part) if role == "in"]


def _fill(contents: Contents, rng: np.random.Generator, dtype: str) -> NDArray[Any]:
    if isinstance(contents, Zeros):
        return np.zeros(contents.shape, dtype)
    if isinstance(contents, Indices):
        return rng.integers(1, contents.most, contents.shape, endpoint=True)
    if isinstance(contents, Labels):
        labels = rng.integers(1, contents.most, contents.shape, endpoint=True)
        labels[..., contents.count :] = 0
        return labels
    if isinstance(contents, Steps):
        return 1 + contents.step * np.arange(np.prod(contents.shape)).reshape(contents.shape)
    if isinstance(contents, Chosen):
        height, width = contents.shape[-2:]
        y, x = (2 * n for n in np.ogrid[:height, :width])
        down, right = rng.integers(0, 2, (2, *contents.shape))
        elements: NDArray[Any] = (y + down) * 2 * width + x + right + 1
        return elements
    if isinstance(contents, Taps):
        t, h, w = rng.integers(0, 2, (3, *contents.shape))
        packed: NDArray[Any] = t | h << 8 | w << 16
        return packed
    if isinstance(contents, Uniform):
        return rng.uniform(contents.low, contents.high, contents.shape).astype(dtype)
    return rng.standard_normal(contents.shape, np.float32).astype(dtype)


def _elements(case: Case) -> int:
    return sum(int(np.prod(tensor.shape)) for tensor in case.tensors.values())


def _identifier(case: Case, part: Part) -> str:
    return f"{case.name}_{part.name}"


def _array(value: Any) -> NDArray[Any]:
    return value.cpu().numpy() if isinstance(value, Tensor) else value


def _results(value: Any) -> list[NDArray[Any]]:
    values = value if isinstance(value, (tuple, list)) else [value]
    return [v if isinstance(v, np.ndarray) else v.cpu().numpy() for v in values]


def largest_error(found: Sequence[NDArray[Any]], wanted: Sequence[NDArray[Any]]) -> float:
    """The largest error of several results, each as a part of its largest value."""
    worst = 0.0
    for mine, exact in zip(found, wanted, strict=False):
        if mine.size != exact.size:
            return float("inf")
        error = np.abs(mine.reshape(exact.shape) - exact).max() / max(np.abs(exact).max(), 1e-30)
        worst = max(worst, float(error)) if error == error else float("inf")
    return worst

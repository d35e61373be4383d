"""Which algorithm a convolution takes: as a state names it, guessed by costs, or measured."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._calls import describe
from .._calls.recorded import Recorded, Unrecordable
from .._errors import THNNError
from .._library import ffi, lib
from .._state import (
    ALGORITHM_NAMES,
    CUDNN_NAMES,
    RESULTS,
    Accuracy,
    State,
    get_num_threads,
)
from ._arrays import Unfit
from ._windows import Window

__all__ = [
    "ConvolutionTimes",
    "Plan",
    "Problem",
    "check_named",
    "checked",
    "chosen",
    "convolution_times",
    "is_name",
    "plan_of",
    "problem_of",
    "seconds_of",
    "state_for",
]

_NAMED = ("gemm", "direct", "winograd", "winograd4", "fft_tiling")
"""The algorithms that the CPU has."""
_WINOGRAD = {"winograd": (3,), "winograd4": (2, 3, 5)}
"""The kernels, taps by taps, that tiles of Winograd's algorithms are for."""
_MOST_TAPS = 14
"""Of a kernel's rows and columns, for which tiles of Fourier transforms have results."""
_ON_DEVICE = 0
"""Threads of a measured time, where a device took it."""
_LEAST_SECONDS = 1e-3
"""Runs shorter than this in all are repeated: a clock's step and an interrupt count for little."""
_MOST_RUNS = 20


class Plan(NamedTuple):
    """How a convolution is computed."""

    algorithm: str
    scratch_bytes: int
    cost: float
    """The expected time, in cycles of one core; not a number on a device."""


class Problem(NamedTuple):
    """What a choice depends on, beside the state."""

    result: str
    transposed: bool
    add: bool
    real: str
    sizes: tuple[int, ...]
    """As the C function takes them."""


@lru_cache(maxsize=4096)
def _sizes_of(window: Window, batch: tuple[int, ...], weight: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of a problem: of its leading dimensions and its weight's shape."""
    groups, settings = window.settings[0], window.settings[1:]
    kernel = (1,) * (5 - len(weight)) + weight[2:]
    stride, before, dilation = settings[:3], settings[3:6], settings[9:]
    return (
        groups,
        batch[0] if batch else 1,
        weight[1],
        weight[0] // groups,
        *(*window.image, *window.map, *kernel),
        *(*stride, *dilation, *before),
    )


def problem_of(
    result: str,
    transposed: bool,
    add: bool,
    real: str,
    window: Window,
    x: tuple[int, ...],
    weight: tuple[int, ...],
) -> Problem:
    """The problem of a call with these shapes."""
    sizes = _sizes_of(window, x[: 1 - len(weight)], weight)
    return Problem(result, transposed, add, real, sizes)


# ---- What would be chosen


def plan_of(problem: Problem, state: State | None) -> Plan:
    """What the C library would do."""
    name = "Float" if problem.real == "float32" else "Double"
    choice = ffi.new("THNNConvolutionChoice *")
    getattr(lib, f"THNN_{name}GroupedConvolution_plan")(
        ffi.NULL if state is None else state._c,
        RESULTS.index(problem.result),
        problem.transposed,
        problem.add,
        problem.sizes,
        choice,
    )
    return Plan(ALGORITHM_NAMES[choice.algorithm], int(choice.scratchBytes), float(choice.cost))


@lru_cache(maxsize=4096)
def _applies(problem: Problem, name: str, workspace_limit: int, accuracy: Accuracy) -> bool:
    with State(
        workspace_limit=workspace_limit,
        convolution=name,  # type: ignore[arg-type]
        accuracy=accuracy,
    ) as state:
        return plan_of(problem, state).algorithm == name


def _why_not(problem: Problem, name: str, accuracy: Accuracy) -> str:
    """Why an algorithm does not apply."""
    kernel, stride = problem.sizes[11:13], problem.sizes[13:16]
    dilation, depths = problem.sizes[17:19], problem.sizes[4:11:3]
    if name == "fft":
        return "which only cuDNN has: for arrays in the CPU's memory transforms are those of tiles"
    if name in CUDNN_NAMES:
        return "which is for arrays on a CUDA device"
    few_taps = set(kernel) <= {3, 4} and stride == (1, 2, 2)
    if name == "winograd" and few_taps and problem.result == "grad_weight":
        sizes = f"{kernel[0]} x {kernel[1]}"
        return f"which gives no gradient of the weight for kernels of {sizes} and a stride of 2"
    if name in _WINOGRAD and kernel not in [(taps, taps) for taps in _WINOGRAD[name]]:
        sizes = " or ".join(f"{taps} x {taps}" for taps in _WINOGRAD[name])
        return f"which needs kernels of {sizes}, for one of {kernel[0]} x {kernel[1]}"
    if name == "fft_tiling" and any(s > k for s, k in zip(stride[1:], kernel, strict=True)):
        return "which needs strides no larger than the kernel"
    if name == "fft_tiling" and any(
        k > s * _MOST_TAPS for s, k in zip(stride[1:], kernel, strict=True)
    ):
        most = f"{_MOST_TAPS} x {_MOST_TAPS} taps, times the stride"
        return f"which needs kernels of at most {most}, for one of {kernel[0]} x {kernel[1]}"
    if name in _WINOGRAD and stride != (1, 1, 1):
        return "which needs a stride of 1, or of 2 with about twice as many taps"
    if name == "fft_tiling" and dilation != (1, 1):
        return "which needs a dilation of 1"
    if name == "fft_tiling" and depths != (1, 1, 1):
        return "which needs images and kernels without a depth"
    if name == "winograd4" and accuracy == "high":
        return "which an accuracy of 'high' does without"
    return "whose scratch memory does not fit these sizes and the state's workspace_limit"


# ---- Measuring


class ConvolutionTimes:
    """Measured times of convolutions, by geometry: what "time_once" and its kin remember.

    They hold for one machine. A file is JSON.
    """

    def __init__(self) -> None:
        self._seconds: dict[tuple[Any, ...], dict[str, float]] = {}

    def __len__(self) -> int:
        return len(self._seconds)

    def clear(self) -> None:
        """Forgets all times."""
        self._seconds.clear()

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes all times to a file."""
        rows = [[*key[:-1], list(key[-1]), times] for key, times in self._seconds.items()]
        Path(file).write_text(json.dumps({"convolution_times": rows}))

    def load(self, file: str | os.PathLike[str]) -> None:
        """Adds the times of a file; raises THNNError for one that :meth:`save` did not write."""
        try:
            rows = json.loads(Path(file).read_text())["convolution_times"]
            read = {_key(row): _checked(row[-1]) for row in rows}
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise THNNError(f"{file} does not hold times of convolutions: {error!r}") from None
        self._seconds.update(read)

    def best(
        self, problem: Problem, state: State, measure: Callable[[str], float] | None
    ) -> str | None:
        """The fastest algorithm of those that apply; what is not known yet is measured.

        None where that would have to be, but there is nothing to measure with.
        """
        limit = state.workspace_limit
        accuracy = state.accuracy
        names = tuple(name for name in _NAMED if _applies(problem, name, limit, accuracy))
        return self._best(problem, state.threads or get_num_threads(), limit, names, measure)

    def best_on_device(
        self,
        problem: Problem,
        limit: int,
        names: tuple[str, ...],
        measure: Callable[[str], float] | None,
    ) -> str | None:
        """The same for those of a device."""
        return self._best(problem, _ON_DEVICE, limit, names, measure)

    def _best(
        self,
        problem: Problem,
        threads: int,
        limit: int,
        names: tuple[str, ...],
        measure: Callable[[str], float] | None,
    ) -> str | None:
        """The fastest of some algorithms, of which those that are not known yet are measured."""
        key = (*problem[:-1], threads, limit, problem.sizes)
        known = self._seconds.get(key, {})
        missing = [name for name in names if name not in known]
        if missing:
            if measure is None:
                return None
            known = known | {name: measure(name) for name in missing}
            self._seconds[key] = known
        return min(names, key=known.__getitem__, default=None)


def _key(row: list[Any]) -> tuple[Any, ...]:
    result, transposed, add, real, threads, limit, sizes, _ = row
    known = result in RESULTS and real in ("float32", "float64")
    if not known or not all(type(n) is int for n in (threads, limit, *sizes)):
        raise ValueError(f"row {row}")
    return (result, bool(transposed), bool(add), real, threads, limit, tuple(sizes))


def _checked(times: dict[str, Any]) -> dict[str, float]:
    if not times or not set(times) <= {*_NAMED, *CUDNN_NAMES}:
        raise ValueError(f"times of {list(times)}")
    return {name: float(seconds) for name, seconds in times.items()}


convolution_times = ConvolutionTimes()
"""What "time_once" and "time_on_shape_change" measured in this process, or loaded from a file."""


def seconds_of(run: Callable[[], None]) -> float:
    """The shortest of some runs, after one that brings everything into the caches."""
    run()
    best, total, runs = float("inf"), 0.0, 0
    while runs < 2 or (total < _LEAST_SECONDS and runs < _MOST_RUNS):
        start = time.perf_counter()
        run()
        taken = time.perf_counter() - start
        best, total, runs = min(best, taken), total + taken, runs + 1
    return best


# ---- Choosing


def checked(state: Any) -> State:
    """A state that is one, and open; raises for others."""
    if not isinstance(state, State):
        raise Unfit("state", "a State or None", describe(state))
    state._open()
    return state


def is_name(choice: str) -> bool:
    """Whether a choice names an algorithm, and does not say how to choose one."""
    return not choice.endswith(("_once", "_on_shape_change"))


def check_named(state: State, problem: Problem) -> None:
    """Raises where the state names an algorithm that does not apply to the CPU's arrays."""
    choice = checked(state)._convolution[RESULTS.index(problem.result)]
    if not is_name(choice) or choice in ("auto", "gemm"):
        return
    if not _applies(problem, choice, state.workspace_limit, state.accuracy):
        found = f"{choice!r}, {_why_not(problem, choice, state.accuracy)}"
        raise Unfit("state", "an algorithm that applies, or 'auto'", found)


def state_for(state: State, x: Any, problem: Problem, run: Callable[[State], None]) -> State:
    """The state to call the library's own function with, by what `state` says of a result.

    `run` computes the result to memory that nobody reads, for measuring.
    """
    choice = checked(state)._convolution[RESULTS.index(problem.result)]
    is_recorded = type(x) is Recorded
    on_host = is_recorded or isinstance(x, np.ndarray)
    if choice in ("auto", "gemm", "guess_on_shape_change") or not on_host:
        return state
    if is_name(choice):
        check_named(state, problem)
        return state
    name = state._once.get(problem.result) if choice.endswith("_once") else None
    if name is None and is_recorded:
        raise Unrecordable("an algorithm that each call looks up")
    if name is None:
        if choice.startswith("guess") or state.reproducible:  # what is measured differs
            name = plan_of(problem, state).algorithm
        else:
            name = convolution_times.best(
                problem,
                state,
                lambda n: seconds_of(lambda: run(state._with_algorithm(n))),  # type: ignore[arg-type]
            )
        if choice.endswith("_once") and name is not None:
            state._once[problem.result] = name
    if name is None or not _applies(problem, name, state.workspace_limit, state.accuracy):
        name = "auto"
    return state._with_algorithm(name)  # type: ignore[arg-type]


def chosen(state: State, problem: Problem) -> State:
    """The state with the algorithm that it has chosen for a result, if it has chosen one.

    Nothing is measured for it.
    """
    check_named(state, problem)
    choice = state._convolution[RESULTS.index(problem.result)]
    name = state._once.get(problem.result) if choice.endswith("_once") else None
    if name is None and choice.startswith("time") and not state.reproducible:
        name = convolution_times.best(problem, state, None)
    if name is None or not _applies(problem, name, state.workspace_limit, state.accuracy):
        return state
    return state._with_algorithm(name)  # type: ignore[arg-type]

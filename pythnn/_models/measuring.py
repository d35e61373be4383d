"""Forward calls, watched: what each module gives, how long it takes, and how much memory."""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from .. import nn
from .budget import hooked
from .rows import Row, tensors_in

__all__ = ["Measured", "measure", "measuring", "parse_shape", "put_into_use"]

RUNS = 9  # at most, of which the median counts
LEAST_RUNS = 3
SECONDS = 2  # after which there are no more of them

Watch = Callable[[Any, Any, Any], None]  # a module, its input, its output


@dataclass
class Measured:
    """What one module did in a forward call."""

    seconds: float = 0.0
    output: Any = None
    in_place: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of the output; 0 when it is in the input's memory."""
        return 0 if self.in_place else sum(t.nbytes for t in tensors_in(self.output))


def put_into_use(module: Any) -> None:
    """Chooses evaluation, and forgets sequences that were begun before the module was saved."""
    module.evaluate()
    for inside in module.listModules():
        if type(inside).forget is not nn.Module.forget:
            inside.forget()


def measure(
    module: Any,
    rows: list[Row],
    input: Any,
    watch: Watch | None = None,
    after_first: Callable[[], None] | None = None,
) -> tuple[dict[int, Measured], int]:
    """What several forward calls did, by the id of the module, and how many calls there were.

    Times are medians of the calls after the first, which also makes room for the results; `watch`
    looks at that one, and `after_first` is called when it is over.
    """
    with measuring(rows, watch) as results:
        module.forward(copy.deepcopy(input))  # some modules work in place
    if after_first is not None:
        after_first()
    times: dict[int, list[float]] = {}
    start, runs = time.perf_counter(), 0
    while runs < RUNS and (runs < LEAST_RUNS or time.perf_counter() - start < SECONDS):
        with measuring(rows) as noted:
            module.forward(copy.deepcopy(input))
        runs, results = runs + 1, noted
        for key, result in noted.items():
            times.setdefault(key, []).append(result.seconds)
    for key, result in results.items():
        result.seconds = statistics.median(times[key])
    return results, runs


@contextmanager
def measuring(rows: list[Row], watch: Watch | None = None) -> Iterator[dict[int, Measured]]:
    """While this is open, forward calls are noted by the id of the module, and shown to `watch`."""
    results: dict[int, Measured] = {}

    def measured(module: Any, run: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def update_output(input: Any) -> Any:
            start = time.perf_counter()
            output = run(input)
            entry = results.setdefault(id(module), Measured())
            entry.seconds += time.perf_counter() - start
            entry.output = output
            entry.in_place = any(
                np.may_share_memory(np.asarray(a), np.asarray(b))
                for a in tensors_in(input)
                for b in tensors_in(output)
            )
            if watch is not None:
                watch(module, input, output)
            return output

        return update_output

    with hooked(rows, measured):
        yield results


def parse_shape(text: str) -> tuple[int, ...]:
    """The sizes of ``3x224x224``."""
    try:
        sizes = tuple(int(part) for part in text.lower().replace("×", "x").split("x"))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 1:
        raise click.BadParameter(f"{text!r} is no shape such as 3x224x224", param_hint="--input")
    return sizes

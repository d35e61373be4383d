"""Forward calls, watched: what each module gives, how long it takes, and how much memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from .. import nn
from ._modules import Row, tensors_in

__all__ = ["Measured", "measure", "measuring", "noise", "parse_shape"]

RUNS = 3  # of which the quickest counts

Watch = Callable[[Any, Any, Any], None]  # a module, its input, its output


@dataclass
class Measured:
    """What one module did in a forward call."""

    seconds: float = 0.0
    output: Any = None
    in_place: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of the output; 0 when it lies in the input's memory."""
        return 0 if self.in_place else sum(t.nbytes for t in tensors_in(self.output))


def measure(module: Any, rows: list[Row], input: Any) -> dict[int, Measured]:
    """What the quickest of several forward calls did, by the id of the module."""
    best: dict[int, Measured] = {}
    for _ in range(RUNS):
        with measuring(rows) as results:
            module.forward(input)
        for key, result in results.items():
            if key not in best or result.seconds < best[key].seconds:
                best[key] = result
    return best


@contextmanager
def measuring(rows: list[Row], watch: Watch | None = None) -> Iterator[dict[int, Measured]]:
    """While this is open, forward calls are noted by the id of the module, and shown to `watch`."""
    results: dict[int, Measured] = {}
    modules = [row.value for row in rows if isinstance(row.value, nn.Module)]
    for module in modules:
        module.__dict__["updateOutput"] = _measured(module, results, watch)
    try:
        yield results
    finally:
        for module in modules:
            module.__dict__.pop("updateOutput", None)


def _measured(module: Any, results: dict[int, Measured], watch: Watch | None) -> Any:
    run = type(module).updateOutput

    def updateOutput(input: Any) -> Any:  # noqa: N802
        start = time.perf_counter()
        output = run(module, input)
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

    return updateOutput


def parse_shape(text: str) -> tuple[int, ...]:
    """The sizes of ``3x224x224``."""
    try:
        sizes = tuple(int(part) for part in text.lower().replace("×", "x").split("x"))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 1:
        raise click.BadParameter(f"{text!r} is no shape such as 3x224x224", param_hint="--input")
    return sizes


def noise(shape: tuple[int, ...], module: Any, first: Any) -> np.ndarray[Any, Any]:
    """An input: normal numbers, or the index 1 where the first layer looks indices up."""
    if isinstance(first, getattr(nn, "LookupTable", ())):
        return np.ones(shape, np.int64)
    array: np.ndarray[Any, Any] = np.random.default_rng(0).standard_normal(shape)
    return array.astype(module.dtype)

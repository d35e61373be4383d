"""Forward calls, and what is kept of them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import nn
from .._models.inputs import Example
from .._models.measuring import Measured, measure, measuring, put_into_use
from .._models.rows import Row, tensors_in
from ..graph.costs import of_kernel, of_module
from ._pictures import plane_pictures
from ._statistics import Statistics, statistics_of

__all__ = ["Activation", "Run", "Stage", "run_on"]

Array = NDArray[Any]
Stage = Callable[[str], None]  # shows what is being done

MAX_PICTURES = 800  # on a page
MAX_PLANES = 16  # of a layer


@dataclass
class Activation:
    """What a layer gave, as numbers and pictures."""

    statistics: Statistics
    pictures: list[str]
    scale: tuple[float, float]
    planes: int  # there are in all
    is_vector: bool


@dataclass
class Run:
    """What forward calls on one input showed."""

    input: Any
    measured: dict[int, Measured]
    multiply_adds: dict[int, int] = field(default_factory=dict)
    activations: dict[int, Activation] = field(default_factory=dict)
    output: Any = None


def run_on(
    module: Any,
    rows: list[Row],
    example: Example,
    *,
    pictures: bool,
    stage: Stage | None = None,
) -> Run:
    """Runs the module on an input.

    With `pictures`, what each layer gave is kept as such. `stage` is told how far this is.
    """
    put_into_use(module)
    given, is_batch = example.given, example.is_batch
    layers = {id(row.value) for row in rows if not isinstance(row.value, nn.Container)}
    run = Run(given, _measured(module, rows, given, layers, stage))
    tell = _teller(layers, "last run", stage)
    run.multiply_adds = dict.fromkeys(layers, 0)
    most = max(1, min(MAX_PLANES, MAX_PICTURES // max(1, len(layers))))

    def watch(layer: Any, taken: Any, made: Any) -> None:
        key = id(layer)
        if key not in layers:
            return
        tell()
        run.multiply_adds[key] += of_module(layer, taken, made)
        if pictures and (len(run.activations) < MAX_PICTURES // most or key in run.activations):
            activation = _activation(made, is_batch, most)
            if activation is not None:
                run.activations[key] = activation

    with measuring(rows, watch), _counting(rows, run.multiply_adds):
        run.output = module.forward(copy.deepcopy(given))
    _add_up(rows, run.multiply_adds)
    return run


@contextmanager
def _counting(rows: list[Row], costs: dict[int, int]) -> Iterator[None]:
    """While this is open, what the functions cost that layers call is added to `costs`."""
    layers = [row.value for row in rows if id(row.value) in costs]
    for layer in layers:
        vars(layer)["_kernel"] = _Counter(layer, costs)
    try:
        yield
    finally:
        for layer in layers:
            vars(layer).pop("_kernel", None)


class _Counter:
    """A module's ``_kernel``, which counts; of a copy of the module, that one's."""

    def __init__(self, module: Any, costs: dict[int, int]) -> None:
        self.module = module
        self.costs = costs

    def __call__(self, name: str, *arguments: Any) -> None:
        type(self.module)._kernel(self.module, name, *arguments)
        key = id(self.module)
        if key in self.costs:
            self.costs[key] += of_kernel(name, arguments)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Counter:
        return _Counter(memo[id(self.module)], self.costs)


def _measured(
    module: Any, rows: list[Row], given: Any, layers: set[int], stage: Stage | None
) -> dict[int, Measured]:
    """What runs on an input did. Of the first, which does not count, `stage` is told each layer."""
    if stage is None:
        return measure(module, rows, given)[0]
    tell = _teller(layers, "first run", stage)

    def watch(layer: Any, *_: Any) -> None:
        if id(layer) in layers:
            tell()

    return measure(module, rows, given, watch, lambda: stage("measuring"))[0]


def _teller(layers: set[int], what: str, stage: Stage | None) -> Callable[[], None]:
    """A function that tells of one layer more each time it is called; it may run several times."""
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        if stage is not None:
            stage(f"{what}, layer {(done - 1) % len(layers) + 1} of {len(layers)}")

    return tell


def _add_up(rows: list[Row], costs: dict[int, int]) -> None:
    """Gives containers the cost of their layers; a layer in several places counts at the first."""
    above: list[Row] = []
    counted: set[int] = set()
    for row in rows:
        del above[row.depth :]
        key = id(row.value)
        if costs.get(key) and key not in counted and not isinstance(row.value, nn.Container):
            counted.add(key)
            for container in above:
                costs[id(container.value)] = costs.get(id(container.value), 0) + costs[key]
        above.append(row)


def _activation(output: Any, is_batch: bool, most: int) -> Activation | None:
    """The first tensor of an output as pictures; None for what has none."""
    arrays = [np.asarray(tensor) for tensor in tensors_in(output)]
    if not arrays or not arrays[0].size or arrays[0].dtype.kind not in "fiu":
        return None
    values = arrays[0][0] if is_batch and arrays[0].ndim > 1 else arrays[0]
    statistics = statistics_of(values)
    if values.ndim > 3:  # the middle of a volume
        middle = tuple(n // 2 for n in values.shape[1:-2])
        index: tuple[Any, ...] = (slice(None), *middle)
        values = values[index]
    is_vector = values.ndim < 2 or values.size == max(values.shape)
    values = values.reshape(-1) if is_vector else values
    pictures, scale = plane_pictures(values, most)
    planes = 1 if is_vector else math.prod(values.shape[:-2])
    return Activation(statistics, pictures, scale, planes, is_vector)

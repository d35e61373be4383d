"""The input of a model, guessed where nobody said, and what its layers do with it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import nn
from ..commands._measuring import Measured, measure, measuring, noise
from ..commands._modules import Row, first_layer, tensors_in
from ._costs import multiply_adds
from ._pictures import plane_pictures
from ._statistics import Statistics, statistics_of

__all__ = ["Activation", "Run", "guessed_shape", "run_on"]

Array = NDArray[Any]
Shape = tuple[int, ...]

MAX_PICTURES = 800  # on a page
MAX_PLANES = 16  # of a layer
MAX_GUESS = 1 << 24  # elements of an input that nobody asked for

# Sides of images: the usual ones, then any that may be meant where only one fits.
_SIDES = (224, 227, 256, 299, 32, 28, 64, 96, 128, 48, 16)
_OTHER_SIDES = tuple(sorted(range(4, 129), key=lambda n: (n % 8 != 0, n % 2 != 0, n)))
_FRAMES = (32, 64, 128, 256, 16, 8)


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


def run_on(module: Any, rows: list[Row], inputs: list[Array], *, pictures: bool) -> Run:
    """Runs the module on inputs, one for each entry of the table it takes.

    They have no batch dimension; one of 1 is put in front, unless the module wants none.
    With `pictures`, what each layer gave is kept as such.
    """
    module.evaluate()
    accepted = _accepted(module, inputs)
    run = Run(accepted, measure(module, rows, copy.deepcopy(accepted)))
    is_batch = tensors_in(accepted)[0].ndim > inputs[0].ndim
    layers = {id(row.value) for row in rows if not isinstance(row.value, nn.Container)}
    most = max(1, min(MAX_PLANES, MAX_PICTURES // max(1, len(layers))))

    def watch(layer: Any, given: Any, made: Any) -> None:
        key = id(layer)
        if key not in layers:
            return
        run.multiply_adds[key] = run.multiply_adds.get(key, 0) + multiply_adds(layer, given, made)
        if pictures and (len(run.activations) < MAX_PICTURES // most or key in run.activations):
            activation = _activation(made, is_batch, most)
            if activation is not None:
                run.activations[key] = activation

    with measuring(rows, watch):
        run.output = module.forward(copy.deepcopy(accepted))
    _add_up(rows, run.multiply_adds)
    return run


def _add_up(rows: list[Row], costs: dict[int, int]) -> None:
    """Gives containers the cost of their layers; a layer in several places counts at the first."""
    above: list[Row] = []
    counted: set[int] = set()
    for row in rows:
        del above[row.depth :]
        key = id(row.value)
        if key in costs and key not in counted and not isinstance(row.value, nn.Container):
            counted.add(key)
            for container in above:
                costs[id(container.value)] = costs.get(id(container.value), 0) + costs[key]
        above.append(row)


def _accepted(module: Any, inputs: list[Array]) -> Any:
    """The inputs as the module takes them: with a batch dimension of 1, or without.

    Raises what the module raises for a batch when it takes neither.
    """
    batches, alone = _table([array[None] for array in inputs]), _table(inputs)
    if _gives_one(module, batches, is_batch=True):
        return batches
    if _gives_one(module, alone, is_batch=False):
        return alone
    module.forward(copy.deepcopy(batches))
    return batches


def _table(arrays: list[Array]) -> Any:
    return arrays[0] if len(arrays) == 1 else arrays


def _gives_one(module: Any, given: Any, *, is_batch: bool) -> bool:
    """Whether the module takes what it is given, and makes one result of it.

    A module that cuts its input into rows takes many sizes, but then gives several results.
    """
    try:
        output = module.forward(copy.deepcopy(given))  # some modules work in place
    except Exception:  # a file decides what runs, so its errors may be any
        return False
    return not is_batch or all(t.ndim < 2 or len(t) == 1 for t in tensors_in(output))


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


# ---- Guessing


def guessed_shape(module: Any, rows: list[Row]) -> Shape | None:
    """A shape that the module takes, without a batch dimension; None where none is found.

    The first layer that says what it takes gives planes or elements; sides of images are tried, the
    usual ones first.
    """
    module.evaluate()
    first = first_layer(rows)
    for shape in _shapes(rows):
        if not 0 < math.prod(shape) <= MAX_GUESS:
            continue
        array = noise(shape, module, first)
        if any(_gives_one(module, a, is_batch=a is not array) for a in (array[None], array)):
            return shape
    return None


def _shapes(rows: list[Row]) -> Iterator[Shape]:
    for row in rows:
        layer = row.value
        for kind, shapes in _SHAPES:
            if isinstance(layer, kind):
                yield from shapes(layer)
                return


def _images(layer: Any) -> Iterator[Shape]:
    for side in dict.fromkeys(_SIDES + _OTHER_SIDES):
        yield (int(layer.nInputPlane), side, side)


def _volumes(layer: Any) -> Iterator[Shape]:
    for side in (112, 64, 32, 16):
        yield (int(layer.nInputPlane), 16, side, side)


def _frames(layer: Any) -> Iterator[Shape]:
    for frames in _FRAMES:
        yield (frames, int(layer.inputFrameSize))


def _vector(layer: Any) -> Iterator[Shape]:
    yield (int(layer.tensors.weight.shape[-1]),)


def _indices(_: Any) -> Iterator[Shape]:
    for frames in _FRAMES:
        yield (frames,)


_SHAPES: list[tuple[Any, Callable[[Any], Iterator[Shape]]]] = [
    ((nn.VolumetricConvolution, nn.VolumetricFullConvolution), _volumes),
    ((nn.TemporalConvolution, nn.TemporalRowConvolution), _frames),
    (
        (
            nn.SpatialConvolution,
            nn.SpatialConvolutionMM,
            nn.SpatialConvolutionMap,
            nn.SpatialConvolutionLocal,
            nn.SpatialDepthWiseConvolution,
            nn.SpatialFullConvolution,
        ),
        _images,
    ),
    (nn.Linear, _vector),
    (nn.LookupTable, _indices),
]

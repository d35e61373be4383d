"""What a model gave, by samples: numbers, scores of classes, images, or maps of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import nn
from .._models.rows import tensors_in

__all__ = ["Result", "result_of", "rows_of_one"]

Array = NDArray[Any]

_SOFTMAX = (nn.SoftMax, nn.LogSoftMax, nn.SpatialSoftMax, nn.SpatialLogSoftMax)


@dataclass(frozen=True)
class Result:
    """An output as samples of one kind.

    Of kind "number" they have one element, of "scores" one dimension, of "image" and "map" they
    are channels x height x width; "other" is anything else.
    """

    kind: str
    samples: list[Array]
    is_batch: bool


def result_of(output: Any, inputs: list[Array], last: Any) -> Result:
    """The output for inputs, of which the first dimension may be that of a batch.

    `last` is the layer that gave it: one of softmax gives maps of scores, not images.
    """
    arrays = [np.asarray(tensor) for tensor in tensors_in(output)]
    if len(arrays) != 1 or not arrays[0].size:
        return Result("other", [], False)
    samples = [_plain(sample) for sample in _samples(arrays[0], inputs)]
    if len(samples) == 1 and samples[0].ndim == 2:
        samples = list(samples[0])  # such as one for each step of a sequence
    return Result(_kind(samples[0], last), samples, len(samples) > 1)


def rows_of_one(output: Any, inputs: list[Array]) -> int:
    """How many rows there are for each sample of a batch of images; 0 unless there are several.

    A View that folds positions into the batch makes such rows.
    """
    arrays = [np.asarray(tensor) for tensor in tensors_in(output)]
    if len(arrays) != 1 or arrays[0].ndim != 2 or len(inputs) != 1 or inputs[0].ndim != 4:
        return 0
    rows, samples = len(arrays[0]), len(inputs[0])
    return rows // samples if rows > samples and rows % samples == 0 else 0


def _samples(array: Array, inputs: list[Array]) -> list[Array]:
    """The samples of an output."""
    given = inputs[0] if len(inputs) > 0 else np.empty(0)
    if array.ndim == 1:
        is_one_each = given.ndim == 2 and len(array) == len(given) > 1
        return list(array[:, None]) if is_one_each else [array]
    is_lone_image = given.ndim == 3 and array.ndim == 3 and len(given) in (1, 3)
    if array.ndim in (2, 4) or (len(array) == len(given) and not is_lone_image):
        return list(array)
    return [array]


def _plain(sample: Array) -> Array:
    """A sample without dimensions of 1, unless it has planes."""
    is_planes = sample.ndim == 3 and min(sample.shape[1:]) > 1
    return sample if is_planes else np.atleast_1d(sample.squeeze())


def _kind(sample: Array, last: Any) -> str:
    if sample.size == 1:
        return "number"
    if sample.ndim == 3 and min(sample.shape[1:]) > 1:
        is_scores = isinstance(last, _SOFTMAX) and len(sample) > 1
        return "image" if len(sample) in (1, 3) and not is_scores else "map"
    return "scores" if sample.squeeze().ndim == 1 else "other"

"""Gradients of random models, held against differences."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import pythnn
from support.random_trees import PLANES, SIZE, Trees

STEP = 1e-5
LIMIT = 1e-6
"""Of the magnitudes that are added up. Differences are off by the square of the step times the
third derivative, and by the unit roundoff divided by the step."""
POINTS = 4
"""Inputs that are tried: near a kink, such as that of ReLU, differences say nothing."""


def value_at(model: Any, x: Any, weights: Any) -> float:
    """The sum of a model's results, each times a weight; its random numbers are the same ones."""
    pythnn.manual_seed(7)
    return float(np.vdot(np.asarray(copy.deepcopy(model).forward(x.copy())), weights))


def parameters_of(model: Any) -> tuple[list[Any], list[Any]]:
    return model.parameters() or ([], [])


def moved(model: Any, directions: list[Any], step: float) -> Any:
    """A copy of a model with its parameters moved."""
    other = copy.deepcopy(model)
    for parameter, direction in zip(parameters_of(other)[0], directions, strict=True):
        parameter += step * direction
    return other


def check_gradients(seed: int) -> None:
    """The gradients of a random model, in evaluation or training, with respect to its input and its
    parameters, along a random direction."""
    trees = Trees(seed, inplace=False)
    model = trees.model().module.double()
    # SpatialDropout has no backward in evaluation.
    trains = trees.flip() or "SpatialDropout" in repr(model)
    model.training() if trains else model.evaluate()
    shape = trees.random.randint(2, 3), PLANES, SIZE, SIZE
    errors = []
    for _ in range(POINTS):
        error, limit = error_at(model, trees.numbers.standard_normal(shape), trees.numbers)
        if error <= limit:
            return
        errors.append(f"{error:.3g} above {limit:.3g}")
    raise AssertionError(f"seed {seed}: differences are off by {', '.join(errors)}\n{model}")


def error_at(model: Any, x: Any, numbers: Any) -> tuple[float, float]:
    """How far the gradients at an input are from differences, and how far they may be."""
    copied = copy.deepcopy(model)
    pythnn.manual_seed(7)
    output = np.array(copied.forward(x.copy()))
    weights = numbers.standard_normal(output.shape)
    copied.zeroGradParameters()
    gradient = np.array(copied.backward(x.copy(), weights.copy()))
    parameters, gradients = parameters_of(copied)
    along_x = numbers.standard_normal(x.shape)
    along = [numbers.standard_normal(p.shape) for p in parameters]
    parts = [
        gradient * along_x,
        *(np.asarray(g) * d for g, d in zip(gradients, along, strict=True)),
    ]
    forth = value_at(moved(model, along, STEP), x + STEP * along_x, weights)
    back = value_at(moved(model, along, -STEP), x - STEP * along_x, weights)
    error = abs((forth - back) / (2 * STEP) - sum(part.sum() for part in parts))
    magnitude = sum(np.abs(part).sum() for part in parts) + np.abs(output * weights).sum()
    return error, LIMIT * max(1.0, float(magnitude))

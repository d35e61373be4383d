"""Gradients of random models, held against differences."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import pythnn
from support.random_trees import PLANES, SIZE, Trees

STEPS = 1e-5, 1e-6, 1e-7
LIMIT = 1e-6
"""Of the magnitudes that are added up. Differences are off by the square of the step times the
third derivative, which normalisation can make large, and by the unit roundoff divided by the step:
the step that is least off counts."""
POINTS = 4
"""Inputs that are tried: near a kink, such as that of ReLU, differences say nothing."""
AT_ANOTHER = "passed at another input only: near a kink differences say nothing"


NOT_SMOOTH = "not checked: the value has a kink or jumps at all inputs that were tried"


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


def check_gradients(seed: int) -> list[str]:
    """The gradients of a random model, in evaluation or training, with respect to its input and its
    parameters, along a random direction. Returns ``[AT_ANOTHER]`` where the first input failed,
    and ``[NOT_SMOOTH]`` where the model has no gradient at any."""
    trees = Trees(seed, inplace=False)
    model = trees.model().module.double()
    # SpatialDropout has no backward in evaluation.
    trains = trees.flip() or "SpatialDropout" in repr(model)
    model.training() if trains else model.evaluate()
    shape = trees.random.randint(2, 3), PLANES, SIZE, SIZE
    errors: list[str] = []
    smooth = False
    for _ in range(POINTS):
        error, limit, smooth_here = error_at(
            model, trees.numbers.standard_normal(shape), trees.numbers
        )
        if error <= limit:
            return [AT_ANOTHER] if errors else []
        errors.append(f"{error:.3g} above {limit:.3g}")
        smooth = smooth or smooth_here
    if not smooth:
        return [NOT_SMOOTH]
    raise AssertionError(f"seed {seed}: differences are off by {', '.join(errors)}\n{model}")


def error_at(model: Any, x: Any, numbers: Any) -> tuple[float, float, bool]:
    """How far the gradients at an input are from differences, how far they may be, and whether the
    value is smooth there: the slopes to both sides differ by no more. A threshold makes it jump for
    what another layer makes equal to it, ReLU bends it for what normalisation makes zero."""
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

    def value(step: float) -> float:
        return value_at(moved(model, along, step), x + step * along_x, weights)

    derivative = sum(part.sum() for part in parts)
    slopes = ((value(step) - value(-step)) / (2 * step) for step in STEPS)
    error = min(abs(slope - derivative) for slope in slopes)
    magnitude = sum(np.abs(part).sum() for part in parts) + np.abs(output * weights).sum()
    limit = LIMIT * max(1.0, float(magnitude))
    bend = abs(value(STEPS[-1]) - 2 * value(0) + value(-STEPS[-1])) / STEPS[-1]
    return error, limit, bend <= limit

"""A check of gradients by differences, for classes that users write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _random
from .._errors import THNNArgumentError
from .criterion.criterion import Criterion
from .object.module import Module

__all__ = ["check_gradients", "relative_difference"]


def check_gradients(
    made: Module | Criterion,
    input: Any,
    target: Any = None,
    eps: float = 1e-6,
    seed: int = 1,
) -> dict[str, float]:
    """How far each gradient of a module or a criterion is from differences of its output.

    Parameters
    ----------
    made : module or criterion
        Of type double.
    input : array of float64, or a list of them
        Arrays of other types, such as indices, are left out.
    target : array
        That of a criterion.
    eps : float
        Step to both sides.
    seed : int
        Where random numbers start before each call, so that layers with noise can be checked.

    Returns, for "input", "input[1]" and so on and for the parameters as "parameter[1]", the norm of
    the difference of both gradients divided by that of their sum: about 1e-8 for a right gradient,
    near 1 for a wrong one. A module's output is weighed with random numbers.

    >>> errors = nn.check_gradients(nn.Linear(3, 2), np.ones((4, 3)))
    >>> sorted(errors), max(errors.values()) < 1e-6
    (['input', 'parameter[1]', 'parameter[2]'], True)
    """
    if not isinstance(made, (Module, Criterion)):
        raise THNNArgumentError.expected(
            "nn.check_gradients", 1, "made", "a module or a criterion", type(made).__name__
        )
    given = _copied(input)
    weights: list[Any] = []

    def forward() -> Any:
        _random.manual_seed(seed)
        return made.forward(given, target) if isinstance(made, Criterion) else made.forward(given)

    def value() -> float:
        output = forward()
        if isinstance(made, Criterion):
            return float(output)
        pairs = zip(_leaves(output), weights, strict=True)
        return sum(float((one * weight).sum()) for (_, one), weight in pairs)

    output = _copied(forward())
    if isinstance(made, Criterion):
        gradient = _copied(made.backward(given, target))
        checked = []
    else:
        rng = np.random.default_rng(seed)
        weights += [rng.standard_normal(np.shape(one)) for _, one in _leaves(output)]
        rest = iter(weights)
        shaped = _replaced(output, lambda _: next(rest).copy())
        made.zeroGradParameters()
        gradient = _copied(made.backward(given, shaped))
        parameters, gradients = made.parameters() or ([], [])
        checked = [
            (f"parameter[{i}]", parameter, np.array(found))
            for i, (parameter, found) in enumerate(zip(parameters, gradients, strict=True), 1)
        ]
    inputs = [
        (f"input{place}", array, found)
        for (place, array), (_, found) in zip(_leaves(given), _leaves(gradient), strict=True)
        if np.asarray(array).dtype == np.float64
    ]
    return {
        name: relative_difference(found, _slopes(value, array, eps))
        for name, array, found in [*inputs, *checked]
    }


def relative_difference(first: Any, second: Any) -> float:
    """The norm of the difference divided by that of the sum; 0 when both are zeros."""
    apart, together = (float(np.linalg.norm(one)) for one in (first - second, first + second))
    return apart / together if together else apart


def _slopes(value: Callable[[], float], array: Any, eps: float) -> Any:
    """The gradient by differences, the array set back after each."""
    found = np.empty_like(array)
    for place in np.ndindex(array.shape):
        kept = array[place]
        array[place] = kept + eps
        above = value()
        array[place] = kept - eps
        found[place] = (above - value()) / (2 * eps)
        array[place] = kept
    return found


def _copied(value: Any) -> Any:
    return _replaced(value, np.array)


def _replaced(value: Any, made: Callable[[Any], Any]) -> Any:
    if isinstance(value, (list, tuple)):
        return [_replaced(entry, made) for entry in value]
    return made(value)


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Arrays of a table, and where they are, counted from 1."""
    if isinstance(value, (list, tuple)):
        for i, entry in enumerate(value, 1):
            yield from _leaves(entry, f"{place}[{i}]")
    else:
        yield place, value

"""Calls of every function on generated configurations, against the definition.

A family is a function that draws a configuration, calls the module's functions on it and compares.
Numbers are small integers where a module only multiplies and adds them: results are then exact in
both real types, by any algorithm and in any order, and compared for equality. Elsewhere the limits
are error bounds: the roundings of a result times the unit roundoff times the sum of magnitudes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pythnn import State, Tensor, thnn
from support.bounds import gamma

SIZES = [1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33]
"""Sizes around those of vectors and tiles; 1 often, which much depends on."""

CALLED: set[str] = set()
"""The functions of thnn that were called."""

Family = Callable[["Draw"], None]
FAMILIES: dict[str, tuple[Family, int]] = {}
"""By name: the function and how many configurations it is run on."""


def family(count: int) -> Callable[[Family], Family]:
    """Decorates a family that is run on so many configurations."""

    def register(function: Family) -> Family:
        module = function.__module__.rpartition(".")[2]
        FAMILIES[f"{module}.{function.__name__}"] = function, count
        return function

    return register


class Draw:
    """The random choices of one configuration, which it remembers by name."""

    scale = 0.5
    """Of gradients: a power of two keeps them exact."""

    def __init__(self, name: str, number: int) -> None:
        self.random = np.random.default_rng([number, *name.encode()])
        self.real: Any = np.float32 if self.flag() else np.float64
        self.chosen: dict[str, Any] = {"real": self.real.__name__}

    def one_of(self, name: str, choices: Sequence[Any]) -> Any:
        chosen = self.chosen[name] = choices[int(self.random.integers(len(choices)))]
        return chosen

    def flag(self) -> bool:
        return bool(self.random.integers(2))

    def size(self, name: str, most: int = SIZES[-1]) -> int:
        """One of the sizes up to `most`."""
        return int(self.one_of(name, [size for size in SIZES if size <= most]))

    def sizes(self, name: str, count: int, most: int = SIZES[-1]) -> tuple[int, ...]:
        sizes = self.chosen[name] = tuple(self.size(name, most) for _ in range(count))
        return sizes

    def between(self, name: str, low: int, high: int) -> int:
        """From low to high, both included."""
        chosen = self.chosen[name] = int(self.random.integers(low, high + 1))
        return chosen

    def integers(self, *shape: int) -> np.ndarray:
        """Small integers as reals, not all different."""
        return self.random.integers(-4, 5, shape).astype(self.real)

    def normal(self, *shape: int) -> np.ndarray:
        return self.random.standard_normal(shape).astype(self.real)

    def laid_out(self, values: np.ndarray) -> np.ndarray:
        """The same values: dense, in another order of the dimensions, or with gaps of NaN."""
        how = self.random.integers(4)
        if how < 2 or values.ndim == 0:
            return values
        if how == 2:
            return np.asfortranarray(values)
        gap = np.nan if values.dtype.kind == "f" else 10**6
        spread = np.full((*values.shape, 2), gap, values.dtype)
        spread[..., 0] = values
        return spread[..., 0]

    def call(self, function: str, *arguments: Any) -> None:
        """Calls a function of thnn with a number of threads and the algorithm that was drawn."""
        CALLED.add(function)
        with State(
            threads=int(self.random.choice([1, 1, 1, 2, 3])),
            minimum_work=1,
            convolution=self.chosen.get("algorithm", "auto"),
        ) as state:
            getattr(thnn, function)(state, *arguments)

    def result(self, function: str, *arguments: Any) -> np.ndarray:
        """The output of a function, which is the argument RESULT."""
        (found,) = self.results(function, *arguments)
        return found

    def results(self, function: str, *arguments: Any) -> list[np.ndarray]:
        """The outputs of a function, which are the arguments RESULT and INDICES."""
        outputs = {
            i: Tensor(dtype=np.int64 if argument is INDICES else self.real)
            for i, argument in enumerate(arguments)
            if argument is RESULT or argument is INDICES
        }
        passed = [
            outputs[i] if i in outputs else self.laid_out(a) if isinstance(a, np.ndarray) else a
            for i, a in enumerate(arguments)
        ]
        self.call(function, *passed)
        return [output.numpy() for output in outputs.values()]

    def added(self, function: str, *arguments: Any) -> list[np.ndarray]:
        """What a function adds to the arguments Added, which begin with ones."""
        sums = {
            i: np.ones(argument.shape, self.real)
            for i, argument in enumerate(arguments)
            if isinstance(argument, Added)
        }
        passed = [
            sums[i] if i in sums else self.laid_out(a) if isinstance(a, np.ndarray) else a
            for i, a in enumerate(arguments)
        ]
        self.call(function, *passed)
        return [total - 1 for total in sums.values()]

    @staticmethod
    def equal(what: str, found: np.ndarray, wanted: Any) -> None:
        """The same shape and the same numbers."""
        wanted = np.asarray(wanted)
        assert found.shape == wanted.shape, (
            f"{what} has shape {found.shape}, expected {wanted.shape}"
        )
        np.testing.assert_array_equal(found, wanted, err_msg=what)

    @staticmethod
    def close(what: str, found: np.ndarray, wanted: Any, magnitude: Any, roundings: int) -> None:
        """Within the bound for so many roundings of terms whose magnitudes add up to `magnitude`,
        here and in the definition."""
        wanted = np.asarray(wanted, np.float64)
        assert found.shape == wanted.shape, (
            f"{what} has shape {found.shape}, expected {wanted.shape}"
        )
        limit = 2 * gamma(roundings, found.dtype) * np.abs(magnitude) + np.finfo(found.dtype).tiny
        with np.errstate(invalid="ignore"):
            right = (np.abs(found - wanted) <= limit) | (found == wanted)
        right |= np.isnan(found) & np.isnan(wanted)
        assert right.all(), f"{what}\n{found}\nexpected\n{wanted}\nwithin\n{limit}"


RESULT, INDICES = object(), object()


class Added:
    """Stands for an argument of a shape that a function adds to."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)


def run(name: str, numbers: Sequence[int], kind: type[Draw] = Draw) -> None:
    """Runs a family on the configurations of these numbers."""
    function, _ = FAMILIES[name]
    for number in numbers:
        draw = kind(name, number)
        try:
            # NumPy's products look at lanes past the ends of small matrices, and may warn of them.
            with np.errstate(invalid="ignore"):
                function(draw)
        except Exception as error:
            chosen = ", ".join(f"{key}={value}" for key, value in draw.chosen.items())
            raise AssertionError(
                f"generated.run({name!r}, [{number}]): {chosen}\n{error}"
            ) from error


def run_others() -> None:
    """Runs all families on half as many other configurations."""
    for name, (_, count) in FAMILIES.items():
        run(name, range(count, count + count // 2))

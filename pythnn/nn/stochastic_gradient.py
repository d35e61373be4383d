"""Plain stochastic gradient descent, one example at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from .. import _random
from .criterion.criterion import Criterion
from .object.module import Module
from .object.object import Object, register

__all__ = ["StochasticGradient"]


@contextmanager
def _progress(epochs: int) -> Iterator[Callable[[int, float], None]]:
    """A progress bar over the epochs; the function tells it of a finished one and its error."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("epoch"),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("current error {task.fields[error]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns) as progress:
        task = progress.add_task("train", total=epochs or None, error="-")
        yield lambda epoch, error: progress.update(task, completed=epoch, error=f"{error:g}")


@contextmanager
def _silence() -> Iterator[Callable[[int, float], None]]:
    yield lambda *_: None


@register
class StochasticGradient(Object):
    """Trains a module with a criterion.

    Fields to set: ``learningRate`` (0.01), ``learningRateDecay`` (0: after epoch n the rate is
    learningRate / (1 + (n + 1) learningRateDecay)), ``maxIteration`` (25 epochs; 0 for no end),
    ``shuffleIndices`` (one random order for all epochs), ``verbose`` (show the progress),
    ``hookExample(trainer, example)`` and ``hookIteration(trainer, epoch, error)``.
    """

    hookExample: Callable[[Any, Any], Any] | None = None
    hookIteration: Callable[[Any, int, Any], Any] | None = None

    def __init__(self, module: Module, criterion: Criterion) -> None:
        self.learningRate: Any = 0.01
        self.learningRateDecay: Any = 0
        self.maxIteration = 25
        self.shuffleIndices = True
        self.module = module
        self.criterion = criterion
        self.verbose = True

    def train(self, dataset: Any) -> list[Any]:
        """Runs over the examples, pairs of input and target; returns the mean error per epoch."""
        size = len(dataset)
        shuffled = _random.permutation(size) - 1  # drawn in any case, as in Lua
        order = shuffled if self.shuffleIndices else range(size)
        rate, errors = self.learningRate, []
        shown: AbstractContextManager[Callable[[int, float], None]]
        shown = _progress(self.maxIteration) if self.verbose else _silence()
        with shown as tell:
            while True:
                total = sum(self._step(dataset[int(i)], rate) for i in order)
                errors.append(total / size)
                epoch = len(errors)
                if self.hookIteration is not None:
                    self.hookIteration(self, epoch, errors[-1])
                tell(epoch, errors[-1])
                rate = self.learningRate / (1 + (epoch + 1) * self.learningRateDecay)
                if 0 < self.maxIteration <= epoch:
                    return errors

    def _step(self, example: Any, rate: Any) -> Any:
        """One example: its error, and a step down the gradient."""
        given, target = example[0], example[1]
        error = self.criterion.forward(self.module.forward(given), target)
        gradient = self.criterion.updateGradInput(self.module.output, target)
        self.module.updateGradInput(given, gradient)
        self.module.accUpdateGradParameters(given, gradient, rate)
        if self.hookExample is not None:
            self.hookExample(self, example)
        return error

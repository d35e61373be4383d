"""Classes of nnx that pass values on, and its sum of criterions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._errors import THNNArgumentError
from ..criterion.criterion import Criterion
from ..object.object import register
from ..object.values import array_module, describe
from ..shape.plumbing import Identity

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Probe", "SuperCriterion", "Tic", "Toc"]


@register
class Probe(Identity, kernel=True):
    """output = input; Lua's prints what passes, under `name`."""

    def __init__(self, name: str = "unnamed") -> None:
        super().__init__()
        self.name = name


@register
class Tic(Identity, kernel=True):
    """output = input; Lua's starts a clock `name`, which Toc reads."""

    def __init__(self, name: str = "unnamed") -> None:
        super().__init__()
        self.name = name


@register
class Toc(Identity, kernel=True):
    """output = input; Lua's reads the clock that Tic started."""

    def __init__(self, name: str = "unnamed") -> None:
        super().__init__()
        self.name = name


@register
class SuperCriterion(Criterion):
    """The weighted sum of criterions, one for each entry of the input.

    The target is a table with an entry for each, or else the same for all.
    """

    def __init__(self) -> None:
        super().__init__()
        self.criterions: list[Criterion] = []
        self.weights: list[float] = []
        self.tensors.gradInput = []

    def add(self, criterion: Criterion, weight: float = 1) -> Self:
        """Adds a criterion with its weight; returns itself."""
        self.criterions = [*self.criterions, criterion]
        self.weights = [*self.weights, weight]
        return self

    def _calls(self, input: Any, target: Any) -> Any:
        """For each criterion: it, its weight, its input and its target."""
        count = len(self.criterions)
        if not isinstance(input, list) or len(input) != count:
            wanted = f"a table of {count}, an entry for each criterion"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        targets = target if isinstance(target, list) else [target] * count
        if len(targets) != count:
            wanted = f"a table of {count}, or one target for all"
            raise THNNArgumentError.expected(
                self.typename(), 2, "target", wanted, f"a table of {len(targets)}"
            )
        return zip(self.criterions, self.weights, input, targets, strict=True)

    def updateOutput(self, input: Any, target: Any) -> Any:
        losses = [
            weight * criterion.forward(given, wanted)
            for criterion, weight, given, wanted in self._calls(input, target)
        ]
        self.output = sum(losses)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        self.gradInput = [
            array_module(given).asarray(criterion.backward(given, wanted) * weight, given.dtype)
            for criterion, weight, given, wanted in self._calls(input, target)
        ]
        return self.gradInput

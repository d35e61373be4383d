"""Losses that are weighted sums of losses."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from ..._errors import THNNArgumentError
from ..object.arguments import check_instance
from ..object.object import register
from ..object.tables import add_into, zeros_like
from ..object.values import DoubleStorage, describe
from .criterion import Criterion

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MultiCriterion", "ParallelCriterion"]


class _Sum(Criterion, ABC, kernel=True):
    """Criterions in ``criterions``, and their weights in ``weights``."""

    weights: list[Any]

    def __init__(self) -> None:
        super().__init__()
        self.criterions: list[Criterion] = []

    def add(self, criterion: Criterion, weight: float = 1) -> Self:
        """Appends a criterion; returns this one."""
        function = f"{self.typename()}.add"
        check_instance(function, 1, "criterion", criterion, Criterion)
        if criterion is self:
            raise THNNArgumentError.expected(
                function, 1, "criterion", "another criterion", "the criterion itself"
            )
        if not isinstance(weight, numbers.Real) or math.isnan(weight):
            raise THNNArgumentError.expected(function, 2, "weight", "a number", describe(weight))
        self.criterions.append(criterion)
        self.weights.append(weight)
        return self

    @abstractmethod
    def parts(self, value: Any) -> list[Any]:
        """What each criterion gets of an input."""

    def targets(self, target: Any) -> list[Any]:
        """What each criterion gets of a target."""
        return self.parts(target)

    def updateOutput(self, input: Any, target: Any) -> Any:
        calls = zip(
            self.criterions, self.weights, self.parts(input), self.targets(target), strict=False
        )
        self.output = sum(
            weight * criterion.updateOutput(part, wanted)
            for criterion, weight, part, wanted in calls
        )
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        total = zeros_like(input)
        calls = zip(
            self.criterions,
            self.weights,
            self.parts(total),
            self.parts(input),
            self.targets(target),
            strict=False,
        )
        for criterion, weight, sum_part, part, wanted in calls:
            add_into(sum_part, criterion.updateGradInput(part, wanted), weight)
        self.tensors.gradInput = total
        return total


@register
class MultiCriterion(_Sum, kernel=True):
    """Weighted sum of several criterions on the same input and target, which may be tables."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = DoubleStorage()

    def parts(self, value: Any) -> list[Any]:
        return [value] * len(self.criterions)


@register
class ParallelCriterion(_Sum, kernel=True):
    """Weighted sum of criterions, each on its own entry of the input and of the target.

    With `repeatTarget` all have the same target.
    """

    repeatTarget: bool | None = None
    _emptied_by_type: ClassVar = {"gradInput": None}

    def __init__(self, repeatTarget: bool | None = None) -> None:
        super().__init__()
        self.weights = []
        self.tensors.gradInput = []
        self.repeatTarget = repeatTarget

    def parts(self, value: Any) -> list[Any]:
        return list(value)

    def targets(self, target: Any) -> list[Any]:
        return [target] * len(self.criterions) if self.repeatTarget else self.parts(target)

"""Losses that compare two inputs, or two classes of pairs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..linear.cosine import cosine
from ..object.object import register
from ..object.tables import same_sizes
from ..object.values import array_module
from .criterion import Criterion

__all__ = [
    "CosineEmbeddingCriterion",
    "DistanceRatioCriterion",
    "HingeEmbeddingCriterion",
    "L1HingeEmbeddingCriterion",
    "MarginRankingCriterion",
]


def _signs(name: str, target: Any, like: Any) -> Any:
    """A target, 1 and -1 for each element of an array or one number for all, in its shape.

    Raises THNNArgumentError in the name of a class for targets of another size.
    """
    xp = array_module(like)
    signs = xp.asarray(target, like.dtype)
    if signs.size == 1:
        return xp.broadcast_to(signs.reshape((1,) * like.ndim), like.shape)
    return same_sizes(name, [like, signs])[1]


def _total(losses: Any) -> float:
    return float(losses.sum(dtype=np.float64))


@register
class HingeEmbeddingCriterion(Criterion):
    """Mean over distances of input where the target is 1, of max(0, margin - input) where it is -1.

    With the field ``sizeAverage`` False it is the sum.
    """

    def __init__(self, margin: float = 1) -> None:
        super().__init__()
        self.margin = margin
        self.sizeAverage = True

    def updateOutput(self, input: Any, target: Any) -> Any:
        xp, signs = array_module(input), _signs(self.typename(), target, input)
        losses = xp.where(signs == -1, xp.maximum(self.margin - input, 0), input)
        self.output = _total(losses) / (input.size if self.sizeAverage else 1)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        xp, signs = array_module(input), _signs(self.typename(), target, input)
        gradient = xp.where((signs == -1) & (input > self.margin), 0, signs)
        self.gradInput = (gradient / (input.size if self.sizeAverage else 1)).astype(input.dtype)
        return self.gradInput


class _OfPairs(Criterion):
    """A loss of a table of two tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.gradInput = [np.empty(0), np.empty(0)]


@register
class L1HingeEmbeddingCriterion(_OfPairs):
    """The L1 distance d of two tensors for the target 1, max(0, margin - d) for -1.

    The target is a number; a tensor counts as 1, as in Lua.
    """

    def __init__(self, margin: float = 1) -> None:
        super().__init__()
        self.margin = margin

    def updateOutput(self, input: Any, target: Any) -> Any:
        first, second = same_sizes(self.typename(), input)
        distance = _total(abs(first - second))
        apart = np.isscalar(target) and target == -1
        self.output = max(0.0, self.margin - distance) if apart else distance
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        difference = input[0] - input[1]
        gradient = array_module(input).sign(difference)
        if np.isscalar(target) and target == -1:
            gradient *= -1 if _total(abs(difference)) < self.margin else 0
        self.gradInput = [gradient, -gradient]
        return self.gradInput


@register
class MarginRankingCriterion(Criterion):
    """Mean of max(0, margin - target (first - second)); targets are 1 or -1.

    A target of 1 says that the first input is to be larger. With the field ``sizeAverage`` False it
    is the sum.
    """

    def __init__(self, margin: float = 1) -> None:
        super().__init__()
        self.gradInput = [np.zeros(1), np.zeros(1)]
        self.margin = margin
        self.sizeAverage = True

    def _losses(self, input: Any, signs: Any) -> Any:
        first, second = same_sizes(self.typename(), input)
        return self.margin - signs * (first - second)

    def _count(self, input: Any) -> int:
        return len(input[0]) if self.sizeAverage else 1

    def updateOutput(self, input: Any, target: Any) -> Any:
        losses = self._losses(input, _signs(self.typename(), target, input[0]))
        self.output = _total(losses[losses > 0]) / self._count(input)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        signs = _signs(self.typename(), target, input[0])
        gradient = signs * (self._losses(input, signs) >= 0) / self._count(input)
        gradient = gradient.astype(input[0].dtype)
        self.gradInput = [-gradient, gradient]
        return self.gradInput


@register
class CosineEmbeddingCriterion(_OfPairs):
    """Mean over pairs of 1 - cos for the target 1, of max(0, cos - margin) for -1.

    Input: two tensors of [batch x] size; target: batch, or a number. With the field ``sizeAverage``
    False it is the sum.
    """

    _emptied_by_type: ClassVar = {"_idx": np.uint8}

    def __init__(self, margin: float = 0) -> None:
        super().__init__()
        self.margin = margin
        self.sizeAverage = True

    def updateOutput(self, input: Any, target: Any) -> Any:
        cosines, _ = cosine(self.typename(), input)
        signs, xp = _signs(self.typename(), target, cosines), array_module(input)
        losses = xp.where(signs == 1, 1 - cosines, xp.maximum(cosines - self.margin, 0))
        self.output = _total(losses) / (len(losses) if self.sizeAverage else 1)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        cosines, gradients = cosine(self.typename(), input)
        signs, xp = _signs(self.typename(), target, cosines), array_module(input)
        factors = xp.where(signs == 1, -1, cosines > self.margin).astype(cosines.dtype)
        if self.sizeAverage:
            factors /= len(factors)
        self.gradInput = [
            (gradient * factors[:, None]).reshape(input[0].shape) for gradient in gradients
        ]
        return self.gradInput


@register
class DistanceRatioCriterion(Criterion):
    """Mean, or without `sizeAverage` sum, of -log(exp(-x) / (exp(-x) + exp(-y))) for a pair x, y.

    There is no target. The field ``output`` stays 0, as in Lua.
    """

    def __init__(self, sizeAverage: bool = True) -> None:
        super().__init__()
        self.sizeAverage = sizeAverage

    def _count(self, input: Any) -> int:
        return len(input[0]) if self.sizeAverage else 1

    def updateOutput(self, input: Any, target: Any = None) -> Any:
        first, second = same_sizes(self.typename(), input)
        losses = array_module(input).logaddexp(0, first - second)
        return _total(losses) / self._count(input)

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        first, second = input
        xp = array_module(input)
        gradient = xp.exp(-xp.logaddexp(0, second - first)) / self._count(input)
        self.gradInput = [gradient, -gradient]
        return self.gradInput

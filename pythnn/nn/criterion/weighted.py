"""Losses with a weight for each class."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..._errors import THNNArgumentError
from ..object.values import as_real
from .criterion import KernelCriterion

__all__ = ["WeightedCriterion"]


class WeightedCriterion(KernelCriterion, kernel=True):
    """A loss with an optional one-dimensional field ``weights``; its length is their number."""

    def __init__(self, weights: ArrayLike | None = None, sizeAverage: bool = True) -> None:
        super().__init__(sizeAverage)
        given = None if weights is None else as_real(weights)
        if given is not None and given.ndim != 1:
            raise THNNArgumentError.expected(
                self.typename(), 1, "weights", "one dimension", f"{given.shape}"
            )
        self.tensors.weights = given

    def _upgrade(self) -> None:
        vars(self.tensors).setdefault("weights", None)

    def __len__(self) -> int:
        weights = self.tensors.weights
        return 0 if weights is None else int(weights.size)

    def __bool__(self) -> bool:
        return True

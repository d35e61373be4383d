"""How often samples of each class are taken for each class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import THNNArgumentError

__all__ = ["ConfusionMatrix"]


class ConfusionMatrix:
    """Counts, for each class of targets in a row, how often each class was predicted.

    Parameters
    ----------
    nclasses : number of classes, or their names
    classes : their names

    ``mat`` has the counts. ``updateValids`` makes of them ``valids``, the share of each row that is
    right, ``unionvalids``, the share of right ones among those that are of a class or were taken
    for it, both NaN where there are none, and ``averageValid``, ``averageUnionValid`` and
    ``totalValid``.

    >>> matrix = ConfusionMatrix(2, ["cat", "dog"])
    >>> matrix.batchAdd([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]], [1, 2, 1])
    >>> print(matrix)
    ConfusionMatrix:
    [[       1       1]   50.000%   [class: cat]
     [       0       1]]  100.000%  [class: dog]
     + average row correct: 75%
     + average rowUcol correct (VOC measure): 50%
     + global correct: 66.6667%
    """

    def __init__(self, nclasses: int | Sequence[str], classes: Sequence[str] = ()) -> None:
        if not isinstance(nclasses, int):
            classes, nclasses = list(nclasses), len(nclasses)
        if nclasses < 1 or (classes and len(classes) != nclasses):
            raise THNNArgumentError.expected(
                "optim.ConfusionMatrix", 1, "nclasses", "as many as classes, at least 1",
                str(nclasses),
            )  # fmt: skip
        self.nclasses = nclasses
        self.classes = list(classes)
        self.mat = np.zeros((nclasses, nclasses), np.int64)
        self.zero()

    def zero(self) -> None:
        """Forgets all counts."""
        self.mat[...] = 0
        self.valids: Any = np.zeros(self.nclasses)
        self.unionvalids: Any = np.zeros(self.nclasses)
        self.totalValid: float = 0
        self.averageValid: float = 0
        self.averageUnionValid: float = 0

    def add(self, prediction: ArrayLike, target: ArrayLike) -> None:
        """Counts one sample: scores of all classes, or a class from 1; the target likewise."""
        self.batchAdd(np.asarray(prediction)[None], np.asarray(target)[None])

    def batchAdd(self, predictions: ArrayLike, targets: ArrayLike) -> None:
        """Counts samples: samples x classes of scores, or classes from 1; targets likewise."""
        predicted = self._classes("predictions", 1, predictions)
        wanted = self._classes("targets", 2, targets)
        if predicted.size != wanted.size:
            raise THNNArgumentError.expected(
                "optim.ConfusionMatrix.batchAdd", 2, "targets", f"{predicted.size} targets",
                str(wanted.size),
            )  # fmt: skip
        np.add.at(self.mat, (wanted, predicted), 1)

    def _classes(self, name: str, position: int, given: ArrayLike) -> Any:
        """Classes from 0."""
        array = np.asarray(given)
        if array.ndim == 2 and array.shape[1] == self.nclasses:
            return array.argmax(1)
        classes = array.ravel().astype(np.int64) - 1
        if (
            array.ndim > 2
            or (array.ndim == 2 and array.shape[1] != 1)
            or (classes.size and (classes.min() < 0 or classes.max() >= self.nclasses))
        ):
            wanted = f"samples x {self.nclasses} scores, or classes from 1 to {self.nclasses}"
            found = f"an array of shape {array.shape}"
            raise THNNArgumentError.expected(
                "optim.ConfusionMatrix.batchAdd", position, name, wanted, found
            )
        return classes

    def updateValids(self) -> None:
        """Computes the shares of what is right."""
        right, rows = np.diagonal(self.mat), self.mat.sum(1)
        unions = rows + self.mat.sum(0) - right
        self.valids = _shares(right, rows)
        self.unionvalids = _shares(right, unions)
        self.averageValid = _mean(self.valids)
        self.averageUnionValid = _mean(self.unionvalids)
        self.totalValid = float(right.sum() / rows.sum()) if rows.sum() else math.nan

    def __str__(self) -> str:
        self.updateValids()
        width = max(8, 1 + math.ceil(math.log10(max(int(self.mat.max()), 1))))
        lines = ["ConfusionMatrix:"]
        for place, (counts, share) in enumerate(zip(self.mat, self.valids, strict=True)):
            row = "".join(f"{count:{width}d}" for count in counts)
            start = "[[" if not place else " ["
            end = "]] " if place == self.nclasses - 1 else "]  "
            percent = f"{100 * share:.3f}%"
            name = f"{percent:10s}[class: {self.classes[place]}]" if self.classes else percent
            lines.append(f"{start}{row}{end} {name}")
        for what, share in (
            ("average row correct", self.averageValid),
            ("average rowUcol correct (VOC measure)", self.averageUnionValid),
            ("global correct", self.totalValid),
        ):
            lines.append(f" + {what}: {100 * share:g}%")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"optim.ConfusionMatrix({self.nclasses})"


def _shares(right: Any, of: Any) -> Any:
    return np.where(of > 0, right / np.maximum(of, 1), math.nan)


def _mean(shares: Any) -> float:
    """The mean of those that are numbers."""
    present = shares[~np.isnan(shares)]
    return float(present.mean()) if present.size else math.nan

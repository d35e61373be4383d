"""Losses of classifiers. Classes are numbers from 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._errors import THNNArgumentError
from ..._products import product
from ..._tensor import Array, Tensor
from ..activation.pointwise import Sigmoid
from ..activation.softmax import LogSoftMax
from ..object.object import register
from ..object.values import array_module
from .criterion import Criterion, KernelCriterion
from .elements import MSECriterion
from .weighted import WeightedCriterion

__all__ = [
    "ClassNLLCriterion",
    "ClassSimplexCriterion",
    "CrossEntropyCriterion",
    "MultiLabelMarginCriterion",
    "MultiLabelSoftMarginCriterion",
    "MultiMarginCriterion",
    "SpatialClassNLLCriterion",
]


def _classes(target: Any, device: str) -> Tensor:
    """A target, a number or a tensor of any type, as a Tensor of int64; a number on the device."""
    if isinstance(target, Tensor):
        if target.dtype == np.int64:
            return target
        with np.errstate(invalid="ignore"):  # NaN becomes a class that there is not
            return target.astype(np.int64)
    return Tensor(target, dtype=np.int64, device=device)


def _one_dimension(target: Any, input: Tensor) -> Tensor:
    """Classes without dimensions of size 1."""
    return _classes(target, input.device).squeeze()


class _Likelihood(WeightedCriterion, kernel=True):
    """Minus the weighted mean, or sum, of the log-probabilities of the targets."""

    def __init__(self, weights: ArrayLike | None = None, sizeAverage: bool = True) -> None:
        super().__init__(weights, sizeAverage)
        own = self.tensors
        own.output_tensor = Tensor.zeros(1, dtype=np.float64)
        own.total_weight_tensor = Tensor(np.ones(1))
        own.target = Tensor.zeros(1, dtype=np.int64)

    def wanted(self, input: Tensor, target: Any) -> Tensor:
        self.tensors.target = classes = _classes(target, input.device)
        return classes

    def settings(self, input: Tensor) -> tuple[Any, ...]:
        return self.sizeAverage, self.tensors.weights, self.tensors.total_weight_tensor

    def updateOutput(self, input: Any, target: Any) -> Any:
        self.result("total_weight_tensor", input).resize(1)
        return super().updateOutput(input, target)

    def updateGradInput(self, input: Any, target: Any) -> Any:
        # The functions write the targets' elements alone.
        self.result("gradInput", input).resize(input.shape).zero()
        return super().updateGradInput(input, target)


@register
class ClassNLLCriterion(_Likelihood, kernel=True):
    """Negative log-probability of the target class: weighted mean, or sum without `sizeAverage`.

    Input: [batch x] classes, log-probabilities; target: batch, or a number. `weights` are those of
    the classes; samples of the class `ignoreIndex` do not count.
    """

    _function = "ClassNLLCriterion"

    def __init__(
        self, weights: ArrayLike | None = None, sizeAverage: bool = True, ignoreIndex: int = -100
    ) -> None:
        super().__init__(weights, sizeAverage)
        self.ignoreIndex = ignoreIndex

    def settings(self, input: Tensor) -> tuple[Any, ...]:
        return *super().settings(input), self.ignoreIndex


@register
class SpatialClassNLLCriterion(_Likelihood, kernel=True):
    """Negative log-probability of the target class at each position of an image.

    Weighted mean, or without `sizeAverage` sum. Input: batch x classes x height x width; target:
    batch x height x width. `weights` are those of the classes.
    """

    _function = "SpatialClassNLLCriterion"


@register
class CrossEntropyCriterion(Criterion, kernel=True):
    """LogSoftMax and ClassNLLCriterion in one; dimensions of size 1 are ignored."""

    def __init__(self, weights: ArrayLike | None = None, sizeAverage: bool = True) -> None:
        super().__init__()
        self.lsm = LogSoftMax()
        self.nll = ClassNLLCriterion(weights, sizeAverage)
        self.sizeAverage = self.nll.sizeAverage
        self.oldSizeAverage = self.sizeAverage

    def updateOutput(self, input: Any, target: Any) -> Any:
        if self.sizeAverage != self.oldSizeAverage:
            self.nll.sizeAverage = self.oldSizeAverage = self.sizeAverage
        logarithms = self.lsm.updateOutput(input.squeeze())
        self.output = self.nll.updateOutput(logarithms, _one_dimension(target, input))
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        gradient = self.nll.updateGradInput(self.lsm.field("output"), _one_dimension(target, input))
        self.tensors.gradInput = self.lsm.updateGradInput(input.squeeze(), gradient).view(
            input.shape
        )
        return self.tensors.gradInput


@register
class MultiMarginCriterion(WeightedCriterion, kernel=True):
    """Mean over classes c of w max(0, margin - input[target] + input[c])^p, c not the target.

    Input: [batch x] classes; target: batch, or a number. `p` is 1 or 2. Mean over the samples; with
    the field ``sizeAverage`` False it is the sum.
    """

    _function = "MultiMarginCriterion"

    def __init__(self, p: int = 1, weights: ArrayLike | None = None, margin: float = 1.0) -> None:
        if p not in (1, 2):
            raise THNNArgumentError.expected(self.typename(), 1, "p", "1 or 2", repr(p))
        super().__init__(weights)
        self.p = p
        self.margin = margin

    def wanted(self, input: Tensor, target: Any) -> Tensor:
        return _classes(target, input.device)

    def settings(self, input: Tensor) -> tuple[Any, ...]:
        return self.sizeAverage, self.p, self.tensors.weights, self.margin


@register
class MultiLabelMarginCriterion(KernelCriterion, kernel=True):
    """Mean over classes of sum max(0, 1 - input[t] + input[c]), t the targets, c the others.

    Input: [batch x] classes; target: the same shape, a sample's targets followed by 0. Mean over
    the samples; with the field ``sizeAverage`` False it is the sum.
    """

    _function = "MultiLabelMarginCriterion"

    def __init__(self) -> None:
        super().__init__()
        self.tensors.isTarget = Tensor(dtype=np.float64)

    def wanted(self, input: Tensor, target: Any) -> Tensor:
        return _classes(target, input.device)

    def settings(self, input: Tensor) -> tuple[Any, ...]:
        return self.tensors.isTarget, self.sizeAverage

    def updateOutput(self, input: Any, target: Any) -> Any:
        self.result("isTarget", input)
        return super().updateOutput(input, target)


@register
class MultiLabelSoftMarginCriterion(WeightedCriterion):
    """Binary cross entropy of sigmoid(input), with targets 0 or 1 for each class.

    Mean, or without `sizeAverage` sum, over all elements, with `weights` of the classes. Input and
    target: [batch x] classes.
    """

    def __init__(self, weights: ArrayLike | None = None, sizeAverage: bool = True) -> None:
        super().__init__(weights, sizeAverage)
        self.sigmoid = Sigmoid()

    def _upgrade(self) -> None:
        """Once it was a Sigmoid, `lsm`, and a BCECriterion with the weights, `nll`."""
        old = vars(self).pop("nll", None)
        if old is not None and self.field("weights") is None:
            self.assign("weights", old.field("weights"))
        if self.field("sigmoid") is None:
            vars(self).pop("lsm", None)
            self.sigmoid = Sigmoid()
        super()._upgrade()

    def _mean(self, input: Any, values: Any) -> Any:
        """Values with their weights, and divided by the number of elements."""
        weights = self.tensors.weights
        if weights is not None:
            values = values * weights.array()
        return values / input.size if self.sizeAverage else values

    def updateOutput(self, input: Any, target: Any) -> Any:
        losses = array_module(input).logaddexp(0, input) - target.reshape(input.shape) * input
        self.output = float(self._mean(input, losses).sum(dtype=np.float64))
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        difference = self.sigmoid.forward(input) - target.reshape(input.shape)
        self.gradInput = self._mean(input, difference)
        return self.gradInput


def _simplex(n: int) -> Array:
    """The `n` corners of a regular simplex around 0, at distance 1; the last column is 0."""
    corners = np.zeros((n, n))
    for k in range(n - 1):
        corners[k, k] = math.sqrt(1 - float((corners[k, :k] ** 2).sum()))
        corners[k + 1 :, k] = (corners[k, k] ** 2 - 1 - 1 / (n - 1)) / corners[k, k]
    return corners


@register
class ClassSimplexCriterion(MSECriterion, kernel=True):
    """MSECriterion whose target is the corner of a regular simplex that represents the class.

    Input: [batch x] nClasses; target: batch, or a number. ``simplex`` holds the corners in rows.
    """

    def __init__(self, nClasses: int) -> None:
        if nClasses < 2:
            raise THNNArgumentError.expected(
                self.typename(), 1, "nClasses", "2 or more", repr(nClasses)
            )
        super().__init__()
        self.nClasses = nClasses
        self.tensors.simplex = Tensor(_simplex(nClasses))
        self.tensors._target = Tensor.zeros(nClasses, dtype=np.float64)

    def wanted(self, input: Tensor, target: Any) -> Tensor:
        classes = _classes(target, input.device).array()
        if classes.min() < 1 or classes.max() > self.nClasses:
            raise THNNArgumentError.expected(
                self.typename(), 2, "target", f"classes from 1 to {self.nClasses}", f"{classes}"
            )
        corners = self.tensors.simplex.array()[classes - 1]
        self.tensors._target = wanted = Tensor(corners.reshape(input.shape))
        return wanted

    def getPredictions(self, input: Any) -> Array:
        """How well [batch x] nClasses inputs point to each class: batch x nClasses."""
        xp = array_module(self.simplex)
        predictions: Array = product(xp.atleast_2d(xp.asarray(input)), self.simplex.T)
        return predictions

    def getTopPrediction(self, input: Any) -> Array:
        """The class that each input points to best: batch, or one element."""
        best: Array = self.getPredictions(input).argmax(-1) + 1
        return best

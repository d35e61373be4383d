"""Layers that make one number of all along a dimension.

With `nInputDims`, inputs with one dimension more are batches, and the dimension is one more;
negative dimensions count from the last. The output lacks the dimension, unless it is the only one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.tables import dimension
from ..object.values import array_module
from .scatter import put_along_axis

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Max", "Mean", "Min", "Sum"]


class _Reduction(Module):
    dimension: int
    nInputDims: int | None = None

    def __init__(self, dimension: int = 1, nInputDims: int | None = None) -> None:
        super().__init__()
        self.dimension = dimension
        self.nInputDims = nInputDims

    def _axis(self, input: Any) -> int:
        return dimension(self.typename(), self.dimension, input.ndim, self.nInputDims)

    def _kept(self, input: Any) -> tuple[int, ...]:
        """The shape of the input with size 1 in the dimension."""
        axis = self._axis(input)
        return (*input.shape[:axis], 1, *input.shape[axis + 1 :])


class _ByKernel(_Reduction, ABC, kernel=True):
    """What a C function does with real tensors, and arrays with others."""

    squeeze: bool = True
    _finds_places: ClassVar[bool] = False

    @abstractmethod
    def _mode(self) -> int:
        """What to compute, as the C function counts it."""

    def updateOutput(self, input: Any) -> Any:
        if not isinstance(input, Tensor) or input.dtype.kind != "f":
            return super().updateOutput(input)
        axis, output = self._axis(input), self.result("output", input)
        places = self.result("_indices", np.int64) if self._finds_places else None
        settings = axis + 1, not self.squeeze, self._mode()
        self._kernel("Reduction_updateOutput", None, input, output, places, *settings)
        if places is not None:
            places.resize(*self._kept(input))
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        places = getattr(self.tensors, "_indices", None) if self._finds_places else None
        if not self._is_for_kernel(input, gradOutput, places):
            return super().updateGradInput(input, gradOutput)
        gradInput = self.result("gradInput", input)
        settings = places, self._axis(input) + 1, self._mode()
        self._kernel("Reduction_updateGradInput", None, input, gradOutput, gradInput, *settings)
        return gradInput

    def _is_for_kernel(self, input: Any, gradOutput: Any, places: Any) -> bool:
        """Whether the C function takes these: Tensors of one real type, and places of its own."""
        if type(input) is not Tensor or type(gradOutput) is not Tensor:
            return False
        if self._finds_places and (type(places) is not Tensor or places.dtype != np.int64):
            return False
        return bool(input.dtype.kind == "f" and gradOutput.dtype == input.dtype)


class _Sums(_Reduction):
    sizeAverage: bool
    squeeze: bool

    def updateOutput(self, input: Any) -> Any:
        axis = self._axis(input)
        total = input.sum(axis, keepdims=not self.squeeze or input.ndim == 1)
        self.output = total / input.shape[axis] if self.sizeAverage else total
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.room("gradInput", input)
        gradInput[...] = gradOutput.reshape(self._kept(input))
        if self.sizeAverage:
            gradInput /= input.shape[self._axis(input)]
        return gradInput


@register
class Sum(_ByKernel, _Sums, kernel=True):
    """The sum along a dimension, with `sizeAverage` the mean; without `squeeze` size 1 stays."""

    sizeAverage = False
    squeeze = True

    def __init__(
        self,
        dimension: int = 1,
        nInputDims: int | None = None,
        sizeAverage: bool = False,
        squeeze: bool = True,
    ) -> None:
        super().__init__(dimension, nInputDims)
        self.sizeAverage = sizeAverage
        self.squeeze = squeeze

    def _mode(self) -> int:
        return 1 if self.sizeAverage else 0


@register
class Mean(Sum):
    """The mean along a dimension."""

    def __init__(self, dimension: int = 1, nInputDims: int | None = None) -> None:
        super().__init__(dimension, nInputDims, True)


class _Extremes(_Reduction):
    _choice: ClassVar[str]
    _of_fixed_type = ("_indices",)

    def updateOutput(self, input: Any) -> Any:
        xp, axis = array_module(input), self._axis(input)
        chosen = getattr(xp, self._choice)(input, axis).reshape(self._kept(input))
        self.assign("_indices", chosen + 1)
        extremes = xp.take_along_axis(input, chosen, axis)
        self.output = extremes if input.ndim == 1 else extremes.squeeze(axis)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        chosen = self._indices - 1
        gradInput = self.room("gradInput", input)
        gradInput[...] = 0
        gradient = gradOutput.reshape(chosen.shape)
        put_along_axis(gradInput, chosen, gradient, self._axis(input))
        return gradInput

    def clearState(self) -> Self:
        self.clear("_indices", "_output")
        return super().clearState()


class _Extreme(_ByKernel, _Extremes, kernel=True):
    """The first of the extremes along a dimension; it gets the gradient."""

    _finds_places = True


@register
class Max(_Extreme):
    """The largest element along a dimension."""

    _choice = "argmax"

    def _mode(self) -> int:
        return 2


@register
class Min(_Extreme):
    """The smallest element along a dimension."""

    _choice = "argmin"

    def _mode(self) -> int:
        return 3

"""Rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import _random, thnn
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.values import whole

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LookupTable"]


@register
class LookupTable(Module, kernel=True):
    """Looks up rows of its weight (nIndex x nOutput) by [batch x] indices, which count from 1.

    The row `paddingValue` gets no gradient. With `maxNorm` the forward call shrinks the rows that
    it uses to at most this norm, of the kind `normType`, by default 2.
    """

    maxNorm: float | None = None
    normType: float | None = None
    shouldScaleGradByFreq: bool | None = None
    _emptied_by_type: ClassVar = {"_count": np.int32, "_input": np.int64}

    def __init__(
        self,
        nIndex: int,
        nOutput: int,
        paddingValue: int = 0,
        maxNorm: float | None = None,
        normType: float | None = None,
    ) -> None:
        super().__init__()
        self.tensors.weight = Tensor.zeros(nIndex, nOutput, dtype=np.float64)
        self.tensors.gradWeight = Tensor.zeros(nIndex, nOutput, dtype=np.float64)
        self.paddingValue = paddingValue
        self.maxNorm = maxNorm
        self.normType = normType
        self.reset()

    def accUpdateOnly(self) -> Self:
        """Gives up gradWeight: only accUpdateGradParameters trains then; returns itself."""
        self.tensors.gradWeight = None
        return self

    def setPadding(self, paddingValue: int) -> Self:
        """Sets the row without gradient; returns itself."""
        self.paddingValue = paddingValue
        return self

    def setMaxNorm(self, maxNorm: Any) -> Self:
        """Sets the largest norm of rows, None for none; returns itself."""
        self.maxNorm = maxNorm
        return self

    def setNormType(self, normType: Any) -> Self:
        """Sets the kind of norm; returns itself."""
        self.normType = normType
        return self

    def scaleGradByFreq(self) -> Self:
        """Divides gradients by how often the index occurs in the input; returns itself."""
        self.shouldScaleGradByFreq = True
        return self

    def reset(self, stdv: Any = None) -> None:
        """Draws the weight from a normal distribution, with deviation 1 by default."""
        weight = self.tensors.weight
        weight.copy_from(_random.normal(weight.shape, 0, 1 if stdv is None else stdv))

    def _indices(self, input: Any) -> Any:
        """The input as indices; raises THNNArgumentError for what are none."""
        indices = input.cpu().numpy() if isinstance(input, Tensor) else np.asarray(input)
        rows = self.tensors.weight.shape[0]
        if indices.ndim > 2 or not indices.size:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "[batch x] indices", f"shape {indices.shape}"
            )
        indices = whole(indices)
        if indices.min() < 1 or indices.max() > rows:
            found = f"{indices.min()} to {indices.max()}"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"indices from 1 to {rows}", found
            )
        return indices

    def renorm(self, input: Any) -> None:
        """Shrinks the rows that the input names to the norm ``maxNorm``."""
        if self.maxNorm is not None:
            named = np.unique(np.asarray(input)).astype(np.int64)
            indices = Tensor(named, device=self.tensors.weight.device)
            norm = 2 if self.normType is None else self.normType
            thnn.LookupTable_renorm(None, indices, self.tensors.weight, self.maxNorm, norm)

    def _places(self, input: Any) -> Tensor:
        """The indices as a Tensor for the kernels, which look at each index by themselves."""
        device = self.tensors.weight.device
        if type(input) is Tensor and input.dtype == np.int64 and input.device == device:
            return input
        return Tensor(self._indices(input), device=device)

    def _with_places(self, name: str, places: Tensor, *arguments: Any) -> None:
        """Calls a kernel; an error says of indices what :meth:`_indices` says."""
        try:
            self._kernel(name, None, places, *arguments)
        except THNNArgumentError:
            self._indices(places)
            raise

    def updateOutput(self, input: Any) -> Any:
        weight = self.tensors.weight
        if self.maxNorm is not None:
            self.renorm(self._indices(input))
        output = self.result("output", weight)
        if weight.dtype.kind == "f":
            self._with_places("LookupTable_updateOutput", self._places(input), weight, output)
            return output
        indices = self._indices(input)
        places = Tensor(indices - 1, device=weight.device)
        output.resize(*indices.shape, weight.shape[1])
        output.copy_from(weight.array()[places.array()])
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self.result("gradInput", input).resize(input.shape).zero()

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        settings = bool(self.shouldScaleGradByFreq), self.paddingValue or 0, scale
        arguments = gradOutput, self.tensors.gradWeight, None, None, None, *settings
        self._with_places("LookupTable_accGradParameters", self._places(input), *arguments)

    sharedAccUpdateGradParameters = Module.defaultAccUpdateGradParameters

    def clearState(self) -> Self:
        self.clear("_count", "_input")
        return super().clearState()

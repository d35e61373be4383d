"""A linear layer of sparse vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import thnn
from ..._errors import THNNArgumentError
from ..._products import multiply
from ..._tensor import Tensor
from ..object.initial import draw
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, to_arrays

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SparseLinear"]


@register
class SparseLinear(Module, kernel=True):
    """output = weight input + bias for vectors given by their entries that are not 0.

    Input: entries x 2, each (place from 1, value); a table of such, one for each sample; or
    batch x entries x 2. weight: outputSize x inputSize; output: [batch x] outputSize.

    With `doGradInput` the gradient of the input has all inputSize entries of each sample, else it
    is an empty table.
    """

    weightDecay: Any = 0  # a field of files, and not the method of other modules

    def __init__(self, inputSize: int, outputSize: int, doGradInput: bool = False) -> None:
        super().__init__()
        own = self.tensors
        self.weightDecay = 0
        self.doGradInput = bool(doGradInput)
        self.sparseUpdate = 0
        for name in ("weight", "gradWeight"):
            setattr(own, name, Tensor.zeros(outputSize, inputSize, dtype=np.float64))
        for name in ("bias", "gradBias", "output"):
            setattr(own, name, Tensor.zeros(outputSize, dtype=np.float64))
        self.gradInput: Any = []
        self.reset()

    def reset(self, stdv: Any = None) -> None:
        """Draws all parameters from [-s, s], and then scales the bias by a millionth.

        s = sqrt(3) stdv, by default 1 / sqrt(inputSize).
        """
        own = self.tensors
        draw(stdv, own.weight.shape[1], own.weight, own.bias)
        bias = own.bias.array()
        bias *= 1e-6

    def _entries(self, input: Any) -> Any:
        """The entries of all samples, entries x 3, each (sample, place, value)."""
        samples = input if isinstance(input, list) else [input]
        if isinstance(input, Tensor) and input.ndim == 3:
            samples = list(input.array())
        xp, rows = array_module(self.weight), []
        for number, sample in enumerate(samples, 1):
            entries = to_arrays(sample)
            if entries.ndim != 2 or entries.shape[1] != 2:
                raise THNNArgumentError.expected(
                    self.typename(), 1, "input", "samples of entries x 2 (place, value)",
                    f"shape {entries.shape}",
                )  # fmt: skip
            numbers = xp.full((len(entries), 1), number, entries.dtype)
            rows.append(xp.concatenate([numbers, entries], axis=1))
        return Tensor(xp.concatenate(rows)), len(samples)

    def _is_single(self, input: Any) -> bool:
        return isinstance(input, Tensor) and input.ndim == 2

    def updateOutput(self, input: Any) -> Any:
        own = self.tensors
        entries, batch = self._entries(input)
        output = self.result("output", own.weight).resize(batch, own.weight.shape[0])
        thnn.SparseLinear_updateOutput(None, entries, output, own.weight, own.bias)
        if self._is_single(input):
            output.resize(own.weight.shape[0])
        return output

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        own = self.tensors
        entries, batch = self._entries(input)
        gradient = gradOutput.contiguous().view(batch, own.weight.shape[0])
        thnn.SparseLinear_accGradParameters(
            None, entries, gradient, own.gradWeight, own.gradBias, own.weight, own.bias,
            self.weightDecay, scale,
        )  # fmt: skip

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if not self.doGradInput:
            self.assign("gradInput", [])
            return []
        weight = self.weight
        xp = array_module(weight)
        values = multiply(gradOutput.array().reshape(-1, len(weight)), weight)
        places = xp.broadcast_to(xp.arange(1, weight.shape[1] + 1), values.shape)
        samples = xp.stack([places.astype(values.dtype), values], axis=2)
        is_table = isinstance(input, list) or self._is_single(input)
        self.assign("gradInput", [Tensor(s) for s in samples] if is_table else Tensor(samples))
        return self.field("gradInput")

    def clearState(self) -> Self:
        self.clear("lastInput", "formatted_input")
        super().clearState()
        self.assign("gradInput", [])
        return self

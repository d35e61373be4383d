"""Normalisation over the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import _random, thnn
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BatchNormalization", "SpatialBatchNormalization", "VolumetricBatchNormalization"]


@register
class BatchNormalization(Module, kernel=True):
    """output = (input - mean) / sqrt(variance + eps) * weight + bias, for batch x nOutput.

    In training mean and variance are the batch's, and go into ``running_mean`` and ``running_var``
    with weight `momentum`; in use they are those. A batch of one sample is normalised as in use,
    in training too, as in Lua. Without `affine` there are no parameters. In evaluation a sample may
    come without a batch; the output is a batch of one then.
    """

    nDim: ClassVar[int] = 2
    """Dimensions of the input; the second has the features."""

    def __init__(
        self, nOutput: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True
    ) -> None:
        super().__init__()
        self.affine = affine
        self.eps = eps
        self.train = True
        self.momentum = momentum
        names = ["running_mean", "running_var"]
        if affine:
            names += ["weight", "bias", "gradWeight", "gradBias"]
        for name in names:
            setattr(self.tensors, name, Tensor.zeros(nOutput, dtype=np.float64))
        self.reset()

    def reset(self, stdv: Any = None) -> None:
        """Draws the weights from [0, 1) and forgets what was seen."""
        own = self.tensors
        if own.weight is not None:
            own.weight.copy_from(_random.uniform(own.weight.shape, 0, 1))
        if own.bias is not None:
            own.bias.zero()
        own.running_mean.zero()
        own.running_var.fill(1)

    def checkInputDim(self, input: Any) -> None:
        """Raises THNNArgumentError for an input of other dimensions or features."""
        features, shape = self.tensors.running_mean.size, input.shape
        batched = int(not self._is_sample(input))
        if len(shape) != self.nDim - 1 + batched or shape[batched] != features:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input",
                f"{self.nDim} dimensions, the second of {features}", f"shape {shape}",
            )  # fmt: skip

    def _is_sample(self, input: Any) -> bool:
        """Whether an input has no batch, which it need not have in evaluation."""
        return self.train is False and input.ndim == self.nDim - 1

    def _batch(self, value: Any) -> Any:
        """A value as a batch."""
        return value.unsqueeze(0) if self._is_sample(value) else value

    def _learns_from(self, input: Any) -> bool:
        """Whether mean and variance are the batch's, and join the running ones."""
        return bool(self.train) and input.shape[0] > 1

    def updateOutput(self, input: Any) -> Any:
        self.checkInputDim(input)
        batch = self._batch(input)
        own, output = self.tensors, self.result("output", input)
        save_mean, save_std = self.result("save_mean", input), self.result("save_std", input)
        features = own.running_mean.shape
        for saved in (save_mean, save_std):
            if saved.shape != features:
                saved.resize(features)
        self._kernel(
            "BatchNormalization_updateOutput",
            None, batch, output, own.weight, own.bias, own.running_mean, own.running_var,
            save_mean, save_std, self._learns_from(batch), self.momentum, self.eps,
        )  # fmt: skip
        return output

    def _go_back(
        self,
        input: Any,
        gradOutput: Any,
        scale: Any,
        gradInput: Any,
        gradWeight: Any,
        gradBias: Any,
    ) -> None:
        self.checkInputDim(input)
        batch, own = self._batch(input), self.tensors
        thnn.BatchNormalization_backward(
            None, batch, self._batch(gradOutput), gradInput, gradWeight, gradBias, own.weight,
            own.running_mean, own.running_var, own.save_mean, own.save_std,
            self._learns_from(batch), scale, self.eps,
        )  # fmt: skip

    def backward(self, input: Any, gradOutput: Any, scale: Any = 1) -> Any:
        own, gradInput = self.tensors, self.result("gradInput", input)
        self._go_back(input, gradOutput, scale, gradInput, own.gradWeight, own.gradBias)
        return gradInput

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input)
        self._go_back(input, gradOutput, 1, gradInput, None, None)
        return gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        own = self.tensors
        if own.gradWeight is not None:
            self._go_back(input, gradOutput, scale, None, own.gradWeight, own.gradBias)

    def clearState(self) -> Self:
        self.clear("buffer", "buffer2", "centered", "std", "normalized", "_input", "_gradOutput")
        self.clear("save_mean", "save_std")
        return super().clearState()

    def __repr__(self) -> str:
        return f"{self.typename()} ({self.nDim}D) ({self.tensors.running_mean.size})"


@register
class SpatialBatchNormalization(BatchNormalization):
    """BatchNormalization of batch x planes x height x width, for each plane."""

    nDim = 4


@register
class VolumetricBatchNormalization(BatchNormalization):
    """BatchNormalization of batch x planes x time x height x width, for each plane."""

    nDim = 5

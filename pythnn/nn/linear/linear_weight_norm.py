"""A linear layer with lengths and directions as parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from .linear import Linear

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LinearWeightNorm"]


@register
class LinearWeightNorm(Linear, kernel=True):
    """Linear with weight normalisation: weight = g v / max(|v|, eps), with one g for each output.

    The parameters are v (outputSize x inputSize), g (outputSize x 1) and the bias. The weight is
    computed by updateOutput and, in evaluate mode, once.
    """

    parameterFields = (("v", "gradV"), ("g", "gradG"), ("bias", "gradBias"))
    _weight_is_current = False

    def __init__(
        self, inputSize: int, outputSize: int, bias: bool = True, eps: float = 1e-16
    ) -> None:
        Module.__init__(self)
        self.eps = eps
        self.outputSize = outputSize
        self.inputSize = inputSize
        for name in ("v", "gradV", "weight"):
            setattr(self.tensors, name, Tensor.zeros(outputSize, inputSize, dtype=np.float64))
        for name in ("g", "gradG", "norm", "scale"):
            setattr(self.tensors, name, Tensor.zeros(outputSize, 1, dtype=np.float64))
        if bias:
            self.tensors.bias = Tensor.zeros(outputSize, dtype=np.float64)
            self.tensors.gradBias = Tensor.zeros(outputSize, dtype=np.float64)
        self.reset()

    def reset(self, stdv: Any = None) -> Any:
        """Draws weight and bias as Linear does."""
        super().reset(stdv)
        self.initFromWeight()
        return self

    def initFromWeight(self, weight: Any = None) -> Self:
        """Makes v this weight, by default its own, and g the lengths; returns itself."""
        self.v = self.tensors.weight if weight is None else weight
        self.g = self._lengths()
        self._weight_is_current = False
        return self

    @staticmethod
    def fromLinear(linear: Linear) -> LinearWeightNorm:
        """The layer that computes what a Linear does, with copies of its parameters."""
        outputs, inputs = linear.weight.shape
        made = LinearWeightNorm(inputs, outputs, linear.tensors.bias is not None)
        made.type(linear.type())
        made.weight = linear.weight
        made.initFromWeight()
        if linear.tensors.bias is not None:
            made.bias = linear.bias
        return made

    def toLinear(self) -> Linear:
        """The Linear that computes the same, with copies of the parameters."""
        self.updateWeightMatrix()
        linear = Linear(self.inputSize, self.outputSize, self.tensors.bias is not None)
        linear.type(self.type())
        linear.weight = self.weight
        if self.tensors.bias is not None:
            linear.bias = self.bias
        return linear

    def _lengths(self) -> Any:
        v = self.v
        return np.maximum(np.sqrt((v * v).sum(1, keepdims=True)), v.dtype.type(self.eps))

    def updateWeightMatrix(self) -> None:
        """Computes the weight."""
        own = self.tensors
        own.norm = Tensor.from_array(self._lengths())
        own.scale = Tensor.from_array(self.g / self.norm)
        if own.weight.size != own.v.size:
            own.weight = own.v.clone()
        self.weight = self.v * self.scale
        self._weight_is_current = True

    def updateOutput(self, input: Any) -> Any:
        if self.train is not False or not self._weight_is_current:
            self.updateWeightMatrix()
        return super().updateOutput(input)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if not self._weight_is_current:
            self.updateWeightMatrix()
        return super().updateGradInput(input, gradOutput)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        own = self.tensors
        own.gradWeight = own.v.clone().zero()
        super().accGradParameters(input, gradOutput, scale)
        gradient = self.gradWeight
        del own.gradWeight
        direction = self.v / self.norm
        along = (gradient * direction).sum(1, keepdims=True)
        across = along * direction * self.scale
        self.gradG += along
        self.gradV += gradient * self.scale - across
        # As in Lua Torch, whose files and fields show it.
        self.weight = across
        self._weight_is_current = False

    def defaultAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.sharedAccUpdateGradParameters(input, gradOutput, lr)

    def evaluate(self) -> None:
        if self.train is not False:
            self.updateWeightMatrix()
        super().evaluate()

    def clearState(self) -> Self:
        self.clear("weight", "norm", "scale")
        self._weight_is_current = False
        return super().clearState()

    def _to_fields(self) -> dict[str, Any]:
        fields = super()._to_fields()
        fields.pop("_weight_is_current", None)
        return fields

    def __repr__(self) -> str:
        without = "" if self.tensors.bias is not None else " without bias"
        return f"{self.typename()}({self.inputSize} -> {self.outputSize}){without}"

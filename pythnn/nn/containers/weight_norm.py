"""Weights as a length times a direction."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from ... import _random
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.parameters import TensorLists
from ..object.values import LongStorage, array_module
from .decorator import Decorator

__all__ = ["WeightNorm"]


_EPSILON = 1e-4  # added to the square of |v|


@register
class WeightNorm(Decorator, kernel=True):
    """Weight normalisation of a module: weight = g v / |v|, one g per index along `outputDim`.

    The parameters are v (outputs x others), g (outputs x 1) and the module's bias; |v| is
    sqrt(1e-4 + sum of squares). The weight is computed by updateOutput and, in evaluate mode, once;
    after accGradParameters it holds something else until then.
    """

    _weight_is_scratch = False
    parameterFields = (("v", "gradV"), ("g", "gradG"), ("bias", "gradBias"))

    def __init__(self, module: Module, outputDim: int = 1) -> None:
        super().__init__(module)
        self._adopt()
        self.outputDim = outputDim
        if self.tensors.weight is None:
            found = f"{module.typename()}, which has none"
            raise THNNArgumentError.expected(
                self.typename(), 1, "module", "a module with a weight", found
            )
        shape = self.tensors.weight.shape
        inner = self._outer_first(self.weight).shape
        self.otherDims = int(np.prod(inner[1:]))
        self.viewIn, self.viewOut = LongStorage([inner[0], self.otherDims]), LongStorage(inner)
        self.weightSize = LongStorage(shape)
        own, outputs = self.tensors, inner[0]

        def zeros(*sizes: int) -> Tensor:
            return Tensor(dtype=own.weight.dtype, device=own.weight.device).resize(*sizes).zero()

        own.v, own.gradV = zeros(*self.viewIn), zeros(*self.viewIn)
        own.g = zeros(outputs, 1)
        for name in ("_norm", "_scale", "gradG"):
            setattr(own, name, zeros(outputs))
        self.resetInit()

    def _adopt(self) -> None:
        """Shares the tensors of the module inside."""
        for name in ("weight", "bias", "gradWeight", "gradBias"):
            setattr(self.tensors, name, self.inside.field(name))

    def _outer_first(self, weight: Any) -> Any:
        """The weight with the dimension of the outputs first."""
        return array_module(weight).moveaxis(weight, self.outputDim - 1, 0)

    def _rows(self, weight: Any) -> Any:
        return self._outer_first(weight).reshape(-1, self.otherDims)

    def resetInit(self) -> None:
        """Draws v from a normal distribution, with g = |v|, and sets the bias to 0."""
        outputs = self.viewIn[0]
        self.v = _random.normal((outputs, self.otherDims), 0, math.sqrt(2 / self.otherDims))
        self.g = (self.v * self.v).sum(1) ** 0.5
        if self.tensors.bias is not None:
            self.tensors.bias.zero()

    def updateWeight(self) -> None:
        """Computes the module's weight."""
        v = self.v
        xp = array_module(v)
        self.assign("_norm", xp.sqrt((v * v).sum(1, keepdims=True) + _EPSILON))
        self.assign("_scale", self.g / self._norm)
        self._outer_first(self.weight)[...] = (v * self._scale).reshape(self.viewOut)
        self._weight_is_scratch = False

    def updateOutput(self, input: Any) -> Any:
        if self.train is not False or self._weight_is_scratch:
            self.updateWeight()
        return super().updateOutput(input)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if self._weight_is_scratch:
            self.updateWeight()
        return super().updateGradInput(input, gradOutput)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        super().accGradParameters(input, gradOutput, scale)
        gradient = self._rows(self.gradWeight)
        direction = self.v / self._norm
        along = (gradient * direction).sum(1, keepdims=True)
        across = self._scale * along * direction
        self.tensors.gradG.resize(len(along), 1)
        self.gradG = along
        self.tensors.gradV.resize(self.viewOut)
        self.gradV = (self._scale * gradient - across).reshape(self.viewOut)
        # As in Lua Torch, whose files and fields show it.
        self._outer_first(self.weight)[...] = across.reshape(self.viewOut)
        self._weight_is_scratch = True

    def defaultAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.sharedAccUpdateGradParameters(input, gradOutput, lr)

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.sharedAccUpdateGradParameters(input, gradOutput, lr)

    def sharedAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.zeroGradParameters()
        self.accGradParameters(input, gradOutput, 1)
        self.updateParameters(lr)

    def evaluate(self) -> None:
        if self.train is not False:
            self.updateWeight()
        super().evaluate()

    def parameterTensors(self) -> TensorLists | None:
        return Module.parameterTensors(self)

    def zeroGradParameters(self) -> None:
        self.inside.zeroGradParameters()
        Module.zeroGradParameters(self)

    def updateParameters(self, learningRate: Any) -> None:
        Module.updateParameters(self, learningRate)

    def _to_fields(self) -> dict[str, Any]:
        """The fields without the weight, which follows from v and g."""
        fields = super()._to_fields()
        for name in ("weight", "gradWeight", "_weight_is_scratch"):
            fields.pop(name, None)
        inside = copy.copy(self.inside)
        inside.__dict__["tensors"] = copy.copy(inside.tensors)
        inside.tensors.weight = inside.tensors.gradWeight = None
        return {**fields, "modules": [inside]}

    def _upgrade(self) -> None:
        super()._upgrade()
        own, inside = self.tensors, self.inside.tensors
        if inside.weight is None:
            if math.prod(self.weightSize) != own.v.size:  # before memory is taken
                raise ValueError(f"v of {own.v.shape} for a weight of {self.weightSize}")
            inside.weight = Tensor.zeros(self.weightSize, dtype=own.v.dtype)
            inside.gradWeight = Tensor.zeros(self.weightSize, dtype=own.v.dtype)
            self._adopt()
            self.updateWeight()
        self._adopt()

"""Convolutions whose planes are connected by a table: see :mod:`pythnn.nn.tables`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _random
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from .convolution import Convolution

__all__ = ["SpatialConvolutionMap", "SpatialFullConvolutionMap"]


class _TableConvolution(Convolution, kernel=True):
    """One kW x kH kernel per row of the table, weight: rows x kH x kW."""

    def __init__(self, conMatrix: ArrayLike, kW: int, kH: int, dW: int = 1, dH: int = 1) -> None:
        super().__init__()
        self._set_sizes(k=(kW, kH), d=(dW, dH))
        self.tensors.connTable = Tensor(conMatrix, dtype=np.float64)
        self.nInputPlane, self.nOutputPlane = self.connTable.max(axis=0).astype(int).tolist()
        self._allocate((len(self.connTable), kH, kW), (self.nOutputPlane,))

    def reset(self, stdv: Any = None) -> Any:
        """Draws all parameters from [-s, s]; returns itself.

        s = sqrt(3) stdv, by default for each output 1 / sqrt(inputs of the output).
        """
        if stdv is not None:
            return super().reset(stdv)
        own = self.tensors
        outputs = own.connTable.cpu().numpy()[:, 1].astype(int)
        inputs = np.bincount(outputs, minlength=self.nOutputPlane + 1) * self.kW * self.kH
        weight, bias = np.empty(own.weight.shape), np.empty(self.nOutputPlane)
        for kernel, output in zip(weight, outputs, strict=True):
            limit = 1 / math.sqrt(inputs[output])
            kernel[...] = _random.uniform(kernel.shape, -limit, limit)
        for output in range(self.nOutputPlane):
            limit = 1 / math.sqrt(inputs[output + 1]) if inputs[output + 1] else math.inf
            bias[output] = _random.uniform((1,), -limit, limit).item()
        own.weight.copy_from(weight)
        own.bias.copy_from(bias)
        return self

    def _rest(self, step: str) -> list[Any]:
        planes = [self.nInputPlane, self.nOutputPlane]
        return [self.tensors.connTable, *planes, self.dW, self.dH]

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput, own = self.result("gradInput", input), self.tensors
        self._run("updateGradInput", input, gradOutput, gradInput, own.weight, own.bias)
        return gradInput

    __repr__ = Module.__repr__


@register
class SpatialConvolutionMap(_TableConvolution):
    """2-D convolution of [batch x] nInputPlane x height x width between connected planes."""

    _function = "SpatialConvolutionMap"

    def decayParameters(self, decay: Any) -> None:
        """Subtracts `decay` times themselves from the parameters."""
        self.weight *= 1 - decay
        self.bias *= 1 - decay


@register
class SpatialFullConvolutionMap(_TableConvolution):
    """Transposed 2-D convolution of nInputPlane x height x width between connected planes."""

    _function = "SpatialFullConvolutionMap"

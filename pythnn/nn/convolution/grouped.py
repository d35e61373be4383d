"""The convolution of planes in groups, which Lua Torch had in its package cudnn only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ... import thnn
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from .spatial import SIZES, SpatialConvolution

__all__ = ["GroupedSpatialConvolution"]


class GroupedSpatialConvolution(SpatialConvolution, kernel=True):
    """Convolutions side by side, each of its part of the input's planes.

    weight: nOutputPlane x (nInputPlane / groups) x kH x kW. Comes from .t7 files, where it is a
    ``cudnn.SpatialConvolution``, and is saved as such.
    """

    _torch_name = "cudnn.SpatialConvolution"
    groups: int = 1

    def _upgrade(self) -> None:
        super()._upgrade()
        weight, groups = self.field("weight"), self.groups
        shape = (self.nOutputPlane, self.nInputPlane // groups, *self._window())
        divides = self.nInputPlane % groups == self.nOutputPlane % groups == 0
        if not isinstance(weight, Tensor) or weight.shape != shape or not divides:
            found = getattr(weight, "shape", None)
            raise ValueError(f"a weight of {found} for {groups} groups; it should be {shape}")

    def _planes(self, tensor: Tensor, count: int) -> Iterator[Tensor]:
        """A tensor [batch x] planes x height x width, group by group."""
        return self._parts(tensor, tensor.ndim - 3, count)

    def _parts(self, tensor: Tensor | None, dim: int, count: int) -> Iterator[Any]:
        size = count // self.groups
        for i in range(self.groups):
            yield None if tensor is None else tensor.narrow(dim, i * size, size)

    def _check(self, input: Any) -> None:
        if input.ndim not in (3, 4) or input.shape[-3] != self.nInputPlane:
            wanted = f"[batch x] {self.nInputPlane} planes x height x width"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", wanted, " x ".join(map(str, input.shape))
            )

    def _settings_of_one(self) -> list[int]:
        return [getattr(self, name) for name in SIZES]

    def updateOutput(self, input: Any) -> Any:
        self._check(input)
        own, output = self.tensors, self.result("output", input)
        steps, padding = (self.dH, self.dW), (self.padH, self.padW)
        sizes = zip(input.shape[-2:], padding, self._window(), steps, strict=True)
        places = [(size + 2 * pad - k) // d + 1 for size, pad, k, d in sizes]
        output.resize(*input.shape[:-3], self.nOutputPlane, *places)
        for x, y, weight, bias in zip(
            self._planes(input, self.nInputPlane),
            self._planes(output, self.nOutputPlane),
            self._parts(own.weight, 0, self.nOutputPlane),
            self._parts(own.bias, 0, self.nOutputPlane),
            strict=True,
        ):
            thnn.SpatialConvolutionMM_updateOutput(
                None, x, y, weight, bias, None, None, *self._settings_of_one()
            )
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self._check(input)
        gradInput = self.result("gradInput", input)
        gradInput.resize(*input.shape)
        for x, gradient, gx, weight in zip(
            self._planes(input, self.nInputPlane),
            self._planes(gradOutput, self.nOutputPlane),
            self._planes(gradInput, self.nInputPlane),
            self._parts(self.tensors.weight, 0, self.nOutputPlane),
            strict=True,
        ):
            thnn.SpatialConvolutionMM_updateGradInput(
                None, x, gradient, gx, weight, None, None, *self._settings_of_one()
            )
        return gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        own = self.tensors
        settings = [*self._settings_of_one(), scale]
        for x, gradient, weight, bias in zip(
            self._planes(input, self.nInputPlane),
            self._planes(gradOutput, self.nOutputPlane),
            self._parts(own.gradWeight, 0, self.nOutputPlane),
            self._parts(own.gradBias, 0, self.nOutputPlane),
            strict=True,
        ):
            thnn.SpatialConvolutionMM_accGradParameters(
                None, x, gradient, weight, bias, None, None, *settings
            )

    def _extra_text(self) -> str:
        return f", {self.groups} groups"

"""Layers that disturb their input in training."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _random
from .._errors import THNNArgumentError, THNNError
from .._tensor import Tensor
from ._object import register
from ._values import array_module
from .module import Module

__all__ = ["Dropout", "SpatialDropout", "VolumetricDropout", "WhiteNoise"]


class _Noisy(Module):
    """A layer with the noise of its last call in ``noise``."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors.noise = Tensor(dtype="float64")

    def _keep(self, noise: Any, input: Any) -> Any:
        """Makes the numbers the noise, in the element type of the input; returns it."""
        noise = array_module(input).asarray(noise.astype(input.dtype))
        self.assign("noise", noise)
        return noise

    def _in_training_only(self) -> None:
        if self.train is False:
            raise THNNError(f"{self.typename()}: backward works in training only")

    def clearState(self) -> Any:
        self.clear("noise")
        return super().clearState()


@register
class Dropout(_Noisy):
    """Sets elements to 0 with probability `p`, and divides the others by 1 - p.

    With `v1` nothing is divided: in use all elements are multiplied by 1 - p instead.
    `stochasticInference` drops in use too.
    """

    inplace: bool | None = None
    v2: bool = False

    def __init__(
        self,
        p: Any = 0.5,
        v1: bool | None = None,
        inplace: bool | None = None,
        stochasticInference: bool = False,
    ) -> None:
        super().__init__()
        self.train = True
        self.inplace = inplace
        self.stochastic_inference = bool(stochasticInference)
        self.v2 = not v1
        self.setp(p)

    def setp(self, p: Any) -> None:
        """Sets the probability; THNNArgumentError unless 0 <= p < 1."""
        if not 0 <= p < 1:
            raise THNNArgumentError.expected(self.typename(), 1, "p", "0 <= p < 1", str(p))
        self.p = p

    def _factor_without_noise(self) -> Any:
        return 1 if self.train or self.v2 else 1 - self.p

    def _times(self, value: Any, factor: Any) -> Any:
        if self.inplace:
            value *= factor
            return value
        return value * factor

    def updateOutput(self, input: Any) -> Any:
        if self.p > 0 and (self.train or self.stochastic_inference):
            noise = _random.bernoulli(input.shape, 1 - self.p)
            factor = self._keep(noise / (1 - self.p) if self.v2 else noise, input)
        else:
            factor = self._factor_without_noise()
        self.output = self._times(input, factor)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        factor = self.noise if self.train and self.p > 0 else self._factor_without_noise()
        self.gradInput = self._times(gradOutput, factor)
        return self.gradInput

    def __repr__(self) -> str:
        return f"{self.typename()}({self.p:f})"


class _PlaneDropout(_Noisy):
    """Sets whole planes to 0 with probability `p`; in use all are multiplied by 1 - p."""

    stochastic_inference: bool = False
    _plane_dims: ClassVar[int]

    def __init__(self, p: Any = 0.5, stochasticInference: bool = False) -> None:
        super().__init__()
        self.p = p
        self.train = True
        self.stochastic_inference = bool(stochasticInference)

    def setp(self, p: Any) -> None:
        """Sets the probability."""
        self.p = p

    def _noise_shape(self, input: Any) -> Any:
        dims = self._plane_dims
        if input.ndim not in (dims + 1, dims + 2):
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"{dims + 1} dimensions, or {dims + 2} with a batch",
                f"shape {input.shape}",
            )  # fmt: skip
        return input.shape[:-dims] + (1,) * dims

    def updateOutput(self, input: Any) -> Any:
        if self.train or self.stochastic_inference:
            noise = _random.bernoulli(self._noise_shape(input), 1 - self.p)
            self.output = input * self._keep(noise, input)
        else:
            self.output = input * (1 - self.p)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self._in_training_only()
        self.gradInput = gradOutput * self.noise
        return self.gradInput

    def __repr__(self) -> str:
        return f"{self.typename()}({self.p:f})"


@register
class SpatialDropout(_PlaneDropout):
    """Sets planes of [batch x] planes x height x width to 0 with probability `p`.

    In use all are multiplied by 1 - p; with `stochasticInference` planes are dropped there too.
    """

    _plane_dims = 2


@register
class VolumetricDropout(_PlaneDropout):
    """Sets volumes of [batch x] planes x time x height x width to 0 with probability `p`.

    In use all are multiplied by 1 - p; with `stochasticInference` volumes are dropped there too.
    """

    _plane_dims = 3


@register
class WhiteNoise(_Noisy):
    """Adds normally distributed numbers, and in use their mean."""

    def __init__(self, mean: Any = 0, std: Any = 0.1) -> None:
        super().__init__()
        self.mean = mean
        self.std = std

    def updateOutput(self, input: Any) -> Any:
        if self.train is False:
            self.output = input + self.mean
        else:
            noise = _random.normal(input.shape, self.mean, self.std)
            self.output = input + self._keep(noise, input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self._in_training_only()
        self.gradInput = gradOutput.copy()
        return self.gradInput

    def __repr__(self) -> str:
        return f"{self.typename()} mean: {self.mean:f}, std: {self.std:f}"

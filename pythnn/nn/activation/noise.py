"""Layers that disturb their input in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import _random
from ..._errors import THNNArgumentError, THNNError
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.tables import are_alike
from ..object.values import array_module, works_in_place

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Dropout", "SpatialDropout", "VolumetricDropout", "WhiteNoise"]


class _Noisy(Module):
    """A layer with the noise of its last call in ``noise``."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors.noise = Tensor(dtype="float64")

    def _keep(self, drawn: Any, input: Any) -> Any:
        """Makes the numbers the noise, in the element type of the input; returns it."""
        noise = self.room("noise", input, drawn.shape)
        noise[...] = array_module(input).asarray(drawn)
        return noise

    def _in_training_only(self) -> None:
        if self.train is False:
            raise THNNError(f"{self.typename()}: backward works in training only")

    def clearState(self) -> Self:
        self.clear("noise")
        return super().clearState()


class _Dropping(_Noisy):
    inplace: bool | None = None
    v2: bool = False
    lazy: bool = False
    stochastic_inference: bool = False
    mono: bool = False

    def __init__(
        self,
        p: float = 0.5,
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

    def setp(self, p: float) -> None:
        """Sets the probability; THNNArgumentError unless 0 <= p < 1."""
        if not 0 <= p < 1:
            raise THNNArgumentError.expected(self.typename(), 1, "p", "0 <= p < 1", str(p))
        self.p = p

    def _factor_without_noise(self) -> Any:
        return 1 if self.train or self.v2 else 1 - self.p

    def _times(self, name: str, value: Any, factor: Any) -> Any:
        """Makes the product of a value and a factor the field, in its memory when in place."""
        if works_in_place(self, value):
            value *= factor
            self.assign(name, value)
            return value
        return array_module(value).multiply(value, factor, out=self.room(name, value))

    def _is_noisy(self) -> bool:
        """Whether the forward call draws noise."""
        return self.p > 0 and bool(self.train or self.stochastic_inference)

    def updateOutput(self, input: Any) -> Any:
        if self._is_noisy():
            factor = self._lazily(input) if self.lazy else self._keep(self._drawn(input), input)
        else:
            factor = self._factor_without_noise()
        return self._times("output", input, factor)

    def _drawn(self, input: Any) -> Any:
        """New noise."""
        shape = (1, *input.shape[1:]) if self.mono and input.ndim > 1 else input.shape
        noise = _random.bernoulli(shape, 1 - self.p)
        noise = np.broadcast_to(noise, input.shape)
        return noise / (1 - self.p) if self.v2 else noise

    def _lazily(self, input: Any) -> Any:
        """The noise that is there, which other steps have too, or new noise for all of them."""
        held = self.tensors.noise
        if held.shape != input.shape or held.dtype != input.dtype:
            drawn = array_module(input).array(self._drawn(input), input.dtype)
            held.set(Tensor(drawn, device=held.device))
            self.flag = False
        return held.array()

    def forget(self) -> Self:
        """Draws new noise with the next call; returns itself."""
        if self.lazy:
            held = self.tensors.noise
            held.set(Tensor(dtype=held.dtype, device=held.device))
            self.flag = True
        return self

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        factor = self.noise if self.train and self.p > 0 else self._factor_without_noise()
        return self._times("gradInput", gradOutput, factor)

    def __repr__(self) -> str:
        return f"{self.typename()}({self.p:f})"


@register
class Dropout(_Dropping, kernel=True):
    """Sets elements to 0 with probability `p`, and divides the others by 1 - p.

    With `v1` nothing is divided: in use all elements are multiplied by 1 - p instead.
    `stochasticInference` drops in use too.

    rnn's dropout has two more fields: with `lazy`, the noise stays as it is until ``forget``, in
    the copies for other steps too; with `mono`, all samples of a batch have the same noise.
    """

    def updateOutput(self, input: Any) -> Any:
        if self._is_noisy() or not are_alike([input]):
            return super().updateOutput(input)
        output = input if works_in_place(self, input) else self.result("output", input)
        output._call("mul", input._open(), self._factor_without_noise())
        self.tensors.output = output
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        noise = self.tensors.noise if self.train and self.p > 0 else None
        if not are_alike([gradOutput] if noise is None else [gradOutput, noise]):
            return super().updateGradInput(input, gradOutput)
        in_place = works_in_place(self, gradOutput)
        gradInput = gradOutput if in_place else self.result("gradInput", gradOutput)
        if noise is None:
            gradInput._call("mul", gradOutput._open(), self._factor_without_noise())
        else:
            gradInput._call("cmul", gradOutput._open(), noise._open())
        self.tensors.gradInput = gradInput
        return gradInput


class _PlaneDropout(_Noisy):
    """Sets whole planes to 0 with probability `p`; in use all are multiplied by 1 - p."""

    stochastic_inference: bool = False
    _plane_dims: ClassVar[int]

    def __init__(self, p: float = 0.5, stochasticInference: bool = False) -> None:
        super().__init__()
        self.p = p
        self.train = True
        self.stochastic_inference = bool(stochasticInference)

    def setp(self, p: float) -> None:
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
            drawn = _random.bernoulli(self._noise_shape(input), 1 - self.p)
            factor = self._keep(drawn, input)
        else:
            factor = 1 - self.p
        return array_module(input).multiply(input, factor, out=self.room("output", input))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self._in_training_only()
        gradInput = self.room("gradInput", gradOutput)
        return array_module(input).multiply(gradOutput, self.noise, out=gradInput)

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
    """Adds normally distributed noise in training, and its mean in evaluation."""

    def __init__(self, mean: float = 0, std: float = 0.1) -> None:
        super().__init__()
        self.mean = mean
        self.std = std

    def updateOutput(self, input: Any) -> Any:
        if self.train is False:
            noise = self.mean
        else:
            noise = self._keep(_random.normal(input.shape, self.mean, self.std), input)
        return array_module(input).add(input, noise, out=self.room("output", input))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self._in_training_only()
        gradInput = self.room("gradInput", gradOutput)
        gradInput[...] = gradOutput
        return gradInput

    def __repr__(self) -> str:
        return f"{self.typename()} mean: {self.mean:f}, std: {self.std:f}"

"""Layers that draw from a distribution and are trained by a reward (REINFORCE)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import _random
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..criterion.criterion import Criterion
from ..criterion.elements import MSECriterion
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, describe

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "BinaryClassReward", "Reinforce", "ReinforceBernoulli", "ReinforceCategorical",
    "ReinforceGamma", "ReinforceNormal", "VRClassReward",
]  # fmt: skip


@register
class Reinforce(Module):
    """A base class: gradInput is that of the logarithm of the probability, times the reward.

    ``reinforce(reward)`` takes the reward of each sample, before ``backward``. With `stochastic`
    the output is drawn in evaluation too.
    """

    stochastic: Any = None

    def __init__(self, stochastic: bool | None = None) -> None:
        super().__init__()
        self.stochastic = stochastic

    def reinforce(self, reward: Any) -> None:
        """Takes the reward of each sample."""
        self.assign("reward", np.asarray(reward, np.float64))

    def clearState(self) -> Self:
        """Empties what the next call computes, and the reward; returns itself."""
        self.clear("reward")
        return super().clearState()

    def _draws(self) -> bool:
        return bool(self.stochastic) or self.train is not False

    def _times_reward(self, gradient: Any) -> Any:
        """The gradient of a loss: minus that of the logarithm, times the rewards."""
        reward = array_module(gradient).asarray(self.reward, gradient.dtype)
        return -gradient * reward.reshape(-1, *[1] * (gradient.ndim - 1))


@register
class ReinforceBernoulli(Reinforce):
    """0 or 1, with the input as probability of 1; in evaluation the probability."""

    def updateOutput(self, input: Any) -> Any:
        if self._draws():
            drawn = _random.uniform(input.shape, 0, 1)
            self.output = (array_module(input).asarray(drawn) < input).astype(input.dtype)
        else:
            self.output = input.copy()
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradient = (self.output - input) / (input * (1 - input))
        self.gradInput = self._times_reward(gradient)
        return self.gradInput


class _OfTwo(Reinforce):
    """A distribution with a second parameter: a field, or the second entry of the input."""

    _second: ClassVar[str]

    def _choose(self, second: float | None) -> None:
        setattr(self, self._second, second)
        if second is None:
            self.tensors.gradInput = [Tensor(dtype=np.float64), Tensor(dtype=np.float64)]

    def _parameters(self, input: Any) -> tuple[Any, Any]:
        if isinstance(input, list):
            if len(input) == 2:
                return input[0], input[1]
        elif self.field(self._second) is not None:
            return input, input.dtype.type(self.field(self._second))
        wanted = f"a table of two tensors, or one and the field {self._second}"
        raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))

    def _gradients(self, input: Any, first: Any, second: Any) -> Any:
        """The result of updateGradInput, of the gradients of the logarithm of the density."""
        self.gradInput = self._times_reward(first)
        if isinstance(input, list):
            of_second = self._times_reward(second)
            if input[1].ndim < of_second.ndim:
                of_second = of_second.sum(0)
            self.gradInput = [self.gradInput, of_second.reshape(input[1].shape)]
        return self.gradInput


@register
class ReinforceNormal(_OfTwo):
    """Normal numbers around the input, of deviation `stdev`; in evaluation the input.

    Without `stdev`, the input is the table {mean, deviation}.
    """

    stdev: float | None = None
    _second = "stdev"

    def __init__(self, stdev: float | None = None, stochastic: bool | None = None) -> None:
        super().__init__(stochastic)
        self._choose(stdev)

    def updateOutput(self, input: Any) -> Any:
        mean, deviation = self._parameters(input)
        self.output = mean.copy()
        if self._draws():
            drawn = _random.normal(mean.shape, 0, 1)
            self.output += array_module(mean).asarray(drawn, mean.dtype) * deviation
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        mean, deviation = self._parameters(input)
        away = self.output - mean
        variance = deviation * deviation
        slope = (away * away - variance) / (variance * deviation)
        return self._gradients(input, away / variance, slope)


_DIGAMMA_SHIFT = 8
"""Below it digamma is found by recurrence; above, 6 terms of the series are exact in double."""
_DIGAMMA_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760)
"""B(2k) / 2k of the Bernoulli numbers."""


def _digamma(xp: Any, x: Any) -> Any:
    """The derivative of the logarithm of the gamma function, for positive numbers."""
    shift = xp.zeros_like(x)
    for step in range(_DIGAMMA_SHIFT):
        shift += 1 / (x + step)
    large = x + _DIGAMMA_SHIFT
    total = xp.log(large) - 1 / (2 * large)
    for power, factor in enumerate(_DIGAMMA_SERIES, 1):
        total -= factor / large ** (2 * power)
    return total - shift


def _gamma(shapes: Any) -> Any:
    """A number from the gamma distribution of scale 1 for each shape (Marsaglia and Tsang)."""
    drawn = np.empty(shapes.shape)
    for place, shape in np.ndenumerate(shapes):
        raised = float(shape) + (shape < 1)
        d = raised - 1 / 3
        value = 0.0
        while not value:
            normal = float(_random.normal((1,), 0, 1)[0])
            cube = (1 + normal / math.sqrt(9 * d)) ** 3
            if cube <= 0:
                continue
            chance = float(_random.uniform((1,), 0, 1)[0])
            if chance <= 0 or math.log(chance) < normal**2 / 2 + d - d * cube + d * math.log(cube):
                value = d * cube
        if shape < 1:
            value *= float(_random.uniform((1,), 0, 1)[0]) ** (1 / float(shape))
        drawn[place] = value
    return drawn


@register
class ReinforceGamma(_OfTwo):
    """Numbers of the gamma distribution whose shape is the input, of scale `scale`.

    In evaluation the output is the mean, shape times scale. Without `scale`, the input is the table
    {shape, scale}.
    """

    scale: float | None = None
    _second = "scale"

    def __init__(self, scale: float | None = None, stochastic: bool | None = None) -> None:
        super().__init__(stochastic)
        self._choose(scale)

    def updateOutput(self, input: Any) -> Any:
        shape, scale = self._parameters(input)
        xp = array_module(shape)
        if self._draws():
            on_host = shape if xp is np else shape.get()
            self.output = xp.asarray(_gamma(on_host), shape.dtype) * scale
        else:
            self.output = shape * scale
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        shape, scale = self._parameters(input)
        xp = array_module(shape)
        of_shape = xp.log(self.output / scale) - _digamma(xp, shape)
        of_scale = (self.output / scale - shape) / scale
        return self._gradients(input, of_shape, of_scale)


@register
class ReinforceCategorical(Reinforce):
    """One category of each row of probabilities, as 1 among zeros; in evaluation the row."""

    def updateOutput(self, input: Any) -> Any:
        if not self._draws():
            self.output = input.copy()
            return self.output
        xp = array_module(input)
        rows = input.reshape(-1, input.shape[-1])
        drawn = xp.asarray(_random.uniform((rows.shape[0], 1), 0, 1))
        sums = rows.cumsum(1)
        chosen = (sums <= drawn * sums[:, -1:]).sum(1).clip(0, rows.shape[1] - 1)
        output = xp.zeros_like(rows)
        output[xp.arange(rows.shape[0]), chosen] = 1
        self.output = output.reshape(input.shape)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = self._times_reward(self.output / (input + 1e-8))
        return self.gradInput


class _Reward(Criterion, ABC):
    """Rewards `module` with `scale` for each sample that is right.

    The reward goes to ``module.reinforce`` less the baseline, which learns the reward: its gradient
    is that of `criterion`, MSECriterion. The loss is minus the reward, the mean with `sizeAverage`.
    """

    def __init__(
        self, module: Module, scale: float = 1, criterion: Criterion | None = None
    ) -> None:
        super().__init__()
        self.module = module
        self.scale = scale
        self.criterion = criterion or MSECriterion()
        self.sizeAverage = True
        self.tensors.gradInput = [Tensor(dtype=np.float64)]

    @abstractmethod
    def _right(self, given: Any, target: Any) -> Any:
        """Whether each sample is right."""

    def _rewards(self, input: Any, target: Any) -> Any:
        if not isinstance(input, list) or len(input) != 2:
            wanted = "a table of a prediction and a baseline"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        given = input[0]
        wanted = array_module(given).asarray(target).reshape(-1)
        return self._right(given, wanted).astype(given.dtype) * self.scale

    def updateOutput(self, input: Any, target: Any) -> Any:
        rewards = self._rewards(input, target)
        self.output = -float(rewards.sum()) / (rewards.size if self.sizeAverage else 1)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        given, baseline = input
        rewards = self._rewards(input, target)
        advantage = rewards - baseline.reshape(-1)
        if self.sizeAverage:
            advantage = advantage / rewards.size
        self.module.reinforce(advantage)
        wanted = rewards.reshape(baseline.shape)
        self.criterion.forward(baseline, wanted)
        of_baseline = self.criterion.backward(baseline, wanted)
        self.gradInput = [array_module(given).zeros_like(given), of_baseline]
        return self.gradInput


@register
class VRClassReward(_Reward):
    """Rewards `module` with `scale` for each sample whose largest score is the target's.

    Input: {scores, [batch x] classes; baseline, [batch x] 1}. The reward goes to
    ``module.reinforce`` less the baseline, which learns the reward: its gradient is that of
    `criterion`, MSECriterion. The loss is minus the reward, the mean with `sizeAverage`.
    """

    def _right(self, given: Any, target: Any) -> Any:
        return given.reshape(-1, given.shape[-1]).argmax(1) + 1 == target


@register
class BinaryClassReward(_Reward):
    """VRClassReward for two classes: a score above 0.5 is right for the target 1, others for 0.

    Input: {scores, batch or batch x 1; baseline, of the same shape}.
    """

    def _right(self, given: Any, target: Any) -> Any:
        return (given.reshape(-1) > 0.5) == (target > 0.5)

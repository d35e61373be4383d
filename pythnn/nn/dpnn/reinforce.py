"""Layers that draw from a distribution and are trained by a reward (REINFORCE)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _random
from ..._tensor import Tensor
from ..criterion.criterion import Criterion
from ..criterion.elements import MSECriterion
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module

__all__ = [
    "Reinforce", "ReinforceBernoulli", "ReinforceCategorical", "ReinforceNormal", "VRClassReward",
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


@register
class ReinforceNormal(Reinforce):
    """Normal numbers around the input, of deviation `stdev`; in evaluation the input."""

    def __init__(self, stdev: float, stochastic: bool | None = None) -> None:
        super().__init__(stochastic)
        self.stdev = stdev

    def updateOutput(self, input: Any) -> Any:
        self.output = input.copy()
        if self._draws():
            drawn = _random.normal(input.shape, 0, 1)
            self.output += array_module(input).asarray(drawn, input.dtype) * self.stdev
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = self._times_reward((self.output - input) / self.stdev**2)
        return self.gradInput


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


@register
class VRClassReward(Criterion):
    """Rewards `module` with `scale` for each sample whose largest score is the target's.

    Input: {scores, batch x classes; baseline, batch x 1}. The reward goes to ``module.reinforce``
    less the baseline, which learns the reward: its gradient is that of `criterion`, MSECriterion.
    The loss is minus the reward, the mean with `sizeAverage`.
    """

    def __init__(
        self, module: Module, scale: float = 1, criterion: Criterion | None = None
    ) -> None:
        super().__init__()
        self.module = module
        self.scale = scale
        self.criterion = criterion or MSECriterion()
        self.sizeAverage = True
        self.gradInput = [Tensor(dtype=np.float64), Tensor(dtype=np.float64)]

    def _rewards(self, input: Any, target: Any) -> Any:
        scores = input[0]
        right = scores.argmax(1) + 1 == array_module(scores).asarray(target).reshape(-1)
        return right.astype(scores.dtype) * self.scale

    def updateOutput(self, input: Any, target: Any) -> Any:
        rewards = self._rewards(input, target)
        self.output = -float(rewards.sum()) / (rewards.size if self.sizeAverage else 1)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        scores, baseline = input
        rewards = self._rewards(input, target)
        advantage = rewards - baseline.reshape(-1)
        if self.sizeAverage:
            advantage = advantage / rewards.size
        for inside in self.module.listModules():
            if isinstance(inside, Reinforce):
                inside.reinforce(advantage)
        wanted = rewards.reshape(baseline.shape)
        self.criterion.forward(baseline, wanted)
        of_baseline = self.criterion.backward(baseline, wanted)
        self.gradInput = [array_module(scores).zeros_like(scores), of_baseline]
        return self.gradInput

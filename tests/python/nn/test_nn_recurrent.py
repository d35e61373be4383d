"""Recurrent modules that are made here: gradients through time by finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pythnn import nn

SIZES = {"SeqLSTMP": (3, 4, 2)}
STEPS = ["LSTM", "FastLSTM", "GRU", "MuFuRu", "RecLSTM", "RecGRU", "LinearRNN"]
SEQUENCES = [
    *("SeqLSTM", "SeqLSTMP", "SeqGRU", "SeqBRNN", "SeqBLSTM", "SeqBGRU", "VanillaRNN"),
    "TorchRnnLSTM",
]


def slope(loss: Any, array: Any, place: Any, step: float = 1e-6) -> float:
    start = array[place]
    array[place] = start + step
    above = loss()
    array[place] = start - step
    below = loss()
    array[place] = start
    return float(above - below) / (2 * step)


@pytest.mark.parametrize("name", STEPS + SEQUENCES)
def test_gradients(name: str) -> None:
    module = getattr(nn, name)(*SIZES.get(name, (3, 2)))
    if name in STEPS:
        module = nn.Sequencer(module)
    rng = np.random.default_rng(3)
    given = rng.standard_normal((4, 5, 3))
    weights = rng.standard_normal(module.forward(given).shape)
    module.zeroGradParameters()
    gradInput = np.array(module.backward(given, weights))

    def loss() -> float:
        return float((module.forward(given) * weights).sum())

    assert slope(loss, given, (1, 2, 1)) == pytest.approx(gradInput[1, 2, 1], abs=1e-7)
    for parameter, gradient in zip(*module.parameters(), strict=True):
        place = (0,) * parameter.ndim
        assert slope(loss, parameter, place) == pytest.approx(gradient[place], abs=1e-7)


def test_rewards_reach_the_layers_that_drew() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ReinforceNormal(0.5))
    given = np.random.default_rng(2).standard_normal((4, 2))
    drawn = np.array(net.forward(given))
    mean = np.array(net.get(1).output)
    criterion = nn.VRClassReward(net)
    scores, baseline = np.eye(4, 3), np.full((4, 1), 0.25)
    target = np.array([1, 2, 1, 1])
    assert criterion.forward([scores, baseline], target) == -3 / 4
    gradient = criterion.backward([scores, baseline], target)
    right = np.array([1, 1, 0, 1])
    np.testing.assert_allclose(gradient[1], (0.25 - right)[:, None] / 2)
    net.backward(given, np.zeros_like(drawn))
    wanted = -((right - 0.25) / 4)[:, None] * (drawn - mean) / 0.25
    np.testing.assert_allclose(net.get(2).gradInput, wanted)

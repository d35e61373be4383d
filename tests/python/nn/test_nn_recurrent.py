"""Recurrent modules that are made here: gradients through time by finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import THNNArgumentError, nn

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


def test_a_language_model_learns_a_text() -> None:
    pythnn.manual_seed(2)
    text = "abcd" * 5
    model = nn.LanguageModel(sorted(set(text)), "lstm", 4, 8, 1)
    model.resetStates()
    loss = nn.CrossEntropyCriterion()
    given = model.encode_string(text[:-1])[None]
    target = model.encode_string(text[1:])
    for _ in range(60):
        model.resetStates()
        scores = model.forward(given)
        flat = scores.reshape(-1, 4)
        loss.forward(flat, target)
        model.zeroGradParameters()
        model.backward(given, loss.backward(flat, target).reshape(scores.shape))
        model.updateParameters(1)
    model.evaluate()
    assert model.sample(9, "b", sample=False) == "bcdabcdab"
    assert len(model.sample(6, temperature=0.5)) == 6
    assert model.decode_string(model.encode_string("cab")) == "cab"
    with pytest.raises(THNNArgumentError, match="'z'"):
        model.encode_string("z")
    with pytest.raises(THNNArgumentError, match="lstm or rnn"):
        nn.LanguageModel("ab", "gru")

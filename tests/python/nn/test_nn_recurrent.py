"""Recurrent modules that are made here: gradients through time by finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bounds import assert_layers_agree, difference_limit

import pythnn
from pythnn import THNNArgumentError, nn

PROJECTED = "RecLSTM of a projection"
STEPS = [
    *("LSTM", "FastLSTM", "GRU", "MuFuRu", "RecLSTM", "RecGRU", "LinearRNN"),
    PROJECTED,
]
SEQUENCES = [
    *("SeqLSTM", "SeqLSTMP", "SeqGRU", "SeqBRNN", "SeqBLSTM", "SeqBGRU", "VanillaRNN"),
    "TorchRnnLSTM",
]


STEP = 1e-6
LIMIT = difference_limit(2**7, 2**6, STEP)
"""Of slopes: losses are sums of some dozens of products, of numbers whose products are few."""


def slope(loss: Any, array: Any, place: Any) -> float:
    start = array[place]
    array[place] = start + STEP
    above = loss()
    array[place] = start - STEP
    below = loss()
    array[place] = start
    return float(above - below) / (2 * STEP)


@pytest.mark.parametrize("name", STEPS + SEQUENCES)
def test_gradients(name: str) -> None:
    sizes = (3, 4, 2) if name in (PROJECTED, "SeqLSTMP") else (3, 2)
    module = getattr(nn, name.split()[0])(*sizes)
    if name in STEPS:
        module = nn.Sequencer(module)
    rng = np.random.default_rng(3)
    given = rng.standard_normal((4, 5, 3))
    weights = rng.standard_normal(module.forward(given).shape)
    module.zeroGradParameters()
    gradInput = np.array(module.backward(given, weights))

    def loss() -> float:
        return float((module.forward(given) * weights).sum())

    assert abs(slope(loss, given, (1, 2, 1)) - gradInput[1, 2, 1]) <= LIMIT
    for parameter, gradient in zip(*module.parameters(), strict=True):
        place = (0,) * parameter.ndim
        assert abs(slope(loss, parameter, place) - gradient[place]) <= LIMIT


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RecGRU", "Recursor"])
def test_layers_before_a_recurrent_one_get_the_gradients_of_each_step(name: str) -> None:
    pythnn.manual_seed(3)
    cell = nn.Recursor(nn.GRU(2, 2)) if name == "Recursor" else getattr(nn, name)(2, 2)
    net = nn.Sequencer(nn.Sequential(nn.Linear(3, 2), cell, nn.Linear(2, 2)))
    given = np.random.default_rng(4).standard_normal((4, 2, 3))
    assert max(nn.check_gradients(net, given).values()) < 1e-6
    assert max(nn.check_gradients(net.maskZero(), given).values()) < 1e-6


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


def test_fast_lstm_is_the_same_as_a_graph(monkeypatch: Any) -> None:
    plain = nn.FastLSTM(3, 2)
    monkeypatch.setattr(nn.FastLSTM, "usenngraph", True)
    graph = nn.FastLSTM(3, 2)
    assert isinstance(graph.inside, nn.gModule)
    graph.i2g.weight, graph.i2g.bias = plain.i2g.weight, plain.i2g.bias
    graph.o2g.weight = plain.o2g.weight
    given, weights = (
        np.random.default_rng(s).standard_normal((4, 5, n)) for s, n in ((1, 3), (2, 2))
    )
    one, other = nn.Sequencer(plain), nn.Sequencer(graph)
    assert_layers_agree(one.forward(given), other.forward(given))
    found = one.backward(given, weights)
    assert_layers_agree(found, other.backward(given, weights))


def test_fast_lstm_with_batch_normalization(monkeypatch: Any) -> None:
    monkeypatch.setattr(nn.FastLSTM, "bn", True)
    lstm = nn.FastLSTM(2, 1, None, 1e-3, 0.2)
    normal = [one for one in lstm.listModules() if isinstance(one, nn.BatchNormalization)]
    assert [(one.eps, one.momentum, one.weight[0]) for one in normal] == [(1e-3, 0.2, 0.1)] * 3
    given = np.random.default_rng(1).standard_normal((2, 3, 2))
    errors = nn.check_gradients(nn.Sequencer(lstm), given)
    assert max(errors[name] for name in errors if name != "parameter[2]") < 1e-6  # before a mean


def test_each_gate_has_dropout_of_its_own() -> None:
    pythnn.manual_seed(1)  # of other weights, finite differences may be too small to tell
    for cell in (nn.FastLSTM(2, 1, p=0.5), nn.GRU(2, 1, None, 0.5), nn.LSTM(2, 1, None, True, 0.5)):
        errors = nn.check_gradients(nn.Sequencer(cell), np.ones((2, 2, 2)))
        assert max(errors.values()) < 1e-6
    noises = [one for one in nn.FastLSTM(3, 2, p=0.5).listModules() if isinstance(one, nn.Dropout)]
    assert len(noises) == 8


def test_a_recurrence_of_tables() -> None:
    both = nn.ParallelTable(nn.Linear(3, 2), nn.Sequential(nn.FlattenTable(), nn.JoinTable(1, 1)))
    step = nn.Sequential(both, nn.JoinTable(1, 1), nn.Linear(7, 5), nn.Tanh())
    step.add(nn.ConcatTable().add(nn.Narrow(2, 1, 2)).add(nn.Narrow(2, 3, 3)))
    cell = nn.Recurrence(step, [[2], [3]], 1)
    steps = [np.random.default_rng(s).standard_normal((4, 3)) for s in range(3)]
    outputs = [cell.forward(one) for one in steps]
    assert [one.shape for one in outputs[-1]] == [(4, 2), (4, 3)]
    weights = [np.ones((4, 2)), np.ones((4, 3))]
    found = [np.array(cell.backward(one, weights)) for one in steps[::-1]][::-1]

    def loss() -> float:
        cell.forget()
        return sum(float(part.sum()) for one in steps for part in cell.forward(one))

    assert abs(slope(loss, steps[0], (1, 2)) - found[0][1, 2]) <= LIMIT

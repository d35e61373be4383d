"""A Sequential's steps layer by layer are what they are one after the other."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_layers_agree
from support.programs import leaves
from test_nn_fused_steps import numbers

import pythnn
from pythnn import THNNArgumentError, nn
from pythnn.nn.recurrent.layerwise import Layerwise

NETS: dict[str, Callable[[], Any]] = {
    "two cells": lambda: nn.Sequential(
        nn.Linear(3, 4), nn.FastLSTM(4, 4), nn.Tanh(), nn.GRU(4, 2), nn.LogSoftMax()
    ),
    "a cell first and last": lambda: nn.Sequential(nn.RecGRU(3, 4), nn.RecLSTM(4, 2)),
    "a recurrence": lambda: nn.Sequential(
        nn.Recurrent(4, nn.Linear(3, 4), nn.Linear(4, 4)), nn.Linear(4, 2), nn.NormStabilizer(0.1)
    ),
    "dropout": lambda: nn.Sequential(nn.LSTM(3, 4), nn.Dropout(0.5), nn.Linear(4, 2)),
    "tables": lambda: nn.Sequential(
        nn.FastLSTM(3, 4), nn.ConcatTable(nn.Linear(4, 2), nn.Linear(4, 2)), nn.CMulTable()
    ),
    "statistics": lambda: nn.Sequential(nn.BatchNormalization(3), nn.GRU(3, 2)),
}
APART: dict[str, Callable[[], Any]] = {
    "noise of two layers": lambda: nn.Sequential(
        nn.Dropout(0.5), nn.FastLSTM(3, 4), nn.Dropout(0.5), nn.Linear(4, 2)
    ),
    "a layer in place": lambda: nn.Sequential(nn.FastLSTM(3, 2), nn.ReLU(True)),
    "a cell inside": lambda: nn.Sequential(
        nn.Sequential(nn.Linear(3, 4), nn.FastLSTM(4, 4)), nn.Linear(4, 2)
    ),
    "padding": lambda: nn.Sequential(nn.MaskZero(nn.FastLSTM(3, 2), 1), nn.Tanh()),
    "no cell": lambda: nn.Sequential(nn.Linear(3, 2), nn.Tanh()),
}


def trained(build: Callable[[], Any], is_table: bool) -> list[Any]:
    """What sequences do that go on, each followed by training, and one in use."""
    pythnn.manual_seed(6)
    net = nn.Sequencer(build())
    net.remember("both")
    results: list[Any] = []
    for seed, steps in ((1, 3), (2, 2)):
        given, weights = numbers(steps, 2, 3, seed=seed), numbers(steps, 2, 2, seed=seed + 5)
        values = (list(given), list(weights)) if is_table else (given, weights)
        net.zeroGradParameters()
        results.append(copy.deepcopy(net.forward(values[0])))
        results.append(copy.deepcopy(net.backward(*values)))
        results.append(copy.deepcopy(net.parameters()[1]))
    net.forget()
    net.evaluate()
    results.append(copy.deepcopy(net.forward(numbers(3, 2, 3))))
    return results


@pytest.mark.parametrize("is_table", [False, True])
@pytest.mark.parametrize("name", [*NETS, *APART])
def test_steps(name: str, is_table: bool, monkeypatch: Any) -> None:
    build = {**NETS, **APART}[name]
    found = leaves(trained(build, is_table))
    monkeypatch.setattr(Layerwise, "of", lambda *_: None)
    wanted = leaves(trained(build, is_table))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert_layers_agree(one, other)


@pytest.mark.parametrize("name", [*NETS, *APART])
def test_which_are_done_by_layer(name: str) -> None:
    build = {**NETS, **APART}[name]
    recursor = nn.Recursor(build())
    assert (Layerwise.of(recursor, 1, 3) is not None) == (name in NETS)


def test_gradients_of_steps_and_sequences_mixed() -> None:
    """Backward over parts of what was computed together."""
    results = []
    for is_whole in (True, False):
        pythnn.manual_seed(6)
        net = nn.Recursor(NETS["two cells"]())
        sequencer = nn.Sequencer(net).remember("both")
        given, weights = numbers(4, 2, 3), numbers(4, 2, 2, seed=3)
        output = np.array(sequencer.forward(given))
        sequencer.zeroGradParameters()
        if is_whole:
            found = np.array(sequencer.backward(given, weights))
        else:
            last = [np.array(net.backward(given[3], weights[3]))]
            found = np.concatenate([sequencer.backward(given[:3], weights[:3]), last])
        results.append([output, found, *map(np.array, sequencer.parameters()[1])])
    for one, other in zip(*results, strict=True):
        assert_layers_agree(one, other)


def test_errors_say_which_layer() -> None:
    net = nn.Sequencer(nn.Sequential(nn.FastLSTM(3, 2), nn.Linear(3, 2)))
    with pytest.raises(THNNArgumentError, match=r"in module 2 of nn.Sequential"):
        net.forward(numbers(3, 2, 3))

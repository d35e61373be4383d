"""Classes of rnn and dpnn with other options and inputs than those of their examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import THNNArgumentError, nn

RNG = np.random.default_rng(5)
LIMIT = 1e-5
"""Of the relative errors of gradients."""


def real(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def places(*shape: int) -> Any:
    return RNG.uniform(-1, 1, shape)


def padded(*shape: int, padding: tuple[tuple[int, int], ...] = ((1, 0), (2, 1))) -> Any:
    """Steps with samples of zeros."""
    steps = real(*shape)
    for place in padding:
        steps[place] = 0
    return steps


def _batch_first(module: Any) -> Any:
    module.batchfirst = True
    return module


def _steps(count: int, *shape: int) -> list[Any]:
    return [real(*shape) for _ in range(count)]


def _with_products() -> Any:
    """rnn's Recurrent with a start, a merge and a transfer of its own."""
    modules = nn.Identity(), nn.Linear(3, 2), nn.Linear(2, 2), nn.Sigmoid()
    return nn.Recurrent(*modules, 5, nn.CMulTable())


def _sum_of_two() -> Any:
    return nn.Sequential(nn.ParallelTable(nn.Linear(3, 2), nn.Linear(2, 2)), nn.CAddTable())


CASES: dict[str, tuple[Callable[[], Any], Any]] = {
    "batch first": (lambda: _batch_first(nn.SeqLSTM(3, 2)), real(2, 4, 3)),
    "a sequence without a batch": (lambda: nn.SeqLSTM(3, 2), real(4, 3)),
    "batch first without one": (lambda: _batch_first(nn.SeqGRU(3, 2)), real(4, 3)),
    "a projection to as many": (lambda: nn.SeqLSTMP(3, 4), real(4, 2, 3)),
    "states in the input": (lambda: nn.SeqLSTM(3, 2), [real(2, 2), real(2, 2), real(4, 2, 3)]),
    "an output in the input": (lambda: nn.SeqLSTM(3, 2), [real(2, 2), real(4, 2, 3)]),
    "an output for a GRU": (lambda: nn.SeqGRU(3, 2), [real(2, 2), real(4, 2, 3)]),
    "both ways, batch first": (lambda: nn.SeqBRNN(3, 2, True), real(2, 4, 3)),
    "both ways, joined": (lambda: nn.SeqBRNN(3, 2, False, nn.JoinTable(3)), real(4, 2, 3)),
    "states for torch-rnn": (
        lambda: nn.TorchRnnLSTM(3, 2),
        [real(2, 2), real(2, 2), real(2, 4, 3)],
    ),
    "peepholes without a batch": (lambda: nn.Sequencer(nn.LSTM(3, 2)), _steps(3, 3)),
    "no peepholes": (lambda: nn.Sequencer(nn.LSTM(3, 2, None, False)), _steps(3, 3)),
    "some operations": (
        lambda: nn.Sequencer(nn.MuFuRu(3, 2, ["keep", "forget", "max", "diff"])),
        _steps(3, 2, 3),
    ),
    "merged by products": (lambda: nn.Sequencer(_with_products()), _steps(3, 2, 3)),
    "fed back into a sum": (
        lambda: nn.Sequencer(nn.Recurrence(_sum_of_two(), 2, 1)), _steps(3, 2, 3)
    ),
    "one step both ways": (
        lambda: nn.BiSequencer(nn.GRU(3, 2), nn.FastLSTM(3, 2), nn.CAddTable()), _steps(1, 2, 3)
    ),
    "two words both ways": (lambda: nn.BiSequencerLM(nn.GRU(3, 2)), _steps(2, 2, 3)),
    "repeated": (lambda: nn.Repeater(nn.LSTM(3, 3), 4), real(2, 3)),
    "cells in containers": (
        lambda: nn.Sequencer(
            nn.Sequential(nn.Recursor(nn.FastLSTM(3, 4)), nn.Linear(4, 2), nn.GRU(2, 2))
        ),
        real(3, 2, 3),
    ),
    "a projected step": (lambda: nn.Sequencer(nn.RecLSTM(3, 4, 2)), real(4, 2, 3)),
    "the last of each": (
        lambda: nn.VariableLength(nn.SeqGRU(3, 2).maskZero(), True), [real(2, 3), real(4, 3)]
    ),
    "a row to trim": (lambda: nn.TrimZero(nn.Linear(3, 2), 1), real(3)),
    "one square": (lambda: nn.SpatialGlimpse(3, 1), [real(2, 2, 7, 5), places(2, 2)]),
    "squares of four times the size": (
        lambda: nn.SpatialGlimpse(2, 2, 4), [real(2, 2, 9, 9), places(2, 2)]
    ),
    "squares of one image": (lambda: nn.SpatialGlimpse(3, 3, 2), [real(2, 9, 9), places(2)]),
    "columns without padding": (
        lambda: nn.Inception(
            2, [2, 2], [2, None, 2, None], [2, 1], [3, 5], [1, 1], 3, 1, None, nn.Tanh(), False,
            False,
        ),
        real(2, 2, 7, 7),
    ),
    "a mean without a deviation": (lambda: nn.SpatialFeatNormalization([1, 2]), real(1, 2, 3, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str) -> None:
    pythnn.manual_seed(3)
    build, given = CASES[name]
    assert max(nn.check_gradients(build(), given).values()) < LIMIT


MASKED: dict[str, tuple[Callable[[], Any], Any]] = {
    "SeqLSTM": (lambda: nn.SeqLSTM(3, 2).maskZero(), padded(4, 2, 3)),
    "SeqLSTMP": (lambda: nn.SeqLSTMP(3, 4, 2).maskZero(), padded(4, 2, 3)),
    "SeqGRU": (lambda: nn.SeqGRU(3, 2).maskZero(), padded(4, 2, 3)),
    "FastLSTM": (lambda: nn.Sequencer(nn.FastLSTM(3, 2)).maskZero(), padded(4, 2, 3)),
    "RecGRU": (lambda: nn.Sequencer(nn.RecGRU(3, 2).maskZero()), padded(4, 2, 3)),
    "trimmed": (lambda: nn.Sequencer(nn.FastLSTM(3, 2).trimZero(1)), padded(4, 2, 3)),
    "two dimensions": (
        lambda: nn.MaskZero(
            nn.Sequential(nn.View(-1).setNumInputDims(2), nn.Linear(6, 2)), 2
        ),
        padded(3, 2, 3, padding=((1, slice(None)),)),  # type: ignore[arg-type]
    ),
    "nothing else": (lambda: nn.TrimZero(nn.Linear(3, 2), 1), np.zeros((2, 3))),
}  # fmt: skip


@pytest.mark.parametrize("name", MASKED)
def test_padding_gives_zeros_and_takes_no_gradient(name: str) -> None:
    pythnn.manual_seed(3)
    build, given = MASKED[name]
    module = build()
    padding = (given == 0).all(-1)
    output = np.array(module.forward(given))
    module.zeroGradParameters()
    gradient = np.array(module.backward(given, np.ones_like(output)))
    assert not np.any(gradient[padding])
    if output.ndim == given.ndim:
        assert not np.any(output[padding])
    errors = nn.check_gradients(build(), given)
    of_parameters = [error for place, error in errors.items() if place != "input"]
    assert max(of_parameters) < LIMIT


@pytest.mark.parametrize("is_per_sample", [False, True])
def test_classes_by_noise_for_each_step(is_per_sample: bool) -> None:
    """NCEModule and its criterion in sequencers and masks, as language models have them."""
    layer = nn.NCEModule(3, 5, 2, [1, 2, 3, 4, 5], 1)
    layer.batchnoise = not is_per_sample
    net = nn.Sequencer(nn.MaskZero(layer, 1))
    targets = [np.array([1, 5]), np.array([2, 3])]
    given = [[step, target] for step, target in zip(_steps(2, 2, 3), targets, strict=True)]
    output = net.forward(given)
    criterion = nn.SequencerCriterion(nn.MaskZeroCriterion(nn.NCECriterion(), 1))
    assert criterion.forward(output, targets) > 0
    net.zeroGradParameters()
    found = net.backward(given, criterion.backward(output, targets))
    assert [[one.shape for one in step] for step in found] == [[(2, 3), (2,)]] * 2
    assert np.any(layer.gradWeight)


@pytest.mark.parametrize("are_logarithms", [False, True])
def test_all_classes_in_use(are_logarithms: bool) -> None:
    layer = nn.NCEModule(3, 5, 2, [1, 2, 3, 4, 5], 1)
    layer.normalized, layer.logsoftmax = True, are_logarithms
    layer.evaluate()
    given = real(2, 3)
    output = layer.forward([given, np.array([1, 5])])
    sums = given @ layer.weight.T + layer.bias
    shares = np.exp(sums) / np.exp(sums).sum(1, keepdims=True)
    np.testing.assert_allclose(output, np.log(shares) if are_logarithms else shares, rtol=1e-12)


SEQUENCES: list[Callable[[], Any]] = [
    lambda: nn.SeqLSTM(3, 2),
    lambda: nn.SeqGRU(3, 2),
    *(lambda cell=cell: nn.Sequencer(cell(3, 2))
      for cell in (nn.FastLSTM, nn.GRU, nn.LSTM, nn.RecLSTM, nn.RecGRU)),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["train", "eval", "both", "neither", None])
@pytest.mark.parametrize("build", SEQUENCES)
def test_what_is_remembered(build: Any, mode: str | None) -> None:
    module = build()
    module.remember(mode)
    given = real(4, 2, 3)
    for name, modes in (("training", ("train", "both")), ("evaluate", ("eval", "both"))):
        getattr(module, name)()
        module.forget()
        whole = np.array(module.forward(given))
        module.forget()
        parts = [np.array(module.forward(part)) for part in (given[:2], given[2:])]
        goes_on = np.allclose(np.concatenate(parts), whole)
        assert goes_on == ((mode or "both") in modes), name


@pytest.mark.parametrize("build", SEQUENCES)
def test_another_batch_does_not_go_on(build: Any) -> None:
    module = build()
    module.remember()
    module.forward(real(2, 2, 3))
    with pytest.raises(THNNArgumentError, match=r"a batch of 2, as the st.*forget\(\)"):
        module.forward(real(2, 5, 3))
    module.forget()
    assert module.forward(real(2, 5, 3)).shape == (2, 5, 2)


def test_a_sequence_without_steps_is_refused() -> None:
    with pytest.raises(THNNArgumentError, match="expected a table of steps"):
        nn.Sequencer(nn.GRU(3, 2)).forward(np.zeros((0, 2, 3)))


def test_the_place_of_the_largest() -> None:
    rows = np.array([[1.0, 3, 2], [5, 4, 0]])
    np.testing.assert_array_equal(nn.ArgMax().forward(rows), [2, 1])
    np.testing.assert_array_equal(nn.ArgMax(1).forward(rows), [2, 2, 1])
    np.testing.assert_array_equal(nn.ArgMax(1, 1).forward(rows), [2, 1])
    np.testing.assert_array_equal(nn.ArgMax(1, 1).forward(np.stack([rows, rows])), [[2, 2, 1]] * 2)
    np.testing.assert_array_equal(nn.ArgMax().forward(rows[0]), [2])
    assert nn.ArgMax(1, 1, False).forward(rows).dtype == np.float64


def test_a_model_that_looks_where_it_likes() -> None:
    """The network of recurrent attention: glimpses, places that are drawn, rewards."""
    glimpse = nn.Sequential(
        nn.ConcatTable(
            nn.Sequential(
                nn.SpatialGlimpse(2, 2, 2), nn.View(-1).setNumInputDims(3), nn.Linear(8, 3)
            ),
            nn.Sequential(nn.SelectTable(2), nn.Linear(2, 3)),
        ),
        nn.JoinTable(1, 1),
        nn.Linear(6, 4),
    )
    step = nn.Recurrent(4, glimpse, nn.Linear(4, 4), nn.ReLU(), 99)
    draws = nn.ReinforceNormal(0.1)
    where = nn.Sequential(nn.Linear(4, 2), nn.HardTanh(), draws, nn.HardTanh())
    look = nn.RecurrentAttention(step, where, 3, [4])
    scores = nn.Sequential(look, nn.SelectTable(-1), nn.Linear(4, 5), nn.LogSoftMax())
    baseline = nn.Sequential(nn.Constant([1.0], 1), nn.Add(1))
    both = nn.ConcatTable(nn.Identity(), nn.ConcatTable(nn.Identity(), baseline))
    net = nn.Sequential(scores, both)
    criterion = nn.ParallelCriterion(True)
    criterion.add(nn.ClassNLLCriterion()).add(nn.VRClassReward(net))
    given, target = real(3, 1, 6, 6), np.array([1, 2, 5])
    output = net.forward(given)
    criterion.forward(output, target)
    net.zeroGradParameters()
    found = net.backward(given, criterion.backward(output, target))
    assert found.shape == given.shape
    assert np.any(where.get(1).gradWeight), "the reward has not reached the layer that draws"
    assert np.any(baseline.get(2).gradBias)

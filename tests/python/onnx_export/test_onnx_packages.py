"""Layers of the packages beside nn: what ONNX can compute, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from support.package_examples import EXAMPLES

import pythnn
from pythnn import nn, onnx
from pythnn.onnx import NotExportableError

RNG = np.random.default_rng(3)
MODULES = [name for name, example in EXAMPLES.items() if example.target is None]
# Classes that a network of these examples has no meaning with in ONNX.
REFUSED = {
    "NCEModule", "NeuraltalkLanguageModel", "PosSlicer", "Reinforce", "Sampler", "SeqLSTMP",
    "SoftMaxTree", "SpatialGlimpse", "VariableLength",
}  # fmt: skip


def single(value: Any) -> Any:
    if isinstance(value, list):
        return [single(entry) for entry in value]
    return value.astype(np.float32) if value.dtype == np.float64 else value


def flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [array for entry in value for array in flat(entry)]
    return [np.asarray(value)]


def run(written: Any, example: Any) -> list[Any]:
    session = onnxruntime.InferenceSession(written.SerializeToString())
    given = zip(session.get_inputs(), flat(example), strict=True)
    found: list[Any] = session.run(None, {one.name: array for one, array in given})
    return found


def check(made: Any, example: Any) -> None:
    made.evaluate()
    written = onnx.to_onnx(made, example)
    wanted = flat(made.forward(example))
    found = run(written, example)
    assert len(found) == len(wanted)
    for theirs, mine in zip(found, wanted, strict=True):
        assert theirs.shape == mine.shape
        np.testing.assert_allclose(theirs, mine, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", MODULES)
def test_a_layer_of_each_class(name: str) -> None:
    pythnn.manual_seed(1)
    example = EXAMPLES[name]
    made, given = example.build().float(), single(example.input)
    given = given[0] if example.steps else given
    if name in REFUSED:
        made.evaluate()
        with pytest.raises(NotExportableError):
            onnx.to_onnx(made, given)
    else:
        check(made, given)


SEQUENCES = {
    "a sequence of batches": lambda: nn.SeqLSTM(3, 2),
    "batch first": lambda: _batch_first(nn.SeqGRU(3, 2)),
    "both ways": lambda: nn.SeqBRNN(3, 2, True),
    "torch-rnn": lambda: nn.TorchRnnLSTM(3, 2),
    "without gates": lambda: nn.VanillaRNN(3, 2),
    "cudnn both ways": lambda: nn.cudnn.BGRU(3, 2, 2),
    "peepholes": lambda: nn.Sequencer(nn.LSTM(3, 2)),
    "no peepholes": lambda: nn.Sequencer(nn.LSTM(3, 2, None, False)),
    "gates as one product": lambda: nn.Sequencer(nn.FastLSTM(3, 2)),
    "gated units": lambda: nn.Sequencer(nn.GRU(3, 2)),
    "with dropout": lambda: nn.Sequencer(nn.GRU(3, 2, None, 0.5)),
    "with dropout for each gate": lambda: nn.Sequencer(nn.FastLSTM(3, 2, p=0.5)),
    "torch/rnn": lambda: nn.Sequencer(nn.RecGRU(3, 2)),
    "a sigmoid of a sum": lambda: nn.Sequencer(nn.LinearRNN(3, 2)),
    "a rectifier of a sum": lambda: nn.Sequencer(nn.LinearRNN(3, 2, nn.ReLU())),
    "layers": lambda: nn.Sequencer(
        nn.Sequential(nn.Linear(3, 4), nn.RecLSTM(4, 3), nn.GRU(3, 2), nn.SoftMax())
    ),
}


def _normalized() -> Any:
    """A cell with batch normalization, which is a graph."""
    nn.FastLSTM.bn = True
    try:
        return nn.FastLSTM(3, 2)
    finally:
        nn.FastLSTM.bn = False


def _feedback() -> Any:
    return nn.Recurrent(2, nn.Linear(3, 2), nn.Linear(2, 2), nn.Tanh())


def _recurrence() -> Any:
    step = nn.Sequential(nn.JoinTable(1, 1), nn.Linear(5, 2), nn.Sigmoid())
    return nn.Recurrence(step, 2, 1)


STEPS = {
    "a first step of its own": _feedback,
    "any module of the step before": _recurrence,
    "chosen operations": lambda: nn.MuFuRu(3, 2),
    "a function that ONNX's RNN has not": lambda: nn.LinearRNN(3, 2, nn.Abs()),
    "normalized": _normalized,
    "padding": lambda: nn.FastLSTM(3, 2).maskZero(),
    "a projection": lambda: nn.RecLSTM(3, 4, 2),
    "gates by hand": lambda: nn.Sequential(nn.ConcatTable(nn.RecGRU(3, 2), nn.GRU(3, 2)),
                                           nn.JoinTable(1, 1)),
    "layers": lambda: nn.Sequential(_feedback(), nn.Tanh(), nn.LSTM(2, 3), _recurrence()),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_steps_one_after_the_other(name: str) -> None:
    pythnn.manual_seed(3)
    made = nn.Sequencer(STEPS[name]()).float()
    for parameter in made.parameters()[0]:
        parameter[...] = RNG.standard_normal(parameter.shape)
    steps = [RNG.standard_normal((2, 3)).astype(np.float32) for _ in range(4)]
    steps[1][0] = 0
    made.evaluate()
    written = onnx.to_onnx(made, steps)
    more = [np.concatenate([step, -step, step]) for step in steps]  # the batch is free
    for given in (steps, more):
        for theirs, mine in zip(run(written, given), made.forward(given), strict=True):
            np.testing.assert_allclose(theirs, mine, atol=5e-6)
    # A tensor of a number of steps that is not free.
    written = onnx.to_onnx(made, np.stack(steps), dynamic_batch=False)
    found = run(written, np.stack(steps))[0]
    np.testing.assert_allclose(found, made.forward(np.stack(steps)), atol=5e-6)


@pytest.mark.parametrize("first", ["batch", "time"])
def test_a_projection_of_the_output(first: str) -> None:
    made = nn.SeqLSTM(3, 4, 2).float()
    made.evaluate()
    made.batchfirst = first == "batch"
    given = RNG.standard_normal((2, 3, 3)).astype(np.float32)
    written = onnx.to_onnx(made, given, dynamic_batch=first == "batch")
    more = np.concatenate([given, -given]) if first == "batch" else -given
    np.testing.assert_allclose(run(written, more)[0], made.forward(more), atol=2e-6)


def test_a_step_outside_a_sequence_is_the_first() -> None:
    made = _feedback().float()
    made.evaluate()
    given = RNG.standard_normal((2, 3)).astype(np.float32)
    first = np.array(made.forward(given))
    made.forward(given)
    np.testing.assert_allclose(run(onnx.to_onnx(made, given), given)[0], first, atol=2e-6)


def test_a_table_that_is_put_back_needs_one_that_takes_out() -> None:
    push = nn.PushTable(1)
    with pytest.raises(NotExportableError, match="PushTable comes after it"):
        onnx.to_onnx(push.pull(1), np.zeros((2, 3), np.float32))


def _batch_first(layer: Any) -> Any:
    layer.batchfirst = True
    return layer


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence(name: str) -> None:
    pythnn.manual_seed(2)
    made = SEQUENCES[name]().float()
    for parameter in made.parameters()[0]:
        parameter[...] = RNG.standard_normal(parameter.shape)
    made.evaluate()
    given = RNG.standard_normal((4, 5, 3)).astype(np.float32)
    written = onnx.to_onnx(made, given)
    longer = RNG.standard_normal((7, 5, 3)).astype(np.float32)  # the first size is free
    for example in (given, longer):
        np.testing.assert_allclose(run(written, example)[0], made.forward(example), atol=2e-6)


def test_a_language_model_of_rnn() -> None:
    words = nn.Sequential(nn.LookupTableMaskZero(6, 3), nn.SplitTable(1, 2))
    steps = nn.Sequential(nn.FastLSTM(3, 4), nn.Linear(4, 6), nn.LogSoftMax())
    model = nn.Sequential(words, nn.Sequencer(steps)).float()
    given = np.array([[1, 3, 0], [2, 6, 5]])
    check(model, given)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: nn.SeqLSTM(3, 2).remember("both"), "goes on from a state"),
        (lambda: nn.SeqGRU(3, 2).maskZero(), "padding"),
        (lambda: nn.SeqLSTM(3, 4, 2), "projection"),
        (lambda: nn.Sequencer(nn.FastLSTM(3, 2).maskZero()), "nothing that computes the same"),
        (lambda: nn.Sequencer(nn.MuFuRu(3, 2)), "nothing that computes the same"),
        (lambda: nn.Sequencer(nn.LinearRNN(3, 2, nn.Abs())), "does not apply nn.Abs"),
        (lambda: nn.Sequencer(nn.GRU(3, 2)).remember("eval"), "goes on from a state"),
    ],
)
def test_what_onnx_cannot_express(make: Any, why: str) -> None:
    made = make().float()
    made.evaluate()
    with pytest.raises(NotExportableError, match=why):
        onnx.to_onnx(made, np.zeros((4, 5, 3), np.float32))

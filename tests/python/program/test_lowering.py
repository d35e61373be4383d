"""Layers as operations: those that are C functions in a program, and those of all packages."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from support.package_examples import EXAMPLES
from support.programs import check_same, forward, run
from support.saved_models import SavedModels

import pythnn
from pythnn import nn
from pythnn.graph import Call, lower

real = np.random.default_rng(4).standard_normal
PAIR = [real((2, 3, 4)), real((2, 3, 4))]

AS_FUNCTIONS = [
    (nn.Add(4), real((3, 4))),
    (nn.Add(1, True), real((3, 4))),
    (nn.Bottle(nn.Linear(4, 2)), real((2, 3, 4))),
    (nn.CAdd(1, 3, 1), real((2, 3, 4))),
    (nn.CDivTable(), PAIR),
    (nn.CMaxTable(), PAIR),
    (nn.CMinTable(), PAIR),
    (nn.CMul(3, 4), real((2, 3, 4))),
    (nn.Collapse(2), real((2, 3, 4))),
    (nn.Constant([1.0, 2.0], 1), real((3, 4))),
    (nn.Copy("torch.DoubleTensor", "torch.FloatTensor"), real((3, 4))),
    (nn.CReLU(2), real((2, 3, 4))),
    (nn.CReLU(2), real((3, 4))),
    (nn.LookupTable(5, 3), np.array([[5, 1], [2, 2]])),
    (nn.LookupTable(5, 3), np.array([5, 1], np.int32)),
    (nn.LookupTable(5, 3), np.array([5.0, 1.0])),
    (nn.Max(2), real((2, 3, 4))),
    (nn.Max(-1), real((2, 70))),
    (nn.Maxout(4, 2, 3), real((3, 4))),
    (nn.Mean(1, 2), real((2, 3, 4))),
    (nn.Min(1), real(70)),
    (nn.Mul(), real((3, 4))),
    (nn.OneHot(5), np.array([[5, 1], [2, 2]])),
    (nn.OneHot(5), np.array([5.0, 1.0])),
    (nn.Padding(2, 2, 3, 1.5), real((2, 3, 4))),
    (nn.Padding(1, -2), real((3, 4))),
    (nn.Padding(1, 1, 2, 0.0, 2), real((3, 4))),
    (nn.Parallel(2, 1, nn.Linear(4, 2), nn.Linear(4, 2)), real((3, 2, 4))),
    (nn.PixelShuffle(2), real((2, 8, 3, 2))),
    (nn.RReLU(), real((3, 4))),
    (nn.SeqLSTM(4, 3), real((5, 2, 4))),
    (nn.SeqLSTM(4, 3), real((5, 4))),
    (nn.SoftMin(), real((3, 4))),
    (nn.SoftSign(), real((3, 4))),
    (nn.SpatialUpSamplingBilinear(2), real((2, 3, 4, 4))),
    (nn.Sum(2, None, True, False), real((2, 3, 4))),
    (nn.TanhShrink(), real((3, 4))),
    (nn.UpSampling(2), real((2, 3, 4, 4))),
    (nn.WeightNorm(nn.Linear(4, 2)), real((3, 4))),
]


@pytest.mark.parametrize("strided", [False, True], ids=["dense", "strided"])
@pytest.mark.parametrize(("layer", "x"), AS_FUNCTIONS, ids=lambda value: type(value).__name__)
def test_layers_are_functions(layer: Any, x: Any, strided: bool) -> None:
    """Also on memory with gaps, which a layer before them leaves."""
    layer = layer.clone()
    model = nn.Sequential(nn.Narrow(1, 1, 2), layer) if strided and is_batch(x) else layer
    model.evaluate()
    assert not [one for one in lower(model, x).operations if isinstance(one, Call)]
    program = pythnn.compile(model, x, fuse=False)
    check_same(program(x), forward(model, x), False)
    check_same(pythnn.compile(model, x)(x), forward(model, x), True)


def user_state(layer: Any) -> Any:
    layer.userPrevOutput = real((2, 3))
    return layer


SEQUENCES = {
    "a state that stays": lambda: nn.SeqLSTM(4, 3).remember(),
    "the user's state": lambda: user_state(nn.SeqLSTM(4, 3)),
    "padding": lambda: nn.SeqLSTM(4, 3).maskZero(),
    "a mask": lambda: nn.SeqLSTM(4, 3).setZeroMask(np.eye(5, 2)),
    "the batch first": lambda: setattr(layer := nn.SeqLSTM(4, 3), "batchfirst", True) or layer,
    "a projection": lambda: nn.SeqLSTMP(4, 3, 2),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_with_settings(name: str) -> None:
    model = SEQUENCES[name]()
    model.evaluate()
    x = real((2, 2, 4) if name == "the batch first" else (5, 2, 4))
    x[2:, 1] = 0
    program = pythnn.compile(model, x)
    for _ in range(2):
        wanted = model.clone().forget().forward(x)
        np.testing.assert_array_equal(program(x), wanted)


def is_batch(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.ndim > 1 and x.dtype.kind == "f" and len(x) > 1


def test_extremes_are_nan_where_there_is_one() -> None:
    x = real((3, 40, 5))
    x[1, 17, 2] = np.nan
    for layer in (nn.Max(2), nn.Min(2), nn.Sequential(nn.Transpose((2, 3)), nn.Max(3))):
        layer.evaluate()
        found = pythnn.compile(layer, x)(x)
        check_same(found, forward(layer, x), False)
        assert np.isnan(found[1, 2])
        assert np.isnan(found).sum() == 1


def test_rows_that_do_not_exist() -> None:
    program = pythnn.compile(nn.LookupTable(5, 3), np.array([1, 2]))
    for wrong in ([0, 1], [1, 6]):
        with pytest.raises(pythnn.THNNArgumentError, match="1 to 5"):
            program(np.array(wrong))
        with pytest.raises(pythnn.THNNArgumentError, match="1 to 5"):
            program(np.array(wrong, np.float32))
    shrinking = nn.LookupTable(5, 3, 0, 0.5)
    shrinking.evaluate()
    x = np.array([1, 2])
    check_same(pythnn.compile(shrinking, x)(x), forward(shrinking, x), False)


# ---- Other packages


@pytest.mark.parametrize("fuse", [False, True], ids=["plain", "fused"])
@pytest.mark.parametrize(
    "name", [name for name, example in EXAMPLES.items() if example.target is None]
)
def test_classes_of_packages(name: str, fuse: bool) -> None:
    example = EXAMPLES[name]
    pythnn.manual_seed(5)
    model = example.build()
    model.evaluate()
    for x in example.input if example.steps else [example.input]:
        model.forget()
        program = pythnn.compile(model, x, fuse=fuse)
        check_same(run(program, x), forward(model, x), fuse)


SAVED = SavedModels("rnn")


@pytest.mark.parametrize("fuse", [False, True], ids=["plain", "fused"])
@pytest.mark.parametrize(
    "entry",
    [entry for entry in SAVED.index if entry["kind"] != "criterion"],
    ids=lambda entry: entry["name"],
)
def test_saved_models_of_packages(entry: Any, fuse: bool) -> None:
    model = SAVED.load(entry, "binary")
    model.evaluate()
    given = SAVED.recorded(entry, entry["input"])
    for x in given[:1] if entry["kind"] == "recurrent" else [given]:
        model.forget()
        program = pythnn.compile(model, copy.deepcopy(x), fuse=fuse)
        check_same(run(program, x), forward(model, x), fuse)

"""Modules that Lua Torch's rnn, dpnn, torch/rnn and torch-rnn saved compute what they did there."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from support.saved_models import HOW, SavedModels, joined, objects_of_file, same

import pythnn
from pythnn import nn

MODELS = SavedModels("rnn")
MODULES = [entry for entry in MODELS.index if entry["kind"] != "criterion"]
CRITERIONS = [entry for entry in MODELS.index if entry["kind"] == "criterion"]
TRAINED = [entry for entry in MODULES if "train" in entry]
# In use, all steps of Lua's table after the first are one tensor, which the last step wrote.
OVERWRITTEN = {"RecurrentAttention"}


def each(entries: Any) -> Any:
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry["name"])


in_each_way = pytest.mark.parametrize("how", HOW)


def forward(entry: Any, model: Any, given: Any) -> Any:
    if entry["kind"] != "recurrent":
        return model.forward(given)
    return [np.array(model.forward(step)) for step in given]


def backward(entry: Any, model: Any, given: Any, gradOutput: Any) -> Any:
    if entry["kind"] != "recurrent":
        return model.backward(given, gradOutput)
    steps = list(zip(given, gradOutput, strict=True))[::-1]
    return [np.array(model.backward(*step)) for step in steps][::-1]


@in_each_way
@each(MODULES)
def test_evaluation(entry: Any, how: str) -> None:
    model = MODELS.load(entry, how)
    assert [module.typename() for module in model.listModules()] == entry["modules"]
    parameters = (model.parameters() or ([], []))[0]
    assert len(parameters) == entry["n_param_tensors"]
    if parameters:
        same(joined(parameters), MODELS.recorded(entry, entry["params"]), "parameters")
    model.evaluate()
    for _ in range(2):
        model.forget()
        output = forward(entry, model, MODELS.recorded(entry, entry["input"]))
        wanted = MODELS.recorded(entry, entry["output"])
        if entry["name"] in OVERWRITTEN:
            output, wanted = [output[0], output[-1]], [wanted[0], wanted[-1]]
        same(output, wanted, "output")


@in_each_way
@each(TRAINED)
def test_training(entry: Any, how: str) -> None:
    model, train = MODELS.load(entry, how), entry["train"]
    model.training()
    model.zeroGradParameters()
    if "seed" in train:
        pythnn.manual_seed(train["seed"])
    given = MODELS.recorded(entry, entry["input"])
    same(forward(entry, model, given), MODELS.recorded(entry, train["output"]), "output")
    found = backward(entry, model, given, MODELS.recorded(entry, train["gradOutput"]))
    same(found, MODELS.recorded(entry, train["gradInput"]), "gradInput")
    gradients = (model.parameters() or ([], []))[1]
    if gradients:
        same(joined(gradients), MODELS.recorded(entry, train["gradParams"]), "gradients")
    if "running_after" in train:
        normal = [m for m in model.listModules() if isinstance(m, nn.BatchNormalization)]
        statistics = joined([a for m in normal for a in (m.running_mean, m.running_var)])
        same(statistics, MODELS.recorded(entry, train["running_after"]), "running statistics")


@each([entry for entry in TRAINED if "flat_params" in entry])
def test_one_storage_for_all_parameters(entry: Any) -> None:
    model, train = MODELS.load(entry, "binary"), entry["train"]
    flat, gradients = model.getParameters()
    same(flat, MODELS.recorded(entry, entry["flat_params"]), "parameters")
    model.training()
    gradients[...] = 0
    given = MODELS.recorded(entry, entry["input"])
    forward(entry, model, given)
    backward(entry, model, given, MODELS.recorded(entry, train["gradOutput"]))
    if "seed" not in train and "flat_gradParams" in train:
        same(gradients, MODELS.recorded(entry, train["flat_gradParams"]), "gradients")


@in_each_way
@each(CRITERIONS)
def test_criterion(entry: Any, how: str) -> None:
    criterion = MODELS.load(entry, how)
    given = MODELS.recorded(entry, entry["input"]), MODELS.recorded(entry, entry["target"])
    assert criterion.forward(*given) == pytest.approx(entry["loss"], rel=1e-10)
    same(criterion.backward(*given), MODELS.recorded(entry, entry["gradInput"]), "gradInput")


@each([entry for entry in MODELS.index if "trained" not in entry["name"]])
def test_files_have_the_fields_that_they_had(entry: Any) -> None:
    file = io.BytesIO()
    pythnn.save(file, pythnn.load(MODELS.folder / entry["binary"]))
    file.seek(0)
    found, wanted = (objects_of_file(one) for one in (file, MODELS.folder / entry["binary"]))
    if "LanguageModel" in entry["name"]:  # Lua's class does not say which type it has
        for name, fields in found:
            if name == "nn.LanguageModel":
                fields.remove(("_type", "'torch.DoubleTensor'"))
    assert found == wanted
    assert found


def test_classes_of_one_name_are_told_apart_by_their_fields() -> None:
    """``nn.LSTM`` is a step in rnn and a sequence in torch-rnn; others have other fields too."""
    found = {
        stem: type(pythnn.load(MODELS.folder / f"{stem}.t7"))
        for stem in ("LSTM", "torchrnn_LSTM", "SeqLSTM", "torch_rnn_SeqLSTM", "SeqGRU",
                     "torch_rnn_SeqGRU")
    }  # fmt: skip
    assert found["LSTM"] is nn.LSTM
    assert found["torchrnn_LSTM"] is nn.TorchRnnLSTM
    assert nn.TorchRnnLSTM.typename() == nn.LSTM.typename() == "nn.LSTM"
    assert found["SeqLSTM"] is found["torch_rnn_SeqLSTM"] is nn.SeqLSTM
    assert found["SeqGRU"] is found["torch_rnn_SeqGRU"] is nn.SeqGRU
    for made, other in ((nn.LSTM(3, 2), nn.TorchRnnLSTM), (nn.TorchRnnLSTM(3, 2), nn.LSTM)):
        for how in ("binary", "ascii"):
            file = io.BytesIO()
            pythnn.save(file, made, format=how)
            file.seek(0)
            again = pythnn.load(file)
            assert type(again) is type(made)
            assert not isinstance(again, other)

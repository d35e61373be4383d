"""Graphs that Lua Torch's nngraph saved compute what they computed there."""

from __future__ import annotations

from typing import Any

import pytest
from support.saved_models import HOW, SavedModels, joined, same

import pythnn
from pythnn import nn

MODELS = SavedModels("nngraph")
each = pytest.mark.parametrize("entry", MODELS.index, ids=lambda entry: entry["name"])
in_each_way = pytest.mark.parametrize("how", HOW)


@in_each_way
@each
def test_evaluation(entry: Any, how: str) -> None:
    model = MODELS.load(entry, how)
    assert [module.typename() for module in model.listModules()] == entry["modules"]
    assert {module.type() for module in model.listModules()} == {"torch.DoubleTensor"}
    parameters, _ = model.parameters()
    assert len(parameters) == entry["n_param_tensors"]
    if parameters:
        same(joined(parameters), MODELS.recorded(entry, entry["params"]), "parameters")
    model.evaluate()
    for _ in range(2):
        output = model.forward(MODELS.recorded(entry, entry["input"]))
        same(output, MODELS.recorded(entry, entry["output"]), "output")


@in_each_way
@each
def test_training(entry: Any, how: str) -> None:
    model, train = MODELS.load(entry, how), entry["train"]
    model.training()
    model.zeroGradParameters()
    if "seed" in train:
        pythnn.manual_seed(train["seed"])
    given = MODELS.recorded(entry, entry["input"])
    same(model.forward(given), MODELS.recorded(entry, train["output"]), "output")
    found = model.backward(given, MODELS.recorded(entry, train["gradOutput"]))
    same(found, MODELS.recorded(entry, train["gradInput"]), "gradInput")
    gradients = model.parameters()[1]
    if gradients:
        same(joined(gradients), MODELS.recorded(entry, train["gradParams"]), "gradients")
    if "running_after" in train:
        normal = [m for m in model.listModules() if isinstance(m, nn.BatchNormalization)]
        statistics = joined([a for m in normal for a in (m.running_mean, m.running_var)])
        same(statistics, MODELS.recorded(entry, train["running_after"]), "running statistics")


@each
def test_one_storage_for_all_parameters(entry: Any) -> None:
    flat, _ = MODELS.load(entry, "binary").getParameters()
    if flat.size:
        same(flat, MODELS.recorded(entry, entry["flat_params"]), "parameters")

"""Graphs that Lua Torch's nngraph saved compute what they computed there."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import nn

DATA = Path(__file__).parents[2] / "data" / "nngraph"
INDEX = json.loads((DATA / "index.json").read_text())
HOW = ["binary", "ascii", "saved again"]
each = pytest.mark.parametrize("entry", INDEX, ids=lambda entry: entry["name"])
in_each_way = pytest.mark.parametrize("how", HOW)


def recorded(entry: Any, names: Any) -> Any:
    """Arrays of the entry; a list of names gives a list."""
    if isinstance(names, list):
        return [recorded(entry, name) for name in names]
    if isinstance(names, dict):
        return names["number"]
    with np.load(DATA / entry["npz"]) as arrays:
        return arrays[names]


def load(entry: Any, how: str) -> Any:
    model = pythnn.load(DATA / entry["ascii" if how == "ascii" else "binary"])
    if how != "saved again":
        return model
    file = io.BytesIO()
    pythnn.save(file, model)
    file.seek(0)
    return pythnn.load(file)


def same(found: Any, wanted: Any, where: str) -> None:
    if isinstance(wanted, list):
        assert len(found) == len(wanted), where
        for i, (one, other) in enumerate(zip(found, wanted, strict=True), 1):
            same(one, other, f"{where}[{i}]")
        return
    assert np.shape(found) == np.shape(wanted), where
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10, err_msg=where)


def joined(arrays: list[Any]) -> Any:
    return np.concatenate([array.ravel() for array in arrays]) if arrays else np.zeros(0)


@in_each_way
@each
def test_evaluation(entry: Any, how: str) -> None:
    model = load(entry, how)
    assert [module.typename() for module in model.listModules()] == entry["modules"]
    assert {module.type() for module in model.listModules()} == {"torch.DoubleTensor"}
    parameters, _ = model.parameters()
    assert len(parameters) == entry["n_param_tensors"]
    if parameters:
        same(joined(parameters), recorded(entry, entry["params"]), "parameters")
    model.evaluate()
    for _ in range(2):
        output = model.forward(recorded(entry, entry["input"]))
        same(output, recorded(entry, entry["output"]), "output")


@in_each_way
@each
def test_training(entry: Any, how: str) -> None:
    model, train = load(entry, how), entry["train"]
    model.training()
    model.zeroGradParameters()
    if "seed" in train:
        pythnn.manual_seed(train["seed"])
    given = recorded(entry, entry["input"])
    same(model.forward(given), recorded(entry, train["output"]), "output")
    found = model.backward(given, recorded(entry, train["gradOutput"]))
    same(found, recorded(entry, train["gradInput"]), "gradInput")
    gradients = model.parameters()[1]
    if gradients:
        same(joined(gradients), recorded(entry, train["gradParams"]), "gradients")
    if "running_after" in train:
        normal = [m for m in model.listModules() if isinstance(m, nn.BatchNormalization)]
        statistics = joined([a for m in normal for a in (m.running_mean, m.running_var)])
        same(statistics, recorded(entry, train["running_after"]), "running statistics")


@each
def test_one_storage_for_all_parameters(entry: Any) -> None:
    flat, _ = load(entry, "binary").getParameters()
    if flat.size:
        same(flat, recorded(entry, entry["flat_params"]), "parameters")

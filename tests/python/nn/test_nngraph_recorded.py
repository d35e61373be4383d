"""Graphs that Lua Torch's nngraph saved compute what they computed there."""

from __future__ import annotations

import io
from typing import Any

import pytest
from support.saved_models import HOW, SavedModels, joined, objects_of_file, same

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


@pytest.mark.parametrize("name", [e["name"] for e in MODELS.index if e["name"] != "flattened"])
def test_files_have_the_fields_that_they_had(name: str) -> None:
    """All but that of `flattened`, whose nodes have gradients of the call that was before."""
    entry = next(entry for entry in MODELS.index if entry["name"] == name)
    file = io.BytesIO()
    pythnn.save(file, pythnn.load(MODELS.folder / entry["binary"]))
    file.seek(0)
    found, wanted = (objects_of_file(one) for one in (file, MODELS.folder / entry["binary"]))
    for cls, fields in found:  # Lua's do not say which type they have
        if cls in ("nngraph.JustElement", "nn.ModuleFromCriterion"):
            fields.remove(("_type", "'torch.DoubleTensor'"))
    assert found == wanted
    assert found


NGRAPH = ("nn.gModule", "data", "graph.Graph", "graph.Edge", "nngraph.Node")
"""What a graph is made of in a file: objects, and the data of nodes."""


def test_a_new_graph_has_the_fields_of_a_recorded_one() -> None:
    a, b = nn.Identity()(), nn.Identity()()
    sums = nn.CAddTable()([nn.Linear(4, 3)(a), nn.Linear(3, 3)(b)])
    made, file = nn.gModule([a, b], [nn.Tanh()(sums)]), io.BytesIO()
    made.training()  # as the recorded one was
    pythnn.save(file, made)
    file.seek(0)
    found, wanted = (
        {(cls, *(name for name, _ in fields))
         for cls, fields in objects_of_file(one) if cls in NGRAPH}
        for one in (file, MODELS.folder / "two_inputs.t7")
    )  # fmt: skip
    assert found == wanted
    assert found

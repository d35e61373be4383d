"""Objects that are made here have the fields that Lua's constructors gave the recorded ones."""

from __future__ import annotations

import io
from collections import defaultdict
from functools import cache
from typing import Any

import pytest
from support.package_examples import EXAMPLES
from support.saved_models import SavedModels, objects_of_file

import pythnn

MODELS = SavedModels("rnn")
# Fields that depend on how an object was made, beside the mode.
ALLOWED = {
    "nn.ClassNLLCriterion": {"weights"},
    "nn.Dropout": {"flag", "inplace", "lazy", "mono", "stochastic_inference"},
    "nn.LanguageModel": {"_type"},  # Lua's does not say
    "nn.ReinforceNormal": {"stdev"},
    "nn.RepeaterCriterion": {"sizeAverage"},
    "nn.Sum": {"nInputDims"},
}
OTHERS = {"NeuraltalkLanguageModel"}
"""Classes whose name another class has in the recordings."""

Fields = list[tuple[str, frozenset[str]]]


def fields_in(file: Any) -> Fields:
    """The objects of a file, as they are there, and the names of their fields."""
    return [
        (name, frozenset(field for field, _ in fields)) for name, fields in objects_of_file(file)
    ]


@cache
def recorded() -> dict[str, set[frozenset[str]]]:
    """The fields of each class in files of rnn, dpnn and torch-rnn that had not been trained."""
    found = defaultdict(set)
    for entry in MODELS.index:
        if entry["package"] != "torch/rnn" and "trained" not in entry["name"]:
            for name, fields in fields_in(MODELS.folder / entry["binary"]):
                found[name].add(fields)
    return found


def test_most_classes_are_recorded() -> None:
    assert len(recorded()) > 80


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in OTHERS])
def test_fields(name: str) -> None:
    made = EXAMPLES[name].build()
    file = io.BytesIO()
    pythnn.save(file, made)
    file.seek(0)
    for cls, fields in fields_in(file):
        if cls in recorded():
            least = min((fields ^ wanted for wanted in recorded()[cls]), key=len)
            assert least <= {"train"} | ALLOWED.get(cls, set()), cls

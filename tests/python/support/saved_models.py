"""Models that Lua Torch saved, and what they computed there: ``tests/data/nngraph`` and ``rnn``."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn._later import file_classes
from pythnn.t7 import TorchObject

__all__ = ["HOW", "SavedModels", "joined", "kind", "objects_of_file", "same"]

HOW = ["binary", "ascii", "saved again"]
"""The ways in which a model is loaded."""

AGREEMENT = 1e-10
"""What the recordings of models ask for in double precision, relative to a number or to 1: several
layers, one after the other."""


class SavedModels:
    """A folder of models, and of arrays that they take and give."""

    def __init__(self, name: str) -> None:
        self.folder = Path(__file__).parents[2] / "data" / name
        self.index: list[dict[str, Any]] = json.loads((self.folder / "index.json").read_text())

    def load(self, entry: dict[str, Any], how: str) -> Any:
        """The model of an entry, in one of the ways of HOW."""
        model = pythnn.load(self.folder / entry["ascii" if how == "ascii" else "binary"])
        if how != "saved again":
            return model
        file = io.BytesIO()
        pythnn.save(file, model)
        file.seek(0)
        return pythnn.load(file)

    def recorded(self, entry: dict[str, Any], names: Any) -> Any:
        """Arrays of an entry; a list of names gives a list."""
        if isinstance(names, list):
            return [self.recorded(entry, name) for name in names]
        if isinstance(names, dict):
            return names["number"]
        with np.load(self.folder / entry["npz"]) as arrays:
            return arrays[names]


def same(found: Any, wanted: Any, where: str) -> None:
    """The same arrays, or tables of them, up to AGREEMENT."""
    if isinstance(wanted, list):
        assert len(found) == len(wanted), where
        for i, (one, other) in enumerate(zip(found, wanted, strict=True), 1):
            same(one, other, f"{where}[{i}]")
        return
    assert np.shape(found) == np.shape(wanted), where
    np.testing.assert_allclose(found, wanted, rtol=AGREEMENT, atol=AGREEMENT, err_msg=where)


def joined(arrays: list[Any]) -> Any:
    """All elements, as of a flat storage."""
    return np.concatenate([array.ravel() for array in arrays]) if arrays else np.zeros(0)


def objects_in(value: Any) -> list[Any]:
    """The class of each object of a file, with the types of its fields."""
    found, seen, pending = [], set(), [value]
    kept = []  # so that no id is given twice
    while pending:
        at = pending.pop()
        if id(at) in seen or not isinstance(at, (TorchObject, Mapping, list)):
            continue
        seen.add(id(at))
        kept.append(at)
        if isinstance(at, TorchObject):
            found.append((at.torch_class, sorted((n, kind(v)) for n, v in at.fields.items())))
            if at.torch_class == "nngraph.Node":
                data = at.fields["data"]
                found.append(("data", sorted((n, kind(v)) for n, v in data.items())))
            pending += at.fields.values()
        else:
            pending += at if isinstance(at, list) else [*at.keys(), *at.values()]
    return sorted(found)


def objects_of_file(file: Any) -> list[Any]:
    """``objects_in`` a file, none of which becomes an object of a class of pythnn.nn."""
    with pytest.MonkeyPatch.context() as without:
        without.setattr(file_classes, "class_of", lambda *_: None)
        return objects_in(pythnn.load(file))


def kind(value: Any) -> str:
    """What a field holds, in a word."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}"
    if isinstance(value, (list, dict)):
        return "table"
    if isinstance(value, TorchObject):
        return value.torch_class
    return "number" if type(value) in (int, float) else repr(value)

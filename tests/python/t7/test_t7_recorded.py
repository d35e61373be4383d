"""Files that Lua Torch wrote: read as their description says, written back byte for byte."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_identical

import pythnn
from pythnn.t7 import Table, TorchFunction, TorchStorage

T7 = Path(__file__).parents[2] / "data" / "t7"
INDEX = json.loads((T7 / "index.json").read_text())
VALUES = [entry for entry in INDEX if entry["kind"] == "value"]
FORMATS = ["binary", "ascii"]
FILES = sorted(T7.glob("*.t7")) + sorted((T7.parent / "nn" / "t7").glob("*.t7"))


class Comparison:
    """Holds a value against its description."""

    def __init__(self, arrays: Any) -> None:
        self.arrays = arrays
        self.seen: dict[int, Any] = {}
        self.memory: dict[int, list[np.ndarray]] = {}

    def check(self, value: Any, wanted: dict[str, Any]) -> None:
        if wanted["type"] == "ref":
            assert value is self.seen[wanted["id"]]
            return
        if "id" in wanted:
            self.seen[wanted["id"]] = value
        getattr(self, wanted["type"])(value, wanted)

    def number(self, value: Any, wanted: dict[str, Any]) -> None:
        assert type(value) in (int, float)
        assert value == float(wanted["value"])
        whole = float(value).is_integer() and abs(value) <= 2**53 and str(value) != "-0.0"
        assert isinstance(value, int) == whole

    def boolean(self, value: Any, wanted: dict[str, Any]) -> None:
        assert value is wanted["value"]

    def string(self, value: Any, wanted: dict[str, Any]) -> None:
        assert value.encode("utf-8", "surrogateescape").hex() == wanted["hex"]

    def table(self, value: Any, wanted: dict[str, Any]) -> None:
        items = dict(enumerate(value, 1)) if isinstance(value, list) else value
        assert len(items) == len(wanted["items"])
        for key, item in wanted["items"]:
            plain = (
                bytes.fromhex(key["hex"]).decode("utf-8", "surrogateescape")
                if key["type"] == "string"
                else key["value"]
            )
            assert plain in items
            self.check(items[plain], item)

    def tensor(self, value: Any, wanted: dict[str, Any]) -> None:
        content = self.arrays[wanted["npz"]]
        assert value.dtype == content.dtype
        assert_identical(value, content)
        if wanted["sizes"]:
            assert [stride // value.itemsize for stride in value.strides] == wanted["strides"]
            self.shares(value, wanted["storage_id"])

    def storage(self, value: Any, wanted: dict[str, Any]) -> None:
        assert isinstance(value, TorchStorage)
        assert len(value) == wanted["size"]
        assert_identical(value.data, self.arrays[wanted["npz"]])
        self.shares(value.data, wanted["storage_id"])

    def shares(self, value: np.ndarray, storage: int) -> None:
        root = value
        while isinstance(root.base, np.ndarray):
            root = root.base
        for number, roots in self.memory.items():
            assert np.may_share_memory(root, roots[0]) == (number == storage)
        self.memory.setdefault(storage, []).append(root)

    def function(self, value: Any, wanted: dict[str, Any]) -> None:
        assert isinstance(value, TorchFunction)
        assert value.code.startswith(b"\x1bLJ")
        for upvalue, expected in zip(value.upvalues, wanted["upvalues"], strict=True):
            assert upvalue["name"] == expected["name"]
            self.check(upvalue["value"], expected["value"])


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("entry", VALUES, ids=lambda entry: entry["name"])
def test_values(entry, format):
    with np.load(T7 / entry["npz"]) as arrays:
        Comparison(arrays).check(pythnn.load(T7 / entry[format]), entry["value"])


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("first", FORMATS)
@pytest.mark.parametrize("entry", VALUES, ids=lambda entry: entry["name"])
def test_values_after_saving(entry, first, format):
    file = io.BytesIO()
    pythnn.save(file, pythnn.load(T7 / entry[first]), format)
    file.seek(0)
    with np.load(T7 / entry["npz"]) as arrays:
        Comparison(arrays).check(pythnn.load(file), entry["value"])


def test_everything_recorded_is_here():
    assert len(VALUES) == 4
    assert len(FILES) > 500


@pytest.mark.parametrize("part", range(4))
def test_written_back_byte_for_byte(part):
    for path in FILES[part::4]:
        original = path.read_bytes()
        file = io.BytesIO()
        value = pythnn.load(path, classes=False)
        pythnn.save(file, value, "ascii" if ".ascii." in path.name else "binary")
        # Text has lost the sign of nan by the time it is a number.
        assert file.getvalue() == (
            re.sub(rb"-nan\b", b"nan", original) if ".ascii." in path.name else original
        ), path.name


def test_a_table_with_keys_one_and_true():
    value = pythnn.load(T7 / "tables_nested.t7")
    assert isinstance(value, Table)
    assert value[1] == 1
    assert value[True] == "boolean key"
    assert value["self"] is value

"""The fields of constructed objects are those that Lua Torch saved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.nn_recorded import DATA, Replay, classes, read

import pythnn
from pythnn import Tensor, nn
from pythnn.t7 import TorchObject

CASES = [
    case["name"]
    for stem in classes()
    for case in read(stem)
    if case.get("t7") and case["kind"] != "trainer"
]
# Fields of nn's objects only, beyond what Lua saves.
OURS: dict[str, set[str]] = {}
# Fields of the files that have no meaning here.
THEIRS = {"nn.Profile": {"timer"}}


@pytest.mark.parametrize("name", CASES)
def test_fields(name: str) -> None:
    r = Replay(name)
    module = r.construct()
    if r.case["kind"] == "module":
        module.zeroGradParameters()
    saved = pythnn.load(DATA / r.case["t7"], classes=False)
    compare(module, saved, name)


def compare(found: Any, saved: Any, where: str) -> None:
    if isinstance(saved, TorchObject) and saved.torch_class in nn.registry:
        assert found.typename() == saved.torch_class, where
        compare_fields(found._to_fields(), saved, where)
    elif isinstance(saved, np.ndarray):
        array = found.numpy() if isinstance(found, Tensor) else found
        assert isinstance(array, np.ndarray), f"{where} is {found!r}, not a tensor"
        assert array.shape == saved.shape, where
        assert array.dtype == saved.dtype, where
        equal = np.allclose(array, saved, rtol=1e-6, atol=1e-12, equal_nan=True)
        assert equal, f"{where}: {array} instead of {saved}"
    elif isinstance(saved, (list, dict)) or hasattr(saved, "tolist"):
        compare_tables(found, saved, where)
    elif isinstance(saved, (bool, str)):
        assert found == saved, f"{where} is {found!r}, not {saved!r}"
    elif isinstance(saved, (int, float)):
        assert not isinstance(found, bool), f"{where} is {found!r}, not {saved!r}"
        assert found == pytest.approx(saved, nan_ok=True), f"{where} is {found!r}, not {saved!r}"


def compare_tables(found: Any, saved: Any, where: str) -> None:
    if not isinstance(saved, dict):
        entries = list(saved)
        assert len(found) == len(entries), f"{where} has {len(found)} entries, not {len(entries)}"
        for i, (one, other) in enumerate(zip(found, entries, strict=True)):
            compare(one, other, f"{where}[{i + 1}]")
    elif not saved:
        assert len(found) == 0, f"{where} is {found!r}, not empty"
    elif isinstance(found, dict):
        assert set(found) == set(saved), where
        for key, value in saved.items():
            compare(found[key], value, f"{where}.{key}")


def compare_fields(found: dict[str, Any], saved: TorchObject, where: str) -> None:
    theirs = {key for key in saved.fields if isinstance(key, str)}
    absent = theirs - set(found) - THEIRS.get(saved.torch_class, set())
    assert not absent, f"{where} lacks {sorted(absent)}"
    more = set(found) - theirs - OURS.get(saved.torch_class, set())
    assert not more, f"{where} has {sorted(more)} beyond {sorted(theirs)}"
    for key in theirs & set(found):
        compare(found[key], saved.fields[key], f"{where}.{key}")

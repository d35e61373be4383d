"""Pickles written when modules of the package had other names."""

from __future__ import annotations

import pickle

import pytest

NAMES = (
    "pythnn._tensor._rebuild",
    "pythnn._tensor._storage_from",
    "pythnn._cuda.tensor._rebuild",
    "pythnn._cuda.tensor._storage_from",
    "pythnn.nn._fields.Fields",
    "pythnn.nn._node.Graph",
    "pythnn.nn._node.Step",
    "pythnn.nn._values.DoubleStorage",
    "pythnn.nn._values.LongStorage",
)


@pytest.mark.parametrize("name", NAMES)
def test_what_old_pickles_name_is_found(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    found = pickle.loads(f"c{module}\n{attribute}\n.".encode())
    assert found.__qualname__ == attribute

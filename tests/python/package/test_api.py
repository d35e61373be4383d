"""The functions against the facts of the original: names, argument order, types, roles."""

from __future__ import annotations

import json
import keyword
from pathlib import Path

import pytest

from pythnn import lib, thnn
from pythnn._table import FUNCTIONS

FACTS = {
    f["function"]: f["args"]
    for f in json.loads((Path(__file__).parents[2] / "data" / "api" / "thnn.json").read_text())[
        "functions"
    ]
}
KINDS = {
    "THNNState *": "state",
    "THTensor *": "real",
    "THIndexTensor *": "index",
    "THIntegerTensor *": "integer",
    "THGenerator *": "generator",
    "int": "int",
    "bool": "bool",
    "accreal": "double",
    "double": "double",
    "THIndex_t": "int64",
    "long": "int64",
}
# An output that is not resized counts as read and written here.
SAME_ROLES = {("out", "inout")}
OTHER_ROLES = {
    ("LSTMFused_updateOutput", "input"): "inout",  # overwritten with the gates
    ("LookupTable_renorm", "idx"): "in",  # the original sorts it
}
ALSO_OPTIONAL = {("IndexLinear_accGradParameters", "valuesBuffer")}  # scratch here


def test_all_are_there() -> None:
    assert len(FACTS) == 181
    for name in FACTS:
        assert callable(getattr(thnn, name))
        for real in ("Float", "Double"):
            assert callable(getattr(lib, f"THNN_{real}{name}"))


@pytest.mark.parametrize("name", FACTS)
def test_arguments(name: str) -> None:
    found = FUNCTIONS[name][0]
    wanted = FACTS[name]
    assert len(found) == len(wanted)
    for (argument, kind, role, optional), fact in zip(found, wanted, strict=True):
        expected = fact["name"] + "_" * keyword.iskeyword(fact["name"])
        assert argument == expected
        assert kind == KINDS[fact["ctype"]], argument
        fact_role = fact.get("role", "")
        fact_role = "" if fact_role in ("scalar", "generator") else fact_role
        fact_role = OTHER_ROLES.get((name, argument), fact_role)
        assert role == fact_role or (fact_role, role) in SAME_ROLES, argument
        assert optional == bool(fact.get("optional")) or (name, argument) in ALSO_OPTIONAL

"""THCUNN.h declares what Lua Torch's cunn declares: names, argument names, order and types.

In the same way it declares what only the CPU's library has, and what both have that Lua Torch has
not."""

from __future__ import annotations

import json
import re
from typing import Any

import headers
import pytest
from device import COMPILER, INCLUDE, PREFIXES

TABLES = INCLUDE.parent / "tests" / "data" / "api"
CUNN = json.loads((TABLES / "thcunn.json").read_text())["functions"]
CPU = json.loads((TABLES / "thnn.json").read_text())["functions"]
NAMES = {row["function"] for row in CUNN}
EXTRA = ("generic/THNNExtraModules.h", "generic/THNNExtraSequences.h")


DOUBLES = {"p", "stepDepth", "stepHeight", "stepWidth"}
"""Numbers of the CPU's header that are double on devices as well: times an index, a float would be
off by more than the weights of its neighbours may be, and of a probability it would be another
one."""


def added() -> list[dict[str, Any]]:
    """What no table of Lua Torch has: the functions that the CPU's header adds."""
    text = headers.preprocess(COMPILER, [INCLUDE], ["THNNExtra.h"])
    found = [
        f
        for f in headers.parse(text, INCLUDE).functions
        if any(file in f.place for file in EXTRA) and f.name.startswith("THNN_Double")
    ]
    return [
        {
            "function": f.name.removeprefix("THNN_Double"),
            "args": [
                {
                    "ctype": p.ctype.replace("THDouble", "TH")
                    .replace("double", "double" if p.name in DOUBLES else "accreal")
                    .replace("_Bool", "bool"),
                    "name": p.name,
                }
                for p in f.parameters
            ],
        }
        for f in found
    ]


ROWS = CUNN + [row for row in CPU if row["function"] not in NAMES]
NAMES |= {row["function"] for row in ROWS}
ROWS += [row for row in added() if row["function"] not in NAMES]
TEXT = headers.preprocess(COMPILER, [INCLUDE], ["cuda/THCUNN.h"])
FUNCTIONS = {
    f.name: f
    for f in headers.parse(TEXT, INCLUDE / "cuda", INCLUDE / "generic").functions
    if f.name.startswith("THNN_")
}


def ctype_of(ctype: str, real: str) -> str:
    """A type of the table as the preprocessed header spells it."""
    ctype = re.sub(r"^TH(?!C|NN)", "THC", ctype).replace("THNNState", "THCState")
    return {
        "THCTensor *": {"float": "THCudaTensor *", "double": "THCudaDoubleTensor *"}[real],
        "THCIndexTensor *": "THCudaLongTensor *",
        "THCLongTensor *": "THCudaLongTensor *",
        "long": "int64_t",
        "accreal": real,
    }.get(ctype, ctype)


@pytest.mark.parametrize("real", PREFIXES)
def test_prototypes(real: str) -> None:
    found = 0
    for row in ROWS:
        function = FUNCTIONS.get(PREFIXES[real] + row["function"])
        if function is None:
            continue
        found += 1
        wanted = [(ctype_of(a["ctype"], real), a["name"]) for a in row["args"]]
        declared = [(p.ctype.replace("_Bool", "bool"), p.name) for p in function.parameters]
        assert declared == wanted, function.name
        assert function.result == "void"
    assert found * 2 == len(FUNCTIONS), "a function that neither library has"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_comments(name: str) -> None:
    """Each function says what it computes, each argument what it is; tensors begin with a role."""
    function = FUNCTIONS[name]
    assert function.comment
    for parameter in function.parameters:
        assert parameter.comment, parameter.name
        if parameter.ctype.endswith("Tensor *"):
            role = parameter.comment.split(":")[0].removesuffix(", optional")
            assert role in ("in", "out", "inout", "accumulate", "scratch"), parameter.name

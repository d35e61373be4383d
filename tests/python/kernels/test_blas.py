"""THBlas against the recorded products: flat buffers, leading dimensions, increments.

Each may be off by the rounding of a sum, whose magnitudes the product of absolute values gives.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support.bounds import sum_limit
from support.recorded import DATA

from pythnn import ffi, lib

FILE = json.loads((DATA / "blas.json").read_text())
ARRAYS = np.load(DATA / "blas.npz")
# The operation's arguments in C order, and the buffer that holds the result.
SIGNATURES = {
    "gemm": ("transa transb m n k alpha a lda b ldb beta c ldc", "c"),
    "gemv": ("trans m n alpha a lda x incx beta y incy", "y"),
    "ger": ("m n alpha x incx y incy a lda", "a"),
    "axpy": ("n alpha x incx y incy", "y"),
    "dot": ("n x incx y incy", None),
}
REALS: dict[str, tuple[Any, str]] = {
    "Double": (np.float64, "double *"),
    "Float": (np.float32, "float *"),
}
AS_RECORDED = 2
"""Roundings of a product's operands, which were recorded in double precision."""


def result_of(case: dict[str, Any], real: str, absolute: bool = False) -> Any:
    """What THBlas makes of a case, or of the absolute values of all its numbers."""
    dtype, pointer = REALS[real]
    names, changed = SIGNATURES[case["op"]]
    buffers, arguments = {}, []
    for name in names.split():
        value = case[name]
        if name.startswith("trans"):
            value = value.encode()
        elif isinstance(value, str):
            array = ARRAYS[value].astype(dtype)
            buffers[name] = np.abs(array) if absolute else array
            value = ffi.from_buffer(pointer, buffers[name])
        elif absolute and name in ("alpha", "beta"):
            value = abs(value)
        arguments.append(value)
    result = getattr(lib, f"TH{real}Blas_{case['op']}")(*arguments)
    return buffers[changed] if changed else np.asarray(result)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("number", range(len(FILE["cases"])))
def test_recorded(number: int, real: str) -> None:
    case = FILE["cases"][number]
    changed = SIGNATURES[case["op"]][1]
    found = result_of(case, real)
    expected = ARRAYS[case[changed + "_after"]] if changed else case["value"]
    magnitudes = result_of(case, "Double", absolute=True)
    columns = "n" if case.get("trans") == "n" else "m"
    terms = {"gemm": "k", "gemv": columns, "dot": "n"}.get(case["op"])
    count = case[terms] if terms else 1
    limit = sum_limit(count + AS_RECORDED, magnitudes, REALS[real][0])
    assert np.all(np.abs(found - expected) <= limit)

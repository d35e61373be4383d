"""THBlas against the recorded products: flat buffers, leading dimensions, increments."""

from __future__ import annotations

import json

import numpy as np
import pytest
from recorded import DATA

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
REALS = {"Double": (np.float64, "double *", 1e-12), "Float": (np.float32, "float *", 1e-5)}


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("number", range(len(FILE["cases"])))
def test_recorded(number: int, real: str) -> None:
    case = FILE["cases"][number]
    dtype, pointer, tolerance = REALS[real]
    names, changed = SIGNATURES[case["op"]]
    buffers = {}
    arguments = []
    for name in names.split():
        value = case[name]
        if name.startswith("trans"):
            value = value.encode()
        elif isinstance(value, str):
            buffers[name] = ARRAYS[value].astype(dtype)
            value = ffi.from_buffer(pointer, buffers[name])
        arguments.append(value)
    result = getattr(lib, f"TH{real}Blas_{case['op']}")(*arguments)
    if changed:
        result, expected = buffers[changed], ARRAYS[case[changed + "_after"]]
    else:
        expected = case["value"]
    error = np.abs(result - expected)
    assert np.all(error <= tolerance * np.maximum(1, np.abs(expected)))

"""Every function of the CUDA library is compared with its twin on the CPU."""

from __future__ import annotations

import test_cuda_plane_twins
import test_cuda_recurrent_twins
import test_cuda_twins
from twins import DEVICE, LIBRARY

# Functions that are not, and why.
LEFT_OUT: dict[str, str] = {}


def test_every_function_has_a_comparison() -> None:
    prefix = DEVICE["double"]
    functions = {name.removeprefix(prefix) for name in LIBRARY.functions if name.startswith(prefix)}
    tests = test_cuda_plane_twins, test_cuda_recurrent_twins, test_cuda_twins
    compared = {c.values[0] for test in tests for c in test.CALLS}
    assert len(functions) > 160
    assert functions - compared == set(LEFT_OUT)

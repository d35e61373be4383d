"""Every function of the CUDA library is compared with its twin on the CPU."""

from __future__ import annotations

import test_cuda_plane_twins
import test_cuda_twins
from twins import DEVICE, LIBRARY

# Functions that are not, and why.
LEFT_OUT: dict[str, str] = {}


def test_every_function_has_a_comparison() -> None:
    prefix = DEVICE["double"]
    functions = {name.removeprefix(prefix) for name in LIBRARY.functions if name.startswith(prefix)}
    compared = {c.values[0] for c in (*test_cuda_twins.CALLS, *test_cuda_plane_twins.CALLS)}
    assert len(functions) > 160
    assert functions - compared == set(LEFT_OUT)

"""What Chainer, Theano and PyTorch computed, on a device: every recorded call but convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import test_seeds_layers as on_cpu
from support.seeds import Case, on_device


@pytest.mark.parametrize("gaps", [False, True], ids=["dense", "gaps"])
@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("case", on_cpu.CASES, ids=lambda case: case.name)
def test_recorded(xp: Any, case: Case, real: Any, gaps: bool) -> None:
    given = on_device(xp, case.as_(real), gaps)
    waits = len(getattr(xp, "waits", ()))
    found = on_cpu.run(case, given)
    assert len(getattr(xp, "waits", ())) == waits, "something came to the CPU's memory"
    assert all(type(result) is xp.ndarray for result in found.values())
    on_cpu.compare(case, {name: result.get() for name, result in found.items()}, real)

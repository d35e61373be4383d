"""Recorded convolutions of Chainer, MXNet and Theano on arrays of a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import test_seeds_convolution as on_cpu
from support import seeds


@pytest.mark.parametrize("gaps", [False, True], ids=["dense", "gaps"])
@pytest.mark.parametrize("real", on_cpu.REALS)
@on_cpu.every_case
def test_recorded_calls(
    xp: Any, replay: Callable[..., on_cpu.Results], case: seeds.Case, real: Any, gaps: bool
) -> None:
    arrays = seeds.on_device(xp, case.as_(real), gaps)
    for name, one in replay(case, arrays).items():
        assert type(one) is xp.ndarray
        seeds.check(one.get(), np.asarray(case.arrays[name]), real, name)

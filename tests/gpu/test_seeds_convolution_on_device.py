"""Recorded convolutions of Chainer, MXNet and Theano on arrays of a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import test_seeds_convolution as on_cpu
from support import seeds


@pytest.mark.parametrize("real", on_cpu.REALS)
@on_cpu.every_case
def test_recorded_calls(
    xp: Any, replay: Callable[..., on_cpu.Results], case: seeds.Case, real: Any
) -> None:
    arrays = {n: a if a is None else xp.asarray(a) for n, a in case.as_(real, gaps=True).items()}
    for name, one in replay(case, arrays).items():
        assert type(one) is xp.ndarray
        seeds.check(one.get(), np.asarray(case.arrays[name]), real, name)

"""Every module on generated configurations, as on the CPU, on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import test_generated
from support import generated

import pythnn
from pythnn import Tensor, thnn

ON_THE_CPU_ONLY = {"linear.lookup", "linear.sparse_legacy_updates", "pooling.reduction"}


class DeviceDraw(generated.Draw):
    """Calls functions with what lies on the device, and brings all of it back."""

    def call(self, function: str, *arguments: Any) -> None:
        there = [
            Tensor(a).cuda()
            if isinstance(a, np.ndarray)
            else a.cuda()
            if isinstance(a, Tensor)
            else a
            for a in arguments
        ]
        getattr(thnn, function)(None, *there)
        pythnn.synchronize()
        for here, moved in zip(arguments, there, strict=True):
            if isinstance(here, Tensor):
                here.resize(*moved.shape).copy_from(moved.cpu())
            elif isinstance(here, np.ndarray) and here.flags.writeable:
                here[...] = moved.cpu().numpy()


@pytest.mark.parametrize("name", sorted({*test_generated.NAMES} - ON_THE_CPU_ONLY))
def test_definition(xp: Any, name: str) -> None:
    _, count = generated.FAMILIES[name]
    generated.run(name, range(count // 8), DeviceDraw)

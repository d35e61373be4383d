"""Every module on generated configurations, at every instruction set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import generated
import generated.convolution
import generated.criterion
import generated.linear
import generated.normalization
import generated.pointwise
import generated.pooling
import generated.resampling
import pytest

from pythnn import thnn

NAMES = sorted(generated.FAMILIES)


@pytest.mark.parametrize("name", NAMES)
def test_definition(name: str) -> None:
    generated.run(name, range(generated.FAMILIES[name][1]))


def test_every_function_is_called() -> None:
    """But unfolding and folding, which are of no module."""
    for name in NAMES:
        generated.run(name, range(120))
    functions = {name for name in thnn.__all__ if not name.startswith("unfolded_")}
    assert functions == generated.CALLED


@pytest.mark.parametrize("level", ["baseline", "avx2"])
def test_definitions_at_each_level(level: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", "import test_generated; test_generated.generated.run_others()"],
        env={**os.environ, "THNN_SIMD": level},
        cwd=Path(__file__).parent,
        capture_output=True,
    )
    assert result.returncode == 0, result.stderr.decode()[-4000:]

"""These tests need arrays on a device: CuPy's on a GPU, or those of fake_cupy on the emulation.

ctest runs them on the emulation (``cuda/python``). Elsewhere they need a GPU and CuPy, and are
skipped without; with PYTHNN_REQUIRE_GPU=1 that is a failure.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.processes import import_numpy

import_numpy()

HERE = Path(__file__).parent
# Some of these tests are those of the CPU, on other arrays.
for family in ("functional", "kernels", "nn", "optim"):
    sys.path.append(str(HERE.parent / "python" / family))

EMULATED = os.environ.get("PYTHNN_CUDA_PACKAGE") == "pythnn_cuda_emulated"
if EMULATED:
    import fake_cupy

    fake_cupy.install()
    # A cuDNN of this machine could do nothing with emulated memory; test_cudnn.py has one that can.
    os.environ["PYTHNN_CUDNN"] = "none"


def missing() -> str | None:
    """Why the tests cannot run here; None when they can."""
    if EMULATED:
        return None
    from pythnn._cuda.driver import device_names, status
    from pythnn._cuda.package import find

    if not device_names():
        return f"no GPU: {status()}"
    if find() is None:
        return "no part for CUDA: pip install '.[cuda12]' ./packaging/cuda12 (or cuda13)"
    if importlib.util.find_spec("cupy") is None:
        return "no CuPy: pip install cupy-cuda12x or cupy-cuda13x"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mine = [item for item in items if HERE in item.path.parents]
    reason = missing() if mine else None
    if reason and os.environ.get("PYTHNN_REQUIRE_GPU") == "1":
        raise pytest.UsageError(f"PYTHNN_REQUIRE_GPU=1, but there is {reason}")
    for item in mine:
        on_gpu_only = item.get_closest_marker("gpu") is not None
        if not EMULATED:
            item.add_marker(pytest.mark.gpu)
        if reason:
            elsewhere = "" if on_gpu_only else " (ctest's cuda/python runs it on the emulation)"
            item.add_marker(pytest.mark.skip(reason=reason + elsewhere))


@pytest.fixture(scope="session")
def xp() -> Any:
    """CuPy, or what stands in for it."""
    import cupy

    return cupy


@pytest.fixture
def second(xp: Any) -> Any:
    """The second device, which the emulation always has."""
    if not EMULATED and xp.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("one GPU only")
    return xp.cuda.Device(1)


@pytest.fixture(autouse=True)
def nothing_left_behind(xp: Any) -> Iterator[None]:
    """No test leaves an error for the next one."""
    yield
    import pythnn

    pythnn.synchronize()

"""What happens to arrays on a GPU where pythnn's part for CUDA, or the GPU, is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pythnn import Tensor, THNNError, functional, thnn
from pythnn._cuda import package

ROOT = Path(__file__).parents[3]
INSTALL = re.escape("pip install '.[cuda12]' ./packaging/cuda12")


class OnGpu:
    """An array that claims to be on a GPU."""

    dtype = np.dtype(np.float32)
    __cuda_array_interface__ = {  # noqa: RUF012
        "version": 3,
        "shape": (3,),
        "typestr": "<f4",
        "data": (1 << 40, False),
    }


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv(package.VARIABLE, raising=False)
    monkeypatch.setattr(package, "find", lambda: None)
    package.load.cache_clear()
    yield
    package.load.cache_clear()


@pytest.mark.parametrize(
    "use",
    [
        lambda: Tensor(OnGpu()),
        lambda: Tensor([1.0]).cuda(),
        lambda: Tensor(dtype=np.float32, device="cuda:0"),
        lambda: Tensor([1.0]).copy_from(OnGpu()),
        lambda: thnn.Abs_updateOutput(None, OnGpu(), OnGpu()),
        lambda: thnn.Abs_updateOutput(None, Tensor([1.0]), OnGpu()),
        lambda: functional.relu(OnGpu()),
        lambda: functional.linear([1.0], weight=OnGpu()),
    ],
)
@pytest.mark.usefixtures("no_package")
def test_the_error_says_what_to_install(use: Any) -> None:
    with pytest.raises(THNNError, match=INSTALL):
        use()


def test_a_package_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        def __init__(self, name: str) -> None:
            self.name, self.version = name, "0.0.1"

    monkeypatch.setattr(package, "find", lambda: "pythnn_cuda13")
    monkeypatch.setattr(package, "Package", Other)
    package.load.cache_clear()
    wanted = re.escape("pip install . ./packaging/cuda13")
    with pytest.raises(THNNError, match=f"pythnn-cuda13 0.0.1 does not belong.*{wanted}"):
        package.load()


def test_cupy_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from pythnn._cuda import cupy

    monkeypatch.setattr(cupy, "load", lambda: None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(THNNError, match="pip install cupy-cuda12x or cupy-cuda13x"):
        functional.relu(OnGpu())


def test_a_package_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(package.VARIABLE, "pythnn_cuda_nowhere")
    package.load.cache_clear()
    with pytest.raises(THNNError, match="pythnn_cuda_nowhere cannot be loaded: No module named"):
        Tensor([1.0]).cuda()


def test_nothing_of_cuda_is_imported_before_it_is_needed() -> None:
    code = """
import sys, numpy, pythnn
from pythnn import functional, nn, optim, thnn
x = numpy.ones(3)
functional.mse_loss(x, x)
nn.Linear(3, 2).forward(x)
optim.adam(lambda p: (0.0, p), x, {})
thnn.Abs_updateOutput(None, x, x[::-1].copy())
thnn.Abs_updateOutput(None, x[::-1], x)
pythnn.Tensor(x)
pythnn.synchronize()
found = [name for name in sys.modules if "cuda" in name or "cupy" in name]
assert not found, found
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_parts_for_cuda_have_the_version_of_pythnn() -> None:
    text = (ROOT / "CMakeLists.txt").read_text()
    (version,) = re.findall(r"project\(THNN VERSION ([\d.]+)", text)
    extras = (ROOT / "pyproject.toml").read_text()
    for name in ("cuda12", "cuda13"):
        project = (ROOT / "packaging" / name / "pyproject.toml").read_text()
        assert f'version = "{version}"' in project
        assert f'"pythnn=={version}"' in project
        assert f'"pythnn-{name}=={version}"' in extras

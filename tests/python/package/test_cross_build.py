"""A build for another processor: its BLAS is the target's, never that of the machine it runs on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MODULES = Path(__file__).parents[3] / "cmake"
TOOLCHAINS = {"aarch64-linux-gnu": "aarch64-root", "linux-musl": "musl-root"}
"""What fills the folder that a toolchain file takes the target's libraries from."""
PROJECT = f"""
cmake_minimum_required(VERSION 3.20)
project(cross LANGUAGES NONE)
set(CMAKE_FIND_LIBRARY_PREFIXES lib)
set(CMAKE_FIND_LIBRARY_SUFFIXES .so)
list(APPEND CMAKE_MODULE_PATH "{MODULES}")
find_package(CBLAS REQUIRED)
"""


def configure(folder: Path, root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "CMakeLists.txt").write_text(PROJECT)
    target = ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"]
    here = [f"-DPython_EXECUTABLE={sys.executable}", f"-DCMAKE_FIND_ROOT_PATH={root}"]
    command = ["cmake", "-S", str(folder), "-B", str(folder / "build"), *target, *here, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    if not shutil.which("cmake"):
        pytest.skip("there is no cmake on PATH")
    pytest.importorskip("scipy_openblas32")  # what a build for this machine would find
    made = tmp_path / "root"
    made.mkdir()
    return made


def test_blas_of_this_machine_is_not_taken(tmp_path: Path, root: Path) -> None:
    done = configure(tmp_path, root, "-DTHNN_BLAS=scipy-openblas32")
    assert done.returncode
    words = " ".join(done.stderr.split())
    assert "no BLAS with the CBLAS interface was found" in words
    assert f"scipy-openblas32's wheel for aarch64 into {root}" in words


def test_blas_of_the_target_is_found(tmp_path: Path, root: Path) -> None:
    library = root / "scipy_openblas32/lib/libscipy_openblas.so"
    library.parent.mkdir(parents=True)
    library.touch()
    done = configure(tmp_path, root, "-DTHNN_BLAS=scipy-openblas32")
    assert not done.returncode, done.stderr
    assert f"BLAS: {library}" in done.stdout


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_toolchain_says_what_fills_its_folder(tmp_path: Path, toolchain: str) -> None:
    cmake = shutil.which("cmake")
    if not cmake:
        pytest.skip("there is no cmake on PATH")
    command = [cmake, f"-DTHNN_TARGET={tmp_path}", "-P", str(MODULES / f"{toolchain}.cmake")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode
    assert f"the folder that packaging/{TOOLCHAINS[toolchain]} has filled" in " ".join(
        done.stderr.split()
    )
    assert (MODULES.parent / "packaging" / TOOLCHAINS[toolchain]).is_file()

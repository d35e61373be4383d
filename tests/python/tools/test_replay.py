"""What ctest learns of Python tests that cannot run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.documents import ROOT

SKIPS = 'import pytest\npytest.skip("no device", allow_module_level=True)\n'
PASSES = "def test_nothing():\n    pass\n"
FAILS = "def test_nothing():\n    assert False\n"


def status(folder: Path, *needed: str, **environment: str) -> int:
    of_shell = {k: v for k, v in os.environ.items() if k not in ("CI", "PYTHNN_REQUIRE_GPU")}
    replay = [sys.executable, ROOT / "tests" / "cuda" / "replay.py", folder, *needed]
    done = subprocess.run(
        replay, cwd=folder, env=of_shell | environment, capture_output=True, check=False
    )
    return done.returncode


@pytest.mark.parametrize(
    ("tests", "without", "with_device"),
    [((PASSES,), 0, 0), ((FAILS,), 1, 1), ((SKIPS,), 77, 1), ((PASSES, SKIPS), 77, 1)],
    ids=["passes", "fails", "skips", "skips in part"],
)
def test_modules_that_skip_themselves(
    tests: tuple[str, ...], without: int, with_device: int, tmp_path: Path
) -> None:
    for number, text in enumerate(tests):
        (tmp_path / f"test_{number}.py").write_text(text)
    assert status(tmp_path) == without
    assert status(tmp_path, PYTHNN_REQUIRE_GPU="1") == with_device


def test_packages_that_are_missing(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(PASSES)
    assert status(tmp_path, "no_such_package") == 77
    assert status(tmp_path, "no_such_package", CI="true") == 1

"""The command ``pythnn``."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import pythnn


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "pythnn", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )


def test_info():
    done = run("info")
    assert done.returncode == 0, done.stderr
    for text in (pythnn.__version__, "numpy", "BLAS", "threads", "instruction set", "CUDA"):
        assert text in done.stdout


def test_info_as_json():
    facts = json.loads(run("info", "--json", OMP_NUM_THREADS="1", THNN_SIMD="baseline").stdout)
    assert facts["pythnn"] == pythnn.__version__
    assert facts["threads"].startswith("1 of ")
    assert facts["instruction set"] == "baseline (THNN_SIMD=baseline)"
    assert facts["BLAS"]


def test_narrow_terminal_loses_nothing():
    wide = run("info", COLUMNS="200").stdout.split()
    narrow = run("info", COLUMNS="40").stdout.split()
    assert sorted("".join(wide)) == sorted("".join(narrow))


def test_help_and_version():
    assert "info" in run("--help").stdout
    assert run("-h").stdout == run("--help").stdout
    assert run("--version").stdout.strip().endswith(pythnn.__version__)


@pytest.mark.parametrize("arguments", [["missing"], ["info", "extra"], ["--bad"]])
def test_mistakes(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert "Usage: pythnn" in done.stderr
    assert "Traceback" not in done.stderr


def test_script_is_installed():
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="pythnn")
    assert script.load().name == "main"

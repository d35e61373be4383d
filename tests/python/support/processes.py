"""Tests that go on in processes of their own."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

HELPERS = Path(__file__).parents[1]
"""Where this package lies."""

NUMPY_THREADS = "OPENBLAS_NUM_THREADS"

one_in = 1
"""What ``--one-in`` says to this process, and to those that it starts."""


def import_numpy() -> None:
    """Imports numpy with a BLAS of one thread; pythnn's has as many as ever.

    There is a process of tests for each core. More threads would wait for each other at each
    product, and OpenBLAS's do so without letting others run: longer than the products take.
    """
    given = os.environ.get(NUMPY_THREADS)
    os.environ[NUMPY_THREADS] = "1"  # read when the library is loaded
    import_module("numpy")
    del os.environ[NUMPY_THREADS]
    if given is not None:
        os.environ[NUMPY_THREADS] = given


def importing(file: str) -> dict[str, str]:
    """The environment of a process that imports this file of tests, and with it the helpers."""
    folders = [str(Path(file).parent), str(HELPERS), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}


def run_again(level: str, *tests: str, poisoned: bool = False) -> None:
    """Runs tests with an instruction set, if the processor has it, in a process of their own.

    `tests` are files, ``file::test``, or options of pytest. In a `poisoned` process fresh memory
    holds garbage: nothing is read that was not written.
    """
    if level != "baseline" and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("this processor has one instruction set")
    environment = {**os.environ, "THNN_SIMD": level}
    if poisoned:
        environment["MALLOC_PERTURB_"] = "128"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += [f"--one-in={one_in}", *tests]
    done = subprocess.run(command, env=environment, cwd=HELPERS, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()[-4000:]

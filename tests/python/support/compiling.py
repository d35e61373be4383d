"""C code of the tests."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def c_compiler() -> str:
    """A C compiler's path. Whoever has built the library has one: without it these tests fail."""
    names = [os.environ.get("CC"), "cc", "gcc", "clang"]
    found = next(filter(None, (shutil.which(name) for name in names if name)), None)
    assert found, "no C compiler on PATH: set CC to the one that has built the library"
    return found


@functools.cache
def library(source: Path) -> ctypes.CDLL:
    """The functions of a C file, compiled once."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = Path(folder) / f"{source.stem}.so"
    flags = ["-O1", "-shared", "-fPIC", "-o", str(made)]
    subprocess.run([c_compiler(), *flags, str(source)], check=True)
    return ctypes.CDLL(str(made))

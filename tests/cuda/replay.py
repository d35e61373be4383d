"""Runs the Python tests of a folder for ctest: status 77 where a module that they need is missing.

replay.py FOLDER MODULE…
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec


def run(folder: str, *needed: str) -> int:
    missing = [name for name in ("pytest", *needed) if find_spec(name) is None]
    if missing:
        print(f"these tests need more: pip install {' '.join(missing)}")
        return 77
    # What a crash says goes to the file descriptor: it must not be captured.
    status: int = import_module("pytest").main(["-q", "--capture=sys", folder])
    return status


sys.exit(run(*sys.argv[1:]))

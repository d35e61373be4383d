"""Runs the Python tests of this folder for ctest: status 77 where pytest or numpy is missing."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

if not (find_spec("pytest") and find_spec("numpy")):
    print("the recorded calls are replayed with pytest and numpy: pip install pytest numpy")
    sys.exit(77)

import pytest

sys.exit(pytest.main(["-q", str(Path(__file__).parent)]))

"""The CUDA tests use the recorded calls and the header parser of the other tests."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))
sys.path.insert(0, str(ROOT / "pythnn" / "_build"))

"""The CUDA tests use the header parser of the build."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "pythnn" / "_build"))

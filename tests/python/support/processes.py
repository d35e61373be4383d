"""Tests that go on in processes of their own."""

from __future__ import annotations

import os
from pathlib import Path

HELPERS = Path(__file__).parents[1]
"""Where this package lies."""


def importing(file: str) -> dict[str, str]:
    """The environment of a process that imports this file of tests, and with it the helpers."""
    folders = [str(Path(file).parent), str(HELPERS), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}

"""The Python in the document about GPUs runs, and prints what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.documents import run_examples


@pytest.mark.usefixtures("xp")
def test_examples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    run_examples("docs/gpu.md")

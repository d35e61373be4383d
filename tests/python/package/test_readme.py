"""The README's examples run as written, one after the other."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from support.documents import ROOT, blocks_of, commands_of, prepare, run_examples

README = (ROOT / "README.md").read_text()


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prepare()
    assert len(blocks_of(README, "python")) >= 3
    assert len(commands_of(README)) >= 6
    run_examples("README.md")


def test_first_screen() -> None:
    """What it is, in one sentence that needs no THNN; a picture; how to install it."""
    screen = README.splitlines()[:36]
    sentence = screen[2]
    assert re.fullmatch(r"\*\*[^.]+\.\*\*", sentence)
    assert "THNN" not in sentence
    assert any(line.startswith("![") for line in screen)
    assert "pip install ." in screen


def test_picture_is_of_a_terminal() -> None:
    picture = (ROOT / "docs" / "images" / "terminal.svg").read_text()
    shown = html.unescape(re.sub(r"<[^>]+>", "", picture)).replace("\xa0", " ")
    assert "$ pythnn inspect" in shown
    assert "$ pythnn run" in shown
    assert "nn.SpatialConvolution" in shown
    assert "url(http" not in picture  # it loads nothing


def test_table_of_options_is_complete() -> None:
    declared: set[str] = set()
    for file in [
        ROOT / "CMakeLists.txt",
        *ROOT.glob("cmake/*.cmake"),
        *ROOT.glob("thnn/**/CMakeLists.txt"),
    ]:
        text = file.read_text()
        advanced = set(re.findall(r"mark_as_advanced\((\w+)", text))
        found = re.findall(r"^\s*option\(\s*(\w+)", text, re.MULTILINE)
        found += re.findall(r"^\s*set\(\s*(\w+)[^)]*?\bCACHE\b", text, re.MULTILINE)
        declared |= {name for name in found if name.startswith("THNN_")} - advanced
    page = (ROOT / "docs" / "c.md").read_text()
    rows = re.findall(r"^\| `(THNN_\w+)`", page, re.MULTILINE)
    assert len(declared) >= 8
    assert declared == set(rows)


@pytest.mark.parametrize("target", re.findall(r"\]\(((?!http)[^)]+)\)", README))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()

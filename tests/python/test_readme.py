"""The README's examples run as written, one after the other."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()

_BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _run(code: str, names: dict[str, Any]) -> str:
    """What a block prints; of an error, the line that Python would end with."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(code, "README.md", "exec"), names)  # noqa: S102
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return printed.getvalue()


def test_examples() -> None:
    blocks = _BLOCK.findall(README)
    assert [language for language, _ in blocks].count("python") >= 3
    names: dict[str, Any] = {}
    output = ""
    for language, content in blocks:
        if language == "text":
            assert output == content
            output = ""
            continue
        assert output == "", "what an example prints, or its error, is not in the README"
        output = _run(content, names)
    assert output == ""


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
    rows = re.findall(r"^\| `(\w+)`", README, re.MULTILINE)
    assert len(declared) >= 8
    assert declared == set(rows)


@pytest.mark.parametrize("target", re.findall(r"\]\(((?!http)[^)]+)\)", README))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()

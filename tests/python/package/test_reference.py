"""The reference of the documentation: complete, with the signature of every class."""

from __future__ import annotations

import html
import importlib
import inspect
import os
import re
import sys
from pathlib import Path

import pytest
from support.documents import ROOT

from pythnn import functional, nn

CLASSES = [name for name in nn.__all__ if isinstance(getattr(nn, name), type)]
WITH_ARGUMENTS = [name for name in CLASSES if not issubclass(getattr(nn, name), Warning)]
MODULES = [
    f"pythnn{name}"
    for name in ("", ".distributed", ".functional", ".nn", ".onnx", ".optim", ".t7", ".thnn")
]


def test_every_class_is_described_once():
    pages = (ROOT / "docs" / "reference" / "nn").glob("*.md")
    described = [
        n
        for p in pages
        for n in re.findall(r"^\.\. auto(?:class|exception):: (\w+)$", p.read_text(), re.M)
    ]
    assert sorted(described) == sorted(CLASSES)


def test_every_function_is_described_once():
    page = (ROOT / "docs" / "reference" / "functional.md").read_text()
    described = re.findall(r"^\.\. autofunction:: (\w+)$", page, re.MULTILINE)
    public = [name for name in vars(functional) if callable(getattr(functional, name))]
    assert sorted(described) == sorted(name for name in public if not name.startswith("_"))


@pytest.mark.skipif(
    sys.version_info < (3, 11, 5), reason="inspect prefers the arguments of __new__ in a base"
)
@pytest.mark.parametrize("name", WITH_ARGUMENTS)
def test_every_class_has_a_docstring_and_a_signature(name):
    cls = getattr(nn, name)
    assert inspect.getdoc(cls)
    parameters = inspect.signature(cls).parameters
    assert name == "Object" or "named" not in parameters  # those of __new__, which takes anything


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_module_docstrings_are_code(name):
    """A block is indented, and the paragraph before it ends with two colons."""
    paragraph = ""
    for part in inspect.getdoc(importlib.import_module(name)).split("\n\n"):
        if part.startswith("    "):
            assert paragraph.endswith("::") or paragraph.startswith("    "), part
        else:
            assert not re.match(r"(from|import) \w+|\w[\w.]* = \w+[.(]|\w+\.\w+\(", part), part
        paragraph = part


# ---- The pages as a browser gets them


@pytest.fixture(scope="module")
def built():
    """The documentation as HTML, in the folder PYTHNN_DOCS."""
    if "PYTHNN_DOCS" not in os.environ:
        pytest.skip("make docs builds the documentation and looks at it")
    return Path(os.environ["PYTHNN_DOCS"])


def articles(folder: Path):
    """The name and the content of each page that is written by hand."""
    for file in sorted(folder.rglob("*.html")):
        if file.name not in ("genindex.html", "search.html", "py-modindex.html"):
            text = file.read_text("utf-8")
            yield str(file.relative_to(folder)), text[text.index("<article") :]


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", page))


def test_signatures_on_the_pages(built):
    shown = {}
    for _, page in articles(built / "reference" / "nn"):
        for name, rest in re.findall(
            r'<dt class="sig[^>]*id="pythnn\.nn\.(\w+)">(.*?)</dt>', page, re.S
        ):
            shown[name] = text_of(rest)
    assert set(CLASSES) <= set(shown)
    assert all("(" in shown[name] for name in WITH_ARGUMENTS)
    assert "inputSize: int, outputSize: int, bias: bool = True" in " ".join(shown["Linear"].split())
    assert not [name for name in CLASSES if "**" in shown[name]]


def test_classes_can_be_searched(built):
    found = (built / "searchindex.js").read_text("utf-8")
    assert not [name for name in CLASSES if f'"{name}"' not in found]


def test_pages_show_no_markup(built):
    for name, page in articles(built):
        assert 'class="problematic"' not in page, name
        assert not re.search(r"<blockquote>\s*<div>\s*<p>(from|import) ", page), name
        prose = text_of(re.sub(r"<(pre|code).*?</\1>", "", page, flags=re.S))
        assert not re.search(r"\]\(|:\w+:`|^\s*\|.*\|", prose), name


def test_all_lines_are_on_the_pages(built):
    """Each line of prose is found again, so that no markup has swallowed one."""

    def signs(text: str) -> str:
        return re.sub(r"[^a-z0-9%]+", "", text.lower())

    for source in (ROOT / "docs").glob("*.md"):
        page = signs(text_of((built / f"{source.stem}.html").read_text("utf-8")))
        prose = re.sub(r"^```.*?^```$|<!--.*?-->", "", source.read_text(), flags=re.M | re.S)
        prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"!\[[^\]]*\]\([^)]*\)", "", prose))
        for line in prose.splitlines():
            if not line.startswith(("|", "!", "<")):
                assert signs(line) in page, (source.name, line)

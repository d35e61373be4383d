"""The Python in the documents runs and prints what they show; commands work as written."""

from __future__ import annotations

import ast
import inspect
import os
import re
from pathlib import Path

import pytest
from support.documents import (
    ROOT,
    blocks_of,
    check_command,
    commands_of,
    links_of,
    prepare,
    prose_of,
    run_examples,
    tables_of,
)

from pythnn import State, functional, nn

PAGES = sorted(
    str(file.relative_to(ROOT))
    for folder in ("docs", "docs/reference", "docs/reference/nn")
    for file in (ROOT / folder).glob("*.md")
)
MORE_PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "packaging/README.md"]
NEEDS_GPU = "docs/gpu.md"  # tests/gpu runs its Python
WITH_PYTHON = [
    name for name in PAGES if blocks_of((ROOT / name).read_text(), "python") and name != NEEDS_GPU
]


@pytest.fixture
def classes_as_before():
    """Forgets the classes that an example registers."""
    known = dict(nn.registry)
    yield
    nn.registry.clear()
    nn.registry.update(known)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What commands of the documents work on."""
    monkeypatch.chdir(tmp_path)
    prepare()


def test_most_pages_have_examples():
    assert len(WITH_PYTHON) >= 10


@pytest.mark.usefixtures("classes_as_before", "folder")
@pytest.mark.parametrize("name", WITH_PYTHON)
def test_examples(name):
    run_examples(name)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "name", [n for n in [*PAGES, *MORE_PAGES] if n not in (*WITH_PYTHON, "README.md")]
)
def test_commands(name):
    for line in commands_of((ROOT / name).read_text()):
        check_command(line)


# ---- What markup would swallow or break


@pytest.mark.parametrize("name", [*PAGES, *MORE_PAGES])
def test_no_line_is_a_comment_of_myst(name):
    """A line that begins with %, or +++, is left out of the page."""
    for line in prose_of((ROOT / name).read_text()).splitlines():
        assert not re.match(r" {0,3}(%|\+\+\+)", line), line


@pytest.mark.parametrize("name", [*PAGES, *MORE_PAGES])
def test_code_is_fenced(name):
    """Of a block that is only indented, nobody knows the language, and no test runs it."""
    before = ""
    for line in prose_of((ROOT / name).read_text()).splitlines():
        assert not (re.match(r" {4}", line) and before == ""), line
        before = line.strip()


@pytest.mark.parametrize("name", [*PAGES, *MORE_PAGES])
def test_tables_have_the_same_columns_in_each_row(name):
    text = (ROOT / name).read_text()
    for table in tables_of(text):
        assert len(table) >= 2, table
        assert all(re.fullmatch(r"\s*:?-+:?\s*", cell) for cell in table[1]), table[:2]
        assert {len(row) for row in table} == {len(table[0])}, table
    for line in re.findall(r"^[^|\n]+\n\|.*\|$", prose_of(text), re.MULTILINE):
        pytest.fail(f"a table needs an empty line before it: {line}")


def anchors_of(text: str) -> set[str]:
    """The anchors of a page's headings, as MyST and GitHub make them."""
    headings = re.findall(r"^#+ (.+)$", prose_of(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", [*PAGES, *MORE_PAGES])
def test_links_lead_somewhere(name):
    file = ROOT / name
    for link in links_of(file.read_text()):
        path, _, anchor = link.partition("#")
        target = Path(os.path.normpath(file.parent / path)) if path else file
        assert target.exists(), link
        if anchor:
            assert anchor in anchors_of(target.read_text()), link


@pytest.mark.parametrize("name", PAGES)
def test_calls_in_tables_fit_the_functions(name):
    """Those of `functional` and of State in the last column: names, numbers and keywords."""
    calls = 0
    for line in (ROOT / name).read_text().splitlines():
        if not line.startswith("|"):
            continue
        for code in re.findall(r"`([^`]*)`", line.rpartition(" | ")[2]):
            # An ellipsis stands for more arguments, or is one.
            text = re.sub(r"=…", "=None", re.sub(r"(?<=[(,])( ?)…", r"\1*_", code))
            try:
                tree = ast.parse(text)
            except SyntaxError:
                assert "F." not in code, code
                continue
            for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
                function = ast.unparse(call.func)
                if not function.startswith("F.") and function != "State":
                    continue
                known = getattr(functional, function[2:]) if "." in function else State
                given = [a for a in call.args if not isinstance(a, ast.Starred)]
                named = {keyword.arg: None for keyword in call.keywords}
                signature = inspect.signature(known)
                bind = signature.bind_partial if len(given) < len(call.args) else signature.bind
                bind(*given, **named)
                calls += 1
    assert calls >= (100 if name == "docs/coming-from.md" else 0)


def test_every_page_is_in_the_contents():
    listed = set()
    for name in PAGES:
        for _, block in blocks_of((ROOT / name).read_text(), "{toctree}"):
            folder = (ROOT / name).parent
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {os.path.relpath(folder / f"{entry}.md", ROOT) for entry in entries}
    assert listed | {"docs/index.md"} == set(PAGES)


@pytest.mark.parametrize("name", [*PAGES, *MORE_PAGES])
def test_pip_never_asks_an_index_for_pythnn(name):
    text = (ROOT / name).read_text()
    assert not re.search(r"pip install[^\n`]*[ '\"]pythnn", text)

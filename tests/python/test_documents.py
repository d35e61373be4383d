"""The Python in the documents runs, and prints what they show."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from pythnn import nn

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    "docs/freezing.md",
    "docs/functional.md",
    "docs/lua-torch.md",
    "docs/nn.md",
    "docs/onnx.md",
    "docs/optim.md",
    "docs/python.md",
    "docs/t7.md",
    "docs/torch-legacy-nn.md",
    "docs/tutorial.md",
]


@pytest.fixture
def classes_as_before():
    """Forgets the classes that an example registers."""
    known = dict(nn.registry)
    yield
    nn.registry.clear()
    nn.registry.update(known)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_examples(name, classes_as_before):  # noqa: ARG001
    run_examples(name)


def run_examples(name: str) -> None:
    """Runs the Python of a document, and compares what it prints with what is shown."""
    text = (ROOT / name).read_text()
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert [kind for kind, _ in blocks].count("python") > 2
    scope: dict[str, object] = {}
    for i, (kind, code) in enumerate(blocks):
        if kind != "python":
            continue
        shown = blocks[i + 1][1] if i + 1 < len(blocks) and blocks[i + 1][0] == "text" else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(code, f"{name}, block {i}", "exec"), scope)  # noqa: S102
            except Exception as error:
                if shown is None:
                    raise
                print(f"{type(error).__name__}: {error}")
        if shown is not None:
            assert printed.getvalue() == shown

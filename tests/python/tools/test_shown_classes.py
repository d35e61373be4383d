"""``pythnn inspect`` and ``pythnn report`` of an object of each class of the packages beside nn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.package_examples import EXAMPLES

import pythnn
from pythnn._cli import main

# Modules that noise is no input for, and why.
NOT_OF_NOISE = {
    "LookupRNN": "takes indices without more dimensions, and a batch of them",
    "NeuraltalkLanguageModel": "takes sentences of words x batch",
    "inn.ROIPooling": "takes boxes, and which image each is in",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)


def done(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def used(name: str) -> Any:
    """An object that has been called, as models of checkpoints are."""
    pythnn.manual_seed(2)
    example = EXAMPLES[name]
    made = example.build()
    if example.target is not None:
        made.forward(example.input, example.target)
    elif example.steps:
        for step in example.input:
            made.forward(step)
    else:
        made.forward(example.input)
    pythnn.save("used.t7", made)
    return made


def flat(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [array for entry in value for array in flat(entry)]
    return [value]


def options_for(name: str) -> list[str]:
    """``--input`` for each array of the example, without the batch that commands put in front."""
    example = EXAMPLES[name]
    given = example.input[0] if example.steps else example.input
    return [
        part
        for array in flat(given)
        for part in ("--input", "x".join(map(str, array.shape[1:])) or "1")
    ]


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_class(name: str) -> None:
    made = used(name)
    assert made.typename() in done("inspect", "used.t7")
    done("report", "used.t7", "-o", "page.html")
    assert made.typename() in Path("page.html").read_text("utf-8")


@pytest.mark.parametrize(
    "name", [n for n, e in EXAMPLES.items() if e.target is None and n not in NOT_OF_NOISE]
)
def test_each_module_on_an_input(name: str) -> None:
    used(name)
    given = options_for(name)
    result = CliRunner().invoke(main, ["inspect", "used.t7", *given])
    assert result.exit_code == 0, result.output[-300:]
    done("report", "used.t7", *given, "-o", "page.html")
    assert "Not run" not in Path("page.html").read_text("utf-8")

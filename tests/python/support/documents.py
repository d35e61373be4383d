"""Markdown as documents use it: blocks of code, tables, links, and the commands in them."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from PIL import Image

import pythnn
from pythnn import nn
from pythnn._cli import main

__all__ = [
    "ROOT",
    "blocks_of",
    "check_command",
    "commands_of",
    "links_of",
    "prepare",
    "prose_of",
    "run_examples",
    "tables_of",
]

ROOT = Path(__file__).resolve().parents[3]

_BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(text: str, *languages: str) -> list[tuple[str, str]]:
    """The blocks of code in these languages, each with its language."""
    return [(kind, code) for kind, code in _BLOCK.findall(text) if kind in languages]


def prose_of(text: str) -> str:
    """A document without its blocks of code."""
    return _BLOCK.sub("", text)


def tables_of(text: str) -> Iterator[list[list[str]]]:
    """The tables, as rows of cells."""
    for table in re.findall(r"(?:^\|.*\n)+", prose_of(text) + "\n", re.MULTILINE):
        lines = re.sub(r"`[^`\n]*`|\\\|", "code", table).splitlines()  # | within is no border
        yield [line.strip().strip("|").split("|") for line in lines]


def links_of(text: str) -> list[str]:
    """The targets of links and pictures, without those of the web."""
    return re.findall(r"\]\(((?!https?://)[^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose_of(text)))


def commands_of(text: str) -> list[str]:
    """The commands in blocks of shell, without comments."""
    lines = [line for _, block in blocks_of(text, "sh") for line in block.splitlines()]
    return [line for line in lines if shlex.split(line, comments=True)]


def prepare() -> None:
    """Writes what commands work on: a model of images, a photograph, and labels."""
    model = nn.Sequential(
        nn.SpatialConvolution(3, 4, 3, 3), nn.ReLU(True), nn.SpatialAdaptiveAveragePooling(1, 1)
    )
    pythnn.save("model.t7", model.add(nn.View(4)).add(nn.Linear(4, 5)).add(nn.LogSoftMax()))
    colours = np.random.default_rng(0).integers(0, 256, (60, 80, 3), np.uint8)
    Image.fromarray(colours).save("photo.jpg")
    Path("labels.txt").write_text("a\nb\nc\nd\ne\n")


def run_examples(name: str) -> None:
    """Runs the Python and the commands of a document; compares what is printed with the text."""
    text = (ROOT / name).read_text()
    blocks = blocks_of(text, "python", "text", "sh")
    scope: dict[str, object] = {}
    for i, (kind, code) in enumerate(blocks):
        if kind == "sh":
            for line in commands_of(f"```sh\n{code}```"):
                check_command(line)
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
            assert printed.getvalue() == shown, f"{name}, block {i}: {printed.getvalue()}"


def check_command(line: str) -> None:
    """Runs a command of pythnn in the current folder; of others, looks at what they name."""
    program, *arguments = shlex.split(line, comments=True)
    if program == "pythnn":
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, (line, result.output)
        return
    if program.startswith("build/"):
        _check_built(program, arguments)
        return
    checks = {
        "pip": _check_pip,
        "make": _check_make,
        "cmake": _check_cmake,
        "python": _check_python,
        "pytest": _check_pytest,
        "ctest": lambda _: None,
        "mpirun": lambda words: check_command(shlex.join(words[2:])),  # after -n N
        "srun": _check_srun,
    }
    assert program in checks, f"nobody checks this command: {line}"
    checks[program](arguments)


def _check_built(program: str, arguments: list[str]) -> None:
    """A program of the C tests, as build/NAME/FOLDER/PROGRAM: the folder must build it, and know
    the options."""
    folder, name = Path(*Path(program).parts[2:-1]), Path(program).name
    assert name in (ROOT / folder / "CMakeLists.txt").read_text(), program
    sources = "\n".join(file.read_text() for file in (ROOT / folder).glob("*.c"))
    for option in arguments:
        if option.startswith("--"):
            assert f'"{option}"' in sources, (program, option)


def _check_pip(arguments: list[str]) -> None:
    """Folders must be packages with the extras that are asked for; pythnn itself is on no index."""
    command, *rest = arguments
    assert command in ("install", "wheel"), arguments
    values = iter(rest)
    for argument in values:
        if argument.startswith("--"):
            if argument in ("--wheel-dir", "--index-url"):
                next(values)
        elif argument.startswith("."):
            folder, _, extras = argument.partition("[")
            project = (ROOT / folder / "pyproject.toml").read_text()
            for extra in filter(None, extras.rstrip("]").split(",")):
                assert re.search(rf"^{extra} = \[", project, re.MULTILINE), argument
        else:
            assert argument.endswith(".whl") or not argument.startswith("pythnn"), argument


def _check_make(arguments: list[str]) -> None:
    targets = [argument for argument in arguments if "=" not in argument]
    rules = (ROOT / "Makefile").read_text()
    for target in targets:
        assert re.search(rf"^{re.escape(target)}:", rules, re.MULTILINE), target


def _check_srun(arguments: list[str]) -> None:
    """Slurm's options, then a command."""
    check_command(shlex.join(dropwhile(lambda word: word.startswith("--"), arguments)))


def _check_cmake(arguments: list[str]) -> None:
    files = [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake"), *ROOT.glob("thnn/**/*.txt")]
    known = "\n".join(file.read_text() for file in files)
    for argument in arguments:
        if argument.startswith("-D") and not argument.startswith("-DCMAKE_"):
            name = argument[2:].partition("=")[0]
            assert re.search(rf"\b{name}\b", known), argument


def _check_pytest(arguments: list[str]) -> None:
    """Files must be there; options must be the tests' own, each with a value."""
    own = (ROOT / "tests/python/conftest.py").read_text()
    values = iter(arguments)
    for argument in values:
        if argument.startswith("--"):
            assert f'"{argument}"' in own, argument
            next(values)
        else:
            assert (ROOT / argument).exists(), argument


def _check_python(arguments: list[str]) -> None:
    """Scripts and modules of the repository must exist, and know the options."""
    if arguments[0] == "-m":
        path = ROOT.joinpath(*arguments[1].split("."))
        file = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__main__.py"
        options = arguments[2:]
    else:
        file, options = ROOT / arguments[0], arguments[1:]
    text = file.read_text()
    for option in options:
        if option.startswith("--"):
            assert f'"{option}"' in text, (file, option)

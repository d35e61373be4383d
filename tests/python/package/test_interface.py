"""What a compiled program relies on: the types and functions of the public headers."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest
from support.compiling import c_compiler

ROOT = Path(__file__).parents[3]
BASELINE = ROOT / "tests/data/api/interface.txt"
HEADERS = ("THNNSimd.h",)  # beside those that the Python package is built from


def script(name: str):
    source = str(ROOT / "pythnn")
    if source not in sys.path:
        sys.path.append(source)  # at the end: its modules must hide nothing
    return importlib.import_module(f"_build.{name}")


def interface() -> list[str]:
    """The declarations of the headers, sorted, one a line."""
    headers, public = script("headers"), script("generate").PUBLIC_HEADERS
    folder = ROOT / "thnn"
    text = headers.preprocess([c_compiler()], [folder], [*public, *HEADERS])
    header = headers.parse(text, folder)
    types = {line for text in header.types for line in parts(" ".join(text.split()))}
    functions = {f"function: {f.prototype()};" for f in header.functions}
    return sorted(types) + sorted(header.variables) + sorted(functions)


def parts(declaration: str) -> list[str]:
    """Constants with values one by one, since more of them harm nobody; other types whole."""
    found = re.fullmatch(r"typedef (enum \w+) \{ ((?:\w+ = \w+(?: , )?)+) \} \w+ ;", declaration)
    if not found:
        return [declaration]
    name, constants = found.groups()
    return [f"{name}: {constant.strip()}" for constant in constants.split(",")]


def test_programs_of_before_still_run() -> None:
    """A line of the baseline that goes or changes needs new SONAMEs; new lines harm nobody."""
    if not (ROOT / "thnn").is_dir():
        pytest.skip("the tests stand alone, without the headers")
    now = set(interface())
    gone = [line for line in BASELINE.read_text().splitlines() if line not in now]
    assert not gone, "compiled programs rely on what is not there any more:\n" + "\n".join(gone)


NEEDS_NO_MEMORY = {
    "Storage": "retain setFlag clearFlag data size elementSize set get fill swap copy rawCopy",
    "Tensor": "storage storageOffset nDimension size stride data nElement sizeDesc isContiguous "
    "isSameSizeAs isSetTo isSize get1d get2d get3d get4d set1d set2d set3d set4d retain setFlag "
    "clearFlag freeCopyTo copyFloat copyDouble copyLong copyInt zero sumall minall maxall dot "
    "bernoulli geometric uniform normal exponential cauchy logNormal",
}
"""Functions of libTH that allocate nothing."""


def test_every_function_of_libth_has_its_allocations_fail() -> None:
    if not (ROOT / "thnn").is_dir():
        pytest.skip("the tests stand alone, without the headers")
    calls = (ROOT / "tests/c/TH/failing.c").read_text()
    named = re.findall(
        r"^function: .*\bTHDouble(Tensor|Storage)_(\w+)\(", "\n".join(interface()), re.M
    )
    assert len(named) > 100
    missing = [
        f"TH{kind}_({name})"
        for kind, name in named
        if f"TH{kind}_({name})" not in calls and name not in NEEDS_NO_MEMORY[kind].split()
    ]
    assert not missing


if __name__ == "__main__":  # writes the baseline
    BASELINE.write_text("".join(f"{line}\n" for line in interface()))

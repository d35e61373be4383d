"""What type checkers and editors see of nn: constructors, ``add`` and methods have types."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pythnn import nn
from pythnn.nn import Object

CLASSES = sorted(name.removeprefix("nn.") for name in nn.registry if name.startswith("nn."))

EXAMPLE = """
import numpy as np
from typing_extensions import assert_type
from pythnn import nn

layer = nn.Linear(2, 3)
assert_type(layer, nn.Linear)
assert_type(nn.Sequential(layer, nn.ReLU()), nn.Sequential)
assert_type(nn.Sequential().add(layer).add(nn.ReLU()), nn.Sequential)
assert_type(nn.Concat(2, layer), nn.Concat)
assert_type(nn.MultiCriterion().add(nn.MSECriterion(), 0.5), nn.MultiCriterion)
assert_type(layer.float(), nn.Linear)
assert_type(layer.type(np.float32), nn.Linear)
assert_type(layer.type(), str)
assert_type(layer.clone("weight"), nn.Linear)
assert_type(layer.clearState(), nn.Linear)
assert_type(nn.SpatialMaxPooling(2, 2).ceil(), nn.SpatialMaxPooling)
assert_type(nn.SpatialConvolution(3, 4, 3, 3).noBias(), nn.SpatialConvolution)
assert_type(nn.View(3).setNumInputDims(1), nn.View)
assert_type(layer.listModules(), list[nn.Module])
assert_type(nn.Identity()(), nn.Node)
assert_type(layer(nn.Identity()()), nn.Node)
assert_type(nn.gModule([nn.Identity()()], [nn.Identity()()]), nn.gModule)
nn.Linear(2)
nn.Linear("x", 3)
nn.Linear(2, 3, colour=1)
nn.Sequential(3)
nn.Sequential().add("x")
nn.Sequential().add(nn.ReLU)
nn.MultiCriterion().add(layer)
"""
ERRORS = 7
"""The last lines of the example are wrong."""


def test_examples_for_a_type_checker(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is installed by make lint, which runs this test")
    example = tmp_path / "example.py"
    example.write_text(EXAMPLE)
    package = Path(importlib.util.find_spec("pythnn").origin).parents[1]  # type: ignore[union-attr, arg-type]
    sources = {**os.environ, "MYPYPATH": str(package)}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), str(example)],
        capture_output=True,
        text=True,
        env=os.environ if "site-packages" in package.parts else sources,
        check=False,
    )
    found = [int(line) for line in re.findall(r"example\.py:(\d+): error:", done.stdout)]
    last = EXAMPLE.count("\n")
    assert found == list(range(last - ERRORS + 1, last + 1)), done.stdout + done.stderr


def test_constructors_give_their_class() -> None:
    assert inspect.signature(Object.__new__).return_annotation == "Self"


@pytest.mark.parametrize("name", CLASSES)
def test_signatures_have_types(name: str) -> None:
    cls = getattr(nn, name)
    for method, function in _public_methods(cls):
        signature = inspect.signature(function)
        for parameter in list(signature.parameters.values())[1:]:
            assert parameter.annotation is not parameter.empty, f"{method}: {parameter}"
        assert signature.return_annotation is not signature.empty, method
    for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        assert parameter.annotation != "Any", parameter


def _public_methods(cls: type) -> list[tuple[str, Any]]:
    return [
        (name, function)
        for name, function in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_") or name == "__init__"
    ]


@pytest.mark.parametrize("name", CLASSES)
def test_methods_that_return_the_object_say_so(name: str) -> None:
    for method, function in _public_methods(getattr(nn, name)):
        said = re.search(r"returns? (itself|the container|this one)", function.__doc__ or "")
        if said and method not in ("reset", "type"):
            assert inspect.signature(function).return_annotation == "Self", method

"""The classes of nn against the facts of Lua Torch's: parents, arguments, defaults, methods."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from pythnn import nn

FACTS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "data" / "api" / "nn_modules.json").read_text()
)["classes"]
# Methods that are Lua's way of doing what Python does by other means, or serve only inside a class.
INNER = {
    "__assertInput",
    "__assertInputGradOutput",
    "__call__",
    "__len",
    "__tostring__",
    "__version",
    "accUpdateOnly",
    "applyToModules",
    "b",
    "backCompatibility",
    "bf",
    "bt",
    "buildConverter",
    "checkInputDim",
    "cuda",
    "cudaDouble",
    "cudaHalf",
    "decorate",
    "default",
    "empty",
    "findAxis",
    "flatten",
    "flattenInputs",
    "getBufferSize_",
    "getOutputSizes_",
    "initSampleBuffer_",
    "longTensor",
    "makeInputContiguous",
    "nDim",
    "newId",
    "permuteIn",
    "permuteOut",
    "recursiveIsNaN",
    "recursiveModuleDevice",
    "recursiveSetDevice",
    "resetSize",
    "reshapeInput",
    "rethrowErrors",
    "transpose",
    "updateAddBuffer",
    "updateGradInput_efficient",
    "updateWeightMatrix",
    "windowNarrow",
}
LITERALS = {"true": True, "false": False}
# Arguments whose absence means something else than their default.
NO_DEFAULT = {("IndexLinear", "keysOffset")}


def class_of(fact: dict[str, Any]) -> Any:
    return nn.registry[f"nn.{fact['class']}"]


by_class = pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["class"])


@by_class
def test_parent(fact: dict[str, Any]) -> None:
    parent = fact.get("parent")
    if parent is not None:
        assert parent in [base.__name__ for base in class_of(fact).__mro__[1:]]


@by_class
def test_arguments(fact: dict[str, Any]) -> None:
    cls = class_of(fact)
    wanted = fact["constructor"]
    if not wanted and parent_has_arguments(fact):
        return
    found = list(inspect.signature(cls.__init__).parameters.values())[1:]
    if wanted and wanted[0]["name"] == "...":
        assert [p.kind for p in found] == [inspect.Parameter.VAR_POSITIONAL]
        return
    named = [p for p in found if p.kind is not inspect.Parameter.VAR_POSITIONAL]
    assert [p.name.rstrip("_") for p in named] == [argument["name"] for argument in wanted]
    for parameter, argument in zip(named, wanted, strict=True):
        if (fact["class"], argument["name"]) not in NO_DEFAULT:
            check_default(parameter, argument)


def parent_has_arguments(fact: dict[str, Any]) -> bool:
    """Such as SpatialBatchNormalization: the constructor is the parent's."""
    parents = [other for other in FACTS if other["class"] == fact.get("parent")]
    return any(parent["constructor"] for parent in parents)


def check_default(parameter: inspect.Parameter, argument: dict[str, Any]) -> None:
    is_optional = parameter.default is not inspect.Parameter.empty
    assert is_optional == bool(argument.get("optional")), parameter
    text = argument.get("default")
    if text is None:
        return
    try:
        default = LITERALS[text] if text in LITERALS else float(text)
    except ValueError:
        default = text.strip("'\"") if text[0] in "'\"" else None  # None: another argument's value
    if default is not None:
        assert parameter.default == default, parameter


@by_class
def test_methods(fact: dict[str, Any]) -> None:
    cls = class_of(fact)
    public = {name for name in fact["methods_overridden"] if not name.startswith("_")} - INNER
    assert not [name for name in sorted(public) if not callable(getattr(cls, name, None))]


@by_class
def test_steps_with_shared_parameters(fact: dict[str, Any]) -> None:
    name = "sharedAccUpdateGradParameters"
    if name in fact["methods_overridden"] and fact["class"] != "Module":
        assert getattr(class_of(fact), name) is not getattr(nn.Module, name)


@by_class
def test_everything_is_described(fact: dict[str, Any]) -> None:
    assert class_of(fact).__doc__

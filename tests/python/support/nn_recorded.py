"""What Lua Torch's modules did, case by case: building the modules and comparing.

``tests/data/nn/README.md`` describes the files. Nothing here knows a class: a test replays
whatever a file says.
"""

from __future__ import annotations

import copy
import functools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import pythnn
from pythnn import nn
from pythnn._random import default_generator
from support.recorded import lay_out

DATA = Path(__file__).parents[2] / "data" / "nn"
DTYPES = {"torch.DoubleTensor": np.float64, "torch.FloatTensor": np.float32}
TOLERANCES = {"torch.DoubleTensor": 1e-12, "torch.FloatTensor": 1e-5}
"""What the recordings ask for, relative to their magnitudes (``tests/data/nn/README.md``)."""


@functools.cache
def read(stem: str) -> list[dict[str, Any]]:
    """The cases of a class."""
    cases: list[dict[str, Any]] = json.loads((DATA / f"{stem}.json").read_text())["cases"]
    return cases


@functools.cache
def arrays(stem: str) -> dict[str, np.ndarray]:
    with np.load(DATA / f"{stem}.npz") as file:
        return {name: file[name] for name in file.files}


def classes() -> list[str]:
    """The classes with recorded cases."""
    return sorted(path.stem for path in DATA.glob("*.json") if path.stem != "scenarios")


def names(kind: str) -> list[str]:
    """The names of all cases of a kind."""
    return [case["name"] for stem in classes() for case in read(stem) if case["kind"] == kind]


class Replay:
    """A case, and how its values read.

    With ``type`` other than the recorded one, all tensors of the recorded type are converted, and
    comparisons allow for that.
    """

    def __init__(self, name: str, type: str | None = None, stem: str | None = None) -> None:
        self.stem = stem or name.split(".")[0]
        self.case = next(case for case in read(self.stem) if case["name"] == name)
        self.arrays = arrays(self.stem)
        self.recorded_type = self.case.get("type") or "torch.DoubleTensor"
        self.type = type or self.recorded_type
        self.tolerance = TOLERANCES[self.type]
        self.made: dict[str, Any] = {}

    # ---- Reading

    def array(self, key: str, strides: list[int] | None = None) -> np.ndarray:
        recorded = self.arrays[key]
        if self.type != self.recorded_type and recorded.dtype == DTYPES[self.recorded_type]:
            recorded = recorded.astype(DTYPES[self.type])
        return recorded.copy() if strides is None else lay_out(recorded, strides)

    def value(self, value: Any, strides: list[int] | None = None) -> Any:
        """Data: inputs, outputs, targets, gradients, fields."""
        if isinstance(value, str):
            return self.array(value, strides)
        if isinstance(value, list):
            return [self.value(entry) for entry in value]
        if isinstance(value, dict):
            (kind, content), *_ = value.items()
            return float(content) if kind == "number" and isinstance(content, str) else content
        return value

    def argument(self, value: Any) -> Any:
        """An argument of a constructor or a method."""
        if isinstance(value, list):
            return [self.argument(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        if "class" in value:
            return self.build(value)
        if "ref" in value:
            return self.made[value["ref"]]
        if "tensor" in value:
            return self.arrays[value["tensor"]].copy()
        if "list" in value:
            return self.argument(value["list"])
        if "table" in value:
            return {key: self.argument(entry) for key, entry in value["table"].items()}
        return self.value(value)

    def build(self, spec: dict[str, Any]) -> Any:
        """The module or criterion of a specification."""
        arguments = self.argument(spec.get("args", []))
        module = nn.registry[f"nn.{spec['class']}"](*arguments)
        self.made[spec.get("id", "")] = module
        for added in spec.get("add", []):
            module.add(*self.argument(added))
        self.call(module, spec.get("calls", []))
        for field, value in spec.get("set", []):
            setattr(module, field, self.argument(value))
        return module

    def call(self, module: Any, calls: list[Any]) -> None:
        for method, arguments in calls:
            getattr(module, method)(*self.argument(arguments))

    def construct(self, key: str = "module", seed: str = "construction_seed") -> Any:
        """The module of the case in the case's type, and whether it drew random numbers."""
        pythnn.manual_seed(self.case[seed])
        module = self.build(self.case[key])
        if self.type != "torch.DoubleTensor":
            module.float()
        return module

    def drew_since(self, seed: int) -> bool:
        """Whether random numbers were drawn since the seed was set."""
        return copy.copy(default_generator()).random() != pythnn.Generator(seed).random()

    # ---- Comparing

    def check(self, found: Any, recorded: Any, what: str) -> None:
        """Compares with recorded data."""
        self.compare(found, self.value(recorded), f"{self.case['name']}: {what}")

    def compare(self, found: Any, wanted: Any, where: str) -> None:
        if isinstance(wanted, list):
            assert isinstance(found, (list, tuple)), f"{where} is {found!r}, not a table"
            assert len(found) == len(wanted), f"{where} has {len(found)} entries, not {len(wanted)}"
            for i, (one, other) in enumerate(zip(found, wanted, strict=True)):
                self.compare(one, other, f"{where}[{i + 1}]")
        elif isinstance(wanted, np.ndarray):
            self._compare_arrays(found, wanted, where)
        elif isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
            assert np.ndim(found) == 0, f"{where} is {found!r}, expected {wanted}"
            assert found is not None, f"{where} is None, expected {wanted}"
            self._compare_numbers(np.asarray(found, float), np.asarray(wanted, float), where)
        else:
            assert found == wanted, f"{where} is {found!r}, expected {wanted!r}"

    def _compare_arrays(self, found: Any, wanted: np.ndarray, where: str) -> None:
        assert isinstance(found, np.ndarray), f"{where} is {found!r}, expected an array"
        assert found.dtype == wanted.dtype, f"{where} is {found.dtype}, expected {wanted.dtype}"
        assert found.shape == wanted.shape, f"{where} is {found.shape}, expected {wanted.shape}"
        if wanted.dtype.kind == "f":
            self._compare_numbers(found, wanted, where)
        else:
            np.testing.assert_array_equal(found, wanted, err_msg=where)

    def _compare_numbers(self, found: np.ndarray, wanted: np.ndarray, where: str) -> None:
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        finite = np.abs(wanted[np.isfinite(wanted)])
        magnitude = max(1.0, finite.max(initial=0.0))
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.where(same, 0, np.abs(found - wanted)).max(initial=0) / magnitude
        assert error <= self.tolerance, (
            f"{where}: error {error:.3g} above {self.tolerance:.3g}\n{found}\nexpected\n{wanted}"
        )


def shares_memory(first: Any, second: Any) -> bool:
    """Whether two values, or any of their entries, lie in one memory."""
    if isinstance(first, list):
        return any(shares_memory(entry, second) for entry in first)
    if isinstance(second, list):
        return any(shares_memory(first, entry) for entry in second)
    return np.shares_memory(first, second)


def fields(module: Any, name: str) -> list[Any]:
    """The values of a field in a module and all inside."""
    found = [getattr(inside, name, None) for inside in module.listModules()]
    return [value for value in found if value is not None]


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)

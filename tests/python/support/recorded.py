"""Recorded calls of the original library: loading them, laying out values, comparing results.

``tests/data/golden/README.md`` describes the files. Nothing here knows a module, nor the library
under test: a test replays whatever a file says.
"""

from __future__ import annotations

import copy
import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parents[2] / "data" / "golden"
NOT_MODULES = {"altered", "blas", "im2col", "col2im", "vol2col", "col2vol"}
REALS = {"double": np.float64, "float": np.float32}


@dataclass
class Argument:
    """One argument of a recorded call; ``before`` and ``after`` hold logical values."""

    name: str
    kind: str
    role: str = "scalar"
    value: Any = None
    dtype: Any = None
    before: np.ndarray | None = None
    strides: list[int] | None = None
    after: np.ndarray | str | None = None
    shares: str | None = None

    @property
    def is_tensor(self) -> bool:
        return self.kind == "tensor"


@dataclass
class Case:
    """A recorded call."""

    module: str
    function: str
    name: str
    arguments: list[Argument]
    tolerance: float = 0.0
    float_tolerance: float = 0.0
    is_error: bool = False
    quirk: bool = False
    reason: str = ""
    undefined: bool = False
    outcome: str = "accepted"

    def __getitem__(self, name: str) -> Argument:
        return next(a for a in self.arguments if a.name == name)

    def limit(self, real: str) -> float:
        """The largest allowed error, relative to max(1, |expected|)."""
        return max(self.tolerance, self.float_tolerance) if real == "float" else self.tolerance


def modules() -> list[str]:
    """The modules with recorded calls."""
    return sorted(p.stem for p in DATA.glob("*.json") if p.stem not in NOT_MODULES)


@functools.cache
def _arrays(stem: str) -> dict[str, np.ndarray]:
    with np.load(DATA / f"{stem}.npz") as file:
        return {name: file[name] for name in file.files}


def _argument(record: dict[str, Any], arrays: dict[str, np.ndarray]) -> Argument:
    argument = Argument(record["name"], record["kind"], record.get("role", "scalar"))
    if argument.kind == "generator":
        argument.value = record["seed"]
    elif argument.kind == "tensor":
        argument.dtype = np.dtype(record["dtype"])
        if record.get("before") is not None:
            argument.before = arrays[record["before"]]
        argument.strides = record.get("strides")
        after = record.get("after")
        argument.after = arrays[after] if after not in (None, "same") else after
        argument.shares = record.get("shares_storage_with")
    else:
        argument.value = record.get("value")
    return argument


@functools.cache
def cases(module: str) -> list[Case]:
    """Every recorded call of a module."""
    file = json.loads((DATA / f"{module}.json").read_text())
    arrays = _arrays(module)
    return [
        Case(
            module=module,
            function=record["function"],
            name=record["case"],
            arguments=[_argument(a, arrays) for a in record["args"]],
            tolerance=record.get("tolerance") or 0.0,
            float_tolerance=file["float_tolerance"].get(record["function"], 1e-5),
            is_error=bool(record.get("error")),
            quirk=bool(record.get("quirk")),
            reason=record.get("reason", ""),
        )
        for record in file["cases"]
    ]


# ---- Altered calls ------------------------------------------------------------------------------


def _alter_tensor(argument: Argument, alteration: str) -> None:
    if alteration == "NULL":
        argument.kind, argument.before = "null", None
        return
    if alteration == "empty tensor":
        argument.before, argument.strides = None, None
        return
    array = argument.before
    assert array is not None, (argument.name, alteration)
    argument.strides = None
    size = re.fullmatch(r"size of dimension (\d+) one (larger|smaller)", alteration)
    contains = re.fullmatch(r"contains (?:the value )?(\S+)", alteration)
    column = re.fullmatch(r"column (\d+) contains (\S+)", alteration)
    sparse = re.fullmatch(r"(feature|row) index (\S+)", alteration)
    if alteration == "one dimension fewer":
        array = array[0]
    elif alteration == "one extra leading dimension":
        array = array[None]
    elif alteration == "two extra leading dimensions":
        array = array[None, None]
    elif size:
        axis = int(size[1]) - 1
        first, last = np.split(array, [1], axis)[0], array.shape[axis] - 1
        array = (
            np.concatenate([array, first], axis)
            if size[2] == "larger"
            else np.split(array, [last], axis)[0]
        )
    elif contains:
        array = array.copy()
        is_value = alteration.startswith("contains the value")
        array.reshape(-1)[array.size // 2 if is_value else 1] = float(contains[1])
    elif column:
        array = array.copy()
        array[1, int(column[1]) - 1] = float(column[2])  # of the second connection
    elif sparse:
        array = array.copy()
        rows_and_features = array.shape[-1] == 3
        at = (1 if sparse[1] == "feature" else 0) if rows_and_features else 0
        array.reshape(-1, array.shape[-1])[0, at] = float(sparse[2])
    else:
        raise AssertionError(f"unknown alteration {alteration!r}")
    argument.before = np.ascontiguousarray(array)


@functools.cache
def altered_rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((DATA / "altered.json").read_text())
    return rows


def altered(number: int) -> Case:
    """The call of a row of altered.json, with what the original made of it."""
    row = altered_rows()[number]
    module = row["function"].rsplit("_", 1)[0]
    base = next(
        c
        for c in cases("unfolded" if module == "unfolded" else module)
        if c.function == row["function"] and c.name == row["case"]
    )
    case = copy.copy(base)
    case.arguments = [copy.copy(a) for a in base.arguments]
    case.name = f"{row['case']}: {row['argument']} {row['alteration']}"
    case.outcome = row["original"]
    # The widest of the function's cases: ratios that are exact in one call are not in another.
    case.tolerance = max(c.tolerance for c in cases(base.module) if c.function == base.function)
    case.undefined = bool(row.get("undefined"))
    argument = case[row["argument"]]
    if argument.is_tensor:
        _alter_tensor(argument, row["alteration"])
    else:
        text = row["alteration"].removeprefix("= ")
        argument.value = float(text) if argument.kind in ("accreal", "double") else int(text)
    after = _arrays("altered_after")
    for a in case.arguments:
        if a.is_tensor and a.role != "scratch":
            a.after = after.get(f"r{number}_{a.name}", "same")
    return case


# ---- Values ---------------------------------------------------------------------------------


def spread_strides(shape: tuple[int, ...]) -> list[int]:
    """Strides that no dense tensor has: dimensions in reverse order, gaps between elements."""
    strides, step = [], 2
    for size in shape:
        strides.append(step)
        step *= size + 1
    return strides


def lay_out(values: np.ndarray, strides: list[int]) -> np.ndarray:
    """The values in fresh memory with these element strides; gaps hold NaN or a large number."""
    extent = 1 + sum((n - 1) * s for n, s in zip(values.shape, strides, strict=True))
    gap = np.nan if values.dtype.kind == "f" else 10**6
    flat = np.full(extent, gap, values.dtype)
    view = np.lib.stride_tricks.as_strided(
        flat, values.shape, [s * values.itemsize for s in strides]
    )
    view[...] = values
    return view


def typed(argument: Argument, real: str) -> np.ndarray | None:
    """The values before the call in the type of this variant."""
    if argument.before is None:
        return None
    is_real = argument.dtype == np.float64
    return argument.before.astype(REALS[real] if is_real else argument.dtype)


def check_value(case: Case, argument: Argument, real: str, found: np.ndarray) -> None:
    """Compares what a call left in a tensor with what the original left there."""
    if argument.role == "scratch" or argument.after is None:
        return
    wanted = argument.before if isinstance(argument.after, str) else argument.after
    where = f"{case.function} {case.name} ({real}): {argument.name}"
    if wanted is None:
        assert found.size == 0, f"{where} was empty, now {found.shape}"
        return
    shape = wanted.shape if wanted.size else (0,)
    assert found.shape == shape, f"{where} has shape {found.shape}, expected {shape}"
    if wanted.dtype.kind in "iu":
        np.testing.assert_array_equal(found, wanted, err_msg=where)
        return
    expected = wanted.astype(np.float64)
    if isinstance(argument.after, str):
        expected = expected.astype(found.dtype).astype(np.float64)
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(found - expected) / np.maximum(1, np.abs(expected))
    worst = np.max(np.where(same, 0, error), initial=0)
    limit = case.limit(real)
    assert worst <= limit, f"{where}: error {worst:.3g} above {limit:.3g}"

"""The benchmarks' case table fits the library, and is right where that is quick to see."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pythnn import State, Tensor, thnn
from pythnn._table import FUNCTIONS

sys.path.append(str(Path(__file__).resolve().parents[2]))  # behind the installed package

from benchmarks import measure
from benchmarks.cases import SMALL, Case, Indices, Normal, Part, Uniform, square
from benchmarks.measure import Bench, Settings
from benchmarks.report import ratio
from benchmarks.sweep import KINDS, draw, networks
from benchmarks.table import CASES


def test_names_are_unique() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def _assert_fits(case: Case) -> None:
    """Types and numbers of arguments; what is read is there or was written before."""
    written = set(case.tensors)
    for part in case.parts:
        for call in part.calls:
            described = [a for a in FUNCTIONS[call.function][0] if a[1] != "state"]
            assert len(described) == len(call.arguments)
            for (name, kind, role, optional), value in zip(described, call.arguments, strict=True):
                if not role:
                    types = {"double": float, "bool": bool}.get(kind, int)
                    assert type(value) is types, name
                elif value is None:
                    assert optional, name
                else:
                    assert value in written or role == "out", name
                    written.add(value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}-{case.name}")
def test_calls_fit_the_functions(case: Case) -> None:
    _assert_fits(case)


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_cases_fit_and_come_again(kind: str) -> None:
    drawn = list(draw(3, 20, [kind]))
    for case in drawn:
        _assert_fits(case)
    assert [case.name for case in draw(3, 20, [kind])] == [case.name for case in drawn]


def test_layers_of_networks_fit() -> None:
    cases = list(networks())
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        _assert_fits(case)


def _results(case: Case, part: Part, state: State) -> list[np.ndarray[Any, Any]]:
    """What a part writes, from tensors that are the same at each call."""
    rng = np.random.default_rng(0)
    tensors: dict[str, Tensor] = {}
    for name, contents in case.tensors.items():
        if isinstance(contents, Indices):
            values = rng.integers(1, contents.most, contents.shape, endpoint=True)
        elif isinstance(contents, (Normal, Uniform)):
            values = rng.uniform(-1, 1, contents.shape)
        else:
            values = np.zeros(contents.shape)
        tensors[name] = Tensor(values)
    found = []
    for call in part.calls:
        described = [a for a in FUNCTIONS[call.function][0] if a[1] != "state"]
        given = []
        for (_, _, role, _), value in zip(described, call.arguments, strict=True):
            if isinstance(value, str):
                given.append(tensors.setdefault(value, Tensor(dtype=np.float64)))
                if role in ("out", "accumulate"):
                    found.append(given[-1])
            else:
                given.append(value)
        getattr(thnn, call.function)(state, *given)
    return [tensor.numpy() for tensor in found]


_QUICK = [
    (case, part)
    for case in CASES
    if case.family == "convolution"
    for part in case.parts
    if part.flops <= 1e8
]


@pytest.mark.parametrize(("case", "part"), _QUICK, ids=lambda value: value.name)
def test_algorithms_agree(case: Case, part: Part) -> None:
    gemm = _results(case, part, State(convolution="gemm"))
    direct = _results(case, part, State(convolution="direct"))
    assert len(gemm) == len(direct) >= 1
    for wanted, found in zip(gemm, direct, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


class SharedMachine:
    """A machine that has two cores from its `late`th look on."""

    def __init__(self, late: int) -> None:
        self._late = late

    def bytes_per_second(self, _size: int, _threads: int) -> float:
        return 1e9

    def cores(self, _threads: int) -> float:
        self._late -= 1
        return 2.0 if self._late < 0 else 1.0


@pytest.mark.parametrize(("late", "waits"), [(0, []), (1, [1]), (4, [1, 2]), (99, [1, 2, 4, 8])])
def test_rows_wait_for_cores(late: int, waits: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(measure, "Limits", lambda _: SharedMachine(late))
    monkeypatch.setattr("benchmarks.measure.time.sleep", waited.append)
    monkeypatch.setattr("benchmarks.measure.os.sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(measure, "SHORT", 0)
    settings = Settings(["float32"], [1, 2], ["auto"], seconds=1e-3)
    alone, both, *_ = Bench(None, "avx2", settings).rows(square(SMALL))
    assert waited[: len(waits)] == waits
    assert alone.cores is None
    assert both.cores == (1 if late == 99 else 2)
    both.torch = both.ours
    assert ratio(both) == ("1.00*" if late == 99 else "1.00")


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(measure, "Limits", lambda _: SharedMachine(1000))
    monkeypatch.setattr("benchmarks.measure.time.sleep", waited.append)
    monkeypatch.setattr("benchmarks.measure.os.sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(measure, "SHORT", 0)
    settings = Settings(["float32"], [2], ["auto"], seconds=1e-3, patience=20)
    for _ in Bench(None, "avx2", settings).rows(square(SMALL)):
        pass
    assert sum(waited) <= 20

"""The benchmarks' case table fits the library, and is right where that is quick to see."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pythnn import State, Tensor, thnn
from pythnn._table import FUNCTIONS

sys.path.append(str(Path(__file__).resolve().parents[3]))  # behind the installed package

from benchmarks import growth, measure, report
from benchmarks.cases import SMALL, Case, Indices, Normal, Part, Uniform
from benchmarks.measure import Bench, Row, Settings
from benchmarks.pointwise import square
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


# ---- The documents


DOCS = Path(__file__).resolve().parents[3] / "docs"


def _row(family: str, dtype: str, threads: int, ratio: float) -> Row:
    return Row(
        "case", family, "output", dtype, threads, "", "avx2", 0, 10**6, 1e10,
        ours=1e-3, torch=ratio * 1e-3, error=0.0, tolerance=1e-6,
    )  # fmt: skip


def test_summary_of_families(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(f"before\n{report.BEGIN_FAMILIES}\nold\n{report.END_FAMILIES}\nafter\n")
    rows = [_row("pooling", "float32", 1, 2.0), _row("pooling", "float32", 1, 8.0)]
    rows += [_row("pooling", "float32", 2, 3.0), _row("pooling", "float64", 1, 0.5)]
    report.update_summary(page, rows)
    assert (
        "| | float32 | float64 | smallest | largest |\n|---|---|---|---|---|\n" in page.read_text()
    )
    assert "| pooling | 4.00, 3.00 | 0.50 | 0.50 | 8.0 |" in page.read_text()
    assert page.read_text().startswith("before\n")
    assert page.read_text().endswith("after\n")
    assert "old" not in page.read_text()


def test_documents_have_the_places_that_are_written() -> None:
    tables, page = ((DOCS / f"performance{name}.md").read_text() for name in ("-tables", ""))
    for mark in (report.BEGIN, report.END, growth.BEGIN, growth.END):
        assert tables.count(mark) == 1
    for mark in (report.BEGIN_FAMILIES, report.END_FAMILIES):
        assert page.count(mark) == 1
    assert len(page.splitlines()) < 200  # it is for readers

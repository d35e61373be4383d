"""The example trains to one file with any number of processes; the model of scaling."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support import mpi
from support.documents import ROOT, tables_of

import pythnn

sys.path.append(str(ROOT))  # behind the installed package

from benchmarks import scaling


@pytest.mark.skipif(mpi.missing() is not None, reason=str(mpi.missing()))
def test_digits_end_in_the_same_file(tmp_path: Path) -> None:
    """Also when training is interrupted, and goes on with more processes."""
    example = ROOT / "examples" / "digits_mpi.py"
    alone, together = tmp_path / "alone", tmp_path / "together"
    printed = mpi.run(1, example, "--epochs", "2", "--output", alone)
    mpi.run(1, example, "--epochs", "1", "--output", together)
    resumed = mpi.run(2, example, "--epochs", "2", "--output", together, "--resume")
    assert resumed.splitlines() == printed.splitlines()[1:]
    assert float(printed.splitlines()[-1].split()[0]) > 50  # per cent; guessing would give 10
    for name in ("digits-mpi.t7", "checkpoint.t7"):
        assert (alone / name).read_bytes() == (together / name).read_bytes()
    model = pythnn.load(together / "checkpoint.t7")["model"]
    assert model.get(1).output.size == 0


def test_the_model_of_a_network() -> None:
    ideal = scaling.Network("ideal", 0, float("inf"), float("inf"))
    assert scaling.step_seconds(ideal, 3, 8, 0.01, 10**8) == pytest.approx(0.03)
    wire = scaling.Network("one second for all bytes", 0, 1e8, float("inf"))
    assert scaling.step_seconds(wire, 4, 4, 0, 10**8) == pytest.approx(2 * 3 / 4)
    far = scaling.Network("a second for each message", 1, float("inf"), float("inf"))
    assert scaling.step_seconds(far, 8, 8, 0, 10**8) == pytest.approx(2 * 7 + 2 * 3)
    adding = scaling.Network("a second for all bytes in memory", 0, float("inf"), 1e8)
    assert scaling.step_seconds(adding, 2, 2, 0, 10**8) == pytest.approx(3 / 2)
    lines = scaling.table(ideal, 512, 0.01, 10**8).splitlines()
    assert [line.split()[0] for line in lines[2:]] == [str(n) for n in scaling.PROCESSES]
    assert all(line.endswith("100%") for line in lines[2:])


def test_the_page_shows_what_the_model_says() -> None:
    page = (ROOT / "docs" / "distributed.md").read_text()
    (rows,) = (table[2:] for table in tables_of(page) if "processes" in table[0][0])
    assert [int(row[0]) for row in rows] == list(scaling.PROCESSES[2:])
    for processes, *cells in rows:
        cases = [(shards, wire) for shards in (512, 4096) for wire in scaling.NETWORKS]
        for cell, (shards, wire) in zip(cells, cases, strict=True):
            one, many = (
                scaling.step_seconds(wire, count, shards, 0.01, 10**8)
                for count in (1, int(processes))
            )
            assert float(cell) == pytest.approx(one / many, rel=0.01)


def test_a_measurement_says_what_the_machine_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {1: [0.1, 0.09], 2: [0.0625, 0.05]}  # seconds of a step, and without the exchange
    monkeypatch.setattr(scaling, "measured", lambda _, processes: times[processes])
    *lines, last = scaling.compare("convolutions").splitlines()
    assert lines[1] == "  1 process: 100.0 ms a step, 90.0 without the exchange"
    assert lines[2] == "  2 processes: 62.5 ms a step, 50.0 without the exchange"
    assert last == "  two are 1.60 times as fast as one; the machine allows 1.80"


def test_what_starts_processes_lies_beside_the_interpreter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where mpich's wheel has put it, which need not be on PATH; without any, the way to one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    assert scaling.launcher() is None
    with pytest.raises(SystemExit, match=r"no mpiexec: pip install '\.\[mpi\]' mpich"):
        scaling.measured("convolutions", 2)
    beside = tmp_path / "bin" / "mpiexec"
    beside.parent.mkdir()
    beside.touch()
    assert scaling.launcher() == str(beside)

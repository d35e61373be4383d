"""What the GPU benchmark does without a GPU: choosing cases, the limits, the page, its refusal."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.append(str(Path(__file__).resolve().parents[3]))  # behind the installed package

from benchmarks import gpu, report
from benchmarks.cases import Case, Zeros
from benchmarks.measure import ON_GPU, Row
from benchmarks.table import CASES

ROOT = Path(__file__).resolve().parents[3]
H200 = gpu.Card("NVIDIA H200", (9, 0), 132, 1.98e9, 60 << 20, 2)
A100 = gpu.Card("NVIDIA A100", (8, 0), 108, 1.41e9, 40 << 20, 2)
RTX4090 = gpu.Card("NVIDIA GeForce RTX 4090", (8, 9), 128, 2.52e9, 72 << 20, 64)


@pytest.mark.parametrize(
    ("card", "dtype", "tf32", "teraflops"),
    [
        (A100, "float32", False, 19.5),
        (A100, "float64", False, 19.5),
        (A100, "float32", True, 156),
        (H200, "float32", False, 66.9),
        (H200, "float64", False, 66.9),
        (RTX4090, "float32", False, 82.6),
        (RTX4090, "float64", False, 1.29),
    ],
)
def test_peaks_are_those_of_the_data_sheets(
    card: gpu.Card, dtype: str, tf32: bool, teraflops: float
) -> None:
    assert card.flops_per_second(dtype, tf32) == pytest.approx(teraflops * 1e12, rel=0.01)


def elements(case: Case) -> int:
    return math.prod(case.tensors["input"].shape)


def test_cases() -> None:
    found = gpu.chosen(CASES, [])
    names = [case.name for case in found]
    assert len(set(names)) == len(names)
    assert not any(case.arrays for case in found)
    assert {case.name for case in CASES if not case.arrays} < set(names)
    large = [case for case in found if elements(case) > gpu.LARGE // 2]
    assert {case.family for case in large} >= set(gpu._BY_BATCH)
    assert [c.family for c in gpu.chosen(CASES, ["softmax"])].count("softmax") >= 2
    assert gpu.chosen(CASES, ["nothing is called so"]) == []


def test_enlarged() -> None:
    case = next(case for case in CASES if case.family == "normalisation")
    larger = gpu.enlarged(case, 40 * elements(case))
    assert larger is not None
    assert larger.name.endswith("_x40")
    assert elements(larger) == 40 * elements(case)
    assert larger.tensors["weight"] == case.tensors["weight"], "one per plane"
    assert gpu.enlarged(case, elements(case)) is None
    assert gpu.enlarged(Case("sum", "pointwise", {"output": Zeros((1,))}, ())) is None


class Sleepless:
    def __init__(self) -> None:
        self.order: list[str] = []

    def seconds(self, call: object) -> float:
        self.order.append(call())  # type: ignore[operator]
        return float(len(self.order))


def test_sides_take_turns() -> None:
    clock = Sleepless()
    found = gpu.samples(clock, [lambda: "a", lambda: "b"], 0.0)
    assert "".join(clock.order) == "ab" * 11, "one to warm up, ten to measure"
    assert [len(sample) for sample in found] == [10, 10]
    assert min(found[0]) == 3


class FakeCupy:
    """As much of CuPy as the benchmark asks for; notes what happens in which order."""

    __version__ = "14.2.0"

    def __init__(self) -> None:
        self.order: list[str] = []
        order = self.order

        class Event:
            def record(self) -> None:
                order.append("record")

            def synchronize(self) -> None:
                order.append("synchronize")

        device = SimpleNamespace(
            compute_capability="90",
            attributes={
                "MultiProcessorCount": 132,
                "ClockRate": 1_980_000,
                "L2CacheSize": 60 << 20,
                "SingleToDoublePrecisionPerfRatio": 2,
            },
        )
        self.cuda = SimpleNamespace(
            Event=Event,
            get_elapsed_time=lambda *_: 2.5,
            Device=lambda _: device,
            runtime=SimpleNamespace(
                getDeviceProperties=lambda _: {"name": b"NVIDIA H200"},
                runtimeGetVersion=lambda: 13020,
            ),
        )

    def empty(self, size: int, _: object) -> object:
        self.size = size
        return SimpleNamespace(fill=lambda _: self.order.append("fill"))


def test_clock() -> None:
    cupy = FakeCupy()
    clock = gpu.Events(cupy, 300 << 20)
    assert cupy.size == 1200 << 20, "more than the cache holds"
    assert clock.seconds(lambda: cupy.order.append("call")) == 2.5e-3
    assert cupy.order == ["fill", "record", "call", "record", "synchronize"]


def test_card() -> None:
    assert gpu.Card.of(FakeCupy()) == H200


def row(part: str, algorithm: str = "", flops: int = 10**9) -> Row:
    return Row(
        "case", "convolution", part, "float32", ON_GPU, algorithm, "cuda", flops, 10**6, 6e13,
        ours=1e-4, torch=1.2e-4, error=1e-7, tolerance=2e-5,
    )  # fmt: skip


def test_page(tmp_path: Path) -> None:
    page = tmp_path / "cuda-performance.md"
    page.write_text(gpu.PAGE.format(begin=report.BEGIN, end=report.END))
    rows = [row("output"), row("output", "tf32")]
    report.update_document(page, rows, {"GPU": "a card"}, [])
    text = page.read_text()
    assert "| GPU | a card |" in text
    assert "ours GPU ms" in text
    line = "| case | output | float32 | tf32 | 0.100 | 0.120 | 1.20 | 17% | 1e-07 |"
    assert line in text


def test_plots(tmp_path: Path) -> None:
    (file,) = report.plots([row("output")], {"GPU": "a card"}, tmp_path)
    assert "GFLOP/s, GPU" in file.read_text()


def test_results_of_a_run_that_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of the cases before."""

    class Bench:
        def __init__(self, *_: object) -> None:
            self.failures: list[str] = []
            self.cases = 0

        def measured(self, *_: object) -> list[Row]:
            self.cases += 1
            if self.cases > 1:
                raise KeyboardInterrupt
            return [row("output")]

    monkeypatch.setitem(sys.modules, "cupy", FakeCupy())
    monkeypatch.setattr(gpu, "unusable", lambda: None)
    monkeypatch.setattr(gpu, "driver_version", lambda: 13000)
    monkeypatch.setattr(gpu, "DeviceBench", Bench)
    command = ["gpu", "Threshold", "--no-peer", "--dtype", "float32", "--output", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(KeyboardInterrupt):
        gpu.main()
    rows, _ = report.load(tmp_path / "results.json")
    assert [found.part for found in rows] == ["output"]


def test_without_a_gpu(tmp_path: Path) -> None:
    if gpu.unusable() is None:
        pytest.skip("there is a GPU")
    command = [sys.executable, "-m", "benchmarks.gpu", "--output", str(tmp_path / "results")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 2
    assert done.stderr == ""
    (line,) = done.stdout.splitlines()
    assert line.startswith("There is no GPU to measure on: ")
    assert not (tmp_path / "results").exists()


def test_list() -> None:
    command = [sys.executable, "-m", "benchmarks.gpu", "--list", "Threshold"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert all("Threshold" in line for line in done.stdout.splitlines())
    assert "_x" in done.stdout

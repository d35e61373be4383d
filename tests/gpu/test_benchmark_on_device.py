"""The GPU benchmark on a device: its loop, with a clock that only counts, and without PyTorch."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))  # behind the installed package

from benchmarks import convolutions, gpu, planes, pointwise, report

CARD = gpu.Card("a card", (9, 0), 132, 1.98e9, 50 << 20, 2)
CASES = [
    convolutions.convolution(2, 3, 4, 7, k=3, p=1),
    convolutions.transposed(1, 3, 2, 5, k=4, s=2, p=1),
    pointwise.threshold((3, 50)),
    pointwise.batch_normalization((4, 5, 6, 7)),
    planes.max_pooling(2, 3, 9, k=3, s=2, p=1),
    pointwise.softmax((6, 70)),
]


class Counter:
    """Every call takes a millisecond."""

    calls = 0

    def seconds(self, call: Callable[[], object]) -> float:
        call()
        self.calls += 1
        return 1e-3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rows(xp: Any, case: Any, dtype: str) -> None:
    clock = Counter()
    rows = list(gpu.DeviceBench(xp, clock, CARD).rows(case, dtype, seconds=0.0, tf32=True))
    assert [row.part for row in rows] == [part.name for part in case.parts]
    for row in rows:
        assert row.error is not None
        assert not row.wrong
        assert (row.ours, row.torch, row.ratio) == (1e-3, None, None)
        assert row.key.endswith(f"{dtype} GPU  cuda")
        expected = CARD.flops_per_second(dtype) if row.flops else row.bytes // 2 * 2 / 1e-3
        assert row.limit == pytest.approx(expected)
        assert report.table_cells(row)[3] == "GPU"
    assert clock.calls >= 10 * len(rows)


def test_a_failure_of_the_other_side_is_noted(xp: Any) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("no such kernel\nand more lines")

    flags = SimpleNamespace(matmul=SimpleNamespace(), cudnn=SimpleNamespace())
    torch = SimpleNamespace(
        tensor=lambda array, device: array.copy() if device else None,
        backends=SimpleNamespace(cuda=flags, cudnn=flags),
    )
    case = replace(pointwise.softmax((3, 5)), prepare=None)
    case = replace(case, parts=tuple(replace(part, peer=fails) for part in case.parts))
    bench = gpu.DeviceBench(xp, Counter(), CARD, torch, "cpu")
    rows = bench.measured(case, "float32", 0.0)
    assert [row.torch for row in rows] == [None] * len(case.parts)
    assert bench.failures == [f"{case.name} float32 beside PyTorch: no such kernel"]


def test_a_wrong_result_is_seen(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu.DeviceBound, "clear", lambda self, names: None)
    bench = gpu.DeviceBench(xp, Counter(), CARD)
    bound = gpu.DeviceBound(CASES[0], "float64", None, "")
    part = CASES[0].parts[-1]
    bound.ours(part, None)()  # the gradient is added twice, on one side
    assert bound.errors(part)[0] > 0.1
    assert math.isfinite(bench.copy_speed(1000))

"""Integers at the ends of their range, in every argument: a call ends at once, and a refused one
leaves its tensors alone.

Calls run in a process of their own, whose memory is limited: none takes what the machine has, and
one that crashes or does not end fails its test only.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest
from support import golden
from support.bounds import AROUND_A_SUM, is_near
from support.deviations import adapted
from support.processes import importing

import pythnn
from pythnn import Tensor, thnn

MEMORY = 3 << 30
SECONDS = 60
CALL_SECONDS = 10
"""A call takes microseconds: whoever takes this long goes through an extreme one by one."""

SANITIZED: dict[str, str] = {}
"""AddressSanitizer's memory has a limit of its own, for it takes addresses without end."""
if "asan" in os.environ.get("LD_PRELOAD", ""):
    options = f"{os.environ.get('ASAN_OPTIONS', '')}:max_allocation_size_mb={MEMORY >> 20}"
    SANITIZED["ASAN_OPTIONS"] = options.lstrip(":")

LEAST, WIDEST = -(2**31), 2**31 - 1
EXTREMES = (LEAST, LEAST + 1, -1, 0, 1, 2, 46_341, 2**30, WIDEST)
MOST_CASES = 4
"""Recorded calls of a function that are tried, of different integers each."""
# A loop over an extreme takes seconds: so many of them take more than a call's time.
OFTEN = 20


def cases_of(module: str) -> list[golden.Case]:
    return [adapted(c) for c in golden.cases(module) if not c.is_error]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The modules whose calls have integers, which pytest alone finds out: the processes that it
    starts load the calls of theirs."""
    if "module" in metafunc.fixturenames:
        metafunc.parametrize(
            "module", [m for m in golden.modules() if any(map(integer_places, cases_of(m)))]
        )


def limited(function: str, *arguments: str) -> None:
    """Calls a function of this file in a process with little memory and little time."""
    code = f"import sys, test_extreme_arguments as t; t.limit_memory(); t.{function}(*sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={
            **importing(__file__),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            **SANITIZED,
        },
        check=False,
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]


def limit_memory() -> None:
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def attempt(case: golden.Case, changes: dict[int, int]) -> None:
    """Makes a call with some arguments changed; printed first, in case that it is the last."""
    call = golden.prepare(case, "float", "tensors")
    for place, value in changes.items():
        call.values[place] = value
    print(case.function, case.name, {case.arguments[p].name: v for p, v in changes.items()})
    sys.stdout.flush()
    faulthandler.dump_traceback_later(CALL_SECONDS, exit=True)
    before = call.snapshot()
    try:
        call.run()
    except pythnn.THNNMemoryError:
        pass  # of several outputs, some may have been resized
    except pythnn.THNNError:
        assert call.snapshot() == before
    call.close()


def different_cases(module: str) -> Iterator[golden.Case]:
    """Recorded calls that differ in their integers."""
    seen: dict[str, set[tuple[Any, ...]]] = {}
    for case in cases_of(module):
        known = seen.setdefault(case.function, set())
        integers = tuple(case.arguments[i].value for i in integer_places(case))
        if integers not in known and len(known) < MOST_CASES:
            known.add(integers)
            yield case


def integer_places(case: golden.Case) -> list[int]:
    return [i for i, a in enumerate(case.arguments) if a.kind in ("int", "int64")]


def every_argument(module: str) -> None:
    """One argument at a time, all arguments of a kind at once (those called dW, dH and dT), and two
    kinds."""
    for case in different_cases(module):
        places = integer_places(case)
        groups: dict[str, list[int]] = {}
        for i in places:
            groups.setdefault(case.arguments[i].name.rstrip("WHT"), []).append(i)
        for value in EXTREMES:
            for i in places:
                attempt(case, {i: value})
            for group in groups.values():
                attempt(case, dict.fromkeys(group, value))
        for one, other in combinations(groups.values(), 2):
            for a, b in product((LEAST, 1, WIDEST), repeat=2):
                attempt(case, {**dict.fromkeys(one, a), **dict.fromkeys(other, b)})


def test_every_integer_argument(module: str) -> None:
    limited("every_argument", module)


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def refused(error: type[Exception], function: Any, *arguments: Any) -> None:
    try:
        function(*arguments)
    except error:
        return
    raise AssertionError("the call should have been refused")


def stride_of_a_transposed_convolution() -> None:
    """Planning it does not look at every residue of the stride."""
    for stride in [(WIDEST, 1), (1, WIDEST)] * OFTEN:
        output = Tensor(dtype=np.float32)
        refused(
            pythnn.THNNMemoryError,
            thnn.SpatialFullConvolution_updateOutput,
            *(None, ones(1, 2, 2), output, ones(1, 1, 3, 3), None, None, None),
            *(3, 3, *stride, 0, 0, 0, 0),
        )
        assert output.shape == (0,)


def elements_of_a_transposed_convolution() -> None:
    """Each of the output's sizes fits, their product does not."""
    output = Tensor(dtype=np.float32)
    refused(
        pythnn.THNNArgumentError,
        thnn.SpatialFullDilatedConvolution_updateOutput,
        *(None, ones(1, 3, 3), output, ones(1, 1, 5, 5), None, None, None),
        *(5, 5, 1, 1, 0, 0, WIDEST, WIDEST, 0, 0),
    )


def columns_of_adaptive_pooling() -> None:
    """The lengths of two thousand million regions are not looked at one by one."""
    for size in [(WIDEST, 1), (1, WIDEST)] * OFTEN:
        output, indices = Tensor(dtype=np.float32), Tensor(dtype=np.int64)
        refused(
            pythnn.THNNMemoryError,
            thnn.SpatialAdaptiveMaxPooling_updateOutput,
            *(None, ones(1, 4, 4), output, indices, *size),
        )


def dilated(kernel: int, dimensions: int, pad: int, dilation: int) -> list[bytes]:
    """What the functions of dilated convolutions leave, ordinary and transposed ones."""
    rng = np.random.default_rng(3)
    name = {2: "Spatial", 3: "Volumetric"}[dimensions]
    last = [[n] * dimensions for n in (kernel, 1, pad, dilation)]
    x, gradient = (rng.standard_normal((2, p, *range(4, 4 + dimensions))) for p in (2, 3))
    left = []
    for transposed in (False, True):
        planes = (2, 3) if transposed else (3, 2)
        weight = rng.standard_normal((*planes, *[kernel] * dimensions))
        function = f"{name}{'Full' * transposed}DilatedConvolution"
        kernels = [] if transposed and dimensions == 3 else last[0]
        rest = [*kernels, *chain(*last[1:]), *[0] * dimensions * transposed]
        scratch = [None] * (1 if not transposed or dimensions == 2 else 2)
        output, grad_input = Tensor(dtype=np.float64), Tensor(dtype=np.float64)
        sums = np.zeros(weight.shape)
        forward = getattr(thnn, f"{function}_updateOutput")
        forward(None, x, output, weight, None, None, None, *rest)
        backward = getattr(thnn, f"{function}_updateGradInput")
        backward(None, x, gradient, grad_input, weight, *scratch, *rest)
        accumulate = getattr(thnn, f"{function}_accGradParameters")
        accumulate(None, x, gradient, sums, None, None, None, *rest, 1.0)
        left += [a.tobytes() for a in (output.numpy(), grad_input.numpy(), sums)]
    return left


def dilation_of_one_tap() -> None:
    """Where it does not matter it takes no time."""
    for dimensions in (2, 3):
        for dilation in (2**30, WIDEST):
            assert dilated(1, dimensions, 0, dilation) == dilated(1, dimensions, 0, 1)


def taps_outside() -> None:
    """Where taps lie so far apart that the middle one alone sees the image, twice as far changes
    nothing."""
    for dimensions in (2, 3):
        assert dilated(3, dimensions, 2**30, 2**30) == dilated(3, dimensions, WIDEST, WIDEST)


def stride_of_sums() -> None:
    """A stride beyond the input: gradients are spread column by column, not phase by phase."""
    rows = 1000
    x, gradient = ones(1, rows, 5), ones(1, rows, 1)
    spread = np.zeros_like(x)
    spread[:, :, :3] = 1
    found = Tensor(dtype=np.float32)
    thnn.SpatialSubSampling_updateGradInput(None, x, gradient, found, ones(1), 3, 1, WIDEST, 1)
    np.testing.assert_array_equal(found.numpy(), spread)
    thnn.SpatialAveragePooling_updateGradInput(
        None, x, gradient, found, 3, 1, WIDEST, 1, 0, 0, False, True
    )
    assert is_near(found.numpy(), spread / 3, 2 + AROUND_A_SUM, 0)


@pytest.mark.parametrize(
    "function",
    [
        stride_of_a_transposed_convolution,
        elements_of_a_transposed_convolution,
        columns_of_adaptive_pooling,
        dilation_of_one_tap,
        taps_outside,
        stride_of_sums,
    ],
    ids=lambda f: f.__name__,
)
def test_no_loop_over_an_extreme(function: Any) -> None:
    limited(function.__name__)


def test_wide_adaptive_pooling() -> None:
    """Regions of so many columns and rows that their lengths are bounded instead of looked at."""
    many = (1 << 20) + 5
    x = np.random.default_rng(1).standard_normal((1, 3, 4)).astype(np.float32)
    for owidth, oheight in ((many, 2), (2, many)):
        output, indices = Tensor(dtype=np.float32), Tensor(dtype=np.int64)
        thnn.SpatialAdaptiveMaxPooling_updateOutput(None, x, output, indices, owidth, oheight)
        ys, xs = regions(3, oheight), regions(4, owidth)
        wanted = np.full((oheight, owidth), -np.inf, np.float32)
        for row in range(3):
            for column in range(4):
                inside = np.logical_and.outer(
                    (ys[0] <= row) & (row < ys[1]), (xs[0] <= column) & (column < xs[1])
                )
                wanted = np.where(inside, np.maximum(wanted, x[0, row, column]), wanted)
        np.testing.assert_array_equal(output.numpy()[0], wanted)


def regions(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Where max pooling's regions begin and end, in single precision."""
    bounds = np.arange(count + 1).astype(np.float32) / np.float32(count) * np.float32(size)
    first = np.minimum(bounds[:-1].astype(int), size - 1)
    end = np.minimum(np.ceil(bounds[1:]).astype(int), size)
    return first, np.maximum(end, first + 1)

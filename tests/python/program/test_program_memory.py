"""Memory of programs: shared among sizes, kept once, and whole after an allocation has failed."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest
from support.memory import counting_memory
from support.programs import check_same, forward, image
from support.random_trees import PLANES, SIZE, Trees

import pythnn
from pythnn import nn
from pythnn._library import ffi, lib
from pythnn.program import folding

AT_BASELINE = ffi.string(lib.THNN_simdLevelName()) == b"baseline"
"""There BLAS multiplies, and panels are not kept."""


def test_memory_is_reused() -> None:
    model = nn.Sequential(*(nn.SpatialConvolution(3, 3, 3, 3, 1, 1, 1, 1) for _ in range(20)))
    program = pythnn.compile(model, image())
    assert program.nbytes == 2 * image().nbytes


def pointwise() -> nn.Module:
    """Layers that bring their weights into one form, if into any, whatever the size."""
    model = nn.Sequential(
        nn.SpatialConvolution(64, 96, 1, 1),
        nn.SpatialBatchNormalization(96),
        nn.ReLU(),
        nn.SpatialConvolution(96, 64, 1, 1),
    )
    model.evaluate()
    return model.float()


def images(count: int, size: int) -> np.ndarray:
    numbers = np.random.default_rng(count)
    return numbers.standard_normal((count, 64, size, size)).astype(np.float32)


def test_weights_are_kept_once_for_all_sizes() -> None:
    model = pointwise()
    program = pythnn.compile(model, images(1, 14))
    assert program.kept_nbytes == 0
    for size in range(1, 8):
        x = images(size, 7 + size)
        check_same(program(x), forward(model, x), True)
    weights = 2 * 64 * 96 * 4
    assert weights <= program.kept_nbytes < 2 * weights
    assert f"beside {program.kept_nbytes / 1e6:.2f} MB of weights" in repr(program)
    model.modules[0].weight.fill(1)
    program.update()
    assert program.kept_nbytes == 0
    check_same(program(images(3, 10)), forward(model, images(3, 10)), True)


@pytest.mark.parametrize("samples", [1, 3, 8, 64])
def test_weights_that_are_kept_for_all_steps(samples: int) -> None:
    """Few samples take blocks, more take panels."""
    model = nn.SeqLSTM(12, 256).float()
    model.evaluate()
    x = np.random.default_rng(samples).standard_normal((4, samples, 12)).astype(np.float32)
    program = pythnn.compile(model, x)
    for _ in range(2):
        check_same(program(x), forward(model, x), True)
    assert program.kept_nbytes >= 4 * 256 * 256 * 4 or (AT_BASELINE and samples > 3)


def test_weights_are_kept_for_more_sizes_than_a_state_has_plans_for() -> None:
    model, kept = pointwise(), []
    program = pythnn.compile(model, images(1, 3))
    for batch in range(1, 20):
        x = images(batch, 3)
        check_same(program(x), forward(model, x), True)
        check_same(program(x), forward(model, x), True)
        kept.append(program.kept_nbytes)
    weights = 2 * 64 * 96 * 4
    assert kept[8] >= kept[7] + weights  # in another state
    # Plans of the last eight sizes have two states at most, each with two forms at most.
    assert max(kept) < 4.5 * weights


def test_weights_need_not_be_kept() -> None:
    model = pointwise()
    for program in (
        pythnn.compile(model, images(1, 14), keep_weights=False),
        model.compile(images(1, 14), keep_weights=False),
        pythnn.compile(model, images(1, 14), fuse=False),
    ):
        check_same(program(images(2, 14)), forward(model, images(2, 14)), True)
        assert program.kept_nbytes == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [15, 33, 200])
def test_kept_weights_that_come_from_memory(rows: int, dtype: type) -> None:
    """More than the caches are assumed to hold, in blocks of which the last ones are smaller."""
    pythnn.manual_seed(4)
    model = nn.Linear(2100, 2005).type(dtype)
    x = np.random.default_rng(1).standard_normal((rows, 2100)).astype(dtype)
    program = pythnn.compile(model, x)
    found = program(x)
    assert program.kept_nbytes > 0 or rows == 200 or AT_BASELINE  # where BLAS can be faster
    check_same(found, forward(model, x), True)
    threads = pythnn.get_num_threads()
    try:
        for other in range(1, 4):
            pythnn.set_num_threads(other)
            np.testing.assert_array_equal(program(x), found)
    finally:
        pythnn.set_num_threads(threads)


def test_parameters_are_folded_once_for_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    model, made = pointwise(), []
    fold = folding._parameters
    monkeypatch.setattr(folding, "_parameters", lambda *layers: made.append(1) or fold(*layers))
    program = pythnn.compile(model, images(1, 3))
    for size in range(4, 8):
        check_same(program(images(1, size)), forward(model, images(1, size)), True)
    assert len(made) == 1
    program.update()
    assert len(made) == 2


def test_sizes_share_the_memory_that_runs_work_in() -> None:
    program = pythnn.compile(pointwise(), images(1, 3), keep_weights=False)
    largest, blocks = 0, []
    with counting_memory() as memory:
        for _ in range(3):
            for size in (3, 9, 5, 7, 8, 4, 9):
                program(images(1, size))
                largest = max(largest, program.nbytes)
            blocks.append(memory.live)
        arena = program._arenas._idle
        assert len(arena) == 1
        assert sum(one.nbytes for one in arena[0]._memory.values()) == largest
    # At first the memory has grown, and sizes of before are bound to it again when they return.
    assert blocks[1] == blocks[2]


def test_memory_that_was_too_small_is_given_up() -> None:
    def live(*sizes: int) -> int:
        with counting_memory() as memory:
            program = pythnn.compile(pointwise(), images(1, 3), keep_weights=False)
            for size in sizes:
                program(images(1, size))
            return memory.live

    assert live(3, 9) == live(9)


@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_failing_allocations(seed: int) -> None:
    """The 1st, 2nd, … allocation of a run fails, and all after it, until it succeeds: each time a
    MemoryError, after which the program computes what it did before."""
    model = Trees(seed).model().module
    model.evaluate()
    x, larger = image(2, PLANES, SIZE, SIZE), image(3, PLANES, SIZE, SIZE)
    program = pythnn.compile(model, x)
    wanted = program(x)
    with counting_memory() as memory:
        for nth in count(1):
            memory.fail_from(nth)
            try:
                found = program(larger)
            except pythnn.THNNMemoryError:
                memory.fail_from(0)
            else:
                break
            np.testing.assert_array_equal(program(x), wanted)
    assert nth > 1
    check_same(found, forward(model, larger), True)

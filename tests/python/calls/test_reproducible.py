"""Reproducible results: the bits that are the same on every processor."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support import digests, golden

from pythnn import State, Tensor, THNNArgumentError, lib, thnn

DIGESTS = Path(__file__).parents[2] / "data/digests"

fused = pytest.mark.skipif(
    not lib.THNN_simdReproduces(), reason="the instruction set has no fused multiply-adds"
)


def checked(calls: Iterator[golden.Call]) -> Iterator[golden.Call]:
    for call in calls:
        golden.check_results(call)
        yield call


@fused
@pytest.mark.numbers
def test_recorded_calls_give_what_they_gave() -> None:
    with State(threads=1, reproducible=True) as state:
        found = digests.digests(checked(digests.calls(state)))
    wanted = digests.read(DIGESTS / "recorded.txt")
    assert found.keys() == wanted.keys()
    assert not {name for name in found if found[name] != wanted[name]}


LEVEL = """
from pythnn import ffi, lib
from calls.test_reproducible import *
print(ffi.string(lib.THNN_simdLevelName()).decode())
with State(threads=1) as state:
    print(digests.digests(digests.calls(state)))
"""


@pytest.mark.parametrize("level", ["avx512", "avx2", "baseline"])
def test_usual_calls_give_what_they_gave_at_each_level(level: str) -> None:
    """But for what BLAS computes, without `reproducible`, too, if the same compiler is used."""
    if (built := digests.built()) != (recorded := (DIGESTS / "built.txt").read_text().strip()):
        pytest.skip(f"the digests are of {recorded}, and this is {built}")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}{LEVEL}"],
        env={**os.environ, "THNN_SIMD": level},
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    name, printed = done.stdout.splitlines()
    if name != level:
        pytest.skip(f"the processor does not have {level}")
    found = ast.literal_eval(printed)
    wanted = digests.read(DIGESTS / f"usual_{level}.txt")
    assert wanted.keys() == {one for one in found if digests.is_own(one)}
    assert not {one for one in wanted if found[one] != wanted[one]}


def convolved(state: State | None) -> bytes:
    """The bits of a result that takes other sums without `reproducible`."""
    rng = np.random.default_rng(4)
    x, w = (rng.standard_normal(s, np.float32) for s in ((2, 32, 20, 20), (32, 32 * 9)))
    y, bias = Tensor(dtype=np.float32), np.zeros(32, np.float32)
    thnn.SpatialConvolutionMM_updateOutput(state, x, y, w, bias, None, None, 3, 3, 1, 1, 1, 1)
    return y.numpy().tobytes()


@fused
def test_threads_change_nothing() -> None:
    alone = convolved(State(reproducible=True, threads=1))
    assert convolved(State(reproducible=True, threads=3, minimum_work=1)) == alone


def tanh_of_floats_of_all_sizes() -> str:
    """A digest of what a reproducible call gives for every 65,521st pattern of bits."""
    x = np.arange(0, 1 << 32, 65521, dtype=np.uint32).view(np.float32)
    y = np.empty_like(x)
    thnn.Tanh_updateOutput(State(reproducible=True), x, y)
    return hashlib.sha256(y.tobytes()).hexdigest()


def printed(program: str, **environment: str) -> str:
    """What a program prints that Python runs with names of this module."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{program}"],
        env={**os.environ, **environment},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@fused
def test_tanh_has_the_bits_of_narrower_vectors() -> None:
    """Reproducible calls take it with the vectors of AVX-512 where there are such."""
    program = (
        "from calls.test_reproducible import tanh_of_floats_of_all_sizes\n"
        "print(tanh_of_floats_of_all_sizes())"
    )
    assert printed(program, THNN_SIMD="avx2") == tanh_of_floats_of_all_sizes()


@fused
def test_the_environment_is_the_default() -> None:
    program = (
        "from calls.test_reproducible import State, convolved\n"
        "print(State().reproducible, convolved(None) == convolved(State(reproducible=True)),"
        " State(reproducible=False).reproducible)"
    )
    assert printed(program, THNN_REPRODUCIBLE="1") == "True True False"


def test_without_fused_multiply_adds_it_is_refused() -> None:
    program = "import pythnn\ntry: pythnn.State(reproducible=True)\nexcept Exception as e: print(e)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "THNN_SIMD": "baseline"},
        capture_output=True,
        text=True,
        check=True,
    )
    if "aarch64" not in os.uname().machine:
        assert "argument #10 'reproducible'" in done.stdout
        assert "fused multiply-adds" in done.stdout


@fused
def test_it_is_a_choice_of_a_state() -> None:
    state = State()
    assert state.reproducible is False
    state.reproducible = True
    assert "reproducible=True" in repr(state)
    with pytest.raises(THNNArgumentError, match="argument #10 'reproducible': expected a bool"):
        state.reproducible = 1  # type: ignore[assignment]
    assert state.reproducible is True

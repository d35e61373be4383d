"""Every module on generated configurations, at every instruction set."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import generated
from support.generated import (  # noqa: F401 (each puts its modules into FAMILIES)
    convolution,
    criterion,
    linear,
    normalization,
    pointwise,
    pooling,
    resampling,
)
from support.processes import importing

from pythnn import State, Tensor, thnn

NAMES = sorted(generated.FAMILIES)


@pytest.mark.parametrize("name", NAMES)
def test_definition(name: str) -> None:
    generated.run(name, range(generated.FAMILIES[name][1]))


DEFINED_ELSEWHERE = {
    "Dropout": "kernels/test_dropout.py",
    "GRUSteps": "functional/test_recurrent_layers.py",
    "GaussianMixture": "kernels/test_gaussian_mixture.py",
    "GroupNormalization": "kernels/test_group_normalisation.py",
    "GroupedConvolution": "functional/test_grouped_convolution.py",
    "GroupedFullConvolution": "functional/test_grouped_convolution.py",
    "Interpolation": "kernels/test_interpolation.py",
    "LSTMSteps": "functional/test_recurrent_layers.py",
    "LayerNormalization": "kernels/test_layer_normalisation.py",
    "RNNSteps": "functional/test_recurrent_layers.py",
    "SeqGRU": "kernels/test_fed_back_steps.py",
    "SeqLSTM": "kernels/test_fed_back_steps.py",
    "SpatialConvolutionJoined": "kernels/test_joined_convolution.py",
    "SpatialFullConvolutionJoined": "kernels/test_joined_convolution.py",
    "SpatialGreatest": "kernels/test_pooling.py",
}
"""Modules that functions on arrays call, and the tests that hold them against their definitions."""


def test_every_function_is_called() -> None:
    """But unfolding and folding, which are of no module."""
    for name in NAMES:
        generated.run(name, range(120))
    functions = {name for name in thnn.__all__ if not name.startswith("unfolded_")}
    others = functions - generated.CALLED
    assert functions >= generated.CALLED
    assert {name.partition("_")[0] for name in others} == DEFINED_ELSEWHERE.keys()
    folder = Path(__file__).parents[1]
    assert all((folder / file).is_file() for file in DEFINED_ELSEWHERE.values())


@pytest.mark.parametrize("level", ["baseline", "avx2"])
def test_definitions_at_each_level(level: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", "import test_generated; test_generated.generated.run_others()"],
        env={**importing(__file__), "THNN_SIMD": level},
        capture_output=True,
    )
    assert result.returncode == 0, result.stderr.decode()[-4000:]


class ThreadsDraw(generated.Draw):
    """Compares results with one, two and three threads bit by bit, and not with the definition:
    their numbers are not whole, and sums of them depend on how they are added up."""

    scale = 0.3

    def integers(self, *shape: int) -> np.ndarray:
        return super().integers(*shape) / self.real(7)

    def call(self, function: str, *arguments: Any) -> None:
        """Ends with the results of three threads in the arguments."""
        before = [copy.deepcopy(a) for a in arguments]
        results = []
        for threads in (1, 2, 3):
            given = arguments if threads == 3 else [copy.deepcopy(a) for a in before]
            with State(
                threads=threads,
                minimum_work=1,
                convolution=self.chosen.get("algorithm", "auto"),
            ) as state:
                getattr(thnn, function)(state, *given)
            results.append([bits(value) for value in given])
        assert results[0] == results[1] == results[2], f"{function} depends on the threads"

    @staticmethod
    def equal(*_: Any) -> None:
        """Nothing to compare with."""

    close = equal


def bits(value: Any) -> bytes | None:
    if isinstance(value, Tensor):
        value = value.numpy()
    return value.tobytes() if isinstance(value, np.ndarray) else None


@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_change_bits(name: str) -> None:
    _, count = generated.FAMILIES[name]
    generated.run(name, range(count // 4), ThreadsDraw)

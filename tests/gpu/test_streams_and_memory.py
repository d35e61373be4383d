"""Work on streams other than the default one, and memory that runs out in the middle of a call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import Tensor, THNNMemoryError, thnn

WINDOW = (3, 3, 1, 1, 1, 1)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def chain(x: Any, weight: Any, steps: int = 8) -> Tensor:
    """Convolutions and element-by-element work that each need what the last one wrote."""
    output = Tensor(x)
    for _ in range(steps):
        made = Tensor(dtype=np.float32, device="cuda")
        thnn.SpatialConvolutionMM_updateOutput(
            None, output, made, weight, None, None, None, *WINDOW
        )
        output = Tensor(dtype=np.float32, device="cuda")
        thnn.Tanh_updateOutput(None, made, output)
    return output


def test_a_stream_keeps_its_order(xp: Any) -> None:
    """Nothing waits in between: results, and memory that is used again, follow the stream."""
    host, weight = numbers(4, 3, 16, 15), numbers(3, 3, 3, 3)
    x, w = xp.asarray(host), xp.asarray(weight)
    expected = chain(x, w).cpu().numpy()
    pythnn.synchronize()
    for _ in range(3):
        with xp.cuda.Stream():
            found = chain(x, w)
            assert found.cpu().numpy().tobytes() == expected.tobytes()


def test_two_streams_give_equal_results(xp: Any) -> None:
    x, w = xp.asarray(numbers(4, 3, 16, 15)), xp.asarray(numbers(3, 3, 3, 3))
    pythnn.synchronize()
    streams, results = [xp.cuda.Stream() for _ in range(2)], []
    for stream in streams:
        with stream:
            results.append(chain(x, w))
    for stream in streams:
        with stream:
            pythnn.synchronize()
    first, second = (result.cpu().numpy() for result in results)
    assert first.tobytes() == second.tobytes()


def test_an_error_of_memory_names_the_function(xp: Any) -> None:
    x = Tensor(xp.asarray(numbers(1, 1, 2, 2)))
    output = Tensor(np.float32([7, 8]), device="cuda")
    before = x.cpu().numpy().tobytes()
    with pytest.raises(THNNMemoryError, match="SpatialUpSamplingNearest_updateOutput") as caught:
        thnn.SpatialUpSamplingNearest_updateOutput(None, x, output, 2**20)
    assert len(str(caught.value).splitlines()) == 1
    assert output.tolist() == [7, 8]
    assert x.cpu().numpy().tobytes() == before
    thnn.SpatialUpSamplingNearest_updateOutput(None, x, output, 2)
    assert output.shape == (1, 1, 4, 4)

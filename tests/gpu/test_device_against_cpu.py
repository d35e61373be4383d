"""Random shapes, on the CPU and on a device; index values out of range; no memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bounds import AROUND_A_SUM, FUNCTION, assert_near

import pythnn
from pythnn import State, Tensor, THNNArgumentError, THNNError, THNNMemoryError, thnn

REALS = [np.float32, np.float64]
POINTWISE: dict[str, tuple[Any, ...]] = {
    "Abs": (),
    "ELU": (0.7, False),
    "HardTanh": (-0.5, 0.8, False),
    "LeakyReLU": (0.1, False),
    "Sigmoid": (),
    "SoftPlus": (1.5, 3.0),
    "SoftShrink": (0.4,),
    "Square": (),
    "Tanh": (),
}


def both(xp: Any, name: str, *arguments: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Calls a function with Tensors on the CPU and on a device; returns what each left there."""
    host = [Tensor(a) if isinstance(a, np.ndarray) else a for a in arguments]
    host = [Tensor(dtype=a) if isinstance(a, type) else a for a in host]
    device = [a.cuda() if isinstance(a, Tensor) else a for a in host]
    for values in (host, device):
        getattr(thnn, name)(None, *values)
    kept = [i for i, value in enumerate(host) if isinstance(value, Tensor)]
    return [host[i].numpy() for i in kept], [device[i].cpu().numpy() for i in kept]


def check(results: tuple[list[np.ndarray], list[np.ndarray]], roundings: float = 0) -> None:
    """Results of so many roundings on each side; none where numbers are small integers."""
    for expected, found in zip(*results, strict=True):
        assert_near(found, expected, 2 * roundings)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise(xp: Any, name: str, real: Any) -> None:
    random = np.random.default_rng(len(name))
    for _ in range(3):
        shape = random.integers(1, 9, random.integers(1, 5))
        x = random.standard_normal(shape).astype(real)
        # Of a function of an exponential: the last are of its argument, a number up to 8.
        roundings = 2 * FUNCTION + 8 + AROUND_A_SUM
        check(both(xp, f"{name}_updateOutput", x, real, *POINTWISE[name]), roundings)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("size", [1, 3, 4, 5, 1027])
def test_any_alignment(xp: Any, size: int, real: Any) -> None:
    """Elements are moved by several at a time where all arrays begin at an address that allows it,
    and those that are left over alone; nothing beside them is touched."""
    values = np.random.default_rng(size).standard_normal(size + 8).astype(real)
    x = xp.asarray(values)
    for begin in range(5):
        for offset in (begin, 0, 4):
            output = xp.asarray(np.full(size + 8, 7, real))
            source = np.s_[begin : begin + size]
            target = np.s_[offset : offset + size]
            thnn.Abs_updateOutput(None, x[source], output[target])
            expected = np.full(size + 8, 7, real)
            expected[target] = abs(values[source])
            np.testing.assert_array_equal(output.get(), expected)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("seed", range(4))
def test_convolution(xp: Any, seed: int, real: Any) -> None:
    random = np.random.default_rng(seed)
    batch, planes, outputs, kernel_w, kernel_h, step_w, step_h = random.integers(1, 4, 7)
    pad_w, pad_h = random.integers(0, kernel_w), random.integers(0, kernel_h)
    height, width = random.integers(4, 9, 2)

    def numbers(*shape: Any) -> np.ndarray:
        return random.integers(-4, 5, shape).astype(real)

    window = tuple(map(int, (kernel_w, kernel_h, step_w, step_h, pad_w, pad_h)))
    x, bias = numbers(batch, planes, height, width), numbers(outputs)
    weight = numbers(outputs, planes, kernel_h, kernel_w)
    forward = both(
        xp, "SpatialConvolutionMM_updateOutput", x, real, weight, bias, None, None, *window
    )
    check(forward)
    gradient = numbers(*forward[0][1].shape)
    check(
        both(
            xp, "SpatialConvolutionMM_updateGradInput", x, gradient, real, weight, None, None,
            *window,
        ),
    )  # fmt: skip
    check(
        both(
            xp, "SpatialConvolutionMM_accGradParameters", x, gradient, np.zeros_like(weight),
            np.zeros_like(bias), None, None, *window, 0.5,
        ),
    )  # fmt: skip


# ---- Index values


def unpooling(xp: Any, state: State | None, index: int) -> Any:
    x, y = xp.asarray(np.ones((1, 1, 1), np.float32)), Tensor(dtype=np.float32, device="cuda")
    indices = xp.asarray(np.full((1, 1, 1), index))
    thnn.SpatialMaxUnpooling_updateOutput(state, x, y, indices, 2, 2)
    return y


def lookup_loss(xp: Any, state: State | None, index: int) -> Any:
    scores, target = xp.asarray(np.ones((1, 3), np.float32)), xp.asarray(np.full(1, index))
    loss, total = (xp.asarray(np.zeros(1, np.float32)) for _ in range(2))
    thnn.ClassNLLCriterion_updateOutput(state, scores, target, loss, True, None, total, -100)
    return loss


INDEXED = {
    "SpatialMaxUnpooling_updateOutput": unpooling,
    "ClassNLLCriterion_updateOutput": lookup_loss,
}


@pytest.fixture(params=INDEXED)
def indexed(request: pytest.FixtureRequest) -> Any:
    return INDEXED[request.param]


def test_a_bad_index_is_raised_later(xp: Any, indexed: Any) -> None:
    indexed(xp, None, 2)
    pythnn.synchronize()
    indexed(xp, None, 9)
    with pytest.raises(THNNError, match="of an earlier call was outside its range"):
        pythnn.synchronize()
    pythnn.synchronize()
    indexed(xp, None, 2)


def test_a_bad_index_is_raised_before_the_work(xp: Any, indexed: Any) -> None:
    with pytest.raises(THNNArgumentError) as caught:
        indexed(xp, State(check_indices=True), 9)
    assert caught.value.argument in ("indices", "target")
    pythnn.synchronize()
    indexed(xp, State(check_indices=True), 2)


# ---- Memory


def test_more_memory_than_there_is(xp: Any) -> None:
    with pytest.raises(THNNMemoryError):
        Tensor(dtype=np.float64, device="cuda:0").resize(2**45)
    tensor = Tensor(np.ones(3), device="cuda:0")
    with pytest.raises(THNNMemoryError):
        tensor.resize(2**45)
    assert tensor.tolist() == [1, 1, 1]

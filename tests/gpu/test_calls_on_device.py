"""Calls of pythnn.thnn with arrays on a device: what is passed, refused, written and ordered."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from other_arrays import OnlyDlpack, OnlyInterface

import pythnn
from pythnn import Generator, State, Tensor, THNNArgumentError, THNNError, THNNMemoryError, thnn

REALS = [np.float32, np.float64]
CONVOLUTION = (3, 3, 1, 1, 1, 1, 0, 0)


def numbers(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# ---- Values


@pytest.mark.parametrize("dtype", REALS)
def test_pointwise(xp: Any, dtype: Any) -> None:
    x = numbers(3, 70, dtype=dtype)
    expected = np.empty_like(x)
    thnn.Threshold_updateOutput(None, x, expected, 0.1, -2.0, False)
    output = xp.empty(x.shape, dtype)
    thnn.Threshold_updateOutput(None, xp.asarray(x), output, 0.1, -2.0, False)
    np.testing.assert_array_equal(output.get(), expected)


@pytest.mark.parametrize("dtype", REALS)
def test_convolution(xp: Any, dtype: Any) -> None:
    # Small integers, whose sums are exact in any order.
    integers = np.random.default_rng(0).integers
    x, w, b = (integers(-4, 5, s).astype(dtype) for s in [(2, 3, 6, 5), (3, 4, 3, 3), (4,)])
    expected, found = Tensor(dtype=dtype), Tensor(dtype=dtype, device="cuda:0")
    thnn.SpatialFullConvolution_updateOutput(None, x, expected, w, b, None, None, *CONVOLUTION)
    device = [xp.asarray(a) for a in (x, w, b)]
    thnn.SpatialFullConvolution_updateOutput(
        None, device[0], found, device[1], device[2], None, None, *CONVOLUTION
    )
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.cpu().numpy(), expected.numpy())
    weight_sum, bias_sum = np.ones_like(w), np.ones_like(b)
    on_device = xp.asarray(weight_sum), xp.asarray(bias_sum)
    thnn.SpatialFullConvolution_accGradParameters(
        None, x, expected, weight_sum, bias_sum, None, None, *CONVOLUTION, 0.5
    )
    thnn.SpatialFullConvolution_accGradParameters(
        None, device[0], found, *on_device, None, None, *CONVOLUTION, 0.5
    )
    np.testing.assert_array_equal(on_device[0].get(), weight_sum)
    np.testing.assert_array_equal(on_device[1].get(), bias_sum)


def test_random_slopes_follow_the_generator(xp: Any) -> None:
    x = xp.asarray(-np.ones((4, 50), np.float32))

    def slopes(seed: int | None) -> Any:
        noise, output = xp.empty(x.shape, x.dtype), xp.empty(x.shape, x.dtype)
        generator = None if seed is None else Generator(seed)
        thnn.RReLU_updateOutput(None, x, output, noise, 0.1, 0.3, True, False, generator)
        return noise.get()

    first = slopes(5)
    assert first.min() >= 0.1
    assert first.max() <= 0.3
    assert len(np.unique(first)) > 100
    np.testing.assert_array_equal(slopes(5), first)
    assert (slopes(6) != first).any()
    assert (slopes(None) != first).any()


def test_unknown_to_cuda(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pythnn._calls import device as calls
    from pythnn._cuda.package import load

    monkeypatch.delitem(load().functions, "Square_updateOutput")
    calls._twin.cache_clear()
    x = xp.asarray(numbers(3))
    with pytest.raises(THNNError, match="Square_updateOutput does not exist on CUDA"):
        thnn.Square_updateOutput(None, x, x)
    calls._twin.cache_clear()


# ---- Layouts


@pytest.mark.parametrize("step", [(1, 2), (2, 1), (-1, 1), (1, -2), (-2, -1)])
def test_strides(xp: Any, step: tuple[int, int]) -> None:
    whole, target = numbers(6, 8), np.zeros((12, 16), np.float32)
    index = np.s_[:: step[0], :: step[1]]
    x, output = whole[index], xp.asarray(target)
    view = output[:: 2 * step[0], :: 2 * step[1]][: x.shape[0], : x.shape[1]]
    thnn.Abs_updateOutput(None, xp.asarray(whole)[index], view)
    target[:: 2 * step[0], :: 2 * step[1]][: x.shape[0], : x.shape[1]] = np.abs(x)
    np.testing.assert_array_equal(output.get(), target)


def test_broadcast_input_and_overlapping_output(xp: Any) -> None:
    row = xp.asarray(numbers(4))
    interface = {"shape": (3, 4), "strides": (0, 4)}
    output = xp.empty((3, 4), np.float32)
    thnn.Abs_updateOutput(None, OnlyInterface(row, **interface), output)
    np.testing.assert_array_equal(output.get(), np.abs(np.tile(row.get(), (3, 1))))
    with pytest.raises(THNNArgumentError, match="'output': .*overlaps itself"):
        thnn.Abs_updateOutput(None, output, OnlyInterface(row, **interface))


def test_scalars_and_empty(xp: Any) -> None:
    scalar, output = xp.asarray(np.float32(-2)), xp.empty((1,), np.float32)
    thnn.Abs_updateOutput(None, scalar, output)
    assert output.get().tolist() == [2]
    empty = Tensor(dtype=np.float32, device="cuda")
    thnn.Abs_updateOutput(None, xp.empty((0, 3), np.float32), empty)
    assert empty.shape == (0,)


def test_wrong_shape_is_refused(xp: Any) -> None:
    output = xp.asarray(numbers(2, 4))
    before = output.get()
    with pytest.raises(THNNArgumentError, match="output.*2 x 3.*2 x 4") as caught:
        thnn.Abs_updateOutput(None, xp.asarray(numbers(2, 3)), output)
    assert caught.value.argument == "output"
    np.testing.assert_array_equal(output.get(), before)


def test_read_only_is_refused(xp: Any) -> None:
    x = xp.asarray(numbers(3))
    output = OnlyInterface(x, data=(x.data.ptr, True))
    thnn.Abs_updateOutput(None, output, xp.empty((3,), np.float32))
    with pytest.raises(THNNArgumentError, match="'output': expected a writable array"):
        thnn.Abs_updateOutput(None, x, output)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"typestr": ">f4"}, "'output'.*float32"),
        ({"typestr": "<i4"}, "'output'.*float32"),
        ({"mask": 1}, "'output'.*masked"),
    ],
)
def test_other_elements_are_refused(xp: Any, changes: dict[str, Any], message: str) -> None:
    x = xp.asarray(numbers(3))
    with pytest.raises(THNNArgumentError, match=message):
        thnn.Abs_updateOutput(None, x, OnlyInterface(x, **changes))


def test_misaligned_memory_is_refused(xp: Any) -> None:
    x = xp.asarray(numbers(4))
    shifted = OnlyInterface(x, data=(x.data.ptr + 2, False), shape=(3,))
    with pytest.raises(THNNArgumentError, match="'input'"):
        thnn.Abs_updateOutput(None, shifted, xp.empty((3,), np.float32))


# ---- In place


def test_inplace_on_an_array(xp: Any) -> None:
    values = numbers(5)
    for output in (None, "same"):
        x = xp.asarray(values)
        thnn.Threshold_updateOutput(None, x, x if output else None, 0.0, 7.0, True)
        np.testing.assert_array_equal(x.get(), np.where(values > 0, values, 7))
    with pytest.raises(THNNArgumentError, match="None or the same memory as 'input'"):
        thnn.Threshold_updateOutput(None, x, xp.empty((5,), np.float32), 0.0, 7.0, True)


def test_inplace_on_tensors(xp: Any) -> None:
    x = Tensor(xp.asarray(numbers(5)))
    y = Tensor(dtype=np.float32, device="cuda:0")
    thnn.Threshold_updateOutput(None, x, y, 0.0, 7.0, True)
    assert y.shares_storage(x)
    assert (y.cpu().numpy() != numbers(5)).any()


# ---- Mixtures


def test_mixing_with_the_cpu(xp: Any) -> None:
    x, y = numbers(3), xp.asarray(numbers(3))
    with pytest.raises(THNNArgumentError, match="'output': expected an array on cuda:0, like"):
        thnn.Abs_updateOutput(None, y, x)
    with pytest.raises(THNNArgumentError, match="'output': .* found a Tensor of float32 in"):
        thnn.Abs_updateOutput(None, y, Tensor(x))
    with pytest.raises(
        THNNArgumentError, match="'output': expected an array in the CPU's mem"
    ) as e:
        thnn.Abs_updateOutput(None, x, y)
    assert e.value.position == 3
    with pytest.raises(THNNArgumentError, match="'input': expected .*, found None"):
        thnn.Abs_updateOutput(None, None, y)
    with pytest.raises(THNNArgumentError, match="'output': expected .*, found None"):
        thnn.Abs_updateOutput(None, y, None)
    with pytest.raises(THNNArgumentError, match="'output': .*found 3"):
        thnn.Abs_updateOutput(None, y, 3)


def test_two_devices(xp: Any, second: Any) -> None:
    with second:
        there = xp.asarray(numbers(3))
    here = xp.asarray(numbers(3))
    with pytest.raises(THNNArgumentError, match="'output': .*cuda:0.*one on cuda:1"):
        thnn.Abs_updateOutput(None, here, there)
    unknown = OnlyInterface(there)
    with pytest.raises(THNNArgumentError, match="'output': .*cuda:0.*one on cuda:1"):
        thnn.Abs_updateOutput(None, here, unknown)
    thnn.Abs_updateOutput(None, there, unknown)
    np.testing.assert_array_equal(there.get(), np.abs(numbers(3)))
    assert xp.cuda.Device().id == 0
    tensor = Tensor(there)
    assert tensor.device == "cuda:1"
    assert tensor.to("cuda:0").device == "cuda:0"


def test_float_with_double(xp: Any) -> None:
    with pytest.raises(THNNArgumentError, match="'output': expected a float32 array"):
        thnn.Abs_updateOutput(None, xp.asarray(numbers(3)), xp.empty((3,), np.float64))
    with pytest.raises(THNNArgumentError, match="'input': expected a float32 or float64"):
        thnn.Abs_updateOutput(None, xp.asarray(np.arange(3)), xp.empty((3,), np.float64))


@pytest.mark.parametrize("closed", ["State", "Tensor", "Generator"])
def test_closed(xp: Any, closed: str) -> None:
    state, generator, x = State(), Generator(1), Tensor(xp.asarray(numbers(3)))
    {"State": state, "Tensor": x, "Generator": generator}[closed].close()
    y = xp.empty((3,), np.float32)
    with pytest.raises(THNNError, match="closed"):
        thnn.RReLU_updateOutput(state, x, y, y, 0.1, 0.2, True, False, generator)


# ---- DLPack


def test_dlpack(xp: Any) -> None:
    x = xp.asarray(numbers(2, 3))
    output = OnlyDlpack(xp.empty((2, 3), np.float32))
    thnn.Abs_updateOutput(None, OnlyDlpack(x), output)
    np.testing.assert_array_equal(output.array.get(), np.abs(numbers(2, 3)))
    assert output.streams == [1]
    transposed = OnlyDlpack(xp.asarray(numbers(3, 3)), strides=(1, 3))
    square = xp.empty((3, 3), np.float32)
    thnn.Abs_updateOutput(None, transposed, square)
    np.testing.assert_array_equal(square.get(), np.abs(numbers(3, 3).T))
    assert Tensor(OnlyDlpack(x)).device == "cuda:0"


# ---- Streams and memory


def test_current_stream(xp: Any) -> None:
    from pythnn._cuda.state import state_of

    x, y = xp.asarray(numbers(3)), xp.empty((3,), np.float32)
    stream = xp.cuda.Stream()
    with stream:
        thnn.Abs_updateOutput(None, x, y)
        assert state_of(0).stream == stream.ptr
        pythnn.synchronize()
    thnn.Abs_updateOutput(None, x, y)
    assert state_of(0).stream == 0


def test_streams_of_the_arrays(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is ready on another stream is waited for, and waits for the result."""
    from pythnn._cuda.state import DeviceState

    ordered: list[tuple[int, int]] = []
    order = DeviceState.order

    def watch(state: DeviceState, earlier: int, later: int) -> None:
        ordered.append((earlier, later))
        order(state, earlier, later)

    monkeypatch.setattr(DeviceState, "order", watch)
    stream = xp.cuda.Stream()
    x, y = xp.asarray(numbers(3)), xp.empty((3,), np.float32)
    elsewhere = OnlyInterface(x, stream=stream.ptr)
    thnn.Abs_updateOutput(None, elsewhere, OnlyInterface(y, stream=None))
    assert ordered == [(stream.ptr, 0), (0, stream.ptr)]


def test_without_cupy_the_first_array_says_the_stream(
    xp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pythnn._cuda import cupy
    from pythnn._cuda.state import state_of

    x = xp.asarray(numbers(3))
    stream = xp.cuda.Stream()
    monkeypatch.setattr(cupy, "imported", lambda: None)
    thnn.Abs_updateOutput(None, OnlyInterface(x, stream=stream.ptr), x)
    (state,) = {id(s): s for s in [state_of(0, stream.ptr)]}.values()
    assert state.stream == stream.ptr
    y = Tensor(dtype=np.float32, device="cuda:0")  # memory of CUDA's own pool
    thnn.Abs_updateOutput(None, OnlyInterface(x, stream=None), y)
    assert state.stream == 0
    np.testing.assert_array_equal(y.cpu().numpy(), np.abs(numbers(3)))


class CountingPool:
    """CuPy's allocator, counted."""

    def __init__(self, xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.blocks = 0
        self.error: BaseException | None = None
        allocate = xp.cuda.alloc

        def alloc(size: int) -> Any:
            if self.error is not None:
                raise self.error
            self.blocks += 1
            return allocate(size)

        monkeypatch.setattr(xp.cuda, "alloc", alloc)


def test_memory_comes_from_cupy(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pythnn._cuda import cupy

    gc.collect()
    live = len(cupy._blocks)
    pool = CountingPool(xp, monkeypatch)
    tensor = Tensor.zeros(1000, dtype=np.float32).cuda()
    assert pool.blocks >= 1
    assert len(cupy._blocks) > live
    array = tensor.array()
    array[...] = 3.0
    del tensor
    gc.collect()
    assert (array.get() == 3).all(), "the array has lost its memory"
    del array
    gc.collect()
    assert len(cupy._blocks) == live


def test_scratch_memory_is_given_back(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pythnn._cuda import cupy

    x, w = (xp.asarray(numbers(*s)) for s in [(1, 2, 5, 5), (2, 3, 3, 3)])
    y = xp.empty((1, 3, 5, 5), np.float32)
    gc.collect()
    live, pool = len(cupy._blocks), CountingPool(xp, monkeypatch)
    thnn.SpatialFullConvolution_updateOutput(None, x, y, w, None, None, None, *CONVOLUTION)
    assert pool.blocks >= 1
    assert len(cupy._blocks) == live


@pytest.mark.parametrize("error", [MemoryError("full"), KeyboardInterrupt()])
def test_no_memory(xp: Any, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    x, w = (xp.asarray(numbers(*s)) for s in [(1, 2, 5, 5), (2, 3, 3, 3)])
    y = xp.asarray(numbers(1, 3, 5, 5))
    before = y.get()
    with monkeypatch.context() as patch:
        CountingPool(xp, patch).error = error
        with pytest.raises(
            type(error) if isinstance(error, KeyboardInterrupt) else THNNMemoryError
        ):
            thnn.SpatialFullConvolution_updateOutput(None, x, y, w, None, None, None, *CONVOLUTION)
    np.testing.assert_array_equal(y.get(), before)
    thnn.SpatialFullConvolution_updateOutput(None, x, y, w, None, None, None, *CONVOLUTION)
    assert (y.get() != before).any()

"""What cuDNN computes, behind its switch: here by the stand-in of the emulation.

The stand-in checks handles, descriptors, sizes and memory of each call, computes the definitions,
and lists what ran.
"""

from __future__ import annotations

import ctypes
import gc
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_half_of_the_digits
from test_grouped_convolution import random_call

import pythnn
from pythnn import State, THNNArgumentError, THNNError
from pythnn import functional as F  # noqa: N812
from pythnn._cuda.cudnn import handle, library
from pythnn._cuda.cudnn.convolution import ALGORITHMS
from pythnn._state import CUDNN_NAMES

if os.environ.get("PYTHNN_CUDA_PACKAGE") != "pythnn_cuda_emulated":
    pytest.skip("the stand-in for cuDNN needs the emulation", allow_module_level=True)

REALS = [np.float32, np.float64]
RESULTS = ("output", "grad_input", "grad_weight")
DETERMINISTIC = {
    result: [n for n in names if n not in ("cudnn_algo_0", "cudnn_algo_3")]
    for result, names in ALGORITHMS.items()
}
LIMIT = 1 << 30

rng = np.random.default_rng(0)
X = rng.standard_normal((2, 4, 9, 8))
W = rng.standard_normal((6, 2, 3, 3))
BIAS = rng.standard_normal(6)
SETTINGS: dict[str, Any] = {"groups": 2, "padding": 1}


class StandIn:
    """The stand-in, and what ran on it."""

    def __init__(self, file: str) -> None:
        self.library = ctypes.CDLL(file)
        self.library.cuemuCudnnCalls.restype = ctypes.c_char_p
        self.library.cuemuCudnnObjects.restype = ctypes.c_size_t

    def calls(self) -> list[tuple[str, int, int]]:
        """Name, algorithm or mode, bytes of scratch memory; asked once."""
        return [(name, int(n), int(size)) for name, n, size, _ in self._lines()]

    def streams(self) -> list[int]:
        """The streams of the calls."""
        return [int(stream) for *_, stream in self._lines()]

    def _lines(self) -> list[list[str]]:
        lines = self.library.cuemuCudnnCalls().decode().splitlines()
        self.library.cuemuCudnnForget()
        return [line.split() for line in lines]

    def names(self) -> list[str]:
        return [name for name, _, _ in self.calls()]

    def objects(self) -> int:
        return int(self.library.cuemuCudnnObjects())


def forget_library() -> None:
    library._found.cache_clear()
    handle._refusals.clear()
    handle._thread.handles.clear()


@pytest.fixture
def cudnn(xp: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """The stand-in in the place of cuDNN."""
    import pythnn_cuda_emulated

    folder = Path(next(iter(pythnn_cuda_emulated.__path__))).parent
    file = str(folder / "libcudnn_emulated.so")
    monkeypatch.setenv(library.VARIABLE, file)
    forget_library()
    stand_in = StandIn(file)
    stand_in.calls()
    yield stand_in
    forget_library()


@pytest.fixture
def times() -> Iterator[Any]:
    F.convolution_times.clear()
    yield F.convolution_times
    F.convolution_times.clear()


def there(xp: Any, *arrays: Any) -> list[Any]:
    return [None if array is None else xp.asarray(array) for array in arrays]


def check(found: Any, expected: Any) -> None:
    """Results on the device, those that are None apart, against those of the CPU."""
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            assert_half_of_the_digits(one.get(), other)


# ---- Convolutions


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_convolutions(cudnn: StandIn, xp: Any, transposed: bool, n: int, real: Any) -> None:
    """Geometries of all kinds; cuDNN computes those whose padding is the same on both sides."""
    computed = 0
    for seed in range(12):
        call = random_call(n, transposed, seed)
        planes = call.groups * call.planes[0 if transposed else 1]
        shapes = call.shape(not transposed), call.weight_shape(), (planes,)
        arrays = [rng.standard_normal(shape).astype(real) for shape in shapes]
        settings = {"groups": call.groups, **call.settings}
        forward, backward = call.function(), call.function("_backward")
        expected = forward(*arrays, **settings)
        found = forward(*there(xp, *arrays), **settings)
        check([found], [expected])
        grad = np.cos(np.arange(expected.size)).reshape(expected.shape).astype(real)
        grads = backward(*there(xp, grad, *arrays[:2]), **settings)
        check(grads, backward(grad, *arrays[:2], **settings))
        ran = cudnn.names()
        assert len(ran) in (0, 5), ran
        computed += bool(ran)
    assert computed >= 3


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("result", RESULTS)
def test_algorithms_by_name(cudnn: StandIn, xp: Any, result: str, real: Any) -> None:
    """Each computes the same, with the scratch memory that it asks for, or says why it does not."""
    x, w = X.astype(real), W.astype(real)
    grad = np.cos(np.arange(2 * 6 * 9 * 8)).reshape(2, 6, 9, 8).astype(real)
    calls = {
        "output": lambda place, s: F.conv2d(*place(x, w), **SETTINGS, state=s),
        "grad_input": lambda p, s: F.conv2d_grad_input(*p(grad, w), (9, 8), **SETTINGS, state=s),
        "grad_weight": lambda p, s: F.conv2d_grad_weight(*p(grad, x), (3, 3), **SETTINGS, state=s),
    }
    expected = calls[result](lambda *a: a, None)
    ran = set()
    for name in CUDNN_NAMES[1:]:
        with State(convolution={result: name}, workspace_limit=LIMIT) as state:
            if name not in ALGORITHMS[result]:
                with pytest.raises(
                    THNNArgumentError, match="'state'.*cuDNN does not have for this"
                ):
                    calls[result](lambda *a: there(xp, *a), state)
                continue
            try:
                found = calls[result](lambda *a: there(xp, *a), state)
            except THNNArgumentError as error:
                assert "which cuDNN does not have for these sizes" in str(error)
                assert not cudnn.calls()
                continue
        ((_, number, size),) = cudnn.calls()
        assert number == ALGORITHMS[result][name]
        plan = F.convolution_plan(
            xp.asarray(x), xp.asarray(w), result, **SETTINGS,
            state=State(convolution={result: name}, workspace_limit=LIMIT),
        )  # fmt: skip
        assert (plan.algorithm, plan.scratch_bytes) == (name, size)
        check([found], [expected])
        ran.add(name)
    assert len(ran) >= 4


def test_names_that_the_cpu_shares(cudnn: StandIn, xp: Any) -> None:
    x, w = there(xp, X, W)
    for name in ("fft", "fft_tiling", "winograd"):
        with State(convolution=name, workspace_limit=LIMIT) as state:
            x, w = there(xp, X.astype(np.float32), W.astype(np.float32))
            F.conv2d(x, w, **SETTINGS, state=state)
        assert cudnn.calls()[0][:2] == ("ConvolutionForward", ALGORITHMS["output"][f"cudnn_{name}"])
    with State(convolution="gemm") as state:
        F.conv2d(x, w, **SETTINGS, state=state)
    assert not cudnn.calls()


def test_cudnn_advises_within_the_limit(cudnn: StandIn, xp: Any) -> None:
    """The stand-in recommends what takes the most memory."""
    big = xp.asarray(rng.standard_normal((2, 4, 40, 40)))
    sizes = []
    for limit in (64 << 10, LIMIT):
        with State(convolution="cudnn", workspace_limit=limit) as state:
            F.conv2d(big, xp.asarray(W), **SETTINGS, state=state)
        sizes.append(cudnn.calls()[0][2])
    assert sizes[0] <= 64 << 10 < sizes[1]
    with (
        State(convolution="cudnn_fft", workspace_limit=64 << 10) as state,
        pytest.raises(THNNArgumentError, match=r"needs \d+ bytes of scratch memory"),
    ):
        F.conv2d(big, xp.asarray(W), **SETTINGS, state=state)


def test_only_deterministic_ones_unless_named(cudnn: StandIn, xp: Any) -> None:
    x, w = there(xp, X, W)
    grad = F.conv2d(x, w, **SETTINGS)
    for name in ("cudnn_algo_0", "cudnn_algo_3"):
        choice = {"grad_weight": name}
        with State(convolution=choice, workspace_limit=LIMIT) as state:
            F.conv2d_grad_weight(grad, x, (3, 3), **SETTINGS, state=state)
            state.deterministic = True
            with pytest.raises(THNNArgumentError, match="which is not deterministic"):
                F.conv2d_grad_weight(grad, x, (3, 3), **SETTINGS, state=state)
    cudnn.calls()
    for limit in (64 << 10, 128 << 10, LIMIT):
        with State(workspace_limit=limit) as state:
            F.conv2d_backward(grad, x, w, **SETTINGS, state=state)
        for (name, number, _), result in zip(
            cudnn.calls(), ("grad_input", "grad_weight"), strict=False
        ):
            assert number in [ALGORITHMS[result][n] for n in DETERMINISTIC[result]], name


def test_gradients_are_added_without_another_pass(cudnn: StandIn, xp: Any) -> None:
    grad = F.conv2d(X, W, **SETTINGS)
    expected = F.conv2d_backward(grad, X, W, **SETTINGS)
    x, w, g = there(xp, X, W, grad)
    for name, one in zip(("x", "weight", "bias"), expected, strict=True):
        start = xp.asarray(np.ones_like(one))
        found = F.conv2d_backward(g, x, w, **SETTINGS, needs=(name,), add_to={name: start})
        assert sum(f is start for f in found) == 1
        assert_half_of_the_digits(start.get(), 1 + one)
        assert len(cudnn.calls()) == 1
        gaps = xp.asarray(np.ones((*one.shape, 2)))[..., 0]
        F.conv2d_backward(g, x, w, **SETTINGS, needs=(name,), add_to={name: gaps})
        assert_half_of_the_digits(gaps.get(), 1 + one)
        assert not cudnn.calls(), "cuDNN takes no gaps"


def test_arrays_with_gaps_and_without_a_batch(cudnn: StandIn, xp: Any) -> None:
    for x, w in ((X[:, :, ::2, ::-1], W[::-1]), (X[0], W)):
        place = there(xp, x, w)
        check([F.conv2d(*place, **SETTINGS)], [F.conv2d(x, w, **SETTINGS)])
        assert cudnn.names() == ["ConvolutionForward"]


@pytest.mark.parametrize(
    ("settings", "obstacle"),
    [
        ({"padding": ((1, 0), (1, 1))}, "padding of .* before and .* after"),
        ({"padding": -1}, "negative padding"),
    ],
)
def test_what_cudnn_lacks(cudnn: StandIn, xp: Any, settings: Any, obstacle: str) -> None:
    x, w = there(xp, X, W)
    check([F.conv2d(x, w, groups=2, **settings)], [F.conv2d(X, W, groups=2, **settings)])
    assert not cudnn.calls()
    for choice in ({"use_cudnn": True}, {"convolution": "cudnn"}, {"convolution": "fft"}):
        with (
            State(**choice) as state,
            pytest.raises(THNNArgumentError, match=f"'state'.* for {obstacle}"),
        ):
            F.conv2d(x, w, groups=2, state=state, **settings)


# ---- How to choose


def test_choosing(cudnn: StandIn, xp: Any, times: Any, tmp_path: Path) -> None:
    x, w = there(xp, X, W)
    expected = F.conv2d(X, W, **SETTINGS)
    for method in ("guess_once", "guess_on_shape_change", "time_once", "time_on_shape_change"):
        with State(convolution=method, workspace_limit=LIMIT) as state:
            for _ in range(2):
                check([F.conv2d(x, w, **SETTINGS, state=state)], [expected])
        assert cudnn.calls() or method.startswith("time")
    assert len(times) == 1, "one geometry"
    measured = set(next(iter(times._seconds.values())))
    assert {"gemm", "cudnn_implicit_gemm", "cudnn_fft"} <= measured
    times.save(tmp_path / "times.json")
    times.clear()
    times.load(tmp_path / "times.json")
    cudnn.calls()
    known = next(iter(times._seconds.values()))
    known |= dict.fromkeys(known, 1.0) | {"cudnn_fft": 0.5}
    with State(convolution="time_once", workspace_limit=LIMIT) as state:
        F.conv2d(x, w, **SETTINGS, state=state)
        assert [n for _, n, _ in cudnn.calls()] == [ALGORITHMS["output"]["cudnn_fft"]]
        strided = F.conv2d(x, w, **SETTINGS, stride=2, state=state)
    check([strided], [F.conv2d(X, W, **SETTINGS, stride=2)])
    assert [n for _, n, _ in cudnn.calls()] != [ALGORITHMS["output"]["cudnn_fft"]]
    known["gemm"] = 0.25
    with State(convolution="time_on_shape_change", workspace_limit=LIMIT) as state:
        F.conv2d(x, w, **SETTINGS, state=state)
        assert not cudnn.calls(), "the library's own way is the fastest"
        state.use_cudnn = True
        F.conv2d(x, w, **SETTINGS, state=state)
        assert [n for _, n, _ in cudnn.calls()] == [ALGORITHMS["output"]["cudnn_fft"]]


def test_asking_settles_nothing(cudnn: StandIn, xp: Any, times: Any) -> None:
    """What "time_once" keeps to is measured by the first call, whatever was asked before."""
    x, w = there(xp, X, W)
    with State(convolution="time_once", workspace_limit=LIMIT) as state:
        guessed = F.convolution_plan(x, w, **SETTINGS, state=state).algorithm
        F.conv2d(x, w, **SETTINGS, state=state)
        assert len(times) == 1
        known = next(iter(times._seconds.values()))
        other = next(name for name in known if name not in (guessed, "gemm"))
    known |= dict.fromkeys(known, 1.0) | {other: 0.5}
    with State(convolution="time_once", workspace_limit=LIMIT) as state:
        for _ in range(2):
            assert F.convolution_plan(x, w, **SETTINGS, state=state).algorithm == other
            F.conv2d(x, w, **SETTINGS, state=state)
            times.clear()
        assert len(times) == 0


def test_measuring_adds_nothing(cudnn: StandIn, xp: Any, times: Any) -> None:
    grad = F.conv2d(X, W, **SETTINGS)
    expected = F.conv2d_backward(grad, X, W, **SETTINGS)
    x, w, g = there(xp, X, W, grad)
    starts = {
        n: xp.asarray(np.ones(np.shape(e))) for n, e in zip(("x", "weight"), expected, strict=False)
    }
    with State(convolution="time_once", workspace_limit=LIMIT) as state:
        F.conv2d_backward(g, x, w, **SETTINGS, add_to=starts, state=state)
    for start, one in zip(starts.values(), expected, strict=False):
        assert_half_of_the_digits(start.get(), 1 + one)


def test_precision(cudnn: StandIn, xp: Any) -> None:
    """Arrays of float32 are computed as float64, also on a device."""
    x, w = X.astype(np.float32), W.astype(np.float32)
    wide = F.conv2d(x.astype(float), w.astype(float), **SETTINGS)
    for use, names in (("auto", ["ConvolutionForward"]), (False, [])):
        with State(precision="float64", use_cudnn=use) as state:
            found = F.conv2d(*there(xp, x, w), **SETTINGS, state=state)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found.get(), wide.astype(np.float32))
        assert cudnn.names() == names


# ---- The switch


def test_the_switch(cudnn: StandIn, xp: Any) -> None:
    place = there(xp, X, W, BIAS)
    for use, ran in ((False, False), ("auto", True), (True, True)):
        with State(use_cudnn=use) as state:
            F.conv2d(*place, **SETTINGS, state=state)
            F.softmax(place[0], state=state)
            F.avg_pool2d(place[0], 2, state=state)
            F.batch_norm(place[0], state=state)
            assert len(cudnn.calls()) == (5 if ran else 0)
    with (
        State(use_cudnn=False, convolution="fft") as state,
        pytest.raises(THNNArgumentError, match="'auto' or 'gemm', as use_cudnn is False"),
    ):
        F.conv2d(*place, **SETTINGS, state=state)
    with State(use_cudnn=True, convolution="gemm") as state:
        with pytest.raises(THNNArgumentError, match="an algorithm of cuDNN, as use_cudnn is True"):
            F.conv2d(*place, **SETTINGS, state=state)
        F.conv2d(X, W, **SETTINGS, state=state)  # on the CPU it means nothing


def test_without_cudnn(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Own kernels where it may be missing; else an error that says what to install."""
    monkeypatch.setenv(library.VARIABLE, "none")
    forget_library()
    x, w = there(xp, X, W)
    check([F.conv2d(x, w, **SETTINGS)], [F.conv2d(X, W, **SETTINGS)])
    for choice in ({"use_cudnn": True}, {"convolution": "cudnn"}, {"convolution": "cudnn_fft"}):
        with (
            State(**choice) as state,
            pytest.raises(THNNError, match="pip install nvidia-cudnn-cu12 or nvidia-cudnn-cu13"),
        ):
            F.conv2d(x, w, **SETTINGS, state=state)
    with State(use_cudnn=True) as state:
        for call in (
            lambda: F.softmax(x, state=state),
            lambda: F.avg_pool2d(x, 2, state=state),
            lambda: F.max_pool2d(x, 2, state=state),
            lambda: F.batch_norm(x, state=state),
        ):
            with pytest.raises(THNNError, match="cuDNN 9 cannot be loaded"):
                call()
    forget_library()


def test_a_library_of_another_kind(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.VARIABLE, "libc.so.6")
    forget_library()
    with (
        State(use_cudnn=True) as state,
        pytest.raises(THNNError, match="cuDNN 9 cannot be loaded .*cudnnGetVersion"),
    ):
        F.softmax(xp.asarray(X), state=state)
    forget_library()


# ---- Pooling, softmax, batch normalisation


@pytest.mark.parametrize("real", REALS)
def test_means_and_sums(cudnn: StandIn, xp: Any, real: Any) -> None:
    x2, x3 = X.astype(real), rng.standard_normal((2, 2, 5, 6, 4)).astype(real)
    cases: list[tuple[str, Any, tuple[Any, ...], dict[str, Any]]] = [
        ("avg_pool2d", x2, ((3, 2), (2, 1)), {"padding": (1, 0)}),
        ("avg_pool2d", x2, (3,), {"padding": 1, "count_padding": False}),
        ("avg_pool2d", x2[0], (3, 2), {"padding": 2}),
        ("sum_pool2d", x2[:, ::2], (2, 1), {}),
        ("avg_pool3d", x3, (2, 1), {"padding": 1, "count_padding": False}),
        ("sum_pool3d", x3, ((2, 3, 1), 2), {"padding": (1, 1, 0)}),
        ("avg_pool1d", x2[0], (3,), {"padding": 1}),
        ("sum_pool1d", x2[0], (2,), {"axis": -1}),
    ]
    for name, x, window, settings in cases:
        expected = getattr(F, name)(x, *window, **settings)
        found = getattr(F, name)(xp.asarray(x), *window, **settings)
        grad = np.cos(np.arange(expected.size)).reshape(expected.shape).astype(real)
        back = getattr(F, f"{name}_backward")
        grads = back(*there(xp, grad, x), *window, **settings)
        check([found, grads], [expected, back(grad, x, *window, **settings)])
        assert cudnn.names() == ["PoolingForward", "PoolingBackward"], (name, settings)
    cut = {"ceil_mode": True}
    check([F.avg_pool2d(xp.asarray(x2), 3, 2, **cut)], [F.avg_pool2d(x2, 3, 2, **cut)])
    assert not cudnn.calls()
    with (
        State(use_cudnn=True) as state,
        pytest.raises(THNNArgumentError, match="'state'.*windows that an edge cuts off"),
    ):
        F.avg_pool2d(xp.asarray(x2), 4, 3, **cut, state=state)


@pytest.mark.parametrize("real", REALS)
def test_maxima_on_request(cudnn: StandIn, xp: Any, real: Any) -> None:
    x2, x3 = X.astype(real), rng.standard_normal((2, 5, 6, 4)).astype(real)
    cases: list[tuple[str, Any, tuple[Any, ...], dict[str, Any]]] = [
        ("max_pool2d", x2, ((3, 2), (2, 1)), {"padding": (1, 0)}),
        ("max_pool3d", x3, (2,), {"padding": 1}),
        ("max_pool1d", x2[0], (3, 1), {}),
    ]
    for name, x, window, settings in cases:
        forward, backward = getattr(F, name), getattr(F, f"{name}_backward")
        expected = forward(x, *window, **settings)
        forward(xp.asarray(x), *window, **settings)
        assert not cudnn.calls(), "it does not say where maxima were"
        with State(use_cudnn=True) as state:
            found = forward(xp.asarray(x), *window, **settings, state=state)
            check(found, expected)
            grad = np.cos(np.arange(expected[0].size)).reshape(expected[0].shape).astype(real)
            grads = backward(*there(xp, grad, x), found[1], *window, **settings, state=state)
        check([grads], [backward(grad, x, expected[1], *window, **settings)])
        assert cudnn.calls() == [
            ("PoolingForward", 3, 0), ("PoolingForward", 3, 0), ("PoolingBackward", 3, 0),
        ]  # fmt: skip
    with (
        State(use_cudnn=True) as state,
        pytest.raises(THNNArgumentError, match="'state'.*windows with dilation"),
    ):
        F.max_pool2d(xp.asarray(x2), 2, dilation=2, state=state)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("axis", [0, 1, -1, (1, 2), (0, 2), (0, 1, 2, 3)])
def test_softmax(cudnn: StandIn, xp: Any, axis: Any, real: Any) -> None:
    x = X.astype(real)
    for name in ("softmax", "log_softmax"):
        forward, backward = getattr(F, name), getattr(F, f"{name}_backward")
        output, grad = forward(x, axis), np.cos(x)
        found = forward(xp.asarray(x), axis)
        grads = backward(xp.asarray(grad), found, axis)
        check([found, grads], [output, backward(grad, output, axis)])
        assert cudnn.names() == ["SoftmaxForward", "SoftmaxBackward"]


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("axes", [None, 0, (0, 2), (0, 2, 3), (1, 3)])
@pytest.mark.parametrize("given", [True, False])
def test_batch_normalisation(cudnn: StandIn, xp: Any, given: bool, axes: Any, real: Any) -> None:
    x, grad = X.astype(real), np.cos(X).astype(real)
    kept = [i for i in range(4) if i not in ((0, 2, 3) if axes is None else np.atleast_1d(axes))]
    shape = tuple(x.shape[i] for i in kept)
    here = [rng.standard_normal(shape).astype(real) for _ in range(3)] + [np.ones(shape, real)]
    if not given:
        here = [None] * 4
    device = there(xp, *(None if a is None else a.copy() for a in here))
    expected = F.batch_norm(x, *here, axes=axes, momentum=0.3)
    found = F.batch_norm(xp.asarray(x), *device, axes=axes, momentum=0.3)
    check([*found, *device], [*expected, *here])
    ours = F.batch_norm_backward(grad, x, here[0], *expected[1:], axes=axes)
    back = F.batch_norm_backward(
        xp.asarray(grad), xp.asarray(x), device[0], *there(xp, *expected[1:]), axes=axes
    )
    check(back, ours)
    ran = ["BatchNormalizationForwardTraining", "BatchNormalizationBackward"]
    assert [name for name, _, _ in cudnn.calls()] == ran
    if given:
        in_use = F.batch_norm(xp.asarray(x), *device, axes=axes, training=False)
        check(in_use, F.batch_norm(x, *here, axes=axes, training=False))
        assert cudnn.names() == ["BatchNormalizationForwardInference"]


def test_normalisations_that_cudnn_lacks(cudnn: StandIn, xp: Any) -> None:
    row = xp.asarray(X[:1, :, 0, 0])
    F.batch_norm(row)
    mean, variance = (xp.asarray(np.ones((4, 2)))[:, 0] for _ in range(2))
    F.batch_norm(xp.asarray(X), None, None, mean, variance)
    assert not cudnn.calls()
    with State(use_cudnn=True) as state:
        with pytest.raises(THNNArgumentError, match="'state'.*planes of one element"):
            F.batch_norm(row, state=state)
        with pytest.raises(THNNArgumentError, match="'state'.*gradients with given statistics"):
            F.batch_norm_backward(*there(xp, X, X), None, *there(xp, np.ones(4), np.ones(4)),
                                  training=False, state=state)  # fmt: skip


def test_what_cudnn_turns_out_not_to_have(cudnn: StandIn, xp: Any) -> None:
    """Statuses of what is not supported: "auto" passes over, and True says so."""
    x, w = there(xp, X, W)
    _, mean, inverse = F.batch_norm(X)
    grad = F.conv2d(X, W, **SETTINGS)
    calls: list[Any] = [
        lambda p, s: [F.conv2d(*p(X, W), **SETTINGS, state=s)],
        lambda p, s: F.conv2d_backward(*p(grad, X, W), **SETTINGS, state=s),
        lambda p, s: [F.softmax(*p(X), state=s)],
        lambda p, s: [F.softmax_backward(*p(np.cos(X), F.softmax(X)), state=s)],
        lambda p, s: [F.avg_pool2d(*p(X), 2, state=s)],
        lambda p, s: [F.avg_pool2d_backward(*p(X[:, :, :4, :4], X[:, :, :8]), 2, state=s)],
        lambda p, s: F.batch_norm(*p(X), state=s),
        lambda p, s: F.batch_norm_backward(*p(X, X), None, *p(mean, inverse), state=s),
    ]
    cudnn.library.cuemuCudnnRefuse(1)
    try:
        for call in calls:
            check(call(lambda *a: there(xp, *a), None), call(lambda *a: a, None))
            assert not cudnn.calls()
            with (
                State(use_cudnn=True) as state,
                pytest.raises(THNNError, match="failed: CUDNN_STATUS_NOT_SUPPORTED"),
            ):
                call(lambda *a: there(xp, *a), state)
        with (
            State(convolution="cudnn_implicit_gemm") as state,
            pytest.raises(THNNError, match="failed: CUDNN_STATUS_NOT_SUPPORTED"),
        ):
            F.conv2d(x, w, **SETTINGS, state=state)
    finally:
        cudnn.library.cuemuCudnnRefuse(0)


# ---- Places, threads, memory


def test_on_another_device_and_stream(cudnn: StandIn, xp: Any, second: Any) -> None:
    with second:
        stream = xp.cuda.Stream()
        with stream:
            x, w = there(xp, X, W)
            check([F.conv2d(x, w, **SETTINGS)], [F.conv2d(X, W, **SETTINGS)])
        assert cudnn.streams() == [stream.ptr]
    found = F.conv2d(x, w, **SETTINGS)
    assert found.device.id == 1
    assert cudnn.streams() == [0]


def test_a_handle_for_each_thread(cudnn: StandIn, xp: Any) -> None:
    F.softmax(xp.asarray(X))
    gc.collect()
    before, found = cudnn.objects(), []

    def run() -> None:
        found.append(F.softmax(xp.asarray(X)).get())
        found.append(cudnn.objects())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert_half_of_the_digits(found[0], F.softmax(X))
    assert found[1] == before + 1
    gc.collect()
    assert cudnn.objects() == before, "it goes with its thread"


def test_nothing_waits(cudnn: StandIn, xp: Any) -> None:
    x, w = there(xp, X, W)
    waits = len(getattr(xp, "waits", ()))
    grad = F.conv2d(x, w, **SETTINGS)
    F.conv2d_backward(grad, x, w, **SETTINGS)
    assert len(getattr(xp, "waits", ())) == waits
    pythnn.synchronize()

"""pythnn.functional on arrays of a device: results are those of the CPU, and lie there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import test_functional as on_cpu
from other_arrays import OnlyDlpack, OnlyInterface
from support.bounds import AROUND_A_SUM, FUNCTION, assert_half_of_the_digits, assert_near
from support.functional_modules import LOG

import pythnn
from pythnn import Generator, Tensor, THNNArgumentError, THNNError, THNNMemoryError, functional

EMULATED = os.environ.get("PYTHNN_CUDA_PACKAGE") == "pythnn_cuda_emulated"
REALS = [np.float32, np.float64]
F: Any = functional


class Elsewhere:
    """pythnn.functional, to whose functions arrays are taken first, within another context."""

    def __init__(
        self,
        real: Any,
        place: Callable[[np.ndarray], Any],
        within: Callable[[], Any] = contextlib.nullcontext,
    ) -> None:
        self.real, self.place, self.within = real, place, within
        self.called: set[str] = set()

    def take(self, value: Any) -> Any:
        if isinstance(value, list) and np.asarray(value).dtype.kind == "f":
            value = np.asarray(value)  # lists of ints stay lists
        if type(value) is tuple:
            return tuple(map(self.take, value))
        if not isinstance(value, np.ndarray):
            return value
        return self.place(value.astype(self.real) if value.dtype.kind == "f" else value)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        self.called.add(name)

        def call(*given: Any, **named: Any) -> Any:
            given = tuple(map(self.take, given))
            named = {key: self.take(value) for key, value in named.items()}
            with self.within():
                return getattr(functional, name)(*given, **named)

        return call


def results(case: on_cpu.Case, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The output of a case and its gradients."""
    monkeypatch.setattr(on_cpu.F, "target", elsewhere)
    arrays = [elsewhere.take(np.asarray(array)) for array in case.arrays]
    output = case.forward(*arrays)
    shape = np.shape(output)
    ones = np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)
    gradients = case.backward(elsewhere.take(ones), *arrays)
    return [output, *(gradients if isinstance(gradients, tuple) else (gradients,))]


def check(xp: Any, found: list[Any], expected: list[Any], real: Any, device: int) -> None:
    for one, other in zip(expected, found, strict=True):
        assert type(other) is xp.ndarray
        assert other.device.id == device
        assert other.dtype == (real if isinstance(one, float) else one.dtype)
        assert other.shape == np.shape(one)
        assert_half_of_the_digits(other.get(), one)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", on_cpu.CASES)
def test_results_are_those_of_the_cpu(
    xp: Any, monkeypatch: pytest.MonkeyPatch, name: str, real: Any
) -> None:
    case = on_cpu.CASES[name]
    expected = results(case, Elsewhere(real, lambda a: a), monkeypatch)
    waits = len(getattr(xp, "waits", ()))
    found = results(case, Elsewhere(real, xp.asarray), monkeypatch)
    assert len(getattr(xp, "waits", ())) == waits, "something came to the CPU's memory"
    check(xp, found, expected, real, 0)


def test_every_function_is_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = Elsewhere(np.float64, lambda a: a)
    for case in on_cpu.CASES.values():
        results(case, elsewhere, monkeypatch)
    public = {name for name in vars(functional) if callable(getattr(functional, name))}
    assert all(hasattr(getattr(functional, name), "__wrapped__") for name in public), "@function"
    others = {"rrelu", "rrelu_backward", "embedding_renorm", "one_hot", "convolution_plan"}
    assert elsewhere.called | others == public


@pytest.mark.parametrize("name", on_cpu.CASES)
def test_on_a_device_that_is_not_the_current_one(
    xp: Any, second: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    case = on_cpu.CASES[name]
    expected = results(case, Elsewhere(np.float64, lambda a: a), monkeypatch)
    with second:
        elsewhere = Elsewhere(np.float64, xp.asarray, lambda: xp.cuda.Device(0))
        found = results(case, elsewhere, monkeypatch)
        assert xp.cuda.Device().id == 1
    check(xp, found, expected, np.float64, 1)


# ---- What the examples leave out


def quarters(*shape: int) -> np.ndarray:
    """Multiples of 1/4 from -2 to 2: sums of their products are exact in both real types."""
    return np.random.default_rng(1).integers(-8, 9, shape) / 4


@pytest.mark.parametrize("real", REALS)
def test_algorithms_of_convolutions(xp: Any, real: Any) -> None:
    """How to choose one is no choice without cuDNN, whose names say that it is missing."""
    x, weight = quarters(2, 4, 5, 5).astype(real), quarters(6, 2, 3, 3).astype(real)
    there = xp.asarray(x), xp.asarray(weight)
    expected = F.conv2d(x, weight, groups=2)
    for name in ("auto", "gemm", "guess_once", "time_once", "time_on_shape_change"):
        with pythnn.State(convolution=name) as state:
            found = F.conv2d(*there, groups=2, state=state)
        np.testing.assert_array_equal(found.get(), expected)
    for name in ("direct", "winograd", "fft", "cudnn") if EMULATED else ():
        with (
            pythnn.State(convolution=name) as state,
            pytest.raises(THNNError, match="cuDNN 9 cannot be loaded"),
        ):
            F.conv2d(*there, groups=2, state=state)
        with (
            pythnn.State(convolution=name, use_cudnn=False) as state,
            pytest.raises(THNNArgumentError, match="'state': expected 'auto' or 'gemm', as use_"),
        ):
            F.conv2d(*there, groups=2, state=state)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("to", [0, 1])
def test_a_gradient_is_added_to_what_others_are_computed_from(xp: Any, real: Any, to: int) -> None:
    x, weight = quarters(2, 4, 5, 5).astype(real), quarters(4, 2, 3, 3).astype(real)
    grad, settings = quarters(2, 4, 5, 5).astype(real), {"groups": 2, "padding": 1}
    expected = F.conv2d_backward(grad, x, weight, **settings)
    given = xp.asarray(grad), xp.asarray(x), xp.asarray(weight)
    found = F.conv2d_backward(*given, **settings, add_to={"x": given[to]})
    assert found[0] is given[to]
    np.testing.assert_array_equal(found[0].get(), (grad, x)[to] + expected[0])
    for one, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(one.get(), other)


@pytest.mark.parametrize("real", REALS)
def test_gradients_of_convolutions_are_added(xp: Any, real: Any) -> None:
    x, weight = quarters(2, 4, 5, 5).astype(real), quarters(6, 2, 3, 3).astype(real)
    grad = F.conv2d(x, weight, groups=2)
    expected = F.conv2d_backward(grad, x, weight, groups=2)
    for name, one in zip(("x", "weight", "bias"), expected, strict=True):
        start = xp.asarray(np.ones_like(one))
        there = xp.asarray(grad), xp.asarray(x), xp.asarray(weight)
        found = F.conv2d_backward(*there, groups=2, needs=(name,), add_to={name: start})
        assert [f is not None for f in found] == [n == name for n in ("x", "weight", "bias")]
        np.testing.assert_array_equal(start.get(), 1 + one)


@pytest.mark.parametrize("real", REALS)
def test_dropout_has_the_masks_of_the_cpu(xp: Any, real: Any) -> None:
    for shape in ((5, 7, 30), (3,), ()):
        x = np.full(shape, 2, real)
        found = F.dropout(xp.asarray(x), 0.3, generator=Generator(3))
        for one, wanted in zip(found, F.dropout(x, 0.3, generator=Generator(3)), strict=True):
            assert one.dtype == real
            np.testing.assert_array_equal(one.get(), wanted)


@pytest.mark.parametrize("real", REALS)
def test_rrelu(xp: Any, real: Any) -> None:
    x = on_cpu.apart(5, 7).astype(real)
    there = xp.asarray(x)
    output, slopes = F.rrelu(there, generator=Generator(3))
    again, _ = F.rrelu(there, generator=Generator(3))
    np.testing.assert_array_equal(output.get(), again.get())
    np.testing.assert_array_equal(output.get(), x * slopes.get())
    assert (slopes.get()[x > 0] == 1).all()
    assert (slopes.get()[x < 0] >= 1 / 8).all()
    assert (slopes.get()[x < 0] < 1 / 3).all()
    gradient = F.rrelu_backward(xp.asarray(np.ones_like(x)), there, slopes)
    np.testing.assert_array_equal(gradient.get(), slopes.get())
    in_use = F.rrelu(there, training=False)[0]
    assert_near(in_use.get(), F.rrelu(x, training=False)[0], AROUND_A_SUM)


@pytest.mark.parametrize("real", REALS)
def test_embeddings(xp: Any, real: Any) -> None:
    weight, indices = on_cpu.normal(6, 3).astype(real), np.array([[4, 0], [4, 5]])
    there, places = xp.asarray(weight.copy()), xp.asarray(indices)
    F.embedding_renorm(indices, weight, 0.5)
    F.embedding_renorm(places, there, 0.5)
    assert_near(there.get(), weight, 2 * (weight.shape[1] + FUNCTION + AROUND_A_SUM))
    np.testing.assert_array_equal(F.embedding(places, there).get(), there.get()[indices])
    assert F.embedding(xp.asarray(np.zeros((2, 0), int)), there).shape == (2, 0, 3)
    for bad in (6, -1):
        rows = F.embedding(xp.asarray(np.array([0, bad])), there)
        with pytest.raises(THNNError, match="LookupTable_.* outside its range"):
            pythnn.synchronize()
        assert rows.shape == (2, 3)


@pytest.mark.parametrize("training", [True, False])
def test_running_statistics(xp: Any, training: bool) -> None:
    x = on_cpu.normal(4, 3, 2)
    here = [np.arange(1.0, 4), np.arange(2.0, 5)]
    there = [xp.asarray(a.copy()) for a in here]
    expected = F.batch_norm(x, None, None, *here, training=training)
    found = F.batch_norm(xp.asarray(x), None, None, *there, training=training)
    for one, other in zip([*expected, *here], [*found, *there], strict=True):
        assert_half_of_the_digits(other.get(), one)


def test_a_loss_is_an_array_on_the_device(xp: Any) -> None:
    x = xp.asarray(on_cpu.normal(3, 4).astype(np.float32))
    waits = len(getattr(xp, "waits", ()))
    loss = F.mse_loss(x, xp.zeros_like(x))
    assert len(getattr(xp, "waits", ())) == waits
    assert (type(loss), loss.shape, loss.dtype) == (xp.ndarray, (), np.float32)
    assert_near(loss.get(), np.mean(x.get() ** 2), 2 * (x.size + AROUND_A_SUM))


def test_integers_and_lists(xp: Any) -> None:
    assert F.relu(xp.asarray(np.array([1, -1]))).dtype == np.float64
    found = F.linear(xp.asarray(np.ones(2)), [[1.0, 2.0]], [3])
    assert found.get().tolist() == [6.0]
    assert F.linear([1.0, 1.0], xp.asarray([[1.0, 2.0]])).get().tolist() == [3.0]


def test_arrays_of_other_libraries_and_tensors(xp: Any) -> None:
    x = on_cpu.normal(3, 4)
    there = xp.asarray(x)
    for given, expected in [
        (OnlyInterface(there), x),
        (OnlyInterface(there[::-1]), x[::-1]),
        (OnlyDlpack(there.astype(np.float32)), x.astype(np.float32)),
        (Tensor(x).cuda(), x),
    ]:
        found = F.square(given)
        assert type(found) is xp.ndarray
        np.testing.assert_array_equal(found.get(), expected**2)


# ---- What is refused


def test_arrays_in_several_places(xp: Any) -> None:
    x, weight, bias = on_cpu.normal(2, 3), on_cpu.normal(4, 3), np.zeros(4)
    wanted = r"functional\.linear: argument #2 'weight': expected an array on cuda:0, like 'x'"
    with pytest.raises(
        THNNArgumentError, match=f"{wanted}, found an array of float64 in the CPU"
    ) as e:
        F.linear(xp.asarray(x), weight)
    assert (e.value.function, e.value.argument, e.value.position) == (
        "functional.linear", "weight", 2,
    )  # fmt: skip
    wanted = (
        "argument #3 'bias': expected an array in the CPU's memory, like 'x', found one on cuda:0"
    )
    with pytest.raises(THNNArgumentError, match=wanted):
        F.linear(x, weight, bias=xp.asarray(bias))
    with pytest.raises(THNNArgumentError, match="#2 'target': .*like 'x', found an array of int64"):
        F.nll_loss(xp.asarray(x), np.array([0, 1]))
    with pytest.raises(THNNArgumentError, match="#3 'weight': .* found a Tensor of float64 in"):
        F.linear_backward(xp.asarray(bias), xp.asarray(x), Tensor(weight))
    cell = [xp.asarray(on_cpu.normal(*s)) for s in [(2, 6), (2, 6), (2, 2)]]
    with pytest.raises(THNNArgumentError, match=r"#4 'biases\[0\]': .*like 'x'"):
        F.gru_cell(*cell, (np.zeros(6), np.zeros(6)))
    with pytest.raises(THNNArgumentError, match=r"'biases\[0\]': .*like 'x', found one on"):
        F.gru_cell(*map(xp.asnumpy, cell), (cell[0][0], cell[0][0]))


def test_pairs_with_lists_and_with_none(xp: Any) -> None:
    x, zero = on_cpu.normal(3, 2, 3), np.zeros((1, 2, 4))
    parameters = [(on_cpu.normal(16, 3), on_cpu.normal(16, 4))]
    wanted, _, saved = F.lstm(x, None, parameters)
    grad = F.lstm_backward(None, (None, zero + 1), saved)[0]
    there = xp.asarray(zero)
    moved = [tuple(map(xp.asarray, one)) for one in parameters]
    for start in (None, (None, None), (zero.tolist(), None), [there, there]):
        found, _, saved = F.lstm(xp.asarray(x), start, moved)
        assert_half_of_the_digits(xp.asnumpy(found), wanted)
        of_y = xp.asarray(np.zeros_like(wanted))
        for of_all, of_last in ((None, (None, there + 1)), (of_y, [None, (zero + 1).tolist()])):
            grad_x = F.lstm_backward(of_all, of_last, saved)[0]
            assert_half_of_the_digits(xp.asnumpy(grad_x), grad)


def test_arrays_on_two_devices(xp: Any, second: Any) -> None:
    x = xp.asarray(on_cpu.normal(2, 3))
    with second:
        target = xp.asarray(on_cpu.normal(2, 3))
    with pytest.raises(THNNArgumentError, match="'target': .* on cuda:0, .*found one on cuda:1"):
        F.mse_loss(x, target)
    with pytest.raises(THNNArgumentError, match="'target': .* on cuda:1, .*found one on cuda:0"):
        F.mse_loss(Tensor(target), Tensor(x))


def test_what_does_not_fit(xp: Any) -> None:
    x = xp.asarray(on_cpu.normal(2, 3))
    with pytest.raises(
        THNNArgumentError, match=r"expected outputs x 3 \(inputs\), found shape \(4, 2\)"
    ):
        F.linear(x, xp.zeros((4, 2)))
    with pytest.raises(THNNArgumentError, match="weight.*float64"):
        F.linear(x, xp.zeros((4, 3), np.float32))
    with pytest.raises(THNNArgumentError, match="target"):
        F.mse_loss(x, xp.zeros((4, 2)))
    with pytest.raises(THNNArgumentError, match="argument #1 'x': expected .*planes in"):
        F.conv2d(x, xp.zeros((1, 1, 2, 2)))
    with pytest.raises(ValueError, match="2 ints"):
        F.avg_pool2d(xp.zeros((1, 2, 2)), (1, 2, 3))
    with pytest.raises(TypeError, match="argument"):
        F.linear(x)


def test_a_target_out_of_range(xp: Any) -> None:
    F.nll_loss(xp.asarray(LOG), xp.asarray(np.array([0, 4, 1])))
    with pytest.raises(THNNError, match="ClassNLLCriterion.* outside its range"):
        pythnn.synchronize()


def test_no_memory(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = xp.asarray(on_cpu.normal(2, 3))

    def alloc(size: int) -> Any:
        raise MemoryError(f"{size} bytes")

    with monkeypatch.context() as patch:
        patch.setattr(xp.cuda, "alloc", alloc)
        with pytest.raises(THNNMemoryError):
            F.square(x)
    np.testing.assert_allclose(F.square(x).get(), x.get() ** 2)


def test_without_a_twin(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pythnn._calls import device as calls
    from pythnn._cuda.package import load

    monkeypatch.delitem(load().functions, "Square_updateOutput")
    calls._twin.cache_clear()
    with pytest.raises(THNNError, match="Square_updateOutput does not exist on CUDA devices"):
        F.square(xp.asarray(on_cpu.normal(3)))
    calls._twin.cache_clear()

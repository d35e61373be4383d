"""Element-by-element modules against their definition: many blocks, special values, in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bounds import FUNCTION, is_near
from support.definitions.pointwise import MODULES, Module, call_backward, call_forward, sigmoid

import pythnn
from pythnn import Generator, State, Tensor, thnn

REALS = [np.float32, np.float64]
BLOCKS = 3 * 16384 + 17
"""Elements: several blocks, the last one short."""


def close(found: np.ndarray, wanted: np.ndarray, least: Any = 1) -> bool:
    """Up to the roundings of two functions, of a result or of what it is the difference of."""
    return is_near(found, wanted, 2 * FUNCTION, least)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_definition(module: Module, real: Any) -> None:
    rng = np.random.default_rng(0)
    x = (3 * rng.standard_normal(BLOCKS)).astype(real)
    g = rng.standard_normal(BLOCKS).astype(real)
    y, gx = np.empty_like(x), np.empty_like(x)
    wide = x.astype(np.float64)
    call_forward(module, x, y)
    assert close(y, module.forward(wide))
    call_backward(module, x, g, gx, y)
    saved = y.astype(np.float64) if module.takes_output else wide
    assert close(gx, g.astype(np.float64) * module.slope(saved), np.abs(g))


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_threads(module: Module) -> None:
    x = np.random.default_rng(1).standard_normal(BLOCKS).astype(np.float32)
    results = []
    for threads in (1, 3):
        with State(threads=threads, minimum_work=1) as state:
            y, gx = np.empty_like(x), np.empty_like(x)
            call_forward(module, x, y, state=state)
            call_backward(module, x, x, gx, y, state=state)
            results.append((y.tobytes(), gx.tobytes()))
    assert results[0] == results[1]


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("module", [m for m in MODULES if m.inplace], ids=lambda m: m.name)
def test_inplace(module: Module, real: Any) -> None:
    """In place, on strided memory too, with the result of a call that is not."""
    x = np.random.default_rng(2).standard_normal((7, 9)).astype(real)
    y, gx = np.empty_like(x), np.empty_like(x)
    call_forward(module, x, y)
    call_backward(module, x, x, gx, y)
    for layout in (x.copy(), x.T.copy().T, np.repeat(x, 2, axis=1)[:, ::2]):
        call_forward(module, layout, None, inplace=True)
        np.testing.assert_array_equal(layout, y)
        layout[...] = x
        call_backward(module, x, layout, None, y, inplace=True)
        np.testing.assert_array_equal(layout, gx)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.name)
def test_empty(module: Module, real: Any) -> None:
    """An empty tensor gives an empty one."""
    x, y = Tensor(dtype=real), Tensor(np.ones((2, 3), real))
    call_forward(module, x, y)
    assert y.numpy().size == 0
    gx = Tensor(np.ones((2, 3), real))
    call_backward(module, x, Tensor(dtype=real), gx, y)
    assert gx.numpy().size == 0


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, -1e-310, 1e-40, -1e-40, 1e300, -1e300]


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Sigmoid", [0.5, 0.5, 1, 0, np.nan, 0.5, 0.5, 0.5, 0.5, 1, 0]),
        ("Tanh", [0.0, -0.0, 1, -1, np.nan, 1e-310, -1e-310, 1e-40, -1e-40, 1, -1]),
        (
            "LogSigmoid",
            [-np.log(2)] * 2 + [-0.0, -np.inf, np.nan] + [-np.log(2)] * 4 + [-0.0, None],
        ),
    ],
)
def test_special_values(name: str, wanted: list[float | None], real: Any) -> None:
    """The same at every place of a vector, so in the vectorised part and in what is left over."""
    with np.errstate(over="ignore"):
        special = np.array(SPECIAL).astype(real)
        x = np.repeat(special, 37)
        expected = np.array([s if w is None else w for s, w in zip(special, wanted, strict=True)])
        y = np.empty_like(x)
        call_forward(next(m for m in MODULES if m.name == name), x, y)
        wide = np.repeat(expected, 37).astype(real)
    np.testing.assert_array_max_ulp(y[~np.isnan(wide)], wide[~np.isnan(wide)], 2)
    np.testing.assert_array_equal(np.signbit(y[wide == 0]), np.signbit(wide[wide == 0]))
    assert np.isnan(y[np.isnan(wide)]).all()


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize(
    "bounds",
    [(-1, 1), (0, 6), (-1, 0), (-1, -0.0), (0, 0), (-0.0, 0), (1, 1), (1, -1), (np.nan, 1)],
)
def test_hard_tanh_keeps_bits(bounds: tuple[float, float], real: Any) -> None:
    """What is not clipped keeps its bits, a zero's sign too; NaN is above any interval."""
    least, most = real(bounds[0]), real(bounds[1])
    x = np.array([-np.inf, -2, -1, -0.5, -0.0, 0, 0.5, 1, 2, 7, np.inf, np.nan], real)
    x = np.concatenate([x] * 7 + [x[:5]])
    y = np.empty_like(x)
    thnn.HardTanh_updateOutput(None, x, y, float(least), float(most), False)
    wanted = np.where(x < least, least, np.where(x <= most, x, most))
    assert y.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("count", [1, 7, 8, 9, 40000])
def test_log_sigmoid_gradient_of_doubles(count: int) -> None:
    """Up to its last bits, in every range of the exponential."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-750, 750, count), rng.uniform(-40, 40, count)])
    x[-1] = [np.inf, -np.inf, 0.0, 746, 1e308][count % 5]
    g, found = np.ones_like(x), np.empty_like(x)
    thnn.LogSigmoid_updateGradInput(None, x, g, found, None)
    with np.errstate(over="ignore"):
        wanted = 1 / (1 + np.exp(x.astype(np.longdouble)))
    error = np.abs(found - wanted)
    assert (error <= 2.5 * np.spacing(wanted.astype(np.float64))).all()
    thnn.LogSigmoid_updateGradInput(None, np.full_like(x, np.nan), g, found, None)
    assert np.isnan(found).all()


@pytest.mark.parametrize("real", REALS)
def test_sqrt(real: Any) -> None:
    x = np.random.default_rng(3).random(1000).astype(real)
    x[::10] = 0
    y, gx = np.empty_like(x), np.empty_like(x)
    thnn.Sqrt_updateOutput(None, x, y, 0.0)
    np.testing.assert_array_equal(y, np.sqrt(x))
    thnn.Sqrt_updateGradInput(None, x, x, gx, y)
    with np.errstate(invalid="ignore"):
        assert close(gx, np.where(y == 0, 0, x / (2 * y)), 0)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize(
    ("shape", "dim"), [((6,), 1), ((300, 10), 2), ((4, 40000), 2), ((20, 3), 1)]
)
def test_gated_linear(shape: tuple[int, ...], dim: int, real: Any) -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal(shape).astype(real)
    first, second = np.split(x, 2, axis=dim - 1)
    g = rng.standard_normal(first.shape).astype(real)
    results = []
    for threads in (1, 3):
        with State(threads=threads, minimum_work=1) as state:
            y, gx = np.empty_like(g), np.empty_like(x)
            thnn.GatedLinear_updateOutput(state, x, y, dim)
            thnn.GatedLinear_updateGradInput(state, x, g, gx, dim)
            results.append((y.tobytes(), gx.tobytes()))
    assert results[0] == results[1]
    first, second, g = (a.astype(np.float64) for a in (first, second, g))
    gate = sigmoid(second)
    assert close(y, first * gate, 0)
    wanted = np.concatenate([gate * g, gate * (1 - gate) * first * g], axis=dim - 1)
    assert close(gx, wanted, np.abs(np.concatenate([gate * g, gate * first * g], axis=dim - 1)))


@pytest.mark.parametrize("inplace", [False, True])
def test_rrelu_draws_in_order(inplace: bool) -> None:
    """One number per element that is not above zero, in the order of the elements, whatever the
    number of threads."""
    x = np.random.default_rng(5).standard_normal(BLOCKS)
    results = []
    for threads in (1, 2):
        y, noise = (x.copy() if inplace else np.empty_like(x)), np.empty_like(x)
        generator = Generator(17)
        with State(threads=threads, minimum_work=1) as state:
            source, result = (y, None) if inplace else (x, y)
            thnn.RReLU_updateOutput(
                state, source, result, noise, 0.125, 0.375, True, inplace, generator
            )
        results.append((y.tobytes(), noise.tobytes()))
    assert results[0] == results[1]
    np.testing.assert_array_equal(noise[x > 0], 1)
    assert ((noise[x <= 0] >= 0.125) & (noise[x <= 0] < 0.375)).all()
    assert abs(noise[x <= 0].mean() - 0.25) < 0.01
    np.testing.assert_array_equal(y, noise * x)
    gx = np.empty_like(x)
    thnn.RReLU_updateGradInput(None, x, x, gx, noise, 0.125, 0.375, True, False)
    np.testing.assert_array_equal(gx, noise * x)


def test_rrelu_draws_nothing_when_rejected() -> None:
    generator, fresh = Generator(3), Generator(3)
    x, y, noise = -np.ones(5), np.empty(5), np.empty(4)
    with pytest.raises(pythnn.THNNArgumentError):
        thnn.RReLU_updateOutput(None, x, y, noise, 0.1, 0.3, True, False, generator)
    other = np.empty(5)
    thnn.RReLU_updateOutput(None, x, y, other, 0.1, 0.3, True, False, generator)
    again = np.empty(5)
    thnn.RReLU_updateOutput(None, x, y, again, 0.1, 0.3, True, False, fresh)
    np.testing.assert_array_equal(other, again)

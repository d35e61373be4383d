"""Images with the planes last inside of programs: results, bits, and what has which order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.programs import check_same, forward

import pythnn
from pythnn import nn
from pythnn.program import planes
from pythnn.program.plan import StepPlan


def conv(i: int, o: int, k: int = 3, stride: int = 1) -> nn.Module:
    return nn.SpatialConvolution(i, o, k, k, stride, stride, k // 2, k // 2)


def residual(*branch: nn.Module) -> nn.Module:
    return nn.Sequential(nn.ConcatTable(nn.Sequential(*branch), nn.Identity()), nn.CAddTable())


def prepared(model: nn.Module, dtype: Any = np.float32) -> nn.Module:
    numbers = np.random.default_rng(3)
    for one in model.listModules():
        if isinstance(one, nn.SpatialBatchNormalization):
            one.running_var = 0.5 + numbers.random(one.running_var.size)
    model.type(dtype)
    model.evaluate()
    return model


def small() -> nn.Module:
    """A network as of CIFAR: every layer but the last ones follows the order."""
    return nn.Sequential(
        conv(3, 16),
        nn.SpatialBatchNormalization(16),
        nn.ReLU(),
        residual(conv(16, 16), nn.ReLU(), conv(16, 16)),
        nn.ReLU(),
        conv(16, 32, stride=2),
        nn.ReLU(),
        residual(conv(32, 32), nn.ReLU(), conv(32, 32)),
        nn.SpatialAveragePooling(8, 8),
        nn.View(32),
        nn.Linear(32, 10),
    )


def images(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


def chain(count: int = 3) -> list[nn.Module]:
    return [conv(32, 32) for _ in range(count)]


def orders(model: nn.Module, x: np.ndarray, keep_weights: bool = True) -> list[bool]:
    """Which convolutions of a program write the planes last."""
    program = pythnn.compile(model, x, keep_weights=keep_weights)
    (plan,) = program._plans.values()
    assert isinstance(plan, StepPlan)
    written = [
        one.writes[0] for one in plan._layout.operations if one.function.startswith("SpatialConv")
    ]
    return [view.strides[-3] == 1 and not view.is_dense for view in written]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 3, 16, 16), (3, 3, 16, 16), (3, 16, 16)])
def test_small_networks(shape: tuple[int, ...], dtype: Any) -> None:
    pythnn.manual_seed(1)
    model, x = prepared(small(), dtype), images(*shape, dtype=dtype)
    assert orders(model, x)[-2:] == [True, True]
    assert all(orders(model, x)) or x.ndim == 3  # whose first images have several shapes
    program = pythnn.compile(model, x)
    check_same(program(x), forward(model, x), True)
    check_same(program(2 * x), forward(model, 2 * x), True)


def test_bits_do_not_depend_on_threads() -> None:
    pythnn.manual_seed(1)
    model, x = prepared(small()), images(5, 3, 16, 16)
    program, before = pythnn.compile(model, x), pythnn.get_num_threads()
    try:
        pythnn.set_num_threads(1)
        wanted = program(x)
        for threads in (2, 3, 4):
            pythnn.set_num_threads(threads)
            np.testing.assert_array_equal(program(x), wanted)
    finally:
        pythnn.set_num_threads(before)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite(value: float) -> None:
    """Other results stay what they are: nothing is lost that F(4x4, 3x3) cannot compute."""
    model = prepared(nn.Sequential(*chain(), nn.SpatialMaxPooling(2, 2)))
    x = images(1, 32, 24, 24)
    assert all(orders(model, x))
    program = pythnn.compile(model, x)
    x[0, 3, 2, 5] = value
    found, wanted = program(x), forward(model, x)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
    here = np.isfinite(wanted)
    np.testing.assert_allclose(
        found[here], wanted[here], rtol=0, atol=2e-6 * abs(wanted[here]).max()
    )


def test_images_that_are_given_or_given_away_keep_their_order() -> None:
    layers = chain(5)
    x = images(1, 32, 16, 16)
    assert orders(prepared(nn.Sequential(*layers)), x) == [True] * 4 + [False]
    given_away = nn.ConcatTable(nn.Identity(), conv(32, 32))
    assert orders(prepared(nn.Sequential(*layers, given_away)), x) == [True] * 4 + [False] * 2


def test_layers_that_do_not_gain_keep_their_order() -> None:
    x = images(1, 16, 16, 16)
    for layer in (conv(16, 16, 5), conv(16, 16, 1), conv(16, 24), conv(16, 16, stride=2)):
        planes_after = layer.nOutputPlane
        model = prepared(nn.Sequential(layer, conv(planes_after, 16, 5)))
        assert not any(orders(model, x))
    # Moving the elements of a large image takes longer than one layer gains.
    alone = prepared(
        nn.Sequential(nn.SpatialMaxPooling(2, 2), conv(16, 16), nn.SpatialMaxPooling(2, 2))
    )
    assert not any(orders(alone, images(1, 16, 64, 64)))


def test_an_image_that_is_changed_between_two_layers_that_read_it() -> None:
    """The second one must not read a copy from before the change."""
    first, second = nn.Sequential(*chain()), nn.Sequential(nn.ReLU(True), *chain())
    pooled = nn.SpatialMaxPooling(2, 2)
    model = prepared(nn.Sequential(pooled, nn.ConcatTable(first, second), nn.CAddTable()))
    x = images(1, 32, 32, 32)
    check_same(pythnn.compile(model, x)(x), forward(model, x), True)


@pytest.mark.parametrize(
    "reader",
    [
        nn.Sequential(nn.View(32 * 16 * 16), nn.Linear(32 * 16 * 16, 3)),
        nn.Sequential(nn.Narrow(2, 5, 16), conv(16, 16), nn.Tanh()),
        nn.Sequential(nn.Transpose((2, 3)), nn.SpatialMaxPooling(2, 2)),
    ],
)
def test_images_that_others_see_in_part_or_in_other_shapes(reader: nn.Module) -> None:
    model = prepared(nn.Sequential(*chain(), reader))
    x = images(2, 32, 16, 16)
    program = pythnn.compile(model, x)
    check_same(program(x), forward(model, x), True)
    check_same(program(2 * x), forward(model, 2 * x), True)


def test_weights_that_are_not_kept() -> None:
    assert not any(orders(prepared(small()), images(1, 3, 16, 16), keep_weights=False))


class Random:
    """Networks of layers that follow the order, or do not, with branches."""

    def __init__(self, seed: int) -> None:
        self.numbers = np.random.default_rng(seed)

    def layer(self, planes: int) -> nn.Module:
        kind = self.numbers.integers(9)
        if kind < 3:
            return nn.Sequential(conv(planes, planes), nn.ReLU())
        if kind == 3:
            return conv(planes, planes, 1)
        if kind == 4:
            return nn.SpatialMaxPooling(3, 3, 1, 1, 1, 1)
        if kind == 5:
            return nn.Sequential(
                conv(planes, planes), nn.SpatialBatchNormalization(planes), nn.Tanh()
            )
        if kind == 6:
            return nn.Sequential(
                nn.Concat(2, conv(planes, planes), self.layer(planes)), conv(2 * planes, planes)
            )
        if kind == 7:
            return residual(self.layer(planes), self.layer(planes))
        return nn.Sequential(nn.MulConstant(0.5), nn.Dropout(0.3))

    def model(self) -> nn.Module:
        layers = [self.layer(16) for _ in range(self.numbers.integers(2, 6))]
        return nn.Sequential(conv(3, 16), *layers)


@pytest.mark.parametrize("moved", [0, 60])
@pytest.mark.parametrize("part", range(4))
def test_random_networks(part: int, moved: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With moving for nothing, too, so that orders change as often as they can."""
    monkeypatch.setattr(planes, "_MOVED", moved)
    last = 0
    for seed in range(12 * part, 12 * part + 12):
        pythnn.manual_seed(seed)
        model, x = prepared(Random(seed).model()), images(1 + seed % 2, 3, 13, 12)
        last += sum(orders(model, x))
        check_same(pythnn.compile(model, x)(x), forward(model, x), True)
    assert last > 0

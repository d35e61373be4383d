"""Layers on tables of Tensors: what they compute, and whose memory they leave alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pythnn import Tensor, nn

real = np.random.default_rng(6).standard_normal

ON_PAIRS = {
    "CAddTable": (nn.CAddTable, lambda a, b: a + b, lambda g, *_: [g, g]),
    "CSubTable": (nn.CSubTable, lambda a, b: a - b, lambda g, *_: [g, -g]),
    "CMulTable": (nn.CMulTable, lambda a, b: a * b, lambda g, a, b: [g * b, g * a]),
    "JoinTable": (
        lambda: nn.JoinTable(2),
        lambda a, b: np.concatenate([a, b], 1),
        lambda g, *_: [g[:, :3], g[:, 3:]],
    ),
    "SelectTable": (
        lambda: nn.SelectTable(2),
        lambda _, b: b,
        lambda g, a, _: [np.zeros_like(a), g],
    ),
}


def tensors(values: list[Any], how: str) -> Any:
    """The values as Tensors: dense, or with gaps."""
    if how == "arrays":
        return values
    if how == "dense":
        return [Tensor(value) for value in values]
    spread = [Tensor(np.repeat(value, 2, axis=1)) for value in values]
    shapes = [(tensor.shape, tensor.strides) for tensor in spread]
    return [
        tensor.as_strided((rows, columns // 2), (step, 2))
        for tensor, ((rows, columns), (step, _)) in zip(spread, shapes, strict=True)
    ]


@pytest.mark.parametrize("how", ["arrays", "dense", "strided"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ON_PAIRS)
def test_pairs(name: str, dtype: Any, how: str) -> None:
    make, wanted, slopes = ON_PAIRS[name]
    layer = make()
    for shape in ((2, 3), (4, 3)):
        a, b = (real(shape).astype(dtype) for _ in range(2))
        given = tensors([a, b], how)
        found = layer.forward(given)
        np.testing.assert_array_equal(found, wanted(a, b))
        g = real(wanted(a, b).shape).astype(dtype)
        (slope,) = tensors([g], how)
        for one, other in zip(layer.backward(given, slope), slopes(g, a, b), strict=True):
            np.testing.assert_array_equal(one, other)
        for one, other in zip(given, (a, b), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["CAddTable", "CMulTable"])
def test_three_entries(name: str) -> None:
    layer, x = getattr(nn, name)(), [Tensor(real((2, 3))) for _ in range(3)]
    a, b, c = (one.numpy() for one in x)
    found = layer.forward(x)
    np.testing.assert_array_equal(found, a + b + c if name == "CAddTable" else a * b * c)
    g = Tensor(real((2, 3)))
    _, middle, _ = layer.backward(x, g)
    slope = g.numpy()
    np.testing.assert_array_equal(middle, slope if name == "CAddTable" else slope * a * c)


@pytest.mark.parametrize("name", ON_PAIRS)
def test_results_that_somebody_holds_stay(name: str) -> None:
    layer = ON_PAIRS[name][0]()
    x = [real((2, 3)), real((2, 3))]
    first = layer.forward(x)
    slopes = layer.backward(x, real(first.shape))
    kept = [one.copy() for one in (first, *slopes)]
    y = [real((2, 3)), real((2, 3))]
    layer.backward(y, real(layer.forward(y).shape))
    for one, other in zip((first, *slopes), kept, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["CAddTable", "CSubTable", "CMulTable"])
def test_an_entry_may_be_the_last_output(name: str) -> None:
    make, wanted, _ = ON_PAIRS[name]
    layer, (a, b) = make(), (real((2, 3)), real((2, 3)))
    last = layer.forward([Tensor(a), Tensor(b)])
    before = last.numpy().copy()
    found = layer.forward([Tensor(a), last])
    np.testing.assert_array_equal(found, wanted(a, before))


def test_entries_of_other_shapes_and_types() -> None:
    """As many elements, whose gradients have the shapes of their entries."""
    a, b = real((2, 3)), real((3, 2))
    layer = nn.CMulTable()
    np.testing.assert_array_equal(layer.forward([Tensor(a), Tensor(b)]), a * b.reshape(2, 3))
    slopes = layer.backward([Tensor(a), Tensor(b)], Tensor(np.ones((2, 3))))
    assert [one.shape for one in slopes] == [(2, 3), (3, 2)]
    whole = nn.CAddTable().forward([np.array([1, 2]), np.array([3, 4])])
    np.testing.assert_array_equal(whole, [4, 6])
    joined = nn.JoinTable(1).forward([np.array([1]), np.array([3])])
    np.testing.assert_array_equal(joined, [1, 3])


@pytest.mark.parametrize("how", ["arrays", "dense", "strided"])
def test_split_and_join_are_inverse(how: str) -> None:
    x = real((2, 3))
    (given,) = tensors([x], how)
    split = nn.SplitTable(2)
    parts = split.forward(given)
    for i, part in enumerate(parts):
        np.testing.assert_array_equal(part, x[:, i])
    slopes = [real(2) for _ in range(3)]
    if how != "arrays":
        slopes = [Tensor(one) for one in slopes]
    back = split.backward(given, slopes)
    np.testing.assert_array_equal(back, np.stack([np.asarray(one) for one in slopes], 1))


def test_gradients_in_place_lie_beside_the_one_given() -> None:
    """The first is the given one itself, the others have memory of their own, used again."""
    layer, x = nn.CAddTable(True), [Tensor(real((2, 3))) for _ in range(3)]
    layer.forward(x)
    for _ in range(2):
        g = Tensor(real((2, 3)))
        first, *others = layer.backward(x, g)
        assert first is g
        assert len({id(one) for one in (first, *others)}) == 3
        for one in others:
            assert one.tolist() == g.tolist()
            assert not one.shares_storage(g)
        memory = [one.address for one in others]
    again = layer.backward(x, Tensor(real((2, 3))))
    assert [one.address for one in again[1:]] == memory


def test_a_gradient_given_is_not_written_to_when_the_layer_no_longer_works_in_place() -> None:
    layer, x = nn.CAddTable(True), [Tensor(real((2, 3))) for _ in range(2)]
    layer.forward(x)
    g = Tensor(real((2, 3)))
    layer.backward(x, g)
    layer.inplace = False
    layer.forward(x)
    slopes = layer.backward(x, g)
    assert not any(one.shares_storage(g) for one in slopes)
    assert [one.tolist() for one in slopes] == [g.tolist()] * 2


def test_a_layer_may_change_the_table_that_it_is_given() -> None:
    class Emptying(nn.Module, kernel=True):
        def updateOutput(self, input: Any) -> Any:
            self.tensors.output = input.pop()
            return self.tensors.output

    table = [Tensor(real(2)), Tensor(real(2))]
    assert Emptying().forward(table) is table[1]
    assert len(table) == 2

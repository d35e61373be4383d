"""What convolutions refuse of padding, groups, sizes and gradients, before anything is changed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from pythnn import State, THNNArgumentError
from pythnn import functional as F  # noqa: N812
from pythnn.functional import _grouped

X, W = np.ones((2, 4, 7, 6)), np.ones((6, 2, 3, 3))
OUTPUT = F.conv2d(X, W, groups=2)
BORDER = "an int, 2 ints, 2 pairs (before, after), or 'valid', 'full', 'half' or 'same', found {}"


def refused(message: str) -> Any:
    return pytest.raises(THNNArgumentError, match=re.escape(message))


@pytest.mark.parametrize(
    "padding",
    ["wide", "SAME", 1.0, True, None, (1,), (1, 2, 3), ((1, 2),), ((1, 2, 3), 1), (1, "2"), {1: 2}],
)
def test_padding(padding: Any) -> None:
    with refused(f"conv2d: argument #5 'padding': expected {BORDER.format(repr(padding))}"):
        F.conv2d(X, W, groups=2, padding=padding)


@pytest.mark.parametrize(
    "padding", [2, (2, 2), [2, 2], ((2, 2), (2, 2)), (2, (2, 2)), np.array([[2, 2], [2, 2]])]
)
def test_forms_of_padding(padding: Any) -> None:
    wanted = F.conv2d(np.pad(X, ((0, 0), (0, 0), (2, 2), (2, 2))), W, groups=2)
    np.testing.assert_array_equal(F.conv2d(X, W, groups=2, padding=padding), wanted)


def test_the_only_dimension_s_pair() -> None:
    x, weight = X[:, :, 0], W[..., 0]
    wanted = F.conv1d(np.pad(x, ((0, 0), (0, 0), (2, 1))), weight, groups=2)
    for padding in ((2, 1), ((2, 1),)):
        np.testing.assert_array_equal(F.conv1d(x, weight, groups=2, padding=padding), wanted)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: F.conv2d(X, W, groups=2, stride=2, padding="same"),
            "'padding': expected another than 'same' unless stride is 1, found 'same'",
        ),
        (
            lambda: F.conv2d(X, W, groups=4),
            "'weight': expected a multiple of the 4 groups as its first size, found shape",
        ),
        (
            lambda: F.conv2d(X, W, groups=3),
            "'x': expected [batch x] 6 (planes in) x height x width, found shape (2, 4, 7, 6)",
        ),
        (
            lambda: F.conv2d(X, W[:, :, :0], groups=2),
            "'weight': expected sizes from 1 on, found shape (6, 2, 0, 3)",
        ),
        (lambda: F.conv2d(X, W, groups=0), "'groups': expected at least 1, found 0"),
        (
            lambda: F.conv2d(X[..., :2], W, groups=2),
            "'x': expected sizes large enough for kernel, padding and stride (the output would be"
            " 5 x 0), found shape (2, 4, 7, 2)",
        ),
        (
            lambda: F.conv2d(X, W, np.ones(5), groups=2),
            "'bias': expected 6 (planes out), found shape (5,)",
        ),
        (
            lambda: F.conv_transpose2d(X, W[:4], stride=2, output_padding=2),
            "'output_padding': expected from 0 on, less than the stride 2 or the dilation 1",
        ),
        (
            lambda: F.conv_transpose2d(X, W[:4], stride=2, output_size=(15, 15)),
            "'output_size': expected sizes that x can become, here 13 to 14, found 15",
        ),
        (
            lambda: F.conv_transpose2d(X, W[:4], output_padding=(0, 1), output_size=9),
            "'output_padding': expected 0 beside output_size, found (0, 1)",
        ),
        (
            lambda: F.conv_transpose2d(X, W[:4], np.ones(3)),
            "'bias': expected ",
        ),
        (
            lambda: F.conv2d_grad_input(OUTPUT, W, 8, groups=2),
            "'grad_output': expected shape (2, 6, 6, 6), found shape (2, 6, 5, 4)",
        ),
        (
            lambda: F.conv2d_grad_input(OUTPUT, W, (0, 6), groups=2),
            "'input_size': expected sizes from 1 on, found (0, 6)",
        ),
        (
            lambda: F.conv2d_grad_weight(OUTPUT, X, 3, groups=3),
            "'groups': expected a divisor of x's 4 planes, found 3",
        ),
        (
            lambda: F.conv2d_grad_weight(OUTPUT[:, :5], X, 3, groups=2),
            "'groups': expected a divisor of grad_output's 5 planes, found 2",
        ),
    ],
)
def test_what_does_not_fit(call: Any, message: str) -> None:
    with refused(message):
        call()


@pytest.mark.parametrize(
    ("needs", "add_to", "argument"),
    [
        ("weight", None, "needs"),
        (("w",), None, "needs"),
        (None, None, "needs"),
        (3, None, "needs"),
        (("x",), {"weight": np.ones_like(W)}, "add_to"),
        (("x", "weight"), [np.ones_like(W)], "add_to"),
        (("x", "weight"), {"w": np.ones_like(W)}, "add_to"),
        (("x", "weight"), {"weight": np.ones((6, 2, 3, 2))}, "add_to"),
        (("x", "weight"), {"weight": np.ones_like(W, np.float32)}, "add_to"),
        (("x", "weight"), {"weight": W.tolist()}, "add_to"),
        (("x", "weight"), {"weight": np.ma.ones(W.shape)}, "add_to"),
        (("x", "weight"), {"weight": np.broadcast_to(1.0, W.shape)}, "add_to"),
        (("x", "weight"), {"weight": as_strided(np.ones(1), W.shape, (0,) * 4)}, "add_to"),
    ],
)
def test_gradients_that_cannot_be(needs: Any, add_to: Any, argument: str) -> None:
    """Nothing is added to the other gradient, which could have been."""
    start = np.ones_like(X)
    if isinstance(add_to, dict):
        add_to = {"x": start, **add_to}
    with refused(f"conv2d_backward: argument #{9 + (argument == 'add_to')} '{argument}': expected"):
        F.conv2d_backward(OUTPUT, X, W, groups=2, needs=needs, add_to=add_to)
    assert (start == 1).all()


@pytest.mark.parametrize("precision", [None, "as_input", "float64"])
@pytest.mark.parametrize("to", ["x", "grad_output"])
def test_a_gradient_added_to_what_others_are_computed_from(to: str, precision: Any) -> None:
    """As of a layer whose output is added to its input: the other gradients are the same."""
    rng = np.random.default_rng(0)
    dtype = np.float32 if precision == "float64" else np.float64
    x, weight, grad_output = (
        rng.standard_normal(shape).astype(dtype)
        for shape in ((2, 4, 6, 5), (4, 2, 3, 3), (2, 4, 6, 5))
    )
    state = None if precision is None else State(precision=precision)
    settings: dict[str, Any] = {"groups": 2, "padding": 1, "state": state}
    wanted = F.conv2d_backward(grad_output, x, weight, **settings)
    for _ in range(4):  # from the third call on, what was prepared might be taken
        given = {"grad_output": grad_output.copy(), "x": x.copy()}
        start, before = given[to], given[to].copy()
        apart = F.conv2d_backward(grad_output, x, weight, **settings, add_to={"x": before.copy()})
        found = F.conv2d_backward(**given, weight=weight, **settings, add_to={"x": start})
        assert found[0] is start
        for one, other in zip(found, apart, strict=True):
            np.testing.assert_array_equal(one, other)
        for one, other in zip(found[1:], wanted[1:], strict=True):
            np.testing.assert_array_equal(one, other)


def test_arrays_without_elements_are_added_to() -> None:
    """And are the ones that are returned."""
    starts = {"x": X[:0].copy(), "weight": np.ones_like(W), "bias": np.ones(6)}
    found = F.conv2d_backward(OUTPUT[:0], X[:0], W, groups=2, add_to=starts)
    assert all(one is start for one, start in zip(found, starts.values(), strict=True))
    assert all((start == 1).all() for start in starts.values())


def test_nothing_is_computed_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is asked for reaches the C library."""
    kind, calls = _grouped._CONVOLUTION, []

    def of_input(*given: Any) -> None:
        calls.append("x")
        kind.of_input(*given)

    def of_parameters(*given: Any) -> None:
        calls.append(tuple(part is not None for part in given[3:5]))
        kind.of_parameters(*given)

    monkeypatch.setattr(_grouped, "_CONVOLUTION", _grouped._Kind(False, of_input, of_parameters))
    for needs, wanted in (
        ((), []),
        (("x",), ["x"]),
        (("weight",), [(True, False)]),
        ({"bias"}, [(False, True)]),
        (["bias", "x", "weight"], ["x", (True, True)]),
    ):
        calls.clear()
        found = F.conv2d_backward(OUTPUT, X, W, groups=2, needs=needs)
        assert calls == wanted
        assert [f is not None for f in found] == [n in needs for n in ("x", "weight", "bias")]


def test_arguments_are_not_changed() -> None:
    arrays = [a.copy() for a in (OUTPUT, X, W)]
    for array in arrays:
        array.setflags(write=False)
    F.conv2d(*arrays[1:], groups=2, flip=True)
    F.conv2d_backward(*arrays, groups=2, flip=True)
    F.conv_transpose2d_backward(F.conv_transpose2d(X, W[:4], groups=2), X, W[:4], groups=2)

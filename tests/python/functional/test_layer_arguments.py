"""What layers, losses and products on arrays refuse, word by word; nothing has changed then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pythnn import THNNArgumentError
from pythnn import functional as F  # noqa: N812

X = np.ones((2, 3, 4))
IMAGE = np.ones((2, 5, 5))
MEAN, VAR = np.zeros(3), np.ones(3)
ONE = np.ones((2, 1))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda: F.batch_norm(X, None, None, MEAN, np.ones(4)),
            "batch_norm: argument #5 'running_var': expected shape (3,) or (1, 3, 1), found shape"
            " (4,)",
        ),
        (
            lambda: F.batch_norm(X, np.ones(3), axes=(0,)),
            "batch_norm: argument #2 'weight': expected shape (3, 4) or (1, 3, 4), found shape"
            " (3,)",
        ),
        (
            lambda: F.batch_norm(X, axes=(0, 3)),
            "batch_norm: argument #9 'axes': expected an axis from -3 to 2, found 3",
        ),
        (
            lambda: F.batch_norm(X, axes=(0, -3)),
            "batch_norm: argument #9 'axes': expected axes that differ, found (0, -3)",
        ),
        (
            lambda: F.batch_norm(X, None, None, MEAN, training=False),
            "batch_norm: argument #5 'running_var': expected an array: without training it is what"
            " is used, found None",
        ),
        (
            lambda: F.batch_norm_backward(X, X, None, MEAN, VAR, statistics=True),
            "batch_norm_backward: argument #8 'statistics': expected False in training, where x"
            " makes the statistics, found True",
        ),
        (
            lambda: F.layer_norm(X, np.ones(3)),
            "layer_norm: argument #2 'weight': expected shape (4,), found shape (3,)",
        ),
        (
            lambda: F.group_norm(X, 2),
            "group_norm: argument #2 'groups': expected a divisor of 3, the planes of x, found 2",
        ),
        (
            lambda: F.softmax(X, (0, "x")),
            "softmax: argument #2 'axis': expected an int, found 'x'",
        ),
        (
            lambda: F.avg_pool2d(IMAGE, 3, padding=3),
            "avg_pool2d: argument #4 'padding': expected at most 2, below the window, found 3",
        ),
        (
            lambda: F.sum_pool2d(IMAGE, 9),
            "sum_pool2d: argument #1 'x': expected sizes large enough for",
        ),
        (
            lambda: F.max_pool1d(X, 2, axis=0),
            "max_pool1d: argument #4 'axis': expected -2 (frames x features) or -1 (features x"
            " frames), found 0",
        ),
        (
            lambda: F.prelu(X, np.ones((4, 3))),
            "prelu: argument #2 'weight': expected one, or one for each plane or element of samples"
            " of 3 x 4, found shape (4, 3)",
        ),
        (
            lambda: F.matmul(X, np.ones((3, 2))),
            "matmul: argument #2 'b': expected [... x] 4 x outputs, as 'a' has 4 inner elements,"
            " found shape (3, 2)",
        ),
        (
            lambda: F.matmul(X, np.ones((3, 4, 2))),
            "matmul: argument #2 'b': expected a stack of (2,) matrices, like 'a', found shape"
            " (3, 4, 2)",
        ),
        (
            lambda: F.bilinear(ONE, np.ones((3, 2)), np.ones((1, 2, 5))),
            "bilinear: argument #2 'x2': expected 2 samples, like 'x1', found shape (3, 2)",
        ),
        (
            lambda: F.bilinear(ONE, ONE, np.ones((1, 2, 5))),
            "bilinear: argument #3 'weight': expected 1 x 1 x outputs, found shape (1, 2, 5)",
        ),
        (
            lambda: F.bilinear(ONE, ONE, np.ones((1, 1, 5)), v2=np.ones((5, 1))),
            "bilinear: argument #5 'v2': expected shape (1, 5), found shape (5, 1)",
        ),
        (
            lambda: F.sum_backward(X, (2, 3, 4), 1),
            "sum_backward: argument #1 'grad_output': expected shape (2, 4), found shape (2, 3, 4)",
        ),
        (
            lambda: F.cross_entropy(X, np.zeros((2, 3), int)),
            "cross_entropy: argument #2 'target': expected shape (2, 4), found shape (2, 3)",
        ),
        (
            lambda: F.cross_entropy(np.ones((2, 3)), [0, 3]),
            "cross_entropy: argument #2 'target': expected",
        ),
        (
            lambda: F.gaussian_mixture2d(ONE, ONE, np.ones((3, 4)), *[np.ones((2, 4))] * 5),
            "gaussian_mixture2d: argument #3 'weight': expected 2 (batch) x centres, found shape"
            " (3, 4)",
        ),
        (
            lambda: F.gaussian_mixture2d(ONE, ONE, np.ones((2, 4)), *[np.ones((2, 3))] * 5),
            "gaussian_mixture2d: argument #4 'mean1': expected shape (2, 4), found shape (2, 3)",
        ),
        (
            lambda: F.dropout(X, 1.5),
            "dropout: argument #2 'p': expected a probability from 0 to 1, found 1.5",
        ),
        (
            lambda: F.gelu(X, approximate="erf"),
            "gelu: argument #2 'approximate': expected 'none' or 'tanh', found 'erf'",
        ),
        (
            lambda: F.one_hot([0, 3], 3),
            "one_hot: argument #1 'indices': expected indices from 0 to 2, found 3",
        ),
        (
            lambda: F.one_hot([0], 3, dtype=int),
            "one_hot: argument #3 'dtype': expected float32 or float64, found <class 'int'>",
        ),
        (
            lambda: F.pad(X, [(4, 0)], "reflect"),
            "pad: argument #2 'padding': expected at most 3 along axis 2, in mode 'reflect', found"
            " [(4, 0)]",
        ),
        (
            lambda: F.pad(X, [(1, 0)], "mirror"),
            "pad: argument #3 'mode': expected 'constant', 'reflect', 'replicate', 'circular',"
            " found 'mirror'",
        ),
        (
            lambda: F.pad(X, [(-3, -2)]),
            "pad: argument #2 'padding': expected at most 4 elements cropped, found [(-3, -2)]",
        ),
        (
            lambda: F.interpolate(X, 3, scale=2.0),
            "interpolate: argument #2 'size': expected either a size or a scale, found both",
        ),
        (
            lambda: F.interpolate(X, scale=-1.0),
            "interpolate: argument #3 'scale': expected a positive number or 1 of them, found -1.0",
        ),
    ],
)
def test_messages(use: Any, message: str) -> None:
    mean, var = MEAN.copy(), VAR.copy()
    with pytest.raises(THNNArgumentError) as error:
        use()
    assert str(error.value).startswith(f"functional.{message}")
    np.testing.assert_array_equal([MEAN, VAR], [mean, var])


@pytest.mark.parametrize("padding", [1, 2])
@pytest.mark.parametrize("wrong", [-2, 36, 40, 2**40])
def test_places_of_maxima_are_in_a_plane(wrong: int, padding: int) -> None:
    """However far the padding reaches, and for later calls too."""
    x = np.random.default_rng(0).standard_normal((2, 3, 6, 6))
    window: dict[str, Any] = {"window": 3, "stride": 1, "padding": padding}
    output, indices = F.max_pool2d(x, **window)
    for _ in range(3):
        F.max_pool2d_backward(np.ones_like(output), x, indices, **window)
    indices[1, 2, 3, 4] = wrong
    message = (
        "functional.max_pool2d_backward: argument #3 'indices': expected values from -1 to 35"
        f" (elements of a plane of x), found {wrong}"
    )
    with pytest.raises(THNNArgumentError) as error:
        F.max_pool2d_backward(np.ones_like(output), x, indices, **window)
    assert str(error.value) == message


def test_running_statistics_with_gaps_and_ones() -> None:
    """Statistics are written in place whatever their layout is."""
    x = np.arange(24.0).reshape(2, 3, 4)
    plain = np.zeros(3), np.ones(3)
    F.batch_norm(x, None, None, *plain)
    for shape in ((3,), (1, 3, 1)):
        wide = [np.zeros((*shape, 2)), np.ones((*shape, 2))]
        F.batch_norm(x, None, None, *(array[..., 1] for array in wide))
        for array, wanted, before in zip(wide, plain, (0, 1), strict=True):
            np.testing.assert_array_equal(array[..., 1].ravel(), wanted)
            np.testing.assert_array_equal(array[..., 0], before)


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("softmax", (np.ones((0, 3)), (0, 1)), (0, 3)),
        ("batch_norm", (np.ones((2, 0)),), (2, 0)),
        ("layer_norm", (np.ones((0, 3)),), (0, 3)),
        ("group_norm", (np.ones((0, 4, 2)), 2), (0, 4, 2)),
        ("matmul", (np.ones((0, 2, 3)), np.ones((3, 4))), (0, 2, 4)),
        ("bilinear", (np.ones((0, 2)), np.ones((0, 3)), np.ones((2, 3, 4))), (0, 4)),
        ("linear", (np.ones((0, 2, 3)), np.ones((5, 6))), (0, 5)),
        ("sum", (np.ones((0, 3)), 0), (3,)),
        ("sum_pool2d", (np.ones((0, 2, 4, 4)), 2), (0, 2, 2, 2)),
        ("avg_pool1d", (np.ones((0, 4, 3)), 2), (0, 2, 3)),
        ("pad", (np.ones((0, 3)), [(1, 1)]), (0, 5)),
        ("interpolate", (np.ones((0, 2, 3)), 5), (0, 2, 5)),
        ("gelu", (np.ones((0, 3)),), (0, 3)),
        ("dropout", (np.ones((0, 3)),), (0, 3)),
        ("gaussian_mixture2d", (np.ones((0, 1)),) * 2 + (np.ones((0, 3)),) * 6, (0, 1)),
    ],
)
def test_empty_batches(name: str, given: Any, result: tuple[int, ...]) -> None:
    found = getattr(F, name)(*given)
    output = found[0] if isinstance(found, tuple) else found
    assert output.shape == result

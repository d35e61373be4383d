"""Softmax, normalisations, products, losses and resizing against their definitions in numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest
from support.adjoint import adjoint, near
from support.functional_cases import normal

from pythnn import THNNArgumentError
from pythnn import functional as F  # noqa: N812

REALS = [np.float32, np.float64]


def subsets(count: int) -> list[tuple[int, ...]]:
    axes = range(count)
    return [*chain.from_iterable(combinations(axes, n) for n in range(1, count + 1))]


# ---- Softmax and normalisation


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("axes", subsets(4), ids=str)
@pytest.mark.parametrize("shape", [(2, 3, 4, 2), (2, 1, 4, 1)], ids=str)
def test_softmax(shape: tuple[int, ...], axes: tuple[int, ...], real: Any) -> None:
    x, grad = normal(*shape).astype(real), normal(*shape).astype(real)
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(axes, keepdims=True))
    wanted = powers / powers.sum(axes, keepdims=True)
    given = tuple(a - 4 if a % 2 else a for a in axes[::-1])
    output, logarithm = F.softmax(x, given), F.log_softmax(x, list(given))
    near(output, wanted, 16)
    near(logarithm, np.log(wanted), 16)
    total = (grad * wanted).sum(axes, keepdims=True)
    near(F.softmax_backward(grad, output, given), wanted * (grad - total), 16)
    total = grad.sum(axes, keepdims=True)
    near(F.log_softmax_backward(grad, logarithm, given), grad - wanted * total, 16)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("axes", [None, *subsets(4)], ids=str)
def test_batch_normalisation(axes: tuple[int, ...] | None, wide: bool, training: bool) -> None:
    shape = (3, 2, 4, 2)
    summed = (0, 2, 3) if axes is None else axes
    kept = tuple(1 if i in summed else n for i, n in enumerate(shape))
    sizes = kept if wide else tuple(n for i, n in enumerate(shape) if i not in summed)
    x, grad = normal(*shape), normal(*shape)
    weight, bias, mean = (np.asarray(normal(*sizes)) for _ in range(3))
    var = np.asarray(np.abs(normal(*sizes)) + 0.5)
    before = mean.copy(), var.copy()
    count = int(np.prod([shape[i] for i in summed]))
    used_mean, used_var = (
        (x.mean(summed, keepdims=True), x.var(summed, keepdims=True))
        if training
        else (mean.reshape(kept).copy(), var.reshape(kept).copy())
    )
    output, found_mean, inverse_std = F.batch_norm(
        x, weight, bias, mean, var, training=training, momentum=0.25, eps=0.01, axes=axes
    )
    inverse = (used_var + 0.01) ** -0.5
    normed = (x - used_mean) * inverse
    near(output, normed * weight.reshape(kept) + bias.reshape(kept), 64)
    near(found_mean, used_mean.reshape(sizes), 64)
    near(inverse_std, inverse.reshape(sizes), 64)
    if training:
        near(mean, 0.75 * before[0] + 0.25 * used_mean.reshape(sizes), 64)
        unbiased = used_var.reshape(sizes) * count / (count - 1)
        near(var, 0.75 * before[1] + 0.25 * unbiased, 64)
    else:
        np.testing.assert_array_equal([mean, var], before)
    found = F.batch_norm_backward(
        grad, x, weight, found_mean, inverse_std,
        training=training, axes=axes, statistics=not training,
    )  # fmt: skip
    scaled = grad * weight.reshape(kept) * inverse
    wanted = scaled
    if training:
        wanted = scaled - scaled.mean(summed, keepdims=True)
        wanted = wanted - normed * (scaled * normed).mean(summed, keepdims=True)
    near(found[0], wanted, 256)
    near(found[1], (grad * normed).sum(summed).reshape(sizes), 256)
    near(found[2], grad.sum(summed).reshape(sizes), 256)
    if not training:
        near(found[3], -scaled.sum(summed).reshape(sizes), 256)
        of_var = -0.5 * (scaled * normed * inverse).sum(summed).reshape(sizes)
        near(found[4], of_var, 256)


def test_statistics_of_one_element() -> None:
    """The variance of one element is 0, and of no use with m - 1 in the denominator."""
    mean, var = np.zeros(3), np.ones(3)
    F.batch_norm(np.full((1, 3), 2.0), None, None, mean, var, momentum=0.25)
    np.testing.assert_array_equal([mean, var], [[0.5] * 3, [0.75] * 3])


def test_gradients_of_few_floats() -> None:
    """Two elements with one mean: their gradients nearly cancel, and are right nevertheless."""
    x = np.array([[1.0, 5.0], [1.01, 5.02]], np.float32)
    grad = np.array([[1.0, 2.0], [-3.0, 1.0]], np.float32)
    found = F.batch_norm_backward(grad, x, None, *F.batch_norm(x)[1:])[0]
    x, grad = x.astype(np.float64), grad.astype(np.float64)
    wanted = F.batch_norm_backward(grad, x, None, *F.batch_norm(x)[1:])[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


@pytest.mark.parametrize("axis", [-1, 1, (1, 2), (0, 2), (2, 0)], ids=str)
def test_layer_normalisation(axis: Any) -> None:
    x = normal(3, 4, 5)
    axes = tuple(sorted(a % 3 for a in np.atleast_1d(axis)))
    sizes = [x.shape[a] for a in axes]
    weight, bias = normal(*sizes), normal(*sizes)
    wide = [n if i in axes else 1 for i, n in enumerate(x.shape)]
    normed = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)
    output, mean, _ = F.layer_norm(x, weight, bias, axis=axis)
    near(output, normed * weight.reshape(wide) + bias.reshape(wide), 64)
    near(mean, x.mean(axes), 64)


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_group_normalisation(groups: int) -> None:
    x, weight, bias = normal(2, 6, 4), normal(6), normal(6)
    split = x.reshape(2, groups, -1)
    normed = (split - split.mean(2, keepdims=True)) / np.sqrt(split.var(2, keepdims=True) + 1e-5)
    wanted = normed.reshape(x.shape) * weight[:, None] + bias[:, None]
    near(F.group_norm(x, groups, weight, bias)[0], wanted, 64)
    if groups == 6:
        near(F.instance_norm(x, weight, bias)[0], wanted, 64)


# ---- Products and sums


@pytest.mark.parametrize("transposed", [*product([False, True], repeat=3)], ids=str)
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((2, 3), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((5, 1, 2, 3), (6, 3, 4)),
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((3,), (5, 3, 4)),
        ((5, 2, 3), (3,)),
        ((3,), (3,)),
        ((2, 0), (0, 4)),
        ((0, 2, 3), (3, 4)),
    ],
    ids=str,
)
def test_products(a: Any, b: Any, transposed: Sequence[bool]) -> None:
    left, right = normal(*a), normal(*b)
    named = dict(zip(("transpose_a", "transpose_b", "transpose_out"), transposed, strict=True))

    def turned(array: Any, swap: bool) -> Any:
        return array.swapaxes(-1, -2) if swap and array.ndim > 1 else array

    wanted = turned(np.asarray(left @ right), transposed[2])
    left, right = turned(left, transposed[0]), turned(right, transposed[1])
    output = F.matmul(left, right, **named)
    near(output, wanted, 8)
    assert isinstance(output, np.ndarray)
    grad = normal(*output.shape)
    grad_a, grad_b = F.matmul_backward(grad, left, right, **named)
    adjoint(grad, output, grad_a, left)
    adjoint(grad, output, grad_b, right)


def test_bilinear_layers() -> None:
    x1, x2, weight = normal(3, 2, 2), normal(3, 5), normal(4, 5, 6)
    wanted = np.einsum("ni,nj,ijk->nk", x1.reshape(3, 4), x2, weight)
    near(F.bilinear(x1, x2, weight), wanted, 64)
    v1, bias = normal(4, 6), normal(6)
    more = wanted + x1.reshape(3, 4) @ v1 + bias
    near(F.bilinear(x1, x2, weight, v1, bias=bias), more, 64)
    grads = F.bilinear_backward(normal(3, 6), x1, x2, weight, v1)
    assert [None if g is None else g.shape for g in grads] == [
        x1.shape, x2.shape, weight.shape, v1.shape, None, (6,),
    ]  # fmt: skip


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("axis", [None, (), *subsets(3), -1, [0, -1]], ids=str)
def test_sums(axis: Any, keepdims: bool) -> None:
    x = normal(2, 3, 4)
    axes = tuple(axis) if isinstance(axis, list) else axis
    output = F.sum(x, axis, keepdims)
    near(output, np.asarray(x.sum(axes, keepdims=keepdims)), 24)
    grad = normal(*output.shape)
    found = F.sum_backward(grad, x.shape, axis, keepdims)
    adjoint(grad, output, found, x)
    assert found.flags.writeable


@pytest.mark.parametrize("sizes", [(128, 128), (100_003,), (2, 3, 5, 1001)], ids=str)
@pytest.mark.parametrize("real", REALS)
def test_sums_of_many_elements(sizes: tuple[int, ...], real: Any) -> None:
    """Threads share partial sums, 64, 1 and 2 of them, and every element counts once."""
    x = np.arange(math.prod(sizes)).reshape(sizes) % 7
    assert F.sum(x.astype(real)) == x.sum()  # exact: all partial sums are integers below 2^24


@pytest.mark.parametrize("sizes", [(), (1,), (3,), (3, 4), (3, 4, 5), (1, 1)], ids=str)
def test_prelu_of_any_weight(sizes: tuple[int, ...]) -> None:
    x, weight = normal(2, 3, 4, 5), normal(*sizes)
    if sizes == (1, 1):
        x = x[:, :1, :1]
    wide = weight.reshape(*sizes, *(1,) * (3 - len(sizes))) if len(sizes) else weight
    near(F.prelu(x, weight), np.where(x > 0, x, x * wide))
    grad = normal(*x.shape)
    grad_x, grad_weight = F.prelu_backward(grad, x, weight)
    near(grad_x, np.where(x > 0, grad, grad * wide))
    every = np.where(x > 0, 0, grad * x)
    axes = tuple(i for i in range(4) if i == 0 or i > len(sizes)) if sizes else (0, 1, 2, 3)
    wanted = every.sum() if weight.size == 1 else every.sum(axes)
    near(grad_weight, np.reshape(wanted, sizes), 128)
    assert F.prelu(x, 0.5).shape == x.shape


@pytest.mark.parametrize(
    "sizes",
    [(3, 1, 1), (3, 1), (1, 4), (1, 1, 5), (3, 1, 5), (1, 3, 1, 1), (2, 1, 4, 1), (1, 1, 1, 1)],
    ids=str,
)
def test_prelu_of_weights_that_broadcast(sizes: tuple[int, ...]) -> None:
    x, weight = normal(2, 3, 4, 5), normal(*sizes)
    wide = weight.reshape((*sizes, *(1,) * (3 - len(sizes))))
    near(F.prelu(x, weight), np.where(x > 0, x, x * wide))
    grad = normal(*x.shape)
    grad_x, grad_weight = F.prelu_backward(grad, x, weight)
    near(grad_x, np.where(x > 0, grad, grad * wide))
    every, shape = np.where(x > 0, 0, grad * x), (1,) * (4 - wide.ndim) + wide.shape
    axes = tuple(i for i, n in enumerate(shape) if n == 1)
    near(grad_weight, every.sum(axes).reshape(sizes), 128)


def test_prelu_of_planes_without_a_batch() -> None:
    x, weight = normal(3, 4, 5), normal(3, 1, 1)
    near(F.prelu(x, weight), np.where(x > 0, x, x * weight))
    for wrong in ((3,), (2, 1, 1), (3, 4, 5, 1), (1, 1, 1, 1), (0, 1, 1)):
        with pytest.raises(THNNArgumentError, match="'weight': expected one, or one for each"):
            F.prelu(x, np.ones(wrong))


# ---- Losses of likelihoods


def test_cross_entropy() -> None:
    x, target, weights = normal(3, 4, 2), np.array([[0, 3], [1, 1], [2, 0]]), np.abs(normal(4))
    logs = x - np.log(np.exp(x).sum(1, keepdims=True))
    each = -np.take_along_axis(logs, target[:, None], 1)[:, 0]
    assert F.cross_entropy(x, target) == pytest.approx(each.mean())
    assert F.cross_entropy(x, target, average=False) == pytest.approx(each.sum())
    shares = weights[target] * (target != 1)
    wanted = (each * shares).sum() / shares.sum()
    assert F.cross_entropy(x, target, weights, ignore_index=1) == pytest.approx(wanted)
    grad = F.cross_entropy_backward(x, target, weights, ignore_index=1)
    hot = F.one_hot(target, 4).swapaxes(1, 2)
    near(grad, (np.exp(logs) - hot) * (shares / shares.sum())[:, None], 16)
    assert F.cross_entropy(x[0, :, 0], 2) == pytest.approx(-logs[0, 2, 0])


def test_gaussian_mixtures() -> None:
    weight = F.softmax(normal(4, 3))
    mean1, mean2, log1, log2, raw = (normal(4, 3) / 2 for _ in range(5))
    std1, std2, correlation = np.exp(log1), np.exp(log2), np.tanh(raw)
    x1, x2 = normal(4, 1), normal(4, 1)
    z1, z2 = (x1 - mean1) / std1, (x2 - mean2) / std2
    rest = 1 - correlation**2
    power = -(z1**2 + z2**2 - 2 * correlation * z1 * z2) / (2 * rest)
    parts = weight * np.exp(power) / (2 * np.pi * std1 * std2 * np.sqrt(rest))
    given = weight, mean1, mean2, std1, std2, correlation
    loss, shares = F.gaussian_mixture2d(x1, x2, *given)
    near(loss, -np.log(parts.sum(1, keepdims=True)), 64)
    near(shares, parts / parts.sum(1, keepdims=True), 64)
    flat, _ = F.gaussian_mixture2d(x1[:, 0], x2[:, 0], *given)
    np.testing.assert_array_equal(flat, loss[:, 0])
    far, _ = F.gaussian_mixture2d(x1 + 1e4, x2, *given)
    assert np.isfinite(far).all()
    for grad, other in ((np.array(2.0), np.full((4, 1), 2.0)), (3.0, np.full((4, 1), 3.0))):
        found = F.gaussian_mixture2d_backward(grad, x1, x2, *given)
        wanted = F.gaussian_mixture2d_backward(other, x1, x2, *given)
        np.testing.assert_array_equal(found, wanted)


# ---- Activations, masks, padding, sizes


def test_the_normal_distribution() -> None:
    from math import erfc, sqrt

    for real in REALS:
        x = np.linspace(-9, 9, 2001).astype(real)
        wanted = np.array([v * (0.5 * erfc(-v / sqrt(2))) for v in x.astype(float)])
        found = F.gelu(x)
        assert found.dtype == real
        # The exponential makes the rounding of x^2 / 2 one of so many units of its own, and the
        # terms of the polynomial beside it are up to eight times their sum. In erfc here, the
        # quotient and the root make as much of their roundings, twice.
        limit = (1.5 * x.astype(float) ** 2 + 8) * np.finfo(real).eps * np.abs(wanted)
        assert (np.abs(found - wanted) <= limit).all()
    np.testing.assert_array_equal(F.gelu([-200.0, 200.0, -np.inf, np.inf]), [0, 200, 0, np.inf])
    assert np.isnan(F.gelu([np.nan, 1.0])[0])
    near(F.gelu(x, approximate="tanh"), wanted, 10**11)  # an approximation to 5e-4


def test_dropout() -> None:
    from pythnn import Generator

    x = normal(100, 20)
    output, mask = F.dropout(x, 0.25, generator=Generator(3))
    again, _ = F.dropout(x, 0.25, generator=Generator(3))
    np.testing.assert_array_equal(output, again)
    np.testing.assert_array_equal(output, x * mask)
    kept = mask != 0
    np.testing.assert_allclose(mask[kept], 4 / 3)
    # Six standard deviations of the mean of 2000 draws.
    assert abs(kept.mean() - 0.75) < 6 * np.sqrt(0.25 * 0.75 / x.size)
    np.testing.assert_array_equal(F.dropout_backward(x, mask), output)
    drawn = Generator(3)
    for given in ({}, {"generator": drawn}):
        assert len({F.dropout(x, 0.25, **given)[1].tobytes() for _ in range(6)}) == 6
    for p, training, wanted in ((0.5, False, x), (0.0, True, x), (1.0, True, 0 * x)):
        found, mask = F.dropout(x, p, training=training)
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(x * mask, wanted)
    given = np.ones_like(x)
    found, mask = F.dropout(x, mask=given)
    assert mask is not given


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [[(2, 1)], [(1, 2), (0, 3)], [(-1, 1), (2, -2)], 1], ids=str)
def test_padding(mode: str, padding: Any) -> None:
    x = normal(2, 3, 4, 5)
    pairs = [(1, 1), (1, 1)] if padding == 1 else padding
    pairs = [(0, 0)] * (4 - len(pairs)) + pairs
    cut = x[tuple(slice(max(-a, 0), min(b, 0) or None) for a, b in pairs)]
    names = {"replicate": "edge", "circular": "wrap"}
    widths = [(max(a, 0), max(b, 0)) for a, b in pairs]
    wanted = np.pad(cut, widths, mode=names.get(mode, mode))  # type: ignore[call-overload]
    output = F.pad(x, padding, mode)
    np.testing.assert_array_equal(output, wanted)
    grad = normal(*output.shape)
    adjoint(grad, output, F.pad_backward(grad, x.shape, padding, mode), x)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 4, 5), (1, 2, 3, 4, 5)])
def test_the_same_size(shape: tuple[int, ...], mode: str) -> None:
    if mode == "cubic" and len(shape) != 4:
        return
    x = normal(*shape)
    for how in ({"size": shape[2:]}, {"scale": 1.0}):
        np.testing.assert_allclose(F.interpolate(x, mode=mode, **how), x, rtol=1e-12)
        grad = F.interpolate_backward(x, shape, mode=mode, **how)
        np.testing.assert_allclose(grad, x, rtol=1e-12)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(
    ("n", "size", "scale"),
    [(5, 8, None), (5, 2, None), (5, None, 1.7), (5, None, 0.7), (1, 3, None), (4, 1, None)],
    ids=str,
)
def test_other_sizes(n: int, size: Any, scale: Any, mode: str, align: bool, real: Any) -> None:
    x = normal(2, 1, n).astype(real)
    m = size or int(n * scale)
    ratio = 1 / scale if scale else n / m

    def cubic(d: float) -> float:
        d, a = abs(d), -0.75
        if d <= 1:
            return (a + 2) * d**3 - (a + 3) * d**2 + 1
        return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0

    wanted = np.zeros((2, 1, m))
    for i in range(m):
        at = (i + 0.5) * ratio - 0.5
        if mode == "nearest":
            wanted[..., i] = x[..., min(int(i * ratio), n - 1)]
            continue
        if align:
            at = i * (n - 1) / (m - 1) if m > 1 else 0.0
        if mode == "linear":
            at = min(max(at, 0), n - 1)
        low = int(np.floor(at))
        for k in range(low - 1, low + 3):
            weight = cubic(at - k) if mode == "cubic" else max(0.0, 1 - abs(at - k))
            wanted[..., i] += weight * x[..., min(max(k, 0), n - 1)]
    named = {"mode": mode, "align_corners": align, "scale": scale}
    output = F.interpolate(x, size, **named)
    near(output, wanted, 16)
    grad = normal(2, 1, m).astype(real)
    adjoint(grad, output, F.interpolate_backward(grad, x.shape, size, **named), x)


def test_one_hot() -> None:
    found = F.one_hot([[2, 0], [1, 1]], 3, dtype=np.float32)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.argmax(-1), [[2, 0], [1, 1]])
    np.testing.assert_array_equal(found.sum(-1), 1)
    assert F.one_hot(np.zeros((2, 0), int), 3).shape == (2, 0, 3)

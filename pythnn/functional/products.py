"""Products and sums of arrays: of matrices, of pairs of vectors, along axes."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import thnn
from .._products import multiply, product
from .._tensor import array_module
from ._arrays import Array, Real, Unfit, check_shape, dense, new, shaped
from ._axes import Axes, Shape, axes_of, empty, sizes_of
from ._front import function

__all__ = [
    "bilinear",
    "bilinear_backward",
    "matmul",
    "matmul_backward",
    "sum",
    "sum_backward",
]


def _samples(name: str, array: Array, size: int | None = None) -> Array:
    """An array as batch x features; what follows the batch is flattened."""
    if array.ndim < 2:
        raise Unfit(name, "batch x features [x ...]", f"shape {tuple(array.shape)}")
    if size is not None and len(array) != size:
        raise Unfit(name, f"{size} samples, like 'x1'", f"shape {tuple(array.shape)}")
    return array.reshape(len(array), math.prod(array.shape[1:]))


def _pairs(x1: Array, x2: Array, weight: Array) -> tuple[Array, Array]:
    """Both arguments of a bilinear layer, which fit its weight, as batch x features."""
    first = _samples("x1", x1)
    second = _samples("x2", x2, len(first))
    wanted = (first.shape[1], second.shape[1])
    if weight.ndim != 3 or weight.shape[:2] != wanted:
        raise Unfit("weight", f"{wanted[0]} x {wanted[1]} x outputs", f"shape {weight.shape}")
    return first, second


def _products(first: Array, second: Array) -> Array:
    """The products of all pairs of elements of each sample."""
    pairs: Array = first[:, :, None] * second[:, None, :]
    return pairs.reshape(len(first), first.shape[1] * second.shape[1])


@function(takes_empty=True)
def bilinear(
    x1: Real,
    x2: Real,
    weight: Real,
    v1: Real | None = None,
    v2: Real | None = None,
    bias: Real | None = None,
) -> Array:
    """The sum of x1[i] weight[i, j] x2[j] over i and j, plus x1 @ v1 + x2 @ v2 + bias.

    Parameters
    ----------
    x1, x2 : batch x features [x ...], flattened after the batch
    weight : features of x1 x features of x2 x outputs
    v1, v2 : features of x1, or of x2, x outputs, optional
    bias : (outputs,), optional

    >>> bilinear([[1.0, 2.0]], [[3.0]], [[[1.0]], [[10.0]]], bias=[0.5])
    array([[63.5]])
    """
    first, second = _pairs(x1, x2, weight)
    outputs = weight.shape[2]
    _check_linear(first, second, v1, v2, outputs)
    if bias is not None:
        check_shape("bias", bias, (outputs,))
    output: Array = multiply(_products(first, second), weight.reshape(-1, outputs))
    for x, v in ((first, v1), (second, v2)):
        if v is not None:
            output += multiply(x, v)
    if bias is not None:
        output += bias
    return output


def _check_linear(first: Array, second: Array, v1: Any, v2: Any, outputs: int) -> None:
    for name, x, v in (("v1", first, v1), ("v2", second, v2)):
        if v is not None:
            check_shape(name, v, (x.shape[1], outputs))


@function(takes_empty=True)
def bilinear_backward(
    grad_output: Real,
    x1: Real,
    x2: Real,
    weight: Real,
    v1: Real | None = None,
    v2: Real | None = None,
) -> tuple[Array, Array, Array, Array | None, Array | None, Array]:
    """The gradients of `x1`, `x2`, `weight`, `v1`, `v2` and `bias`.

    Those of `v1` and `v2` are None where these are not given.
    """
    first, second = _pairs(x1, x2, weight)
    outputs = weight.shape[2]
    _check_linear(first, second, v1, v2, outputs)
    check_shape("grad_output", grad_output, (len(first), outputs))
    pairs = multiply(grad_output, weight.reshape(-1, outputs).T)
    pairs = pairs.reshape(len(first), *weight.shape[:2])
    grad_first = product(pairs, second[:, :, None])[:, :, 0]
    grad_second = product(first[:, None, :], pairs)[:, 0]
    grad_weight = multiply(_products(first, second).T, grad_output).reshape(weight.shape)
    grad_v1 = grad_v2 = None
    if v1 is not None:
        grad_first = grad_first + multiply(grad_output, v1.T)
        grad_v1 = multiply(first.T, grad_output)
    if v2 is not None:
        grad_second = grad_second + multiply(grad_output, v2.T)
        grad_v2 = multiply(second.T, grad_output)
    grads = (grad_first.reshape(x1.shape), grad_second.reshape(x2.shape), grad_weight)
    return *grads, grad_v1, grad_v2, grad_output.sum(0)


# ---- Products of matrices


def _transposed(array: Array, transpose: bool) -> Array:
    return array.swapaxes(-1, -2) if transpose and array.ndim > 1 else array


def _check_product(a: Array, b: Array, transpose_a: bool, transpose_b: bool) -> None:
    """Raises unless the product of two arrays exists."""
    for name, array in (("a", a), ("b", b)):
        if array.ndim == 0:
            raise Unfit(name, "a vector, a matrix or a stack of them", "shape ()")
    inner = _transposed(a, transpose_a).shape[-1]
    right = _transposed(b, transpose_b).shape
    if right[-2 if len(right) > 1 else 0] != inner:
        layout = f"outputs x {inner}" if transpose_b else f"{inner} x outputs"
        wanted = f"[... x] {layout}, as 'a' has {inner} inner elements"
        raise Unfit("b", wanted, f"shape {tuple(b.shape)}")
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        wanted = f"a stack of {a.shape[:-2]} matrices, like 'a'"
        raise Unfit("b", wanted, f"shape {tuple(b.shape)}") from None


@function(takes_empty=True)
def matmul(
    a: Real,
    b: Real,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    transpose_out: bool = False,
) -> Array:
    """a @ b, of matrices or of stacks of them, which may be transposed before and after.

    Parameters
    ----------
    a, b : vectors, matrices, or stacks of matrices
        Along the axes before the last two, sizes of 1 stretch to the other array's. A vector is a
        row of `a`, or a column of `b`, whose axis the result does not have.
    transpose_a, transpose_b, transpose_out : bool
        Swap the last two axes, which a vector does not have.

    >>> matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True)
    array([[11.]])
    """
    _check_product(a, b, transpose_a, transpose_b)
    output = product(_transposed(a, transpose_a), _transposed(b, transpose_b))
    made = dense(_transposed(output, transpose_out))
    return made.reshape(output.shape) if output.ndim == 0 else made


@function(takes_empty=True)
def matmul_backward(
    grad_output: Real,
    a: Real,
    b: Real,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    transpose_out: bool = False,
) -> tuple[Array, Array]:
    """The gradients of `a` and `b`."""
    _check_product(a, b, transpose_a, transpose_b)
    left, right = _transposed(a, transpose_a), _transposed(b, transpose_b)
    rows, columns = left.shape[-2:-1], right.shape[-1:] if right.ndim > 1 else ()
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    swap = transpose_out and len(stack) + len(rows) + len(columns) > 1
    shape = (*stack, *rows, *columns)
    check_shape("grad_output", grad_output, (*shape[:-2], *shape[:-3:-1]) if swap else shape)
    grad = _transposed(grad_output, swap)
    if a.ndim == 1:
        left, grad = left[None, :], grad[..., None, :] if columns else grad[..., None]
    if b.ndim == 1:
        right, grad = right[:, None], grad[..., None]
    grad_a = _sum_to(product(grad, right.swapaxes(-1, -2)), left.shape)
    grad_b = _sum_to(product(left.swapaxes(-1, -2), grad), right.shape)
    return _as_given(grad_a, a, transpose_a), _as_given(grad_b, b, transpose_b)


def _sum_to(array: Array, shape: Sequence[int]) -> Array:
    """The sum over what has been stretched from a shape."""
    extra = array.ndim - len(shape)
    axes = [i for i in range(array.ndim) if i < extra or array.shape[i] != shape[i - extra]]
    found: Array = array.sum(tuple(axes)) if axes else array
    return found.reshape(shape)


def _as_given(grad: Array, array: Array, transpose: bool) -> Array:
    if array.ndim > 1:
        grad = _transposed(grad, transpose)
    return dense(grad).reshape(array.shape)


# ---- Sums


def _summed(x: Any, axis: Axes | None) -> tuple[int, ...] | None:
    return None if axis is None else axes_of(x, axis)


@function(takes_empty=True)
def sum(x: Real, axis: Axes | None = None, keepdims: bool = False) -> Array:  # noqa: A001
    """The sum over all elements, or along an axis or several.

    Parameters
    ----------
    x : any shape
    axis : an axis or several, optional
    keepdims : bool
        Whether the result has ones in their place.

    >>> sum([[1.0, 2.0], [3.0, 4.0]], 1)
    array([3., 7.])
    """
    axes = _summed(x, axis)
    narrow, wide = _without(x.shape, axes)
    shape = wide if keepdims else narrow
    if not x.size or axes == ():
        found: Array = array_module(x).asarray(x.sum(axes, keepdims=keepdims))
        return found
    for before, count, after in _runs(x.shape, axes):
        total = new((before, after), x)
        whole = x.reshape(before, count, after)
        thnn.Reduction_updateOutput(None, whole, total, None, 2, False, 0)
        x = shaped(total, (before, after))
    return shaped(x, shape)


_PARTS, _LONG = 64, 1 << 14
"""Partial sums, at most, of a sum of so many elements: threads share these."""


@functools.lru_cache(maxsize=256)
def _runs(sizes: tuple[int, ...], axes: tuple[int, ...] | None) -> tuple[tuple[int, int, int], ...]:
    """The sums that make up one over several axes: axes side by side at a time, from the last.

    Each as the number of results before, of elements of a result, and of results after.
    """
    if axes is None or len(axes) == len(sizes):
        count = math.prod(sizes)
        parts = math.gcd(count, _PARTS) if count >= _LONG else 1
        return ((parts, count // parts, 1), (1, parts, 1))[: 2 if parts > 1 else 1]
    runs, end = [], len(sizes)
    after = 1
    while end > 0:
        begin = end
        while begin > 0 and ((begin - 1 in axes) is (end - 1 in axes)):
            begin -= 1
        count = math.prod(sizes[begin:end])
        if end - 1 in axes:
            runs.append((math.prod(sizes[:begin]), count, after))
        else:
            after *= count
        end = begin
    return tuple(run for run in runs if run[1] > 1) or (runs[0],)


@function(takes_empty=True)
def sum_backward(
    grad_output: Real, shape: Shape, axis: Axes | None = None, keepdims: bool = False
) -> Array:
    """The gradient of an `x` of this shape."""
    sizes = sizes_of(shape)
    axes = _summed(np.broadcast_to(np.zeros(()), sizes) if axis is not None else None, axis)
    narrow, wide = _without(sizes, axes)
    check_shape("grad_output", grad_output, wide if keepdims else narrow)
    spread = empty(sizes, grad_output)
    spread[...] = grad_output.reshape(wide)
    return spread


@functools.lru_cache(maxsize=256)
def _without(
    sizes: tuple[int, ...], axes: tuple[int, ...] | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes without some axes, or without any, and with ones in their place."""
    summed = range(len(sizes)) if axes is None else axes
    narrow = tuple(n for i, n in enumerate(sizes) if i not in summed)
    return narrow, tuple(1 if i in summed else n for i, n in enumerate(sizes))

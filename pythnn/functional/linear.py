"""Matrices and tables: linear layers, dense and sparse, embeddings. Indices count from 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import thnn
from .._tensor import array_module, is_on_device
from ._arrays import (
    INDICES,
    OUT,
    Array,
    Real,
    Sum,
    as_array,
    call,
    calls,
    from_zero,
    optional,
    real,
    zeros,
)
from ._places import anywhere

__all__ = [
    "embedding",
    "embedding_backward",
    "embedding_bag",
    "embedding_bag_backward",
    "embedding_renorm",
    "index_linear",
    "index_linear_backward",
    "linear",
    "linear_backward",
    "sparse_linear",
    "sparse_linear_backward",
]


@anywhere
def linear(x: Real, weight: Real, bias: Real | None = None) -> Array:
    """x @ weight.T + bias. THNN's Linear.

    Parameters
    ----------
    x : [batch x] inputs
    weight : outputs x inputs
    bias : (outputs,), optional

    >>> linear([1.0, 2.0], [[3.0, 4.0]], [5.0])
    array([16.])
    """
    return call(thnn.Linear_updateOutput, real(x), OUT, real(weight), optional(bias), None)


@anywhere
def linear_backward(grad_output: Real, x: Real, weight: Real) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`."""
    x, grad_output, weight = real(x), real(grad_output), real(weight)
    bias = zeros(weight.shape[0], weight)
    grad_x = call(thnn.Linear_updateGradInput, x, grad_output, OUT, weight)
    grad_weight, grad_bias = calls(
        thnn.Linear_accGradParameters,
        x, grad_output, None, weight, bias, Sum(weight), Sum(bias), None, 1.0,
    )  # fmt: skip
    return grad_x, grad_weight, grad_bias


def _entries(rows: Any, columns: Any, values: Real) -> Array:
    """Sparse samples as THNN takes them: (sample, feature, value), the first two from 1."""
    values = real(values)
    places = [(as_array(place) + 1).astype(values.dtype) for place in (rows, columns)]
    entries: Array = array_module(values).stack([*places, values], axis=1)
    return entries


@anywhere
def sparse_linear(
    rows: Any, columns: Any, values: Real, weight: Real, bias: Real, batch: int
) -> Array:
    """x @ weight.T + bias for a sparse `x`. THNN's SparseLinear.

    Parameters
    ----------
    rows, columns, values : (entries,)
        Where `x` is not 0, in any order, and what it is there.
    weight : outputs x inputs
    bias : (outputs,)
    batch : int
        Rows of `x`.

    >>> sparse_linear([0, 1], [1, 0], [2.0, 3.0], [[5.0, 7.0]], [1.0], batch=2)
    array([[15.],
           [16.]])
    """
    weight, bias = real(weight), real(bias)
    output: Array = zeros((batch, weight.shape[0]), weight)
    entries = _entries(rows, columns, values)
    thnn.SparseLinear_updateOutput(None, entries, output, weight, bias)
    return output


@anywhere
def sparse_linear_backward(
    grad_output: Real, rows: Any, columns: Any, values: Real, weight: Real
) -> tuple[Array, Array]:
    """The gradients of `weight` and `bias`."""
    weight = real(weight)
    found: tuple[Array, Array] = calls(
        thnn.SparseLinear_accGradParameters,
        _entries(rows, columns, values), real(grad_output), Sum(weight),
        Sum(weight, weight.shape[:1]), weight, None, 0.0, 1.0,
    )  # fmt: skip
    return found


@anywhere
def index_linear(keys: Any, values: Real, sizes: Any, weight: Real, bias: Real) -> Array:
    """The bias plus each sample's values times its keys' rows of a table. THNN's IndexLinear.

    Parameters
    ----------
    keys, values : (entries,)
        Those of all samples, one after the other; keys are rows of `weight`.
    sizes : (batch,)
        How many each sample has.
    weight : rows x outputs
    bias : (outputs,)

    >>> index_linear([1, 0, 1], [2.0, 3.0, 1.0], [1, 2], [[5.0], [7.0]], [1.0])
    array([[15.],
           [23.]])
    """
    sizes = as_array(sizes).astype(np.int64)
    found: tuple[Array, Array] = calls(
        thnn.IndexLinear_updateOutput,
        from_zero(keys), -1, real(values), sizes, sizes.cumsum(), OUT, real(weight), real(bias),
        OUT, 0,
    )  # fmt: skip
    return found[0]


@anywhere
def index_linear_backward(
    grad_output: Real, keys: Any, values: Real, sizes: Any, weight: Real
) -> tuple[Array, Array]:
    """The gradients of `weight` and `bias`."""
    weight, sizes = real(weight), as_array(sizes).astype(np.int64)
    columns = weight.shape[1:]
    grad_rows, grad_bias = calls(
        thnn.IndexLinear_accGradParameters,
        from_zero(keys), -1, real(values), sizes, None, real(grad_output), OUT,
        Sum(weight, columns), weight, zeros(columns, weight), None, 0.0, 1.0,
    )  # fmt: skip
    return embedding_backward(grad_rows, keys, weight), grad_bias


@anywhere
def embedding(indices: Any, weight: Real) -> Array:
    """Rows of a table. THNN's LookupTable.

    Parameters
    ----------
    indices : ints, any shape
    weight : rows x columns

    Returns an array of the shape of `indices`, then columns. On a device indices below 0 are wrong.

    >>> embedding([1, 0], [[1.0, 2.0], [3.0, 4.0]])
    array([[3., 4.],
           [1., 2.]])
    """
    weight = real(weight)
    rows: Array
    if not is_on_device(weight):
        rows = weight[indices]
        return rows
    # As bags of one: their kernel notices wrong indices, which CuPy takes for others.
    places, xp = as_array(indices), array_module(weight)
    rows = zeros((0, weight.shape[1]), weight)
    if places.size:
        rows, _ = embedding_bag(places.ravel(), xp.arange(places.size), weight)
    return rows.reshape(*places.shape, weight.shape[1])


@anywhere
def embedding_backward(
    grad_output: Real,
    indices: Any,
    weight: Real,
    *,
    padding_index: int | None = None,
    scale_by_frequency: bool = False,
) -> Array:
    """The gradient of `weight`.

    Parameters
    ----------
    padding_index : int, optional
        An index whose row gets no gradient.
    scale_by_frequency : bool
        Divide by how often an index occurs.
    """
    padding = 0 if padding_index is None else padding_index + 1
    return call(
        thnn.LookupTable_accGradParameters,
        from_zero(indices).ravel(), real(grad_output), Sum(real(weight)), None, None, None,
        scale_by_frequency, padding, 1.0,
    )  # fmt: skip


@anywhere
def embedding_renorm(indices: Any, weight: Array, max_norm: float, p: float = 2.0) -> None:
    """Shortens, in place, the rows at these indices whose p-norm exceeds `max_norm`.

    >>> weight = np.array([[3.0, 4.0], [3.0, 4.0]])
    >>> embedding_renorm([1], weight, 1.0)
    >>> weight.round(3)
    array([[3. , 4. ],
           [0.6, 0.8]])
    """
    thnn.LookupTable_renorm(None, from_zero(indices).ravel(), weight, max_norm, p)


@anywhere
def embedding_bag(
    indices: Any, offsets: Any, weight: Real, *, mean: bool = False
) -> tuple[Array, tuple[Array, Array | None]]:
    """Sums or means of rows of a table. THNN's LookupTableBag.

    Parameters
    ----------
    indices : (entries,)
        Those of all bags, one after the other.
    offsets : (bags,)
        Where each bag begins in `indices`.
    weight : rows x columns

    Returns an array bags x columns, and what the backward function needs.

    >>> embedding_bag([0, 1, 1], [0, 2], [[1.0], [2.0]])[0]
    array([[3.],
           [2.]])
    """
    found = calls(
        thnn.LookupTableBag_updateOutput,
        from_zero(indices), from_zero(offsets), real(weight), OUT, INDICES, int(mean),
        INDICES if mean else None,
    )  # fmt: skip
    return found[0], (found[1], found[2] if mean else None)


@anywhere
def embedding_bag_backward(
    grad_output: Real,
    indices: Any,
    bags: tuple[Array, Array | None],
    weight: Real,
    *,
    mean: bool = False,
    scale_by_frequency: bool = False,
) -> Array:
    """The gradient of `weight`; `bags` as :func:`embedding_bag` returned it second."""
    return call(
        thnn.LookupTableBag_accGradParameters,
        from_zero(indices), real(grad_output), Sum(real(weight)), bags[0], None, None, None,
        scale_by_frequency, int(mean), bags[1], 1.0,
    )  # fmt: skip

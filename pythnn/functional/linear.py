"""Linear layers, dense and sparse. Indices count from 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import thnn
from .._tensor import array_module
from ._arrays import (
    Array,
    Indices,
    Real,
    Unfit,
    check_shape,
    integer,
    like,
    new,
    shaped,
    zeros,
)
from ._front import function
from .tables import added_rows

__all__ = [
    "index_linear",
    "index_linear_backward",
    "linear",
    "linear_backward",
    "sparse_linear",
    "sparse_linear_backward",
]


def _rows(x: Array, weight: Array) -> Array:
    """An array of samples x inputs; what follows the batch is flattened."""
    rows = x.reshape(len(x), math.prod(x.shape[1:])) if x.ndim > 2 else x
    if x.ndim == 0 or rows.shape[-1] != weight.shape[1]:
        if x.ndim == 0:
            raise Unfit("x", "[batch x] inputs [x ...]", "shape ()")
        raise Unfit("weight", f"outputs x {rows.shape[-1]} (inputs)", f"shape {weight.shape}")
    if not weight.size or (x.ndim == 1 and not x.size):
        raise Unfit("weight", "sizes from 1 on", f"shape {weight.shape}")
    return rows


@function(takes_empty=True, weight="outputs inputs", bias="outputs")
def linear(x: Real, weight: Real, bias: Real | None = None) -> Array:
    """x @ weight.T + bias. THNN's Linear.

    Parameters
    ----------
    x : [batch x] inputs, or batch x ..., of which all but the batch is flattened
    weight : outputs x inputs
    bias : (outputs,), optional

    >>> linear([1.0, 2.0], [[3.0, 4.0]], [5.0])
    array([16.])
    """
    rows = _rows(x, weight)
    output = new((*rows.shape[:-1], weight.shape[0]), x)
    if not x.size:
        return shaped(zeros((0, weight.shape[0]), x), output.shape)
    thnn.Linear_updateOutput(None, rows, output, weight, bias, None)
    return output


@function(takes_empty=True, weight="outputs inputs")
def linear_backward(grad_output: Real, x: Real, weight: Real) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`."""
    rows = _rows(x, weight)
    check_shape("grad_output", grad_output, (*rows.shape[:-1], weight.shape[0]))
    grad_weight, grad_bias = zeros(weight.shape, weight), zeros(weight.shape[0], weight)
    if not x.size:
        return zeros(x.shape, x), grad_weight, grad_bias
    grad_x = like(rows)
    thnn.Linear_updateGradInput(None, rows, grad_output, grad_x, weight)
    thnn.Linear_accGradParameters(
        None, rows, grad_output, None, weight, grad_bias, grad_weight, grad_bias, None, 1.0
    )
    return grad_x if rows is x else shaped(grad_x, x.shape), grad_weight, grad_bias


def _entries(rows: Any, columns: Any, values: Array) -> Array:
    """Sparse samples as THNN takes them: (sample, feature, value), the first two from 1."""
    places = [(place + 1).astype(values.dtype) for place in (rows, columns)]
    entries: Array = array_module(values).stack([*places, values], axis=1)
    return entries


@function(
    takes_empty=True,
    below={"rows": "batch", "columns": "inputs"},
    rows="entries",
    columns="entries",
    values="entries",
    weight="outputs inputs",
    bias="outputs",
)
def sparse_linear(
    rows: Indices, columns: Indices, values: Real, weight: Real, bias: Real, batch: int
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
    output: Array = zeros((integer("batch", batch), weight.shape[0]), weight)
    if values.size == 0:
        output += bias
        return output
    thnn.SparseLinear_updateOutput(None, _entries(rows, columns, values), output, weight, bias)
    return output


@function(
    takes_empty=True,
    below={"rows": "batch", "columns": "inputs"},
    rows="entries",
    columns="entries",
    values="entries",
    weight="outputs inputs",
    grad_output="batch outputs",
)
def sparse_linear_backward(
    grad_output: Real, rows: Indices, columns: Indices, values: Real, weight: Real
) -> tuple[Array, Array]:
    """The gradients of `weight` and `bias`."""
    grad_weight, grad_bias = zeros(weight.shape, weight), zeros(weight.shape[0], weight)
    if values.size == 0:
        return grad_weight, grad_output.sum(0)
    thnn.SparseLinear_accGradParameters(
        None, _entries(rows, columns, values), grad_output, grad_weight, grad_bias, weight, None,
        0.0, 1.0,
    )  # fmt: skip
    return grad_weight, grad_bias


def _check_sizes(sizes: Any, keys: Any) -> None:
    """Of numpy's; for others the C functions and the kernels notice it."""
    if isinstance(sizes, np.ndarray) and (sizes.sum() != keys.size or (sizes < 0).any()):
        wanted = f"numbers from 0 on that add up to {keys.size}, one for each key"
        raise Unfit("sizes", wanted, f"a sum of {sizes.sum()}")


@function(
    takes_empty=True,
    below={"keys": "rows"},
    keys="entries",
    values="entries",
    sizes="batch",
    weight="rows outputs",
    bias="outputs",
)
def index_linear(keys: Indices, values: Real, sizes: Indices, weight: Real, bias: Real) -> Array:
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
    _check_sizes(sizes, keys)
    if isinstance(weight, np.ndarray) and not weight.flags.writeable:
        weight = weight.copy()  # which the C function could write to
    output, normalised = new((len(sizes), weight.shape[1]), weight), new((0,), weight)
    thnn.IndexLinear_updateOutput(
        None, keys + 1, -1, values, sizes, sizes.cumsum(), output, weight, bias, normalised, 0
    )
    return output


@function(
    takes_empty=True,
    below={"keys": "rows"},
    keys="entries",
    values="entries",
    sizes="batch",
    weight="rows outputs",
    grad_output="batch outputs",
)
def index_linear_backward(
    grad_output: Real, keys: Indices, values: Real, sizes: Indices, weight: Real
) -> tuple[Array, Array]:
    """The gradients of `weight` and `bias`."""
    _check_sizes(sizes, keys)
    columns = weight.shape[1]
    grad_rows, grad_bias = new((len(keys), columns), weight), zeros(columns, weight)
    thnn.IndexLinear_accGradParameters(
        None, keys + 1, -1, values, sizes, None, grad_output, grad_rows, grad_bias, weight,
        zeros(columns, weight), None, 0.0, 1.0,
    )  # fmt: skip
    return added_rows(shaped(grad_rows, (len(keys), columns)), keys, weight), grad_bias

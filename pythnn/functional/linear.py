"""Matrices and tables: linear layers, dense and sparse, embeddings. Indices count from 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import thnn
from .._tensor import array_module
from ._arrays import (
    Array,
    Indices,
    Real,
    Unfit,
    Written,
    check_shape,
    integer,
    like,
    new,
    new_indices,
    shaped,
    zeros,
)
from ._front import function

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


@function(x="[batch] inputs", weight="outputs inputs", bias="outputs")
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
    output = new((*x.shape[:-1], weight.shape[0]), x)
    thnn.Linear_updateOutput(None, x, output, weight, bias, None)
    return output


@function(x="[batch] inputs", weight="outputs inputs", grad_output="[batch] outputs")
def linear_backward(grad_output: Real, x: Real, weight: Real) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`."""
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    grad_bias = zeros(weight.shape[0], weight)
    thnn.Linear_updateGradInput(None, x, grad_output, grad_x, weight)
    thnn.Linear_accGradParameters(
        None, x, grad_output, None, weight, grad_bias, grad_weight, grad_bias, None, 1.0
    )
    return grad_x, grad_weight, grad_bias


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
    """On the CPU; on a device the kernels notice it."""
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
    return embedding_backward(shaped(grad_rows, (len(keys), columns)), keys, weight), grad_bias


@function(takes_empty=True, below={"indices": "rows"}, weight="rows columns")
def embedding(indices: Indices, weight: Real) -> Array:
    """Rows of a table. THNN's LookupTable.

    Parameters
    ----------
    indices : ints, any shape
    weight : rows x columns

    Returns an array of the shape of `indices`, then columns.

    >>> embedding([1, 0], [[1.0, 2.0], [3.0, 4.0]])
    array([[3., 4.],
           [1., 2.]])
    """
    rows: Array
    if type(weight) is np.ndarray:
        if indices.size and indices.min() < 0:
            raise Unfit("indices", f"indices from 0 to {len(weight) - 1}", f"{indices.min()}")
        rows = weight[indices]
        return rows
    # As bags of one: their kernel notices wrong indices, which CuPy takes for others.
    xp = array_module(weight)
    rows = zeros((0, weight.shape[1]), weight)
    if indices.size:
        rows, _ = embedding_bag(indices.ravel(), xp.arange(indices.size), weight)
    return rows.reshape(*indices.shape, weight.shape[1])


@function(takes_empty=True, below={"indices": "rows"}, weight="rows columns")
def embedding_backward(
    grad_output: Real,
    indices: Indices,
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
    check_shape("grad_output", grad_output, (*indices.shape, weight.shape[1]))
    grad_weight: Array = zeros(weight.shape, weight)
    padding = 0 if padding_index is None else integer("padding_index", padding_index) + 1
    if indices.size:
        thnn.LookupTable_accGradParameters(
            None, (indices + 1).ravel(), grad_output, grad_weight, None, None, None,
            scale_by_frequency, padding, 1.0,
        )  # fmt: skip
    return grad_weight


@function(takes_empty=True, below={"indices": "rows"}, weight="rows columns")
def embedding_renorm(indices: Indices, weight: Written, max_norm: float, p: float = 2.0) -> None:
    """Shortens, in place, the rows at these indices whose p-norm exceeds `max_norm`.

    >>> weight = np.array([[3.0, 4.0], [3.0, 4.0]])
    >>> embedding_renorm([1], weight, 1.0)
    >>> weight.round(3)
    array([[3. , 4. ],
           [0.6, 0.8]])
    """
    if indices.size:
        thnn.LookupTable_renorm(None, (indices + 1).ravel(), weight, max_norm, p)


def _is_mean(mode: str, *, mean: bool) -> bool:
    if mode not in ("sum", "mean"):
        raise Unfit("mode", "'sum' or 'mean'", repr(mode))
    if not isinstance(mean, bool):
        raise Unfit("mean", "True or False", repr(mean))
    return mean or mode == "mean"


def _check_offsets(offsets: Any, indices: Any) -> None:
    """On the CPU; on a device the kernels notice it."""
    if not isinstance(offsets, np.ndarray) or not offsets.size:
        return
    if offsets[0] != 0 or offsets[-1] > indices.size or (np.diff(offsets) < 0).any():
        wanted = f"rising numbers from 0 to {indices.size}, the first being 0"
        raise Unfit("offsets", wanted, f"{offsets.tolist()}")


@function(
    takes_empty=True,
    below={"indices": "rows"},
    per_sample=(),
    indices="entries",
    offsets="bags",
    weight="rows columns",
)
def embedding_bag(
    indices: Indices, offsets: Indices, weight: Real, *, mode: str = "sum", mean: bool = False
) -> tuple[Array, tuple[Array, Array | None]]:
    """Sums or means of rows of a table. THNN's LookupTableBag.

    Parameters
    ----------
    indices : (entries,)
        Those of all bags, one after the other.
    offsets : (bags,)
        Where each bag begins in `indices`.
    weight : rows x columns
    mode : "sum" or "mean"
        Of the rows of a bag. PyTorch's default is the mean; THNN has no maximum.
    mean : bool
        True is the same as the mode "mean".

    Returns an array bags x columns, and what the backward function needs.

    >>> embedding_bag([0, 1, 1], [0, 2], [[1.0], [2.0]])[0]
    array([[3.],
           [2.]])
    """
    mean = _is_mean(mode, mean=mean)
    _check_offsets(offsets, indices)
    if not indices.size or not offsets.size:
        nothing = zeros((len(offsets), weight.shape[1]), weight)
        return nothing, (indices, offsets * 0 if mean else None)
    output = new((len(offsets), weight.shape[1]), weight)
    bag_of = new_indices(indices.shape, weight)
    counts = new_indices(offsets.shape, weight) if mean else None
    thnn.LookupTableBag_updateOutput(
        None, indices + 1, offsets + 1, weight, output, bag_of, int(mean), counts
    )
    return output, (bag_of, counts)


@function(
    takes_empty=True,
    below={"indices": "rows"},
    grad_output="bags columns",
    indices="entries",
    weight="rows columns",
)
def embedding_bag_backward(
    grad_output: Real,
    indices: Indices,
    bags: tuple[Array, Array | None],
    weight: Real,
    *,
    mode: str = "sum",
    mean: bool = False,
    scale_by_frequency: bool = False,
) -> Array:
    """The gradient of `weight`; `bags` as :func:`embedding_bag` returned it second."""
    grad_weight: Array = zeros(weight.shape, weight)
    mean = _is_mean(mode, mean=mean)
    if not indices.size or not grad_output.size:
        return grad_weight
    thnn.LookupTableBag_accGradParameters(
        None, indices + 1, grad_output, grad_weight, bags[0], None, None, None,
        scale_by_frequency, int(mean), bags[1], 1.0,
    )  # fmt: skip
    return grad_weight

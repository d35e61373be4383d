"""Look-up tables: rows of a table, sums of them, and rows of zeros with a one."""

from __future__ import annotations

from typing import Any, TypeAlias

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
    new,
    new_indices,
    on_host,
    shaped,
    zeros,
)
from ._convert import REALS
from ._front import function

__all__ = [
    "embedding",
    "embedding_backward",
    "embedding_bag",
    "embedding_bag_backward",
    "embedding_renorm",
    "one_hot",
]

Bags: TypeAlias = tuple[Array, Array | None]
"""The bag of each index, and for means how many indices each bag has."""


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
    if on_host(weight):
        if indices.size and indices.min() < 0:
            raise Unfit("indices", f"indices from 0 to {len(weight) - 1}", f"{indices.min()}")
        rows = weight[indices]
        return rows
    # The kernel notices wrong indices, which CuPy takes for others.
    shape = (*indices.shape, weight.shape[1])
    found = new(shape, weight)
    if indices.size:
        thnn.LookupTable_updateOutput(None, (indices + 1).ravel(), weight, found)
    return shaped(found, shape)


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
    padding = 0 if padding_index is None else integer("padding_index", padding_index) + 1
    return added_rows(grad_output, indices, weight, scale_by_frequency, padding)


def added_rows(
    rows: Array, indices: Array, weight: Array, scale_by_frequency: bool = False, padding: int = 0
) -> Array:
    """Zeros in the shape of a table, with rows added at indices."""
    total: Array = zeros(weight.shape, weight)
    if indices.size:
        thnn.LookupTable_accGradParameters(
            None, (indices + 1).ravel(), rows, total, None, None, None,
            scale_by_frequency, padding, 1.0,
        )  # fmt: skip
    return total


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
    """Of numpy's; for others the C functions and the kernels notice it."""
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
    bags: Bags,
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


@function(takes_empty=True)
def one_hot(indices: Indices, classes: int, *, dtype: Any = np.float64) -> Array:
    """Zeros, with a one at each index. On the CPU an index out of range is an error.

    Parameters
    ----------
    indices : ints, any shape
    classes : int
        How many there are: the size of the last axis of the result.
    dtype : float32 or float64

    Returns an array of the shape of `indices`, then classes; on a device, zeros alone for an index
    out of range.

    >>> one_hot([2, 0], 3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    count = integer("classes", classes)
    if count < 0:
        raise Unfit("classes", "at least 0", f"{count}")
    try:
        real = np.dtype(dtype)
    except TypeError:
        real = None
    if real not in REALS:
        raise Unfit("dtype", "float32 or float64", repr(dtype))
    if not on_host(indices):
        rows: Array = indices[..., None] == array_module(indices).arange(count)
        return rows.astype(real)
    if indices.size and (indices.min() < 0 or indices.max() >= count):
        wrong = (indices < 0) | (indices >= count)
        raise Unfit("indices", f"indices from 0 to {count - 1}", f"{indices[wrong][0]}")
    found = np.zeros((*indices.shape, count), real)
    found.reshape(-1)[np.arange(0, found.size, max(count, 1)) + indices.reshape(-1)] = 1
    return found

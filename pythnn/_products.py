"""Products of arrays in the library's own threads.

numpy, and a Tensor's own ``addmm``, multiply by BLAS in its own pool of threads. These take no
notice of ``set_num_threads``, and wait for more work on the cores that the library's threads need.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import thnn
from ._calls.recorded import Recorded
from ._tensor import array_module

__all__ = ["add_product", "multiply", "product"]

_ON_HOST = (np.ndarray, Recorded)
_IN_ONE_THREAD = 2**18
"""The most multiplications of a product that OpenBLAS, which numpy uses, does in the calling
thread."""


def _is_for_library(*arrays: Any) -> bool:
    """Whether the library multiplies them: on the CPU, of one real type, none of them empty."""
    dtype = arrays[0].dtype
    return dtype in (np.float32, np.float64) and all(
        type(one) in _ON_HOST and one.dtype == dtype and one.size for one in arrays
    )


def multiply(a: Any, b: Any, out: Any = None) -> Any:
    """The product of two matrices, in `out` or a new array."""
    if out is None:
        shape = a.shape[0], b.shape[1]
        dtype = np.result_type(a.dtype, b.dtype)
        is_recorded = type(a) is Recorded
        out = a.recording.room(shape, dtype) if is_recorded else array_module(a).empty(shape, dtype)
    if not _is_for_library(a, b, out):
        out[...] = a @ b
    elif b.is_dense if type(b) is Recorded else b.flags.c_contiguous:
        thnn.Linear_updateGradInput(None, out, a, out, b)
    else:
        thnn.Linear_updateOutput(None, a, out, b.T, None, None)
    return out


def add_product(total: Any, a: Any, b: Any, factor: float = 1) -> Any:
    """Adds `factor` a b to a matrix, in its memory; returns it."""
    if _is_for_library(total, a, b) and a.T.flags.c_contiguous:
        thnn.Linear_accGradParameters(None, b, a.T, None, None, None, total, None, None, factor)
    else:
        total += factor * multiply(a, b)
    return total


def product(a: Any, b: Any) -> Any:
    """``a @ b``, of vectors, matrices or stacks of matrices."""
    if b.ndim == 2 and a.size * b.shape[1] <= _IN_ONE_THREAD:
        return a @ b
    if b.ndim > 2 and type(a) in _ON_HOST and a.ndim > 1 and _are_small(a, b):
        return a @ b
    if 0 in (a.ndim, b.ndim) or not _is_for_library(a, b):
        return a @ b
    left, right = a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    if left.shape[-1] != right.shape[-2]:
        return a @ b  # which raises
    made = _of_stacks(left, right)
    if b.ndim == 1:
        made = made[..., 0]
    if a.ndim == 1:
        made = made[0] if b.ndim == 1 else made[..., 0, :]
    return made


def _are_small(a: Any, b: Any) -> bool:
    """Whether each product of two stacks is done in the calling thread."""
    size: int = a.shape[-2] * b.shape[-2] * b.shape[-1]
    return size <= _IN_ONE_THREAD


def _of_stacks(a: Any, b: Any) -> Any:
    """The product of matrices or stacks of them."""
    if b.ndim == 2:
        rows = multiply(a.reshape(-1, a.shape[-1]), b)
        return rows.reshape(*a.shape[:-1], b.shape[-1])
    if _are_small(a, b):
        return a @ b
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    left, right = (np.broadcast_to(one, (*stack, *one.shape[-2:])) for one in (a, b))
    out = np.empty((*stack, a.shape[-2], b.shape[-1]), a.dtype)
    for place in np.ndindex(*stack):
        multiply(left[place], right[place], out[place])
    return out

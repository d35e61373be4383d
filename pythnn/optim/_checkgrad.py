"""Gradients by differences, against those that functions say they have."""

from __future__ import annotations

import numpy as np

from .._errors import THNNArgumentError
from ..nn.checking import relative_difference
from ._tables import Array, OpFunc

__all__ = ["checkgrad"]


def checkgrad(opfunc: OpFunc, x: Array, eps: float = 1e-7) -> tuple[float, Array, Array]:
    """Compares the gradient that `opfunc` gives with differences of its values.

    Parameters
    ----------
    opfunc : function
        It takes x, and returns a value and its gradient.
    x : array of real numbers
        It is changed and set back; float64, unless `eps` suits a coarser type.
    eps : float
        Step to both sides.

    Returns the norm of the difference of both gradients divided by that of their sum, which for a
    right gradient is about 1e-7; then the gradient of `opfunc`, and that by differences.

    >>> checkgrad(lambda x: ((x**2).sum(), 2 * x), np.array([1.0, 2.0]))[0] < 1e-6
    True
    """
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f" or not x.flags.writeable:
        found = f"{type(x).__name__} of {x.dtype}" if hasattr(x, "dtype") else type(x).__name__
        raise THNNArgumentError.expected(
            "optim.checkgrad", 2, "x", "a writable array of real numbers", found
        )
    given = np.array(opfunc(x)[1]).reshape(x.shape)
    estimated = np.empty_like(given)
    for place in np.ndindex(x.shape):
        kept = x[place]
        values = []
        for moved in (kept + eps, kept - eps):
            x[place] = moved
            values.append(float(opfunc(x)[0]))
        x[place] = kept
        estimated[place] = (values[0] - values[1]) / (2 * eps)
    return relative_difference(given, estimated), given, estimated

"""What a tree of modules computes, as one list of operations on views of memory.

:func:`lower` follows a model in evaluation for example inputs. Each layer says what it computes by
computing it: the kernels that it calls are written down as they run, with the memory that they
read and write. Views cost no operation, layers that work in place write to the memory of their
input, and a class without a lowering is an operation that calls it.
"""

from __future__ import annotations

from .lowering import NotLowerableError, lower, lowers
from .operations import Buffer, Call, Constant, Graph, Kernel, Operation, View

__all__ = [
    "Buffer",
    "Call",
    "Constant",
    "Graph",
    "Kernel",
    "NotLowerableError",
    "Operation",
    "View",
    "lower",
    "lowers",
]

from . import (  # noqa: F401 (they register their lowerings)
    containers,
    elementwise,
    layers,
    shaping,
    tables,
)

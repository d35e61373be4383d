"""Lua Torch's neural-network kernels (THNN) on numpy arrays and tensors of their own.

Lua's conventions hold in :mod:`pythnn.thnn`: class targets, lookup and pooling indices count from
1. :class:`Tensor` follows Python's: dimensions count from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._errors import THNNArgumentError, THNNError, THNNMemoryError
from ._generator import Generator
from ._later import device_tensors, file_classes, notebooks, programs
from ._library import ffi, lib
from ._random import manual_seed
from ._state import State, get_num_threads, set_num_threads, synchronize
from ._tensor import Storage, Tensor
from ._version import __version__

if TYPE_CHECKING:
    from . import distributed as distributed
    from . import functional as functional
    from . import graph as graph
    from . import nn as nn
    from . import program as program
    from . import t7 as t7
    from . import thnn as thnn
    from .program import compile as compile  # noqa: A004 (its name)
    from .t7 import T7Error as T7Error
    from .t7 import load as load
    from .t7 import save as save

__all__ = [
    "Generator",
    "State",
    "Storage",
    "T7Error",
    "THNNArgumentError",
    "THNNError",
    "THNNMemoryError",
    "Tensor",
    "__version__",
    "compile",
    "distributed",
    "ffi",
    "get_num_threads",
    "lib",
    "load",
    "manual_seed",
    "nn",
    "optim",
    "save",
    "set_num_threads",
    "synchronize",
    "t7",
    "thnn",
]

# Where users find them, and so what error messages and pickles say.
for _public in (
    Generator,
    State,
    Storage,
    THNNArgumentError,
    THNNError,
    THNNMemoryError,
    Tensor,
    get_num_threads,
    manual_seed,
    set_num_threads,
    synchronize,
):
    _public.__module__ = __name__
del _public


def _later(name: str) -> Callable[[], Any]:
    """The import of a module of the package."""

    def import_() -> Any:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")

    return import_


device_tensors.comes_from(_later("_tensor.device"))
file_classes.comes_from(_later("nn.files"))
notebooks.comes_from(_later("graph.notebook"))
programs.comes_from(_later("program"))
del device_tensors, file_classes, notebooks, programs

_LAZY_MODULES = (
    "distributed",
    "functional",
    "graph",
    "nn",
    "optim",
    "program",
    "t7",
    "thnn",
)
_LAZY_NAMES = {
    "T7Error": "t7",
    "compile": "program",
    "load": "t7",
    "save": "t7",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return _later(name)()
    if name in _LAZY_NAMES:
        return getattr(_later(_LAZY_NAMES[name])(), name)
    raise AttributeError(f"module 'pythnn' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)

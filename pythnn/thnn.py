"""The C library, one Python function per C function, with the same arguments.

For example::

    from pythnn import thnn

    thnn.Threshold_updateOutput(None, x, y, 0.0, 0.0, False)

The name is the C name without ``THNN_Float`` or ``THNN_Double``: the first tensor of real type
chooses between them. Tensors are numpy arrays or :class:`pythnn.Tensor`; ``None`` stands for the
state, for optional tensors and for scratch tensors. Outputs are written in place: a Tensor is
resized to what the function writes, an array must have that shape already. Indices count from 1.
``help(thnn.Threshold_updateOutput)`` shows what each argument is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ._functions import *
from ._functions import __all__ as __all__

if TYPE_CHECKING:  # of the sources, which lack what the build writes; with it there is thnn.pyi

    def __getattr__(name: str) -> Callable[..., None]: ...


for _name in __all__:
    globals()[_name].__module__ = __name__  # where users find them
del _name


def __dir__() -> list[str]:
    return sorted(__all__)

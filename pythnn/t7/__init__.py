"""Files of Lua Torch: ``.t7``.

:func:`load` and :func:`save` are also ``pythnn.load`` and ``pythnn.save``.
"""

from __future__ import annotations

from ._errors import T7Error
from ._read import load
from ._values import Table, TdsHash, TdsVec, TorchFunction, TorchObject, TorchStorage
from ._write import save

__all__ = [
    "T7Error",
    "Table",
    "TdsHash",
    "TdsVec",
    "TorchFunction",
    "TorchObject",
    "TorchStorage",
    "load",
    "save",
]

"""What takes the space of a file: parameters, gradients, statistics, and what calls left behind."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nn
from .._models.rows import size_text
from .._tensor import Tensor
from ..t7 import Table, TorchObject, TorchStorage

__all__ = ["memory_text"]

_KINDS = ("parameters", "gradients", "running statistics", "results and scratch", "other tensors")
_STATISTICS = ("running_mean", "running_var")
_RESULTS = frozenset(
    (
        "output",
        "gradInput",
        "indices",
        "buffer",
        "buffer1",
        "buffer2",
        "noise",
        "columns",
        "ones",
        "addBuffer",
        "finput",
        "fgradInput",
        "_input",
        "_gradOutput",
        "_output",
        "_gradInput",
        "_buffer",
        "save_mean",
        "save_std",
        "argMin",
        "centered",
        "std",
        "norm",
        "normp",
        "normalized",
        "cross",
    )
)
"""Fields that calls of layers leave behind; what is in them is not needed again."""


def memory_text(value: Any) -> str:
    """What tensors a value has beside parameters, and their size in memory; "" for none.

    Memory that several tensors share counts once, for the first of the kinds.
    """
    totals = _totals(value)
    if set(totals) <= {"parameters"}:
        return ""
    whole = sum(totals.values())
    parts = [f"{size_text(totals[kind])} {kind}" for kind in _KINDS if totals.get(kind)]
    text = f"{size_text(whole)} of tensors: {', '.join(parts)}"
    spare = totals.get("gradients", 0) + totals.get("results and scratch", 0)
    if spare > whole // 2:
        text += ". clearState() drops results, and no gradient is needed to run a model"
    return text


def _totals(root: Any) -> dict[str, int]:
    found: dict[int, tuple[int, int]] = {}  # of memory by its address: bytes, kind
    pending: list[tuple[Any, int]] = [(root, _KINDS.index("other tensors"))]
    seen: set[tuple[int, int]] = set()
    while pending:
        value, kind = pending.pop()
        memory = _memory_of(value)
        if memory is not None:
            address, nbytes = memory
            known = found.get(address, (0, kind))
            found[address] = max(nbytes, known[0]), min(kind, known[1])
            continue
        if (id(value), kind) in seen:
            continue
        seen.add((id(value), kind))
        pending += _inside(value, kind)
    totals: dict[str, int] = {}
    for nbytes, kind in found.values():
        if nbytes:
            totals[_KINDS[kind]] = totals.get(_KINDS[kind], 0) + nbytes
    return totals


def _memory_of(value: Any) -> tuple[int, int] | None:
    """The address and the bytes of the memory that a tensor is a view of; None for other values."""
    if isinstance(value, TorchStorage):
        value = value.data
    if isinstance(value, Tensor):
        storage = value.storage
        if storage is None or not storage.size:
            return 0, 0
        value = storage.numpy()
    if not isinstance(value, np.ndarray):
        return None
    while isinstance(value.base, np.ndarray):
        value = value.base
    return value.__array_interface__["data"][0], value.nbytes


def _inside(value: Any, kind: int) -> list[tuple[Any, int]]:
    """What is in a value, each with its kind of tensors."""
    if isinstance(value, nn.Object):
        pairs = getattr(value, "parameterFields", ())
        return [(item, _kind_of(value, name, pairs)) for name, item in value._own_fields().items()]
    if isinstance(value, TorchObject):
        return _inside(value.fields, kind)
    if isinstance(value, (dict, Table)):
        return [(item, kind) for item in value.values()]
    return [(item, kind) for item in value] if isinstance(value, (list, tuple)) else []


def _kind_of(value: Any, name: str, pairs: Any) -> int:
    """The kind of tensors in a field of a module or criterion."""
    if any(name == parameter for parameter, _ in pairs):
        return _KINDS.index("parameters")
    if any(name == gradient for _, gradient in pairs):
        return _KINDS.index("gradients")
    if name in _STATISTICS:
        return _KINDS.index("running statistics")
    if name in _RESULTS or name in getattr(value, "_scratch", ()):
        return _KINDS.index("results and scratch")
    return _KINDS.index("other tensors")

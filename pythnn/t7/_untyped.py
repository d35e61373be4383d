"""Types of modules of files older than the field ``_type``: those of their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._tensor import Tensor
from ._format import real_type
from ._parse import Graph, Node, ObjectNode
from ._values import TorchObject

__all__ = ["type_untyped"]

_NAMES = {np.dtype(np.float32): "torch.FloatTensor", np.dtype(np.float64): "torch.DoubleTensor"}
_PARAMETERS = ("weight", "bias")  # of classes that are unknown


@dataclass
class _Types:
    """What speaks for the type of an object: parameters more than other tensors."""

    parameters: str | None = None
    others: str | None = None

    def complete(self, more: _Types) -> None:
        """Takes over what is missing."""
        self.parameters = self.parameters or more.parameters
        self.others = self.others or more.others


def type_untyped(graph: Graph, untyped: dict[int, Any]) -> None:
    """Gives objects without ``_type``, by the id of their node, the type of their parameters.

    Where there are none it is the type of those inside, then of those around the object, then that
    of other tensors.
    """
    if not untyped:
        return
    found: dict[int, _Types] = {}
    for node in graph.ended:  # what is inside comes first
        types = found[id(node)] = _own_types(node) if isinstance(node, ObjectNode) else _Types()
        for child in node.children:
            types.complete(found.get(id(child), _Types()))
    for node in graph.begun:  # what is around comes first
        for child in node.children:
            if id(child) in found:
                found[id(child)].complete(found[id(node)])
    for key, made in untyped.items():
        types = found[key]
        made._type = types.parameters or types.others or "torch.DoubleTensor"


def _own_types(node: Node) -> _Types:
    value = node.value
    if isinstance(value, TorchObject):
        fields = value.fields if isinstance(value.fields, dict) else {}
        parameters = map(fields.get, _PARAMETERS)
        return _of_fields(fields.get("_type"), parameters, fields.values())
    names = [name for name, _ in getattr(value, "parameterFields", ())]
    named = value.__dict__.get("_type")
    return _of_fields(named, map(value.field, names), value.tensors.__dict__.values())


def _of_fields(named: Any, parameters: Iterable[Any], tensors: Iterable[Any]) -> _Types:
    if isinstance(named, str):
        return _Types(real_type(named))
    tensors = list(tensors)
    filled = _first_type(tensors, lambda tensor: tensor.size > 0)
    return _Types(
        _first_type(parameters, lambda tensor: tensor.size > 0),
        filled or _first_type(tensors, lambda _: True),
    )


def _first_type(values: Iterable[Any], fits: Callable[[Any], bool]) -> str | None:
    for value in values:
        if isinstance(value, (Tensor, np.ndarray)) and value.dtype in _NAMES and fits(value):
            return _NAMES[value.dtype]
    return None

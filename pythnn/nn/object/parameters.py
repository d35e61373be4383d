"""The parameters that a module says it has: its own ``parameters`` decides, as in Lua.

A class or an object whose ``parameters`` was replaced leaves out what it does not return: that is
how parts of a network are frozen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from .values import describe, is_array, is_view

__all__ = ["TensorLists", "tensors_of"]

TensorLists = tuple[list[Tensor], list["Tensor | None"]]
"""Parameters, and their gradients; None for a gradient that was taken away."""


def tensors_of(module: Any) -> TensorLists | None:
    """A module's parameters and gradients as Tensors; None when it has none."""
    if not module.has_parameters_of_its_own():
        found: TensorLists | None = module.parameterTensors()
        return found
    returned = module.parameters()
    if returned is None:
        return None
    if not isinstance(returned, (tuple, list)) or len(returned) not in (0, 2):
        raise _wanted(module, "None, or two lists: parameters and gradients", describe(returned))
    parameters, gradients = returned or ([], [])
    parameters, gradients = list(parameters or []), list(gradients or [])
    if len(parameters) != len(gradients):
        found_sizes = f"{len(parameters)} and {len(gradients)}"
        raise _wanted(module, "a gradient for each parameter", found_sizes)
    known = list(_tensors(module))
    return (
        [_tensor(module, known, value) for value in parameters],
        [None if value is None else _tensor(module, known, value) for value in gradients],
    )


def _tensor(module: Any, known: list[Tensor], value: Any) -> Tensor:
    """The Tensor that a value is, or whose array it is."""
    if isinstance(value, Tensor):
        return value
    if is_array(value):
        for tensor in known:
            if tensor.size and is_view(tensor, value):
                return tensor
    raise _wanted(module, "arrays that are fields of the module, whole", describe(value))


def _tensors(module: Any) -> Iterator[Tensor]:
    """All Tensors in the fields of a module and of those inside."""
    for inside in module.listModules():
        pending = list(inside.tensors.__dict__.values())
        while pending:
            value = pending.pop()
            if isinstance(value, Tensor):
                yield value
            elif isinstance(value, list):
                pending += value


def _wanted(module: Any, wanted: str, found: str) -> THNNArgumentError:
    return THNNArgumentError(
        f"{module.typename()}.parameters: expected {wanted}, found {found}",
        function=f"{module.typename()}.parameters",
    )

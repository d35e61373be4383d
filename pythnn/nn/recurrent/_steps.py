"""Copies of a module for the steps of a sequence: all with the same parameters."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..object.module import Module

__all__ = ["first_of", "share_again", "shared_clone", "step_clone"]

SHARED = ("running_mean", "running_var")


def _shared_tensors(module: Any, parameters: bool = True, gradients: bool = True) -> list[Any]:
    """The parameters, their gradients and the running statistics of one module."""
    names = [pair[0] for pair in module.parameterFields] if parameters else []
    names += SHARED if parameters else ()
    names += [pair[1] for pair in module.parameterFields] if gradients else []
    if module.field("lazy"):  # a dropout whose noise is the same in all steps
        names.append("noise")
    found = (module.field(name) for name in names)
    return [tensor for tensor in found if tensor is not None]


def shared_clone(module: Any, *kept: Any, parameters: bool = True, gradients: bool = True) -> Any:
    """A copy that has the same Tensors as parameters, gradients and running statistics.

    The objects `kept` are not copied where they occur; `parameters` and `gradients` say whether
    these are shared.
    """
    shared = [
        tensor
        for inside in module.listModules()
        for tensor in _shared_tensors(inside, parameters, gradients)
    ]
    return copy.deepcopy(module, {id(value): value for value in (*shared, *kept)})


def share_again(modules: list[Module], others: list[Any]) -> None:
    """Has other modules use the very Tensors of modules that are views of the same memory.

    Files only say that memory is shared; parameters that move to one storage move together then.
    """
    own: dict[Any, Any] = {}
    for module in modules:
        for inside in module.listModules():
            for tensor in _shared_tensors(inside):
                own.setdefault(_place(tensor), tensor)
    for module in others:
        for inside in module.listModules():
            for name in [name for pair in inside.parameterFields for name in pair]:
                tensor = inside.field(name)
                if tensor is not None and _place(tensor) in own:
                    inside.assign(name, own[_place(tensor)])


def _place(tensor: Any) -> Any:
    """What tells views of memory apart."""
    return tensor.address, tensor.shape, tensor.strides


def step_clone(module: Any, parameters: bool = True, gradients: bool = True) -> Any:
    """A copy for another step: modules inside that go from step to step themselves stay one."""
    from .recurrence import AbstractRecurrent

    if isinstance(module, AbstractRecurrent):
        return module
    recurrent = [one for one in module.listModules() if isinstance(one, AbstractRecurrent)]
    return shared_clone(module, *recurrent, parameters=parameters, gradients=gradients)


def first_of(value: Any) -> Any:
    """The first tensor of a table."""
    while isinstance(value, list) and value:
        value = value[0]
    return value

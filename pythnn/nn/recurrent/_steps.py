"""What goes from step to step of a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..object.clones import shared_tensors

if TYPE_CHECKING:
    from ..object.module import Module

__all__ = ["first_of", "share_again"]


def share_again(modules: list[Module], others: list[Any]) -> None:
    """Has other modules use the very Tensors of modules that are views of the same memory.

    Files only say that memory is shared; parameters that move to one storage move together then.
    """
    own: dict[Any, Any] = {}
    for module in modules:
        for inside in module.listModules():
            for tensor in shared_tensors(inside):
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


def first_of(value: Any) -> Any:
    """The first tensor of a table."""
    while isinstance(value, list) and value:
        value = value[0]
    return value

"""Objects of unknown classes among the modules of a file, which are passed over with a word."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

from ..._shown import shown_name
from ...t7 import TorchObject

__all__ = ["UnknownClassWarning", "known_modules"]


class UnknownClassWarning(UserWarning):
    """A model has objects of classes that pythnn does not know, which were passed over."""


_told: weakref.WeakSet[Any] = weakref.WeakSet()
"""Containers of which all that is unknown inside was named."""


def known_modules(container: Any) -> list[Any]:
    """The modules of a container that pythnn knows. Says of the others once what they are.

    Warns with :class:`UnknownClassWarning`, which names all unknown classes inside.
    """
    modules = container.__dict__.get("modules") or []
    if modules and container not in _told:
        _tell(container)
    return [module for module in modules if not isinstance(module, TorchObject)]


def _tell(container: Any) -> None:
    names: list[str] = []
    for holder, module in _inside(container):
        if isinstance(module, TorchObject) and holder not in _told:
            names.append(shown_name(module.torch_class))
    _told.update(holder for holder, _ in _inside(container))
    _told.add(container)
    if names:
        text = (
            f"pythnn does not know {', '.join(sorted(set(names)))}, which {container.typename()} is"
            " made of: such objects, and their parameters, are passed over. Write their classes in"
            " Python and register them (pythnn.nn.register) before the file is loaded."
        )
        warnings.warn(text, UnknownClassWarning, stacklevel=_level_of_caller())


def _inside(container: Any) -> Iterator[tuple[Any, Any]]:
    """What is in a container at any depth, with the container it is in; each of these once."""
    pending, seen = [container], {id(container)}
    while pending:
        holder = pending.pop()
        for module in holder.__dict__.get("modules") or []:
            yield holder, module
            if not isinstance(module, TorchObject) and id(module) not in seen:
                seen.add(id(module))
                pending.append(module)


def _level_of_caller() -> int:
    """How many calls up from the function that calls this one the package was entered."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("pythnn."):
        frame = frame.f_back
        level += 1
    return level

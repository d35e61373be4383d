"""The kernels by name, with what the header says about their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import thnn
from .._calls import Argument, Function

__all__ = ["KernelFunction", "functions"]


class KernelFunction(Function):
    """A kernel: its arguments, and the callable of :mod:`pythnn.thnn`."""

    run: Callable[..., None]

    def index_of(self, name: str) -> int | None:
        """The place of an argument of this name; None where there is none."""
        return next((a.place for a in self.arguments if a.name == name), None)


class _Functions(dict[str, KernelFunction]):
    """Kernels, made when they are first asked for."""

    def __missing__(self, name: str) -> KernelFunction:
        function = KernelFunction(name)
        function.run = getattr(thnn, name)
        self[name] = function
        return function


functions = _Functions()

Argument: Any = Argument

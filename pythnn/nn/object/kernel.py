"""Layers that are one pair of C functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from .module import Module

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Kernel", "OutputKernel", "settings_of"]


def settings_of(module: Module, names: tuple[str, ...]) -> Sequence[Any]:
    """The fields of these names."""
    values: Sequence[Any] = _getter(names)(module)
    return values if len(names) > 1 else (values,)


@cache
def _getter(names: tuple[str, ...]) -> attrgetter[Any]:
    return attrgetter(*names)


class Kernel(Module, kernel=True):
    """A layer whose work the C functions of one name do."""

    _function: ClassVar[str]
    """The name: ``Abs`` for ``Abs_updateOutput`` and its kin."""
    _settings: ClassVar[tuple[str, ...]] = ()
    """The fields that the functions take after the tensors."""
    _scratch: ClassVar[tuple[str, ...]] = ()
    """The fields that ``clearState`` empties besides ``output`` and ``gradInput``."""
    inplace: bool = False
    """Whether the result lies in the memory of the argument."""

    def _rest(self, step: str) -> Sequence[Any]:
        """What the function for a step takes after the tensors."""
        return settings_of(self, self._settings) if self._settings else ()

    def _run(self, step: str, *tensors: Any, last: Sequence[Any] = ()) -> None:
        """Calls the function for a step."""
        self._kernel(f"{self._function}_{step}", None, *tensors, *self._rest(step), *last)

    def updateOutput(self, input: Any) -> Any:
        output = self.result("output", input)
        self._run("updateOutput", input, output)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input)
        self._run("updateGradInput", input, gradOutput, gradInput)
        return gradInput

    def clearState(self) -> Self:
        self.clear(*self._scratch)
        return super().clearState()

    def empty(self) -> Any:
        """clearState, by the name that poolings once had for it."""
        return self.clearState()


class OutputKernel(Kernel, kernel=True):
    """A layer whose gradient is a function of its output."""

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input)
        self._run("updateGradInput", input, gradOutput, gradInput, self.tensors.output)
        return gradInput

"""A criterion that modules come before."""

from __future__ import annotations

from typing import Any

from ..object.module import Module
from ..object.object import register
from ..object.types import dtype_of_type
from ..object.values import cast
from .criterion import Criterion

__all__ = ["ModuleCriterion"]


@register
class ModuleCriterion(Criterion, kernel=True):
    """Applies `criterion` to the outputs of `inputModule` and `targetModule`.

    With `castTarget` the target is converted to the type of its module first.
    """

    inputModule: Module | None = None
    targetModule: Module | None = None
    output: Any = None

    def __init__(
        self,
        criterion: Criterion,
        inputModule: Module | None = None,
        targetModule: Module | None = None,
        castTarget: bool = True,
    ) -> None:
        super().__init__()
        self.inputModule = inputModule
        self.targetModule = targetModule
        self.castTarget = castTarget
        self.criterion = criterion
        del self.gradInput, self.output

    def __getattr__(self, name: str) -> Any:
        if name == "gradInput" and name not in self.tensors.__dict__:
            return None  # as in Lua, until there is one
        return super().__getattr__(name)

    def updateOutput(self, input: Any, target: Any) -> Any:
        given, wanted = input, target
        if self.inputModule is not None:
            given = self.inputModule.updateOutput(input)
        if self.targetModule is not None:
            if self.castTarget:
                wanted = cast(wanted, dtype_of_type(self.targetModule.type()))
            wanted = self.targetModule.updateOutput(wanted)
        self.assign("input", given)
        self.assign("target", wanted)
        self.output = self.criterion.updateOutput(given, wanted)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        gradient = self.criterion.updateGradInput(self.field("input"), self.field("target"))
        if self.inputModule is not None:
            gradient = self.inputModule.updateGradInput(input, gradient)
        self.tensors.gradInput = gradient
        return gradient

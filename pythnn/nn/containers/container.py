"""Container, the base of modules made of modules, and Sequential."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._errors import THNNArgumentError, THNNError
from ..._shown import MESSAGE
from ..object.arguments import check_instance
from ..object.module import Module, has_no_parameters, learns_nothing
from ..object.object import register
from ..object.parameters import TensorLists, tensors_of
from ..object.text import numbered, tree
from ..object.types import TypeCache
from ..object.walks import MAX_PLACES, count_places

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Container", "Sequential"]


@register
class Container(Module, kernel=True):
    """Holds other modules in ``modules``; its parameters and its mode are those of all of them."""

    def __init__(self, *modules: Module) -> None:
        super().__init__()
        self.modules: list[Module] = []
        for module in modules:
            self.add(module)

    def add(self, module: Module) -> Self:
        """Appends a module; returns the container."""
        self._check_module("add", module)
        self.modules.append(module)
        return self

    def _check_module(self, method: str, module: Any) -> None:
        """Raises for what cannot be one of the modules."""
        function = f"{self.typename()}.{method}"
        check_instance(function, 1, "module", module, Module)
        if module is self:
            raise THNNArgumentError.expected(
                function, 1, "module", "another module", "the container itself"
            )

    def get(self, index: int) -> Module | None:
        """The module at an index, counted from 1; None where there is none."""
        return self.modules[index - 1] if 1 <= index <= len(self.modules) else None

    def size(self) -> int:
        """The number of modules."""
        return len(self.modules)

    def __len__(self) -> int:
        return len(self.modules)

    def applyToModules(self, callback: Callable[[Module], Any]) -> None:
        """Calls the function with each of the modules, not with those inside them."""
        for module in self.children():
            callback(module)

    def ask(self, index: int, method: str, *arguments: Any) -> Any:
        """Calls a method of the module at an index, from 0; errors say which module it was."""
        try:
            return getattr(self.modules[index], method)(*arguments)
        except THNNError as error:
            self.locate(error, index)
            raise

    def locate(self, error: THNNError, index: int) -> None:
        """Has an error of the module at an index, from 0, say which module it is."""
        place = f"in module {index + 1} of {self.typename()}"
        if len(error.args[0]) < MESSAGE:
            error.args = (f"{place}: {error.args[0]}", *error.args[1:])

    # ---- What all modules do

    def type(self, type: Any = None, tensorCache: TypeCache | None = None) -> Any:
        if type is not None:
            self.children()  # which names the classes that are unknown: those do not change
        return super().type(type, tensorCache)

    def parameterTensors(self) -> TensorLists | None:
        """Those of each module inside, in every place; once where places are too many."""
        places = sum(count_places(module, _gathered_from) for module in self.children())
        repeats = places <= MAX_PLACES
        parameters, gradients = [], []
        seen: set[int] = set()
        pending = [(module, False) for module in self.children()[::-1]]
        around = {id(self)}
        while pending:
            module, is_left = pending.pop()
            if is_left:
                around.discard(id(module))
            elif _only_gathers(module):
                if id(module) not in around and (repeats or id(module) not in seen):
                    around.add(id(module))
                    seen.add(id(module))
                    pending.append((module, True))
                    pending += [(inside, False) for inside in module.children()[::-1]]
            elif repeats or id(module) not in seen:
                seen.add(id(module))
                own = tensors_of(module)
                if own is not None:
                    parameters += own[0]
                    gradients += own[1]
        return parameters, gradients

    def zeroGradParameters(self) -> None:
        if self.has_parameters_of_its_own():
            super().zeroGradParameters()
            return
        for module in self.children():
            if not has_no_parameters(module):
                module.zeroGradParameters()

    def updateParameters(self, learningRate: Any) -> None:
        if self.has_parameters_of_its_own():
            super().updateParameters(learningRate)
            return
        for module in self.children():
            if not has_no_parameters(module):
                module.updateParameters(learningRate)

    def training(self) -> None:
        for module in self.children():
            module.training()
        super().training()

    def evaluate(self) -> None:
        for module in self.children():
            module.evaluate()
        super().evaluate()

    def share(self, module: Any, *names: str) -> Self:
        for mine, theirs in zip(self.children(), module.children(), strict=True):
            mine.share(theirs, *names)
        return self

    def reset(self, stdv: Any = None) -> None:
        for module in self.children():
            module.reset(stdv)

    def clearState(self) -> Self:
        self.clear("output", "gradInput")
        for module in self.children():
            module.clearState()
        return self


def _only_gathers(module: Module) -> bool:
    """Whether the parameters of a module are those of the modules inside."""
    gathers = type(module).parameterTensors is Container.parameterTensors
    return gathers and not module.has_parameters_of_its_own()


def _gathered_from(module: Module) -> list[Module]:
    return module.children() if _only_gathers(module) else []


@register
class Sequential(Container, kernel=True):
    """Applies modules one after the other, each to the output of the one before."""

    def insert(self, module: Module, index: int | None = None) -> None:
        """Puts a module at an index, counted from 1; by default at the end."""
        place = len(self.modules) + 1 if index is None else index
        self._check_index("insert", 2, place, len(self.modules) + 1)
        self._check_module("insert", module)
        self.modules.insert(place - 1, module)

    def remove(self, index: int | None = None) -> None:
        """Takes the module at an index, counted from 1, out; by default the last one."""
        place = len(self.modules) if index is None else index
        self._check_index("remove", 1, place, len(self.modules))
        del self.modules[place - 1]

    def _check_index(self, method: str, position: int, index: int, last: int) -> None:
        if not 1 <= index <= last:
            raise THNNArgumentError.expected(
                f"nn.Sequential.{method}", position, "index", f"1 to {last}", str(index)
            )

    def updateOutput(self, input: Any) -> Any:
        output, place = input, 0
        try:
            for module in self.modules:
                output = module.updateOutput(output)
                place += 1
        except THNNError as error:
            self.locate(error, place)
            raise
        self.tensors.output = output
        return output

    def _down(self, method: str, input: Any, gradOutput: Any, *arguments: Any) -> Any:
        """Calls a method of each module, the last one first; returns the last gradient."""
        gradient, modules = gradOutput, self.modules
        place = len(modules)
        try:
            while place:
                place -= 1
                before = modules[place - 1].field("output") if place else input
                if method == "backward" and learns_nothing(modules[place]):
                    gradient = modules[place].updateGradInput(before, gradient)
                else:
                    gradient = getattr(modules[place], method)(before, gradient, *arguments)
        except THNNError as error:
            self.locate(error, place)
            raise
        return gradient

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = self._down("updateGradInput", input, gradOutput)
        return self.tensors.gradInput

    def backward(self, input: Any, gradOutput: Any, scale: Any = 1) -> Any:
        self.tensors.gradInput = self._down("backward", input, gradOutput, scale)
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self._each_down("accGradParameters", input, gradOutput, scale)

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self._each_down("accUpdateGradParameters", input, gradOutput, lr)

    def _each_down(self, method: str, input: Any, gradOutput: Any, factor: Any) -> None:
        """Calls a method that returns nothing; updateGradInput has run."""
        gradient = gradOutput
        for i in reversed(range(len(self.modules))):
            before = self.modules[i - 1].field("output") if i else input
            self.ask(i, method, before, gradient, factor)
            gradient = self.modules[i].field("gradInput")

    def __repr__(self) -> str:
        steps = "".join(f"({i + 1}) -> " for i in range(len(self.modules)))
        return tree(self, [f"[input -> {steps}output]", *numbered(self.modules)])

"""Containers whose modules stand side by side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.tables import add_into, are_alike, copied
from ..object.text import branches, tree
from ..object.values import LongStorage
from .container import Container

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Concat", "ConcatTable", "DepthConcat", "MapTable", "Parallel", "ParallelTable"]


class _Branches(Container, ABC, kernel=True):
    """A container in which all branches do the same thing with their parts of the values."""

    def inputs(self, input: Any) -> list[Any]:
        """What each branch gets."""
        return [input] * len(self.modules)

    @abstractmethod
    def gradients(self, gradOutput: Any) -> list[Any]:
        """What each branch gets back."""

    def each(self, method: str, input: Any, gradOutput: Any, *factor: Any) -> list[Any]:
        """Calls a backward method of each branch."""
        parts, gradients = self.inputs(input), self.gradients(gradOutput)
        count = min(len(parts), len(self.modules))
        if len(gradients) < count:
            raise THNNArgumentError.expected(
                self.typename(), 2, "gradOutput", f"{count} entries", f"{len(gradients)}"
            )
        return [self.ask(i, method, parts[i], gradients[i], *factor) for i in range(count)]

    @abstractmethod
    def gather(self, gradients: list[Any], input: Any) -> Any:
        """``gradInput`` from those of the branches."""

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradients = self.each("updateGradInput", input, gradOutput)
        self.tensors.gradInput = self.gather(gradients, input)
        return self.tensors.gradInput

    def backward(self, input: Any, gradOutput: Any, scale: Any = 1) -> Any:
        gradients = self.each("backward", input, gradOutput, scale)
        self.tensors.gradInput = self.gather(gradients, input)
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self.each("accGradParameters", input, gradOutput, scale)

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.each("accUpdateGradParameters", input, gradOutput, lr)

    def __repr__(self) -> str:
        return branches(self)


class _SameInput(_Branches, kernel=True):
    """Branches that all get the whole input; their gradients add up."""

    def gather(self, gradients: list[Any], input: Any) -> Any:
        first, *others = gradients
        if not isinstance(first, Tensor):
            total = copied(first)
        else:
            total = self.result("gradInput", first)
            if others and total is not first and are_alike([first, others[0]]):
                total._call("cadd", first._open(), 1, others[0]._open())
                del others[0]
            else:
                total.resize(first.shape).copy_from(first)
        for gradient in others:
            total = add_into(total, gradient)
        return total


@register
class ConcatTable(_SameInput, kernel=True):
    """Applies each module to the same input; the output is the table of their outputs."""

    def __init__(self, *modules: Module) -> None:
        super().__init__(*modules)
        self.tensors.output = []

    def gradients(self, gradOutput: Any) -> list[Any]:
        return list(gradOutput)

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = [self.ask(i, "updateOutput", input) for i in range(len(self.modules))]
        return self.tensors.output


@register
class Concat(_SameInput, kernel=True):
    """Applies each module to the same input and joins the outputs along a dimension."""

    def __init__(self, dimension: int, *modules: Module) -> None:
        super().__init__(*modules)
        self.outputSize = LongStorage()
        self.dimension = dimension

    def extent(self, outputs: list[Tensor]) -> list[int]:
        """The shape that holds all outputs."""
        axis = self.dimension - 1
        shape = list(outputs[0].shape)
        shape[axis] = sum(output.shape[axis] for output in outputs)
        return shape

    def window(self, whole: Tensor, part: Tensor, start: int) -> Tensor:
        """Where in `whole` the output `part` belongs; `start` along the dimension."""
        return whole.narrow(self.dimension - 1, start, part.shape[self.dimension - 1])

    def windows(self, whole: Tensor) -> list[Tensor]:
        """Where in `whole` the outputs of all modules belong."""
        found, start = [], 0
        for module in self.modules:
            output = module.field("output")
            found.append(self.window(whole, output, start))
            start += output.shape[self.dimension - 1]
        return found

    def gradients(self, gradOutput: Any) -> list[Any]:
        return self.windows(gradOutput)

    def updateOutput(self, input: Any) -> Any:
        outputs = [self.ask(i, "updateOutput", input) for i in range(len(self.modules))]
        shape = self.extent(outputs)
        self.outputSize = LongStorage(shape)
        whole = self.result("output", outputs[0]).resize(shape)
        self.fill(whole, outputs)
        return whole

    def fill(self, whole: Tensor, outputs: list[Tensor]) -> None:
        for window, output in zip(self.windows(whole), outputs, strict=True):
            if window.shape != output.shape:
                raise THNNArgumentError.expected(
                    self.typename(), 1, "input", f"branches of {window.shape}", f"{output.shape}"
                )
            window.copy_from(output)


@register
class DepthConcat(Concat, kernel=True):
    """Like Concat, but smaller outputs are centred in the largest size and padded with zeros.

    As in Lua Torch, ``backward`` takes no notice of `scale`.
    """

    def extent(self, outputs: list[Tensor]) -> list[int]:
        shape = [max(sizes) for sizes in zip(*(o.shape for o in outputs), strict=True)]
        axis = self.dimension - 1
        shape[axis] = sum(output.shape[axis] for output in outputs)
        return shape

    def window(self, whole: Tensor, part: Tensor, start: int) -> Tensor:
        place = super().window(whole, part, start)
        for axis, (large, small) in enumerate(zip(place.shape, part.shape, strict=True)):
            if large != small:
                place = place.narrow(axis, (large - small) // 2, small)
        return place

    def fill(self, whole: Tensor, outputs: list[Tensor]) -> None:
        whole.zero()
        super().fill(whole, outputs)

    def backward(self, input: Any, gradOutput: Any, scale: Any = 1) -> Any:
        return super().backward(input, gradOutput)


class _TableBranches(_Branches, ABC, kernel=True):
    """A container of which each module works on the entry at its place: tables in and out."""

    def __init__(self, *modules: Module) -> None:
        super().__init__(*modules)
        self.tensors.output = []
        self.tensors.gradInput = []

    def inputs(self, input: Any) -> list[Any]:
        return list(input)

    def gradients(self, gradOutput: Any) -> list[Any]:
        return list(gradOutput)

    def gather(self, gradients: list[Any], input: Any) -> Any:
        return gradients

    def updateOutput(self, input: Any) -> Any:
        parts = self.inputs(input)
        self.tensors.output = [
            self.ask(i, "updateOutput", part) for i, part in enumerate(parts[: len(self.modules)])
        ]
        return self.tensors.output


@register
class ParallelTable(_TableBranches, kernel=True):
    """Applies the i-th module to the i-th entry of the input table."""

    def inputs(self, input: Any) -> list[Any]:
        if len(input) < len(self.modules):
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"{len(self.modules)} entries", f"{len(input)}"
            )
        return list(input)


@register
class Parallel(_Branches, kernel=True):
    """Applies the i-th module to the i-th slice of the input and joins the outputs."""

    def __init__(self, inputDimension: int, outputDimension: int, *modules: Module) -> None:
        super().__init__(*modules)
        self.inputDimension = inputDimension
        self.outputDimension = outputDimension

    def inputs(self, input: Any) -> list[Any]:
        axis = self.inputDimension - 1
        return [input.select(axis, i) for i in range(len(self.modules))]

    def gradients(self, gradOutput: Any) -> list[Any]:
        axis, start, found = self.outputDimension - 1, 0, []
        for module in self.modules:
            length = module.field("output").shape[axis]
            found.append(gradOutput.narrow(axis, start, length))
            start += length
        return found

    def gather(self, gradients: list[Any], input: Any) -> Any:
        whole = self.result("gradInput", input).resize(input.shape)
        for i, gradient in enumerate(gradients):
            whole.select(self.inputDimension - 1, i).copy_from(gradient)
        return whole

    def updateOutput(self, input: Any) -> Any:
        parts = self.inputs(input)
        outputs = [self.ask(i, "updateOutput", part) for i, part in enumerate(parts)]
        axis = self.outputDimension - 1
        whole = self.result("output", outputs[0])
        joined = np.concatenate([output.array() for output in outputs], axis)
        self.totalOutputSize = LongStorage(joined.shape)
        return whole.resize(joined.shape).copy_from(joined)


@register
class MapTable(_TableBranches, kernel=True):
    """Applies copies of one module, which share its parameters, to all entries of a table.

    With `shared` the copies have the parameters and gradients of the first.
    """

    def __init__(self, module: Module | None = None, shared: bool | Sequence[str] = True) -> None:
        super().__init__()
        self.shared = shared is not False
        self.sharedparams = ["weight", "bias", "gradWeight", "gradBias"]
        if isinstance(shared, (list, tuple)):
            self.sharedparams = list(shared)
        if module is not None:
            self.add(module)

    def add(self, module: Module) -> Self:
        """Takes the one module; returns the container."""
        self._check_module("add", module)
        if self.modules:
            raise THNNArgumentError.expected(
                "nn.MapTable.add", 1, "module", "a single module", "a second one"
            )
        self.assign("module", module)
        return super().add(module)

    def resize(self, size: int) -> None:
        """Makes as many copies, or drops some."""
        while len(self.modules) < size:
            names = self.sharedparams if self.shared else []
            self.modules.append(self.modules[0].clone(*names))
        del self.modules[max(size, 1) :]

    def _extend(self, size: int) -> None:
        if size > len(self.modules):
            self.resize(size)

    def updateOutput(self, input: Any) -> Any:
        self._extend(len(input))
        return super().updateOutput(input)

    def zeroGradParameters(self) -> None:
        for module in self.children()[:1] if self.shared else self.children():
            module.zeroGradParameters()

    def updateParameters(self, learningRate: Any) -> None:
        for module in self.children()[:1] if self.shared else self.children():
            module.updateParameters(learningRate)

    def clearState(self) -> Self:
        """Empties results and drops all copies; returns itself."""
        super().clearState()
        del self.modules[1:]
        return self

    def __repr__(self) -> str:
        inside = repr(self.modules[0]) if self.modules else "-"
        lines = ["input", "   `-> (*): " + inside.replace("\n", "\n       "), "   ... -> output"]
        return tree(self, lines)

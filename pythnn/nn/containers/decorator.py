"""Containers around one module."""

from __future__ import annotations

import itertools
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import THNNError
from ..._shown import LINE, shown
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.types import TypeCache, dtype_of_type, type_of_tensors
from ..object.values import cast
from .container import Container

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["GPU", "Bottle", "Decorator", "DontCast", "NaN", "Profile"]


@register
class Decorator(Container, kernel=True):
    """Does what the module inside it does; a base class."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.add(module)

    @property
    def inside(self) -> Module:
        """The module inside."""
        return self.modules[0]

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = self.inside.updateOutput(input)
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = self.inside.updateGradInput(input, gradOutput)
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self.inside.accGradParameters(input, gradOutput, scale)

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.inside.accUpdateGradParameters(input, gradOutput, lr)

    def sharedAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.inside.sharedAccUpdateGradParameters(input, gradOutput, lr)

    def __repr__(self) -> str:
        return f"{self.typename()} @ {self.inside!r}" if self.modules else self.typename()


@register
class Bottle(Decorator, kernel=True):
    """Applies a module for `nInputDim` dimensions to inputs that have more dimensions.

    All dimensions but the last nInputDim - 1 become one for the module, and its output, of
    `nOutputDim` dimensions, gets them back.
    """

    def __init__(self, module: Module, nInputDim: int = 2, nOutputDim: int | None = None) -> None:
        super().__init__(module)
        self.nInputDim = nInputDim
        self.nOutputDim = nInputDim if nOutputDim is None else nOutputDim
        self.dimDelta = self.nInputDim - self.nOutputDim
        self.tensors.inShape = Tensor.zeros(self.nInputDim, dtype=np.float64)
        self.tensors.outShape = Tensor.zeros(self.nOutputDim, dtype=np.float64)

    def _outer(self, input: Tensor) -> tuple[int, ...]:
        """The dimensions that the module sees as one."""
        return input.shape[: input.ndim - self.nInputDim + 1]

    def _squashed(self, input: Tensor) -> Tensor:
        """The input as the module sees it."""
        outer = self._outer(input)
        return input.contiguous().view(math.prod(outer), *input.shape[len(outer) :])

    def _squashed_gradient(self, gradOutput: Tensor) -> Tensor:
        return gradOutput.contiguous().view(self.inside.field("output").shape)

    def updateOutput(self, input: Any) -> Any:
        if input.ndim <= self.nInputDim:
            output = self.inside.updateOutput(input)
        else:
            output = self.inside.updateOutput(self._squashed(input))
            outer = self._outer(input)[:-1]
            output = output.contiguous().view(*outer, -1, *output.shape[1:])
        self.tensors.output = output
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if input.ndim <= self.nInputDim:
            return super().updateGradInput(input, gradOutput)
        gradient = self.inside.updateGradInput(
            self._squashed(input), self._squashed_gradient(gradOutput)
        )
        self.tensors.gradInput = gradient.contiguous().view(input.shape)
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self._accumulate("accGradParameters", input, gradOutput, scale)

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self._accumulate("accUpdateGradParameters", input, gradOutput, lr)

    def sharedAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self._accumulate("sharedAccUpdateGradParameters", input, gradOutput, lr)

    def _accumulate(self, method: str, input: Any, gradOutput: Any, factor: Any) -> None:
        if input.ndim > self.nInputDim:
            values = self._squashed(input), self._squashed_gradient(gradOutput)
        else:
            values = input, gradOutput
        getattr(self.inside, method)(*values, factor)


@register
class DontCast(Decorator, kernel=True):
    """Protects the module inside from changes of the type by :meth:`type`.

    With `castin` values are converted to the module's type on their way in, with `castout` (as
    castin by default) to the type of the outer modules on their way out.
    """

    castin: bool | None = None
    castout: bool | None = None
    moduleType: str | None = None

    def __init__(
        self,
        module: Module,
        castin: bool | None = None,
        castout: bool | None = None,
        moduleType: str | None = None,
    ) -> None:
        super().__init__(module)
        self.castin = castin
        self.castout = castin if castout is None else castout
        self.moduleType = moduleType
        if castin and moduleType is None:
            self.moduleType = module.type()

    def _in(self, value: Any) -> Any:
        return cast(value, dtype_of_type(self.moduleType)) if self.castin else value

    def _out(self, value: Any) -> Any:
        outer = dtype_of_type(type_of_tensors(self.tensors.__dict__.values()))
        return cast(value, outer) if self.castout else value

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = self._out(self.inside.updateOutput(self._in(input)))
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradient = self.inside.updateGradInput(self._in(input), self._in(gradOutput))
        self.tensors.gradInput = self._out(gradient)
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self.inside.accGradParameters(self._in(input), self._in(gradOutput), scale)

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.inside.accUpdateGradParameters(self._in(input), self._in(gradOutput), lr)

    def sharedAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self.inside.sharedAccUpdateGradParameters(self._in(input), self._in(gradOutput), lr)

    def type(self, type: Any = None, tensorCache: TypeCache | None = None) -> Any:
        """Changes the type that values are cast to on their way out; returns itself."""
        modules, name, self.modules = self.modules, self._type, []
        try:
            return super().type(type, tensorCache)
        finally:
            self.modules, self._type = modules, name


_nan_ids = itertools.count(1)


def _has_nan(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_nan, value))
    return isinstance(value, Tensor) and bool(np.isnan(value.array()).any())


@register
class NaN(Decorator, kernel=True):
    """Raises THNNError when a result of the module inside contains NaN, forward or backward."""

    def __init__(self, module: Module, id: int | str | None = None) -> None:
        super().__init__(module)
        self.id = next(_nan_ids) if id is None else id

    def _refuse(self, where: str) -> None:
        raise THNNError(f"found NaN in {where} of {self!r}")

    def updateOutput(self, input: Any) -> Any:
        output = super().updateOutput(input)
        if _has_nan(output):
            if _has_nan(input):
                self._refuse("input")
            if _has_nan(self.inside.parameterTensors()):
                self._refuse("parameters")
            self._refuse("output")
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = super().updateGradInput(input, gradOutput)
        if _has_nan(gradInput):
            self._refuse("gradOutput" if _has_nan(gradOutput) else "gradInput")
        return gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        super().accGradParameters(input, gradOutput, scale)
        if _has_nan((self.inside.parameterTensors() or ([], []))[1]):
            self._refuse("gradParameters")

    def __repr__(self) -> str:
        return f"{self.typename()}({shown(self.id, LINE)}) @ {self.inside!r}"


@register
class Profile(Decorator, kernel=True):
    """Prints how long the module inside takes, every `print_interval` passes."""

    def __init__(self, module: Module, print_interval: int = 100, name: str | None = None) -> None:
        super().__init__(module)
        self.print_interval = print_interval
        self.name = name or module.typename()
        self.module = module
        self.numFwds = 0
        self.numBwds = 0
        self.summedFwdTime: Any = 0
        self.summedBwdTime: Any = 0

    def updateOutput(self, input: Any) -> Any:
        start = time.perf_counter()
        output = super().updateOutput(input)
        self.summedFwdTime += time.perf_counter() - start
        self.numFwds += 1
        if self.numFwds % self.print_interval == 0:
            name = shown(self.name, LINE)
            print(f"{name} took {self.summedFwdTime:g} seconds for {self.numFwds} forwards")
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        start = time.perf_counter()
        gradInput = super().updateGradInput(input, gradOutput)
        self.summedBwdTime += time.perf_counter() - start
        self.numBwds += 1
        if self.numBwds % self.print_interval == 0:
            name = shown(self.name, LINE)
            print(f"{name} took {self.summedBwdTime:g} seconds for {self.numBwds} backwards")
        return gradInput


@register
class GPU(Decorator, kernel=True):
    """Runs a module on a device, from 1, and moves its output to another; no effect on the CPU."""

    def __init__(self, module: Module, device: int, outdevice: int | None = None) -> None:
        super().__init__(module)
        self.device = device
        self.outdevice = device if outdevice is None else outdevice

    def setDevice(self, device: int | None = None) -> Self:
        """Chooses the device; returns itself."""
        self.device = self.device if device is None else device
        return self

    def __repr__(self) -> str:
        return f"{self.typename()}({shown(self.device, LINE)}) @ {self.inside!r}"

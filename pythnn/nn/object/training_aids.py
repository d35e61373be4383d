"""What dpnn and rnn add to every module: limits of parameters and gradients, momentum, clones."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from .calling import SILENT
from .clones import shared_clone, step_clone
from .parameters import TensorLists, tensors_of
from .registry import registry
from .types import type_of_tensors
from .values import to_arrays, to_tensors

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["TrainingAids"]


def _norm(tensor: Tensor) -> float:
    return math.sqrt(float((tensor.array().astype(np.float64) ** 2).sum()))


def _limit_rows(tensor: Tensor, axis: int, limit: float) -> None:
    """Shrinks what has one index along `axis` to a norm of at most `limit`."""
    array = tensor.array()
    others = tuple(i for i in range(array.ndim) if i != axis)
    norms = (array.astype(np.float64) ** 2).sum(others, keepdims=True) ** 0.5
    tiny = 1e-7  # as in Lua's renorm, which never divides by 0
    factors = limit / (norms + tiny)
    factors[norms <= limit] = 1
    array *= factors.astype(array.dtype)


class TrainingAids:
    """Methods of every module; gradients are those that ``backward`` added up."""

    if TYPE_CHECKING:
        modules: Any
        dtype: Any

        @classmethod
        def typename(cls) -> str: ...
        def field(self, name: str) -> Any: ...
        def assign(self, name: str, value: Any) -> None: ...
        def children(self) -> list[Any]: ...
        def forward(self, input: Any) -> Any: ...
        def has_parameters_of_its_own(self) -> bool: ...

    def _pairs(self) -> list[tuple[Tensor, Tensor]]:
        """The parameters that have gradients, and these."""
        lists: TensorLists = tensors_of(self) or ([], [])
        return [
            (parameter, gradient)
            for parameter, gradient in zip(*lists, strict=True)
            if gradient is not None
        ]

    # ---- Gradients

    def _setting(self, name: str, given: Any) -> Any:
        """What is set for this module itself, in a field, or else what was given."""
        own = self.field(name)
        return given if own is None else own

    def _asks_inside(self) -> bool:
        """Whether the parameters are those of modules inside."""
        return bool(self.children()) and not self.has_parameters_of_its_own()

    def gradParamClip(self, cutoffNorm: float, moduleLocal: bool = False) -> float:
        """Scales the gradients to a norm of at most `cutoffNorm`; returns the norm before.

        That is the norm of all gradients together; with `moduleLocal`, each module inside that has
        no others is limited by itself. A norm of 0 or less is no limit.
        """
        if cutoffNorm <= 0:
            return 0.0
        if moduleLocal and self.children():
            norms = [one.gradParamClip(cutoffNorm, moduleLocal) for one in self.children()]
            return math.sqrt(sum(norm**2 for norm in norms))
        gradients = {id(gradient): gradient for _, gradient in self._pairs()}.values()
        norm = math.sqrt(sum(_norm(gradient) ** 2 for gradient in gradients))
        if norm > cutoffNorm:
            for gradient in gradients:
                array = gradient.array()
                array *= array.dtype.type(cutoffNorm / norm)
        return norm

    def weightDecay(self, wdFactor: float, wdMinDim: int = 2) -> None:
        """Adds `wdFactor` times parameters of `wdMinDim` dimensions or more to their gradients.

        A module's fields ``wdFactor`` and ``wdMinDim`` come before these for itself and its inside.
        """
        factor, least = self._setting("wdFactor", wdFactor), self._setting("wdMinDim", wdMinDim)
        if self._asks_inside():
            for module in self.children():
                module.weightDecay(factor, least)
            return
        for parameter, gradient in self._pairs():
            if parameter.ndim >= least:
                array = gradient.array()
                array += array.dtype.type(factor) * parameter.array().reshape(array.shape)

    def maxParamNorm(self, maxOutNorm: float | None = None, maxInNorm: float | None = None) -> None:
        """Shrinks rows of parameters to norms of at most `maxOutNorm`, and columns to `maxInNorm`.

        A row is what leads to one output, a column what comes from one input. None, or a negative
        number, is no limit. A module's fields ``maxOutNorm`` and ``maxInNorm`` come before these
        for itself and its inside.
        """
        limits = self._setting("maxOutNorm", maxOutNorm), self._setting("maxInNorm", maxInNorm)
        if self._asks_inside():
            for module in self.children():
                module.maxParamNorm(*limits)
            return
        for parameter, _ in self._pairs():
            for axis, limit in enumerate(limits):
                if parameter.ndim > 1 and limit is not None and limit > 0:
                    _limit_rows(parameter, axis, limit)

    def momentumGradParameters(self) -> list[Any] | None:
        """The momentum of each gradient, at first a copy of it; None where there are none."""
        held = self.field("momGradParams")
        if not held:
            gradients = [gradient for _, gradient in self._pairs()]
            if not gradients:
                return None
            held = [gradient.clone() for gradient in gradients]
            self.assign("momGradParams", held)
        found: list[Any] = to_arrays(held)
        return found

    def updateGradParameters(
        self, momFactor: float, momDamp: float | None = None, momNesterov: bool = False
    ) -> Self:
        """Puts momentum in the gradients: m = momFactor m + (1 - momDamp) gradient; returns itself.

        `momDamp` is momFactor by default. The gradient becomes m, or with `momNesterov` gets
        momFactor times m added. A module's fields of these names come before them for itself and
        its inside.
        """
        momFactor = self._setting("momFactor", momFactor)
        damp = self._setting("momDamp", momFactor if momDamp is None else momDamp)
        momNesterov = self._setting("momNesterov", momNesterov)
        if self.children():
            for module in self.children():
                module.updateGradParameters(momFactor, damp, momNesterov)
            return self
        momenta = self.momentumGradParameters() or []
        for momentum, (_, gradient) in zip(momenta, self._pairs(), strict=True):
            array = gradient.array()
            number = array.dtype.type
            momentum *= number(momFactor)
            momentum += number(1 - damp) * array
            if momNesterov:
                array += number(momFactor) * momentum
            else:
                array[...] = momentum
        return self

    def checkParameters(self) -> None:
        """Raises THNNArgumentError when a parameter is not finite."""
        for i, (parameter, _) in enumerate(self._pairs(), 1):
            if not np.isfinite(parameter.cpu().numpy()).all():
                raise THNNArgumentError.expected(
                    f"{self.typename()}.checkParameters", i, f"parameter {i}", "finite numbers",
                    "infinity or NaN",
                )  # fmt: skip

    def dontBackward(self) -> Self:
        """Has all backward calls of this module do nothing and return None; returns itself."""
        self.assign(SILENT, True)
        return self

    def extrapolateType(self) -> str | None:
        """The type that most parameters have, as :meth:`type` names it; None without parameters."""
        parameters, _ = tensors_of(self) or ([], [])
        counts = Counter(type_of_tensors([parameter]) for parameter in parameters)
        return counts.most_common(1)[0][0] if counts else None

    def profile(self) -> None:
        """Sets ``dpnn_profile``, by which user-defined modules know that they shall measure."""
        for module in self.children():
            module.profile()
        self.assign("dpnn_profile", True)

    # ---- Rewards

    def reinforce(self, reward: Any) -> None:
        """Gives the modules inside that draw the reward of each sample."""
        for module in self.children():
            module.reinforce(reward)

    # ---- Clones

    def sharedClone(self, shareParams: bool = True, shareGradParams: bool = True) -> Any:
        """A copy with the same parameters and gradients in memory, unless these say otherwise."""
        return shared_clone(self, parameters=shareParams, gradients=shareGradParams)

    def stepClone(self, shareParams: bool = True, shareGradParams: bool = True) -> Any:
        """A sharedClone for another step of a sequence: recurrent modules stay one."""
        return step_clone(self, shareParams, shareGradParams)

    # ---- Inputs

    def contiguousInput(self, input: Any, backward: bool = False) -> Any:
        """The input, copied where it is not contiguous."""
        given = to_tensors(input)
        found = [x.contiguous() for x in given] if isinstance(given, list) else given.contiguous()
        return found if isinstance(input, (Tensor, list)) else to_arrays(found)

    def toBatch(self, tensor: Any, nDim: int, batchDim: int = 1) -> Any:
        """A view of a sample of `nDim` dimensions as a batch of one; a batch as it is."""
        if tensor.ndim == nDim:
            self.__dict__["_dpnn_online"] = True
            shape = list(tensor.shape)
            shape.insert(batchDim - 1, 1)
            return tensor.view(*shape) if isinstance(tensor, Tensor) else tensor.reshape(shape)
        self.__dict__["_dpnn_online"] = False
        return tensor

    def fromBatch(self, tensor: Any, batchDim: int = 1) -> Any:
        """What ``toBatch`` made a batch of one as a sample again."""
        if not self.__dict__.get("_dpnn_online"):
            return tensor
        if isinstance(tensor, Tensor):
            return tensor.select(batchDim - 1, 0)
        return tensor.take(0, batchDim - 1)

    def outside(self, insize: Any) -> tuple[int, ...]:
        """The sizes of the output for an input of these sizes."""
        output = self.forward(np.zeros(tuple(int(size) for size in insize), self.dtype))
        return tuple(output.shape)

    # ---- Sequences

    def setZeroMask(self, zeroMask: Any) -> Self:
        """Tells the modules inside which samples are padding: True or 1; returns itself."""
        for module in self.children():
            module.setZeroMask(zeroMask)
        return self

    def maskZero(self, nInputDim: int = 1) -> Any:
        """A MaskZero around the module, which gives zeros for samples of zeros."""
        return registry["nn.MaskZero"](self, nInputDim)

    def trimZero(self, nInputDim: int = 1) -> Any:
        """A TrimZero around the module, which does not compute samples of zeros."""
        return registry["nn.TrimZero"](self, nInputDim)

    def maxBPTTstep(self, rho: int) -> None:
        """Sets the longest sequence of the recurrent modules inside."""
        for module in self.children():
            module.maxBPTTstep(rho)

    def getHiddenState(self, step: int | None = None) -> Any:
        """The states of the modules inside after a step, by default the last; None without any."""
        found = [module.getHiddenState(step) for module in self.children()]
        return found if any(state is not None for state in found) else None

    def setHiddenState(self, step: int, hiddenState: Any) -> None:
        """Sets the states of the modules inside after a step, as ``getHiddenState`` gives them."""
        self._each_state("setHiddenState", step, hiddenState)

    def getGradHiddenState(self, step: int | None = None) -> Any:
        """The gradients of the states after a step, as ``getHiddenState`` gives these."""
        found = [module.getGradHiddenState(step) for module in self.children()]
        return found if any(state is not None for state in found) else None

    def setGradHiddenState(self, step: int, gradHiddenState: Any) -> None:
        """Sets the gradients of the states after a step."""
        self._each_state("setGradHiddenState", step, gradHiddenState)

    def _each_state(self, method: str, step: int, states: Any) -> None:
        inside = self.children()
        states = [None] * len(inside) if states is None else states
        if len(states) != len(inside):
            raise THNNArgumentError.expected(
                f"{self.typename()}.{method}", 2, "hiddenState", f"a table of {len(inside)}",
                f"one of {len(states)}",
            )  # fmt: skip
        for module, state in zip(inside, states, strict=True):
            if state is not None:
                getattr(module, method)(step, state)

    def getParamsByDevice(self) -> dict[str, list[Any]]:
        """The parameters by the device that they are on, "cpu" or "cuda:0"."""
        found: dict[str, list[Any]] = {}
        for parameter, _ in self._pairs():
            found.setdefault(parameter.device, []).append(to_arrays(parameter))
        return found

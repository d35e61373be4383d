"""AbstractRecurrent: a sequence, one step a call; and modules of any kind as steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import THNNArgumentError, THNNError
from ..._tensor import Tensor
from ..activation.pointwise import Sigmoid
from ..containers.branching import ParallelTable
from ..containers.container import Container, Sequential
from ..linear.scaling import Add
from ..object.clones import shared_clone, step_clone
from ..object.module import Module
from ..object.object import register
from ..object.tables import added, copied
from ..object.types import device_of_type
from ..object.values import to_arrays, to_tensors
from ..shape.plumbing import Identity
from ..table.arithmetic import CAddTable
from ._steps import first_of, share_again

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["AbstractRecurrent", "CopyGrad", "NormStabilizer", "Recurrence", "Recurrent"]


@register
class AbstractRecurrent(Container, kernel=True):
    """A module that does one step of a sequence with each call of ``forward``; a base class.

    Its state goes from step to step until ``forget``. For training, ``backward`` is called with the
    input and gradOutput of each step, the last one first; gradients then go through time. `rho` is
    the longest sequence that ``Sequencer`` and the like expect.
    """

    step: int
    rho: Any
    seqlen: Any
    userPrevOutput: Any = None
    userPrevCell: Any = None
    _goes_through_steps = True
    _first_clone = 1
    """The step that the module itself is used for in training; the others use copies."""
    _nests = True
    """Whether there may be recurrent modules inside."""
    _tables: tuple[str, ...] = ("outputs", "gradOutputs", "gradInputs", "_gradOutputs")

    def __init__(self, rho: int | None = 9999) -> None:
        super().__init__()
        self.rho = 9999 if rho is None else rho
        self.outputs: Any = {}
        self.gradInputs: Any = {}
        self.gradOutputs: Any = {}
        self._gradOutputs: Any = {}
        self.sharedClones: Any = {}
        self.step = 1

    def _upgrade(self) -> None:
        super()._upgrade()
        self._start()
        clones = {}
        if self.field("sharedClones") is not None:
            clones[self._first_clone] = self.inside
        self._set_table("sharedClones", clones)

    def _set_table(self, name: str, table: dict[int, Any]) -> None:
        """Makes a table, by step, a field."""
        self.tensors.__dict__.pop(name, None)
        self.__dict__[name] = table

    def _start(self) -> None:
        for name in self._tables:
            self._set_table(name, {})
        self.__dict__["step"] = 1
        self._end_of_backward()

    def _end_of_backward(self) -> None:
        for name in ("_backward", "_accumulating", "_gradients"):
            self.__dict__.pop(name, None)

    # ---- The module of each step

    @property
    def inside(self) -> Module:
        """The module that computes a step."""
        found: Module = self.field("recurrentModule") or self.modules[0]
        return found

    def _own(self, module: Module) -> None:
        """Makes a module the one that computes a step."""
        self.recurrentModule = module
        self.modules = [module]
        self.sharedClones = {self._first_clone: module}

    def getStepModule(self, step: int) -> Module:
        """The module for a step, counted from 1; in use it is the same for all."""
        found = self._module_of(step)
        mask = self.field("zeroMask")
        if mask is not None:
            rows = mask.numpy() if isinstance(mask, Tensor) else np.asarray(mask)
            found.setZeroMask(rows[(step - 1) % len(rows)] if rows.ndim > 1 else mask)
        return found

    def _module_of(self, step: int) -> Module:
        if self.train is False:
            return self.inside
        clones = self.__dict__.setdefault("sharedClones", {})
        clones.setdefault(self._first_clone, self.inside)
        if step not in clones:
            clones[step] = step_clone(self.inside)
        found: Module = clones[step]
        return found

    def _clones(self) -> list[Module]:
        """The copies of the module inside."""
        clones = self.__dict__.get("sharedClones") or {}
        return [one for step, one in clones.items() if step != self._first_clone]

    def training(self) -> None:
        super().training()
        for clone in self._clones():
            clone.training()

    def evaluate(self) -> None:
        super().evaluate()
        for clone in self._clones():
            clone.evaluate()

    # ---- Steps

    def _before(self, step: int, input: Any) -> list[Any]:
        """The state before a step: what the module inside takes after the input."""
        return []

    def _forward_step(self, step: int, input: Any) -> list[Any]:
        """The output of a step and the rest of the state."""
        before = self._before(step, input)
        found = self.getStepModule(step).updateOutput([input, *before] if before else input)
        state = list(found) if len(before) > 1 else [found]
        # In use the next step writes where this one did.
        return [copied(one) for one in state] if self.train is False else state

    def updateOutput(self, input: Any) -> Any:
        state = self._forward_step(self.step, input)
        self._keep(self.step, state)
        self._end_of_backward()
        self.__dict__["step"] = self.step + 1
        self.tensors.output = state[0]
        return state[0]

    def _keep(self, step: int, state: list[Any]) -> None:
        self.__dict__["outputs"][step] = state[0]

    def _gradient_of_rest(self, step: int) -> list[Any]:
        """The gradient of the state but for its first entry, when nothing came after the step."""
        return []

    def _results_of_step(self, name: str) -> None:
        """Gives recurrent modules inside, the same for all steps, the results of this step again.

        Layers before and after them take these for their own gradients.
        """
        for module in self.inside.listModules():
            if isinstance(module, AbstractRecurrent):
                step = module.__dict__.get(name, module.step) - 1
                module.tensors.output = module.__dict__["outputs"].get(step)
                if step in module.__dict__["gradInputs"]:
                    module.tensors.gradInput = module.__dict__["gradInputs"][step]

    def _next_back(self, name: str) -> int:
        step: int = self.__dict__.get(name, self.step) - 1
        if step < 1:
            raise THNNError(
                f"{self.typename()}.backward: there are no more steps to go back: backward is"
                f" called at most once for each forward since forget, of which there were"
                f" {self.step - 1}"
            )
        self.__dict__[name] = step
        if self._nests:
            self._results_of_step(name)
        return step

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        step = self._next_back("_backward")
        later = self.__dict__.get("_gradients")
        rest = self._gradient_of_rest(step) if later is None else later[1:]
        gradient = gradOutput
        if later is not None and later:
            gradient = added(gradOutput, later[0])
        self.__dict__["_gradOutputs"][step] = [gradient, *rest]
        before = self._before(step, input)
        module = self.getStepModule(step)
        if before:
            given = [gradient, *rest] if rest else gradient
            found = module.updateGradInput([input, *before], given)
            gradInput, self.__dict__["_gradients"] = found[0], list(found[1:])
            if step == 1:
                self._keep_gradient_of_start(found[1:])
        else:
            gradInput = module.updateGradInput(input, gradient)
            self.__dict__["_gradients"] = []
        self.__dict__["gradInputs"][step] = gradInput
        self.tensors.gradInput = gradInput
        return gradInput

    def _keep_gradient_of_start(self, found: list[Any]) -> None:
        """Keeps the gradient of the state that was given before the first step."""
        for name, gradient in zip(("Output", "Cell"), found, strict=False):
            if self.field(f"userPrev{name}") is not None:
                self.assign(f"userGradPrev{name}", copied(gradient))

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        step = self._next_back("_accumulating")
        gradient, *rest = self.__dict__["_gradOutputs"][step]
        before = self._before(step, input)
        given = [gradient, *rest] if rest else gradient
        self.getStepModule(step).accGradParameters(
            [input, *before] if before else input, given, scale
        )

    def backward(self, input: Any, gradOutput: Any, scale: Any = 1) -> Any:
        gradInput = self.updateGradInput(input, gradOutput)
        self.accGradParameters(input, gradOutput, scale)
        return gradInput

    # ---- All steps of a call

    def all_steps(self, inputs: list[Any], given: Any) -> list[Any]:
        """The outputs of steps. `given` is what they are the steps of: a table, or a Tensor."""
        return [self.updateOutput(one) for one in inputs]

    def all_steps_back(
        self, inputs: list[Any], given: Any, gradients: list[Any], gradient: Any
    ) -> list[Any]:
        """The gradients of the inputs, from the last step to the first."""
        pairs = zip(reversed(inputs), reversed(gradients), strict=True)
        return [copied(self.updateGradInput(*pair)) for pair in pairs][::-1]

    def gather_all_steps(
        self, inputs: list[Any], given: Any, gradients: list[Any], scale: Any
    ) -> None:
        """Adds the gradients of the parameters, from the last step to the first."""
        for one, gradient in zip(reversed(inputs), reversed(gradients), strict=True):
            self.accGradParameters(one, gradient, scale)

    # ---- State

    def forget(self) -> Self:
        """Starts a new sequence; returns itself."""
        self._start()
        for module in self.children():
            module.forget()
        return self

    def maxBPTTstep(self, rho: int) -> None:
        """Sets the longest sequence."""
        self.rho = rho
        super().maxBPTTstep(rho)

    def includingSharedClones(self, callback: Callable[[], Any]) -> Any:
        """Calls the function with the modules of all steps as ``modules``; returns its result."""
        own, clones = self.modules, self._clones()
        self.modules = [*own, *(one for one in clones if not any(one is two for two in own))]
        try:
            return callback()
        finally:
            self.modules = own

    def reinforce(self, reward: Any) -> None:
        """Gives the modules of all steps a reward, or each step the entry of a table of rewards."""
        if isinstance(reward, (list, tuple)):
            for step, one in enumerate(reward, 1):
                self.getStepModule(step).reinforce(one)
        else:
            self.includingSharedClones(lambda: super(AbstractRecurrent, self).reinforce(reward))

    def setZeroMask(self, zeroMask: Any) -> Self:
        """Tells which samples are padding: 1 for each, steps x batch, or a batch for all steps.

        False, or None, ends that. Returns itself.
        """
        given = None if zeroMask is None or zeroMask is False else zeroMask
        self.__dict__.pop("zeroMask", None)
        self.tensors.__dict__.pop("zeroMask", None)
        if given is None:
            self.includingSharedClones(lambda: super(AbstractRecurrent, self).setZeroMask(False))
        else:
            self.assign("zeroMask", given)
        return self

    def maskZero(self, nInputDim: int = 1) -> Self:
        """Has samples of zeros give zeros, in the state too; returns itself.

        `nInputDim` is the number of dimensions of a sample.
        """
        from .masking import MaskZero

        self._own(MaskZero(self.inside, nInputDim))
        return self

    def trimZero(self, nInputDim: int = 1) -> Self:
        """As ``maskZero``, without computing these samples; returns itself."""
        from .masking import TrimZero

        self._own(TrimZero(self.inside, nInputDim))
        return self

    # ---- The state of a step

    _state: tuple[str, ...] = ()
    """Tables of the state by step; without one, the state is that of the modules inside."""
    _given_states = ("userPrevOutput", "userPrevCell")

    def getHiddenState(self, step: int | None = None) -> Any:
        """The state after a step, by default the last; None where there is none.

        That is the output, for an LSTM the table {output, cell}, and for a Recursor the table of
        what is inside. Step 0 is the state before the first.
        """
        place = self.step - 1 if step is None else step
        if not self._state:
            return super().getHiddenState(place)
        if place:
            found = [self.__dict__[name].get(place) for name in self._state]
        else:
            found = [self.field(name) for name in self._given_states[: len(self._state)]]
        if any(one is None for one in found):
            return None
        return to_arrays(found if len(found) > 1 else found[0])

    def setHiddenState(self, step: int, hiddenState: Any) -> None:
        """Sets the state after a step, from 0 on, as ``getHiddenState`` gives it."""
        if not self._state:
            super().setHiddenState(step, hiddenState)
            return
        states = self._as_states("setHiddenState", hiddenState)
        for name, table, state in zip(self._given_states, self._state, states, strict=False):
            if step:
                self.__dict__[table][step] = to_tensors(state)
            else:
                self.assign(name, to_tensors(state))

    def _as_states(self, method: str, given: Any) -> list[Any]:
        states = list(given) if len(self._state) > 1 else [given]
        if len(states) != len(self._state):
            raise THNNArgumentError.expected(
                f"{self.typename()}.{method}", 2, "hiddenState",
                f"a table of {len(self._state)}", f"one of {len(states)}",
            )  # fmt: skip
        return states

    def getGradHiddenState(self, step: int | None = None) -> Any:
        """The gradient of the state that the last ``backward`` gave the step before it."""
        if not self._state:
            return super().getGradHiddenState(step)
        found = self.__dict__.get("_gradients")
        if not found:
            return None
        return to_arrays(list(found) if len(found) > 1 else found[0])

    def setGradHiddenState(self, step: int, gradHiddenState: Any) -> None:
        """Sets the gradient of the state after a step, for ``backward`` of that step."""
        if not self._state:
            super().setGradHiddenState(step, gradHiddenState)
            return
        states = self._as_states("setGradHiddenState", gradHiddenState)
        self.__dict__["_gradients"] = [copied(to_tensors(state)) for state in states]
        self.__dict__["_backward"] = self.__dict__["_accumulating"] = step + 1

    def clearState(self) -> Self:
        self._start()
        self._set_table("sharedClones", {self._first_clone: self.inside})
        return super().clearState()

    def _zeros(self, input: Any, shape: Sequence[int], dimensions: int) -> Tensor:
        """A state of zeros, for one sample or a batch, as the input is."""
        first = first_of(input)
        batch = first.shape[:1] if getattr(first, "ndim", 0) > dimensions else ()
        made = Tensor.zeros(*batch, *shape, dtype=self.dtype)
        device = device_of_type(self._type)
        return made.to(device) if device != made.device else made

    def __repr__(self) -> str:
        return f"{self.typename()} @ {self.inside!r}" if self.modules else self.typename()


@register
class CopyGrad(Identity, kernel=True):
    """output = input, gradInput = a copy of gradOutput."""

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", gradOutput).resize(gradOutput.shape)
        gradInput.copy_from(gradOutput)
        return gradInput


@register
class NormStabilizer(AbstractRecurrent, kernel=True):
    """Passes its input on; in training, backward adds the gradient of a penalty of norms.

    That is `beta` times the mean over the batch of the squared change of the norm from step to
    step.
    """

    def __init__(self, beta: float = 1, rho: int | None = None) -> None:
        super().__init__(99999 if rho is None else rho)
        self.beta = beta
        self._own(CopyGrad())

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = super().updateGradInput(input, gradOutput)
        step = self.__dict__["_backward"]
        outputs = self.__dict__["outputs"]
        now = outputs[step].array()
        norm = _norms(now)
        change = 0
        if step > 1:
            change = change + norm - _norms(outputs[step - 1].array())
        if step + 1 < self.step:
            change = change + norm - _norms(outputs[step + 1].array())
        samples = now.shape[0] if now.ndim > 1 else 1
        gradient = gradInput.array()
        gradient += self.beta * 2 / samples * change / norm * now
        return gradInput


def _norms(rows: Any) -> Any:
    """The norm of each row, as a column."""
    return ((rows**2).sum(-1, keepdims=True)) ** 0.5


@register
class Recurrence(AbstractRecurrent, kernel=True):
    """A module of the table {input, output of the step before}, which is zeros at first.

    `outputSize` is the size of that output, a number or a list, without the batch, or for an output
    that is a table a list of such lists; inputs of more than `nInputDim` dimensions are batches.
    """

    def __init__(
        self, module: Module, outputSize: int | Sequence[Any], nInputDim: int, rho: int = 9999
    ) -> None:
        super().__init__(rho)
        self.outputSize = [outputSize] if isinstance(outputSize, int) else list(outputSize)
        if any(isinstance(size, int) and size < 1 for size in self.outputSize):
            wanted = "an int of at least 1, or a list of sizes"
            raise THNNArgumentError.expected(
                self.typename(), 2, "outputSize", wanted, repr(outputSize)
            )
        self.nInputDim = nInputDim
        self.module = module
        self.tensors.typeTensor = Tensor(dtype=np.float64)
        self._own(module)

    _state = ("outputs",)

    def _before(self, step: int, input: Any) -> list[Any]:
        if step > 1:
            return [self.__dict__["outputs"][step - 1]]
        if self.userPrevOutput is not None:
            return [self.field("userPrevOutput")]
        return [self._zeros_of(self.field("outputSize"), input)]

    def _zeros_of(self, sizes: Any, input: Any) -> Any:
        """Zeros of a size, or a table of them for a table of sizes."""
        sizes = sizes.tolist() if hasattr(sizes, "tolist") else sizes
        if sizes and isinstance(sizes[0], list):
            return [self._zeros_of(one, input) for one in sizes]
        return self._zeros(input, [int(size) for size in sizes], int(self.nInputDim))


@register
class Recurrent(AbstractRecurrent, kernel=True):
    """output = transfer(merge(input module(input), feedback(output of the step before))).

    The first step is transfer(start(input module(input))). With a number as `start`, its size, a
    bias is added there.
    """

    _first_clone = 2
    _state = ("outputs",)

    def __init__(
        self,
        start: int | Module,
        input: Module,
        feedback: Module,
        transfer: Module | None = None,
        rho: int = 9999,
        merge: Module | None = None,
    ) -> None:
        super().__init__(rho)
        self.inputModule, self.feedbackModule = input, feedback
        self.startModule = Add(start) if isinstance(start, int) else start
        self.transferModule = transfer or Sigmoid()
        self.mergeModule = merge or CAddTable()
        both = ParallelTable().add(self.inputModule).add(self.feedbackModule)
        self.modules = [
            self.startModule, self.inputModule, self.feedbackModule, self.transferModule,
            self.mergeModule,
        ]  # fmt: skip
        self._own(Sequential(both, self.mergeModule, self.transferModule))
        self.initialModule: Module = Sequential(
            shared_clone(self.inputModule), self.startModule, shared_clone(self.transferModule)
        )

    def _upgrade(self) -> None:
        super()._upgrade()
        share_again(self.children(), [self.initialModule, self.inside])

    def _module_of(self, step: int) -> Module:
        return self.initialModule if step == 1 else super()._module_of(step)

    def _own(self, module: Module) -> None:
        """The step after the first alone: what it is made of stays in ``modules``."""
        inside = self.modules
        super()._own(module)
        self.modules = inside

    def maskZero(self, nInputDim: int = 1) -> Self:
        from .masking import MaskZero

        self.initialModule = MaskZero(self.initialModule, nInputDim)
        return super().maskZero(nInputDim)

    def trimZero(self, nInputDim: int = 1) -> Self:
        from .masking import TrimZero

        self.initialModule = TrimZero(self.initialModule, nInputDim)
        return super().trimZero(nInputDim)

    def _clones(self) -> list[Module]:
        clones = self.__dict__.get("sharedClones") or {}
        return [self.initialModule, self.inside, *clones.values()]

    def _before(self, step: int, input: Any) -> list[Any]:
        return [self.__dict__["outputs"][step - 1]] if step > 1 else []

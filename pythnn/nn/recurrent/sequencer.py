"""Containers and criterions for whole sequences: tables of steps, or tensors with time first."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..containers.branching import ConcatTable
from ..containers.container import Container, Sequential
from ..containers.decorator import Decorator
from ..criterion.criterion import Criterion
from ..object.module import Module
from ..object.object import register
from ..object.tables import add_into, added, copied, zeros_like
from ..object.values import describe
from ..table.arithmetic import CAddTable
from ..table.shaping import JoinTable, ZipTable
from .masking import MaskZeroCriterion
from .recurrence import AbstractRecurrent
from .recursor import Recursor
from .sequence import SeqGRU, SeqLSTM
from .simple import SeqReverseSequence

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "AbstractSequencer", "BiSequencer", "BiSequencerLM", "Repeater", "RepeaterCriterion",
    "ReverseSequence",
    "ReverseTable", "ReverseUnreverse", "SeqBGRU", "SeqBLSTM", "SeqBRNN", "Sequencer",
    "SequencerCriterion", "VariableLength",
]  # fmt: skip


def _steps(name: str, value: Any) -> list[Any]:
    """The steps of a table, or of a tensor whose first dimension is time."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Tensor) or value.ndim < 1 or not value.size:
        wanted = "a table of steps, or a tensor of time x ..."
        raise THNNArgumentError.expected(name, 1, "input", wanted, describe(value))
    return [value.select(0, t) if value.ndim > 1 else value.narrow(0, t, 1)
            for t in range(value.shape[0])]  # fmt: skip


def _stacked(steps: list[Any], like: Any) -> Any:
    """Steps as one tensor where the input was one."""
    if isinstance(like, list) or not all(isinstance(step, Tensor) for step in steps):
        return steps
    first = steps[0]
    made = Tensor(dtype=first.dtype, device=first.device).resize(len(steps), *first.shape)
    array = made.array()
    for t, step in enumerate(steps):
        array[t] = step.array()
    return made


def _recurrent(module: Module) -> AbstractRecurrent:
    return module if isinstance(module, AbstractRecurrent) else Recursor(module)


@register
class AbstractSequencer(Container, kernel=True):
    """A module that does one step a call, for all steps; a base class."""

    @property
    def inside(self) -> Any:
        """The module that does a step."""
        return self.modules[0]

    def maskZero(self, nInputDim: int = 1) -> Self:
        """Has samples of zeros of each step give zeros; returns itself."""
        self.inside.maskZero(nInputDim)
        return self

    def __repr__(self) -> str:
        return f"{self.typename()} @ {self.inside!r}" if self.modules else self.typename()


@register
class Sequencer(AbstractSequencer, kernel=True):
    """Applies a module to each step of a sequence: a table, or a tensor of time x ...

    The state of recurrent modules starts anew with each call, but where ``remember`` says so.
    """

    _remember: Any = "neither"

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.module = _recurrent(module)
        self.modules = [self.module]
        self._remember = "neither"
        self.tensors.output = []
        self._output: Any = []
        # What dpnn's Serial leaves out of files.
        self.dpnn_mediumEmpty = [
            "output", "gradInput", "momGradParams", "dpnn_input", "_output",
        ]  # fmt: skip
        self.tableoutput: Any = []
        self.tablegradInput: Any = []

    def remember(self, remember: str | None = None) -> Self:
        """Goes on from the last state: in "train", "eval", "both" (by default) or "neither"."""
        modes = ("train", "training", "eval", "evaluate", "both", "neither")
        mode = remember or "both"
        if mode not in modes:
            function = f"{self.typename()}.remember"
            raise THNNArgumentError.expected(
                function, 1, "remember", "train, eval, both or neither", repr(mode)
            )
        self._remember = {"training": "train", "evaluate": "eval"}.get(mode, mode)
        return self

    def setZeroMask(self, zeroMask: Any) -> Self:
        """Tells which samples of which step are padding: steps x batch; returns itself."""
        self.inside.setZeroMask(zeroMask)
        return self

    def updateOutput(self, input: Any) -> Any:
        inputs = _steps(self.typename(), input)
        mode = "eval" if self.train is False else "train"
        if self._remember not in ("both", mode):
            self.inside.forget()
        self.tensors.output = _stacked(self.inside.all_steps(inputs, input), input)
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        steps, gradients = (_steps(self.typename(), one) for one in (input, gradOutput))
        found = self.inside.all_steps_back(steps, input, gradients, gradOutput)
        self.tensors.gradInput = _stacked(found, input)
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        steps, gradients = (_steps(self.typename(), one) for one in (input, gradOutput))
        self.inside.gather_all_steps(steps, input, gradients, scale)


@register
class Repeater(AbstractSequencer, kernel=True):
    """Gives a module the same input `rho` times; the output is a table."""

    def __init__(self, module: Module, rho: int) -> None:
        super().__init__()
        self.rho = rho
        self.module = _recurrent(module)
        self.modules = [self.module]
        self.tensors.output = []

    def updateOutput(self, input: Any) -> Any:
        self.inside.forget()
        steps = [input] * int(self.rho)
        self.tensors.output = self.inside.all_steps(steps, steps)
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        steps = [input] * len(gradOutput)
        found = self.inside.all_steps_back(steps, steps, gradOutput, gradOutput)
        total = found[-1]
        for one in found[-2::-1]:
            add_into(total, one)
        self.tensors.gradInput = total
        return total

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        steps = [input] * len(gradOutput)
        self.inside.gather_all_steps(steps, steps, gradOutput, scale)


@register
class ReverseTable(Module, kernel=True):
    """Reverses the order of a table."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors.output = []
        self.tensors.gradInput = []

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = list(reversed(_steps(self.typename(), input)))
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = list(reversed(gradOutput))
        return self.tensors.gradInput


@register
class ReverseSequence(Module, kernel=True):
    """Reverses the order of the steps of a table or of a tensor of time x ..."""

    def _turned(self, value: Any) -> Any:
        return _stacked(_steps(self.typename(), value)[::-1], value)

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = self._turned(input)
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = self._turned(gradOutput)
        return self.tensors.gradInput


@register
class ReverseUnreverse(Decorator, kernel=True):
    """Applies a module to the sequence in reverse order, and puts its output in order."""

    def __init__(self, sequencer: Module) -> None:
        super().__init__(Sequential(ReverseSequence(), sequencer, ReverseSequence()))


def _both_ways(forward: Module, backward: Module, merge: Module) -> Sequential:
    return Sequential(ConcatTable().add(forward).add(backward), merge)


@register
class BiSequencer(Decorator, kernel=True):
    """Applies modules to a table of steps, one forwards and one backwards, and merges each step.

    By default the merge joins both in their last dimension.
    """

    def __init__(
        self, forward: Module, backward: Module | None = None, merge: Module | None = None
    ) -> None:
        self.forwardModule = forward
        self.backwardModule = backward or _renewed(forward)
        self.mergeModule = merge or JoinTable(1, 1)
        self.fwdSeq = Sequencer(self.forwardModule)
        self.bwdSeq = Sequencer(self.backwardModule)
        self.mergeSeq = Sequencer(self.mergeModule)
        reverse = Sequential(ReverseTable(), self.bwdSeq, ReverseTable())
        made = Sequential(ConcatTable().add(self.fwdSeq).add(reverse), ZipTable(), self.mergeSeq)
        super().__init__(made)
        self.module = made
        self.tensors.output = []
        self.tensors.gradInput = []


def _renewed(module: Module) -> Any:
    """A copy with parameters of its own, drawn anew."""
    made = copy.deepcopy(module)
    made.reset()
    return made


@register
class BiSequencerLM(Container, kernel=True):
    """BiSequencer for language models: a step sees what is before it and after it, not itself.

    The output of the forward module is zeros for the first step, and that of the backward one for
    the last.
    """

    def __init__(
        self, forward: Module, backward: Module | None = None, merge: Module | None = None
    ) -> None:
        super().__init__()
        self.forwardModule = forward
        self.backwardModule = backward or _renewed(forward)
        self.mergeModule = merge or JoinTable(1, 1)
        self._fwd = self.fwdSeq = Sequencer(self.forwardModule)
        self.bwdSeq = Sequencer(self.backwardModule)
        self.mergeSeq = Sequencer(self.mergeModule)
        self._bwd = Sequential(ReverseTable(), self.bwdSeq, ReverseTable())
        self._merge = Sequential(ZipTable(), self.mergeSeq)
        self.modules = [self._fwd, self._bwd, self._merge]
        self.tensors.output = []
        self.tensors.gradInput = []

    def _merged(self) -> list[Any]:
        """What the merge gets: both outputs, each moved by a step."""
        forward, backward = (module.field("output") for module in self.modules[:2])
        return [
            [zeros_like(forward[0]), *forward], [*backward, zeros_like(backward[-1])]
        ]  # fmt: skip

    def updateOutput(self, input: Any) -> Any:
        steps = _steps(self.typename(), input)
        if len(steps) < 2:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "a table of at least 2 steps", describe(input)
            )
        self.modules[0].updateOutput(steps[:-1])
        self.modules[1].updateOutput(steps[1:])
        self.tensors.output = self.modules[2].updateOutput(self._merged())
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        merged = self.modules[2].updateGradInput(self._merged(), gradOutput)
        self.__dict__["_gradients"] = merged[0][1:], merged[1][:-1]
        forward = self.modules[0].updateGradInput(input[:-1], merged[0][1:])
        backward = self.modules[1].updateGradInput(input[1:], merged[1][:-1])
        found = [copied(forward[0])]
        found += [added(one, other)
                  for one, other in zip(forward[1:], backward[:-1], strict=True)]  # fmt: skip
        self.tensors.gradInput = [*found, copied(backward[-1])]
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        forward, backward = self.__dict__.pop("_gradients")
        self.modules[2].accGradParameters(self._merged(), gradOutput, scale)
        self.modules[0].accGradParameters(input[:-1], forward, scale)
        self.modules[1].accGradParameters(input[1:], backward, scale)


@register
class SeqBRNN(Decorator, kernel=True):
    """SeqLSTM both ways, merged by `merge`, by default a sum; with `batchFirst`, batch x time."""

    def __init__(
        self,
        inputDim: int,
        hiddenDim: int,
        batchFirst: bool = False,
        merge: Module | None = None,
    ) -> None:
        self.forwardModule = SeqLSTM(inputDim, hiddenDim)
        self.backwardModule = SeqLSTM(inputDim, hiddenDim)
        self.merge = merge or CAddTable()
        self.dim = 2 if batchFirst else 1
        self.forwardModule.batchfirst = self.backwardModule.batchfirst = bool(batchFirst)
        reverse = Sequential(
            SeqReverseSequence(self.dim), self.backwardModule, SeqReverseSequence(self.dim)
        )
        made = _both_ways(self.forwardModule, reverse, self.merge)
        super().__init__(made)
        self.module = made


@register
class SeqBLSTM(Decorator, kernel=True):
    """SeqLSTM both ways, merged by `merge`, by default a sum; of torch/rnn."""

    def __init__(self, inputsize: int, hiddensize: int, merge: Module | None = None) -> None:
        backward = ReverseUnreverse(SeqLSTM(inputsize, hiddensize))
        super().__init__(_both_ways(SeqLSTM(inputsize, hiddensize), backward, merge or CAddTable()))


@register
class SeqBGRU(Decorator, kernel=True):
    """SeqGRU both ways, merged by `merge`, by default a sum; of torch/rnn."""

    def __init__(self, inputsize: int, outputsize: int, merge: Module | None = None) -> None:
        backward = ReverseUnreverse(SeqGRU(inputsize, outputsize))
        super().__init__(_both_ways(SeqGRU(inputsize, outputsize), backward, merge or CAddTable()))


@register
class VariableLength(Decorator, kernel=True):
    """Applies a module of steps x batch to a table of sequences of different lengths.

    Input: a table of tensors, steps x ..., one for each sample; output likewise, or with `lastOnly`
    the last steps, batch x ... Shorter sequences are padded, and the module told so by
    ``setZeroMask``. Of torch/rnn.
    """

    lastOnly: Any = False

    def __init__(self, module: Module, lastOnly: bool = False) -> None:
        super().__init__(module.maskZero())
        self.lastOnly = bool(lastOnly)
        self.tensors.gradInput = []

    def _lengths(self, input: Any) -> list[int]:
        if (
            not isinstance(input, list)
            or not input
            or not all(isinstance(one, Tensor) and one.ndim and one.size for one in input)
        ):
            wanted = "a table of sequences, steps x ..."
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        return [one.shape[0] for one in input]

    def _padded(self, input: list[Any], lengths: list[int]) -> Tensor:
        """All sequences in one tensor, steps x batch x ..."""
        first = input[0]
        shape = max(lengths), len(input), *first.shape[1:]
        made = Tensor(dtype=first.dtype, device=first.device).resize(shape).zero()
        array = made.array()
        for sample, one in enumerate(input):
            array[: lengths[sample], sample] = one.array()
        return made

    def _cut(self, value: Tensor, lengths: list[int]) -> list[Any]:
        return [
            value.narrow(0, 0, length).select(1, sample).clone()
            for sample, length in enumerate(lengths)
        ]

    def updateOutput(self, input: Any) -> Any:
        lengths = self._lengths(input)
        padding = np.arange(max(lengths))[:, None] >= np.array(lengths)
        self.inside.setZeroMask(padding.astype(np.uint8))
        outputs = self._cut(self.inside.updateOutput(self._padded(input, lengths)), lengths)
        if self.lastOnly:
            last = [_steps(self.typename(), one)[-1] for one in outputs]
            self.tensors.output = _stacked(last, outputs[0])
        else:
            self.tensors.output = outputs
        return self.tensors.output

    def _gradient(self, input: Any, gradOutput: Any) -> Tensor:
        lengths = self._lengths(input)
        if not self.lastOnly:
            return self._padded(gradOutput, lengths)
        shape = max(lengths), *gradOutput.shape
        made = Tensor(dtype=gradOutput.dtype, device=gradOutput.device).resize(shape).zero()
        array, given = made.array(), gradOutput.array()
        for sample, length in enumerate(lengths):
            array[length - 1, sample] = given[sample]
        return made

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        lengths = self._lengths(input)
        given = self._padded(input, lengths)
        found = self.inside.updateGradInput(given, self._gradient(input, gradOutput))
        self.tensors.gradInput = self._cut(found, lengths)
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        given = self._padded(input, self._lengths(input))
        self.inside.accGradParameters(given, self._gradient(input, gradOutput), scale)


class _StepCriterion(Criterion, ABC, kernel=True):
    """A criterion for each step; the loss is the sum, or with `sizeAverage` the mean."""

    sizeAverage: Any = False

    def __init__(self, criterion: Criterion, sizeAverage: bool = False) -> None:
        super().__init__()
        self.criterion = criterion
        self.clones: Any = []
        self.sizeAverage = bool(sizeAverage)
        self.tensors.gradInput = []

    def _own(self) -> Criterion:
        found: Criterion = self.field("criterion") or self.field("clones")[0]
        return found

    def _of_step(self, count: int) -> list[Criterion]:
        """A criterion for each step."""
        clones = list(self.field("clones") or [])
        clones = clones or [self._own()]
        clones += [copy.deepcopy(self._own()) for _ in range(count - len(clones))]
        self.clones = clones
        return clones[:count]

    @abstractmethod
    def _targets(self, target: Any, count: int) -> list[Any]:
        """The target of each step."""

    def setZeroMask(self, zeroMask: Any) -> Self:
        """Tells the criterions of the steps which samples are padding: steps x batch."""
        self.__dict__.pop("zeroMask", None)
        self.tensors.__dict__.pop("zeroMask", None)
        if zeroMask is not None and zeroMask is not False:
            self.assign("zeroMask", zeroMask)
        return self

    def _calls(self, input: Any, target: Any) -> Any:
        inputs = _steps(self.typename(), input)
        criterions = self._of_step(len(inputs))
        mask = self.field("zeroMask")
        if mask is not None:
            rows = mask.numpy() if isinstance(mask, Tensor) else np.asarray(mask)
            for criterion, row in zip(criterions, rows, strict=True):
                if isinstance(criterion, MaskZeroCriterion):
                    criterion.setZeroMask(row)
        return zip(criterions, inputs, self._targets(target, len(inputs)), strict=True)

    def updateOutput(self, input: Any, target: Any) -> Any:
        losses = [one.updateOutput(*pair) for one, *pair in self._calls(input, target)]
        self.output = sum(losses) / (len(losses) if self.sizeAverage else 1)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        found = [copied(one.updateGradInput(*pair)) for one, *pair in self._calls(input, target)]
        if self.sizeAverage:
            for one in found:
                add_into(one, one, 1 / len(found) - 1)
        self.tensors.gradInput = _stacked(found, input)
        return self.tensors.gradInput


@register
class SequencerCriterion(_StepCriterion, kernel=True):
    """A criterion for each step, with a target for each."""

    def _targets(self, target: Any, count: int) -> list[Any]:
        return _steps(self.typename(), target)


@register
class RepeaterCriterion(_StepCriterion, kernel=True):
    """A criterion for each step, all with the same target."""

    def __init__(self, criterion: Criterion, sizeAverage: bool = False) -> None:
        super().__init__(criterion, sizeAverage)
        if not sizeAverage:
            del self.sizeAverage  # a field that rnn's class does not have

    def _targets(self, target: Any, count: int) -> list[Any]:
        return [target] * count

"""The base of LSTM, GRU and their relatives: one step of a sequence a call, or several at once."""

from __future__ import annotations

from typing import Any

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.tables import copied
from ..object.values import describe
from .fused import Formulas, OneStep, Run, empty
from .recurrence import AbstractRecurrent

__all__ = ["Cell"]


class Cell(AbstractRecurrent, kernel=True):
    """A step of {input, output of the step before, cell of it}; what cells have is their states.

    While the module inside is as it was made, steps run through the formulas in ``fused.py``, all
    those of a sequencer's call at once; else through that module, one by one.
    """

    _runs: dict[int, tuple[Run | OneStep, int]]
    """For each step the run that it was computed in, and its place there."""
    userNextGradCell: Any = None
    _tables: tuple[str, ...] = (*AbstractRecurrent._tables, "cells", "gradCells")
    _state: tuple[str, ...] = ("outputs",)
    _nests = False

    def __init__(self, rho: int | None = 9999) -> None:
        super().__init__(rho)
        self._runs = {}

    def _sizes(self) -> list[int]:
        """Of the output, and of the cell."""
        return [int(self.field("outputSize"))] * 2

    def _before(self, step: int, input: Any) -> list[Any]:
        if step > 1:
            found = [self.__dict__[name][step - 1] for name in self._state]
            self._check_batch(input, found[0])
            return found
        given = (self.field("userPrevOutput"), self.field("userPrevCell"))
        return [
            self._zeros(input, [size], 1) if start is None else start
            for _, start, size in zip(self._state, given, self._sizes(), strict=False)
        ]

    def _check_batch(self, input: Any, before: Any) -> None:
        """Refuses an input of another batch than that of the step before."""
        shapes = [one.shape[:-1] for one in (input, before) if isinstance(one, Tensor)]
        if len(shapes) == 2 and shapes[0] != shapes[1]:
            batch = f"a batch of {shapes[1][0]}" if shapes[1] else "no batch"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"{batch}, as the step before (forget() ends that)",
                describe(input),
            )  # fmt: skip

    def _keep(self, step: int, state: list[Any]) -> None:
        for name, one in zip(self._state, state, strict=True):
            self.__dict__[name][step] = one

    def _gradient_of_rest(self, step: int) -> list[Any]:
        given = self.field("userNextGradCell")
        if given is not None and len(self._state) > 1:
            return [given.clone()]
        return [self.__dict__[name][step].clone().zero() for name in self._state[1:]]

    # ---- Steps through the formulas

    def _start(self) -> None:
        super()._start()
        self._runs = {}
        self.__dict__.pop("_known", None)

    def _own_fields(self) -> dict[str, Any]:
        inner = ("_known", "_runs")
        return {name: one for name, one in super()._own_fields().items() if name not in inner}

    def _formulas(self) -> Formulas | None:
        """The formulas of the module inside; None where it computes something else."""
        return None

    def _formulas_of(self, steps: int) -> Formulas | None:
        """The formulas, looked for at the first of single steps and for each call of several."""
        found: Formulas | None
        inside, found = self.__dict__.get("_known", (None, None))
        if steps > 1 or self.step == 1 or inside is not self.inside:
            found = self._formulas()
            self.__dict__["_known"] = self.inside, found
        return found

    def _formulas_for(self, inputs: list[Any], before: list[Any]) -> Formulas | None:
        """The formulas for inputs of one form, after a state; None where they do not fit."""
        if self.field("zeroMask") is not None:
            return None
        found, first = self._formulas_of(len(inputs)), inputs[0]
        if found is None or not all(isinstance(one, Tensor) for one in (*inputs, *before)):
            return None
        kind, device, shape = found.weight.dtype, found.weight.device, first.shape
        fits = len(shape) in (1, 2) and shape[-1] == found.inputs and 0 not in shape
        wanted = [shape] * len(inputs) + [(*shape[:-1], found.units)] * len(before)
        for one, size in zip((*inputs, *before), wanted, strict=True):
            fits = fits and one.shape == size and one.dtype == kind and one.device == device
        return found if fits else None

    def _run(self, formulas: Formulas, x: Tensor, before: list[Any]) -> Run:
        """Computes steps x batch x inputs."""
        steps, batch, _ = x.shape
        states = []
        for one in before:
            room = empty(x, steps + 1, batch, formulas.units)
            room.select(0, 0).copy_from(one.view(batch, -1))
            states.append(room)
        cells = states[1] if len(states) > 1 else None
        return Run(formulas, states[0], cells, formulas.run(x, states[0], cells))

    def _state_of(self, run: Run, place: int, like: Tensor) -> list[Tensor]:
        """The state after a step of a run, in the form of the input."""
        tables = [run.states] if run.cells is None else [run.states, run.cells]
        found = [table.select(0, place + 1) for table in tables]
        return found if like.ndim > 1 else [one.select(0, 0) for one in found]

    def _forward_step(self, step: int, input: Any) -> list[Any]:
        before = self._before(step, input)
        formulas = self._formulas_for([input], before)
        if formulas is None:
            self._runs.pop(step, None)
            return super()._forward_step(step, input)
        run, state = self._one(formulas, input, before)
        if self.train is not False:
            self._runs[step] = run, 0
        return state if input.ndim > 1 else [one.select(0, 0) for one in state]

    def _one(
        self, formulas: Formulas, input: Tensor, before: list[Tensor]
    ) -> tuple[Run | OneStep, list[Tensor]]:
        """Computes one step: what came of it, and the state as a batch."""
        if input.ndim > 1:
            return formulas.one(input, before)
        return formulas.one(input.unsqueeze(0), [one.unsqueeze(0) for one in before])

    def all_steps(self, inputs: list[Any], given: Any) -> list[Any]:
        if len(inputs) < 2 or "updateOutput" in self.__dict__:
            return super().all_steps(inputs, given)
        before = self._before(self.step, inputs[0])
        formulas = self._formulas_for(inputs, before)
        if formulas is None:
            return super().all_steps(inputs, given)
        first, run = self.step, self._run(formulas, _joined(inputs, given), before)
        for place, one in enumerate(inputs):
            self._keep(first + place, self._state_of(run, place, one))
            if self.train is not False:
                self._runs[first + place] = run, place
        self._end_of_backward()
        self.__dict__["step"] = first + len(inputs)
        outputs = [self.__dict__["outputs"][first + place] for place in range(len(inputs))]
        self.tensors.output = outputs[-1]
        return outputs

    # ---- Back through time

    def _run_of(self, step: int, input: Any) -> Run | None:
        """The run of one step, computed again where it was not kept; None without formulas."""
        if step in self._runs:
            run, place = self._runs[step]
            return run.only(place)
        before = self._before(step, input)
        formulas = self._formulas_for([input], before) if self.train is False else None
        if formulas is None:
            return None
        run, _ = self._one(formulas, input, before)
        self._runs[step] = run, 0
        return run.only(0)

    def _whole_run(self, name: str, count: int) -> Run | None:
        """The run of all the next steps to go back through, if it is of these alone."""
        last = self.__dict__.get(name, self.step) - 1
        run, place = self._runs.get(last, (None, 0))
        if run is None or not len(run) == count == place + 1:
            return None
        return run if isinstance(run, Run) else run.only(place)

    def _later(self, step: int, like: Tensor) -> list[Tensor]:
        """Copies of the gradients of the state after a step, from later steps."""
        later = self.__dict__.get("_gradients")
        if not later:
            later = [self.__dict__["outputs"][step].clone().zero(), *self._gradient_of_rest(step)]
        return [copied(one).view(like.shape[1:]) for one in later]

    def _go_back(self, run: Run, step: int, shown: Tensor, is_single: bool) -> Tensor:
        """The gradient of the input of a run, of which `step` is the last."""
        carried = self._later(step, shown)
        found = run.formulas.back(run, shown, *carried, *[None][len(carried) - 1 :])
        if is_single:
            carried = [one.select(0, 0) for one in carried]
        self.__dict__["_gradients"] = carried
        return found

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        run = self._run_of(self.__dict__.get("_backward", self.step) - 1, input)
        if run is None or gradOutput.shape[-1:] != run.states.shape[-1:]:
            return super().updateGradInput(input, gradOutput)
        step, is_single = self._next_back("_backward"), input.ndim == 1
        found = self._go_back(run, step, _rows(gradOutput), is_single).select(0, 0)
        if step == 1:
            self._keep_gradient_of_start(self.__dict__["_gradients"])
        self.tensors.gradInput = found.select(0, 0) if is_single else found
        self.__dict__["gradInputs"][step] = self.tensors.gradInput
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        step = self.__dict__.get("_accumulating", self.step) - 1
        run = self._run_of(step, input) if step in self.__dict__["gradInputs"] else None
        if run is None:
            super().accGradParameters(input, gradOutput, scale)
            return
        self._next_back("_accumulating")
        run.formulas.gather(run, _rows(input), scale)

    def all_steps_back(
        self, inputs: list[Any], given: Any, gradients: list[Any], gradient: Any
    ) -> list[Any]:
        run = self._whole_run("_backward", len(inputs))
        if run is None or "updateGradInput" in self.__dict__:
            return super().all_steps_back(inputs, given, gradients, gradient)
        last, is_single = self.__dict__.get("_backward", self.step) - 1, inputs[0].ndim == 1
        found = self._go_back(run, last, _joined(gradients, gradient), is_single)
        first = last - len(inputs) + 1
        self.__dict__["_backward"] = first
        if first == 1:
            self._keep_gradient_of_start(self.__dict__["_gradients"])
        results = [found.select(0, place) for place in range(len(inputs))]
        results = [one.select(0, 0) for one in results] if is_single else results
        self.__dict__["gradInputs"].update(enumerate(results, first))
        self.tensors.gradInput = results[0]
        return results

    def gather_all_steps(
        self, inputs: list[Any], given: Any, gradients: list[Any], scale: Any
    ) -> None:
        run = self._whole_run("_accumulating", len(inputs))
        last = self.__dict__.get("_accumulating", self.step) - 1
        known = self.__dict__["gradInputs"]
        if (
            run is None
            or "accGradParameters" in self.__dict__
            or any(last - place not in known for place in range(len(inputs)))
        ):
            super().gather_all_steps(inputs, given, gradients, scale)
            return
        self.__dict__["_accumulating"] = last - len(inputs) + 1
        run.formulas.gather(run, _joined(inputs, given), scale)


def _rows(value: Tensor) -> Tensor:
    """One step's value as steps x batch x features."""
    return value.contiguous().view(1, -1, value.shape[-1])


def _joined(steps: list[Any], given: Any) -> Tensor:
    """The values of steps as steps x batch x features: what they are the steps of, or copies."""
    first = steps[0]
    if isinstance(given, Tensor):
        return given.contiguous().view(len(steps), -1, first.shape[-1])
    made = empty(first, len(steps), *first.shape)
    for place, one in enumerate(steps):
        made.select(0, place).copy_from(one)
    return made.view(len(steps), -1, first.shape[-1])

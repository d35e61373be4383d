"""Programs: compiling a model, and running it."""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from .. import nn
from .._errors import THNNArgumentError
from .._tensor import Tensor, is_on_device
from ..graph.notebook import Line, html_of_lines
from .arenas import Arenas
from .instance import OtherShapesError
from .plan import CallPlan, Plan, Step, plan_for
from .weights import Weights

__all__ = ["Program", "compile"]

MOST_SIZES = 8
"""Sets of input sizes that a program keeps plans for; the one not used for longest goes first."""


class Program:
    """A model in evaluation, ready to run: see :func:`pythnn.compile`.

    Several threads may call one program at once; each run has memory of its own.
    """

    def __init__(
        self,
        model: nn.Module,
        examples: tuple[Any, ...],
        fuse: bool = True,
        keep_weights: bool = True,
    ) -> None:
        self._source = model
        self._fuse = fuse
        self._keeps = fuse and keep_weights
        self._weights, self._arenas = Weights(self._keeps), Arenas()
        self._lock = threading.Lock()
        self._planning = threading.Lock()
        self._plans: OrderedDict[Any, Plan] = OrderedDict()
        self._model = _snapshot(model)
        self._latest = self._plan([_array(example) for example in examples])

    def update(self) -> None:
        """Takes over the parameters and statistics that the model has now."""
        with self._planning:
            model, weights = _snapshot(self._source), Weights(self._keeps)
            with self._lock:
                old = list(self._plans.items())
            made = [(key, self._planned(model, one.examples, weights)) for key, one in old]
            with self._lock:
                self._model, self._weights = model, weights
                self._plans = OrderedDict(made)
                self._latest = made[-1][1]

    def _plan(self, inputs: list[Any]) -> Plan:
        """The plan for inputs of these sizes and types, which is kept longest now."""
        key = _signature(inputs)
        with self._lock:
            if key in self._plans:
                self._plans.move_to_end(key)
                self._latest = self._plans[key]
                return self._latest
        with self._planning:
            if key not in self._plans:
                self._keep(key, self._planned(self._model, inputs, self._weights))
            return self._plans[key]

    def _planned(self, model: nn.Module, inputs: list[Any], weights: Weights) -> Plan:
        return plan_for(model, inputs, self._fuse, weights, self._arenas)

    def _keep(self, key: Any, plan: Plan) -> None:
        with self._lock:
            self._plans[key] = self._latest = plan
            while len(self._plans) > MOST_SIZES:
                self._plans.popitem(last=False)

    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        """The output for an input.

        Parameters
        ----------
        *inputs : array_like, or lists of them
            As ``forward`` takes them; several are a table.
        out : array, or list of arrays, optional
            What to write the output to; it has the output's shapes.

        Returns arrays that nothing else has, or `out`. Raises what ``forward`` raises.
        """
        plan, given = self._latest, list(inputs)
        if not plan.fits(given):
            given = [_array(value) for value in inputs]
            plan = self._plan(given)
        try:
            return plan.run(given, out)
        except OtherShapesError:
            with self._planning:
                plan = CallPlan(self._model, given)
                self._keep(_signature(given), plan)
            return plan.run(given, out)

    @property
    def steps(self) -> list[Step]:
        """The steps for the sizes of the last call."""
        return list(self._latest.steps)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that a run of the last call's sizes works in, beside parameters."""
        return self._latest.nbytes

    @property
    def kept_nbytes(self) -> int:
        """Bytes of weights that layers have brought into another form and keep, for all sizes.

        A layer does so in the first run. Tables of results that are looked up count as well.
        """
        with self._planning:
            return self._weights.kept_nbytes

    def profile(self, *inputs: Any) -> list[tuple[Step, float]]:
        """Where the time of a run goes: the steps, and the seconds that each takes."""
        given = [_array(value) for value in inputs]
        plan = self._plan(given)
        return list(zip(plan.steps, plan.profile(given), strict=True))

    def __repr__(self) -> str:
        return "\n".join([self._title(), *map(_line, self._latest.steps)])

    def _repr_html_(self) -> str:
        """The model's tree with the steps, for notebooks."""
        lines = [
            Line(
                step.place,
                _name(step),
                step.shape,
                step.multiply_adds,
                "in place" if step.in_place else "",
            )
            for step in self._latest.steps
        ]
        return html_of_lines(self._title(), lines)

    def _title(self) -> str:
        plan = self._latest
        title = f"Program of {self._source.typename()}: {len(plan.steps)} steps"
        if plan.nbytes:
            title += f" in {plan.nbytes / 1e6:.2f} MB"
        kept = self.kept_nbytes
        return f"{title}, beside {kept / 1e6:.2f} MB of weights in other forms" if kept else title


def _name(step: Step) -> str:
    return step.function.removesuffix("_updateOutput")


def _line(step: Step) -> str:
    place = f"{step.place}: " if step.place else ""
    kept = ", in place" if step.in_place else ""
    return f"  {place}{_name(step)} -> {'x'.join(map(str, step.shape))}{kept}"


def compile(  # noqa: A001 (its name)
    model: nn.Module, *examples: Any, fuse: bool = True, keep_weights: bool = True
) -> Program:
    """A program that computes what a model computes in evaluation, in less time.

    Parameters
    ----------
    model : nn.Module
        It stays as it is. The program has its parameters as they are now;
        :meth:`Program.update` takes them over again.
    *examples : array_like, or lists of them
        An input, or several for a model that takes a table. Inputs of other sizes and types are
        planned when they first come.
    fuse : bool
        Whether layers may be joined, which changes the last bits of results. Without it they are
        those of ``forward``.
    keep_weights : bool
        Whether layers of a fused program may keep their weights in the form that their algorithm
        wants. Each run brings them into that form otherwise, which takes time; kept, they take
        memory of about their size once more (:attr:`Program.kept_nbytes`).

    Raises THNNArgumentError for what is no model, and what ``forward`` raises for the examples.
    """
    if not isinstance(model, nn.Module):
        found = type(model).__name__
        raise THNNArgumentError.expected("compile", 1, "model", "an nn.Module", found)
    if not examples:
        raise THNNArgumentError.expected("compile", 2, "examples", "an input of the model", "none")
    return Program(model, examples, fuse, keep_weights)


def _snapshot(model: nn.Module) -> nn.Module:
    """A copy of a model, without results of calls and without gradients."""
    made = copy.deepcopy(model)
    for one in made.listModules():
        one.clear("output", "gradInput", "gradWeight", "gradBias")
    return made


def _array(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_array(entry) for entry in value]
    if isinstance(value, Tensor):
        return value.array()
    return value if isinstance(value, (int, float)) or is_on_device(value) else np.asarray(value)


def _signature(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_signature, value))
    if isinstance(value, (int, float)):
        return type(value)
    return value.shape, value.dtype.str, is_on_device(value)

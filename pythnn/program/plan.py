"""How a program runs for inputs of certain sizes."""

from __future__ import annotations

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._tensor import Tensor, is_on_device
from ..graph import NotLowerableError, lower
from ..graph.costs import multiply_adds
from ..graph.operations import views_in
from .arenas import Arena, Arenas
from .cells import join_cells
from .folding import fold_normalizations
from .instance import Instance
from .joining import join_convolutions
from .lookups import look_up_products
from .memory import lay_out
from .padding import join_padding
from .planes import put_planes_last
from .results import check_out, taken_over
from .simplifying import drop_indices
from .weights import Weights

__all__ = ["CallPlan", "Plan", "Step", "StepPlan", "plan_for"]


@dataclass(frozen=True)
class Step:
    """A step of a program."""

    place: str
    """The module that it is, or those that were joined, such as ``1:Linear + 2:ReLU``."""
    function: str
    """What it calls."""
    shape: tuple[int, ...]
    """The shape of its result."""
    in_place: bool
    """Whether its result has the memory of its input."""
    multiply_adds: int = 0
    """How often it multiplies and adds in convolutions, linear layers and products of matrices."""


class Plan(ABC):
    """Runs a model for inputs of the sizes and types that the examples have."""

    steps: list[Step]
    nbytes: int
    """Memory of one run, beside parameters."""

    def __init__(self, examples: list[Any]) -> None:
        self.examples = copy.deepcopy(examples)
        self._wanted = [_shape_and_type(example) for example in examples]

    def fits(self, inputs: Sequence[Any]) -> bool:
        """Whether inputs are numpy's arrays, and lists of them, like the examples."""
        return len(inputs) == len(self._wanted) and all(map(_is_like, inputs, self._wanted))

    @abstractmethod
    def run(self, inputs: list[Any], out: Any = None) -> Any:
        """The outputs, as arrays that nothing else has; or written to `out`."""

    @abstractmethod
    def profile(self, inputs: list[Any]) -> list[float]:
        """The seconds that each step takes."""


def _shape_and_type(value: Any) -> Any:
    """What _is_like compares an input with."""
    if isinstance(value, list):
        return list(map(_shape_and_type, value))
    return (value.shape, value.dtype) if isinstance(value, np.ndarray) else None


def _is_like(value: Any, wanted: Any) -> bool:
    if type(value) is list:
        same = type(wanted) is list and len(value) == len(wanted)
        return same and all(map(_is_like, value, wanted))
    return type(value) is np.ndarray and (value.shape, value.dtype) == wanted


class StepPlan(Plan):
    """Runs a model as a list of steps, in memory that was planned."""

    def __init__(
        self, model: Any, examples: list[Any], fuse: bool, weights: Weights, arenas: Arenas
    ) -> None:
        super().__init__(examples)
        self._arenas = arenas
        self._graph = lower(model, *examples)
        operations = drop_indices(self._graph.operations)
        if fuse:
            results = views_in(self._graph.outputs)
            operations = fold_normalizations(operations, results, weights)
            operations = join_cells(operations, results, weights)
            operations = look_up_products(operations, results, weights)
            operations = join_padding(operations, results)
            operations = join_convolutions(operations, results)
            if weights.keeps:  # without which layers do not gain from it
                operations = put_planes_last(operations, results)
        self._layout = lay_out(operations, self._graph.inputs, self._graph.outputs)
        self._states = weights.states_of(self._layout.operations)
        self.nbytes = self._layout.nbytes
        self.steps = [
            Step(
                one.place,
                one.function,
                one.writes[0].shape,
                id(one) in self._layout.in_place,
                multiply_adds(one),
            )
            for one in self._layout.operations
        ]

    def _instance(self, arena: Arena) -> Instance:
        return arena.instance(self, self._layout.sizes, self._bound)

    def _bound(self, memory: Mapping[np.dtype[Any], Tensor]) -> Instance:
        return Instance(self._graph, self._layout, self._states, memory)

    def run(self, inputs: list[Any], out: Any = None) -> Any:
        """Runs the steps."""
        with self._arenas.one() as arena:
            instance = self._instance(arena)
            if out is not None:
                instance.check_out(out)
            instance.read(inputs)
            return instance.run(out)

    def profile(self, inputs: list[Any]) -> list[float]:
        """The seconds that each step takes."""
        with self._arenas.one() as arena:
            instance = self._instance(arena)
            instance.read(inputs)
            return instance.times()


class CallPlan(Plan):
    """Calls a model: one whose values are no tensors, or whose sizes depend on numbers."""

    def __init__(self, model: Any, examples: list[Any]) -> None:
        super().__init__(examples)
        self._model = model
        self._idle: list[Any] = []
        result = self.run(examples)
        self.steps = [Step("", f"{model.typename()}.forward", np.shape(_first(result)), False)]
        self.nbytes = 0

    def run(self, inputs: list[Any], out: Any = None) -> Any:
        """Calls a copy of the model."""
        try:
            model = self._idle.pop()
        except IndexError:
            model = copy.deepcopy(self._model)
            model.evaluate()
        try:
            given = copy.deepcopy(inputs)  # which layers may change
            model.forget()
            result = model.forward(given[0] if len(given) == 1 else given)
            check_out(result, out)
            return taken_over(result, out)
        finally:
            self._idle.append(model)

    def profile(self, inputs: list[Any]) -> list[float]:
        """The seconds of the call."""
        begin = time.perf_counter()
        self.run(inputs)
        return [time.perf_counter() - begin]


def _first(result: Any) -> Any:
    return _first(result[0]) if isinstance(result, list) and result else result


def plan_for(model: Any, examples: list[Any], fuse: bool, weights: Weights, arenas: Arenas) -> Plan:
    """The plan of a model for inputs like the examples."""
    if _is_on_host(examples) and model.type() in ("torch.FloatTensor", "torch.DoubleTensor"):
        try:
            return StepPlan(model, examples, fuse, weights, arenas)
        except NotLowerableError:
            pass
    return CallPlan(model, examples)


def _is_on_host(value: Any) -> bool:
    return all(map(_is_on_host, value)) if isinstance(value, list) else not is_on_device(value)

"""The calls of a program on memory for one run."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from .._calls.steps import StepCall, Steps
from .._state import State
from .._tensor import KINDS, Tensor, kind_of_dtype
from ..graph.functions import functions
from ..graph.operations import (
    Buffer,
    Call,
    Constant,
    Graph,
    Kernel,
    Operand,
    Operation,
    Table,
    View,
    views_in,
)
from ..nn.object.values import to_tensors
from .results import Place, check_out, taken_over

if TYPE_CHECKING:
    from .memory import Layout

__all__ = ["Instance", "OtherShapesError"]


class OtherShapesError(Exception):
    """A module gave results of other shapes than for the example: they depend on numbers."""


_LARGE = 4 << 20
"""Bytes from which writing a result where it stays was measured to take less time than copying it:
with 12.8 MB 2 % of a language model's; with 0.8 MB it took as long."""


class Instance:
    """A program's operations, bound to memory that is as large as they need: one run at a time."""

    def __init__(
        self,
        graph: Graph,
        layout: Layout,
        states: Mapping[int, State],
        memory: Mapping[np.dtype[Any], Tensor],
    ) -> None:
        self._layout, self._states, self._memory = layout, states, memory
        self._tensors: dict[View, Tensor] = {}
        self._place = self._large_result(graph)
        self._inputs = [_arrays(self._bound(table)) for table in graph.inputs]
        self._outputs = (
            _arrays(self._bound(graph.outputs)) if self._place is None else self._place.array
        )
        self._runs = self._bound_runs(layout.operations)

    def _root(self, view: View) -> Buffer:
        """The buffer that a view's is a part of; itself where it is no part."""
        return self._layout.parents.get(view.buffer, view.buffer)

    def _large_result(self, graph: Graph) -> Place | None:
        """The place of a large result that is all of its memory, and that only kernels work on."""
        result, operations = graph.outputs, self._layout.operations
        if not isinstance(result, View) or any(isinstance(one, Call) for one in operations):
            return None
        root = self._root(result)
        is_given = any(self._root(view) is root for view in views_in(graph.inputs))
        is_large = result.size * result.dtype.itemsize >= _LARGE
        if is_given or not is_large or not result.is_dense or result.size != root.size:
            return None
        memory, offset = self._memory[root.dtype], self._layout.offsets[root]
        return Place(root, memory.as_strided(result.shape, result.strides, offset))

    def _tensor(self, view: View) -> Tensor:
        if view not in self._tensors:
            offset = self._layout.offsets[view.buffer] + view.offset
            if self._place is not None and self._root(view) is self._place.buffer:
                offset -= self._layout.offsets[self._place.buffer]
                self._tensors[view] = self._place.view(view.shape, view.strides, offset)
            else:
                memory = self._memory[view.dtype]
                self._tensors[view] = memory.as_strided(view.shape, view.strides, offset)
        return self._tensors[view]

    def _bound(self, table: Table) -> Any:
        if isinstance(table, list):
            return [self._bound(entry) for entry in table]
        return self._tensor(table)

    # ---- Operations as calls

    def _bound_runs(self, operations: list[Operation]) -> list[Steps | _ModuleCall]:
        """The operations, those that follow one another in C together."""
        runs: list[Steps | _ModuleCall] = []
        for is_call, group in groupby(operations, lambda one: isinstance(one, Call)):
            if is_call:
                runs += [self._module_call(one) for one in group if isinstance(one, Call)]
            else:
                runs.append(Steps([self._step(one) for one in group if isinstance(one, Kernel)]))
        return runs

    def _module_call(self, operation: Call) -> _ModuleCall:
        inputs, outputs = self._bound(operation.inputs), self._bound(operation.outputs)
        return _ModuleCall(operation.module, inputs, outputs)

    def _step(self, operation: Kernel) -> StepCall:
        arguments = [self._argument(value) for value in operation.arguments]
        if operation.function.startswith("Tensor."):
            name = operation.function.removeprefix("Tensor.")
            return StepCall(f"TH{_type_name(operation.writes[0])}Tensor_{name}", tuple(arguments))
        function = functions[operation.function]
        if id(operation) in self._layout.in_place:
            assert function.inplace is not None  # noqa: S101 (that is how it works in place)
            arguments[function.inplace[0]] = True
        if id(operation) in self._states:
            arguments[0] = self._states[id(operation)]._open()
        real = operation.arguments[function.first_real.place]
        return StepCall(f"THNN_{_type_name(real)}{operation.function}", tuple(arguments))

    def _argument(self, value: Operand) -> Any:
        if isinstance(value, View):
            return self._tensor(value)._open()
        if isinstance(value, Constant):
            return value.value._open()
        return value

    # ---- Running

    def read(self, inputs: list[Any]) -> None:
        """Takes the inputs of a run."""
        _fill(self._inputs, inputs)

    def run(self, out: Any = None) -> Any:
        """Computes; returns the outputs, as arrays that nothing else has, or written to `out`."""
        if self._place is None or out is not None:
            self._run()
            return taken_over(self._outputs, out)
        made = np.empty(self._outputs.shape, self._outputs.dtype)
        with self._place.moved(made):
            self._run()
        return made

    def _run(self) -> None:
        for run in self._runs:
            run.run()

    def times(self) -> list[float]:
        """Computes; returns the seconds that each step took."""
        seconds = []
        for run in self._runs:
            for index in range(len(run)):
                begin = time.perf_counter()
                run.run_one(index)
                seconds.append(time.perf_counter() - begin)
        return seconds

    def check_out(self, out: Any) -> None:
        """Raises THNNArgumentError unless the outputs can be written to `out`."""
        check_out(self._outputs, out)


class _ModuleCall:
    """A call of a module that the instance has for itself."""

    def __init__(self, module: Any, inputs: Any, outputs: Any) -> None:
        self._module = copy.deepcopy(module)
        self._module.evaluate()
        self._inputs, self._outputs = inputs, outputs

    def __len__(self) -> int:
        return 1

    def run(self) -> None:
        """Calls the module."""
        self._module.forget()  # what it remembers of runs before
        _copy_table(self._outputs, to_tensors(self._module.updateOutput(self._inputs)))

    def run_one(self, index: int) -> None:  # noqa: ARG002 (there is one)
        """Calls the module."""
        self.run()


def _type_name(operand: Any) -> str:
    """The name that the C library has for the element type of an operand."""
    kind = kind_of_dtype(operand.dtype if isinstance(operand, View) else operand.value.dtype)
    assert kind is not None  # noqa: S101 (it was a Tensor's)
    return kind.name


def _arrays(tensors: Any) -> Any:
    return list(map(_arrays, tensors)) if isinstance(tensors, list) else tensors.numpy()


def _fill(targets: Any, values: Any) -> None:
    if isinstance(targets, list):
        for target, value in zip(targets, values, strict=True):
            _fill(target, value)
    else:
        targets[...] = values


def _copy_table(targets: Any, results: Any) -> None:
    """Copies what a module gave to where the program has it."""
    if isinstance(targets, list):
        if not isinstance(results, list) or len(results) != len(targets):
            raise OtherShapesError
        for target, result in zip(targets, results, strict=True):
            _copy_table(target, result)
    elif not isinstance(results, Tensor) or results.shape != targets.shape:
        raise OtherShapesError
    else:
        KINDS[targets._kind].call("copy", targets._open(), results._open())

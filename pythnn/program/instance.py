"""Memory for one run of a program, and the calls on it."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .._library import ffi, last_error, native
from .._tensor import KINDS, Tensor, kind_of_dtype
from ..graph.functions import functions
from ..graph.operations import Call, Constant, Graph, Kernel, Operand, Table, View
from ..nn.object.values import to_tensors
from .results import check_out, taken_over

if TYPE_CHECKING:
    from .memory import Layout

__all__ = ["Instance", "OtherShapesError"]


class OtherShapesError(Exception):
    """A module gave results of other shapes than for the example: they depend on numbers."""


class Instance:
    """A program's operations, bound to memory of their own: one run at a time."""

    def __init__(self, graph: Graph, layout: Layout) -> None:
        self._layout = layout
        self._memory = {
            dtype: Tensor.empty(size, dtype=dtype) for dtype, size in layout.sizes.items()
        }
        self._tensors: dict[View, Tensor] = {}
        self._inputs = [_arrays(self._bound(table)) for table in graph.inputs]
        self._outputs = _arrays(self._bound(graph.outputs))
        self._steps = [self._step(operation) for operation in layout.operations]

    def _tensor(self, view: View) -> Tensor:
        if view not in self._tensors:
            offset = self._layout.offsets[view.buffer] + view.offset
            memory = self._memory[view.dtype]
            self._tensors[view] = memory.as_strided(view.shape, view.strides, offset)
        return self._tensors[view]

    def _bound(self, table: Table) -> Any:
        if isinstance(table, list):
            return [self._bound(entry) for entry in table]
        return self._tensor(table)

    # ---- Operations as calls

    def _step(self, operation: Any) -> tuple[Any, tuple[Any, ...]]:
        """A function that returns an error's code, and its arguments."""
        if isinstance(operation, Call):
            return self._call(operation), ()
        if operation.function.startswith("Tensor."):
            return self._on_tensor(operation)
        return self._kernel(operation)

    def _call(self, operation: Call) -> Any:
        module = copy.deepcopy(operation.module)
        module.evaluate()
        inputs, outputs = self._bound(operation.inputs), self._bound(operation.outputs)

        def run() -> int:
            module.forget()  # what it remembers of runs before
            _copy_table(outputs, to_tensors(module.updateOutput(inputs)))
            return native.PYTHNN_OK  # type: ignore[no-any-return]

        return run

    def _on_tensor(self, operation: Kernel) -> tuple[Any, tuple[Any, ...]]:
        kind = kind_of_dtype(operation.writes[0].dtype)
        assert kind is not None  # noqa: S101 (the lowering had a Tensor of it)
        name = operation.function.removeprefix("Tensor.")
        function = getattr(native, f"call_TH{kind.name}Tensor_{name}")
        return function, tuple(map(self._argument, operation.arguments))

    def _kernel(self, operation: Kernel) -> tuple[Any, tuple[Any, ...]]:
        function = functions[operation.function]
        arguments = [self._argument(value) for value in operation.arguments]
        if id(operation) in self._layout.in_place:
            assert function.inplace is not None  # noqa: S101 (that is how it works in place)
            arguments[function.inplace[0]] = True
        real = operation.arguments[function.first_real.place]
        assert isinstance(real, (View, Constant))  # noqa: S101 (it is not optional)
        dtype = real.dtype if isinstance(real, View) else real.value.dtype
        return function.calls[_kind_index(dtype)], tuple(arguments)

    def _argument(self, value: Operand) -> Any:
        if isinstance(value, View):
            return self._tensor(value)._open()
        if isinstance(value, Constant):
            return value.value._open()
        return ffi.NULL if value is None else value

    # ---- Running

    def read(self, inputs: list[Any]) -> None:
        """Takes the inputs of a run."""
        _fill(self._inputs, inputs)

    def run(self) -> None:
        """Computes."""
        for function, arguments in self._steps:
            if function(*arguments):
                raise last_error("Program")

    def times(self) -> list[float]:
        """Computes; returns the seconds that each step took."""
        seconds = []
        for function, arguments in self._steps:
            begin = time.perf_counter()
            if function(*arguments):
                raise last_error("Program")
            seconds.append(time.perf_counter() - begin)
        return seconds

    def results(self, out: Any = None) -> Any:
        """The outputs of a run, as arrays that nothing else has; or written to `out`."""
        return taken_over(self._outputs, out)

    def check_out(self, out: Any) -> None:
        """Raises THNNArgumentError unless the outputs can be written to `out`."""
        check_out(self._outputs, out)


def _kind_index(dtype: np.dtype[Any]) -> int:
    kind = kind_of_dtype(dtype)
    assert kind is not None  # noqa: S101 (Tensors have one)
    return kind.index


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

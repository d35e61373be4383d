"""Following a model: which operations its modules are."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from .._shown import shown_name
from .._tensor import KINDS, Tensor, kind_of_dtype
from ..nn.object.values import to_tensors
from .functions import functions
from .operations import Buffer, Call, Constant, Graph, Kernel, Operand, Operation, Table, View

__all__ = ["Lowering", "NotLowerableError", "lower", "lowers", "name_of", "twin_of"]

Values: TypeAlias = "Tensor | list[Values]"
"""A Tensor or a table of them: what modules exchange."""
Lowerer: TypeAlias = Callable[["Lowering", Any, Any], Any]

_lowerers: dict[type, Lowerer] = {}


def twin_of(module: Any) -> dict[int, Any]:
    """Copies of a module and of all inside, by the id of the original; parameters are shared."""
    parameters, gradients = module.parameterTensors() or ([], [])
    known: dict[int, Any] = {id(tensor): tensor for tensor in (*parameters, *gradients)}
    copy.deepcopy(module, known)
    return known


class NotLowerableError(Exception):
    """A value that modules exchange is no tensor: the model cannot be a list of operations."""


def lowers(*classes: type) -> Callable[[Lowerer], Lowerer]:
    """Registers the function that lowers modules of these classes.

    It also lowers those of classes made of them that compute their output as they do. It gets the
    lowering, the module and its input as Tensors, and returns the output as Tensors.
    """

    def register(lowerer: Lowerer) -> Lowerer:
        for cls in classes:
            _lowerers[cls] = lowerer
        return lowerer

    return register


class _Place:
    """Memory that is known: it stays where it is as long as this knows of it."""

    def __init__(self, tensor: Tensor, view: View) -> None:
        self.buffer = view.buffer
        self.first = tensor.address
        self.end = self.first + view.span * tensor.dtype.itemsize
        self._kept = tensor.as_strided(tensor.shape, tensor.strides, tensor.storage_offset)

    def holds(self, address: int) -> bool:
        """Whether an address is in it; a storage that has grown is somewhere else."""
        return self.first <= address < self.end and self._kept.address == self.first

    def overlaps(self, other: _Place) -> bool:
        """Whether it has memory in common with another."""
        return self.first < other.end and other.first < self.end


class Lowering:
    """Runs modules on Tensors and writes down what they call."""

    def __init__(self, model: Any) -> None:
        self.operations: list[Operation] = []
        self._path: list[str] = []
        self._memory: list[_Place] = []
        """The newest last."""
        self._originals: dict[int, Any] = {}
        """Modules of the model, by the id of the copy that runs."""
        self.copy = self._copy_of(model)

    def _copy_of(self, model: Any) -> Any:
        """A copy of the model in evaluation."""
        twins = twin_of(model)
        self._originals = {
            id(twins[id(one)]): one for one in model.listModules() if id(one) in twins
        }
        twins[id(model)].evaluate()
        return twins[id(model)]

    # ---- Memory

    def view_of(self, tensor: Tensor) -> View | None:
        """The view of known memory that a Tensor is; None for memory that is not known."""
        address = tensor.address
        for known in reversed(self._memory):
            if known.holds(address) and tensor.dtype == known.buffer.dtype:
                offset = (address - known.first) // tensor.dtype.itemsize
                return View(known.buffer, tensor.shape, tensor.strides, offset)
        return None

    def new_view(self, tensor: Tensor) -> View:
        """A Tensor's memory as a buffer of its own, which a step writes for the first time."""
        view = View(Buffer(0, tensor.dtype), tensor.shape, tensor.strides)
        view.buffer.size = view.span
        place = _Place(tensor, view)
        self._memory = [one for one in self._memory if not one.overlaps(place)]
        self._memory.append(place)
        return view

    def view(self, tensor: Tensor) -> View:
        """The view that a Tensor is, of memory that is known or from now on."""
        return self.view_of(tensor) or self.new_view(tensor)

    def table(self, values: Values) -> Table:
        """The views that Tensors in tables are."""
        if isinstance(values, list):
            return [self.table(value) for value in values]
        if not isinstance(values, Tensor):
            raise NotLowerableError(type(values).__name__)
        return self.view(values)

    def is_known(self, values: Values) -> bool:
        """Whether all Tensors in tables are views of known memory."""
        if isinstance(values, list):
            return all(map(self.is_known, values))
        return isinstance(values, Tensor) and self.view_of(values) is not None

    # ---- Operations

    @property
    def place(self) -> str:
        """Where in the model the module is that is being lowered."""
        return ".".join(self._path)

    def kernel(self, name: str, *arguments: Any) -> None:
        """Calls a function of :mod:`pythnn.thnn`, and writes the call down."""
        function = functions[name]
        known = [self._operand(value) for value in arguments]
        function.run(*arguments)
        operands: list[Operand] = []
        reads, writes = [], []
        for argument, value, operand in zip(function.arguments, arguments, known, strict=True):
            taken = operand
            if argument.role == "scratch":
                taken = None
            elif isinstance(value, Tensor):
                if argument.role == "out" or (argument.is_written and isinstance(operand, View)):
                    taken = self.view(value)
                    writes.append(taken)
                if isinstance(taken, View) and argument.role != "out":
                    reads.append(taken)
            operands.append(taken)
        self.operations.append(Kernel(name, operands, reads, writes, self.place))

    def _operand(self, value: Any) -> Operand:
        if not isinstance(value, Tensor):
            return value  # type: ignore[no-any-return]
        return (self.view_of(value) if value.size else None) or Constant(value)

    def on_tensor(self, name: str, output: Tensor, *arguments: Any) -> None:
        """Calls a function of TH's on an output and other Tensors or numbers."""
        known = [self._operand(value) for value in arguments]
        reads = [one for one in known if isinstance(one, View)]
        raw = [one._open() if isinstance(one, Tensor) else one for one in arguments]
        KINDS[output._kind].call(name, output._open(), *raw)
        written = self.view(output)
        self.operations.append(
            Kernel(f"Tensor.{name}", [written, *known], reads, [written], self.place)
        )

    def copied(self, tensor: Tensor) -> Tensor:
        """A contiguous copy of a Tensor."""
        made = Tensor.empty(*tensor.shape, dtype=tensor.dtype)
        self.on_tensor("copy", made, tensor)
        return made

    def module(self, module: Any, x: Any, name: str = "") -> Any:
        """Lowers a module for an input; `name` says where it is in the one that holds it."""
        if name:
            self._path.append(name)
        try:
            return _lowerer_of(type(module))(self, module, x)
        finally:
            if name:
                self._path.pop()

    def recorded(self, module: Any, x: Any) -> Any:
        """Lowers a module by letting it run: what it gives to ``_kernel`` is written down."""
        vars(module)["_kernel"] = self.kernel
        try:
            return module.updateOutput(x)
        finally:
            del vars(module)["_kernel"]

    def original(self, module: Any) -> Any:
        """The module of the model that a copy is of; the copy where it is of none."""
        return self._originals.get(id(module), module)


def _lowerer_of(cls: Any) -> Lowerer:
    """What lowers modules of a class."""
    for base in cls.__mro__:
        if base in _lowerers:
            computes_alike = cls.updateOutput is base.updateOutput
            return _lowerers[base] if computes_alike else called
    return called


def called(lowering: Lowering, module: Any, x: Any) -> Any:
    """Lowers a module to a call of it."""
    inputs = lowering.table(x)
    result = to_tensors(module.updateOutput(x))
    own = _copies(result)
    outputs = lowering.table(own)
    lowering.operations.append(Call(lowering.original(module), inputs, outputs, lowering.place))
    return own


def _copies(values: Any) -> Any:
    """Copies of Tensors in tables, in memory that no module has."""
    if isinstance(values, list):
        return [_copies(value) for value in values]
    if not isinstance(values, Tensor) or not values.size:
        raise NotLowerableError(type(values).__name__)
    return values.clone()


def name_of(module: Any, index: int) -> str:
    """What to call a module in its container: ``3:ReLU``."""
    return f"{index + 1}:{shown_name(module.typename()).removeprefix('nn.')}"


def lower(model: Any, *examples: Any) -> Graph:
    """The operations of a model in evaluation, for inputs like the examples.

    Parameters
    ----------
    model : nn.Module
        It is not changed, and runs nothing: a copy does.
    *examples : array_like, or lists of them
        The input; several are a table. Their shapes and element types count.

    Raises what ``forward`` raises for the examples.
    """
    lowering = Lowering(model)
    given = [_copies(_tensors(example)) for example in examples]
    inputs = [lowering.table(one) for one in given]
    twin = lowering.copy
    result = lowering.module(twin, given[0] if len(given) == 1 else given)
    return Graph(inputs, lowering.table(result), lowering.operations)


def _tensors(value: Any) -> Any:
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_tensors(one) for one in value]
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (int, float)):
        raise NotLowerableError(type(value).__name__)
    array = np.asarray(value)
    if kind_of_dtype(array.dtype) is None or not array.ndim:
        raise NotLowerableError(f"{array.ndim} dimensions of {array.dtype}")
    return Tensor(array)

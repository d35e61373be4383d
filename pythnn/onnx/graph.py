"""The graph that is built, and what writes each class of module into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from .. import nn
from .._shown import shown_name
from .._tensor import Tensor
from ..graph.lowering import twin_of
from ..nn.object.values import to_tensors
from ..t7 import TorchObject

__all__ = [
    "BAKED_IN",
    "OPSET",
    "Graph",
    "NotExportableError",
    "Pooled",
    "States",
    "Table",
    "Value",
    "is_of_any_size",
    "over_rows",
    "values_in",
    "writes",
]

OPSET = 17
"""Of ONNX's default domain. onnxruntime has had it since 2022."""

Array: TypeAlias = NDArray[Any]

NOTHING_LIKE_IT = "ONNX has nothing that computes the same"
BAKED_IN = "the sizes that it was made for are in it"

_OVERLAP_WORK: Any = 10_000
"""What numpy may try to tell whether two views overlap, which few views need any of."""


class NotExportableError(ValueError):
    """A layer has no meaning in ONNX; says which, and where it is in the model."""


class _ValueError(Exception):
    """A value cannot be followed through the layer; says why."""


class Value:
    """A tensor of the graph, with what it holds for the example inputs.

    There is one sample for each example. Dimensions that differ between them are free: they grow
    with the batch, or with the height and width of images.
    """

    def __init__(self, name: str, samples: Sequence[Any], age: int = 0) -> None:
        self.name = name
        self.held = tuple(map(_kept, samples))
        """The samples in the memory that layers write to."""
        if len({sample.ndim for sample in self.held}) > 1:
            raise _ValueError("the number of dimensions of its output depends on sizes")
        self.age = age
        """How many writes to memory had been when it was made."""

    @property
    def samples(self) -> tuple[Array, ...]:
        """Copies of the samples as they are now: some layers work in place."""
        return tuple(np.array(_array(sample)) for sample in self.held)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the first sample."""
        return tuple(self.held[0].shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def is_index(self) -> bool:
        """Whether it holds whole numbers."""
        return bool(self.held[0].dtype.kind == "i")

    @property
    def dims(self) -> list[int]:
        """The sizes; -1 for those that are free."""
        sizes = zip(*(sample.shape for sample in self.held), strict=True)
        return [size[0] if len(set(size)) == 1 else -1 for size in sizes]

    @property
    def named_dims(self) -> list[int | str]:
        """The sizes; names for those that are free, such as batch or output_height."""
        of_image = dict(zip(range(self.ndim - 1, 1, -1), ("width", "height", "time"), strict=False))
        names = {i: f"{self.name}_{of_image.get(i, i)}" for i in range(1, self.ndim)}
        names[0] = "batch"
        return [names[i] if size == -1 else size for i, size in enumerate(self.dims)]

    @property
    def has_free_sizes(self) -> bool:
        """Whether another dimension than the first, the batch, is free."""
        return -1 in self.dims[1:]


def _kept(sample: Any) -> Any:
    """A sample as a Tensor over its own memory; what Tensors cannot be stays an array."""
    if isinstance(sample, Tensor):
        return sample
    array = np.asarray(sample)
    return to_tensors(array) if array.ndim and array.size else array


def _array(sample: Any) -> Array:
    array: Array = sample.numpy() if isinstance(sample, Tensor) else sample
    return array


Table: TypeAlias = "Value | list[Table]"
Writer: TypeAlias = Callable[["Graph", Any, Any], Any]

_writers: dict[type, Writer] = {}
_containers: set[type] = set()
_of_one_size: set[type] = set()


def writes(
    *classes: type, container: bool = False, any_size: bool = True
) -> Callable[[Writer], Writer]:
    """Registers the function that writes modules of these classes and of those made of them.

    It gets the graph, the module and the input, and returns the name of the output, or a list of
    names for a table; that of a container returns values, which its modules gave. Without
    `any_size`, what it writes is right for the sizes of the example alone.
    """

    def register(writer: Writer) -> Writer:
        for cls in classes:
            _writers[cls] = writer
            if container:
                _containers.add(cls)
            if not any_size:
                _of_one_size.add(cls)
        return writer

    return register


def _sample(value: Table, index: int) -> Any:
    if isinstance(value, list):
        return [_sample(entry, index) for entry in value]
    return value.held[index]


def values_in(value: Table) -> list[Value]:
    """The values of a table, of tables in it too."""
    if isinstance(value, list):
        return [one for entry in value for one in values_in(entry)]
    return [value]


def _overlap(one: Any, other: Any) -> bool:
    """Whether two samples share memory."""
    a, b = _array(one), _array(other)
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=_OVERLAP_WORK))
    except RuntimeError:  # too hard to tell
        return True


def _same_memory(one: Array, other: Array) -> bool:
    """Whether two arrays are the same view of the same memory."""
    place, other_place = (a.__array_interface__["data"][0] for a in (one, other))
    return place == other_place and one.shape == other.shape and one.strides == other.strides


def _name_of(module: Any) -> str:
    name = module.torch_class if isinstance(module, TorchObject) else module.typename()
    return shown_name(name)


def _written_class(module: Any) -> Any:
    """The class of a module or the one it is made of that can be written; None for none."""
    return next((cls for cls in type(module).__mro__ if cls in _writers), None)


@dataclass
class Pooled:
    """What a max pooling did, which unpooling undoes."""

    indices: str
    """Where the maxima are in what it pooled."""
    given: Value | str
    """Its input, as a batch."""
    inside: Value | str
    """What it pooled: that, with padding around it where ONNX could not pad."""
    before: list[int]
    """How much of that is in front."""


class States:
    """What the modules of a sequence gave in the step before, by the module of the model."""

    def __init__(self) -> None:
        self._before: dict[int, list[Table]] = {}
        self._originals: dict[int, int] = {}
        self._copies: list[Any] = []  # which keep their ids by being here

    def add(self, twins: dict[int, Any]) -> None:
        """Takes the copies of modules for a step, by the id of the original."""
        self._originals |= {id(made): original for original, made in twins.items()}
        self._copies.append(twins)

    def _key(self, module: Any) -> int:
        return self._originals.get(id(module), id(module))

    def of(self, module: Any) -> list[Table]:
        """The state that a module, or its copy, had; empty before the first step."""
        return self._before.get(self._key(module), [])

    def keep(self, module: Any, state: list[Table]) -> None:
        """Sets the state that a module, or its copy, has."""
        self._before[self._key(module)] = state


def is_of_any_size(module: Any) -> bool:
    """Whether a module and all inside are layers that take images of any size."""
    others = (nn.Linear, nn.Reshape, nn.View, *_of_one_size)
    return not any(isinstance(one, others) for one in module.listModules())


class Graph:
    """Nodes and constants, in the order in which they are computed."""

    def __init__(self, twins: Sequence[dict[int, Any]]) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.pooled: dict[int, Pooled] = {}
        """What each max pooling did, by its id."""
        self.states: States | None = None
        """Of the sequence whose steps are being written."""
        self.pushed: dict[int, Table] = {}
        """What each PushTable took out of its table, by its id."""
        self._twins = twins
        """For each example copies of all modules, by the id of the original."""
        self._others: list[Any] = []
        """Modules that are not of the model, which keep their ids by being here."""
        self._written: list[Value] = []
        """What layers wrote to memory, in order. It stays there, so that no memory is reused."""
        self._path: list[str] = []
        self._count = 0

    def _name(self, stem: str) -> str:
        self._count += 1
        return f"{'.'.join(self._path) or 'model'}.{stem}_{self._count}"

    # ---- Writing

    def op(self, kind: str, *inputs: Value | str, **attributes: Any) -> str:
        """Adds a node with one output, and returns the output's name."""
        return self.ops(kind, 1, *inputs, **attributes)[0]

    def ops(self, kind: str, outputs: int, *inputs: Value | str, **attributes: Any) -> list[str]:
        """Adds a node with several outputs."""
        given = [self.current(i).name if isinstance(i, Value) else i for i in inputs]
        results = [self._name(kind) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, given, results, name=results[0], **attributes))
        return results

    def constant(self, array: Any, dtype: Any = np.float32) -> str:
        """The name of a constant."""
        name = self._name("constant")
        # Larger than float32 holds: infinity. Signalling NaNs stay NaNs.
        with np.errstate(over="ignore", invalid="ignore"):
            content = np.ascontiguousarray(np.asarray(array), dtype)
        self.constants.append(numpy_helper.from_array(content.reshape(np.shape(array)), name))
        return name

    def ints(self, *values: int) -> str:
        """The name of a constant vector of ints."""
        return self.constant(list(values), np.int64)

    def reshape(self, x: Value | str, dims: Sequence[int]) -> str:
        """`x` in another shape; one size may be -1, those of 0 are the input's."""
        return self.op("Reshape", x, self.ints(*dims))

    # ---- Modules

    def refuse(self, module: Any, why: str) -> NotExportableError:
        """The error about a module."""
        place = ".".join(self._path) or "the model itself"
        name = _name_of(module)
        return NotExportableError(f"{name} ({place}) cannot be written to ONNX: {why}")

    def module(self, module: Any, x: Table, name: str = "") -> Table:
        """Writes a module for an input; `name` says where it is in the one that holds it."""
        cls = _written_class(module)
        if name:
            self._path.append(name)
        try:
            if cls is None:
                raise self.refuse(module, NOTHING_LIKE_IT)
            if cls in _of_one_size and any(value.has_free_sizes for value in values_in(x)):
                raise self.refuse(module, f"{BAKED_IN}; leave height and width as in the example")
            if cls in _containers:
                values: Table = _writers[cls](self, module, x)
                return values
            names = _writers[cls](self, module, self._all_current(x))
            return self._run(module, x, names)
        except _ValueError as error:
            raise self.refuse(module, str(error)) from None
        finally:
            if name:
                self._path.pop()

    def check_known(self, module: Any) -> None:
        """Raises the error about the first layer inside a module that ONNX has nothing for."""
        pending, seen = [(module, self._path)], set()
        while pending:
            one, self._path = pending.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            cls = _written_class(one)
            if cls is None:
                raise self.refuse(one, NOTHING_LIKE_IT)
            if cls is nn.Sequencer:
                continue  # what does a step a call is written for all steps at once
            if cls in _containers and isinstance(one, nn.Container):
                inside = [(inner, [*self._path, name]) for name, inner in self.modules(one)]
                pending += reversed(inside)

    def _run(self, module: Any, x: Table, names: Any) -> Table:
        """The values that a module gives, as it does between others: in place, where it does so."""
        twins = [self._twin(known, module) for known in self._twins]
        results = [twin.updateOutput(_sample(x, i)) for i, twin in enumerate(twins)]
        given = [value.held[0] for value in values_in(x)]
        output = self._named(names, results)
        for value in values_in(output):
            views = any(_overlap(value.held[0], one) for one in given)
            if not views or module.field("inplace"):
                self._written.append(value)
            value.age = len(self._written)
        return output

    def _twin(self, known: dict[int, Any], module: Any) -> Any:
        if id(module) not in known:
            known[id(module)] = twin_of(module)[id(module)]
            self._others.append(module)
        return known[id(module)]

    def _named(self, names: Any, samples: Sequence[Any]) -> Table:
        """Values for names and, for each example, what the module gave."""
        if isinstance(names, list):
            return [self._named(name, [s[i] for s in samples]) for i, name in enumerate(names)]
        return Value(names, samples)

    def _all_current(self, x: Table) -> Table:
        if isinstance(x, list):
            return [self._all_current(entry) for entry in x]
        return self.current(x)

    def output(self, module: Any, value: Value) -> Value:
        """A value that the model gives, as it is when all layers have run."""
        try:
            return self.current(value)
        except _ValueError as error:
            raise self.refuse(module, str(error)) from None

    def is_in_memory_of(self, value: Value, other: Value) -> bool:
        """Whether a value is another one, which a layer changes while it reads both."""
        a, b = value.held[0], other.held[0]
        if not _overlap(a, b):
            return False
        if _same_memory(_array(a), _array(b)):
            return True
        raise _ValueError("it changes a part of what it reads")

    def current(self, value: Value) -> Value:
        """A value, or what has since been written in its place.

        Layers that work in place change what others still have to read.
        """
        held = value.held[0]
        for newer in reversed(self._written[value.age :]):
            if not _overlap(newer.held[0], held):
                continue
            if _same_memory(_array(newer.held[0]), _array(held)):
                return Value(newer.name, value.held, len(self._written))
            raise _ValueError("a layer that works in place changed a part of what is read after it")
        return value

    def modules(self, container: Any) -> list[tuple[str, nn.Module]]:
        """The modules of a container and what to call them."""
        return [
            (f"{i}:{_name_of(m).removeprefix('nn.')}", m)
            for i, m in enumerate(container.modules, 1)
        ]

    def finish(self, inputs: list[Value], outputs: list[Value], name: str) -> onnx.ModelProto:
        """The model."""

        def described(value: Value) -> onnx.ValueInfoProto:
            kind = TensorProto.INT64 if value.is_index else TensorProto.FLOAT
            return helper.make_tensor_value_info(value.name, kind, value.named_dims)

        graph = helper.make_graph(
            self.nodes,
            name,
            [described(value) for value in inputs],
            [described(value) for value in outputs],
            initializer=self.constants,
        )
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(graph, opset_imports=[opset], producer_name="pythnn")
        model.ir_version = 8
        onnx.checker.check_model(model)
        return model


def over_rows(g: Graph, module: Any, x: Value, name: str = "1") -> Value:
    """A module for batch x features on what has two dimensions before the features."""
    rows = [sample.reshape(-1, *sample.shape[2:]) for sample in x.samples]
    found: Any = g.module(module, Value(g.reshape(x, [-1, *x.shape[2:]]), rows), name)
    outputs = [
        np.reshape(f, (*sample.shape[:2], *f.shape[1:]))
        for f, sample in zip(found.samples, x.samples, strict=True)
    ]
    return Value(g.reshape(found, [*x.dims[:2], *found.shape[1:]]), outputs)

"""The graph that is built, and what writes each class of module into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from .. import nn

__all__ = ["OPSET", "Graph", "NotExportableError", "Table", "Value", "writes"]

OPSET = 17
"""Of ONNX's default domain. onnxruntime has had it since 2022."""

Array: TypeAlias = NDArray[Any]


class NotExportableError(ValueError):
    """A layer has no meaning in ONNX; says which, and where it is in the model."""


class Value:
    """A tensor of the graph, with what it holds for the example inputs.

    There is one sample for each example batch. Dimensions that differ between them grow with the
    batch.
    """

    def __init__(self, name: str, samples: Sequence[Array]) -> None:
        self.name = name
        self.samples = tuple(np.asarray(sample) for sample in samples)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the first sample."""
        return self.samples[0].shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.samples[0].ndim

    @property
    def dims(self) -> list[int]:
        """The sizes; -1 for those that grow with the batch."""
        sizes = zip(*(sample.shape for sample in self.samples), strict=True)
        return [size[0] if len(set(size)) == 1 else -1 for size in sizes]


Table: TypeAlias = "Value | list[Table]"
Writer: TypeAlias = Callable[["Graph", Any, Any], Any]

_writers: dict[type, Writer] = {}
_containers: set[type] = set()


def writes(*classes: type, container: bool = False) -> Callable[[Writer], Writer]:
    """Registers the function that writes modules of these classes and of those made of them.

    It gets the graph, the module and the input, and returns the name of the output, or a list of
    names for a table; that of a container returns values, which its modules gave.
    """

    def register(writer: Writer) -> Writer:
        for cls in classes:
            _writers[cls] = writer
            if container:
                _containers.add(cls)
        return writer

    return register


def _sample(value: Table, index: int) -> Any:
    if isinstance(value, list):
        return [_sample(entry, index) for entry in value]
    return value.samples[index].copy()  # some modules work in place


def _named(names: Any, samples: Sequence[Any]) -> Table:
    """Values for names and, for each example, what the module gave."""
    if isinstance(names, list):
        return [_named(name, [s[i] for s in samples]) for i, name in enumerate(names)]
    return Value(names, samples)


class Graph:
    """Nodes and constants, in the order in which they are computed."""

    def __init__(self, examples: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.pooled: dict[int, tuple[str, Value | str, Value]] = {}
        """Of each max pooling: the name of its indices, its input as a batch, and its input."""
        self._examples = examples
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
        given = [i.name if isinstance(i, Value) else i for i in inputs]
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
        return NotExportableError(f"{module.typename()} ({place}) cannot be written to ONNX: {why}")

    def module(self, module: Any, x: Table, name: str = "") -> Table:
        """Writes a module for an input; `name` says where it is in the one that holds it."""
        cls = next((c for c in type(module).__mro__ if c in _writers), None)
        if name:
            self._path.append(name)
        try:
            if cls is None:
                raise self.refuse(module, "ONNX has nothing that computes the same")
            if cls in _containers:
                values: Table = _writers[cls](self, module, x)
                return values
            samples = [self._sample_of(module, x, i) for i in range(self._examples)]
            return _named(_writers[cls](self, module, x), samples)
        finally:
            if name:
                self._path.pop()

    def _sample_of(self, module: Any, x: Table, index: int) -> Any:
        """What the module gives for one example."""
        pooling = self.pooled.get(id(module.field("pooling")))
        if pooling is not None:  # unpooling asks it where the maxima of its last input were
            module.pooling.forward(_sample(pooling[2], index))
        return module.forward(_sample(x, index))

    def modules(self, container: Any) -> list[tuple[str, nn.Module]]:
        """The modules of a container and what to call them."""
        return [
            (f"{i}:{m.typename().removeprefix('nn.')}", m)
            for i, m in enumerate(container.modules, 1)
        ]

    def finish(self, inputs: list[Value], outputs: list[Value], name: str) -> onnx.ModelProto:
        """The model."""

        def described(value: Value) -> onnx.ValueInfoProto:
            kind = TensorProto.INT64 if value.samples[0].dtype.kind == "i" else TensorProto.FLOAT
            dims = ["batch" if size < 0 and i == 0 else size for i, size in enumerate(value.dims)]
            shape = [f"{value.name}_{i}" if d == -1 else d for i, d in enumerate(dims)]
            return helper.make_tensor_value_info(value.name, kind, shape)

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

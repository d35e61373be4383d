"""Models of pythnn.nn as ONNX. Needs the package onnx: ``pip install pythnn[onnx]``.

from pythnn import onnx

onnx.save("model.onnx", model, np.zeros((1, 3, 224, 224), np.float32))
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

try:
    import onnx as _onnx
except ImportError as error:
    raise ImportError(
        "pythnn writes ONNX with the package onnx: pip install pythnn[onnx]"
    ) from error

from .._files import replacing
from .._plain import MASKED, UNMASKED, is_masked
from .._tensor import is_on_device, on_host
from . import containers, elementwise, normalisation, products, shaping, windows
from .graph import OPSET, Graph, NotExportableError, Table, Value

__all__ = ["OPSET", "NotExportableError", "save", "to_onnx"]

_FAMILIES = (containers, elementwise, normalisation, products, shaping, windows)  # they register


def _times(example: Any, count: int) -> Any:
    """An example with so many times the batch."""
    if isinstance(example, (list, tuple)):
        return [_times(entry, count) for entry in example]
    return np.concatenate([example] * count)


def _on_host(example: Any) -> Any:
    """An example with its arrays as plain ones in the CPU's memory."""
    if isinstance(example, (list, tuple)):
        return [_on_host(entry) for entry in example]
    if is_masked(example):
        raise ValueError(f"example is {MASKED}; give {UNMASKED}")
    return on_host(example) if is_on_device(example) else np.asarray(example)


def _inputs(example: Any, examples: list[Any], names: list[str]) -> Table:
    if isinstance(example, (list, tuple)):
        return [
            _inputs(entry, [other[i] for other in examples], [f"{names[0]}_{i + 1}"])
            for i, entry in enumerate(example)
        ]
    return Value(names[0], examples)


def _flat(value: Table) -> list[Value]:
    return [v for entry in value for v in _flat(entry)] if isinstance(value, list) else [value]


def to_onnx(module: Any, example: Any, *, dynamic_batch: bool = True) -> _onnx.ModelProto:
    """The model that computes what the module does in evaluation.

    Parameters
    ----------
    module : pythnn.nn.Module
        Is left in evaluation, and where it lies.
    example : array, or list of arrays for a table
        An input. Its shape counts, its values only where they are indices.
    dynamic_batch : bool
        Take any size of the first dimension.

    The model is float32 (indices int64, from 1 as everywhere in pythnn.nn), of opset :data:`OPSET`;
    its inputs are input or input_1, input_2, …, its outputs output or output_1, ….

    Raises :class:`NotExportableError` for a layer that has no meaning in ONNX, with its place in
    the model.
    """
    module.evaluate()
    if module.type().startswith("torch.Cuda"):
        module = module.clone().type(module.dtype)
    example = _on_host(example)
    # Not a batch of one: View and Reshape may take that for none.
    examples = [_times(example, count) for count in (2, 3)] if dynamic_batch else [example]
    x = _inputs(example, examples, ["input"])
    graph = Graph(len(examples))
    found = _flat(graph.module(module, x))
    if not found:
        raise NotExportableError(f"{module.typename()} gives an empty table, which ONNX has not")
    names = ["output"] if len(found) == 1 else [f"output_{i}" for i in range(1, len(found) + 1)]
    outputs = []
    for name, value in zip(names, found, strict=True):
        graph.nodes.append(_onnx.helper.make_node("Identity", [value.name], [name]))
        outputs.append(Value(name, value.samples))
    return graph.finish(_flat(x), outputs, module.typename())


def save(
    path: str | os.PathLike[str], module: Any, example: Any, *, dynamic_batch: bool = True
) -> None:
    """Writes :func:`to_onnx`'s model to a file."""
    model = to_onnx(module, example, dynamic_batch=dynamic_batch)
    with replacing(path) as file:
        file.write(model.SerializeToString())

"""Models of pythnn.nn as ONNX. Needs the package onnx: ``pip install onnx``.

For example::

    from pythnn import onnx

    onnx.save("model.onnx", model, np.zeros((1, 3, 224, 224), np.float32))

The example input says what shape the model takes.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

try:
    import onnx as _onnx
except ImportError as error:
    raise ImportError("pythnn writes ONNX with the package onnx: pip install onnx") from error

from .._errors import THNNError
from .._files import replacing
from .._plain import MASKED, UNMASKED, is_masked
from .._tensor import is_on_device, on_host
from ..graph.lowering import twin_of
from . import (
    containers,
    convolutions,
    elementwise,
    normalisation,
    packages,
    pooling,
    products,
    recurrent,
    shaping,
    steps,
    transformers,
)  # fmt: skip
from .graph import (
    OPSET,
    Graph,
    NotExportableError,
    Table,
    Value,
    is_of_any_size,
    values_in,
)

__all__ = ["OPSET", "NotExportableError", "save", "to_onnx", "write"]

_FAMILIES = (  # they register
    containers, convolutions, elementwise, normalisation, packages, pooling, products, recurrent,
    shaping, steps, transformers,
)  # fmt: skip


# How large images are in the second example: so much larger that all sizes in the model change, and
# as often divisible by two, for models that halve them and put them side by side.
_LARGER: tuple[Callable[[int], int], ...] = (
    lambda size: size + 64,
    lambda size: 2 * size,
)


def _times(example: Any, count: int) -> Any:
    """An example with this multiple of the batch."""
    if isinstance(example, (list, tuple)):
        return [_times(entry, count) for entry in example]
    return np.concatenate([example] * count)


def _first_of_sizes(array: Any, batched: bool) -> int | None:
    """The first dimension of an image's sizes: height, or time of a volume. None for no image."""
    if array.dtype.kind != "f" or array.ndim < 3 + batched:
        return None
    return 2 if array.ndim > 3 else 1


def _has_images(example: Any, batched: bool) -> bool:
    """Whether there is an image in an example; of those without a batch unless `batched`."""
    if isinstance(example, (list, tuple)):
        return any(_has_images(entry, batched) for entry in example)
    return _first_of_sizes(example, batched) is not None


def _enlarged(example: Any, batched: bool, larger: Callable[[int], int]) -> Any:
    """An example whose images are larger."""
    if isinstance(example, (list, tuple)):
        return [_enlarged(entry, batched, larger) for entry in example]
    first = _first_of_sizes(example, batched)
    if first is None:
        return example
    more = [(0, 0)] * first
    more += [(0, larger(size) - size) for size in example.shape[first:]]
    return np.pad(example, more, mode="wrap")


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
    return Value(names[0], [np.array(example) for example in examples])


def to_onnx(
    module: Any, example: Any, *, dynamic_batch: bool = True, dynamic_size: bool | None = None
) -> _onnx.ModelProto:
    """The model that computes what the module does in evaluation.

    Parameters
    ----------
    module : pythnn.nn.Module
        Is left in evaluation, and where it is.
    example : array, or list of arrays for a table
        An input. Its shape counts, its values only where they are indices.
    dynamic_batch : bool
        Take any size of the first dimension.
    dynamic_size : bool, optional
        Take images of any height and width (and volumes of any length): arrays of 4 dimensions or
        more, of 3 without `dynamic_batch`. By default where all layers allow it, as convolutions
        do, and not those that have sizes in them, such as View and Linear.

    The model is float32 (indices int64, from 1 as everywhere in pythnn.nn), of opset :data:`OPSET`;
    its inputs are input or input_1, input_2, …, its outputs output or output_1, ….

    Raises :class:`NotExportableError` for a layer that has no meaning in ONNX, with its place in
    the model, and with `dynamic_size` for one that takes images of one size alone.
    """
    Graph([]).check_known(module)
    module.evaluate()
    if module.type().startswith("torch.Cuda"):
        module = module.clone().type(module.dtype)
    example = _on_host(example)
    # Not a batch of one: View and Reshape may take that for none.
    examples = [_times(example, count) for count in (2, 3)] if dynamic_batch else [example]
    images = _has_images(example, dynamic_batch)
    if dynamic_size and not images:
        raise NotExportableError("the input has no height and width that could be free")
    if dynamic_size:
        return _of_any_size(module, examples, dynamic_batch)
    if dynamic_size is None and images and is_of_any_size(module):
        with suppress(NotExportableError, THNNError):  # told below unless it is about sizes
            return _of_any_size(module, examples, dynamic_batch)
    return _of(module, examples)


def _of_any_size(module: Any, examples: list[Any], batched: bool) -> _onnx.ModelProto:
    refused: Exception | None = None
    for larger in _LARGER:
        try:
            return _of(module, [examples[-1], _enlarged(examples[0], batched, larger)])
        except THNNError as error:
            refused = error
    _of(module, examples)  # whose error is a better one
    raise NotExportableError(
        f"height and width cannot be free: images of another size are refused: {refused}"
    ) from refused


def _of(module: Any, examples: list[Any]) -> _onnx.ModelProto:
    """The model for sizes that differ between the examples."""
    x = _inputs(examples[0], examples, ["input"])
    graph = Graph([twin_of(module) for _ in examples])
    try:
        found = [graph.output(module, value) for value in values_in(graph.module(module, x))]
    except NotExportableError:
        raise
    except Exception:
        for example in examples:
            twin_of(module)[id(module)].forward(copy.deepcopy(example))  # a clearer error
        raise
    if not found:
        raise NotExportableError(f"{module.typename()} gives an empty table, which ONNX has not")
    names = ["output"] if len(found) == 1 else [f"output_{i}" for i in range(1, len(found) + 1)]
    outputs = []
    for name, value in zip(names, found, strict=True):
        graph.nodes.append(_onnx.helper.make_node("Identity", [value.name], [name]))
        outputs.append(Value(name, value.held))
    return graph.finish(values_in(x), outputs, module.typename())


def save(
    path: str | os.PathLike[str],
    module: Any,
    example: Any,
    *,
    dynamic_batch: bool = True,
    dynamic_size: bool | None = None,
) -> None:
    """Writes :func:`to_onnx`'s model to a file."""
    write(path, to_onnx(module, example, dynamic_batch=dynamic_batch, dynamic_size=dynamic_size))


def write(path: str | os.PathLike[str], model: _onnx.ModelProto) -> None:
    """Writes a model to a file, which is replaced when it is complete."""
    with replacing(path) as file:
        file.write(model.SerializeToString())

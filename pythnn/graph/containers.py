"""Lowerings of containers: their modules follow one another, or stand side by side."""

from __future__ import annotations

from typing import Any

from .. import nn
from .._errors import THNNError
from .._tensor import Tensor
from .lowering import Lowering, called, lowers, name_of


def _module(lowering: Lowering, container: Any, index: int, x: Any) -> Any:
    module = container.modules[index]
    try:
        return lowering.module(module, x, name_of(module, index))
    except THNNError as error:
        container.locate(error, index)
        raise


@lowers(nn.Sequential)
def _sequential(lowering: Lowering, container: Any, x: Any) -> Any:
    for index in range(len(container.modules)):
        x = _module(lowering, container, index, x)
    return x


@lowers(nn.Decorator, nn.DataParallelTable, nn.GPU)
def _decorator(lowering: Lowering, container: Any, x: Any) -> Any:
    if len(container.modules) != 1:
        return called(lowering, container, x)
    return _module(lowering, container, 0, x)


@lowers(nn.ConcatTable)
def _concat_table(lowering: Lowering, container: Any, x: Any) -> Any:
    return [_module(lowering, container, i, x) for i in range(len(container.modules))]


@lowers(nn.ParallelTable)
def _parallel_table(lowering: Lowering, container: Any, x: Any) -> Any:
    if not isinstance(x, list) or len(x) < len(container.modules):
        return called(lowering, container, x)
    return [_module(lowering, container, i, x[i]) for i in range(len(container.modules))]


@lowers(nn.MapTable)
def _map_table(lowering: Lowering, container: Any, x: Any) -> Any:
    if not isinstance(x, list) or not container.modules:
        return called(lowering, container, x)
    container.resize(max(len(x), len(container.modules)))
    return [_module(lowering, container, i, one) for i, one in enumerate(x)]


@lowers(nn.Concat)
def _concat(lowering: Lowering, container: Any, x: Any) -> Any:
    parts = [_module(lowering, container, i, x) for i in range(len(container.modules))]
    return joined(lowering, parts, container.dimension - 1)


@lowers(nn.DepthConcat)
def _depth_concat(lowering: Lowering, container: Any, x: Any) -> Any:
    parts = [_module(lowering, container, i, x) for i in range(len(container.modules))]
    whole = Tensor.empty(*container.extent(parts), dtype=parts[0].dtype)
    lowering.on_tensor("zero", whole)
    start = 0
    for part in parts:
        lowering.on_tensor("copy", container.window(whole, part, start), part)
        start += part.shape[container.dimension - 1]
    return whole


@lowers(nn.Parallel)
def _parallel(lowering: Lowering, container: Any, x: Any) -> Any:
    before = len(lowering.operations)
    if isinstance(x, Tensor):
        slices = container.inputs(x)
        parts = [_module(lowering, container, i, one) for i, one in enumerate(slices)]
        if can_join(parts, container.outputDimension - 1):
            return joined(lowering, parts, container.outputDimension - 1)
        del lowering.operations[before:]
    return called(lowering, container, x)


@lowers(nn.Bottle)
def _bottle(lowering: Lowering, container: Any, x: Any) -> Any:
    before = len(lowering.operations)
    if isinstance(x, Tensor):
        inside = container.modules[0]
        name = name_of(inside, 0)
        if x.ndim <= container.nInputDim:
            return lowering.module(inside, x, name)
        dense = x if x.is_contiguous else lowering.copied(x)
        output = lowering.module(inside, container._squashed(dense), name)
        if isinstance(output, Tensor):
            output = output if output.is_contiguous else lowering.copied(output)
            return output.view(*container._outer(x)[:-1], -1, *output.shape[1:])
        del lowering.operations[before:]
    return called(lowering, container, x)


@lowers(nn.CReLU)
def _both_signs(lowering: Lowering, container: Any, x: Any) -> Any:
    if not isinstance(x, Tensor):
        return called(lowering, container, x)
    is_batch = x.ndim > container.nInputDims
    output = _sequential(lowering, container, x if is_batch else x.unsqueeze(0))
    return output if is_batch else output.select(0, 0)


@lowers(nn.LayerNormalization)
def _layer_normalization(lowering: Lowering, container: Any, x: Any) -> Any:
    if not isinstance(x, Tensor) or x.shape[-1] != container.features:
        return called(lowering, container, x)
    return _sequential(lowering, container, x)


@lowers(nn.WeightNorm)
def _weight_norm(lowering: Lowering, container: Any, x: Any) -> Any:
    if container._weight_is_scratch:
        container.updateWeight()
    return _module(lowering, container, 0, x)


@lowers(nn.gModule)
def _graph(lowering: Lowering, container: Any, x: Any) -> Any:
    def run(index: int, value: Any) -> Any:
        return _module(lowering, container, index, value)

    return container.follow(x, run)[-1]


def can_join(parts: Any, axis: int) -> bool:
    """Whether values are Tensors of one type, and of one shape but for an axis."""
    if not parts or not all(isinstance(one, Tensor) and axis < one.ndim for one in parts):
        return False
    shapes = {(one.dtype, one.shape[:axis] + one.shape[axis + 1 :]) for one in parts}
    return len(shapes) == 1


def joined(lowering: Lowering, parts: list[Tensor], axis: int) -> Tensor:
    """The parts, one after the other along an axis, in new memory."""
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    whole = Tensor.empty(*shape, dtype=parts[0].dtype)
    lowering.view(whole)
    start = 0
    for part in parts:
        size = part.shape[axis]
        lowering.on_tensor("copy", whole.narrow(axis, start, size), part)
        start += size
    return whole

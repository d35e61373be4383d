"""Lowerings of layers that arrange elements anew."""

from __future__ import annotations

from typing import Any

from .. import nn
from .._tensor import Tensor
from .lowering import Lowering, called, lowers


@lowers(nn.Padding)
def _padded(lowering: Lowering, module: Any, x: Any) -> Any:
    if not isinstance(x, Tensor) or not module.pad:
        return called(lowering, module, x)
    axis, before = module._place(x)
    more, size = abs(module.pad), x.shape[axis]
    shape = list(x.shape)
    shape[axis] += more
    output = Tensor.empty(*shape, dtype=x.dtype)
    lowering.view(output)
    lowering.on_tensor("fill", output.narrow(axis, before, more), module.value)
    for start, count, target in ((0, before, 0), (before, size - before, before + more)):
        if count:
            part = x.narrow(axis, start, count)
            lowering.on_tensor("copy", output.narrow(axis, target, count), part)
    return output


@lowers(nn.PixelShuffle)
def _shuffled(lowering: Lowering, module: Any, x: Any) -> Any:
    factor = module.upscaleFactor
    if not isinstance(x, Tensor) or x.ndim not in (3, 4) or x.shape[-3] % factor**2:
        return called(lowering, module, x)
    *batch, planes, height, width = x.shape
    dense = x if x.is_contiguous else lowering.copied(x)
    parts = dense.view(-1, factor, factor, height, width)
    order = (0, 3, 1, 4, 2)
    moved = parts.as_strided(
        [parts.shape[i] for i in order], [parts.strides[i] for i in order], parts.storage_offset
    )
    shape = (*batch, planes // factor**2, height * factor, width * factor)
    return lowering.copied(moved).view(*shape)


@lowers(nn.Constant)
def _constant(lowering: Lowering, module: Any, x: Any) -> Any:
    value = module.tensors.value
    if module.nInputDim is not None and isinstance(x, Tensor) and x.ndim > module.nInputDim:
        value = value.unsqueeze(0).expand(x.shape[0], *value.shape)
    return lowering.copied(value)

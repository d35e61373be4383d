"""Lowerings of layers on tables, and of arithmetic with one number."""

from __future__ import annotations

from typing import Any

from .. import nn
from .._tensor import Tensor
from ..nn.object.values import works_in_place
from .containers import can_join, joined
from .lowering import Lowering, called, lowers


def _entries(x: Any) -> list[Tensor] | None:
    """The entries of a table of Tensors of one shape and type, at least two; else None."""
    if not isinstance(x, list) or len(x) < 2 or not all(isinstance(one, Tensor) for one in x):
        return None
    if len({(one.shape, one.dtype) for one in x}) > 1 or x[0].dtype.kind != "f":
        return None
    return x


@lowers(nn.CAddTable)
def _sum(lowering: Lowering, module: Any, x: Any) -> Any:
    entries = _entries(x)
    if entries is None:
        return called(lowering, module, x)
    total = entries[0] if works_in_place(module, entries[0]) else lowering.copied(entries[0])
    for entry in entries[1:]:
        lowering.on_tensor("cadd", total, total, 1, entry)
    return total


@lowers(nn.CSubTable)
def _difference(lowering: Lowering, module: Any, x: Any) -> Any:
    entries = _entries(x)
    if entries is None or len(entries) > 2:
        return called(lowering, module, x)
    difference = lowering.copied(entries[0])
    lowering.on_tensor("cadd", difference, difference, -1, entries[1])
    return difference


@lowers(nn.CMulTable)
def _product(lowering: Lowering, module: Any, x: Any) -> Any:
    entries = _entries(x)
    if entries is None:
        return called(lowering, module, x)
    product = lowering.copied(entries[0])
    for entry in entries[1:]:
        lowering.on_tensor("cmul", product, product, entry)
    return product


@lowers(nn.CDivTable)
def _quotient(lowering: Lowering, module: Any, x: Any) -> Any:
    entries = _entries(x)
    if entries is None or len(entries) > 2:
        return called(lowering, module, x)
    quotient = Tensor.empty(*entries[0].shape, dtype=entries[0].dtype)
    lowering.on_tensor("cdiv", quotient, *entries)
    return quotient


@lowers(nn.CMaxTable, nn.CMinTable)
def _extreme(lowering: Lowering, module: Any, x: Any) -> Any:
    entries = _entries(x)
    if entries is None:
        return called(lowering, module, x)
    together = joined(lowering, [entry.unsqueeze(0) for entry in entries], 0)
    output = Tensor.empty(*entries[0].shape, dtype=entries[0].dtype)
    mode = 2 if isinstance(module, nn.CMaxTable) else 3
    lowering.kernel("Reduction_updateOutput", None, together, output, None, 1, False, mode)
    return output


@lowers(nn.JoinTable)
def _join(lowering: Lowering, module: Any, x: Any) -> Any:
    if isinstance(x, list) and x and all(isinstance(one, Tensor) for one in x):
        axis = module._axis(x)
        if can_join(x, axis):
            return joined(lowering, x, axis)
    return called(lowering, module, x)


def _with_number(lowering: Lowering, module: Any, x: Any, function: str, number: float) -> Any:
    if not isinstance(x, Tensor) or x.dtype.kind != "f":
        return called(lowering, module, x)
    output = x
    if not works_in_place(module, x):
        output = Tensor.empty(*x.shape, dtype=x.dtype)
    lowering.on_tensor(function, output, x, number)
    return output


@lowers(nn.MulConstant)
def _scaled(lowering: Lowering, module: Any, x: Any) -> Any:
    if not isinstance(module.constant_scalar, (int, float)):
        return called(lowering, module, x)
    return _with_number(lowering, module, x, "mul", module.constant_scalar)


@lowers(nn.AddConstant)
def _shifted(lowering: Lowering, module: Any, x: Any) -> Any:
    if not isinstance(module.constant_scalar, (int, float)):
        return called(lowering, module, x)
    return _with_number(lowering, module, x, "add", module.constant_scalar)


@lowers(nn.SpatialZeroPadding)
def _zeros_around(lowering: Lowering, module: Any, x: Any) -> Any:
    if not isinstance(x, Tensor) or x.dtype.kind != "f" or x.ndim < 2:
        return called(lowering, module, x)
    height, width = x.shape[-2:]
    top, bottom = module.pad_t, module.pad_b
    left, right = module.pad_l, module.pad_r
    if min(height + top + bottom, width + left + right) < 1:
        return called(lowering, module, x)
    shape = (*x.shape[:-2], height + top + bottom, width + left + right)
    output = Tensor.empty(*shape, dtype=x.dtype)
    lowering.on_tensor("zero", output)
    target, source = output, x
    for axis, before, after in ((-2, top, bottom), (-1, left, right)):
        size = source.shape[axis]
        first, last = max(-before, 0), max(-after, 0)
        source = source.narrow(axis, first, size - first - last)
        target = target.narrow(axis, max(before, 0), size - first - last)
    lowering.on_tensor("copy", target, source)
    return output

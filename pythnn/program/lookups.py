"""Products of rows that are looked up, which are looked up themselves.

A linear layer makes the same of a row each time. That also holds for the rows of units that OneHot
takes. The numbers are those of the layer, but for rounding errors.
"""

from __future__ import annotations

from collections.abc import Iterable

from .. import thnn
from .._tensor import Tensor
from ..graph.operations import Buffer, Constant, Kernel, Operation, View
from .uses import argument, users
from .weights import Weights

__all__ = ["look_up_products"]

_LOOKUP = "LookupTable_updateOutput"
_ROWS = {"Linear_updateOutput": "input", "Linear_updateGradInput": "gradOutput"}
"""Functions of linear layers, and the argument whose rows they multiply."""
_MOST_TIMES = 4
"""How many times as many elements as table and weight their product may have: layers of 3x3 taps
keep as many times their weights, 36 coefficients for 9 taps."""
_MOST_BYTES = 128 << 20
"""Bytes that a product may have: fewer than AlexNet's largest layer keeps (151 MB)."""


def look_up_products(
    operations: list[Operation], results: Iterable[View], weights: Weights
) -> list[Operation]:
    """The operations; linear layers that read rows of tables look up their results.

    The tables of results are made once for all sizes of inputs, where they are not too large.
    """
    kept = list(operations)
    read_later = {view.buffer for view in results}
    for lookup in operations:
        if not isinstance(lookup, Kernel) or lookup.function != _LOOKUP:
            continue
        buffer = lookup.writes[0].buffer
        for layer in users(kept)[buffer][1:]:
            if not isinstance(layer, Kernel) or not _is_product(layer, lookup, weights.keeps):
                continue
            index = _index_of(layer, lookup)
            if index is not None and _stay(kept, lookup, layer, {buffer, index.buffer}):
                kept[kept.index(layer)] = _looked_up(layer, lookup, index, weights)
        if users(kept)[buffer] == [lookup] and buffer not in read_later:
            kept.remove(lookup)
    return kept


def _is_product(layer: Kernel, lookup: Kernel, keeps: bool) -> bool:
    """Whether a layer multiplies rows of a table, and there is room for its results of all rows."""
    if layer.function not in _ROWS or not lookup.writes[0].is_whole:
        return False
    table, weight, bias = argument(lookup, "weight"), *_parameters(layer)
    if not isinstance(table, Constant) or not isinstance(weight, Constant):
        return False
    if not (bias is None or isinstance(bias, Constant)):
        return False
    made = layer.writes[0]
    size = table.value.shape[0] * made.shape[-1]
    most = (_MOST_TIMES if keeps else 1) * (table.value.size + weight.value.size)
    return size <= most and size * made.dtype.itemsize <= _MOST_BYTES


def _parameters(layer: Kernel) -> tuple[Constant, Constant | None]:
    return argument(layer, "weight"), argument(layer, "bias")


def _index_of(layer: Kernel, lookup: Kernel) -> View | None:
    """The indices of the rows that a layer reads; None if it reads something else."""
    index, columns = lookup.reads[0], lookup.writes[0].shape[-1]
    rows = argument(layer, _ROWS[layer.function])
    *sizes, width = rows.shape
    *steps, step = rows.strides
    is_whole = width == columns and step == 1 and len(sizes) <= 1 and index.is_dense
    if not is_whole or any(one % columns for one in (*steps, rows.offset)):
        return None
    strides = tuple(one // columns for one in steps) or (1,)
    return View(index.buffer, tuple(sizes) or (1,), strides, index.offset + rows.offset // columns)


def _stay(kept: list[Operation], lookup: Kernel, layer: Kernel, buffers: set[Buffer]) -> bool:
    """Whether rows and indices are still the same when a layer reads them, and after it."""
    between = kept[kept.index(lookup) + 1 : kept.index(layer) + 1]
    return all(view.buffer not in buffers for one in between for view in one.writes)


def _looked_up(layer: Kernel, lookup: Kernel, index: View, weights: Weights) -> Kernel:
    """What looks up the results of a layer."""
    table, made = argument(lookup, "weight").value, layer.writes[0]
    parameters = [one.value for one in _parameters(layer) if one is not None]
    results = weights.table(
        [table, *parameters],
        (_LOOKUP, layer.function),
        lambda: _results(layer, table, made.shape[-1]),
    )
    strides = made.strides if len(made.shape) == 2 else (made.size, *made.strides)
    output = View(made.buffer, (*index.shape, made.shape[-1]), strides, made.offset)
    place = f"{lookup.place} + {layer.place.rpartition('.')[2]}"
    return Kernel(_LOOKUP, [None, index, results, output], [index], [output], place)


def _results(layer: Kernel, table: Tensor, outputs: int) -> Constant:
    """The results of a layer for all rows of a table."""
    weight, bias = _parameters(layer)
    made = Tensor.empty(table.shape[0], outputs, dtype=table.dtype)
    if layer.function == "Linear_updateOutput":
        start = None if bias is None else bias.value
        thnn.Linear_updateOutput(None, table, made, weight.value, start, None)
    else:
        thnn.Linear_updateGradInput(None, made, table, made, weight.value)
    return Constant(made)

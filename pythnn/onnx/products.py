"""Linear layers, tables of vectors, sums, products and distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nn
from ..nn.linear.cosine import SMALL
from ..nn.object.values import works_in_place
from .graph import BAKED_IN, Graph, Value, writes


@writes(nn.Linear, nn.LinearWeightNorm)
def _linear(g: Graph, m: Any, x: Value) -> str:
    product = g.op("MatMul", x, g.constant(m.weight.T))
    return product if m.bias is None else g.op("Add", product, g.constant(m.bias))


@writes(nn.LookupTable)
def _lookup(g: Graph, m: Any, x: Value) -> str:
    if m.maxNorm is not None:
        m.forward(x.samples[0])  # shrinks the rows that the example names
    indices = g.op("Sub", g.op("Cast", x, to=7), g.constant(1, np.int64))
    return g.op("Gather", g.constant(m.weight), indices, axis=0)


def _like_sample(parameter: Any, x: Value) -> Any:
    """A parameter in a shape that broadcasts to the input as the layer does."""
    if parameter.size == int(np.prod(x.shape[1:])) and x.ndim > 1:
        return parameter.reshape(x.shape[1:])
    return parameter if parameter.ndim == x.ndim else parameter.reshape(1, *parameter.shape)


@writes(nn.Add, nn.CAdd)
def _add(g: Graph, m: Any, x: Value) -> str:
    return g.op("Add", x, g.constant(_like_sample(m.bias, x)))


@writes(nn.Mul)
def _mul(g: Graph, m: Any, x: Value) -> str:
    return g.op("Mul", x, g.constant(m.weight[0]))


@writes(nn.CMul)
def _cmul(g: Graph, m: Any, x: Value) -> str:
    return g.op("Mul", x, g.constant(_like_sample(m.weight, x)))


@writes(nn.Sum, nn.Max, nn.Min)
def _reduction(g: Graph, m: Any, x: Value) -> str:
    axis = m._axis(x.samples[0])
    kept = int(np.ndim(m.forward(x.samples[0])) == x.ndim)
    if isinstance(m, nn.Sum):
        if m.sizeAverage:
            return g.op("ReduceMean", x, axes=[axis], keepdims=kept)
        return g.op("ReduceSum", x, g.ints(axis), keepdims=kept)
    kind = "ReduceMax" if isinstance(m, nn.Max) else "ReduceMin"
    return g.op(kind, x, axes=[axis], keepdims=kept)


def _turned(g: Graph, x: Value) -> str:
    """The last two dimensions changed."""
    order = list(range(x.ndim))
    order[-2:] = order[:-3:-1]
    return g.op("Transpose", x, perm=order)


@writes(nn.MM)
def _mm(g: Graph, m: Any, x: list[Value]) -> str:
    first = _turned(g, x[0]) if m.transA else x[0]
    return g.op("MatMul", first, _turned(g, x[1]) if m.transB else x[1])


@writes(nn.MV)
def _mv(g: Graph, m: Any, x: list[Value]) -> str:
    matrix = _turned(g, x[0]) if m.trans else x[0]
    axis = g.ints(-1)
    return g.op("Squeeze", g.op("MatMul", matrix, g.op("Unsqueeze", x[1], axis)), axis)


def _sum(g: Graph, x: str, axis: int, keep: bool = False) -> str:
    return g.op("ReduceSum", x, g.ints(axis), keepdims=int(keep))


def _as_vector(g: Graph, m: Any, x: list[Value], result: str) -> str:
    """One number for each pair, as the layer shapes it."""
    shape = Value("", [m.forward([e.samples[i] for e in x]) for i in range(len(x[0].samples))])
    return g.reshape(result, shape.dims)


@writes(nn.DotProduct)
def _dot(g: Graph, m: Any, x: list[Value]) -> str:
    return _as_vector(g, m, x, _sum(g, g.op("Mul", *x), -1))


@writes(nn.CosineDistance)
def _cosine_distance(g: Graph, m: Any, x: list[Value]) -> str:
    product = _sum(g, g.op("Mul", *x), -1)
    squares = [g.op("ReduceSumSquare", entry, axes=[-1], keepdims=0) for entry in x]
    lengths = [g.op("Sqrt", g.op("Add", one, g.constant(SMALL))) for one in squares]
    return _as_vector(g, m, x, g.op("Div", product, g.op("Mul", *lengths)))


@writes(nn.PairwiseDistance)
def _pairwise(g: Graph, m: Any, x: list[Value]) -> str:
    power = g.op("Pow", g.op("Abs", g.op("Sub", *x)), g.constant(m.norm))
    root = g.op("Pow", _sum(g, power, -1), g.constant(1 / m.norm))
    return _as_vector(g, m, x, root)


@writes(nn.Cosine)
def _cosine(g: Graph, m: Any, x: Value) -> str:
    lengths = np.linalg.norm(m.weight, axis=1, keepdims=True) + SMALL
    rows = g.op("MatMul", x, g.constant((m.weight / lengths).T))
    own_length = g.op("Add", g.op("ReduceL2", x, axes=[-1], keepdims=1), g.constant(SMALL))
    return g.op("Div", rows, own_length)


@writes(nn.Euclidean)
def _euclidean(g: Graph, m: Any, x: Value) -> str:
    centres = g.constant(m.weight.T)
    difference = g.op("Sub", g.op("Unsqueeze", x, g.ints(-2)), centres)
    return g.op("ReduceL2", difference, axes=[-1], keepdims=0)


@writes(nn.WeightedEuclidean)
def _weighted_euclidean(g: Graph, m: Any, x: Value) -> str:
    difference = g.op("Sub", g.op("Unsqueeze", x, g.ints(-2)), g.constant(m.weight.T))
    weighted = g.op("Mul", difference, g.constant(m.diagCov.T))
    return g.op("ReduceL2", weighted, axes=[-1], keepdims=0)


@writes(nn.Bilinear)
def _bilinear(g: Graph, m: Any, x: list[Value]) -> str:
    product = g.op("Einsum", x[0], g.constant(m.weight), x[1], equation="ni,oij,nj->no")
    return product if m.bias is None else g.op("Add", product, g.constant(m.bias))


# ---- Tables

_CHAINS = {nn.CAddTable: "Add", nn.CMulTable: "Mul", nn.CMaxTable: "Max", nn.CMinTable: "Min"}


@writes(*_CHAINS, nn.CSubTable, nn.CDivTable)
def _elementwise_table(g: Graph, m: Any, x: list[Value]) -> str:
    names = {**_CHAINS, nn.CSubTable: "Sub", nn.CDivTable: "Div"}
    if len(x) == 1:
        return g.op("Identity", x[0])

    def laid_out(entry: Value) -> Value | str:
        """The elements in the order of the first entry's, whatever the shape."""
        shapes = zip(entry.held, x[0].held, strict=True)
        if all(mine.shape == first.shape for mine, first in shapes):
            return entry
        if x[0].dims.count(-1) > 1:
            raise g.refuse(m, f"{BAKED_IN}: its entries have different shapes")
        return g.reshape(entry, x[0].dims)

    total: Value | str = x[0]
    in_place = m.field("inplace") and works_in_place(m, x[0].held[0])
    for entry in x[1:]:
        # In place, an entry in the memory of the first one is the sum so far.
        adds_itself = in_place and g.is_in_memory_of(entry, x[0])
        total = g.op(names[type(m)], total, total if adds_itself else laid_out(entry))
    return str(total)


@writes(nn.CAddTensorTable)
def _add_to_each(g: Graph, _: Any, x: list[Any]) -> list[str]:
    return [g.op("Add", x[0], entry) for entry in x[1]]


@writes(nn.MixtureTable, any_size=False)
def _mixture(g: Graph, m: Any, x: list[Any]) -> str:
    gater, experts = x
    axis = gater.ndim - 1
    if isinstance(experts, list):
        samples = [
            np.stack([e.samples[i] for e in experts], axis) for i in range(len(gater.samples))
        ]
        parts = [g.op("Unsqueeze", expert, g.ints(axis)) for expert in experts]
        experts = Value(g.op("Concat", *parts, axis=axis), samples)
    elif m.dim is not None:
        axis = m.dim - 1
    shape = [1] * experts.ndim
    if gater.ndim == 2:
        shape[0] = 0
    shape[axis] = gater.shape[-1]
    if gater.ndim == 2 and axis != 1:
        gates = g.op("Unsqueeze", gater, g.ints(*range(1, axis)))
        return _weighted_sum(g, gates, experts, axis, experts.ndim - axis - 1)
    return _weighted_sum(g, gater.name, experts, axis, experts.ndim - gater.ndim)


def _weighted_sum(g: Graph, gates: str, experts: Value, axis: int, after: int) -> str:
    if after:
        gates = g.op("Unsqueeze", gates, g.ints(*range(-after, 0)))
    return _sum(g, g.op("Mul", gates, experts), axis)

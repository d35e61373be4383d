"""Modules made of modules."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nn
from ..graph.lowering import twin_of
from .graph import BAKED_IN, Graph, Table, Value, writes


@writes(nn.Sequential, container=True)
def _sequential(g: Graph, m: Any, x: Table) -> Table:
    for name, module in g.modules(m):
        x = g.module(module, x, name)
    return x


@writes(nn.ConcatTable, container=True)
def _concat_table(g: Graph, m: Any, x: Table) -> Table:
    return [g.module(module, x, name) for name, module in g.modules(m)]


@writes(nn.ParallelTable, container=True)
def _parallel_table(g: Graph, m: Any, x: list[Table]) -> Table:
    pairs = zip(g.modules(m), x, strict=False)
    return [g.module(module, entry, name) for (name, module), entry in pairs]


@writes(nn.MapTable, container=True)
def _map_table(g: Graph, m: Any, x: list[Table]) -> Table:
    """Each entry has a copy of the module, with an output of its own."""
    copies = [twin_of(m.module)[id(m.module)] for _ in x]
    pairs = zip(copies, x, strict=True)
    return [g.module(module, entry, f"{i}:module") for i, (module, entry) in enumerate(pairs, 1)]


def _joined(g: Graph, values: list[Any], axis: int) -> Value:
    samples = zip(*(value.samples for value in values), strict=True)
    name = g.op("Concat", *values, axis=axis)
    return Value(name, [np.concatenate(parts, axis) for parts in samples])


@writes(nn.Concat, container=True)
def _concat(g: Graph, m: Any, x: Table) -> Table:
    branches: list[Any] = [g.module(module, x, name) for name, module in g.modules(m)]
    return _joined(g, branches, m.dimension - 1)


@writes(nn.DepthConcat, container=True)
def _depth_concat(g: Graph, m: Any, x: Table) -> Table:
    """Smaller branches are in the middle of zeros."""
    branches: list[Any] = [g.module(module, x, name) for name, module in g.modules(m)]
    axis = m.dimension - 1
    largest = np.max([b.shape for b in branches], axis=0)
    if any(branch.has_free_sizes and branch.dims != branches[0].dims for branch in branches):
        raise g.refuse(m, f"{BAKED_IN}; leave height and width as in the example")
    padded = []
    for branch in branches:
        missing = [
            0 if a <= axis else n - s
            for a, (n, s) in enumerate(zip(largest, branch.shape, strict=True))
        ]
        before = [n // 2 for n in missing]
        after = [n - b for n, b in zip(missing, before, strict=True)]
        if any(missing):
            name = g.op("Pad", branch, g.ints(*before, *after), g.constant(0.0), mode="constant")
            pads = list(zip(before, after, strict=True))
            branch = Value(name, [np.pad(sample, pads) for sample in branch.samples])
        padded.append(branch)
    return _joined(g, padded, axis)


@writes(nn.Parallel, container=True)
def _parallel(g: Graph, m: Any, x: Value) -> Table:
    axis = m.inputDimension - 1
    branches: list[Any] = []
    for i, (name, module) in enumerate(g.modules(m)):
        part = g.op("Gather", x, g.constant(i, np.int64), axis=axis)
        value = Value(part, [np.take(sample, i, axis) for sample in x.samples])
        branches.append(g.module(module, value, name))
    return _joined(g, branches, m.outputDimension - 1)


@writes(nn.Bottle, container=True, any_size=False)
def _bottle(g: Graph, m: Any, x: Value) -> Table:
    """The first dimensions as one, for the module."""
    inner = m.modules[0]
    if x.ndim <= m.nInputDim:
        return g.module(inner, x, "1")
    kept = x.ndim - m.nInputDim + 1
    rows = [sample.reshape(-1, *sample.shape[kept:]) for sample in x.samples]
    flat = Value(g.reshape(x, [-1, *x.shape[kept:]]), rows)
    found: Any = g.module(inner, flat, "1")
    outputs = [
        np.reshape(f, (*sample.shape[:kept], *f.shape[1:]))
        for f, sample in zip(found.samples, x.samples, strict=True)
    ]
    if x.dims[:kept].count(-1) > 1:
        raise g.refuse(m, "more than one size of its input depends on the batch")
    return Value(g.reshape(found, [*x.dims[:kept], *found.shape[1:]]), outputs)


@writes(nn.Decorator, container=True)
def _decorator(g: Graph, m: Any, x: Table) -> Table:
    return g.module(m.modules[0], x, "1")


@writes(nn.gModule, container=True)
def _graph(g: Graph, m: Any, x: Table) -> Table:
    modules = g.modules(m)

    def run(index: int, value: Any) -> Table:
        name, module = modules[index]
        return g.module(module, value, name)

    outputs: Table = m.follow(x, run)[-1]
    return outputs

"""Modules that do one step of a sequence a call, written one step after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import nn
from ..graph.lowering import twin_of
from .graph import Graph, States, Table, Value, values_in, writes

__all__ = ["refuse_states", "taken_apart", "unrolled"]


def refuse_states(g: Graph, m: Any) -> None:
    """Raises for what starts from other states than zeros, or leaves samples out."""
    remembers = m.field("_remember") in ("both", "eval") or m.field("rememberStates")
    states = ("userPrevOutput", "userPrevCell", "hiddenInput", "cellInput")
    if remembers or m.field("remember_states") or any(m.field(one) is not None for one in states):
        raise g.refuse(m, "it goes on from a state; call remember('neither') and forget first")
    if m.field("maskzero") or m.field("zeroMask") is not None:
        raise g.refuse(m, "samples of zeros are padding")


# ---- Steps


def unrolled(g: Graph, module: Any, steps: list[Table]) -> list[Table]:
    """What a module gives for each step of a sequence that begins anew.

    Each step has a copy of the module, with outputs of its own.
    """

    def write(made: Any, step: Table, place: str) -> Table:
        return g.module(made, step, place)

    return _each_step(g, module, steps, write)


def _each_step(
    g: Graph, module: Any, steps: list[Table], write: Callable[[Any, Table, str], Table]
) -> list[Table]:
    kept, g.states = g.states, States()
    try:
        found = []
        for t, step in enumerate(steps, 1):
            twins = twin_of(module)
            g.states.add(twins)
            found.append(write(twins[id(module)], step, f"1:step {t}"))
        return found
    finally:
        g.states = kept


def taken_apart(g: Graph, x: Value) -> list[Table]:
    """The steps of a tensor whose first dimension is time."""
    return [
        Value(g.op("Gather", x, g.constant(t, np.int64), axis=0), [s[t] for s in x.samples])
        for t in range(x.shape[0])
    ]


def _zeros_like(g: Graph, x: Value) -> Value:
    """Zeros in the shape of a value."""
    made = g.op("ConstantOfShape", g.op("Shape", x))
    return Value(made, [np.zeros_like(sample) for sample in x.samples])


def _zeros(g: Graph, x: Table, arrays: list[Any]) -> Table:
    """A state of zeros, as the arrays are for each example; its batch is that of the input."""
    if isinstance(arrays[0], list):
        return [_zeros(g, x, list(parts)) for parts in zip(*arrays, strict=True)]
    shape, first = arrays[0].shape, values_in(x)[0]
    samples = [np.zeros(one.shape, one.dtype) for one in arrays]
    if all(one.shape == shape for one in arrays):
        return Value(g.constant(samples[0]), samples)
    batch = g.op("Slice", g.op("Shape", first), g.ints(0), g.ints(1))
    whole = g.op("Concat", batch, g.ints(*shape[1:]), axis=0)
    return Value(g.op("ConstantOfShape", whole), samples)


def _first_states(g: Graph, m: Any, x: Table) -> list[Table]:
    """The state before the first step."""
    count = len(values_in(x)[0].held)
    before = [m._before(1, values_in(x)[0].held[i]) for i in range(count)]
    return [_zeros(g, x, list(arrays)) for arrays in zip(*before, strict=True)]


@writes(nn.AbstractRecurrent, container=True)
def _one_step(g: Graph, m: Any, x: Table) -> Table:
    """The next step; outside a sequence it is the first."""
    refuse_states(g, m)
    states = g.states or States()
    before = states.of(m)
    if isinstance(m, nn.Recurrent):
        module = m.inside if before else m.initialModule
        output = g.module(module, [x, *before] if before else x, "1")
        states.keep(m, [output])
        return output
    if not m._state:
        return g.module(m.inside, x, "1")
    found = g.module(m.inside, [x, *(before or _first_states(g, m, x))], "1")
    several = len(m._state) > 1 and isinstance(found, list)
    states.keep(m, found if isinstance(found, list) and several else [found])
    return found[0] if isinstance(found, list) and several else found


# ---- Containers


@writes(nn.Repeater, container=True)
def _repeater(g: Graph, m: Any, x: Table) -> Table:
    return unrolled(g, m.inside, [x] * int(m.rho))


@writes(nn.BiSequencerLM, container=True)
def _both_ways_without_itself(g: Graph, m: Any, x: list[Table]) -> Table:
    forward: Any = g.module(m.modules[0], x[:-1], "1")
    backward: Any = g.module(m.modules[1], x[1:], "2")
    nothing = [_zeros_like(g, one) for one in (forward[0], backward[-1])]
    merged: list[Table] = [[nothing[0], *forward], [*backward, nothing[1]]]
    return g.module(m.modules[2], merged, "3")


@writes(nn.RecurrentAttention, container=True)
def _attention(g: Graph, m: Any, x: Table) -> Table:
    samples = values_in(x)[0].held
    last: Table = _zeros(g, x, [m._hidden(0, sample) for sample in samples])

    def write(made: Any, step: Table, place: str) -> Table:
        nonlocal last
        action = g.module(made.action, last, f"{place}.action")
        last = g.module(made.rnn, [step, action], f"{place}.rnn")
        return [last, action] if m.forwardActions else last

    return _each_step(g, m, [x] * int(m.nStep), write)


# ---- Cells


def _batches(g: Graph, m: Any, x: list[Value]) -> None:
    if m.field("maskzero") or m.field("zeroMask") is not None:
        raise g.refuse(m, "samples of zeros are padding")
    if any(one.ndim != 2 for one in x):
        raise g.refuse(m, "it is written for batches alone")


def _sums(g: Graph, x: Any, weight: Any) -> str:
    return g.op("MatMul", x, g.constant(weight))


@writes(nn.StepLSTM)
def _step_of_lstm(g: Graph, m: Any, x: list[Value]) -> list[str]:
    _batches(g, m, x)
    given = g.op("Concat", *x[:2], axis=1)
    sums = g.op("Add", _sums(g, given, m.weight), g.constant(m.bias))
    *gates, new = g.ops("Split", 4, sums, axis=1)
    keep, forget, show = (g.op("Sigmoid", gate) for gate in gates)
    added = g.op("Mul", keep, g.op("Tanh", new))
    cell = g.op("Add", g.op("Mul", forget, x[2]), added)
    output = g.op("Mul", show, g.op("Tanh", cell))
    if m.field("weightO") is not None:
        output = _sums(g, output, m.weightO)
    return [output, cell]


@writes(nn.StepGRU)
def _step_of_gru(g: Graph, m: Any, x: list[Value]) -> str:
    _batches(g, m, x)
    inputs, size = x[0].shape[1], x[1].shape[1]
    sums = g.op("Add", _sums(g, x[0], m.weight[:inputs]), g.constant(m.bias))
    of_gates, of_new = g.ops("Split", 2, sums, g.ints(2 * size, size), axis=1)
    fed_back = m.weight[inputs:]
    gates = g.op("Sigmoid", g.op("Add", of_gates, _sums(g, x[1], fed_back[:, : 2 * size])))
    reset, update = g.ops("Split", 2, gates, axis=1)
    shown = _sums(g, g.op("Mul", reset, x[1]), fed_back[:, 2 * size :])
    new = g.op("Tanh", g.op("Add", of_new, shown))
    # new + update (state - new)
    return g.op("Add", new, g.op("Mul", update, g.op("Sub", x[1], new)))

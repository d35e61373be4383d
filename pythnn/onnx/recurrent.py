"""Recurrent layers over whole sequences: ONNX's LSTM, GRU and RNN."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nn
from ..graph.lowering import twin_of
from .graph import NOTHING_LIKE_IT, Graph, NotExportableError, Table, Value, over_rows, writes
from .steps import refuse_states, taken_apart, unrolled


def _in_order(weight: Any, order: list[int], gates: int) -> Any:
    """Rows of gates in another order."""
    parts = np.split(weight, gates)
    return np.concatenate([parts[place] for place in order])


class _Cell:
    """What ONNX's operators take: for each direction the weights of input and state, and biases."""

    def __init__(self, kind: str, size: int, **attributes: Any) -> None:
        self.kind, self.size, self.attributes = kind, size, attributes
        self.parts: list[list[Any]] = []
        self.peepholes: Any = None

    def add(self, given: Any, fed_back: Any, bias: Any, second_bias: Any = None) -> _Cell:
        """Adds a direction; rows are gates in ONNX's order."""
        second = np.zeros_like(bias) if second_bias is None else second_bias
        self.parts.append([given, fed_back, np.concatenate([bias, second])])
        return self

    def write(self, g: Graph, x: Value | str) -> str:
        """The outputs of all steps: steps x batch x (directions x units)."""
        constants = [g.constant(np.stack(parts)) for parts in zip(*self.parts, strict=True)]
        more = dict(self.attributes)
        if len(self.parts) > 1:
            more["direction"] = "bidirectional"
        given = [x, *constants]
        if self.peepholes is not None:
            given += ["", "", "", g.constant(self.peepholes[None])]
        found = g.op(self.kind, *given, hidden_size=self.size, **more)
        # steps x directions x batch x units
        turned = g.op("Transpose", found, perm=[0, 2, 1, 3])
        return g.reshape(turned, [0, 0, len(self.parts) * self.size])


# ---- Layers of whole sequences


def _lstm_of(weight: Any, bias: Any, inputs: int) -> _Cell:
    """For columns of gates in the order input, forget, output, new cell."""
    order = [0, 2, 1, 3]
    rows = [_in_order(part, order, 4) for part in (weight[:inputs].T, weight[inputs:].T, bias)]
    return _Cell("LSTM", weight.shape[1] // 4).add(*rows)


def _gru_of(weight: Any, bias: Any, inputs: int) -> _Cell:
    """For columns of gates in the order reset, update, new state."""
    order = [1, 0, 2]
    rows = [_in_order(part, order, 3) for part in (weight[:inputs].T, weight[inputs:].T, bias)]
    return _Cell("GRU", weight.shape[1] // 3).add(*rows)


def _cell_of(g: Graph, m: Any) -> _Cell:
    refuse_states(g, m)
    inputs = m.weight.shape[0] - m._fed_back()
    if isinstance(m, nn.SeqGRU):
        return _gru_of(m.weight, m.bias, inputs)
    if isinstance(m, nn.VanillaRNN):
        return _Cell("RNN", m.weight.shape[1]).add(m.weight[:inputs].T, m.weight[inputs:].T, m.bias)
    return _lstm_of(m.weight, m.bias, inputs)


def _sequence(g: Graph, m: Any, x: Any, batch_first: bool, cells: list[_Cell]) -> str:
    if isinstance(x, list):
        raise g.refuse(m, "a state is given beside the sequence")
    if x.ndim != 3:
        raise g.refuse(m, "it is written for sequences of batches alone: three dimensions")
    value: Any = g.op("Transpose", x, perm=[1, 0, 2]) if batch_first else x
    for cell in cells:
        value = cell.write(g, value)
    return g.op("Transpose", value, perm=[1, 0, 2]) if batch_first else str(value)


def _projected(g: Graph, m: Any, x: Any) -> str:
    """An LSTM whose output is a projection, one step after the other."""
    refuse_states(g, m)
    if isinstance(x, list) or x.ndim != 3 or x.dims[m._is_batch_first()] == -1:
        why = "ONNX's LSTM has no projection of its output, and the number of steps is free"
        raise g.refuse(m, why)
    inputs, sizes = m.weight.shape[0] - m._fed_back(), m.weightO.shape
    cell = nn.RecLSTM(inputs, *sizes).type(m.type())
    for name in ("weight", "bias", "weightO"):
        setattr(cell.inside, name, getattr(m, name))
    steps = x
    if m._is_batch_first():
        turned = [np.swapaxes(sample, 0, 1) for sample in x.samples]
        steps = Value(g.op("Transpose", x, perm=[1, 0, 2]), turned)
    cell.evaluate()
    found = _stacked(g, unrolled(g, cell, taken_apart(g, steps)))
    return g.op("Transpose", found, perm=[1, 0, 2] if m._is_batch_first() else [0, 1, 2])


@writes(nn.LanguageModel, container=True)
def _language_model(g: Graph, m: Any, x: Value) -> Table:
    """torch-rnn's model from states of zeros, for as many steps as the example has."""
    made = twin_of(m)[id(m)]
    for layer in made.rnns:
        layer.remember_states = False
    size, steps = int(m.rnn_size), x.shape[1]
    made.view1.resetSize(-1, size)
    made.view2.resetSize(-1, steps, int(m.vocab_size))
    for view in made.field("bn_view_in") or []:
        view.resetSize(-1, size)
    for view in made.field("bn_view_out") or []:
        view.resetSize(-1, steps, size)
    return g.module(made.net, x, "net")


@writes(nn.SeqLSTM, nn.SeqGRU, nn.VanillaRNN)
def _seq(g: Graph, m: Any, x: Any) -> str:
    if m.field("weightO") is not None:
        return _projected(g, m, x)
    return _sequence(g, m, x, m._is_batch_first(), [_cell_of(g, m)])


_OF_CUDNN: dict[str, tuple[str, list[int], dict[str, Any]]] = {
    "CUDNN_LSTM": ("LSTM", [0, 3, 1, 2], {}),
    "CUDNN_GRU": ("GRU", [1, 0, 2], {"linear_before_reset": 1}),
    "CUDNN_RNN_TANH": ("RNN", [0], {}),
    "CUDNN_RNN_RELU": ("RNN", [0], {"activations": ["Relu"]}),
}


@writes(nn.cudnn.RNN)
def _cudnn(g: Graph, m: Any, x: Any) -> str:
    refuse_states(g, m)
    kind, order, attributes = _OF_CUDNN[m.mode]
    parts, directions, cells = m._parts(m.weight), int(m.numDirections), []
    if "activations" in attributes:
        attributes = {"activations": attributes["activations"] * directions}
    for layer in range(int(m.numLayers)):
        cell = _Cell(kind, int(m.hiddenSize), **attributes)
        for direction in range(directions):
            rows = parts[layer * directions + direction]
            cell.add(*(_in_order(part, order, len(order)) for part in rows))
        cells.append(cell)
    return _sequence(g, m, x, bool(m.field("batchFirst")), cells)


# ---- Modules of one step, over all steps


def _gate(gate: Any) -> tuple[Any, Any, Any, Any]:
    """Both weights, the bias and the peephole (or None) of a gate of nn.LSTM."""
    inputs = next(one for one in gate.listModules() if type(one) is nn.ParallelTable).modules
    given, fed_back = (part.modules[-1] for part in inputs[:2])
    peephole = inputs[2].weight.ravel() if len(inputs) > 2 else None
    return given.weight, fed_back.weight, given.bias, peephole


def _of_lstm(m: Any) -> _Cell:
    gates = [_gate(one) for one in (m.inputGate, m.outputGate, m.forgetGate, m.hiddenLayer)]
    stacked = [np.concatenate([gate[i] for gate in gates]) for i in range(3)]
    cell = _Cell("LSTM", int(m.outputSize)).add(*stacked)
    if m.cell2gate:
        cell.peepholes = np.concatenate([gate[3] for gate in gates[:3]])
    return cell


def _products(m: Any) -> tuple[Any, Any, Any]:
    """Both weights and the bias of all gates; with dropout each gate has layers of its own."""
    given, fed_back = (
        [one for one in layer.listModules() if isinstance(one, nn.Linear)]
        for layer in (m.i2g, m.o2g)
    )
    bias = np.concatenate([one.bias for one in given])
    weights = (np.concatenate([one.weight for one in layers]) for layers in (given, fed_back))
    return (*weights, bias)  # type: ignore[return-value]


def _of_fast_lstm(m: Any) -> _Cell:
    order = [0, 3, 2, 1]  # input gate, new cell, forget and output gates
    parts = _products(m)
    return _Cell("LSTM", int(m.outputSize)).add(*(_in_order(part, order, 4) for part in parts))


def _of_gru(m: Any) -> _Cell:
    linear = [one for one in m.inside.listModules() if isinstance(one, nn.Linear)]
    of_gates = [*m.i2g.listModules(), *m.o2g.listModules()]
    new = [one for one in linear if not any(one is other for other in of_gates)]
    gates = [np.split(part, 2) for part in _products(m)]
    given, fed_back, bias = (
        np.concatenate([update, reset, last])
        for (reset, update), last in zip(
            gates, (new[0].weight, new[1].weight, new[0].bias), strict=True
        )
    )
    return _Cell("GRU", int(m.outputSize)).add(given, fed_back, bias)


_TRANSFERS = {nn.ReLU: "Relu", nn.Sigmoid: "Sigmoid", nn.Tanh: "Tanh"}


def _of_linear_rnn(g: Graph, m: Any) -> _Cell:
    _, linear, transfer = m.inside.modules
    if type(transfer) not in _TRANSFERS:
        raise g.refuse(m, f"ONNX's RNN does not apply {transfer.typename()}")
    size = int(m.outputsize)
    given, fed_back = linear.weight[:, :-size], linear.weight[:, -size:]
    cell = _Cell("RNN", size, activations=[_TRANSFERS[type(transfer)]])
    return cell.add(given, fed_back, linear.bias)


def _step_cell(g: Graph, m: Any) -> _Cell:
    """The cell of a module that does a step a call."""
    refuse_states(g, m)
    kinds = {nn.LSTM: _of_lstm, nn.FastLSTM: _of_fast_lstm, nn.GRU: _of_gru}
    inside = {type(one) for one in m.inside.listModules()}
    unlike = {nn.MaskZero, nn.TrimZero, nn.gModule, nn.BatchNormalization} & inside
    if type(m) in (nn.RecLSTM, nn.RecGRU):
        step = m.inside
        if not unlike and step.field("weightO") is None and not step.field("maskzero"):
            made = _lstm_of if type(m) is nn.RecLSTM else _gru_of
            return made(step.weight, step.bias, int(step.inputsize))
    elif type(m) is nn.LinearRNN:
        return _of_linear_rnn(g, m)
    elif type(m) in kinds and not unlike:
        return kinds[type(m)](m)
    raise g.refuse(m, NOTHING_LIKE_IT)


def _over_steps(g: Graph, module: Any, x: Value, name: str) -> Value:
    """A module of one step for steps x batch x features."""
    if isinstance(module, nn.Recursor):
        return _over_steps(g, module.inside, x, f"{name}.1" if name else "1")
    if type(module) is nn.Sequential:
        for place, inner in g.modules(module):
            x = _over_steps(g, inner, x, f"{name}.{place}" if name else place)
        return x
    if isinstance(module, nn.AbstractRecurrent):
        cell = _step_cell(g, module)
        found = []
        for sample in x.samples:
            sequencer = nn.Sequencer(module.clone())
            sequencer.evaluate()
            found.append(np.array(sequencer.forward(sample)))
        return Value(cell.write(g, x), found)
    if any(isinstance(one, nn.AbstractRecurrent) for one in module.listModules()):
        raise g.refuse(module, NOTHING_LIKE_IT)
    return over_rows(g, module, x, name)


def _is_one_product(g: Graph, module: Any) -> bool:
    """Whether ONNX's operators compute all steps of a module of one step."""
    if isinstance(module, nn.Recursor):
        return _is_one_product(g, module.inside)
    if type(module) is nn.Sequential:
        return all(_is_one_product(g, inner) for inner in module.modules)
    if not isinstance(module, nn.AbstractRecurrent):
        return not any(isinstance(one, nn.AbstractRecurrent) for one in module.listModules())
    try:
        _step_cell(g, module)
    except NotExportableError:
        return False
    return True


def _stacked(g: Graph, steps: list[Any]) -> Value:
    """Steps as one tensor, time first."""
    parts = [g.op("Unsqueeze", step, g.ints(0)) for step in steps]
    samples = [np.stack(found) for found in zip(*(step.samples for step in steps), strict=True)]
    return Value(g.op("Concat", *parts, axis=0), samples)


@writes(nn.Sequencer, container=True, any_size=False)
def _sequencer(g: Graph, m: Any, x: Any) -> Table:
    """All steps at once where ONNX can, else one after the other."""
    if m.field("_remember") in ("both", "eval"):
        raise g.refuse(m, "it goes on from a state; call remember('neither') first")
    at_once = _is_one_product(g, m.inside)
    if not isinstance(x, list):
        if at_once or x.dims[0] == -1:
            return _over_steps(g, m.inside, x, "1")
        found = unrolled(g, m.inside, taken_apart(g, x))
        return _stacked(g, found) if all(isinstance(one, Value) for one in found) else found
    cells = [one for one in m.inside.listModules() if isinstance(one, nn.AbstractRecurrent)]
    is_recurrent = any(not isinstance(one, nn.Recursor) for one in cells)
    if at_once and is_recurrent and all(isinstance(step, Value) for step in x):
        return taken_apart(g, _over_steps(g, m.inside, _stacked(g, x), "1"))
    return unrolled(g, m.inside, x)

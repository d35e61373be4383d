"""LSTM, GRU and their relatives: one step of a sequence a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..activation.noise import Dropout
from ..activation.pointwise import Abs, Sigmoid, Sqrt, Tanh
from ..activation.scalar import MulConstant
from ..activation.softmax import SoftMax
from ..containers.branching import ConcatTable, MapTable, ParallelTable
from ..containers.container import Sequential
from ..graph.graph import gModule
from ..linear.linear import Linear
from ..linear.scaling import Add, CMul
from ..normalization.batch import BatchNormalization
from ..object.module import Module
from ..object.object import register
from ..shape.plumbing import Identity
from ..shape.reduction import Max, Min, Sum
from ..shape.shape import Reshape, Transpose, Unsqueeze, View
from ..table.arithmetic import CAddTable, CMulTable, CSubTable
from ..table.shaping import FlattenTable, JoinTable, NarrowTable, SelectTable, SplitTable
from .cell import Cell
from .fused import (
    Formulas,
    GruOfLinear,
    GruOfStep,
    LstmOfLinear,
    LstmOfStep,
    is_like,
    is_product,
    is_replaced,
)
from .gates import LstmOfGates
from .masking import LookupTableMaskZero
from .recurrence import AbstractRecurrent, Recurrence
from .simple import LinearNoBias, SAdd
from .step import StepGRU, StepLSTM

__all__ = ["GRU", "LSTM", "FastLSTM", "LinearRNN", "LookupRNN", "MuFuRu", "RecGRU", "RecLSTM"]


def _dropout(p: float, mono: bool) -> Dropout:
    """Dropout with the fields that dpnn gives it."""
    layer = Dropout(p)
    layer.lazy = layer.flag = True
    layer.mono, layer.inplace = mono, False
    del layer.stochastic_inference
    return layer


def _gate_sum(p: float, mono: bool, *layers: Module) -> Sequential:
    """The sum of functions of the input, of the output of the step before, and of the cell.

    The first two have dropout before them; the last may be left out.
    """
    sums = ParallelTable()
    for layer in layers[:2]:
        sums.add(Sequential(_dropout(p, mono), layer))
    for layer in layers[2:]:
        sums.add(layer)
    narrowed = [] if layers[2:] else [NarrowTable(1, 2)]
    return Sequential(*narrowed, sums, CAddTable())


def _gate_products(
    kind: type[Linear], size: int, output: int, gates: int, p: float, mono: bool
) -> Any:
    """One product for several gates; with dropout, each has its own and its own noise."""
    if not p:
        return kind(size, gates * output)
    noises, products = ConcatTable(), ParallelTable()
    for _ in range(gates):
        noises.add(_dropout(p, mono))
        products.add(kind(size, output))
    return Sequential(noises, products, JoinTable(2))


def _lstm_step(
    input_gate: Module, forget_gate: Module, hidden: Module, output_gate: Module
) -> tuple[Sequential, Sequential]:
    """The module of LSTM's step, with its gates, and the part that makes the cell."""
    kept = Sequential(ConcatTable().add(forget_gate).add(SelectTable(3)), CMulTable())
    new = Sequential(ConcatTable().add(input_gate).add(hidden), CMulTable())
    cell = Sequential(ConcatTable().add(kept).add(new), CAddTable())
    shown = Sequential(SelectTable(3), Tanh())
    output = Sequential(ConcatTable().add(output_gate).add(shown), CMulTable())
    step = Sequential(
        ConcatTable().add(NarrowTable(1, 2)).add(cell),
        FlattenTable(),
        ConcatTable().add(output).add(SelectTable(3)),
    )
    return step, cell


def _open_lstm_step(_: int, *layers: Module) -> Module:
    """LSTM's step with products of input, forget gate, new cell and output gate, and peepholes.

    Without peepholes there are no others than the eight products.
    """
    looks = [[one] for one in layers[8:]] or [[], [], []]
    looks.insert(2, [])
    functions = Sigmoid(), Sigmoid(), Tanh(), Sigmoid()
    gates = [
        _gate_sum(0, False, *layers[2 * place : 2 * place + 2], *look).add(function)
        for place, (look, function) in enumerate(zip(looks, functions, strict=True))
    ]
    return _lstm_step(*gates)[0]


@cache
def _pattern(build: Callable[..., Module], size: int, count: int) -> tuple[Module, dict[int, int]]:
    """A step with so many products left open, and their places by the id of what is there."""
    holes: list[Module] = [Identity() for _ in range(count)]
    return build(size, *holes), {id(hole): place for place, hole in enumerate(holes)}


def _products_of(module: Module, pattern: Module, holes: dict[int, int]) -> list[Any]:
    """The modules in the places of holes, where a module is like a pattern otherwise; else none."""
    found: dict[int, Module] = {}
    if not is_like(module, pattern, holes, found):
        return []
    return [found[place] for place in range(len(holes))]


def _fast_lstm_step(size: int, i2g: Module, o2g: Module) -> Sequential:
    """The module of FastLSTM's step, with the products of all gates."""
    both = ParallelTable().add(i2g).add(o2g)
    functions = ParallelTable().add(Sigmoid()).add(Tanh()).add(Sigmoid()).add(Sigmoid())
    gates = Sequential(
        NarrowTable(1, 2), both, CAddTable(), Reshape(4, size), SplitTable(1, 2), functions
    )
    kept = Sequential(ConcatTable().add(SelectTable(3)).add(SelectTable(5)), CMulTable())
    new = Sequential(NarrowTable(1, 2), CMulTable())
    cell = Sequential(ConcatTable().add(new).add(kept), CAddTable())
    shown = Sequential(SelectTable(1), Tanh())
    output = Sequential(ConcatTable().add(shown).add(SelectTable(2)), CMulTable())
    return Sequential(
        ConcatTable().add(gates).add(SelectTable(3)),
        FlattenTable(),
        ConcatTable().add(cell).add(SelectTable(4)),
        FlattenTable(),
        ConcatTable().add(output).add(SelectTable(1)),
    )


def _gru_step(
    size: int, i2g: Module, o2g: Module, new_input: Module, new_output: Module, *noises: Module
) -> Sequential:
    """The module of GRU's step, with its products, and what disturbs the last two's inputs."""
    both = ParallelTable().add(i2g).add(o2g)
    functions = ParallelTable().add(Sigmoid()).add(Sigmoid())
    gates = Sequential(both, CAddTable(), Reshape(2, size), SplitTable(1, 2), functions)
    given = Sequential(SelectTable(1), *noises[:1], new_input)
    reset = Sequential(NarrowTable(2, 2), CMulTable(), *noises[1:], new_output)
    hidden = Sequential(ConcatTable().add(given).add(reset), CAddTable(), Tanh())
    rest = Sequential(SelectTable(4), SAdd(-1, True))
    new = Sequential(ConcatTable().add(hidden).add(rest), CMulTable())
    kept = Sequential(NarrowTable(4, 2), CMulTable())
    return Sequential(
        ConcatTable().add(Identity()).add(gates),
        FlattenTable(),
        ConcatTable().add(NarrowTable(1, 4)).add(SelectTable(2)),
        FlattenTable(),
        Sequential(ConcatTable().add(new).add(kept), CAddTable()),
    )


@register
class LSTM(Cell, kernel=True):
    """Long short-term memory, by default with peepholes from the cell to the gates (`cell2gate`).

    Input: [batch x] inputSize; output: [batch x] outputSize. `p` is the rate of dropout.
    """

    _state = ("outputs", "cells")

    def __init__(
        self,
        inputSize: int,
        outputSize: int,
        rho: int | None = None,
        cell2gate: bool = True,
        p: float = 0,
        mono: bool = False,
    ) -> None:
        super().__init__(rho)
        self.inputSize, self.outputSize = inputSize, outputSize
        self.cell2gate, self.p, self.mono = bool(cell2gate), p, bool(mono)
        self.cells: Any = {}
        self.gradCells: Any = {}
        self.tensors.zeroTensor = Tensor(dtype=np.float64)
        self._own(self.buildModel())

    def buildGate(self) -> Module:
        """A gate: of {input, output before, cell}."""
        return self._gate_sum(self.cell2gate).add(Sigmoid())

    def _gate_sum(self, looks: bool) -> Sequential:
        size = self.outputSize
        layers = [Linear(self.inputSize, size), LinearNoBias(size, size)]
        return _gate_sum(self.p, self.mono, *layers, *[CMul(size) for _ in range(looks)])

    def buildModel(self) -> Module:
        """The module of a step: {input, output, cell} to {output, cell}."""
        self.forgetGate, self.inputGate = self.buildGate(), self.buildGate()
        self.hiddenLayer = self._gate_sum(False).add(Tanh())
        self.outputGate = self.buildGate()
        step, self.cellLayer = _lstm_step(
            self.inputGate, self.forgetGate, self.hiddenLayer, self.outputGate
        )
        return step

    def _formulas(self) -> Formulas | None:
        if type(self) is not LSTM:
            return None
        size, count = int(self.outputSize), 11 if self.cell2gate else 8
        found = _products_of(self.inside, *_pattern(_open_lstm_step, size, count))
        looks = found[8:]
        if (
            not found
            or not all(map(is_product, found[:8], [size] * 8, (True, False) * 4))
            or any(type(one) is not CMul or is_replaced(one) for one in looks)
        ):
            return None
        return LstmOfGates(found[0:8:2], found[1:8:2], looks)


@register
class FastLSTM(LSTM, kernel=True):
    """LSTM without peepholes, whose gates are one product each of input and output before.

    As long as the class attribute ``bn`` is true, those made have batch normalization, with `eps`,
    `momentum` and `affine`, of both products and of the cell; they, and with ``usenngraph`` all,
    are graphs.
    """

    usenngraph: ClassVar[bool] = False
    bn: ClassVar[bool] = False
    eps: float | None = None
    momentum: float | None = None

    def __init__(
        self,
        inputSize: int,
        outputSize: int,
        rho: int | None = None,
        eps: float | None = None,
        momentum: float | None = None,
        affine: bool = True,
        p: float = 0,
        mono: bool = False,
    ) -> None:
        self.eps, self.momentum, self.affine = eps, momentum, bool(affine)
        super().__init__(inputSize, outputSize, rho, True, p, mono)

    def _normalization(self, size: int) -> BatchNormalization:
        """A normalization that begins with small weights, as recurrent ones should."""
        settings = {"eps": self.eps, "momentum": self.momentum}
        given = {name: value for name, value in settings.items() if value is not None}
        layer = BatchNormalization(size, affine=self.affine, **given)
        if self.affine:
            layer.tensors.weight.fill(0.1)
        return layer

    def nngraphModel(self) -> Module:
        """The module of a step as a graph."""
        size = self.outputSize
        x, before_h, before_c = Identity()(), Identity()(), Identity()()
        of_input = self.i2g(x).annotate(name="i2h")
        of_output = self.o2g(before_h).annotate(name="h2h")
        if self.bn:
            of_input = self._normalization(4 * size)(of_input)
            of_output = Add(4 * size)(self._normalization(4 * size)(of_output))
        sums = Reshape(4, size)(CAddTable()([of_input, of_output]))
        first, second, third, fourth = SplitTable(2)(sums).split(4)
        new = CMulTable()([Sigmoid()(first), Tanh()(second)])
        c = CAddTable()([CMulTable()([Sigmoid()(third), before_c]), new])
        shown = self._normalization(size)(c).annotate(name="bn_c") if self.bn else c
        h = CMulTable()([Sigmoid()(fourth), Tanh()(shown)])
        return gModule([x, before_h, before_c], [h, c])

    def buildModel(self) -> Module:
        size = self.outputSize
        self.i2g = _gate_products(Linear, self.inputSize, size, 4, self.p, self.mono)
        self.o2g = _gate_products(LinearNoBias, size, size, 4, self.p, self.mono)
        if self.usenngraph or self.bn:
            return self.nngraphModel()
        return _fast_lstm_step(size, self.i2g, self.o2g)

    def _formulas(self) -> Formulas | None:
        if type(self) is not FastLSTM:
            return None
        size = int(self.outputSize)
        products = _products_of(self.inside, *_pattern(_fast_lstm_step, size, 2))
        if not all(map(is_product, products, (4 * size, 4 * size), (True, False))):
            return None
        return LstmOfLinear(*products) if products else None


@register
class GRU(Cell, kernel=True):
    """Gated recurrent unit. Input: [batch x] inputSize; output: [batch x] outputSize."""

    def __init__(
        self,
        inputSize: int,
        outputSize: int,
        rho: int | None = None,
        p: float = 0,
        mono: bool = False,
    ) -> None:
        super().__init__(rho)
        self.inputSize, self.outputSize, self.p, self.mono = inputSize, outputSize, p, bool(mono)
        self.cells: Any = {}
        self.gradCells: Any = {}
        self.tensors.zeroTensor = Tensor(dtype=np.float64)
        self._own(self.buildModel())

    def buildModel(self) -> Module:
        """The module of a step: {input, output} to output."""
        size, p = self.outputSize, self.p
        self.i2g = _gate_products(Linear, self.inputSize, size, 2, p, self.mono)
        self.o2g = _gate_products(LinearNoBias, size, size, 2, p, self.mono)
        noises = [_dropout(p, self.mono) for _ in range(2)] if p else []
        products = Linear(self.inputSize, size), LinearNoBias(size, size)
        return _gru_step(size, self.i2g, self.o2g, *products, *noises)

    def _formulas(self) -> Formulas | None:
        if type(self) is not GRU:
            return None
        size = int(self.outputSize)
        products = _products_of(self.inside, *_pattern(_gru_step, size, 4))
        sizes = 2 * size, 2 * size, size, size
        if not all(map(is_product, products, sizes, (True, False, True, False))):
            return None
        return GruOfLinear(*products) if products else None


@register
class MuFuRu(GRU, kernel=True):
    """Multi-function recurrent unit: chooses among operations on the state and a new one."""

    OPERATIONS: ClassVar = ("keep", "replace", "mul", "diff", "forget", "sqrt_diff", "max", "min")

    def __init__(
        self,
        inputSize: int,
        outputSize: int,
        ops: Sequence[str] | None = None,
        rho: int | None = None,
    ) -> None:
        self.ops = list(ops or self.OPERATIONS)
        if isinstance(ops, str) or not {*self.ops} <= {*self.OPERATIONS}:
            wanted = f"a list of some of {', '.join(map(repr, self.OPERATIONS))}"
            raise THNNArgumentError.expected(self.typename(), 3, "ops", wanted, repr(ops))
        self.num_ops = len(self.ops)
        super().__init__(inputSize, outputSize, rho)

    def _operation(self, name: str) -> Module:
        """An operation on {output before, new one}."""
        if name in ("max", "min"):
            reduce = Max(1) if name == "max" else Min(1)
            return Sequential(MapTable(Unsqueeze(1)), JoinTable(1), reduce)
        if name == "sqrt_diff":
            return Sequential(CSubTable(), Abs(), Sqrt(), MulConstant(0.25))
        if name in ("keep", "replace"):
            return SelectTable(1 if name == "keep" else 2)
        if name == "forget":
            return Sequential(SelectTable(1), MulConstant(0))
        return CMulTable() if name == "mul" else CSubTable()

    def buildModel(self) -> Module:
        size, given, count = self.outputSize, self.inputSize, self.num_ops
        self.operations = [self._operation(name) for name in self.ops]
        applied = ConcatTable()
        for operation in self.operations:
            applied.add(operation)
        products = ParallelTable().add(Linear(given, size)).add(Linear(size, size))
        reset = Sequential(products, CAddTable(), Sigmoid())
        joined = Sequential(
            ConcatTable()
            .add(SelectTable(1))
            .add(Sequential(NarrowTable(2, 2), CMulTable())),
            JoinTable(2), Linear(given + size, size), Sigmoid(),
        )  # fmt: skip
        view = View(count, size)
        view.setNumInputDims(1)
        chosen = Sequential(
            NarrowTable(1, 2), JoinTable(2), Linear(given + size, count * size), view,
            Transpose([1, 2]), SoftMax(),
        )  # fmt: skip
        all_of_them = Sequential(
            NarrowTable(1, 2), applied, MapTable(Unsqueeze(1)), JoinTable(1, 3)
        )
        return Sequential(
            ConcatTable().add(SelectTable(1)).add(SelectTable(2)).add(reset),
            ConcatTable().add(SelectTable(2)).add(joined).add(chosen),
            Sequential(ConcatTable().add(all_of_them).add(SelectTable(3)), CMulTable(), Sum(1, 3)),
        )


LONGEST = 99999
"""The longest sequence of torch/rnn's modules."""


def _of_torch_rnn(module: AbstractRecurrent) -> None:
    """Takes away the fields that torch/rnn's modules do not have, and adds those of its own."""
    for name in ("rho", "module", "recurrentModule"):
        module.__dict__.pop(name, None)
    module.seqlen = LONGEST


def _mask_steps(self: Any, nInputDim: int = 1) -> Any:
    """Has samples of zeros give zeros, in the state too; returns the module itself."""
    for module in (self.inside, *self._clones()):
        module.maskZero(nInputDim)
    return self


def _plain_step(module: Cell, kind: type[Cell], step: type[Module]) -> Any:
    """The module inside one of torch/rnn, if that is a plain step without padding."""
    inside = module.inside
    if type(module) is not kind or type(inside) is not step or is_replaced(inside):
        return None
    masks = inside.field("maskzero") or inside.field("zeroMask") is not None
    return None if masks or inside.field("gradWeight") is None else inside


@register
class RecLSTM(Cell, kernel=True):
    """StepLSTM as a step of a sequence, of torch/rnn."""

    _state = ("outputs", "cells")
    maskZero = _mask_steps

    def __init__(self, inputsize: int, hiddensize: int, outputsize: int | None = None) -> None:
        super().__init__(None)
        _of_torch_rnn(self)
        self.inputsize, self.hiddensize = inputsize, hiddensize
        self.outputsize = hiddensize if outputsize is None else outputsize
        self.cells: Any = {}
        self.gradCells: Any = {}
        self.tensors.zeroOutput = Tensor(dtype=np.float64)
        self.tensors.zeroCell = Tensor(dtype=np.float64)
        self.modules = [StepLSTM(inputsize, hiddensize, self.outputsize)]

    def _formulas(self) -> Formulas | None:
        found = _plain_step(self, RecLSTM, StepLSTM)
        return None if found is None or found.field("weightO") is not None else LstmOfStep(found)

    def _sizes(self) -> list[int]:
        return [int(self.outputsize), int(self.field("hiddensize") or self.outputsize)]


@register
class RecGRU(Cell, kernel=True):
    """StepGRU as a step of a sequence, of torch/rnn."""

    _tables = AbstractRecurrent._tables
    maskZero = _mask_steps

    def __init__(self, inputsize: int, outputsize: int) -> None:
        super().__init__(None)
        _of_torch_rnn(self)
        self.inputsize, self.outputsize = inputsize, outputsize
        self.tensors.zeroOutput = Tensor(dtype=np.float64)
        self.modules = [StepGRU(inputsize, outputsize)]

    def _formulas(self) -> Formulas | None:
        found = _plain_step(self, RecGRU, StepGRU)
        return None if found is None else GruOfStep(found)

    def _sizes(self) -> list[int]:
        return [int(self.outputsize)]


@register
class LinearRNN(Recurrence, kernel=True):
    """output = transfer(linear(input joined with the output before)), of torch/rnn."""

    def __init__(self, inputsize: int, outputsize: int, transfer: Module | None = None) -> None:
        step = Sequential(
            JoinTable(1, 1), Linear(inputsize + outputsize, outputsize), transfer or Sigmoid()
        )
        super().__init__(step, outputsize, 1)
        _of_torch_rnn(self)
        self.inputsize, self.outputsize = inputsize, outputsize


@register
class LookupRNN(Recurrence, kernel=True):
    """output = transfer(row of a table for the index + linear(output before)), of torch/rnn."""

    def __init__(self, nindex: int, outputsize: int, transfer: Module | None = None) -> None:
        both = ParallelTable()
        both.add(LookupTableMaskZero(nindex, outputsize)).add(Linear(outputsize, outputsize))
        super().__init__(Sequential(both, CAddTable(), transfer or Sigmoid()), outputsize, 0)
        _of_torch_rnn(self)
        self.nindex, self.outputsize = nindex, outputsize

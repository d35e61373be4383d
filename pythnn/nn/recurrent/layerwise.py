"""Steps of a Sequential layer by layer, so that recurrent layers get all steps at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._errors import THNNError
from ..activation.noise import Dropout
from ..activation.pointwise import HardTanh, LogSigmoid, Sigmoid, SoftPlus, Tanh
from ..activation.rectifier import ELU, LeakyReLU, ReLU, Threshold
from ..activation.scalar import AddConstant, MulConstant
from ..activation.softmax import LogSoftMax, SoftMax
from ..containers.branching import ConcatTable, ParallelTable
from ..containers.container import Sequential
from ..linear.linear import Linear
from ..linear.lookup import LookupTable
from ..normalization.batch import BatchNormalization
from ..object.calling import SILENT
from ..object.tables import copied
from ..shape.plumbing import Identity
from ..shape.shape import Reshape, View
from ..table.arithmetic import CAddTable, CMulTable
from ..table.shaping import JoinTable, SelectTable
from .fused import is_replaced
from .masking import LookupTableMaskZero
from .simple import LinearNoBias

if TYPE_CHECKING:
    from ..object.module import Module
    from .recurrence import AbstractRecurrent

__all__ = ["Layerwise"]

_OF_ONE_STEP = frozenset((
    AddConstant, BatchNormalization, CAddTable, CMulTable, ConcatTable, Dropout, ELU, HardTanh,
    Identity, JoinTable, LeakyReLU, Linear, LinearNoBias, LogSigmoid, LogSoftMax, LookupTable,
    LookupTableMaskZero, MulConstant, ParallelTable, ReLU, Reshape, SelectTable, Sequential,
    Sigmoid, SoftMax, SoftPlus, Tanh, Threshold, View,
))  # fmt: skip
"""Layers whose step depends on no other layer's step: but for the order in which they draw."""


def _fits(inside: Module) -> bool:
    """Whether it makes no difference that a layer does all steps before the next layer begins."""
    if type(inside) is not Sequential or is_replaced(inside) or SILENT in inside.__dict__:
        return False
    recurrent, drawing = 0, 0
    for layer in inside.modules:
        is_recurrent = layer._goes_through_steps
        recurrent += is_recurrent
        for one in layer.listModules():
            own = one.__dict__
            if is_recurrent and one is not layer and one._goes_through_steps:
                return False
            if not is_recurrent and type(one) not in _OF_ONE_STEP:
                return False
            if is_replaced(one) or SILENT in own or own.get("inplace"):
                return False
            drawing += isinstance(one, Dropout) and one._is_noisy()
    return recurrent > 0 and drawing <= 1


class Layerwise:
    """Steps of a Recursor whose module is a Sequential."""

    def __init__(self, recursor: AbstractRecurrent, first: int, count: int) -> None:
        self.recursor, self.first = recursor, first
        self.inside: Any = recursor.inside
        self.layers: list[Any] = self.inside.modules
        self.steps: list[Any] = [recursor.getStepModule(first + at) for at in range(count)]

    @classmethod
    def of(cls, recursor: AbstractRecurrent, first: int, count: int) -> Layerwise | None:
        """The steps from `first` on; None where they are done one after the other."""
        if first < 1 or recursor.field("zeroMask") is not None or not _fits(recursor.inside):
            return None
        return cls(recursor, first, count)

    def _of_layer(self, place: int) -> list[Any]:
        """A layer's module for each step."""
        return [step.modules[place] for step in self.steps]

    # ---- Forwards

    def forward(self, inputs: list[Any], given: Any) -> list[Any]:
        """The outputs of all steps."""
        values, place = inputs, 0
        is_shared = self.recursor.train is False  # one module does all steps
        try:
            for place, layer in enumerate(self.layers):
                if layer._goes_through_steps:
                    values = layer.all_steps(values, values if place else given)
                    continue
                found = []
                for one, value in zip(self._of_layer(place), values, strict=True):
                    output = one.updateOutput(value)
                    found.append(copied(output) if is_shared else output)
                values = found
        except THNNError as error:
            self.inside.locate(error, place)
            raise
        for step, value in zip(self.steps, values, strict=True):
            step.tensors.output = value
        return values

    # ---- Backwards

    def _steps_of(self, layer: Any, name: str) -> range:
        """The numbers that a recurrent layer has for the steps, when these are the next back."""
        last = layer.__dict__.get(name, layer.step) - 1
        return range(last - len(self.steps) + 1, last + 1)

    def _fields(self, place: int, field: str, table: str, name: str) -> list[Any]:
        """What the layer at a place gave for each step."""
        layer = self.layers[place]
        if layer._goes_through_steps:
            return [layer.__dict__[table][step] for step in self._steps_of(layer, name)]
        return [one.field(field) for one in self._of_layer(place)]

    def _before(self, place: int, inputs: list[Any], name: str) -> list[Any]:
        """The inputs of the layer at a place."""
        return self._fields(place - 1, "output", "outputs", name) if place else inputs

    def back(self, inputs: list[Any], given: Any, gradients: list[Any]) -> list[Any]:
        """The gradients of the inputs."""
        for place in reversed(range(len(self.layers))):
            before, layer = self._before(place, inputs, "_backward"), self.layers[place]
            if layer._goes_through_steps:
                whole = before if place else given
                gradients = layer.all_steps_back(before, whole, gradients, gradients)
                continue
            steps = zip(self._of_layer(place), before, gradients, strict=True)
            gradients = [one.updateGradInput(*pair) for one, *pair in list(steps)[::-1]][::-1]
        for step, gradient in zip(self.steps, gradients, strict=True):
            step.tensors.gradInput = gradient
        return gradients

    def gather(self, inputs: list[Any], given: Any, gradients: list[Any], scale: Any) -> None:
        """Adds the gradients of the parameters."""
        for place in reversed(range(len(self.layers))):
            before, layer = self._before(place, inputs, "_accumulating"), self.layers[place]
            of_inputs = self._fields(place, "gradInput", "gradInputs", "_accumulating")
            if layer._goes_through_steps:
                layer.gather_all_steps(before, before if place else given, gradients, scale)
            else:
                steps = zip(self._of_layer(place), before, gradients, strict=True)
                for one, *pair in list(steps)[::-1]:
                    one.accGradParameters(*pair, scale)
            gradients = of_inputs

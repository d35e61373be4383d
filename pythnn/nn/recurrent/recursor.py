"""Recursor: any module as a step of a sequence."""

from __future__ import annotations

from typing import Any

from ..object.module import Module
from ..object.object import register
from ..object.tables import copied
from .layerwise import Layerwise
from .recurrence import AbstractRecurrent

__all__ = ["Recursor"]


@register
class Recursor(AbstractRecurrent, kernel=True):
    """Makes any module one that does a step a call, for Sequencer; its state is what is inside."""

    def __init__(self, module: Module, rho: int | None = None) -> None:
        super().__init__(9999999 if rho is None else rho)
        self.module = module
        self._own(module)

    # ---- All steps of a call, layer by layer where that is the same

    def _layerwise(self, method: str, first: int, count: int) -> Any:
        return None if method in self.__dict__ else Layerwise.of(self, first, count)

    def all_steps(self, inputs: list[Any], given: Any) -> list[Any]:
        first = self.step
        layers = self._layerwise("updateOutput", first, len(inputs)) if inputs else None
        if layers is None:
            return super().all_steps(inputs, given)
        outputs: list[Any] = layers.forward(inputs, given)
        self.__dict__["outputs"].update(enumerate(outputs, first))
        self._end_of_backward()
        self.__dict__["step"] = first + len(inputs)
        self.tensors.output = outputs[-1]
        return outputs

    def all_steps_back(
        self, inputs: list[Any], given: Any, gradients: list[Any], gradient: Any
    ) -> list[Any]:
        first = self.__dict__.get("_backward", self.step) - len(inputs)
        layers = self._layerwise("updateGradInput", first, len(inputs))
        if layers is None or self.train is False or not inputs:
            return super().all_steps_back(inputs, given, gradients, gradient)
        found: list[Any] = layers.back(inputs, given, gradients)
        self.__dict__["_gradOutputs"].update(enumerate(([one] for one in gradients), first))
        self.__dict__["gradInputs"].update(enumerate(found, first))
        self.__dict__["_backward"], self.__dict__["_gradients"] = first, []
        self.tensors.gradInput = found[0]
        return [copied(one) for one in found]

    def gather_all_steps(
        self, inputs: list[Any], given: Any, gradients: list[Any], scale: Any
    ) -> None:
        first = self.__dict__.get("_accumulating", self.step) - len(inputs)
        known = self.__dict__["gradInputs"]
        layers = self._layerwise("accGradParameters", first, len(inputs))
        if (
            layers is None
            or self.train is False
            or not all(first + at in known for at in range(len(inputs)))
        ):
            super().gather_all_steps(inputs, given, gradients, scale)
            return
        layers.gather(inputs, given, gradients, scale)
        self.__dict__["_accumulating"] = first

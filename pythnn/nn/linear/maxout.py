"""The largest of several linear layers."""

from __future__ import annotations

from ..containers.container import Sequential
from ..object.module import Module
from ..object.object import register
from ..shape.reduction import Max
from ..shape.shape import View
from .linear import Linear

__all__ = ["Maxout"]


@register
class Maxout(Sequential):
    """The maximum of `maxoutNumber` linear layers of [batch x] inputSize, for each output.

    `preprocess` is a module that gets what they compute, [batch x] maxoutNumber x outputSize.
    """

    def __init__(
        self,
        inputSize: int,
        outputSize: int,
        maxoutNumber: int,
        preprocess: Module | None = None,
    ) -> None:
        super().__init__()
        self.add(Linear(inputSize, outputSize * maxoutNumber))
        self.add(View(maxoutNumber, outputSize).setNumInputDims(1))
        if preprocess is not None:
            self.add(preprocess)
        self.add(Max(1, 2))

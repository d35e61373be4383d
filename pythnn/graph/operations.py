"""The graph: operations in the order in which they run, and the memory that they work on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from .._later import notebooks
from .._tensor import Tensor, dense_strides

__all__ = [
    "Buffer",
    "Call",
    "Constant",
    "Graph",
    "Kernel",
    "Operand",
    "Operation",
    "Table",
    "View",
    "views_in",
]


@dataclass(eq=False)
class Buffer:
    """A piece of memory, which views look at."""

    size: int
    """The number of elements."""
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class View:
    """A strided part of a buffer, in elements."""

    buffer: Buffer
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.buffer.dtype

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def span(self) -> int:
        """The number of elements from the first to the last, both included."""
        steps = zip(self.shape, self.strides, strict=True)
        return 1 + sum((size - 1) * step for size, step in steps)

    @property
    def is_dense(self) -> bool:
        """Whether the elements follow one another in C order."""
        dense = dense_strides(self.shape)
        sizes = zip(self.shape, self.strides, dense, strict=True)
        return all(size == 1 or step == wanted for size, step, wanted in sizes)

    @property
    def is_whole(self) -> bool:
        """Whether the view is all of its buffer, in C order."""
        return self.offset == 0 and self.size == self.buffer.size and self.is_dense


Table: TypeAlias = "View | list[Table]"
"""A view, or a table of views as modules exchange them."""


def views_in(value: Table) -> list[View]:
    """The views of a table, those of tables in it too."""
    if isinstance(value, list):
        return [view for entry in value for view in views_in(entry)]
    return [value]


@dataclass(eq=False)
class Constant:
    """A tensor that a model brings along: a parameter, or a statistic."""

    value: Tensor


Operand: TypeAlias = "View | Constant | bool | int | float | None"


@dataclass
class Kernel:
    """A call of a C function."""

    function: str
    """Its name, such as ``Linear_updateOutput``; ``Tensor.cadd`` for a function of TH."""
    arguments: list[Operand]
    reads: list[View]
    writes: list[View]
    place: str
    """Where in the model the module is that calls it, such as ``3:ReLU``."""


@dataclass
class Call:
    """A call of a module that has no lowering, or of one that computes on arrays."""

    module: Any
    """The module of the model."""
    inputs: Table
    outputs: Table
    place: str

    @property
    def function(self) -> str:
        """What is called, as text."""
        return f"{self.module.typename()}.updateOutput"

    @property
    def reads(self) -> list[View]:
        """What the module is given."""
        return views_in(self.inputs)

    @property
    def writes(self) -> list[View]:
        """What its results are copied to, and its input, which it may change."""
        return [*views_in(self.outputs), *views_in(self.inputs)]


Operation: TypeAlias = "Kernel | Call"


@dataclass
class Graph:
    """What a model computes for inputs of certain shapes."""

    inputs: list[Table]
    outputs: Table
    operations: list[Operation] = field(default_factory=list)

    def _repr_html_(self) -> str:
        """The model's tree with what is computed in it, for notebooks."""
        html: str = notebooks.html_of_graph(self)
        return html

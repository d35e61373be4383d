"""Element-by-element modules by their definition, in numpy, and how they are called."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pythnn import thnn


def sigmoid(x: Any) -> Any:
    return np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x)))


def softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


@np.vectorize
def normal_probability(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def gate(x: Any) -> Any:
    """(1 + tanh(u)) / 2."""
    return sigmoid(math.sqrt(8 / math.pi) * (x + 0.044715 * x**3))


def gelu_tanh_slope(x: Any) -> Any:
    slope = math.sqrt(8 / math.pi) * (1 + 3 * 0.044715 * x * x)
    return gate(x) + x * gate(x) * gate(-x) * slope


def shrink_mask(x: Any) -> Any:
    return (x > 0.5) | (x < -0.5)


@dataclass
class Module:
    """output = forward(x), gradInput = gradOutput * slope(output if takes_output else x)."""

    name: str
    parameters: tuple[float, ...]
    forward: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    takes_output: bool = False
    takes_buffer: bool = False
    inplace: bool = False


MODULES = [
    Module("Abs", (), np.abs, lambda x: np.where(x >= 0, 1.0, -1.0)),
    Module(
        "ELU",
        (0.75,),
        lambda x: np.where(x > 0, x, 0.75 * np.expm1(np.minimum(x, 0))),
        lambda y: np.where(y > 0, 1, y + 0.75),
        takes_output=True,
        inplace=True,
    ),
    Module(
        "GELU",
        (),
        lambda x: x * normal_probability(x),
        lambda x: normal_probability(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi),
    ),
    Module("GELUTanh", (), lambda x: x * gate(x), gelu_tanh_slope),
    Module("HardShrink", (0.5,), lambda x: x * shrink_mask(x), shrink_mask),
    Module(
        "HardTanh",
        (-0.5, 0.75),
        lambda x: np.clip(x, -0.5, 0.75),
        lambda x: (x > -0.5) & (x < 0.75),
        inplace=True,
    ),
    Module(
        "LeakyReLU",
        (0.25,),
        lambda x: np.where(x > 0, x, 0.25 * x),
        lambda x: np.where(x > 0, 1, 0.25),
        inplace=True,
    ),
    Module("LogSigmoid", (), lambda x: -softplus(-x), lambda x: sigmoid(-x), takes_buffer=True),
    Module("SiLU", (), lambda x: x * sigmoid(x), lambda x: sigmoid(x) * (1 + x * sigmoid(-x))),
    Module("Sigmoid", (), sigmoid, lambda y: y * (1 - y), takes_output=True),
    Module(
        "SoftPlus",
        (1.5, 2.0),
        lambda x: np.where(1.5 * x > 2, x, softplus(1.5 * x) / 1.5),
        lambda y: np.where(1.5 * y > 2, 1, -np.expm1(-1.5 * y)),
        takes_output=True,
    ),
    Module(
        "SoftShrink",
        (0.5,),
        lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0),
        shrink_mask,
    ),
    Module("Square", (), np.square, lambda x: 2 * x),
    Module("Tanh", (), np.tanh, lambda y: 1 - y * y, takes_output=True),
    Module(
        "Threshold",
        (0.25, -1.0),
        lambda x: np.where(x > 0.25, x, -1.0),
        lambda x: x > 0.25,
        inplace=True,
    ),
]


def forward_arguments(module: Module, x: Any, y: Any, inplace: bool = False) -> tuple[Any, ...]:
    flags = (inplace,) if module.inplace else ()
    scratch = (None,) if module.takes_buffer else ()
    return (x, y, *scratch, *module.parameters, *flags)


def backward_arguments(
    module: Module, x: Any, g: Any, gx: Any, y: Any, inplace: bool = False
) -> tuple[Any, ...]:
    flags = (inplace,) if module.inplace else ()
    saved = (y,) if module.takes_output else (None,) if module.takes_buffer else ()
    return (x, g, gx, *saved, *module.parameters, *flags)


def call_forward(module: Module, x: Any, y: Any, inplace: bool = False, state: Any = None) -> None:
    function = getattr(thnn, f"{module.name}_updateOutput")
    function(state, *forward_arguments(module, x, y, inplace))


def call_backward(
    module: Module, x: Any, g: Any, gx: Any, y: Any, inplace: bool = False, state: Any = None
) -> None:
    function = getattr(thnn, f"{module.name}_updateGradInput")
    function(state, *backward_arguments(module, x, g, gx, y, inplace))

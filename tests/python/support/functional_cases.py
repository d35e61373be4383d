"""What cases of functions on arrays are made of: calls with their gradients, and random arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pythnn import functional


class Functions:
    """pythnn.functional; or what stands in for it in all cases."""

    target: Any = functional

    def __getattr__(self, name: str) -> Any:
        return getattr(self.target, name)


F = Functions()


class Case(NamedTuple):
    """A forward function of float arrays, and the gradients of all of them."""

    arrays: tuple[Any, ...]
    forward: Callable[..., Any]
    backward: Callable[..., Any]
    """Of the gradient of the output, then the arrays."""


rng = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape)


def apart(*shape: int) -> np.ndarray:
    """Numbers far from each other and from 0: no step crosses a kink."""
    count = int(np.prod(shape))
    return rng.permutation(np.arange(count) - count / 2 + 0.25).reshape(shape) / 4


def pair(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A forward and a backward function, looked up when they are called."""
    return (
        lambda *given, **named: getattr(F, name)(*given, **named),
        lambda *given, **named: getattr(F, f"{name}_backward")(*given, **named),
    )


def pooling(name: str, x: np.ndarray, *sizes: Any, **options: Any) -> Case:
    forward, backward = pair(name)
    return Case(
        (x,),
        lambda x: forward(x, *sizes, **options)[0],
        lambda g, x: backward(g, x, forward(x, *sizes, **options)[1], *sizes, **options),
    )


def of_output(name: str, x: np.ndarray, *rest: Any) -> Case:
    forward, backward = pair(name)
    return Case(
        (x,), lambda x: forward(x, *rest), lambda g, x: backward(g, forward(x, *rest), *rest)
    )


def plain(name: str, arrays: tuple[Any, ...], *rest: Any, **options: Any) -> Case:
    forward, backward = pair(name)
    return Case(
        arrays,
        lambda *a: forward(*a, *rest, **options),
        lambda g, *a: backward(g, *a, *rest, **options),
    )


def with_bias(name: str, arrays: tuple[Any, ...], *rest: Any, **options: Any) -> Case:
    """Backward functions that have no use for the bias."""
    forward, backward = pair(name)
    return Case(
        arrays,
        lambda *a: forward(*a, *rest, **options),
        lambda g, *a: backward(g, *a[:-1], *rest, **options),
    )


def alone(n: int, x: np.ndarray, weight: np.ndarray, **settings: Any) -> Case:
    """The functions of one gradient, from shapes alone."""
    name = f"conv{n}d"
    return Case(
        (x, weight),
        lambda x, w: getattr(F, name)(x, w, **settings),
        lambda g, x, w: (
            getattr(F, f"{name}_grad_input")(g, w, x.shape[2:], **settings),
            getattr(F, f"{name}_grad_weight")(g, x, w.shape[2:], **settings),
        ),
    )


def loss(name: str, x: np.ndarray, *rest: Any, **options: Any) -> Case:
    forward, backward = pair(name)
    return Case(
        (x,),
        lambda x: forward(x, *rest, **options),
        lambda g, x: g * backward(x, *rest, **options),
    )

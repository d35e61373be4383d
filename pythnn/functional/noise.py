"""Activations that draw random numbers: dropout, and slopes that differ for each element."""

from __future__ import annotations

import os
import threading

from .. import thnn
from .._calls.recorded import Recorded, Unrecordable
from .._generator import Generator
from .._library import lib
from ._arrays import Array, Real, Unfit, check_shape, like, new
from ._axes import empty
from ._front import function

__all__ = ["dropout", "dropout_backward", "rrelu", "rrelu_backward"]

_random = lib.THRandom_random

_OWN = threading.local()
"""For each thread, the generator that it draws from where no other one is given."""


def _forget() -> None:
    """A forked process must not draw the numbers of its parent."""
    _OWN.__dict__.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _own() -> Generator:
    """The calling thread's generator, with a seed from the system."""
    try:
        found: Generator = _OWN.generator
    except AttributeError:
        found = _OWN.generator = Generator()
    return found


def _seed(x: Array, generator: Generator) -> int:
    """A seed for numbers beside an array: 64 bits, the generator's next two numbers."""
    if type(x) is Recorded:
        raise Unrecordable("each call draws other numbers")
    drawn = generator._open()
    seed: int = (_random(drawn) << 32 | _random(drawn)) - 2**63
    return seed


@function(x="...", mask="...")
def dropout(
    x: Real,
    p: float = 0.5,
    *,
    mask: Real | None = None,
    training: bool = True,
    generator: Generator | None = None,
) -> tuple[Array, Array]:
    """x times a mask: 0 with probability `p`, else 1 / (1 - p). Dropout.

    Parameters
    ----------
    x : any shape
    p : float
        From 0 to 1; with 1 nothing is left.
    mask : of the shape of `x`, optional
        Takes the place of a random one, and of `p`.
    training : bool
        Without it, the mask is of ones.
    generator : Generator, optional
        Its next two numbers are the seed of the mask (Philox4x32-10), which is the same for any
        number of threads, on CPU and GPU, and for both real types. By default it is the thread's
        own, with a seed from the system.

    Returns the output and the mask, which the backward function needs.

    >>> output, mask = dropout(np.ones(1000), 0.25)
    >>> sorted(set(mask.round(4).tolist())), bool((output == mask).all())
    ([0.0, 1.3333], True)
    """
    if not 0 <= p <= 1:
        raise Unfit("p", "a probability from 0 to 1", f"{p}")
    if mask is not None:
        mask = mask.copy()
    elif training and 0 < p < 1:
        output, mask = like(x), like(x)
        thnn.Dropout_updateOutput(None, x, output, mask, p, _seed(x, generator or _own()))
        return output, mask
    else:
        mask = empty(x.shape, x)
        mask.fill(0 if training and p == 1 else 1)
    return x * mask, mask


@function(takes_empty=True, grad_output="...", mask="...")
def dropout_backward(grad_output: Real, mask: Real) -> Array:
    """The gradient of `x`; `mask` as :func:`dropout` returned it."""
    grad_x: Array = grad_output * mask
    return grad_x


@function(x="...")
def rrelu(
    x: Real,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    *,
    training: bool = True,
    generator: Generator | None = None,
) -> tuple[Array, Array]:
    """x where positive, else x times a random slope. THNN's RReLU.

    Parameters
    ----------
    lower, upper : float
        Bounds of the slope. Without `training` it is their mean.
    generator : Generator, optional
        Where the slopes are drawn from; by default the thread's own, with a seed from the system.

    Returns the output and the slopes, 1 where x is positive (empty without `training`).

    >>> rrelu([-2.0, 2.0], 0.5, 0.5)
    (array([-1.,  2.]), array([0.5, 1. ]))
    """
    generator = generator or _own()
    output = like(x)
    slopes = like(x) if training else new((0,), x)
    thnn.RReLU_updateOutput(None, x, output, slopes, lower, upper, training, False, generator)
    return output, slopes


@function(x="...", grad_output="...")
def rrelu_backward(
    grad_output: Real,
    x: Real,
    slopes: Real,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    *,
    training: bool = True,
) -> Array:
    """The gradient of `x`; `slopes` as :func:`rrelu` returned them."""
    noise = slopes if training else None
    if training:
        check_shape("slopes", slopes, x.shape)
    grad_x = like(x)
    thnn.RReLU_updateGradInput(None, x, grad_output, grad_x, noise, lower, upper, training, False)
    return grad_x

"""Softmax and its logarithm, over one axis or several.

`state` says how many threads compute it, and whether cuDNN does on a GPU: :class:`pythnn.State`.
"""

from __future__ import annotations

from typing import Any

from .. import thnn
from .._state import State
from ._arrays import Array, Real, like, new, on_host
from ._axes import Axes, Block, as_block, axes_of, empty, from_block, sides_of
from ._choices import checked
from ._front import function

__all__ = ["log_softmax", "log_softmax_backward", "softmax", "softmax_backward"]


def _as_planes(x: Array, axis: Axes) -> Block:
    """The axes as the second of four dimensions, along which THNN normalises 4-D tensors."""
    block = as_block(x, axes_of(x, axis))
    return block._replace(array=block.array[..., None])


@function(x="...")
def softmax(x: Real, axis: Axes = -1, *, state: State | None = None) -> Array:
    """exp(x) divided by its sum along an axis, or along several. THNN's SoftMax.

    >>> softmax([[0.0, 0.0], [-np.inf, 0.0]])
    array([[0.5, 0.5],
           [0. , 1. ]])
    >>> softmax([[0.0, 0.0], [0.0, 0.0]], axis=(0, 1))
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    return _result(thnn.SoftMax_updateOutput, x, axis, state, log=False)


@function(output="...", grad_output="...")
def softmax_backward(
    grad_output: Real, output: Real, axis: Axes = -1, *, state: State | None = None
) -> Array:
    """The gradient of `x`, from what :func:`softmax` returned."""
    return _gradient(thnn.SoftMax_updateGradInput, grad_output, output, axis, state, log=False)


@function(x="...")
def log_softmax(x: Real, axis: Axes = -1, *, state: State | None = None) -> Array:
    """x minus the logarithm of the sum of exp(x) along an axis, or along several.

    THNN's LogSoftMax.

    >>> log_softmax([0.0, 0.0]).round(4)
    array([-0.6931, -0.6931])
    """
    return _result(thnn.LogSoftMax_updateOutput, x, axis, state, log=True)


@function(output="...", grad_output="...")
def log_softmax_backward(
    grad_output: Real, output: Real, axis: Axes = -1, *, state: State | None = None
) -> Array:
    """The gradient of `x`, from what :func:`log_softmax` returned."""
    return _gradient(thnn.LogSoftMax_updateGradInput, grad_output, output, axis, state, log=True)


def _result(of: Any, x: Array, axis: Axes, state: State | None, *, log: bool) -> Array:
    if state is not None:
        checked(state)
    elif on_host(x):
        sides = sides_of(x.shape, axis)
        if sides is not None:
            made = new((*sides, 1), x)
            of(None, x.reshape(made.shape), made)
            return made.reshape(x.shape)
    planes = _as_planes(x, axis)
    if not on_host(x):
        from ._on_cudnn import done, layers, wanted

        handle = wanted(state, x)
        if handle is not None:
            output = empty(planes.array.shape, x)
            if done(state, layers.softmax, handle, planes.array, output, log=log):
                return from_block(output, planes)
    output = like(planes.array)
    of(state, planes.array, output)
    return from_block(output, planes)


def _gradient(
    of: Any, grad_output: Array, output: Array, axis: Axes, state: State | None, *, log: bool
) -> Array:
    if state is not None:
        checked(state)
    elif on_host(output) and grad_output.shape == output.shape:
        sides = sides_of(output.shape, axis)
        if sides is not None:
            made = new((*sides, 1), output)
            shape = made.shape
            of(None, None, grad_output.reshape(shape), made, output.reshape(shape))
            return made.reshape(output.shape)
    planes, grads = _as_planes(output, axis), _as_planes(grad_output, axis)
    if not on_host(output):
        from ._on_cudnn import done, layers, wanted

        handle = wanted(state, output)
        if handle is not None and grad_output.shape == output.shape:
            grad_x, arrays = empty(planes.array.shape, output), (planes.array, grads.array)
            if done(state, layers.softmax_backward, handle, *arrays, grad_x, log=log):
                return from_block(grad_x, planes)
    grad_x = like(planes.array)
    of(state, None, grads.array, grad_x, planes.array)
    return from_block(grad_x, planes)

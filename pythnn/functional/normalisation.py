"""Layers that normalise: batch, layer, group and instance normalisation.

All of them return the output, the mean and 1 / sqrt(var + eps), which the backward functions need;
var is the mean square of the distances from the mean.

`state` says how many threads compute batch normalisation, and whether cuDNN does on a GPU:
:class:`pythnn.State`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import thnn
from .._state import State
from .._tensor import array_module
from ._arrays import (
    Array,
    Real,
    Unfit,
    Written,
    check_shape,
    integer,
    like,
    new,
    on_host,
    shaped,
    zeros,
)
from ._axes import Axes, Block, as_block, axes_of, empty, from_block
from ._choices import checked
from ._front import function
from ._normalised import (
    are_plain_channels,
    check_elements,
    normalised,
    normalised_backward,
    normalised_channels,
)

__all__ = [
    "batch_norm",
    "batch_norm_backward",
    "group_norm",
    "group_norm_backward",
    "instance_norm",
    "instance_norm_backward",
    "layer_norm",
    "layer_norm_backward",
]


class _Planes(NamedTuple):
    """An array as batch x planes [x ...], each plane of which has its statistics."""

    block: Block
    narrow: tuple[int, ...]
    """The shape of statistics without the axes that are summed over."""
    wide: tuple[int, ...]
    """The same with ones in place of these."""

    def flat(self, name: str, array: Any) -> Any:
        """Parameters or statistics, in one of the two shapes, with one dimension; None stays."""
        if array is None:
            return None
        if array.shape != self.narrow and array.shape != self.wide:
            wanted = f"shape {self.narrow}"
            if self.wide != self.narrow:
                wanted += f" or {self.wide}"
            raise Unfit(name, wanted, f"shape {tuple(array.shape)}")
        return array if array.ndim == 1 else array.reshape(-1)


def _planes_of(x: Array, axes: Any) -> _Planes:
    """The planes of batch normalisation: by default those along the second axis."""
    shape = x.shape
    if axes is None:
        if len(shape) < 2:
            raise Unfit("x", "batch x planes [x ...]", f"shape {tuple(shape)}")
        _, narrow, wide = _kept(shape, None)
        return _Planes(Block(x, shape, None), narrow, wide)
    kept, narrow, wide = _kept(shape, axes_of(x, axes, "axes"))
    return _Planes(as_block(x, kept), narrow, wide)


@functools.lru_cache(maxsize=256)
def _kept(
    shape: tuple[int, ...], summed: tuple[int, ...] | None
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The axes that are not summed over, and the shapes of statistics: narrow and wide."""
    if summed is None:
        summed = (0, *range(2, len(shape)))
    wide = tuple(1 if i in summed else n for i, n in enumerate(shape))
    others = tuple(i for i in range(len(shape)) if i not in summed)
    return others, tuple(shape[i] for i in others), wide


@function(takes_empty=True)
def batch_norm(
    x: Real,
    weight: Real | None = None,
    bias: Real | None = None,
    running_mean: Written | None = None,
    running_var: Written | None = None,
    *,
    training: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
    axes: Axes | None = None,
    state: State | None = None,
) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(var + eps) * weight + bias, plane by plane. THNN's BatchNormalization.

    Parameters
    ----------
    x : batch x planes [x ...]; of any shape with `axes`
    weight, bias : (planes,), optional
    running_mean, running_var : (planes,), optional
        Updated in place in training, by a share of `momentum` of the batch's: of its mean, and of
        the sum of squares divided by m - 1 where m elements have one mean (of 0 where m is 1).
        Needed without `training`, where they are what is normalised by.
    axes : an axis or several, optional
        Those that are summed over; by default all but the second. (0,) has a mean for each
        activation, all axes but that of the channels have one for each channel. Parameters and
        statistics have the shape of the other axes, with ones in place of `axes` or without.

    Returns the output, and what the backward function needs: the mean and 1 / sqrt(var + eps) of
    the batch in training, the running ones otherwise. They have the shape of the first of the
    parameters and statistics that is given.

    >>> output, mean, inverse_std = batch_norm([[1.0], [3.0]], eps=0.0)
    >>> output.ravel(), mean, inverse_std
    (array([-1.,  1.]), array([2.]), array([1.]))
    """
    given = (weight, bias, running_mean, running_var)
    if state is None and axes is None and are_plain_channels(x, given, training=training):
        return normalised_channels(x, *given, training, momentum, eps)
    planes = _planes_of(x, axes)
    weight, bias, mean_before, var_before = map(planes.flat, _PARAMETERS, given)
    count = math.prod(planes.narrow)
    if not training:
        for name, array in zip(_PARAMETERS[2:], given[2:], strict=True):
            if array is None:
                raise Unfit(name, "an array: without training it is what is used", "None")
    elif not x.size:
        check_elements(x, x.size if count else 1)
    alone = training and x.size == count
    mean_after = zeros(count, x) if mean_before is None else mean_before
    var_after = zeros(count, x) if var_before is None or alone else var_before
    mean, inverse_std = zeros(count, x), zeros(count, x)
    output = like(planes.block.array)
    parameters, running, saved = (weight, bias), (mean_after, var_after), (mean, inverse_std)
    by_cudnn = handle = None
    if state is not None or not on_host(x):
        handle = _cudnn(x, state, _obstacle(running, training=training, alone=alone, eps=eps))
    if handle is not None:
        by_cudnn = _by_cudnn(
            handle, state, planes.block.array, parameters, running,
            saved if training else None, momentum, eps,
        )  # fmt: skip
    if by_cudnn is not None:
        output = by_cudnn
    elif x.size:
        thnn.BatchNormalization_updateOutput(
            state, planes.block.array, output, weight, bias, mean_after, var_after,
            mean, inverse_std, training, momentum, eps,
        )  # fmt: skip
    if not training:
        mean = mean_before.copy()
        inverse_std = 1 / array_module(x).sqrt(var_before + x.dtype.type(eps))
    elif alone and running_var is not None:
        running_var *= x.dtype.type(1 - momentum)
    else:
        _written_back(running_var, var_after)
    if training:
        _written_back(running_mean, mean_after)
    shape = next((array.shape for array in given if array is not None), planes.narrow)
    return from_block(output, planes.block), mean.reshape(shape), inverse_std.reshape(shape)


def _cudnn(x: Any, state: State | None, obstacle: str) -> Any:
    """cuDNN's handle, if it computes batch normalisation of `x`."""
    if state is not None:
        checked(state)
    if on_host(x) or not x.size:
        return None
    from ._on_cudnn import wanted

    return wanted(state, x, obstacle)


def _obstacle(running: tuple[Any, Any], *, training: bool, alone: bool, eps: float) -> str:
    """Why cuDNN does not have a batch normalisation; empty where it does."""
    if training and alone:
        return "planes of one element, which have no variance"
    if training and any(array.strides != (array.dtype.itemsize,) for array in running):
        return "running statistics with gaps"
    return "a negative eps" if eps < 0 else ""


def _by_cudnn(
    handle: Any,
    state: State | None,
    x: Array,
    parameters: tuple[Any, Any],
    running: tuple[Any, Any],
    saved: tuple[Any, Any] | None,
    momentum: float,
    eps: float,
) -> Array | None:
    """The normalised planes: by their own statistics, which go to `saved`, or by running ones."""
    from ._on_cudnn import done, layers

    planes = x.reshape(*x.shape[:2], -1)
    weight, bias = parameters
    xp, count = array_module(x), x.shape[1]
    factors = (
        xp.ones(count, x.dtype) if weight is None else weight,
        zeros(count, x) if bias is None else bias,
    )
    output = empty(x.shape, x)
    arrays = (handle, planes, output, factors, running)
    if saved is None:
        by_cudnn = done(state, layers.norm_in_use, *arrays, eps)
    else:
        by_cudnn = done(state, layers.norm_in_training, *arrays, saved, momentum, eps)
    return output if by_cudnn else None


def _gradients_by_cudnn(
    handle: Any, state: State | None, arrays: tuple[Any, Any, Any, Any, Any]
) -> tuple[Array, Array, Array] | None:
    """The gradients of planes, of their weights and of their biases, in training."""
    from ._on_cudnn import done, layers

    x, grad_output, weight, mean, inverse = arrays
    planes, grads = (array.reshape(*x.shape[:2], -1) for array in (x, grad_output))
    count = x.shape[1]
    if weight is None:
        weight = array_module(x).ones(count, x.dtype)
    found = empty(x.shape, x), zeros(count, x), zeros(count, x)
    given = (planes, grads, weight, mean, inverse)
    return found if done(state, layers.norm_backward, handle, given, found) else None


_FEW = 32
"""Elements of a mean. Of fewer, differences between gradients may cancel: those are of doubles."""


def _in_double(
    planes: Array, grads: Array, weight: Array | None, _: Array, inverse: Array
) -> tuple[Any, Any, Any, Any, Any]:
    """Arrays in double precision, with the mean as that has it."""
    wide = planes.astype("float64")
    mean = wide.mean((0, *range(2, planes.ndim)))
    others = [None if a is None else a.astype("float64") for a in (grads, weight, inverse)]
    return wide, others[0], others[1], mean, others[2]


def _planes_backward(
    planes: Array,
    grads: Array,
    weight: Array | None,
    mean: Array,
    inverse: Array,
    training: bool,
    state: State | None,
) -> tuple[Array, Array, Array]:
    """The gradients of planes, of their weights and of their biases."""
    handle = _cudnn(planes, state, "" if training else "gradients with given statistics")
    if handle is not None:
        found = _gradients_by_cudnn(handle, state, (planes, grads, weight, mean, inverse))
        if found is not None:
            return found
    grad_planes, count = like(planes), len(mean)
    grad_weight, grad_bias = zeros(count, planes), zeros(count, planes)
    # Without training the C function takes the variance, to which it adds eps.
    used = (None, None) if training else (mean, inverse**-2)
    saved = (mean, inverse) if training else (None, None)
    thnn.BatchNormalization_backward(
        state, planes, grads, grad_planes, grad_weight, grad_bias, weight,
        used[0], used[1], saved[0], saved[1], training, 1.0, 0.0,
    )  # fmt: skip
    return shaped(grad_planes, planes.shape), grad_weight, grad_bias


_PARAMETERS = ("weight", "bias", "running_mean", "running_var")


def _written_back(running: Any, flat: Any) -> None:
    """Puts what a C function wrote into statistics of several dimensions, if it was a copy."""
    if running is not None and running.ndim != 1:
        running[...] = flat.reshape(running.shape)


@function(takes_empty=True)
def batch_norm_backward(
    grad_output: Real,
    x: Real,
    weight: Real | None,
    mean: Real,
    inverse_std: Real,
    *,
    training: bool = True,
    axes: Axes | None = None,
    statistics: bool = False,
    state: State | None = None,
) -> tuple[Array, ...]:
    """The gradients of `x`, `weight` and `bias`, with `statistics` also of the mean and variance.

    Parameters
    ----------
    mean, inverse_std : as :func:`batch_norm` returned them
    statistics : bool
        Without `training`, where mean and variance are given numbers: also return the gradients of
        these two.
    """
    check_shape("grad_output", grad_output, x.shape)
    if statistics and training:
        raise Unfit("statistics", "False in training, where x makes the statistics", "True")
    planes = _planes_of(x, axes)
    factor, flat_mean = planes.flat("weight", weight), planes.flat("mean", mean)
    inverse = planes.flat("inverse_std", inverse_std)
    count = math.prod(planes.narrow)
    block = planes.block
    if not x.size:
        grad_x, grads = zeros(x.shape, x), [zeros(count, x), zeros(count, x)]
    else:
        given = grad_output if block.array is x else _planes_of(grad_output, axes).block.array
        arrays = (block.array, given, factor, flat_mean, inverse)
        if training and x.size < _FEW * count and x.dtype.itemsize < 8:
            arrays = _in_double(*arrays)
        grad_planes, *grads = _planes_backward(*arrays, training, state)
        grad_x = from_block(grad_planes, block).astype(x.dtype, copy=False)
        grads = [grad.astype(x.dtype, copy=False) for grad in grads]
    shapes = [(mean if weight is None else weight).shape] * 2
    if statistics:
        scale = inverse if factor is None else inverse * factor
        half = x.dtype.type(0.5)
        grads += [-grads[1] * scale, -half * grads[0] * scale * inverse]
        shapes += [mean.shape] * 2
    return grad_x, *(g.reshape(s) for g, s in zip(grads, shapes, strict=True))


# ---- Statistics of each sample


def _scaled(output: Array, weight: Any, bias: Any, shape: Sequence[int]) -> Array:
    """An array times a weight plus a bias, which get a shape; it is changed."""
    if weight is not None:
        output *= weight.reshape(shape)
    if bias is not None:
        output += bias.reshape(shape)
    return output


class _Layers(NamedTuple):
    """The shapes that belong to a layer normalisation."""

    axes: tuple[int, ...]
    others: tuple[int, ...]
    statistics: tuple[int, ...]
    parameters: tuple[int, ...]
    wide: tuple[int, ...]
    """That of the parameters, with ones for the other axes."""


def _layers(x: Array, axis: Axes, **parameters: Any) -> _Layers:
    found = _layers_of(x.shape, axes_of(x, axis))
    for name, array in parameters.items():
        if array is not None:
            check_shape(name, array, found.parameters)
    return found


@functools.lru_cache(maxsize=256)
def _layers_of(shape: tuple[int, ...], axes: tuple[int, ...]) -> _Layers:
    others = tuple(i for i in range(len(shape)) if i not in axes)
    sizes = tuple(shape[i] for i in axes)
    wide = tuple(n if i in axes else 1 for i, n in enumerate(shape))
    return _Layers(axes, others, tuple(shape[i] for i in others), sizes, wide)


def _rows(block: Block) -> Array | None:
    """What has a mean each as a row; None where these are no rows, or there are none."""
    array = block.array
    if array.size == 0:
        return None
    if array.shape[0] == 1:
        return array.reshape(array.shape[1:])
    return array.reshape(1, -1) if array.shape[1] == 1 else None


def _flat(array: Any) -> Any:
    return None if array is None else array.reshape(-1)


@function(takes_empty=True)
def layer_norm(
    x: Real,
    weight: Real | None = None,
    bias: Real | None = None,
    *,
    axis: Axes = -1,
    eps: float = 1e-5,
) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(var + eps) * weight + bias, with the mean along an axis or several.

    LayerNormalization, where these are the last axes.

    Parameters
    ----------
    x : any shape
    weight, bias : optional, with the sizes of `x` along `axis`

    Returns the output, the means and 1 / sqrt(var + eps), these with the shape of the other axes.

    >>> layer_norm([[1.0, 3.0], [6.0, 2.0]], eps=0.0)[0]
    array([[-1.,  1.],
           [ 1., -1.]])
    """
    layers = _layers(x, axis, weight=weight, bias=bias)
    block = as_block(x, layers.others)
    rows = _rows(block)
    if rows is not None:
        check_elements(x, rows.shape[1])
        output, mean, inverse_std = like(rows), new(rows.shape[:1], x), new(rows.shape[:1], x)
        thnn.LayerNormalization_updateOutput(
            None, rows, output, _flat(weight), _flat(bias), mean, inverse_std, eps
        )
        shape = layers.statistics
        return shaped(output, x.shape), shaped(mean, shape), shaped(inverse_std, shape)
    output, mean, inverse_std = normalised(x, block.array, eps, layers.statistics)
    scaled = _scaled(from_block(output, block), weight, bias, layers.wide)
    return scaled, mean, inverse_std


@function(takes_empty=True)
def layer_norm_backward(
    grad_output: Real,
    x: Real,
    weight: Real | None,
    mean: Real,
    inverse_std: Real,
    *,
    axis: Axes = -1,
) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`.

    `mean` and `inverse_std` as :func:`layer_norm` returned them.
    """
    layers = _layers(x, axis, weight=weight)
    check_shape("grad_output", grad_output, x.shape)
    check_shape("mean", mean, layers.statistics)
    check_shape("inverse_std", inverse_std, layers.statistics)
    check_elements(x, math.prod(layers.parameters))
    block = as_block(x, layers.others)
    rows = _rows(block)
    if rows is not None:
        given = grad_output.reshape(rows.shape), _flat(weight), mean, inverse_std
        grad_rows, grad_factor, grad_offset = _groups_backward(rows, *given, 1)
        shape = layers.parameters
        return shaped(grad_rows, x.shape), grad_factor.reshape(shape), grad_offset.reshape(shape)
    count = tuple(1 if i in layers.axes else n for i, n in enumerate(x.shape))
    normalised = (x - mean.reshape(count)) * inverse_std.reshape(count)
    grad_weight = (grad_output * normalised).sum(layers.others).reshape(layers.parameters)
    grad_bias = grad_output.sum(layers.others).reshape(layers.parameters)
    grad = grad_output if weight is None else grad_output * weight.reshape(layers.wide)
    grad_planes = as_block(grad, layers.others).array
    found = normalised_backward(grad_planes, block.array, mean, inverse_std)
    return from_block(found, block), grad_weight, grad_bias


def _groups(x: Array, groups: Any, weight: Any, bias: Any) -> int:
    """The number of groups of each sample's planes."""
    if x.ndim < 2:
        raise Unfit("x", "batch x planes [x ...]", f"shape {tuple(x.shape)}")
    planes = x.shape[1]
    count = planes if groups is None else integer("groups", groups)
    if count < 1 or planes % count:
        raise Unfit("groups", f"a divisor of {planes}, the planes of x", f"{count}")
    for name, array in (("weight", weight), ("bias", bias)):
        if array is not None:
            check_shape(name, array, (planes,))
    return count


def _by_groups(
    x: Array, groups: Any, weight: Any, bias: Any, eps: float
) -> tuple[Array, Array, Array]:
    count = _groups(x, groups, weight, bias)
    check_elements(x, x.shape[1] * math.prod(x.shape[2:]))
    shape = (len(x), count)
    if not x.size:
        return zeros(x.shape, x), zeros(shape, x), zeros(shape, x)
    output, mean, inverse_std = like(x), new(shape, x), new(shape, x)
    thnn.GroupNormalization_updateOutput(
        None, x, output, weight, bias, mean, inverse_std, count, eps
    )
    return output, mean, inverse_std


def _groups_backward(
    x: Array, grad_output: Array, weight: Any, mean: Array, inverse_std: Array, count: int
) -> tuple[Array, Array, Array]:
    """The gradients of an array in groups of planes, of their weights and of their biases."""
    grad_x = like(x)
    grad_weight, grad_bias = zeros(x.shape[1], x), zeros(x.shape[1], x)
    shape = (len(x), count)
    thnn.GroupNormalization_backward(
        None, x, grad_output, grad_x, grad_weight, grad_bias, weight,
        mean.reshape(shape), inverse_std.reshape(shape), count, 1.0,
    )  # fmt: skip
    return grad_x, grad_weight, grad_bias


def _by_groups_backward(
    grad_output: Array, x: Array, groups: Any, weight: Any, mean: Array, inverse_std: Array
) -> tuple[Array, Array, Array]:
    count = _groups(x, groups, weight, None)
    check_shape("grad_output", grad_output, x.shape)
    check_shape("mean", mean, (len(x), count))
    check_shape("inverse_std", inverse_std, (len(x), count))
    if not x.size:
        return zeros(x.shape, x), zeros(x.shape[1], x), zeros(x.shape[1], x)
    return _groups_backward(x, grad_output, weight, mean, inverse_std, count)


@function(takes_empty=True)
def group_norm(
    x: Real, groups: int, weight: Real | None = None, bias: Real | None = None, *, eps: float = 1e-5
) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(var + eps) * weight + bias, with the mean of groups of planes.

    GroupNormalization.

    Parameters
    ----------
    x : batch x planes [x ...]
    groups : int
        Into how many the planes of each sample are divided.
    weight, bias : (planes,), optional

    Returns the output, the means and 1 / sqrt(var + eps), these batch x groups.

    >>> group_norm([[1.0, 3.0, 6.0, 2.0]], 2, eps=0.0)[0]
    array([[-1.,  1.,  1., -1.]])
    """
    return _by_groups(x, groups, weight, bias, eps)


@function(takes_empty=True)
def group_norm_backward(
    grad_output: Real,
    x: Real,
    groups: int,
    weight: Real | None,
    mean: Real,
    inverse_std: Real,
) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`.

    `mean` and `inverse_std` as :func:`group_norm` returned them.
    """
    return _by_groups_backward(grad_output, x, groups, weight, mean, inverse_std)


@function(takes_empty=True)
def instance_norm(
    x: Real, weight: Real | None = None, bias: Real | None = None, *, eps: float = 1e-5
) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(var + eps) * weight + bias, with the mean of each plane of each sample.

    Parameters
    ----------
    x : batch x planes [x ...]
    weight, bias : (planes,), optional

    Returns the output, the means and 1 / sqrt(var + eps), these batch x planes.

    >>> instance_norm([[[1.0, 3.0], [6.0, 2.0]]], eps=0.0)[0]
    array([[[-1.,  1.],
            [ 1., -1.]]])
    """
    return _by_groups(x, None, weight, bias, eps)


@function(takes_empty=True)
def instance_norm_backward(
    grad_output: Real, x: Real, weight: Real | None, mean: Real, inverse_std: Real
) -> tuple[Array, Array, Array]:
    """The gradients of `x`, `weight` and `bias`.

    `mean` and `inverse_std` as :func:`instance_norm` returned them.
    """
    return _by_groups_backward(grad_output, x, None, weight, mean, inverse_std)

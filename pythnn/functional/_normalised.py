"""Normalisation of planes by their own statistics, as the C function takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import thnn
from ._arrays import Array, Unfit, like, on_host, zeros

__all__ = [
    "are_plain_channels",
    "check_elements",
    "normalised",
    "normalised_backward",
    "normalised_channels",
]


def check_elements(x: Array, count: int) -> None:
    if count == 0:
        raise Unfit("x", "samples to take the mean of", f"shape {tuple(x.shape)}")


def are_plain_channels(x: Any, given: Sequence[Any], *, training: bool) -> bool:
    """Whether the C function takes all as it is: of several elements, in the CPU's memory."""
    shape = x.shape
    if not on_host(x) or len(shape) < 2 or x.size <= shape[1]:
        return False
    channels = shape[1:2]
    for array in given:
        if array is None:
            if not training and (given[2] is None or given[3] is None):
                return False
        elif array.shape != channels:
            return False
    return True


def normalised_channels(
    x: Array,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Array, Array, Array]:
    """What :func:`batch_norm` returns of these."""
    dtype, channels = x.dtype, x.shape[1]
    output, mean, inverse_std = like(x), zeros(channels, x), zeros(channels, x)
    before = zeros(channels, x) if running_mean is None else running_mean
    var_before = zeros(channels, x) if running_var is None else running_var
    thnn.BatchNormalization_updateOutput(
        None,
        x,
        output,
        weight,
        bias,
        before,
        var_before,
        mean,
        inverse_std,
        training,
        momentum,
        eps,
    )
    if not training:
        mean = before.copy()
        inverse_std = 1 / np.sqrt(var_before + dtype.type(eps))
    return output, mean, inverse_std


def normalised(x: Array, planes: Array, eps: float, shape: Sequence[int]) -> tuple[Any, Any, Any]:
    """Planes minus their mean and divided by their deviation; these two in a shape."""
    count = planes.shape[1]
    check_elements(x, planes.shape[0] * planes.shape[2])
    mean, inverse_std, output = zeros(count, x), zeros(count, x), like(planes)
    if count:
        thnn.BatchNormalization_updateOutput(
            None, planes, output, None, None, zeros(count, x), zeros(count, x),
            mean, inverse_std, True, 0.0, eps,
        )  # fmt: skip
    return output, mean.reshape(shape), inverse_std.reshape(shape)


def normalised_backward(grad_planes: Array, planes: Array, mean: Array, inverse: Array) -> Any:
    """The gradient of planes that :func:`normalised` was given."""
    grad = like(planes)
    count = planes.shape[1]
    if count:
        thnn.BatchNormalization_backward(
            None, planes, grad_planes, grad, None, None, None, None, None,
            mean.reshape(-1), inverse.reshape(-1), True, 1.0, 0.0,
        )  # fmt: skip
    return grad

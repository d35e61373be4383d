"""Activations: functions of every element alone."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import thnn
from ._arrays import Array, Real, Unfit, like, zeros
from ._axes import Block, as_block, from_block
from ._front import function

__all__ = [
    "absolute",
    "absolute_backward",
    "elu",
    "elu_backward",
    "hard_shrink",
    "hard_shrink_backward",
    "hard_tanh",
    "hard_tanh_backward",
    "leaky_relu",
    "leaky_relu_backward",
    "log_sigmoid",
    "log_sigmoid_backward",
    "prelu",
    "prelu_backward",
    "relu",
    "relu_backward",
    "sigmoid",
    "sigmoid_backward",
    "soft_shrink",
    "soft_shrink_backward",
    "softplus",
    "softplus_backward",
    "sqrt",
    "sqrt_backward",
    "square",
    "square_backward",
    "tanh",
    "tanh_backward",
    "threshold",
    "threshold_backward",
]


@function(x="...")
def absolute(x: Real) -> Array:
    """abs(x), of any shape. THNN's Abs.

    >>> absolute([-1.0, 2.0])
    array([1., 2.])
    """
    output = like(x)
    thnn.Abs_updateOutput(None, x, output)
    return output


@function(x="...", grad_output="...")
def absolute_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.Abs_updateGradInput(None, x, grad_output, grad_x)
    return grad_x


@function(x="...")
def elu(x: Real, alpha: float = 1.0) -> Array:
    """x where positive, else alpha (exp(x) - 1). THNN's ELU.

    >>> elu([-np.inf, 0.0, 2.0])
    array([-1.,  0.,  2.])
    """
    output = like(x)
    thnn.ELU_updateOutput(None, x, output, alpha, False)
    return output


@function(output="...", grad_output="...")
def elu_backward(grad_output: Real, output: Real, alpha: float = 1.0) -> Array:
    """The gradient of `x`, from what :func:`elu` returned."""
    grad_x = like(output)
    thnn.ELU_updateGradInput(None, None, grad_output, grad_x, output, alpha, False)
    return grad_x


@function(x="...")
def hard_shrink(x: Real, threshold: float = 0.5) -> Array:
    """x where its magnitude exceeds the threshold, else 0. THNN's HardShrink.

    >>> hard_shrink([-1.0, 0.25, 2.0])
    array([-1.,  0.,  2.])
    """
    output = like(x)
    thnn.HardShrink_updateOutput(None, x, output, threshold)
    return output


@function(x="...", grad_output="...")
def hard_shrink_backward(grad_output: Real, x: Real, threshold: float = 0.5) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.HardShrink_updateGradInput(None, x, grad_output, grad_x, threshold)
    return grad_x


@function(x="...")
def hard_tanh(x: Real, low: float = -1.0, high: float = 1.0) -> Array:
    """x, but not below `low` nor above `high`. THNN's HardTanh.

    >>> hard_tanh([-3.0, 0.5, 3.0])
    array([-1. ,  0.5,  1. ])
    """
    output = like(x)
    thnn.HardTanh_updateOutput(None, x, output, low, high, False)
    return output


@function(x="...", grad_output="...")
def hard_tanh_backward(grad_output: Real, x: Real, low: float = -1.0, high: float = 1.0) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.HardTanh_updateGradInput(None, x, grad_output, grad_x, low, high, False)
    return grad_x


@function(x="...")
def leaky_relu(x: Real, negative_slope: float = 0.01) -> Array:
    """x where positive, else x times the slope. THNN's LeakyReLU.

    >>> leaky_relu([-2.0, 2.0], 0.5)
    array([-1.,  2.])
    """
    output = like(x)
    thnn.LeakyReLU_updateOutput(None, x, output, negative_slope, False)
    return output


@function(x="...", grad_output="...")
def leaky_relu_backward(grad_output: Real, x: Real, negative_slope: float = 0.01) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.LeakyReLU_updateGradInput(None, x, grad_output, grad_x, negative_slope, False)
    return grad_x


@function(x="...")
def log_sigmoid(x: Real) -> Array:
    """log(1 / (1 + exp(-x))). THNN's LogSigmoid.

    >>> log_sigmoid([0.0]).round(4)
    array([-0.6931])
    """
    output = like(x)
    thnn.LogSigmoid_updateOutput(None, x, output, None)
    return output


@function(x="...", grad_output="...")
def log_sigmoid_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.LogSigmoid_updateGradInput(None, x, grad_output, grad_x, None)
    return grad_x


class _Planes(NamedTuple):
    """An array and a weight as THNN's PReLU takes them."""

    axes: tuple[int, ...] | None
    """Those along which weights differ; None where the array is taken as it is."""
    block: Block | None
    weight: Array
    number: int
    """What THNN calls nOutputPlane: 0 for one weight that all elements share."""

    def of(self, array: Array) -> Array:
        """Another array of the same shape as it is taken."""
        return array if self.axes is None else as_block(array, self.axes).array

    def back(self, result: Any) -> Array:
        """A result in the shape of the argument."""
        found: Array = result if self.block is None else from_block(result, self.block)
        return found


def _planes(x: Array, weight: Array) -> tuple[Array, _Planes]:
    """An array as PReLU takes it, with what else it needs."""
    shape, sizes = x.shape, weight.shape
    if len(sizes) == 1 and x.ndim > 1 and sizes[0] == shape[1] > 1:  # one for each plane
        return x, _Planes(None, None, weight, sizes[0])
    if weight.size == 1 and weight.ndim <= max(x.ndim, 1):
        return x, _Planes(None, None, weight.reshape(-1), 0)
    first = 0 if len(sizes) == x.ndim else 1
    axes = range(first, first + len(sizes))
    fits = first + len(sizes) <= x.ndim and weight.size
    if not fits or any(n not in (1, shape[i]) for i, n in zip(axes, sizes, strict=True)):
        inner = " x ".join(map(str, shape[1:] if x.ndim > 1 else shape))
        wanted = f"one, or one for each plane or element of samples of {inner}"
        raise Unfit("weight", wanted, f"shape {tuple(sizes)}")
    own = tuple(i for i, n in zip(axes, sizes, strict=True) if n != 1)
    block = as_block(x, own)
    return block.array, _Planes(own, block, weight.reshape(-1), int(weight.size))


@function(x="...")
def prelu(x: Real, weight: Real) -> Array:
    """x where positive, else x times its weight. THNN's PReLU.

    Parameters
    ----------
    x : any shape with one weight, else [batch x] planes [x ...]
    weight : one number, (planes,), or the shape of `x` with or without the batch
        It may end before the last axes of `x`, along which elements then share a weight, as they
        do along an axis of which it has one: (planes, 1, 1).

    >>> prelu([-2.0, 2.0], [0.25])
    array([-0.5,  2. ])
    """
    taken, planes = _planes(x, weight)
    output = like(taken)
    thnn.PReLU_updateOutput(None, taken, output, planes.weight, planes.number)
    return planes.back(output)


@function(x="...", grad_output="...")
def prelu_backward(grad_output: Real, x: Real, weight: Real) -> tuple[Array, Array]:
    """The gradients of `x` and `weight`."""
    taken, planes = _planes(x, weight)
    grads, flat, count = planes.of(grad_output), planes.weight, planes.number
    grad_x, grad_weight = like(taken), zeros(flat.shape, flat)
    thnn.PReLU_updateGradInput(None, taken, grads, grad_x, flat, count)
    thnn.PReLU_accGradParameters(
        None, taken, grads, None, flat, grad_weight, None, None, count, 1.0
    )
    return planes.back(grad_x), grad_weight.reshape(weight.shape)


@function(x="...")
def relu(x: Real) -> Array:
    """max(x, 0).

    >>> relu([-2.0, 2.0])
    array([0., 2.])
    """
    output = like(x)
    thnn.Threshold_updateOutput(None, x, output, 0.0, 0.0, False)
    return output


@function(x="...", grad_output="...")
def relu_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.Threshold_updateGradInput(None, x, grad_output, grad_x, 0.0, 0.0, False)
    return grad_x


@function(x="...")
def sigmoid(x: Real) -> Array:
    """1 / (1 + exp(-x)). THNN's Sigmoid.

    >>> sigmoid([0.0])
    array([0.5])
    """
    output = like(x)
    thnn.Sigmoid_updateOutput(None, x, output)
    return output


@function(output="...", grad_output="...")
def sigmoid_backward(grad_output: Real, output: Real) -> Array:
    """The gradient of `x`, from what :func:`sigmoid` returned."""
    grad_x = like(output)
    thnn.Sigmoid_updateGradInput(None, None, grad_output, grad_x, output)
    return grad_x


@function(x="...")
def soft_shrink(x: Real, threshold: float = 0.5) -> Array:
    """x moved towards 0 by the threshold, 0 where it is nearer. THNN's SoftShrink.

    >>> soft_shrink([-1.0, 0.25, 2.0])
    array([-0.5,  0. ,  1.5])
    """
    output = like(x)
    thnn.SoftShrink_updateOutput(None, x, output, threshold)
    return output


@function(x="...", grad_output="...")
def soft_shrink_backward(grad_output: Real, x: Real, threshold: float = 0.5) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.SoftShrink_updateGradInput(None, x, grad_output, grad_x, threshold)
    return grad_x


@function(x="...")
def softplus(x: Real, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """log(1 + exp(beta x)) / beta, and x itself where beta x exceeds a threshold. THNN's SoftPlus.

    >>> softplus([0.0, 100.0]).round(4)
    array([  0.6931, 100.    ])
    """
    output = like(x)
    thnn.SoftPlus_updateOutput(None, x, output, beta, threshold)
    return output


@function(output="...", grad_output="...")
def softplus_backward(
    grad_output: Real, output: Real, beta: float = 1.0, threshold: float = 20.0
) -> Array:
    """The gradient of `x`, from what :func:`softplus` returned."""
    grad_x = like(output)
    thnn.SoftPlus_updateGradInput(None, None, grad_output, grad_x, output, beta, threshold)
    return grad_x


@function(x="...")
def sqrt(x: Real) -> Array:
    """The square root. THNN's Sqrt.

    >>> sqrt([4.0])
    array([2.])
    """
    output = like(x)
    thnn.Sqrt_updateOutput(None, x, output, 0.0)
    return output


@function(output="...", grad_output="...")
def sqrt_backward(grad_output: Real, output: Real) -> Array:
    """The gradient of `x`, from what :func:`sqrt` returned; 0 where that is 0."""
    grad_x = like(output)
    thnn.Sqrt_updateGradInput(None, output, grad_output, grad_x, output)
    return grad_x


@function(x="...")
def square(x: Real) -> Array:
    """x * x. THNN's Square.

    >>> square([3.0])
    array([9.])
    """
    output = like(x)
    thnn.Square_updateOutput(None, x, output)
    return output


@function(x="...", grad_output="...")
def square_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.Square_updateGradInput(None, x, grad_output, grad_x)
    return grad_x


@function(x="...")
def tanh(x: Real) -> Array:
    """The hyperbolic tangent. THNN's Tanh.

    >>> tanh([0.0, np.inf])
    array([0., 1.])
    """
    output = like(x)
    thnn.Tanh_updateOutput(None, x, output)
    return output


@function(output="...", grad_output="...")
def tanh_backward(grad_output: Real, output: Real) -> Array:
    """The gradient of `x`, from what :func:`tanh` returned."""
    grad_x = like(output)
    thnn.Tanh_updateGradInput(None, None, grad_output, grad_x, output)
    return grad_x


@function(x="...")
def threshold(x: Real, threshold: float = 0.0, value: float = 0.0) -> Array:
    """x where it exceeds the threshold, else the value. THNN's Threshold.

    >>> threshold([1.0, 3.0], 2.0, -1.0)
    array([-1.,  3.])
    """
    output = like(x)
    thnn.Threshold_updateOutput(None, x, output, threshold, value, False)
    return output


@function(x="...", grad_output="...")
def threshold_backward(grad_output: Real, x: Real, threshold: float = 0.0) -> Array:
    """The gradient of `x`."""
    grad_x = like(x)
    thnn.Threshold_updateGradInput(None, x, grad_output, grad_x, threshold, 0.0, False)
    return grad_x

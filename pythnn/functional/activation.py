"""Activations: functions of every element alone, and of pairs of halves."""

from __future__ import annotations

from .. import thnn
from .._generator import Generator
from ._arrays import OUT, Array, Real, Sum, call, calls, real
from ._places import anywhere

__all__ = [
    "absolute",
    "absolute_backward",
    "elu",
    "elu_backward",
    "glu",
    "glu_backward",
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
    "rrelu",
    "rrelu_backward",
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


@anywhere
def absolute(x: Real) -> Array:
    """abs(x), of any shape. THNN's Abs.

    >>> absolute([-1.0, 2.0])
    array([1., 2.])
    """
    return call(thnn.Abs_updateOutput, real(x), OUT)


@anywhere
def absolute_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    return call(thnn.Abs_updateGradInput, real(x), real(grad_output), OUT)


@anywhere
def elu(x: Real, alpha: float = 1.0) -> Array:
    """x where positive, else alpha (exp(x) - 1). THNN's ELU.

    >>> elu([-np.inf, 0.0, 2.0])
    array([-1.,  0.,  2.])
    """
    return call(thnn.ELU_updateOutput, real(x), OUT, alpha, False)


@anywhere
def elu_backward(grad_output: Real, output: Real, alpha: float = 1.0) -> Array:
    """The gradient of `x`, from what :func:`elu` returned."""
    return call(thnn.ELU_updateGradInput, None, real(grad_output), OUT, real(output), alpha, False)


@anywhere
def glu(x: Real, axis: int = -1) -> Array:
    """The first half of `x` along an axis times the sigmoid of the second. THNN's GatedLinear.

    >>> glu([3.0, 0.0])
    array([1.5])
    """
    x = real(x)
    return call(thnn.GatedLinear_updateOutput, x, OUT, axis % x.ndim + 1)


@anywhere
def glu_backward(grad_output: Real, x: Real, axis: int = -1) -> Array:
    """The gradient of `x`."""
    x = real(x)
    return call(thnn.GatedLinear_updateGradInput, x, real(grad_output), OUT, axis % x.ndim + 1)


@anywhere
def hard_shrink(x: Real, threshold: float = 0.5) -> Array:
    """x where its magnitude exceeds the threshold, else 0. THNN's HardShrink.

    >>> hard_shrink([-1.0, 0.25, 2.0])
    array([-1.,  0.,  2.])
    """
    return call(thnn.HardShrink_updateOutput, real(x), OUT, threshold)


@anywhere
def hard_shrink_backward(grad_output: Real, x: Real, threshold: float = 0.5) -> Array:
    """The gradient of `x`."""
    return call(thnn.HardShrink_updateGradInput, real(x), real(grad_output), OUT, threshold)


@anywhere
def hard_tanh(x: Real, low: float = -1.0, high: float = 1.0) -> Array:
    """x, but not below `low` nor above `high`. THNN's HardTanh.

    >>> hard_tanh([-3.0, 0.5, 3.0])
    array([-1. ,  0.5,  1. ])
    """
    return call(thnn.HardTanh_updateOutput, real(x), OUT, low, high, False)


@anywhere
def hard_tanh_backward(grad_output: Real, x: Real, low: float = -1.0, high: float = 1.0) -> Array:
    """The gradient of `x`."""
    return call(thnn.HardTanh_updateGradInput, real(x), real(grad_output), OUT, low, high, False)


@anywhere
def leaky_relu(x: Real, negative_slope: float = 0.01) -> Array:
    """x where positive, else x times the slope. THNN's LeakyReLU.

    >>> leaky_relu([-2.0, 2.0], 0.5)
    array([-1.,  2.])
    """
    return call(thnn.LeakyReLU_updateOutput, real(x), OUT, negative_slope, False)


@anywhere
def leaky_relu_backward(grad_output: Real, x: Real, negative_slope: float = 0.01) -> Array:
    """The gradient of `x`."""
    return call(
        thnn.LeakyReLU_updateGradInput, real(x), real(grad_output), OUT, negative_slope, False
    )


@anywhere
def log_sigmoid(x: Real) -> Array:
    """log(1 / (1 + exp(-x))). THNN's LogSigmoid.

    >>> log_sigmoid([0.0]).round(4)
    array([-0.6931])
    """
    return call(thnn.LogSigmoid_updateOutput, real(x), OUT, None)


@anywhere
def log_sigmoid_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    return call(thnn.LogSigmoid_updateGradInput, real(x), real(grad_output), OUT, None)


def _planes(weight: Array) -> int:
    """What THNN's PReLU calls nOutputPlane: 0 for one weight that all elements share."""
    return 0 if weight.size == 1 else int(weight.size)


@anywhere
def prelu(x: Real, weight: Real) -> Array:
    """x where positive, else x times its plane's weight. THNN's PReLU.

    Parameters
    ----------
    x : any shape with one weight, else [batch x] planes [x ...]
    weight : (1,) or (planes,)

    >>> prelu([-2.0, 2.0], [0.25])
    array([-0.5,  2. ])
    """
    weight = real(weight)
    return call(thnn.PReLU_updateOutput, real(x), OUT, weight, _planes(weight))


@anywhere
def prelu_backward(grad_output: Real, x: Real, weight: Real) -> tuple[Array, Array]:
    """The gradients of `x` and `weight`."""
    x, grad_output, weight = real(x), real(grad_output), real(weight)
    planes = _planes(weight)
    grad_x = call(thnn.PReLU_updateGradInput, x, grad_output, OUT, weight, planes)
    grad_weight = call(
        thnn.PReLU_accGradParameters,
        x, grad_output, None, weight, Sum(weight), None, None, planes, 1.0,
    )  # fmt: skip
    return grad_x, grad_weight


@anywhere
def relu(x: Real) -> Array:
    """max(x, 0).

    >>> relu([-2.0, 2.0])
    array([0., 2.])
    """
    return threshold(x)


@anywhere
def relu_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    return threshold_backward(grad_output, x)


@anywhere
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
        Where the slopes are drawn from; by default one with a seed from the system.

    Returns the output and the slopes, 1 where x is positive (empty without `training`).

    >>> rrelu([-2.0, 2.0], 0.5, 0.5)
    (array([-1.,  2.]), array([0.5, 1. ]))
    """
    generator = generator or Generator()
    found: tuple[Array, Array] = calls(
        thnn.RReLU_updateOutput, real(x), OUT, OUT, lower, upper, training, False, generator
    )
    return found


@anywhere
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
    noise = real(slopes) if training else None
    return call(
        thnn.RReLU_updateGradInput,
        real(x), real(grad_output), OUT, noise, lower, upper, training, False,
    )  # fmt: skip


@anywhere
def sigmoid(x: Real) -> Array:
    """1 / (1 + exp(-x)). THNN's Sigmoid.

    >>> sigmoid([0.0])
    array([0.5])
    """
    return call(thnn.Sigmoid_updateOutput, real(x), OUT)


@anywhere
def sigmoid_backward(grad_output: Real, output: Real) -> Array:
    """The gradient of `x`, from what :func:`sigmoid` returned."""
    return call(thnn.Sigmoid_updateGradInput, None, real(grad_output), OUT, real(output))


@anywhere
def soft_shrink(x: Real, threshold: float = 0.5) -> Array:
    """x moved towards 0 by the threshold, 0 where it is nearer. THNN's SoftShrink.

    >>> soft_shrink([-1.0, 0.25, 2.0])
    array([-0.5,  0. ,  1.5])
    """
    return call(thnn.SoftShrink_updateOutput, real(x), OUT, threshold)


@anywhere
def soft_shrink_backward(grad_output: Real, x: Real, threshold: float = 0.5) -> Array:
    """The gradient of `x`."""
    return call(thnn.SoftShrink_updateGradInput, real(x), real(grad_output), OUT, threshold)


@anywhere
def softplus(x: Real, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """log(1 + exp(beta x)) / beta, and x itself where beta x exceeds a threshold. THNN's SoftPlus.

    >>> softplus([0.0, 100.0]).round(4)
    array([  0.6931, 100.    ])
    """
    return call(thnn.SoftPlus_updateOutput, real(x), OUT, beta, threshold)


@anywhere
def softplus_backward(
    grad_output: Real, output: Real, beta: float = 1.0, threshold: float = 20.0
) -> Array:
    """The gradient of `x`, from what :func:`softplus` returned."""
    return call(
        thnn.SoftPlus_updateGradInput, None, real(grad_output), OUT, real(output), beta, threshold
    )


@anywhere
def sqrt(x: Real) -> Array:
    """The square root. THNN's Sqrt.

    >>> sqrt([4.0])
    array([2.])
    """
    return call(thnn.Sqrt_updateOutput, real(x), OUT, 0.0)


@anywhere
def sqrt_backward(grad_output: Real, output: Real) -> Array:
    """The gradient of `x`, from what :func:`sqrt` returned; 0 where that is 0."""
    output = real(output)
    return call(thnn.Sqrt_updateGradInput, output, real(grad_output), OUT, output)


@anywhere
def square(x: Real) -> Array:
    """x * x. THNN's Square.

    >>> square([3.0])
    array([9.])
    """
    return call(thnn.Square_updateOutput, real(x), OUT)


@anywhere
def square_backward(grad_output: Real, x: Real) -> Array:
    """The gradient of `x`."""
    return call(thnn.Square_updateGradInput, real(x), real(grad_output), OUT)


@anywhere
def tanh(x: Real) -> Array:
    """The hyperbolic tangent. THNN's Tanh.

    >>> tanh([0.0, np.inf])
    array([0., 1.])
    """
    return call(thnn.Tanh_updateOutput, real(x), OUT)


@anywhere
def tanh_backward(grad_output: Real, output: Real) -> Array:
    """The gradient of `x`, from what :func:`tanh` returned."""
    return call(thnn.Tanh_updateGradInput, None, real(grad_output), OUT, real(output))


@anywhere
def threshold(x: Real, threshold: float = 0.0, value: float = 0.0) -> Array:
    """x where it exceeds the threshold, else the value. THNN's Threshold.

    >>> threshold([1.0, 3.0], 2.0, -1.0)
    array([-1.,  3.])
    """
    return call(thnn.Threshold_updateOutput, real(x), OUT, threshold, value, False)


@anywhere
def threshold_backward(grad_output: Real, x: Real, threshold: float = 0.0) -> Array:
    """The gradient of `x`."""
    return call(
        thnn.Threshold_updateGradInput, real(x), real(grad_output), OUT, threshold, 0.0, False
    )

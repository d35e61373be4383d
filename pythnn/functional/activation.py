"""Activations: functions of every element alone, and of pairs of halves."""

from __future__ import annotations

from .. import thnn
from .._generator import Generator
from ._arrays import Array, Real, Unfit, axis_of, check_shape, like, new, zeros
from ._front import function

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
def glu(x: Real, axis: int = -1) -> Array:
    """The first half of `x` along an axis times the sigmoid of the second. THNN's GatedLinear.

    >>> glu([3.0, 0.0])
    array([1.5])
    """
    axis = axis_of(x, axis)
    output = new((*x.shape[:axis], x.shape[axis] // 2, *x.shape[axis + 1 :]), x)
    thnn.GatedLinear_updateOutput(None, x, output, axis + 1)
    return output


@function()
def glu_backward(grad_output: Real, x: Real, axis: int = -1) -> Array:
    """The gradient of `x`."""
    axis = axis_of(x, axis)
    check_shape(
        "grad_output", grad_output, (*x.shape[:axis], x.shape[axis] // 2, *x.shape[axis + 1 :])
    )
    grad_x = like(x)
    thnn.GatedLinear_updateGradInput(None, x, grad_output, grad_x, axis + 1)
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


def _planes(x: Array, weight: Array) -> int:
    """What THNN's PReLU calls nOutputPlane: 0 for one weight that all elements share."""
    planes = weight.size
    if planes == 1:
        return 0
    if x.ndim < 1 or x.shape[x.ndim > 1] != planes:
        raise Unfit("weight", f"one, or one for each plane of x of shape {x.shape}", f"{planes}")
    return int(planes)


@function(x="...", weight="planes")
def prelu(x: Real, weight: Real) -> Array:
    """x where positive, else x times its plane's weight. THNN's PReLU.

    Parameters
    ----------
    x : any shape with one weight, else [batch x] planes [x ...]
    weight : (1,) or (planes,)

    >>> prelu([-2.0, 2.0], [0.25])
    array([-0.5,  2. ])
    """
    planes = _planes(x, weight)
    output = like(x)
    thnn.PReLU_updateOutput(None, x, output, weight, planes)
    return output


@function(x="...", grad_output="...", weight="planes")
def prelu_backward(grad_output: Real, x: Real, weight: Real) -> tuple[Array, Array]:
    """The gradients of `x` and `weight`."""
    planes = _planes(x, weight)
    grad_x, grad_weight = like(x), zeros(weight.shape, weight)
    thnn.PReLU_updateGradInput(None, x, grad_output, grad_x, weight, planes)
    thnn.PReLU_accGradParameters(
        None, x, grad_output, None, weight, grad_weight, None, None, planes, 1.0
    )
    return grad_x, grad_weight


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

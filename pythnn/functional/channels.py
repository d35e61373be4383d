"""What neighbouring channels or features make of each other: a normalisation and a pooling."""

from __future__ import annotations

from typing import Any

from .. import thnn
from ._arrays import Array, Real, Unfit, check_shape, integer, like, new
from ._front import function

__all__ = [
    "cross_map_lrn",
    "cross_map_lrn_backward",
    "feature_lp_pool",
    "feature_lp_pool_backward",
]


def _pooled_features(x: Array, width: Any, stride: Any, batch: bool) -> tuple[int, ...]:
    """The shape of the output."""
    axis = 1 if batch else 0
    if not axis < x.ndim < axis + 4:
        layout = "batch x features" if batch else "features"
        raise Unfit("x", f"{layout} [x d1 [x d2]]", f"shape {tuple(x.shape)}")
    step = max(integer("stride", stride), 1)
    features = (x.shape[axis] - integer("width", width)) // step + 1
    return (*x.shape[:axis], features, *x.shape[axis + 1 :])


@function()
def feature_lp_pool(x: Real, power: float, width: int, stride: int, *, batch: bool = True) -> Array:
    """The p-norm of neighbouring features. THNN's FeatureLPPooling.

    Parameters
    ----------
    x : [batch x] features [x d1 [x d2]], with `batch` unless that is False
    width, stride : features in a window (2 to 16) and between windows (1 to 4)

    >>> feature_lp_pool([[3.0, 4.0]], 2, 2, 1)
    array([[5.]])
    """
    output = new(_pooled_features(x, width, stride, batch), x)
    thnn.FeatureLPPooling_updateOutput(None, x, output, power, width, stride, batch)
    return output


@function()
def feature_lp_pool_backward(
    grad_output: Real,
    x: Real,
    output: Real,
    power: float,
    width: int,
    stride: int,
    *,
    batch: bool = True,
) -> Array:
    """The gradient of `x`; `output` as :func:`feature_lp_pool` returned it."""
    shape = _pooled_features(x, width, stride, batch)
    check_shape("output", output, shape)
    check_shape("grad_output", grad_output, shape)
    grad_x = like(x)
    thnn.FeatureLPPooling_updateGradInput(
        None, grad_output, x, output, grad_x, power, width, stride, batch
    )
    return grad_x


@function(x="[batch] channels height width")
def cross_map_lrn(
    x: Real, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> tuple[Array, Array]:
    """x * scale**-beta, scale = k + alpha times the mean square of `size` neighbouring channels.

    THNN's SpatialCrossMapLRN (Krizhevsky et al., 2012). `x` is [batch x] channels x height x width.
    Returns the output and the scale.

    >>> cross_map_lrn(np.ones((1, 1, 1)), 1, alpha=1.0, beta=1.0)
    (array([[[0.5]]]), array([[[2.]]]))
    """
    output, scale = like(x), like(x)
    thnn.SpatialCrossMapLRN_updateOutput(None, x, output, scale, size, alpha, beta, k)
    return output, scale


@function(x="[batch] channels height width")
def cross_map_lrn_backward(
    grad_output: Real,
    x: Real,
    output: Real,
    scale: Real,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
) -> Array:
    """The gradient of `x`; `output` and `scale` as :func:`cross_map_lrn` returned them."""
    for name, array in (("grad_output", grad_output), ("output", output), ("scale", scale)):
        check_shape(name, array, x.shape)
    grad_x = like(x)
    thnn.SpatialCrossMapLRN_updateGradInput(
        None, x, grad_output, grad_x, scale, output, size, alpha, beta, k
    )
    return grad_x

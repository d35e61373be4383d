"""Pooling, softmax and batch normalisation by cuDNN, on dense arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import descriptors
from .handle import Handle, address, dense

__all__ = [
    "Pooling",
    "norm_backward",
    "norm_in_training",
    "norm_in_use",
    "pool",
    "pool_backward",
    "softmax",
    "softmax_backward",
]

# ---- Pooling

_MODES = {"mean of all": 1, "mean of elements": 2, "max": 3}
"""cuDNN's numbers; that of the maximum is the one with deterministic gradients."""


class Pooling(NamedTuple):
    """Windows over the last two or three axes of batch x planes x sizes."""

    mode: str
    """"max", or a mean, of a window with its padding or without."""
    window: tuple[int, ...]
    padding: tuple[int, ...]
    stride: tuple[int, ...]
    factor: float
    """What means are multiplied by."""


def _windows(handle: Handle, pooling: Pooling) -> Any:
    mode = _MODES[pooling.mode]
    windows = (pooling.window, pooling.padding, pooling.stride)
    return descriptors.pooling(handle.library, mode, *windows).pointer


def pool(
    handle: Handle, pooling: Pooling, x: Any, y: Any, image: tuple[int, ...], map_: tuple[int, ...]
) -> None:
    """Pools an array of the shape `image` to a dense one of the shape `map_`."""
    real, x = x.dtype.name, dense(x)
    handle.run(
        "cudnnPoolingForward",
        _windows(handle, pooling), descriptors.factor(real, pooling.factor),
        descriptors.tensor(handle.library, real, image).pointer, address(x),
        descriptors.factor(real, 0.0),
        descriptors.tensor(handle.library, real, map_).pointer, address(y),
    )  # fmt: skip


def pool_backward(
    handle: Handle,
    pooling: Pooling,
    arrays: tuple[Any, Any, Any],
    grad_x: Any,
    image: tuple[int, ...],
    map_: tuple[int, ...],
) -> None:
    """The gradient of x, to a dense array; `arrays` are y, its gradient and x."""
    y, grad_y, x = map(dense, arrays)
    real = x.dtype.name
    of_map = descriptors.tensor(handle.library, real, map_).pointer
    of_image = descriptors.tensor(handle.library, real, image).pointer
    handle.run(
        "cudnnPoolingBackward",
        _windows(handle, pooling), descriptors.factor(real, pooling.factor),
        of_map, address(y), of_map, address(grad_y), of_image, address(x),
        descriptors.factor(real, 0.0), of_image, address(grad_x),
    )  # fmt: skip


# ---- Softmax, along the second of four dimensions

_ACCURATE, _LOG = 1, 2
_ALONG_CHANNELS = 1


def softmax(handle: Handle, x: Any, y: Any, *, log: bool) -> None:
    """Softmax, or its logarithm, to a dense array."""
    real, x = x.dtype.name, dense(x)
    of_both = descriptors.tensor(handle.library, real, tuple(x.shape)).pointer
    handle.run(
        "cudnnSoftmaxForward",
        _LOG if log else _ACCURATE, _ALONG_CHANNELS,
        descriptors.factor(real, 1.0), of_both, address(x),
        descriptors.factor(real, 0.0), of_both, address(y),
    )  # fmt: skip


def softmax_backward(handle: Handle, y: Any, grad_y: Any, grad_x: Any, *, log: bool) -> None:
    """The gradient of x, to a dense array."""
    real = y.dtype.name
    of_all = descriptors.tensor(handle.library, real, tuple(y.shape)).pointer
    y, grad_y = dense(y), dense(grad_y)
    handle.run(
        "cudnnSoftmaxBackward",
        _LOG if log else _ACCURATE, _ALONG_CHANNELS,
        descriptors.factor(real, 1.0), of_all, address(y), of_all, address(grad_y),
        descriptors.factor(real, 0.0), of_all, address(grad_x),
    )  # fmt: skip


# ---- Batch normalisation of batch x planes x positions x 1

_PER_ACTIVATION, _SPATIAL = 0, 1


def _planes(handle: Handle, x: Any) -> tuple[str, int, Any, Any]:
    """Type and mode, and the descriptors of an array and of its statistics."""
    real, (batch, planes, positions) = x.dtype.name, x.shape
    mode = _PER_ACTIVATION if positions == 1 else _SPATIAL
    of_array = descriptors.tensor(handle.library, real, (batch, planes, positions, 1)).pointer
    of_planes = descriptors.tensor(handle.library, real, (1, planes, 1, 1)).pointer
    return real, mode, of_array, of_planes


def norm_in_training(
    handle: Handle,
    x: Any,
    y: Any,
    parameters: tuple[Any, Any],
    running: tuple[Any, Any],
    saved: tuple[Any, Any],
    momentum: float,
    eps: float,
) -> None:
    """Normalises by the batch's statistics, which go to `saved`.

    x is batch x planes x positions. `running`, two dense arrays or two None, is updated.
    """
    real, mode, of_array, of_planes = _planes(handle, x)
    x, (weight, bias) = dense(x), map(dense, parameters)
    handle.run(
        "cudnnBatchNormalizationForwardTraining",
        mode, descriptors.factor(real, 1.0), descriptors.factor(real, 0.0),
        of_array, address(x), of_array, address(y), of_planes, address(weight), address(bias),
        momentum, *map(address, running), eps, *map(address, saved),
    )  # fmt: skip


def norm_in_use(
    handle: Handle,
    x: Any,
    y: Any,
    parameters: tuple[Any, Any],
    running: tuple[Any, Any],
    eps: float,
) -> None:
    """Normalises by given statistics."""
    real, mode, of_array, of_planes = _planes(handle, x)
    x, (weight, bias), (mean, variance) = dense(x), map(dense, parameters), map(dense, running)
    handle.run(
        "cudnnBatchNormalizationForwardInference",
        mode, descriptors.factor(real, 1.0), descriptors.factor(real, 0.0),
        of_array, address(x), of_array, address(y), of_planes,
        address(weight), address(bias), address(mean), address(variance), eps,
    )  # fmt: skip


def norm_backward(
    handle: Handle,
    arrays: tuple[Any, Any, Any, Any, Any],
    grads: tuple[Any, Any, Any],
) -> None:
    """The gradients of x, weight and bias, to dense arrays.

    `arrays` are x, the gradient of y, the weight, and the batch's mean and 1 / sqrt(var + eps).
    The eps that cuDNN asks for is 0 here: cuDNN uses it only when it is not given the last two.
    """
    x, grad_y, weight, mean, inverse = map(dense, arrays)
    real, mode, of_array, of_planes = _planes(handle, x)
    one, zero = descriptors.factor(real, 1.0), descriptors.factor(real, 0.0)
    handle.run(
        "cudnnBatchNormalizationBackward",
        mode, one, zero, one, zero,
        of_array, address(x), of_array, address(grad_y), of_array, address(grads[0]),
        of_planes, address(weight), address(grads[1]), address(grads[2]),
        0.0, address(mean), address(inverse),
    )  # fmt: skip

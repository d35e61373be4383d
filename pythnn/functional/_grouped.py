"""Convolutions in groups, and transposed ones, in one to three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .. import thnn
from .._state import State
from ._arrays import Array, Unfit, check_shape, new, zeros
from ._windows import Window, spatial, transposed_window, window_of

__all__ = [
    "ALL",
    "AddTo",
    "Gradients",
    "Needs",
    "convolve",
    "convolve_back",
    "grad_of_input",
    "grad_of_weight",
    "transposed",
    "transposed_back",
]

ALL = ("x", "weight", "bias")
"""What gradients can be needed of."""
Needs: TypeAlias = Collection[str]
"""Names out of these."""
AddTo: TypeAlias = Mapping[str, Any] | None
"""Arrays that gradients are added to, by the names of what they are gradients of."""
Gradients: TypeAlias = tuple[Array | None, Array | None, Array | None]


def convolve(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    flip: bool,
    state: State | None,
) -> Array:
    window = window_of(x.shape, weight.shape, stride, padding, dilation, groups)
    output = new(window.shape, x)
    thnn.GroupedConvolution_updateOutput(state, x, output, weight, bias, flip, *window.settings)
    return output


def transposed(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    output_size: Any,
    dilation: Any,
    groups: int,
    state: State | None,
) -> Array:
    window = transposed_window(
        x.shape, weight.shape, stride, padding, output_padding, output_size, dilation, groups
    )
    output = new(window.shape, x)
    thnn.GroupedFullConvolution_updateOutput(
        state, x, output, weight, bias, *window.image, *window.settings
    )
    return output


# ---- Gradients


def _names(needs: Any) -> Needs:
    wanted = "names out of 'x', 'weight' and 'bias'"
    if isinstance(needs, str) or not isinstance(needs, Iterable):
        raise Unfit("needs", wanted, repr(needs))
    names = tuple(needs)
    for name in names:
        if name not in ALL:
            raise Unfit("needs", wanted, repr(name))
    return names


def _check_add_to(add_to: Any, needs: Needs, shapes: Mapping[str, Any], like: Any) -> None:
    """Raises unless each gradient that is added has a needed array of its shape."""
    if not isinstance(add_to, Mapping):
        raise Unfit("add_to", "arrays by name, such as {'weight': array}", repr(add_to))
    for name, array in add_to.items():
        if name not in needs:
            raise Unfit("add_to", f"arrays for what needs has, {tuple(needs)}", f"one for {name!r}")
        shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
        if isinstance(array, np.ma.MaskedArray) or shape is None or dtype != like.dtype:
            found = (
                f"{dtype}" if dtype is not None and dtype != like.dtype else type(array).__name__
            )
            raise Unfit("add_to", f"an array of {like.dtype} for {name!r}", found)
        if tuple(shape) != tuple(shapes[name]):
            wanted = f"shape {tuple(shapes[name])} for {name!r}"
            raise Unfit("add_to", wanted, f"shape {tuple(shape)}")
        if isinstance(array, np.ndarray) and not array.flags.writeable:
            raise Unfit("add_to", f"a writable array for {name!r}", "a read-only one")


class _Functions(NamedTuple):
    """The C functions of the gradients."""

    of_input: Callable[..., None]
    of_parameters: Callable[..., None]


_CONVOLUTION = _Functions(
    thnn.GroupedConvolution_updateGradInput, thnn.GroupedConvolution_accGradParameters
)
_TRANSPOSED = _Functions(
    thnn.GroupedFullConvolution_updateGradInput, thnn.GroupedFullConvolution_accGradParameters
)


def _gradients(
    functions: _Functions,
    arrays: tuple[Any, Any, Any],
    planes: int,
    sizes: tuple[int, ...],
    settings: tuple[Any, ...],
    needs: Needs,
    add_to: AddTo,
    state: State | None,
) -> Gradients:
    """The gradients of the arrays x and weight, and of as many biases as there are planes.

    `sizes` are those of x, depth first.
    """
    grad_output, x, weight = arrays
    if needs is not ALL:
        needs = _names(needs)
    if add_to is None:
        add_to = {}
    else:
        shapes = {"x": x.shape, "weight": weight.shape, "bias": (planes,)}
        _check_add_to(add_to, needs, shapes, x)
    grad_x = grad_weight = grad_bias = None
    if "x" in needs:
        grad_x = add_to.get("x")
        add = grad_x is not None
        if not add:
            grad_x = new(x.shape, x)
        functions.of_input(state, grad_output, grad_x, weight, *sizes, add, *settings)
    if "weight" in needs:
        grad_weight = add_to.get("weight")
        if grad_weight is None:
            grad_weight = zeros(weight.shape, x)
    if "bias" in needs:
        grad_bias = add_to.get("bias")
        if grad_bias is None:
            grad_bias = zeros(planes, x)
    if grad_weight is not None or grad_bias is not None:
        n = weight.ndim - 2
        functions.of_parameters(state, x, grad_output, grad_weight, grad_bias, n, *settings, 1.0)
    return grad_x, grad_weight, grad_bias


def convolve_back(
    grad_output: Any,
    x: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    flip: bool,
    needs: Needs,
    add_to: AddTo,
    state: State | None,
) -> Gradients:
    window = window_of(x.shape, weight.shape, stride, padding, dilation, groups)
    check_shape("grad_output", grad_output, window.shape)
    arrays, settings = (grad_output, x, weight), (flip, *window.settings)
    return _gradients(
        _CONVOLUTION, arrays, weight.shape[0], window.image, settings, needs, add_to, state
    )


def transposed_back(
    grad_output: Any,
    x: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    output_size: Any,
    dilation: Any,
    groups: int,
    needs: Needs,
    add_to: AddTo,
    state: State | None,
) -> Gradients:
    window = transposed_window(
        x.shape, weight.shape, stride, padding, output_padding, output_size, dilation, groups
    )
    check_shape("grad_output", grad_output, window.shape)
    arrays, planes = (grad_output, x, weight), weight.shape[1] * groups
    return _gradients(
        _TRANSPOSED, arrays, planes, window.map, window.settings, needs, add_to, state
    )


def grad_of_input(
    grad_output: Any,
    weight: Any,
    input_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    flip: bool,
    state: State | None,
) -> Array:
    n = weight.ndim - 2
    batch = grad_output.shape[: -n - 1]
    planes = weight.shape[1] * (groups if type(groups) is int else 1)
    shape = (*batch, planes, *spatial("input_size", input_size, n))
    window = window_of(shape, weight.shape, stride, padding, dilation, groups, "input_size")
    check_shape("grad_output", grad_output, window.shape)
    grad_x = new(shape, grad_output)
    thnn.GroupedConvolution_updateGradInput(
        state, grad_output, grad_x, weight, *window.image, False, flip, *window.settings
    )
    return grad_x


def grad_of_weight(
    grad_output: Any,
    x: Any,
    kernel_size: Any,
    n: int,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
    flip: bool,
    state: State | None,
) -> Array:
    if type(groups) is not int or groups < 1 or x.shape[-n - 1] % groups:
        raise Unfit("groups", f"a divisor of x's {x.shape[-n - 1]} planes", repr(groups))
    planes, inputs = grad_output.shape[-n - 1], x.shape[-n - 1] // groups
    shape = (planes, inputs, *spatial("kernel_size", kernel_size, n))
    window = _fitting(x, shape, stride, padding, dilation, groups)
    check_shape("grad_output", grad_output, window.shape)
    grad_weight: Array = zeros(shape, x)
    thnn.GroupedConvolution_accGradParameters(
        state, x, grad_output, grad_weight, None, n, flip, *window.settings, 1.0
    )
    return grad_weight


def _fitting(
    x: Any, shape: tuple[int, ...], stride: Any, padding: Any, dilation: Any, groups: int
) -> Window:
    """The window of a weight of this shape, which is no argument to blame."""
    if shape[0] % groups:
        raise Unfit("groups", f"a divisor of grad_output's {shape[0]} planes", f"{groups}")
    return window_of(x.shape, shape, stride, padding, dilation, groups)

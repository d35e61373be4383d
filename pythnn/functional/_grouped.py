"""Convolutions in groups, and transposed ones, in one to three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .. import thnn
from .._calls.recorded import Recorded
from .._overlap import may_share_memory, overlaps_itself
from .._state import RESULTS, State
from ._arrays import Array, Unfit, check_shape, new, on_host, shaped, zeros
from ._choices import Problem, check_named, checked, is_name, problem_of, state_for
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


_DOUBLE = np.dtype(np.float64)


def _widens(state: State | None, x: Any) -> bool:
    """Whether the state wants sums of more digits than the arrays have."""
    return state is not None and checked(state).precision == "float64" and x.dtype != _DOUBLE


def _wide(*arrays: Any) -> tuple[Any, ...]:
    return tuple(None if array is None else array.astype(_DOUBLE) for array in arrays)


def _narrow(array: Any, like: Any) -> Any:
    return None if array is None else shaped(array, array.shape).astype(like.dtype)


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
    if state is None and on_host(x):
        output = new(window.shape, x)
        thnn.GroupedConvolution_updateOutput(None, x, output, weight, bias, flip, *window.settings)
        return output

    def compute(state: State | None, x: Any, weight: Any, bias: Any, output: Any) -> None:
        thnn.GroupedConvolution_updateOutput(state, x, output, weight, bias, flip, *window.settings)

    return _output(False, window, flip, x, weight, bias, state, compute)


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
    settings = (*window.image, *window.settings)
    if state is None and on_host(x):
        output = new(window.shape, x)
        thnn.GroupedFullConvolution_updateOutput(None, x, output, weight, bias, *settings)
        return output

    def compute(state: State | None, x: Any, weight: Any, bias: Any, output: Any) -> None:
        thnn.GroupedFullConvolution_updateOutput(state, x, output, weight, bias, *settings)

    return _output(True, window, False, x, weight, bias, state, compute)


def _output(
    transposed: bool,
    window: Window,
    flip: bool,
    x: Any,
    weight: Any,
    bias: Any,
    state: State | None,
    compute: Callable[..., None],
) -> Array:
    """The output as the state says, or on a device; `compute` is the C function."""
    if _widens(state, x):
        one, other, more = _wide(x, weight, bias)
        wide = _output(transposed, window, flip, one, other, more, state, compute)
        narrow: Array = _narrow(wide, x)
        return narrow
    problem = _problem("output", transposed, False, window, x, weight.shape)

    def own(output: Any) -> None:
        compute(state, x, weight, bias, output)

    if not on_host(x):
        from ._on_cudnn import convolved

        found = convolved(problem, window, flip, x, weight, bias, state, own)
        if found is not None:
            return found
    output = new(window.shape, x)
    if state is not None:
        state = state_for(state, x, problem, lambda s: compute(s, x, weight, bias, output))
    compute(state, x, weight, bias, output)
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
        if (
            isinstance(array, np.ndarray)
            and not array.flags.c_contiguous
            and overlaps_itself(array)
        ):
            wanted = f"an array whose elements lie apart for {name!r}"
            raise Unfit("add_to", wanted, "one that overlaps itself")


class _Kind(NamedTuple):
    """Ordinary or transposed convolutions: the C functions of their gradients."""

    transposed: bool
    of_input: Callable[..., None]
    of_parameters: Callable[..., None]


_CONVOLUTION = _Kind(
    False, thnn.GroupedConvolution_updateGradInput, thnn.GroupedConvolution_accGradParameters
)
_TRANSPOSED = _Kind(
    True, thnn.GroupedFullConvolution_updateGradInput, thnn.GroupedFullConvolution_accGradParameters
)


def _problem(
    result: str, transposed: bool, add: bool, window: Window, x: Any, weight: tuple[int, ...]
) -> Problem:
    return problem_of(result, transposed, add, x.dtype.name, window, x.shape, weight)


def _to_input(
    kind: _Kind,
    window: Window,
    flip: bool,
    grad_output: Any,
    weight: Any,
    shape: tuple[int, ...],
    start: Any,
    state: State | None,
) -> Any:
    """The gradient of an input of this shape, added to the array `start` unless that is None."""
    if _widens(state, grad_output):
        grads, weights, there = _wide(grad_output, weight, start)
        wide = _to_input(kind, window, flip, grads, weights, shape, there, state)
        return _into(start, wide, grad_output)
    sizes = window.map if kind.transposed else window.image
    settings = window.settings if kind.transposed else (flip, *window.settings)
    add = start is not None

    def compute(state: State | None, to: Any) -> None:
        kind.of_input(state, grad_output, to, weight, *sizes, add, *settings)

    if state is not None or not on_host(grad_output):
        problem = _problem("grad_input", kind.transposed, add, window, grad_output, weight.shape)
        if not on_host(grad_output):
            from ._on_cudnn import to_input

            found = to_input(
                problem, window, flip, grad_output, weight, shape, start, state,
                lambda to: compute(state, to),
            )  # fmt: skip
            if found is not None:
                return found
        if state is not None:
            state = state_for(
                state, grad_output, problem, lambda s: compute(s, zeros(shape, grad_output))
            )
    grad_x = start if add else new(shape, grad_output)
    compute(state, grad_x)
    return grad_x


def _into(start: Any, wide: Any, like: Any) -> Any:
    """A result of more digits as one of the arrays' type, in the array that it was added to."""
    if start is None or wide is None:
        return _narrow(wide, like)
    start[...] = _narrow(wide, like)
    return start


def _to_parameters(
    kind: _Kind,
    window: Window,
    flip: bool,
    grad_output: Any,
    x: Any,
    grad_weight: Any,
    grad_bias: Any,
    n: int,
    state: State | None,
) -> None:
    """Adds to those gradients that are not None."""
    if _widens(state, x):
        grads, image, weights, biases = _wide(grad_output, x, grad_weight, grad_bias)
        _to_parameters(kind, window, flip, grads, image, weights, biases, n, state)
        _into(grad_weight, weights, x)
        _into(grad_bias, biases, x)
        return
    settings = window.settings if kind.transposed else (flip, *window.settings)

    def compute(state: State | None, grad_weight: Any, grad_bias: Any) -> None:
        kind.of_parameters(state, x, grad_output, grad_weight, grad_bias, n, *settings, 1.0)

    if state is None and on_host(x):
        compute(None, grad_weight, grad_bias)
        return
    if grad_weight is not None:
        problem = _problem("grad_weight", kind.transposed, False, window, x, grad_weight.shape)
        if not on_host(x):
            from ._on_cudnn import add_to_weight

            if add_to_weight(
                problem, window, flip, grad_output, x, grad_weight, state,
                lambda to: compute(state, to, None),
            ):  # fmt: skip
                grad_weight = None
        if state is not None and grad_weight is not None:
            state = state_for(
                state, x, problem, lambda s: compute(s, zeros(grad_weight.shape, x), None)
            )
    if grad_bias is not None and grad_weight is None and not on_host(x):
        from ._on_cudnn import add_to_bias

        if add_to_bias(n, grad_output, grad_bias, state):
            grad_bias = None
    if grad_weight is not None or grad_bias is not None:
        compute(state, grad_weight, grad_bias)


def _check_choice_of_weight(kind: _Kind, window: Window, x: Any, weight: Any, state: State) -> None:
    """Raises what the gradient of the weight would, before another gradient is computed."""
    if _widens(state, x):
        x = np.broadcast_to(_DOUBLE.type(0), x.shape) if on_host(x) else x
    problem = _problem("grad_weight", kind.transposed, False, window, x, weight.shape)
    if on_host(x):
        check_named(state, problem)
    elif is_name(checked(state)._convolution[RESULTS.index("grad_weight")]):
        from ._on_cudnn import plan_on_device

        plan_on_device(problem, window, weight.shape, x, state)


def _gradients(
    kind: _Kind,
    window: Window,
    arrays: tuple[Any, Any, Any],
    planes: int,
    flip: bool,
    needs: Needs,
    add_to: AddTo,
    state: State | None,
) -> Gradients:
    """The gradients of the arrays x and weight, and of as many biases as there are planes."""
    grad_output, x, weight = arrays
    check_shape("grad_output", grad_output, window.shape)
    if needs is not ALL:
        needs = _names(needs)
    if add_to is None:
        add_to = {}
    else:
        shapes = {"x": x.shape, "weight": weight.shape, "bias": (planes,)}
        _check_add_to(add_to, needs, shapes, x)
    grad_x = grad_weight = grad_bias = None
    if "weight" in needs:
        grad_weight = add_to.get("weight")
        if grad_weight is None:
            grad_weight = zeros(weight.shape, x)
    if "bias" in needs:
        grad_bias = add_to.get("bias")
        if grad_bias is None:
            grad_bias = zeros(planes, x)
    if "x" in needs:
        if grad_weight is not None and state is not None:
            _check_choice_of_weight(kind, window, x, weight, state)
        start = add_to.get("x")
        if start is not None and (grad_weight is not None or grad_bias is not None):
            x, grad_output = _apart(x, start), _apart(grad_output, start)
        grad_x = _to_input(kind, window, flip, grad_output, weight, x.shape, start, state)
    if grad_weight is not None or grad_bias is not None:
        n = weight.ndim - 2
        _to_parameters(kind, window, flip, grad_output, x, grad_weight, grad_bias, n, state)
    return grad_x, grad_weight, grad_bias


def _apart(array: Any, written: Any) -> Any:
    """An array that is read after another one was written to: a copy where these may be one."""
    if type(array) is Recorded or not may_share_memory(array, written):
        return array
    return array.copy()


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
    arrays, planes = (grad_output, x, weight), weight.shape[0]
    return _gradients(_CONVOLUTION, window, arrays, planes, flip, needs, add_to, state)


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
    arrays, planes = (grad_output, x, weight), weight.shape[1] * groups
    return _gradients(_TRANSPOSED, window, arrays, planes, False, needs, add_to, state)


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
    planes = weight.shape[1] * groups
    shape = (*batch, planes, *spatial("input_size", input_size, n))
    window = window_of(shape, weight.shape, stride, padding, dilation, groups, "input_size")
    check_shape("grad_output", grad_output, window.shape)
    grad_x: Array = _to_input(_CONVOLUTION, window, flip, grad_output, weight, shape, None, state)
    return grad_x


def grad_of_weight(
    grad_output: Any,
    x: Any,
    kernel_size: Any,
    n: int,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    flip: bool,
    state: State | None,
) -> Array:
    if groups < 1 or x.shape[-n - 1] % groups:
        raise Unfit("groups", f"a divisor of x's {x.shape[-n - 1]} planes", f"{groups}")
    planes, inputs = grad_output.shape[-n - 1], x.shape[-n - 1] // groups
    shape = (planes, inputs, *spatial("kernel_size", kernel_size, n))
    window = _fitting(x, shape, stride, padding, dilation, groups)
    check_shape("grad_output", grad_output, window.shape)
    grad_weight: Array = zeros(shape, x)
    _to_parameters(_CONVOLUTION, window, flip, grad_output, x, grad_weight, None, n, state)
    return grad_weight


def _fitting(
    x: Any, shape: tuple[int, ...], stride: Any, padding: Any, dilation: Any, groups: int
) -> Window:
    """The window of a weight of this shape, which is no argument to blame."""
    if shape[0] % groups:
        raise Unfit("groups", f"a divisor of grad_output's {shape[0]} planes", f"{groups}")
    return window_of(x.shape, shape, stride, padding, dilation, groups)

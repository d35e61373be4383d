"""Which algorithm a convolution takes, and what it is expected to cost.

A :class:`pythnn.State` says which one, or how to choose one, and bounds its scratch memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._state import RESULTS, State
from .._tensor import is_on_device
from ._arrays import Size, Unfit, sizes_of, whole
from ._choices import Plan, checked, chosen, convolution_times, plan_of, problem_of
from ._front import function
from ._windows import Border, transposed_window, window_of

__all__ = ["convolution_plan", "convolution_times"]


@function()
def convolution_plan(
    x: Any,
    weight: Any,
    result: str = "output",
    *,
    stride: Size = 1,
    padding: Border = 0,
    dilation: Size = 1,
    groups: int = 1,
    transposed: bool = False,
    output_padding: Size = 0,
    output_size: Size | None = None,
    add: bool = False,
    dtype: Any = None,
    state: State | None = None,
) -> Plan:
    """How a convolution, or a transposed one, would be computed where `x` is.

    Parameters
    ----------
    x, weight : arrays of the call, or their shapes
    result : "output", "grad_input" or "grad_weight"
    add : whether the gradient of the input is added to an array
    dtype : float32 or float64; by default that of `x`, or float64 for a shape

    Returns a named tuple: the algorithm, the bytes of scratch memory, and the expected time in
    cycles of one core. A state that says how to choose tells what it has chosen, from times that
    are known or at an earlier call; before, it is taken for "auto". On a GPU the scratch memory is
    cuDNN's ("gemm", the library's own way, takes what the GPU's cache suggests, and says 0), and
    the time is not a number.

    >>> with State(convolution="gemm") as state:
    ...     plan = convolution_plan((8, 64, 56, 56), (64, 64, 5, 5), padding=2, state=state)
    >>> plan.algorithm, plan.scratch_bytes > 0, plan.cost > 1e6
    ('gemm', True, True)
    """
    shape, kernels = _shape("x", x), _shape("weight", weight)
    try:
        real = np.dtype(dtype if dtype is not None else getattr(x, "dtype", np.float64))
    except TypeError:
        raise Unfit("dtype", "float32 or float64", repr(dtype)) from None
    if real not in (np.float32, np.float64):
        raise Unfit("dtype", "float32 or float64", f"{real}")
    if state is not None:
        checked(state)
    if result not in RESULTS:
        raise Unfit("result", f"one of {', '.join(map(repr, RESULTS))}", repr(result))
    for name, flag in (("transposed", transposed), ("add", add)):
        if type(flag) is not bool:
            raise Unfit(name, "True or False", repr(flag))
    n = len(kernels) - 2
    if not 1 <= n <= 3:
        raise Unfit("weight", "planes x planes x 1 to 3 sizes of a kernel", f"shape {kernels}")
    if len(shape) not in (n + 1, n + 2):
        raise Unfit("x", f"[batch x] planes x {n} sizes", f"shape {shape}")
    if transposed:
        window = transposed_window(
            shape, kernels, stride, padding, output_padding, output_size, dilation, groups
        )
    else:
        if any(sizes_of("output_padding", output_padding, n)):
            raise Unfit("output_padding", "0 unless transposed", repr(output_padding))
        if output_size is not None:
            raise Unfit("output_size", "None unless transposed", repr(output_size))
        window = window_of(shape, kernels, stride, padding, dilation, groups)
    problem = problem_of(result, transposed, add, real.name, window, shape, kernels)
    if is_on_device(x):
        from ._on_cudnn import plan_on_device

        return plan_on_device(problem, window, kernels, x, state)
    return plan_of(problem, state and chosen(state, problem))


def _shape(name: str, value: Any) -> tuple[int, ...]:
    """The shape of an array, or a shape."""
    shape = getattr(value, "shape", value)
    wanted = "an array, or a shape of sizes from 1 on"
    if not isinstance(shape, (tuple, list)):
        raise Unfit(name, wanted, repr(value))
    sizes = tuple(whole(name, wanted, n, value) for n in shape)
    if not all(n > 0 for n in sizes):
        raise Unfit(name, wanted, repr(value))
    return sizes

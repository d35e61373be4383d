"""What cuDNN computes of a call on a device, as its state says; imported by the first such call."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from .._cuda.cudnn import convolution, layers
from .._cuda.cudnn.convolution import ALGORITHMS, Geometry
from .._cuda.cudnn.descriptors import LARGEST
from .._cuda.cudnn.handle import Handle, handle_of, is_dense, is_there
from .._cuda.cudnn.library import CudnnError
from .._cuda.state import state_of
from .._state import RESULTS, State
from ._arrays import Array, Unfit, zeros
from ._axes import empty
from ._choices import Plan, Problem, checked, convolution_times, seconds_of
from ._windows import Window

__all__ = [
    "add_to_bias",
    "add_to_weight",
    "convolved",
    "done",
    "layers",
    "plan_on_device",
    "to_input",
    "wanted",
]

_OWN = "gemm"
"""The name of the library's own way on a device."""
_SHARED = ("direct", "winograd", "fft", "fft_tiling")
"""Names that are cuDNN's on a device."""


def wanted(state: State | None, x: Any, obstacle: str = "") -> Handle | None:
    """cuDNN's handle, if it computes a call on `x`; None where the library's own kernels do.

    `obstacle` says why cuDNN cannot compute this call. Raises where the state wants cuDNN
    nevertheless, or wants it where there is none.
    """
    use = "auto" if state is None else checked(state).use_cudnn
    if use is False:
        return None
    device = x.device.id
    if use is True:
        handle = handle_of(device)
        if obstacle:
            raise Unfit(
                "state", "use_cudnn='auto' or False for what cuDNN lacks", f"True, for {obstacle}"
            )
        return handle
    if obstacle or x.size > LARGEST or not is_there(device):
        return None
    return handle_of(device)


def done(state: State | None, compute: Callable[..., None], *arguments: Any, **named: Any) -> bool:
    """Whether cuDNN has computed something; what it turns out not to have, "auto" passes over."""
    try:
        compute(*arguments, **named)
    except CudnnError as error:
        if not error.is_unsupported or (state is not None and state.use_cudnn is True):
            raise
        return False
    return True


# ---- Which algorithm


class _Call:
    """A convolution, as cuDNN sees it."""

    def __init__(
        self, problem: Problem, window: Window, flip: bool, weight: tuple[int, ...]
    ) -> None:
        self.problem = problem
        swapped = {"output": "grad_input", "grad_input": "output"}
        result = problem.result
        self.operation = swapped.get(result, result) if problem.transposed else result
        groups, settings = window.settings[0], window.settings[1:]
        stride, before, after, dilation = (tuple(settings[i : i + 3]) for i in (0, 3, 6, 9))
        self.obstacle = ""
        if before != after:
            self.obstacle = f"padding of {before} before and {after} after"
        elif min(before) < 0:
            self.obstacle = "negative padding"
        n = max(len(weight) - 2, 2)
        batch, kernel = problem.sizes[1], (1, 1, *weight[2:])[-n:]
        self.geometry = Geometry(
            problem.real,
            (batch, weight[1] * groups, *window.image[-n:]),
            (*weight[:2], *kernel),
            (batch, weight[0], *window.map[-n:]),
            before[-n:],
            stride[-n:],
            dilation[-n:],
            groups,
            flip,
        )
        if self.geometry.is_too_large():
            self.obstacle = "2^31 elements or more"

    def fits(self, handle: Handle, name: str, limit: int) -> bool:
        return convolution.fits(handle, self.operation, name, self.geometry, limit)

    def advised(self, handle: Handle, limit: int) -> str | None:
        return convolution.advised(handle, self.operation, self.geometry, limit)

    def run(self, handle: Handle, name: str, first: Any, second: Any, to: Any, add: bool) -> None:
        convolution.run(handle, self.operation, name, self.geometry, first, second, to, add=add)

    def done(self, state: State | None, *arguments: Any) -> bool:
        """Whether it has run; a name is asked for, and fails where it does not."""
        choice = "auto" if state is None else state._convolution[RESULTS.index(self.problem.result)]
        if choice in _SHARED or choice.startswith("cudnn"):
            self.run(*arguments)
            return True
        return done(state, self.run, *arguments)


_DEFAULT = State()


def _named(call: _Call, state: State, handle: Handle, name: str) -> str:
    """An algorithm by its name; raises Unfit where it does not apply, and says why."""
    operation, limit = call.operation, state.workspace_limit
    why = ""
    if name not in ALGORITHMS[operation]:
        names = ", ".join(map(repr, ALGORITHMS[operation]))
        why = f"which cuDNN does not have for this result, but {names}"
    elif state.deterministic and not convolution.is_deterministic(operation, name):
        why = "which is not deterministic, as the state is to be"
    else:
        size = convolution.workspace(handle, operation, name, call.geometry)
        if size is None:
            why = "which cuDNN does not have for these sizes"
        elif size > limit:
            why = f"which needs {size} bytes of scratch memory, of which the state allows {limit}"
    if why:
        raise Unfit("state", "an algorithm that applies, or 'auto'", f"{name!r}, {why}")
    return name


def _chosen(
    call: _Call, state: State | None, x: Any, measure: Callable[[Handle, str], float] | None
) -> tuple[Handle, str] | None:
    """cuDNN's handle and algorithm, or None for the library's own way."""
    state = _DEFAULT if state is None else checked(state)
    choice: str = state._convolution[RESULTS.index(call.problem.result)]
    use = state.use_cudnn
    is_name = choice in _SHARED or choice.startswith("cudnn")
    if choice == _OWN and use is True:
        raise Unfit("state", "an algorithm of cuDNN, as use_cudnn is True", repr(choice))
    if is_name and use is False:
        raise Unfit("state", "'auto' or 'gemm', as use_cudnn is False", repr(choice))
    if choice == _OWN or use is False:
        return None
    if not is_name and use is not True and not is_there(x.device.id):
        return None
    handle = handle_of(x.device.id)
    if call.obstacle:
        if not is_name and use is not True:
            return None
        found = f"{choice!r} for {call.obstacle}, which cuDNN does not have"
        raise Unfit("state", "an algorithm that applies, or 'auto'", found)
    if is_name and choice != "cudnn":
        name = choice if choice.startswith("cudnn") else f"cudnn_{choice}"
        return handle, _named(call, state, handle, name)
    found_name = _by_method(call, state, handle, choice, measure)
    if found_name is None and (is_name or use is True):
        found = f"{choice!r}, and no algorithm of cuDNN has these sizes and the workspace_limit"
        raise Unfit("state", "an algorithm that applies, or 'auto'", found)
    return None if found_name in (None, _OWN) else (handle, str(found_name))


def _by_method(
    call: _Call,
    state: State,
    handle: Handle,
    choice: str,
    measure: Callable[[Handle, str], float] | None,
) -> str | None:
    """The algorithm that cuDNN advises, or the fastest one; as at the first call for "…_once".

    Without `measure` this is a question, which settles nothing for later calls.
    """
    limit, key = state.workspace_limit, f"cuda {call.problem.result}"
    name = state._once.get(key) if choice.endswith("_once") else None
    if name is not None and (name == _OWN or call.fits(handle, name, limit)):
        return name
    first, name = name is None, None
    if choice.startswith("time") and first:
        own = () if state.use_cudnn is True else (_OWN,)
        fit = (n for n in ALGORITHMS[call.operation] if call.fits(handle, n, limit))
        name = convolution_times.best_on_device(
            call.problem, limit, (*own, *fit), partial(measure, handle) if measure else None
        )
    if name is None:
        name = call.advised(handle, limit)
    if choice.endswith("_once") and first and name is not None and measure is not None:
        state._once[key] = name
    return name


def plan_on_device(
    problem: Problem, window: Window, weight: tuple[int, ...], x: Any, state: State | None
) -> Plan:
    """What is taken on the device of `x`; its cost is not known before it is measured."""
    call = _Call(problem, window, False, weight)
    chosen = _chosen(call, state, x, None)
    if chosen is None:
        return Plan(_OWN, 0, math.nan)
    handle, name = chosen
    size = convolution.workspace(handle, call.operation, name, call.geometry)
    return Plan(name, size or 0, math.nan)


# ---- Computing


def _measuring(
    call: _Call, first: Any, second: Any, shape: tuple[int, ...], own: Callable[[Any], None]
) -> Callable[[Handle, str], float]:
    """What measures an algorithm, on memory that nobody reads."""

    def measure(handle: Handle, name: str) -> float:
        there = zeros(shape, first)
        device = state_of(handle.device)

        def run() -> None:
            if name == _OWN:
                own(there)
            else:
                call.run(handle, name, first, second, there, call.problem.add)
            device.synchronize()

        return seconds_of(run)

    return measure


def convolved(
    problem: Problem,
    window: Window,
    flip: bool,
    x: Any,
    weight: Any,
    bias: Any,
    state: State | None,
    own: Callable[[Any], None],
) -> Array | None:
    """The output of a convolution, or of a transposed one; None: `own` is to compute it."""
    call = _Call(problem, window, flip, weight.shape)
    operands = (weight, x) if problem.transposed else (x, weight)
    measure = _measuring(call, *operands, window.shape, own)
    chosen = _chosen(call, state, x, measure)
    if chosen is None:
        return None
    handle, name = chosen
    output = empty(window.shape, x)
    if not call.done(state, handle, name, *operands, output, False):
        return None
    if bias is not None:
        g = call.geometry
        shape = g.image if problem.transposed else g.map
        convolution.add_bias(handle, g.real, shape, bias, output)
    return output


def to_input(
    problem: Problem,
    window: Window,
    flip: bool,
    grad_output: Any,
    weight: Any,
    shape: tuple[int, ...],
    start: Any,
    state: State | None,
    own: Callable[[Any], None],
) -> Array | None:
    """The gradient of the input, added to the array `start` unless that is None."""
    call = _Call(problem, window, flip, weight.shape)
    operands = (grad_output, weight) if problem.transposed else (weight, grad_output)
    if start is not None and not is_dense(start):
        call.obstacle = "an array with gaps in add_to"
    chosen = _chosen(call, state, grad_output, _measuring(call, *operands, shape, own))
    if chosen is None:
        return None
    grad_x: Array = empty(shape, grad_output) if start is None else start
    return grad_x if call.done(state, *chosen, *operands, grad_x, start is not None) else None


def add_to_weight(
    problem: Problem,
    window: Window,
    flip: bool,
    grad_output: Any,
    x: Any,
    grad_weight: Any,
    state: State | None,
    own: Callable[[Any], None],
) -> bool:
    """Adds the gradient of the weight to an array; whether cuDNN did so."""
    call = _Call(problem, window, flip, grad_weight.shape)
    operands = (grad_output, x) if problem.transposed else (x, grad_output)
    if not is_dense(grad_weight):
        call.obstacle = "an array with gaps in add_to"
    measure = _measuring(call, *operands, grad_weight.shape, own)
    chosen = _chosen(call, state, x, measure)
    return chosen is not None and call.done(state, *chosen, *operands, grad_weight, True)


def add_to_bias(n: int, grad_output: Any, grad_bias: Any, state: State | None) -> bool:
    """Adds the gradient of the bias of planes in n dimensions; whether cuDNN did so."""
    obstacle = "" if is_dense(grad_bias) else "an array with gaps in add_to"
    handle = wanted(state, grad_output, obstacle)
    if handle is None:
        return False
    *batch, planes = grad_output.shape[:-n]
    shape = (math.prod(batch), planes, math.prod(grad_output.shape[-n:]), 1)
    real = grad_output.dtype.name
    return done(state, convolution.grad_of_bias, handle, real, shape, grad_output, grad_bias)

"""The recorded calls of the original library, through pythnn.thnn on a device."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from support import recorded
from support.deviations import adapted

from pythnn import Generator, Tensor, THNNError, thnn

EMULATED = os.environ.get("PYTHNN_CUDA_PACKAGE") == "pythnn_cuda_emulated"


def _implemented() -> Any:
    from pythnn._cuda.package import find, load

    return load().functions if find() else {}


def _cases() -> list[Any]:
    """All calls; on the emulation, where ctest replays all from C, one of each function.

    Without a library a single entry that nothing can be done with, and that is skipped.
    """
    known, seen = _implemented(), set()
    cases = []
    for module in recorded.modules():
        for case in recorded.cases(module):
            skipped = EMULATED and (case.is_error or case.function in seen)
            if case.function in known and not skipped:
                cases.append(pytest.param(case, id=f"{case.function}-{case.name}"))
                seen.add(case.function)
    assert cases or not known, "no recorded call is of a function that the library has"
    return cases or [pytest.param(None, id="no library")]


def _tensor(argument: recorded.Argument, real: str) -> Tensor:
    values = recorded.typed(argument, real)
    if values is None or values.size == 0:
        is_real = argument.dtype == np.float64
        return Tensor(dtype=recorded.REALS[real] if is_real else argument.dtype, device="cuda:0")
    return Tensor(values).cuda()


def _array(xp: Any, argument: recorded.Argument, real: str) -> Any:
    """An array; an output that the call would resize has its final shape."""
    values = recorded.typed(argument, real)
    after = argument.after
    if argument.role == "out" and isinstance(after, np.ndarray):
        is_real = argument.dtype == np.float64
        dtype = recorded.REALS[real] if is_real else argument.dtype
        if values is None or values.shape != after.shape:
            values = np.full(after.shape, 77, dtype)
    if values is None:
        return None
    strides = recorded.spread_strides(values.shape) if values.size else None
    if strides is None:
        return xp.asarray(values)
    spread = recorded.lay_out(values, strides)
    extent = 1 + sum((n - 1) * s for n, s in zip(values.shape, strides, strict=True))
    flat = np.lib.stride_tricks.as_strided(spread, (extent,), (spread.itemsize,))
    memory = xp.asarray(flat)
    steps = tuple(s * memory.itemsize for s in strides)
    return xp.ndarray(values.shape, values.dtype, memory.data, steps)


def _host(value: Any) -> np.ndarray:
    return value.cpu().numpy() if isinstance(value, Tensor) else value.get()


@pytest.mark.parametrize(
    ("form", "real"),
    [("tensors", "float"), ("arrays", "double")]
    if EMULATED
    else [(form, real) for form in ("tensors", "arrays") for real in recorded.REALS],
)
@pytest.mark.parametrize("case", _cases())
def test_recorded(xp: Any, case: recorded.Case, form: str, real: str) -> None:
    case = adapted(case)
    made: dict[str, Any] = {}
    for argument in case.arguments:
        if argument.kind in ("state", "null"):
            made[argument.name] = None
        elif argument.kind == "generator":
            made[argument.name] = Generator(argument.value)
        elif not argument.is_tensor:
            made[argument.name] = argument.value
        elif form == "tensors":
            made[argument.name] = _tensor(argument, real)
        elif not argument.shares:
            made[argument.name] = _array(xp, argument, real)
    for argument in case.arguments:
        if argument.shares and form == "arrays":
            made[argument.name] = made[argument.shares]
    values = [made[argument.name] for argument in case.arguments]
    call = getattr(thnn, case.function)
    if case.is_error:
        from pythnn import State

        with pytest.raises(THNNError):
            call(State(check_indices=True), *values[1:])
        return
    call(*values)
    if case.function == "RReLU_updateOutput" and case["train"].value:
        return  # draws random numbers of its own
    for argument, value in zip(case.arguments, values, strict=True):
        if argument.is_tensor and value is not None:
            recorded.check_value(case, argument, real, _host(value))

"""Recorded calls laid out as the package's tensors and arrays, and replayed through it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pythnn
from pythnn import Generator, Tensor, thnn
from support.recorded import (
    REALS,
    Argument,
    Case,
    altered,
    altered_rows,
    cases,
    check_value,
    lay_out,
    modules,
    spread_strides,
    typed,
)

__all__ = ["REALS", "Argument", "Case", "altered", "altered_rows", "cases", "modules"]


def tensor_of(argument: Argument, real: str, strided: bool) -> Tensor:
    """A Tensor that owns its memory, laid out as recorded or, when ``strided``, with gaps."""
    values = typed(argument, real)
    if values is None:
        dtype = REALS[real] if argument.dtype == np.float64 else argument.dtype
        return Tensor(dtype=dtype)
    strides = argument.strides
    if strides is None and strided and values.size:
        strides = spread_strides(values.shape)
    if strides is None or values.size == 0:
        return Tensor(values)
    spread = lay_out(values, strides)
    extent = 1 + sum((n - 1) * s for n, s in zip(values.shape, strides, strict=True))
    flat = np.lib.stride_tricks.as_strided(spread, (extent,), (spread.itemsize,))
    return Tensor(flat).as_strided(values.shape, strides)


def array_of(argument: Argument, real: str, strided: bool) -> np.ndarray | None:
    """A numpy array; outputs that the call would resize get their final shape and hold NaN."""
    values = typed(argument, real)
    if argument.role == "out" and isinstance(argument.after, np.ndarray):
        dtype = REALS[real] if argument.dtype == np.float64 else argument.dtype
        fill = np.nan if np.dtype(dtype).kind == "f" else 10**6
        if values is None or values.shape != argument.after.shape:
            values = np.full(argument.after.shape, fill, dtype)
    if values is None:
        return None
    strides = argument.strides
    if strides is None and strided and values.size:
        strides = spread_strides(values.shape)
    return values.copy() if strides is None else lay_out(values, strides)


@dataclass
class Call:
    """The arguments of a case, ready to pass."""

    case: Case
    real: str
    values: list[Any] = field(default_factory=list)

    def run(self) -> None:
        getattr(thnn, self.case.function)(*self.values)

    def tensors(self) -> list[tuple[Argument, Any]]:
        return [
            (a, v)
            for a, v in zip(self.case.arguments, self.values, strict=True)
            if a.is_tensor and v is not None
        ]

    def snapshot(self) -> list[tuple[str, tuple[int, ...], tuple[int, ...], bytes]]:
        """Everything that a rejected call must leave alone."""
        return [
            (a.name, tuple(v.shape), tuple(v.strides), as_array(v).tobytes())
            for a, v in self.tensors()
        ]

    def close(self) -> None:
        for value in self.values:
            if isinstance(value, Generator):
                value.close()


def as_array(value: Any) -> np.ndarray:
    return value.numpy() if isinstance(value, Tensor) else value


def prepare(case: Case, real: str, kind: str) -> Call:
    """Lays a case out; ``kind`` is tensors, strided tensors, arrays or strided arrays."""
    strided = kind.startswith("strided")
    call = Call(case, real)
    made: dict[str, Any] = {}
    for argument in case.arguments:
        value: Any
        if argument.kind in ("state", "null"):
            value = None
        elif argument.kind == "generator":
            value = Generator(argument.value)
        elif not argument.is_tensor:
            value = argument.value
        elif kind.endswith("tensors"):
            value = tensor_of(argument, real, strided)
        elif argument.shares:
            value = made.get(argument.shares)
        else:
            value = array_of(argument, real, strided)
        made[argument.name] = value
        call.values.append(value)
    if not kind.endswith("tensors"):
        # In place, the result is the same memory as the tensor that is worked on.
        for i, argument in enumerate(case.arguments):
            if argument.is_tensor and argument.shares:
                call.values[i] = made[argument.shares]
    return call


# ---- Comparing ----------------------------------------------------------------------------------


def check_results(call: Call) -> None:
    """Compares what the call left behind with what the original left behind."""
    for argument, value in call.tensors():
        check_value(call.case, argument, call.real, as_array(value))


def check_sharing(call: Call) -> None:
    """In-place calls leave their result in the memory of the tensor that they worked on."""
    values = {a.name: v for a, v in call.tensors()}
    for argument, value in call.tensors():
        if argument.shares:
            assert np.shares_memory(as_array(value), as_array(values[argument.shares])), (
                f"{call.case.function} {call.case.name}: {argument.name} does not share the "
                f"memory of {argument.shares}"
            )


Error = pythnn.THNNError

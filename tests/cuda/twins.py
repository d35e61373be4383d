"""What tests need that hold a CUDA function against its twin on the CPU."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from device import DeviceTensor, HostTensor, library, tensor_kind

LIBRARY = library()
DEVICE = {"float": "THNN_Cuda", "double": "THNN_CudaDouble"}
HOST = {"float": "THNN_Float", "double": "THNN_Double"}
TOLERANCE = {"float": 2e-5, "double": 1e-11}
RANDOM = np.random.default_rng(1)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape)


def uniform(*shape: int, low: float = 0, high: float = 1) -> np.ndarray:
    return RANDOM.uniform(low, high, shape)


def indices(rows: int, *shape: int, first: int = 1) -> np.ndarray:
    return RANDOM.integers(first, rows + first, shape)


def signs(*shape: int) -> np.ndarray:
    return RANDOM.choice([-1.0, 1.0], shape)


class Calls(list[Any]):
    """Calls of functions, as parameters of ``compare``."""

    def add(self, function: str, case: str = "", **arguments: Any) -> None:
        """What is not given is an empty tensor, or NULL where it is optional."""
        self.append(pytest.param(function, arguments, id=f"{function} {case}".strip()))


class Twin:
    """One side of a call: the function, and its arguments."""

    def __init__(self, function: str, names: list[str], given: dict[str, Any]) -> None:
        self.name = function
        self.tensors: dict[str, DeviceTensor | HostTensor] = {}
        self.values: list[Any] = []
        for name, parameter in zip(names, LIBRARY.functions[function].parameters, strict=True):
            kind = tensor_kind(parameter.ctype)
            role = parameter.comment.split(":")[0]
            if kind is None:
                state = LIBRARY.state if parameter.ctype == "THCState *" else None
                self.values.append(given.get(name, state))
            elif (given[name] is None) if name in given else ("optional" in role):
                self.values.append(None)
            else:
                self.tensors[name] = self._tensor(kind, given.get(name))
                self.values.append(self.tensors[name].address)

    def _tensor(self, kind: str, values: np.ndarray | None) -> DeviceTensor | HostTensor:
        if kind.startswith("Cuda"):
            return DeviceTensor(LIBRARY, kind, values, None)
        return HostTensor(LIBRARY, kind, values)

    def run(self) -> dict[str, np.ndarray]:
        LIBRARY.call_without_waiting(self.name, *self.values)
        LIBRARY.synchronize()
        results = {name: tensor.read() for name, tensor in self.tensors.items()}
        for tensor in self.tensors.values():
            tensor.free()
        return results


def names_of(function: str) -> list[str]:
    return [p.name for p in LIBRARY.functions[DEVICE["double"] + function].parameters]


def outcome(function: str, name: str, **arguments: Any) -> np.ndarray:
    """One result of a function of the CPU."""
    return Twin(HOST["double"] + function, names_of(function), arguments).run()[name]


@contextmanager
def large_indices() -> Iterator[None]:
    """The kernels for tensors that 32-bit indices cannot count, where that can be asked for."""
    try:
        largest = ctypes.c_int64.in_dll(
            ctypes.CDLL(os.environ["THCUNN_LIBRARY"]), "THC_largestIndex"
        )
    except ValueError:  # not the emulation
        yield
        return
    usual = largest.value
    largest.value = 0
    try:
        yield
    finally:
        largest.value = usual


def compare(function: str, given: dict[str, Any], real: str) -> None:
    """The same results on both, up to rounding; sums are as long as the sizes say."""
    wanted = Twin(HOST[real] + function, names_of(function), given).run()
    found = Twin(DEVICE[real] + function, names_of(function), given).run()
    with large_indices():
        large = Twin(DEVICE[real] + function, names_of(function), given).run()
    for name, values in wanted.items():
        if name in found:
            scale = max(1, np.abs(values).max(initial=0))
            limit = TOLERANCE[real] * scale
            np.testing.assert_allclose(found[name], values, rtol=0, atol=limit, err_msg=name)
            np.testing.assert_allclose(large[name], values, rtol=0, atol=limit, err_msg=name)

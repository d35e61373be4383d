"""What tests need that hold a CUDA function against its twin on the CPU.

Where a function multiplies and adds alone, it is given multiples of a power of two: in any order,
both sides compute such sums without rounding, and have to give the same numbers. Other calls say
how many roundings a result goes through.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from device import DeviceTensor, HostTensor, library, tensor_kind
from support.bounds import assert_near

LIBRARY = library()
DEVICE = {"float": "THNN_Cuda", "double": "THNN_CudaDouble"}
HOST = {"float": "THNN_Float", "double": "THNN_Double"}
RANDOM = np.random.default_rng(1)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape)


def quarters(*shape: int) -> np.ndarray:
    """Multiples of 1/4 from -2 to 2: sums of their products are exact in both real types."""
    return RANDOM.integers(-8, 9, shape) / 4


def uniform(*shape: int, low: float = 0, high: float = 1) -> np.ndarray:
    return RANDOM.uniform(low, high, shape)


def indices(rows: int, *shape: int, first: int = 1) -> np.ndarray:
    return RANDOM.integers(first, rows + first, shape)


def signs(*shape: int) -> np.ndarray:
    return RANDOM.choice([-1.0, 1.0], shape)


@dataclass
class Limit:
    """How far the results of a call may be from exact ones: see `assert_near`."""

    roundings: float
    least: Any

    def check(
        self, found: np.ndarray, wanted: np.ndarray, given: dict[str, Any], name: str
    ) -> None:
        if self.roundings == 0 or wanted.dtype.kind != "f":
            np.testing.assert_array_equal(found, wanted, err_msg=name)
            return
        least = (
            self.least[name] if isinstance(self.least, dict) and name in self.least else self.least
        )
        if least is None or isinstance(least, dict):
            tensors = [a for a in given.values() if isinstance(a, np.ndarray) and a.size]
            least = max(np.abs(a).max() for a in tensors if a.dtype.kind == "f")
        # Both sides round.
        assert_near(found, wanted, 2 * self.roundings, least, name)


class Calls(list[Any]):
    """Calls of functions, as parameters of ``compare``."""

    def add(
        self,
        function: str,
        case: str = "",
        roundings: float = 0,
        least: Any = None,
        **arguments: Any,
    ) -> None:
        """What is not given is an empty tensor, or NULL where it is optional.

        Each side may be as many roundings from the exact result as `assert_near` allows; ``least``
        is the largest magnitude of all arguments unless it is given.
        """
        limit = Limit(roundings, least)
        self.append(pytest.param(function, arguments, limit, id=f"{function} {case}".strip()))


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


def compare(function: str, given: dict[str, Any], limit: Limit, real: str) -> None:
    """The same results on both, up to rounding."""
    wanted = Twin(HOST[real] + function, names_of(function), given).run()
    found = Twin(DEVICE[real] + function, names_of(function), given).run()
    with large_indices():
        large = Twin(DEVICE[real] + function, names_of(function), given).run()
    for name in wanted.keys() & found.keys():
        limit.check(found[name], wanted[name], given, name)
        limit.check(large[name], wanted[name], given, f"{name} with large indices")

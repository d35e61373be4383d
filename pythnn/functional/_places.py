"""Where the arrays of a call are: in the CPU's memory, or all on one CUDA device."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from .._calls import describe
from .._tensor import Tensor, is_on_device
from ._arrays import Unfit
from ._nested import leaves

__all__ = ["placed"]


def placed(front: Any, given: dict[str, Any]) -> AbstractContextManager[Any]:
    """Within it the device of the arrays of a call is the current one; arrays become CuPy's there.

    Lists and numbers become arrays where the first array is. Raises Unfit for an array elsewhere.
    """
    arrays = {name: given[name] for name in front.kinds}
    if not any(map(_is_on_device, arrays.values())):
        return nullcontext()
    from .._cuda.cupy import library

    cupy = library()
    places = _Places()
    for name, value in arrays.items():
        for path, entry in leaves(name, value) if isinstance(value, tuple) else [(name, value)]:
            places.look(path, entry)
    device: AbstractContextManager[Any] = cupy.cuda.Device(places.device)
    with device:
        for name, value in arrays.items():
            if front.kinds[name].startswith("tuple") and isinstance(value, tuple):
                given[name] = tuple(_there(cupy, entry) for entry in value)
            else:
                given[name] = _there(cupy, value)
    return device


def _is_on_device(value: Any) -> bool:
    return any(map(_is_on_device, value)) if isinstance(value, tuple) else is_on_device(value)


def _is_on_host(value: Any) -> bool:
    """Whether a value is an array in the CPU's memory."""
    if isinstance(value, np.generic):
        return False
    return isinstance(value, Tensor) or hasattr(value, "__array__")


class _Places:
    """Sees to it that all arrays of a call are where the first one is."""

    def __init__(self) -> None:
        self.first = ""
        self.device: int | None = None
        """None: the CPU's memory."""

    def look(self, name: str, value: Any) -> None:
        """Raises Unfit when an array is elsewhere."""
        if is_on_device(value):
            device: int | None = _device_of(value)
            found = f"one on cuda:{device}"
        elif _is_on_host(value):
            device, found = None, f"{describe(value)} in the CPU's memory"
        else:
            return
        if not self.first:
            self.first, self.device = name, device
        elif device != self.device:
            place = "in the CPU's memory" if self.device is None else f"on cuda:{self.device}"
            raise Unfit(name, f"an array {place}, like '{self.first}'", found)


def _device_of(value: Any) -> int:
    from .._cuda.arrays import look_at

    index: int | None = getattr(value, "device_index", None)  # a Tensor's
    return look_at(value).device_index if index is None else index


def _there(cupy: Any, value: Any) -> Any:
    """A value as CuPy's array on the current device; None stays."""
    if value is None or isinstance(value, cupy.ndarray):
        return value
    if isinstance(value, tuple) and any(map(_is_on_device, value)):
        return tuple(_there(cupy, entry) for entry in value)
    if isinstance(value, Tensor):
        return value.array()
    if is_on_device(value) and not hasattr(value, "__cuda_array_interface__"):
        return cupy.from_dlpack(value)
    return cupy.asarray(value)

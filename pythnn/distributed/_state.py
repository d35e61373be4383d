"""What a module has that processes exchange: gradients, parameters, running statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import THNNArgumentError
from .._tensor import Tensor, array_module, on_host
from ..nn import Module
from ..nn.object.clones import STATISTICS, shared_tensors
from ..nn.object.flat import runs
from ..nn.object.parameters import tensors_of

__all__ = ["Array", "Elements", "check_module", "kept_tensors"]

Array = Any
"""An array of numpy or CuPy."""


def check_module(function: str, position: int, module: Any) -> None:
    """Raises THNNArgumentError for what is no module."""
    if not isinstance(module, Module):
        raise THNNArgumentError.expected(
            f"distributed.{function}", position, "module", "an nn.Module", type(module).__name__
        )


def kept_tensors(module: Module) -> list[Tensor]:
    """Parameters, frozen ones too, and running statistics, each once."""
    found = [*(tensors_of(module) or ([], []))[0]]
    for inside in module.listModules():
        found += shared_tensors(inside, gradients=False)
    return list({id(tensor): tensor for tensor in found if tensor.size}.values())


def _learning_statistics(module: Module) -> list[Tensor]:
    """The running statistics of the layers that are in training, each once."""
    fields = [
        inside.field(name)
        for inside in module.listModules()
        if inside.field("train") is not False
        for name in STATISTICS
    ]
    return list({id(one): one for one in fields if isinstance(one, Tensor)}.values())


class Elements:
    """The gradients of a module and its running statistics as one vector."""

    def __init__(self, module: Module) -> None:
        gradients = (tensors_of(module) or ([], []))[1]
        self._gradients = runs([one for one in gradients if one is not None])
        self._statistics = runs(_learning_statistics(module))
        self._parts = [*self._gradients, *self._statistics]
        self.size = sum(part.size for part in self._parts)
        self.dtype = np.result_type(*(part.dtype for part in self._parts), np.float32)
        self._free: list[Array] = []

    def copied(self) -> Array:
        """The elements as they are now, in memory of their own."""
        with self._device():
            made = self._free.pop() if self._free else self._empty()
            start = 0
            for part in self._parts:
                made[start : start + part.size] = part
                start += part.size
        return made

    def _empty(self) -> Array:
        library = array_module(self._parts[0]) if self._parts else np
        return library.empty(self.size, self.dtype)

    def _device(self) -> AbstractContextManager[Any]:
        """What makes the device of the elements the current one."""
        first = self._parts[0] if self._parts else np.empty(0)
        return nullcontext() if isinstance(first, np.ndarray) else first.device

    def on_host(self, vector: Array) -> NDArray[Any]:
        """A vector in the CPU's memory, where MPI takes it from; a copy of one on a device."""
        return vector if isinstance(vector, np.ndarray) else on_host(vector)

    def added(self, left: Array, right: Array | Elements) -> Array:
        """The sum of two vectors, which are used up; the right one may be what there is now."""
        with self._device():
            if isinstance(right, Elements):
                start = 0
                for part in self._parts:
                    left[start : start + part.size] += part
                    start += part.size
                return left
            left += right
        self._free.append(right)
        return left

    def assign(self, summed: NDArray[Any], shards: int) -> None:
        """Takes over the sums over all shards of the gradients, and the means of statistics."""
        start = 0
        with self._device():
            for i, part in enumerate(self._parts):
                values = summed[start : start + part.size]
                start += part.size
                if i >= len(self._gradients):
                    values = values / values.dtype.type(shards)
                part[...] = array_module(part).asarray(values)

    @contextmanager
    def kept_statistics(self) -> Iterator[Callable[[], None]]:
        """Gives a function that sets the statistics back; so does an exception."""
        kept = [part.copy() for part in self._statistics]

        def restore() -> None:
            for part, values in zip(self._statistics, kept, strict=True):
                part[...] = values

        try:
            yield restore
        except BaseException:
            restore()
            raise

"""What C is asked to do on Tensors while a method runs, to be done again by one call.

The calls can be made again as long as all tensors are as they were: :class:`Repeatable` sees to
that. Numbers in tensors may be others, so no decision may depend on them: numpy looks at no
element while a tape runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ... import thnn
from ..._calls.function import Function
from ..._calls.steps import StepCall, Steps
from ..._library import ffi, last_error, native
from ..._table import STEPS
from ..._tensor import KINDS, Tensor, current

__all__ = ["Repeatable", "Tape", "Unrepeatable", "family_of", "repeat"]

_SHAPING = frozenset(
    (
        "isContiguous", "isSameSizeAs", "nElement", "narrow", "resizeAs", "resizeNd", "select",
        "squeeze", "squeeze1d", "transpose", "unfold", "unsqueeze1d",
    )
)  # fmt: skip
"""Functions that change no element: tensors that are as they were are as these left them."""
_WRITE_FIRST = frozenset(("abs", "add", "cadd", "cdiv", "cmul", "copy", "fill", "mul", "zero"))
_KINDS = {kind.pointer: kind for kind in KINDS}
_CData: Any = ffi.CData
_CHANGED: int = native.PYTHNN_CHANGED


class Unrepeatable(Exception):
    """A method has done what cannot be done again without it."""


def _address(pointer: Any) -> int:
    return int(ffi.cast("intptr_t", pointer))


def _layout(tensor: Any) -> tuple[int, ...]:
    """The dimensions of a C tensor, where it begins, its sizes and strides; then its storage."""
    count = tensor.nDimension
    sizes = (*ffi.unpack(tensor.size, count), *ffi.unpack(tensor.stride, count)) if count else ()
    return (count, tensor.storageOffset, *sizes, _address(tensor.storage))


class Tape:
    """Takes note of the calls of one thread, between ``start`` and ``stop``.

    Calls of :mod:`pythnn.thnn` have to be made through :meth:`kernel`.
    """

    def __init__(self) -> None:
        self.steps: list[StepCall] = []
        self.is_refused = False
        self._is_running = False
        self.tensors: dict[int, Any] = {}
        """All C tensors that were met, by address."""
        self._used: list[list[tuple[int, tuple[int, ...]]]] = []
        """For each step its tensors, by address, and their layouts."""
        self._written: list[list[int]] = []
        """For each step the tensors that it writes to, but for those that it adds to."""

    def start(self) -> bool:
        """Begins; False when another tape is running."""
        self._is_running = current.lock.acquire(blocking=False)
        if self._is_running:
            current.thread, current.tape = threading.get_ident(), self
        return self._is_running

    def stop(self) -> None:
        """Ends."""
        if self._is_running:
            current.tape = None
            current.lock.release()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Takes no note in a with-statement."""
        kept, current.tape = current.tape, None
        try:
            yield
        finally:
            current.tape = kept

    def rewind(self, count: int) -> None:
        """Forgets all steps but the first, and that something was refused."""
        self.is_refused = False
        for of_steps in (self.steps, self._used, self._written):
            del of_steps[count:]

    def meet(self, tensor: Any) -> None:
        """A Tensor is among those that have to be as they were."""
        self._meet(tensor._open())

    def refuse(self) -> None:
        """Something happens that cannot be noted."""
        self.is_refused = True

    def note(self, tensor: Any, function: str, arguments: tuple[Any, ...]) -> None:
        """A function of TH was called on a Tensor."""
        self._meet(tensor._c)
        for value in arguments:
            self._meet(value)
        if function in _SHAPING:
            return
        name = f"TH{KINDS[tensor._kind].name}Tensor_{function}"
        if tensor.is_cuda or name not in STEPS or function not in _WRITE_FIRST:
            self.refuse()
            return
        self._add(StepCall(name, (tensor._c, *arguments)), [tensor._c])

    def kernel(self, name: str, *arguments: Any) -> None:
        """Calls a function of :mod:`pythnn.thnn`."""
        getattr(thnn, name)(*arguments)
        function = Function(name)
        real = arguments[function.first_real.place]
        if type(real) is not Tensor or any(
            argument.kind in ("state", "generator") and value is not None
            for argument, value in zip(function.arguments, arguments, strict=True)
        ):
            self.refuse()
            return
        step = f"THNN_{KINDS[real._kind].name}{name}"
        if step not in STEPS:
            self.refuse()
            return
        values, written = [], []
        for argument, value in zip(function.arguments, arguments, strict=True):
            is_tensor = type(value) is Tensor
            if argument.is_tensor and not (is_tensor or value is None):
                self.refuse()
                return
            values.append(value._open() if is_tensor else value)
            if is_tensor and argument.role in ("out", "inout"):
                written.append(values[-1])
        self._add(StepCall(step, tuple(values)), written)

    def _meet(self, value: Any) -> int | None:
        """The address of a C tensor, which is kept; None for other values."""
        if not isinstance(value, _CData) or ffi.typeof(value) not in _KINDS:
            return None
        address = _address(value)
        self.tensors.setdefault(address, value)
        return address

    def _add(self, step: StepCall, written: list[Any]) -> None:
        met = [self._meet(value) for value in step.arguments]
        addresses = dict.fromkeys(address for address in met if address is not None)
        self.steps.append(step)
        self._used.append([(a, _layout(self.tensors[a])) for a in addresses])
        self._written.append([_address(value) for value in written])

    def repeatable(self, first: int, end: int, parameters: Iterable[Any]) -> Repeatable:
        """The steps from one on, as a call; results have memory of their own, not `parameters`.

        Raises Unrepeatable where a tensor was not always as it is at the end.
        """
        layouts = {address: _layout(tensor) for address, tensor in self.tensors.items()}
        for used in self._used:
            if any(layouts[address] != layout for address, layout in used):
                raise Unrepeatable
        kept = {_address(tensor) for tensor in parameters}
        written = {address for step in self._written[first:end] for address in step} - kept
        return Repeatable(self.steps[first:end], self.tensors, layouts, written)

    def references(self, storage: Any) -> int:
        """How many of the tensors that were met share a storage."""
        return sum(1 for tensor in self.tensors.values() if tensor.storage == storage)


class Repeatable:
    """Steps, and the tensors as they have to be."""

    def __init__(
        self,
        steps: Sequence[StepCall],
        tensors: dict[int, Any],
        layouts: dict[int, tuple[int, ...]],
        written: set[int],
    ) -> None:
        places = {address: i for i, address in enumerate(tensors)}
        self._steps = Steps(steps)
        self._tensors = tensors
        self._layouts = [ffi.new("int64_t[]", layouts[a][:-1]) for a in tensors]
        self._seen = ffi.new("pythnn_Seen[]", len(tensors))
        for one, tensor, layout in zip(self._seen, tensors.values(), self._layouts, strict=True):
            one.tensor, one.type = tensor, _KINDS[ffi.typeof(tensor)].index
            one.storage, one.layout = tensor.storage, layout
        self._results = ffi.new("int[]", [places[address] for address in written])
        self.c = ffi.new("pythnn_Recording *")
        self.c.seen, self.c.seenCount = self._seen, len(tensors)
        self.c.results, self.c.resultCount = self._results, len(written)
        self.c.steps, self.c.stepCount = self._steps.c, len(self._steps)


def family_of(calls: Sequence[Repeatable]) -> Any:
    """What :func:`repeat` has to know of calls whose tensors may share memory."""
    return ffi.new("pythnn_Recording *[]", [call.c for call in calls])


def repeat(call: Repeatable, family: Any, name: str) -> bool:
    """Makes the calls again; False, and none is made, where a tensor is not as it was.

    `family` has all calls whose tensors may share memory with its own. Raises THNNError.
    """
    code = native.pythnn_repeat(call.c, family, len(family))
    if code == _CHANGED:
        return False
    if code:
        raise last_error(name)
    return True

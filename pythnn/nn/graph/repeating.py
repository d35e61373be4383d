"""Calls of a graph that are made again by few calls of C.

A method of a gModule that is called with arrays of the same sizes again and again, while its
modules stay as they are, asks the C library for the same each time. That is recorded once
(``tape.py``) and repeated, in the same tensors: afterwards all fields of all modules are as the
method itself would have left them. Whatever is not as it was has the method run.
"""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._library import ffi, native
from ..._tensor import DTYPES, Tensor, current
from ..activation.pointwise import Abs, HardTanh, LogSigmoid, Sigmoid, SoftPlus, Sqrt, Square, Tanh
from ..activation.rectifier import ELU, LeakyReLU, ReLU, Threshold
from ..activation.scalar import AddConstant, MulConstant
from ..activation.softmax import LogSoftMax, SoftMax
from ..containers.container import Container
from ..linear.linear import Linear
from ..object.fields import Fields
from ..object.values import to_arrays
from ..shape.plumbing import Identity
from ..shape.selection import OneHot
from ..shape.shape import Reshape, View
from ..table.arithmetic import CAddTable, CMulTable, CSubTable
from ..table.shaping import JoinTable, SelectTable, SplitTable
from .tape import Repeatable, Tape, Unrepeatable, family_of, repeat

if TYPE_CHECKING:
    from .graph import gModule

__all__ = ["OF_CALLS", "REPEATABLE", "Recordings", "repeats"]

REPEATABLE = frozenset(
    (
        Abs, AddConstant, CAddTable, CMulTable, CSubTable, ELU, HardTanh, Identity, JoinTable,
        LeakyReLU, Linear, LogSigmoid, LogSoftMax, MulConstant, OneHot, ReLU, Reshape, SelectTable,
        Sigmoid, SoftMax, SoftPlus, SplitTable, Sqrt, Square, Tanh, Threshold, View,
    )
)  # fmt: skip
"""Classes whose methods do the same again while fields and sizes are the same, or let numpy look at
elements, which a tape notices."""
OF_CALLS = ("_outputs", "_gradients", "_recordings")
"""Fields of a gModule that its calls change."""
_BEFORE = {
    "accGradParameters": ("_outputs", "_gradients"),
    "backward": ("_outputs",),
    "updateGradInput": ("_outputs",),
}
"""Which of them a method depends on."""
_AFTER = {
    "backward": ("_gradients",),
    "updateGradInput": ("_gradients",),
    "updateOutput": ("_outputs", "_gradients"),
}
"""Which of them a method changes."""
_OF_PARAMETERS = frozenset(("updateParameters", "zeroGradParameters"))
"""Methods that ask all modules for their parameters."""
_REPEATED = {name: name for name in (*_BEFORE, *_OF_PARAMETERS, "updateOutput")}
_REPEATED["forward"] = "updateOutput"
"""Methods that are repeated, and the names of what they compute."""
_METHODS = ("updateOutput", "updateGradInput", "accGradParameters")
_MOST_IN_VAIN = 4
"""Recordings of a method after which more are made only while they are repeated often enough."""
_SIMPLE = frozenset((type(None), bool, int, float, str, Tensor))
_ADDRESS = ffi.typeof("void *")


def repeats(kind: Any) -> Any:
    """Has the methods of a class, that of gModules, repeat what they did.

    Those of classes derived from it run each time.
    """
    for name, computed in _REPEATED.items():
        setattr(kind, name, _repeating(kind, getattr(kind, name), computed))
    return kind


def _repeating(kind: Any, method: Callable[..., Any], computed: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if type(self) is not kind or named or current.tape is not None:
            return method(self, *arguments, **named)
        recordings = self.__dict__.get("_recordings")
        if recordings is None:
            recordings = self.__dict__["_recordings"] = Recordings()
        return recordings.call(self, computed, method, arguments)

    return call


class _Given(NamedTuple):
    """What a method is called with."""

    arrays: list[Any]
    form: tuple[Any, ...]
    """For each argument None for an array, [n] for a table of n arrays, or a number."""

    def with_tensors(self, tensors: Sequence[Tensor]) -> list[Any]:
        """The arguments with Tensors in the place of the arrays."""
        rest = iter(tensors)
        return [
            [next(rest) for _ in range(one[0])]
            if isinstance(one, list)
            else (next(rest) if one is None else one)
            for one in self.form
        ]


def _given(arguments: Sequence[Any]) -> _Given | None:
    """Arguments that are arrays, tables of arrays, and numbers; None for others."""
    arrays: list[Any] = []
    form: list[Any] = []
    for value in arguments:
        kind = type(value)
        if kind is np.ndarray:
            arrays.append(value)
            form.append(None)
        elif kind is list:
            arrays += value
            form.append([len(value)])
        elif kind is int or kind is float:
            form.append(value)
        else:
            return None
    for one in arrays:
        if type(one) is not np.ndarray:
            return None
    return _Given(arrays, tuple(form))


class _Slot:
    """A Tensor over an array; the array of the next call takes its place."""

    def __init__(self, array: Any) -> None:
        self.tensor = Tensor.from_numpy(array)
        self.dtype, self.shape, self.itemsize = array.dtype, array.shape, array.itemsize
        self.storage = self.tensor._open().storage
        self.references = 0
        """To the storage, from tensors that are the recording's."""

    @staticmethod
    def can_hold(array: Any) -> bool:
        """Whether there can be a slot with an array, without a copy of it."""
        return bool(array.flags.carray and array.size and array.dtype in DTYPES)

    def fits(self, array: Any) -> bool:
        """Whether an array is like the one before."""
        is_like = array.dtype == self.dtype and array.shape == self.shape
        return is_like and bool(array.flags.carray)

    def take(self, array: Any) -> bool:
        """Has the Tensor over another array; False where somebody still looks at the one before."""
        address, owner = ffi.from_buffer(array), ffi.cast(_ADDRESS, id(array))
        move = native.pythnn_moveStorage
        return not move(self.storage, self.references, address, self.itemsize, owner)


class _Ask(NamedTuple):
    """A module that has to be asked each time."""

    place: int
    """The step of the graph."""
    module: int
    input: Any
    output: Any

    def gives(self, output: Any) -> bool:
        """Whether this is the output that the steps after it work on."""
        if isinstance(output, list) and isinstance(self.output, list):
            return len(output) == len(self.output) and all(map(is_, output, self.output))
        return output is self.output


class _Steps(NamedTuple):
    """What C does from a step of the graph on."""

    place: int
    calls: Repeatable


class _Call(NamedTuple):
    """A call of a method that is recorded."""

    given: _Given
    slots: list[_Slot]
    pieces: list[_Steps | _Ask]
    before: dict[str, Any]
    """Fields of the graph that it depends on."""
    after: dict[str, Any]
    """Fields of the graph that it changes."""
    result: Any

    def takes(self, graph: gModule, given: _Given) -> bool:
        """Whether it can be made with what is given, whose arrays are in the slots then."""
        own = graph.__dict__
        if given.form != self.given.form:
            return False
        if any(own.get(name) is not value for name, value in self.before.items()):
            return False
        pairs = list(zip(self.slots, given.arrays, strict=True))
        return all(slot.fits(one) for slot, one in pairs) and all(s.take(one) for s, one in pairs)

    def arguments(self) -> list[Any]:
        """What the method was called with, as it is now."""
        return self.given.with_tensors([slot.tensor for slot in self.slots])


class _State:
    """The fields of a graph's modules, of those that calls can be repeated of."""

    def __init__(self, graph: gModule) -> None:
        self.modules = list(graph.modules)
        self.plain = {i for i, one in enumerate(self.modules) if _is_plain(one)}
        self._objects = [self.modules[i] for i in sorted(self.plain)]
        self._methods = _methods_of(self._objects)
        self._fields = [_copied(one) for one in self._fields_of(graph)]

    def _fields_of(self, graph: gModule) -> list[dict[str, Any]]:
        own = {name: value for name, value in graph.__dict__.items() if name not in OF_CALLS}
        fields = [own, graph.tensors.__dict__]
        for one in self._objects:
            fields += (one.__dict__, one.tensors.__dict__)
        return fields

    def is_that_of(self, graph: gModule) -> bool:
        """Whether all is as it was."""
        return (
            graph.modules == self.modules
            and self._fields_of(graph) == self._fields
            and _methods_of(self._objects) == self._methods
        )

    @classmethod
    def of(cls, graph: gModule) -> _State | None:
        """That of now; None where the graph has fields of other kinds, such as methods."""
        known = ("graph", "modules", "tensors", *OF_CALLS)
        own = [value for name, value in graph.__dict__.items() if name not in known]
        are_simple = all(map(_is_simple, (*own, *graph.tensors.__dict__.values())))
        return cls(graph) if are_simple else None


def _methods_of(modules: Sequence[Any]) -> list[Any]:
    return [getattr(kind, name) for kind in {type(one) for one in modules} for name in _METHODS]


def _is_simple(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_simple, value))
    return type(value) in _SIMPLE


def _is_plain(module: Any) -> bool:
    """Whether all that a module does depends on its fields and on the sizes of tensors."""
    own = {name: value for name, value in module.__dict__.items() if name != "tensors"}
    fields = module.tensors
    return (
        type(module) in REPEATABLE
        and not getattr(module, "inplace", False)
        and type(fields) is Fields
        and all(map(_is_simple, (*own.values(), *fields.__dict__.values())))
    )


def _copied(value: Any) -> Any:
    """Fields, which lists in them may change without."""
    if isinstance(value, dict):
        return {name: _copied(entry) for name, entry in value.items()}
    return [_copied(entry) for entry in value] if isinstance(value, list) else value


class Recordings:
    """The recorded calls of one gModule."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}
        self._family: Any = None
        """The recordings that C has of them all."""
        self._state: _State | None = None
        """Of the modules, after the last call."""
        self._made: Counter[str] = Counter()
        self.repeated: Counter[str] = Counter()
        """How often each method was repeated."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Recordings:
        return Recordings()

    def __reduce__(self) -> tuple[Any, ...]:
        return Recordings, ()

    def call(
        self, graph: gModule, name: str, method: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        """Calls a method, or repeats what it did."""
        given = _given(arguments)
        if given is None:
            return method(graph, *arguments)
        is_known = self._state is not None and self._state.is_that_of(graph)
        if not is_known:
            self._calls.clear()
        call = self._calls.get(name)
        outputs: list[Any] = []
        if call is not None and call.takes(graph, given):
            outputs = self._repeated_until(graph, call)
            if outputs is _ALL:
                graph.__dict__.update(call.after)
                self.repeated[name] += 1
                return to_arrays(call.result)
        self._forget(name)
        if call is not None and outputs:
            result = graph.go_on(call.arguments()[0], outputs)
        elif call is None and is_known and self._is_worth(name, given):
            result = self._record(graph, name, method, given)
        else:
            result = method(graph, *arguments)
        self._state = _State.of(graph)
        return to_arrays(result)

    def _is_worth(self, name: str, given: _Given) -> bool:
        """Whether a recording is possible, and those before were repeated often enough."""
        made = self._made[name]
        is_worth = made < _MOST_IN_VAIN or made < self.repeated[name]
        return is_worth and all(map(_Slot.can_hold, given.arrays))

    def _forget(self, name: str) -> None:
        """Drops the calls whose tensors a method may replace."""
        if name == "updateOutput":
            self._calls = {n: call for n, call in self._calls.items() if n in _OF_PARAMETERS}
        elif name in _AFTER:
            self._calls = {n: call for n, call in self._calls.items() if n not in _BEFORE}
        else:
            self._calls.pop(name, None)

    # ---- Repeating

    def _repeated_until(self, graph: gModule, call: _Call) -> list[Any]:
        """Makes a call again: _ALL, or else the outputs of the steps that were made."""
        for piece in call.pieces:
            if isinstance(piece, _Steps):
                if not repeat(piece.calls, self._family, graph.typename()):
                    return self._outputs_of(call)[: piece.place]
            else:
                output = graph.ask(piece.module, "updateOutput", piece.input)
                if not piece.gives(output):
                    return [*self._outputs_of(call)[: piece.place], output]
        return _ALL

    @staticmethod
    def _outputs_of(call: _Call) -> list[Any]:
        outputs: list[Any] = call.after.get("_outputs", [])
        return outputs

    # ---- Recording

    def _record(self, graph: gModule, name: str, method: Callable[..., Any], given: _Given) -> Any:
        """Calls a method while a tape runs."""
        assert self._state is not None  # noqa: S101 (it is known)
        self._made[name] += 1
        slots = [_Slot(one) for one in given.arrays]
        arguments = given.with_tensors([slot.tensor for slot in slots])
        before = {field: graph.__dict__.get(field) for field in _BEFORE.get(name, ())}
        recorder = _Recorder(graph, name, self._state)
        with recorder:
            result = method(graph, *arguments)
        with contextlib.suppress(Unrepeatable):
            pieces = recorder.pieces(slots)
            after = {field: graph.__dict__.get(field) for field in _AFTER.get(name, ())}
            self._calls[name] = _Call(given, slots, pieces, before, after, result)
            every = (piece for call in self._calls.values() for piece in call.pieces)
            self._family = family_of([one.calls for one in every if isinstance(one, _Steps)])
        return result


_ALL: list[Any] = []
"""In the place of outputs: the whole call was made."""


class _Recorder:
    """Asks the modules of a graph while a tape runs."""

    def __init__(self, graph: gModule, name: str, state: _State) -> None:
        self._graph, self._tape, self._plain = graph, Tape(), state.plain
        self._places = {step.module: place for place, step in enumerate(graph.graph.steps)}
        self._asks: list[tuple[int, _Ask]] = []
        """Modules that have to be asked, each with the number of steps of C before it."""
        needs_all = name in _OF_PARAMETERS
        self._fails = needs_all and len(state.plain) < len(state.modules)

    def __enter__(self) -> None:
        self._fails |= not self._tape.start()
        if not self._fails:
            vars(self._graph)["ask"] = self._ask

    def __exit__(self, *error: object) -> None:
        self._tape.stop()
        vars(self._graph).pop("ask", None)

    def _ask(self, index: int, method: str, *arguments: Any) -> Any:
        """Asks a module, as :meth:`Container.ask`, and takes note of it."""
        graph, tape = self._graph, self._tape
        count = len(tape.steps)
        if index in self._plain:
            module = vars(graph.modules[index])
            module["_kernel"] = tape.kernel
            try:
                result = Container.ask(graph, index, method, *arguments)
            finally:
                del module["_kernel"]
            if not tape.is_refused:
                return result
            tape.rewind(count)
        else:
            with tape.paused():
                result = Container.ask(graph, index, method, *arguments)
        if method == "updateOutput":
            self._asks.append((count, _Ask(self._places[index], index, arguments[0], result)))
        else:
            self._fails = True
        return result

    def pieces(self, slots: Sequence[_Slot]) -> list[_Steps | _Ask]:
        """What the call consists of; raises Unrepeatable where it cannot be made again."""
        tape = self._tape
        if self._fails or tape.is_refused:
            raise Unrepeatable
        for slot in slots:
            tape.meet(slot.tensor)
        parameters, gradients = self._graph.parameterTensors() or ([], [])
        own = [one._open() for one in (*parameters, *gradients) if one is not None]
        pieces: list[_Steps | _Ask] = []
        done = place = 0
        for count, ask in self._asks:
            if count > done:
                pieces.append(_Steps(place, tape.repeatable(done, count, own)))
            pieces.append(ask)
            done, place = count, ask.place + 1
        if len(tape.steps) > done:
            pieces.append(_Steps(place, tape.repeatable(done, len(tape.steps), own)))
        for slot in slots:
            slot.references = tape.references(slot.storage)
        return pieces

"""What functions remember of their calls: what a call found out is not found out again.

A call whose arrays have the types and sizes of an earlier one, with the same settings, does the
same to other memory. The second of such calls is recorded, and later ones run what was prepared
from that: they fill in addresses and call C. Bodies that cannot be recorded run each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter
from typing import Any

import numpy as np

from .._calls.prepared import prepare
from .._calls.recorded import Kept, Recording
from .._state import State

__all__ = ["KEYS", "Plans"]

may_share_memory = np.may_share_memory
_MOST = 256
"""Plans of one function. With more, all are forgotten: sizes differ from call to call."""
_ARRAYS = ("Real", "Indices", "Written")
_MORE = ("AddTo", "Bags", "Saved")
"""Kinds of arguments that have arrays, beside those that are converted to arrays."""


# ---- Keys. That of an array is its type, its element type and its sizes; that of a setting is its
# type and its value. What a function does depends on nothing else.


def _setting(value: Any) -> Any:
    """The key of a setting; raises TypeError where that is none of Python's own."""
    kind = type(value)
    if kind is int or kind is bool or kind is str:
        return kind, value
    if value is None:
        return (kind,)  # not the key of a default
    if kind is float:
        return kind, value or str(value)  # zeros differ in their sign
    if kind is tuple or kind is list:
        for entry in value:
            if type(entry) is not int:
                return kind, tuple([_setting(entry) for entry in value])
        return kind, *value  # in half the time
    if kind is State and not value.closed:
        return kind, value._serial
    raise TypeError(kind)


def _key_of_arrays(value: Any) -> Any:
    """The key of arrays in tuples or lists, or in a dict."""
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype, value.shape
    if kind is tuple or kind is list:
        return kind, *[
            (entry.dtype, entry.shape) if type(entry) is np.ndarray else _key_of_arrays(entry)
            for entry in value
        ]
    if kind is dict:
        return kind, *[(name, _key_of_arrays(entry)) for name, entry in value.items()]
    if value is None:
        return None
    raise TypeError(kind)


def _key_of_added(added: Any, *arrays: Any) -> Any:
    """The key of arrays that gradients are added to.

    TypeError where the first gradient goes to memory that later ones are computed from: that is for
    the body, which makes copies.
    """
    first = added.get("x")
    if first is not None:
        for array in arrays:  # not any(), which takes longer
            if may_share_memory(first, array):
                raise TypeError
    return _key_of_arrays(added)


def _nesting(value: Any) -> Any:
    """The key of a recurrent layer's parameters, in nested tuples or lists.

    What they have to be follows from the first two and from the other arguments. C looks at their
    types and sizes, and a plan takes no other number of them.
    """
    lengths, inner = [], value
    while type(value) is tuple or type(value) is list:
        lengths.append(len(value))
        inner, value = value, value[0]
    return *lengths, value.shape, inner[1].shape


def _is_pair(kind: str | None) -> bool:
    """Whether an argument is a pair of arrays, which follow from the others as parameters do."""
    return kind is not None and kind.startswith("tuple")


def _form_of(value: Any) -> Kept:
    """The key of what a prepared function has returned; TypeError for all else."""
    if not isinstance(value, Kept) or value.form is None:
        raise TypeError
    return value.form


KEYS: Mapping[str, Any] = {
    "form_of": _form_of,
    "key_of_added": _key_of_added,
    "key_of_arrays": _key_of_arrays,
    "nesting": _nesting,
    "setting": _setting,
}
"""What the code of keys refers to."""


def _eager(*_: Any) -> None:
    """In the place of a plan: the body has to run."""


class Plans:
    """Those of one function, by key."""

    def __init__(
        self, body: Callable[..., Any], parameters: Iterable[Parameter], kinds: Mapping[str, str]
    ) -> None:
        self.found: dict[Any, Callable[..., Any]] = {}
        self._body, self._parameters, self._seen = body, tuple(parameters), set[Any]()
        more = {p.name: str(p.annotation) for p in self._parameters if str(p.annotation) in _MORE}
        every = {**kinds, **more}
        self._kinds = {p.name: every[p.name] for p in self._parameters if p.name in every}

    @property
    def key(self) -> str:
        """The key of a call, as code."""
        return "".join(f"{self._key(parameter)}, " for parameter in self._parameters)

    def _key(self, parameter: Parameter) -> str:
        name, kind = parameter.name, self._kinds.get(parameter.name)
        if kind in _ARRAYS:
            key = f"type({name}), {name}.dtype, {name}.shape"
            is_optional = str(parameter.annotation).endswith("| None")
            return f"None if {name} is None else ({key})" if is_optional else key
        if kind == "Saved":
            return f"form_of({name})"
        if kind == "Nested":
            return f"nesting({name})"
        if _is_pair(kind):
            key = f"type({name}), {name}[0] is None, {name}[1] is None"
            return f"None if {name} is None else ({key})"
        if kind == "AddTo":
            others = ", ".join(n for n, of in self._kinds.items() if of in _ARRAYS)
            return f"None if {name} is None else key_of_added({name}, {others})"
        if kind is not None:
            return f"None if {name} is None else key_of_arrays({name})"
        if parameter.default is parameter.empty:
            return f"setting({name})"
        return f"None if {name} is defaults[{name!r}] else setting({name})"

    @property
    def arrays(self) -> str:
        """What a plan is called with, as code."""
        return ", ".join(
            f"{name}.memory" if kind == "Saved" else name for name, kind in self._kinds.items()
        )

    def learn(self, key: Any, values: Sequence[Any]) -> None:
        """After a call that went well, which has run the body."""
        if key in self._seen:
            if len(self.found) >= _MOST:
                self.found.clear()
            self.found[key] = self._planned(values)
        else:
            if len(self._seen) >= _MOST:
                self._seen.clear()
            self._seen.add(key)

    def _planned(self, values: Sequence[Any]) -> Callable[..., Any]:
        states = [value for value in values if isinstance(value, State)]
        recording = Recording(states[0] if states else None)
        arguments: list[Any] = []
        given: list[Any] = []
        named: dict[str, Any] = {}
        for parameter, value in zip(self._parameters, values, strict=True):
            kind = self._kinds.get(parameter.name)
            if kind == "Saved":
                value, arrays = value.recorded(recording)
                arguments.append(tuple(arrays))
            elif kind is not None:
                value = _recorded(recording, value, kind)
                arguments.append(value)
            if parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                given.append(value)
        try:
            return prepare(recording, arguments, self._body(*given, **named))
        except Exception:  # of any kind: the body was not made for what it was given
            return _eager
        finally:
            recording.state = None  # it is the caller's


def _recorded(recording: Recording, value: Any, of: str) -> Any:
    """An argument of this kind with recorded arrays in the place of its arrays."""
    kind = type(value)
    if kind is np.ndarray:
        written = of in ("Written", "AddTo")
        known = of != "Nested" and not _is_pair(of)
        return recording.argument(value, written=written, known=known)
    if kind is dict:
        return {n: _recorded(recording, one, of) for n, one in value.items()}
    if kind is tuple or kind is list:
        return tuple([_recorded(recording, one, of) for one in value])
    return value

"""Values of .t7 files that Python has no type for."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._copying import Nestable
from .._shown import shown_name

__all__ = [
    "Table",
    "TdsHash",
    "TdsVec",
    "TorchFunction",
    "TorchObject",
    "TorchStorage",
    "name_text",
]


def _identity(key: Any) -> Any:
    """What makes two keys of a Lua table the same: value or identity."""
    if isinstance(key, (bool, np.bool_)):
        return ("boolean", bool(key))
    if isinstance(key, bytes):
        return key.decode("utf-8", "surrogateescape")
    if isinstance(key, (str, int, float, np.integer, np.floating)):
        return key
    return ("object", id(key))


def name_text(key: Any) -> str:
    """A key of a table in a few words; of what may hold others the class alone."""
    if isinstance(key, (str, bool, int, float)):
        return shown_name(key)
    name = key.torch_class if isinstance(key, TorchObject) else type(key).__name__
    return f"<{shown_name(name)}>"


class Table(MutableMapping[Any, Any]):
    """A Lua table with keys that a dict cannot hold.

    Keys are told apart as in Lua: numbers and strings by value, True from 1, everything else
    (lists, dicts, arrays, objects) by identity.
    """

    def __init__(self, items: Any = ()) -> None:
        self._items: dict[Any, tuple[Any, Any]] = {}
        self.update(items)

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._items[_identity(key)][1]
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        self._items[_identity(key)] = (key, value)

    def __delitem__(self, key: Any) -> None:
        try:
            del self._items[_identity(key)]
        except KeyError:
            raise KeyError(key) from None

    def __contains__(self, key: object) -> bool:
        return _identity(key) in self._items

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # As separate items, since a table may be a key of itself.
        return (type(self), (), None, None, iter(list(self._items.values())))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} entries>"


class TdsHash(Table):
    """A ``tds.Hash``: a table outside Lua's memory."""

    long_count = True
    """Whether a file has the number of entries as a long, else as an int."""


class TdsVec(list[Any]):
    """A ``tds.Vec``: a list outside Lua's memory."""

    long_count = True
    """Whether a file has the number of entries as a long, else as an int."""


class TorchStorage:
    """A storage that is itself a value, such as the sizes that ``nn.View`` keeps.

    ``data`` holds the elements: a one-dimensional array, shared with the tensors of this storage.
    """

    __slots__ = ("__weakref__", "data")

    data: NDArray[Any]

    def __init__(self, data: Any) -> None:
        self.data = np.asarray(data)
        if self.data.ndim != 1:
            raise ValueError(f"a storage has one dimension, found {self.data.ndim}")

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        array = self.data if dtype is None else self.data.astype(dtype, copy=False)
        return array.copy() if copy and array is self.data else array

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: Any) -> Any:
        return self.data[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data.tolist())

    def tolist(self) -> list[Any]:
        """The elements as a list of Python numbers."""
        values: list[Any] = self.data.tolist()
        return values

    def __repr__(self) -> str:
        return f"TorchStorage({np.array2string(self.data, threshold=20)}, {self.data.dtype})"


class TorchFunction:
    """A Lua function: kept, written back unchanged, never run.

    ``code`` is Lua bytecode, ``upvalues`` what it closes over, ``tag`` the form it is written in.
    """

    __slots__ = ("__weakref__", "code", "tag", "upvalues")

    code: bytes
    upvalues: Any
    tag: int

    def __init__(self, code: bytes, upvalues: Any, tag: int) -> None:
        self.code = code
        self.upvalues = upvalues
        self.tag = tag

    def __repr__(self) -> str:
        return f"<Lua function of {len(self.code)} bytes, not to be run>"


MOST_NAMES = 50  # of fields that are listed


class UnknownFieldError(AttributeError):
    """An object of an unknown class has no such field."""

    is_of_others = True
    """Whatever meets the object is not to be blamed: see :mod:`pythnn.nn.object.calling`."""


class TorchObject(Nestable):
    """An object of a Torch class that pythnn does not know.

    ``torch_class`` is the name of the class, ``fields`` what the object holds; a field is also an
    attribute and an item: ``o.weight``, ``o["weight"]``. ``version`` is that of the class, 0 in
    files older than versions; ``header`` is what a few classes write before their fields.
    """

    __slots__ = ("__weakref__", "fields", "header", "torch_class", "version")

    torch_class: str
    fields: Any  # a dict, unless the class wrote anything else than a table
    header: tuple[Any, ...]

    def __init__(
        self, torch_class: str, fields: dict[Any, Any] | None = None, *, version: int = 1
    ) -> None:
        self.torch_class = torch_class
        self.version = version
        self.fields = {} if fields is None else fields
        self.header = ()

    def __getattr__(self, name: str) -> Any:
        # Slots that are not set yet come here too, while copy and pickle rebuild an object.
        if name in TorchObject.__slots__:
            raise AttributeError(name)
        if isinstance(self.fields, MutableMapping) and name in self.fields:
            return self.fields[name]
        raise UnknownFieldError(
            f"no field {name!r} in an object of {shown_name(self.torch_class)}, a class that"
            " pythnn does not know; if it is a layer, write it in Python and register it"
            " (pythnn.nn.register)"
        )

    def __getitem__(self, key: Any) -> Any:
        return self.fields[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.fields[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.fields[key]

    def __contains__(self, key: object) -> bool:
        return key in self.fields

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fields)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self._names() if isinstance(key, str))]

    def __repr__(self) -> str:
        names = self._names()
        texts = [name_text(name) for name in names[:MOST_NAMES]]
        if len(names) > MOST_NAMES:
            texts.append(f"… and {len(names) - MOST_NAMES} more")
        return f"<{shown_name(self.torch_class)}: {', '.join(texts)}>"

    def _names(self) -> list[Any]:
        return list(self.fields) if isinstance(self.fields, MutableMapping) else []

"""The C libraries: loading, and functions that raise.

``native`` is the extension module's own ``lib``. In it a C function ``f`` without a result is
``call_f``, which returns nonzero after an error, and one with a result is ``value_f``, after which
``pythnn_failed()`` tells. ``lib`` is what users get: the C names, raising exceptions.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from ._errors import THNNArgumentError, THNNError, THNNMemoryError

__all__ = ["Library", "error_of", "ffi", "holding", "last_error", "lib", "native", "own"]


def _load() -> ModuleType:
    """Imports the extension, and OpenBLAS before it where the loader did not find it."""
    name = f"{__package__}._cffi"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        folder = os.path.dirname(__file__)  # noqa: PTH120 (as below)
        raise ImportError(
            f"{folder} holds pythnn's sources, without the compiled part: install them "
            "(pip install . where pyproject.toml is), and start Python in another folder"
        ) from error
    except ImportError as error:
        if "openblas" not in str(error):
            raise
        _preload_openblas(error)
    return importlib.import_module(name)


def _preload_openblas(error: ImportError) -> None:
    """Editable installs and ``pip install --target`` part the library from its BLAS."""
    import ctypes
    import importlib.util

    spec = importlib.util.find_spec("scipy_openblas32")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(
            "pythnn needs the package scipy-openblas32: pip install scipy-openblas32"
        ) from error
    folder = f"{spec.submodule_search_locations[0]}/lib"
    for file in os.listdir(folder):  # noqa: PTH208 (pathlib would triple the time of the import)
        if file.startswith("libscipy_openblas"):
            ctypes.CDLL(f"{folder}/{file}")
            return
    raise ImportError(f"pythnn found no libscipy_openblas in {folder}") from error


_extension = _load()
ffi: Any = _extension.ffi
native: Any = _extension.lib


def last_error(function: str) -> THNNError:
    """The exception for the error that a guarded function of this thread has just reported."""
    return error_of(native.pythnn_lastError(), function)


def error_of(record: Any, function: str) -> THNNError:
    """The exception for a pythnn_Error, of this extension or of another."""
    message, location = _text(record.message), _text(record.location) or None
    if record.code == native.PYTHNN_MEMORY_ERROR:
        named = message if message.startswith(f"{function}:") else f"{function}: {message}"
        return THNNMemoryError(named, location=location)
    if record.code != native.PYTHNN_ARGUMENT_ERROR:
        return THNNError(message, location=location)
    return THNNArgumentError(
        message,
        function=_text(record.function) or function,
        argument=_text(record.argument) or None,
        position=record.position or None,
        location=location,
    )


def _text(characters: Any) -> str:
    found: str = ffi.string(characters).decode("utf-8", "replace")
    return found


def holding(held: Any) -> Callable[[Any], None]:
    """A destructor that does nothing but keep an object until it is called.

    No Python code runs in it, where an exception of a signal handler would be lost.
    """
    return partial(native.pythnn_keep, held)


_OWNED = ffi.typeof("pythnn_Owned *")


def own(pointer: Any, create: Callable[..., int], *arguments: Any) -> Any:
    """A C object as a pointer of this type; it is freed when the pointer goes.

    `create` is one of the ``pythnn_own…`` functions. The owner is there before the object, so no
    interrupt loses it.
    """
    owned = ffi.gc(ffi.new(_OWNED), native.pythnn_disown)
    if create(owned, *arguments):
        raise last_error("pythnn")
    return ffi.gc(ffi.cast(pointer, owned.object), holding(owned))


_CALL, _VALUE = "call_", "value_"
_GUARDS = re.compile(f"{_CALL}|{_VALUE}|arrays_")


class Library:
    """The public C functions of libTH and libTHNN under their C names.

    Arguments are C values: numbers, ``pythnn.ffi`` pointers, ``ffi.NULL``. An error of the C
    library raises :class:`pythnn.THNNError`; none ends the process. Pointers are not checked
    beyond their type: as in C, what they point to must be alive.
    """

    def __getattr__(self, name: str) -> Any:
        value = _find(name)
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        names = {_GUARDS.sub("", name, count=1) for name in dir(native)}
        return sorted(name for name in names if not name.lower().startswith("pythnn_"))


def _find(name: str) -> Any:
    guarded = getattr(native, _CALL + name, None)
    if guarded is not None:
        return _raising_call(name, guarded)
    guarded = getattr(native, _VALUE + name, None)
    if guarded is not None:
        return _raising_value(name, guarded)
    if not name.lower().startswith("pythnn_") and not _GUARDS.match(name):
        with contextlib.suppress(AttributeError):
            return getattr(native, name)  # a constant or a variable
    raise AttributeError(f"libTH and libTHNN have no public function '{name}'")


def _named(function: Callable[..., Any], name: str, guarded: Any) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = ffi.typeof(guarded).cname.replace("(*)", f" {name}")
    return function


def _raising_call(name: str, guarded: Callable[..., int]) -> Callable[..., Any]:
    def call(*arguments: Any) -> None:
        if guarded(*arguments):
            raise last_error(name)

    return _named(call, name, guarded)


def _raising_value(name: str, guarded: Callable[..., Any]) -> Callable[..., Any]:
    failed = native.pythnn_failed

    def call(*arguments: Any) -> Any:
        result = guarded(*arguments)
        if failed():
            raise last_error(name)
        return result

    return _named(call, name, guarded)


lib = Library()

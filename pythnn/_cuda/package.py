"""The package with libTHCUNN, ``pythnn_cuda12`` or ``pythnn_cuda13``: found, checked, loaded."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from .._errors import THNNError
from .._library import error_of
from .._version import __version__
from .driver import driver_version

__all__ = ["VARIABLE", "Package", "find", "load"]

VARIABLE = "PYTHNN_CUDA_PACKAGE"
"""Environment variable: the package to load in place of the one found."""

_PACKAGES = {13: "pythnn_cuda13", 12: "pythnn_cuda12"}
_INSTALL = (
    "Arrays on a GPU need pythnn's part for CUDA. In the folder of pythnn's sources: "
    "pip install '.[cuda12]' ./packaging/cuda12 (or cuda13 twice, by the CUDA version that "
    "nvidia-smi shows)"
)


class Package:
    """The functions of a libTHCUNN."""

    def __init__(self, name: str) -> None:
        module = importlib.import_module(name)
        extension = importlib.import_module(f"{name}._cffi")
        self.name = name
        self.version: str = module.__version__
        self.ffi: Any = extension.ffi
        self.native: Any = extension.lib
        self.functions: dict[str, tuple[tuple[str, str, bool], ...]] = importlib.import_module(
            f"{name}._table"
        ).FUNCTIONS
        """By name: kind, role and whether it is optional, of each argument."""
        self._owned = self.ffi.typeof("pythnn_CudaOwned *")

    def error(self, function: str) -> THNNError:
        """The exception for the error that a guarded function of this thread has reported."""
        return error_of(self.native.pythnn_lastError(), function)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a C function without a result."""
        if getattr(self.native, f"call_{name}")(*arguments):
            raise self.error(name)

    def value(self, name: str, *arguments: Any) -> Any:
        """Calls a C function with a result."""
        result = getattr(self.native, f"value_{name}")(*arguments)
        if self.native.pythnn_failed():
            raise self.error(name)
        return result

    def own(self, pointer: Any, create: Callable[..., int], *arguments: Any) -> Any:
        """A C object as a pointer of this type; it is freed when the pointer goes.

        `create` is one of the ``pythnn_ownCuda…`` functions.
        """
        owned = self.ffi.gc(self.ffi.new(self._owned), self.native.pythnn_disownCuda)
        if create(owned, *arguments):
            raise self.error("pythnn")
        keep = partial(self.native.pythnn_keep, owned)
        return self.ffi.gc(self.ffi.cast(pointer, owned.object), keep)


def find() -> str | None:
    """The name of the package that :func:`load` would load; None when there is none."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    newest = 12 if driver_version() < 13000 else 13
    order = [newest, *(major for major in _PACKAGES if major != newest)]
    names = (_PACKAGES[major] for major in order)
    return next((name for name in names if importlib.util.find_spec(name) is not None), None)


@functools.cache
def load() -> Package:
    """The package with the kernels.

    Raises THNNError when there is none, or when it is not of this version of pythnn.
    """
    name = find()
    if name is None:
        raise THNNError(_INSTALL)
    try:
        package = Package(name)
    except ImportError as error:
        raise THNNError(f"{name} cannot be loaded: {error}") from error
    if package.version != __version__:
        distribution = name.replace("_", "-")
        raise THNNError(
            f"{distribution} {package.version} does not belong to pythnn {__version__}: install "
            f"both from the same sources (pip install . ./packaging/{name.removeprefix('pythnn_')})"
        )
    return package

"""What ``pythnn info`` shows."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from ._cuda.driver import device_names, driver_version, status
from ._cuda.package import find, load
from ._errors import THNNError
from ._library import ffi, lib
from ._state import get_num_threads
from ._version import __version__

__all__ = ["gather"]


def gather() -> dict[str, str]:
    """Versions and findings, by name."""
    return {
        "pythnn": __version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "BLAS": _blas(),
        "threads": f"{get_num_threads()} of {lib.THGetNumCores()} cores",
        "instruction set": _text(lib.THNN_simdLevelName()) + _forced_level(),
        "CUDA": _cuda(),
    }


def _text(pointer: object) -> str:
    text: str = ffi.string(pointer).decode()
    return text


def _blas() -> str:
    name, core = _text(lib.THBlasName()), _text(lib.THBlasCoreName())
    text = f"{name}, kernels for {core}" if core else name
    forced = os.environ.get("OPENBLAS_CORETYPE")
    return f"{text} (OPENBLAS_CORETYPE={forced})" if forced else text


def _forced_level() -> str:
    forced = os.environ.get("THNN_SIMD")
    return f" (THNN_SIMD={forced})" if forced else ""


def _cuda() -> str:
    """The driver's answer, the devices, and whether the packages for them are there."""
    parts = [status()]
    names = device_names()
    if names or driver_version():
        parts.append(", ".join(names) or "no device")
    for package in ("pythnn-cuda12", "pythnn-cuda13", "cupy-cuda12x", "cupy-cuda13x"):
        try:
            parts.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    parts.append(_library())
    return "; ".join(parts)


def _library() -> str:
    """What pythnn would load for arrays on a GPU."""
    name = find()
    if name is None:
        return "pythnn's part for CUDA is not installed"
    try:
        package = load()
    except THNNError as error:
        return str(error)
    return f"{package.name} {package.version} with {len(package.functions)} functions"

"""What ``pythnn info`` shows."""

from __future__ import annotations

import ctypes
import os
import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from . import __version__
from ._library import ffi, lib
from ._state import get_num_threads

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
    """The driver's answer, and whether the packages for it are there."""
    parts = [_driver()]
    for package in ("pythnn-cuda12", "pythnn-cuda13", "cupy-cuda12x", "cupy-cuda13x"):
        try:
            parts.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return "; ".join(parts)


def _driver() -> str:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no driver found"
    status = driver.cuInit(0)
    if status:
        return f"the driver reports error {status}"
    number, count = ctypes.c_int(), ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(number))
    driver.cuDeviceGetCount(ctypes.byref(count))
    names = []
    for device in range(count.value):
        name = ctypes.create_string_buffer(256)
        driver.cuDeviceGetName(name, len(name), device)
        names.append(name.value.decode(errors="replace"))
    release = f"driver for CUDA {number.value // 1000}.{number.value % 1000 // 10}"
    return f"{release}: {', '.join(names) or 'no device'}"

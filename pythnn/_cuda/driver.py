"""What the NVIDIA driver says, asked without loading anything else of CUDA."""

from __future__ import annotations

import ctypes
from typing import Any

__all__ = ["device_names", "driver_version", "status"]


def _driver() -> Any:
    """The driver's library, initialised; None when there is none that works."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    return None if driver.cuInit(0) else driver


def status() -> str:
    """Whether there is a driver, in words."""
    try:
        code = ctypes.CDLL("libcuda.so.1").cuInit(0)
    except OSError:
        return "no driver found"
    if code:
        return f"the driver reports error {code}"
    version = driver_version()
    return f"driver for CUDA {version // 1000}.{version % 1000 // 10}"


def driver_version() -> int:
    """The CUDA version that the driver is made for, as 1000 major + 10 minor; 0 without one."""
    driver, number = _driver(), ctypes.c_int()
    if driver is not None:
        driver.cuDriverGetVersion(ctypes.byref(number))
    return number.value


def device_names() -> list[str]:
    """The names of the devices."""
    driver, count = _driver(), ctypes.c_int()
    if driver is None:
        return []
    driver.cuDeviceGetCount(ctypes.byref(count))
    names = []
    for device in range(count.value):
        name = ctypes.create_string_buffer(256)
        driver.cuDeviceGetName(name, len(name), device)
        names.append(name.value.decode(errors="replace"))
    return names

"""Calls of C functions with Tensors and arrays, on the host and on devices."""

from .host import Argument, Function, check_ranges, describe, make, refuse_tensor

__all__ = ["Argument", "Function", "check_ranges", "describe", "make", "refuse_tensor"]

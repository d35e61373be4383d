"""Calls of C functions with Tensors and arrays, on the host and on devices."""

from .function import Argument, Function, describe

__all__ = ["Argument", "Function", "describe"]

"""The name that pickles of before know :mod:`pythnn.nn.object.node` by."""

from .object.node import Graph, Step

__all__ = ["Graph", "Step"]

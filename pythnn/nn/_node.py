"""Where older pickles look for what is in :mod:`pythnn.nn.object.node`."""

from .object.node import Graph, Step

__all__ = ["Graph", "Step"]

"""The CUDA part of pythnn, which loads it when it meets the first array on a GPU."""

from ._version import __version__

__all__ = ["__version__"]

"""Parts of the package that are imported when they are first needed.

Whoever needs one asks here, and ``pythnn/__init__.py``, which knows all parts, says where it is. So
the parts for the host's memory name none for devices, and those for files no classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Later", "device_tensors", "file_classes", "notebooks", "programs"]


class Later:
    """A module that is imported when something in it is asked for."""

    _import: Callable[[], Any]

    def comes_from(self, import_: Callable[[], Any]) -> None:
        """Says how the module is imported."""
        self._import = import_

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._import(), name)
        self.__dict__[name] = found
        return found


device_tensors = Later()
"""Tensors in the memory of devices: ``CudaTensor``."""
file_classes = Later()
"""Classes of objects in files: ``class_of``, ``has_own_type``, ``list_of_storage``."""
notebooks = Later()
"""Graphs in notebooks: ``html_of_graph``."""
programs = Later()
"""Programs of modules: ``compile``."""

"""What layers with windows along the axes of a plane or volume have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .kernel import Kernel

__all__ = ["PLANE", "VOLUME", "Windowed", "comma", "repeat_last"]

PLANE = ("W", "H")
"""Endings of the fields that hold a size for each axis of a plane, in Lua's order."""
VOLUME = ("T", "W", "H")
"""The same for volumes."""


def repeat_last(*values: Any) -> list[Any]:
    """The values, where None stands for the one before."""
    filled: list[Any] = []
    for value in values:
        filled.append(filled[-1] if value is None else value)
    return filled


def comma(values: Sequence[Any]) -> str:
    """The values, separated by commas."""
    return ",".join(map(str, values))


class Windowed(Kernel):
    """A layer that looks at its input through windows.

    Sizes of windows are the fields k…, of steps d…, of padding pad…, with the axes' endings.
    """

    _axes: ClassVar[tuple[str, ...]] = PLANE

    def _set_sizes(self, **sizes: Sequence[int]) -> None:
        """Makes sizes fields: ``k=(3, 2)`` becomes kW and kH."""
        for prefix, values in sizes.items():
            for axis, value in zip(self._axes, values, strict=True):
                self.assign(prefix + axis, value)

    def _sizes(self, prefix: str) -> list[int]:
        """The fields with this prefix, in Lua's order of axes; 0 where there is none."""
        return [self.field(prefix + axis) or 0 for axis in self._axes]

    def _window(self) -> tuple[int, ...]:
        """The sizes of the window in the order of a tensor's dimensions."""
        sizes = dict(zip(self._axes, self._sizes("k"), strict=True))
        return tuple(sizes[axis] for axis in "THW" if axis in sizes)

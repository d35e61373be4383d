"""Where an object keeps its tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._tensor import Tensor
from .values import is_array, is_view

__all__ = ["Fields", "is_held", "reusable"]


class Fields:
    """The tensors of an object, and lists of them; a name without one is None, as in Lua."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


def reusable(held: Any, dtype: np.dtype[Any], device: str = "cpu") -> Tensor:
    """A Tensor to write to: the one held, unless somebody may still look at its memory."""
    if (
        isinstance(held, Tensor)
        and held.dtype == dtype
        and held.device == device
        and not held.is_exported
    ):
        return held
    return Tensor(dtype=dtype, device=device)


def is_held(held: Any, result: Any) -> bool:
    """Whether a result is what a field holds."""
    if held is result:
        return True
    if isinstance(result, list):
        is_alike = isinstance(held, list) and len(held) == len(result) > 0
        return is_alike and all(map(is_held, held, result))
    return isinstance(held, Tensor) and is_array(result) and is_view(held, result)

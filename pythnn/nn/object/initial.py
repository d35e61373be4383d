"""First values of parameters."""

from __future__ import annotations

import math
from typing import Any

from ... import _random
from ..._tensor import Tensor

__all__ = ["draw"]


def draw(stdv: Any, inputs: int, *tensors: Tensor | None) -> None:
    """Draws tensors, one after the other, from [-s, s].

    s = sqrt(3) stdv, or without it 1 / sqrt(inputs).
    """
    limit = 1 / math.sqrt(inputs) if stdv is None else stdv * math.sqrt(3)
    _random.fill_uniform(limit, *tensors)

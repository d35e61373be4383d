"""All cases, family by family."""

from __future__ import annotations

from . import cases, layers
from .cases import Case

CASES: list[Case] = [
    *cases.CONVOLUTIONS,
    *layers.DEPTHWISE,
    *cases.POINTWISE,
    *layers.POINTWISE,
    *cases.SOFTMAX,
    *cases.NORMALISATION,
    *cases.CRITERIA,
    *layers.CRITERIA,
    *cases.PRODUCTS,
    *cases.TABLES,
    *layers.RECURRENT,
    *cases.POOLING,
    *layers.POOLING,
    *cases.RESAMPLING,
    *layers.RESAMPLING,
    *cases.OVERHEAD,
]

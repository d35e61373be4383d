"""All cases, family by family."""

from __future__ import annotations

from . import cases, functions, groups, layers, losses, pooling, sequences, shapes
from .cases import Case

CASES: list[Case] = [
    *cases.CONVOLUTIONS,
    *layers.DEPTHWISE,
    *groups.CONVOLUTIONS,
    *sequences.CONVOLUTIONS,
    *cases.POINTWISE,
    *layers.POINTWISE,
    *shapes.POINTWISE,
    *cases.SOFTMAX,
    *shapes.SOFTMAX,
    *cases.NORMALISATION,
    *shapes.NORMALISATION,
    *cases.CRITERIA,
    *layers.CRITERIA,
    *losses.CRITERIA,
    *cases.PRODUCTS,
    *cases.TABLES,
    *sequences.TABLES,
    *layers.RECURRENT,
    *shapes.RECURRENT,
    *cases.POOLING,
    *layers.POOLING,
    *pooling.POOLING,
    *cases.RESAMPLING,
    *layers.RESAMPLING,
    *shapes.RESAMPLING,
    *functions.FUNCTIONS,
    *cases.OVERHEAD,
]

"""All cases, family by family."""

from __future__ import annotations

from . import (
    convolutions,
    criteria,
    functions,
    groups,
    layers,
    losses,
    overhead,
    planes,
    pointwise,
    pooling,
    products,
    sequences,
    shapes,
)
from .cases import Case

CASES: list[Case] = [
    *convolutions.CONVOLUTIONS,
    *layers.DEPTHWISE,
    *groups.CONVOLUTIONS,
    *sequences.CONVOLUTIONS,
    *pointwise.POINTWISE,
    *layers.POINTWISE,
    *shapes.POINTWISE,
    *pointwise.SOFTMAX,
    *shapes.SOFTMAX,
    *pointwise.NORMALISATION,
    *shapes.NORMALISATION,
    *criteria.CRITERIA,
    *layers.CRITERIA,
    *losses.CRITERIA,
    *products.PRODUCTS,
    *products.TABLES,
    *sequences.TABLES,
    *layers.RECURRENT,
    *shapes.RECURRENT,
    *planes.POOLING,
    *layers.POOLING,
    *pooling.POOLING,
    *planes.RESAMPLING,
    *layers.RESAMPLING,
    *shapes.RESAMPLING,
    *functions.FUNCTIONS,
    *overhead.OVERHEAD,
]

"""Layers that normalise."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nn
from .convolutions import batched, unbatched
from .graph import Graph, Value, writes


def _affine(g: Graph, m: Any, planes: int) -> list[str]:
    """The weight and the bias of each plane."""
    weight = np.ones(planes) if m.weight is None else m.weight
    bias = np.zeros(planes) if m.bias is None else m.bias
    return [g.constant(weight), g.constant(bias)]


@writes(nn.BatchNormalization)
def _batch_normalization(g: Graph, m: Any, x: Value) -> str:
    if g.states is not None and x.ndim == 2:
        # onnxruntime 1.32 refuses models in which it merges this, of a step, with a product.
        scale = (1 if m.weight is None else m.weight) / np.sqrt(m.running_var + m.eps)
        shift = (0 if m.bias is None else m.bias) - m.running_mean * scale
        return g.op("Add", g.op("Mul", x, g.constant(scale)), g.constant(shift))
    constants = [*_affine(g, m, len(m.running_mean)), g.constant(m.running_mean)]
    constants.append(g.constant(m.running_var))
    given: Value | str = x if x.ndim == m.nDim else g.op("Unsqueeze", x, g.ints(0))
    return g.op("BatchNormalization", given, *constants, epsilon=float(m.eps))


@writes(nn.InstanceNormalization)
def _instance_normalization(g: Graph, m: Any, x: Value) -> str:
    affine = _affine(g, m, int(m.nOutput))
    return g.op("InstanceNormalization", x, *affine, epsilon=float(m.eps))


@writes(nn.Normalize)
def _normalize(g: Graph, m: Any, x: Value) -> str:
    size = g.op("Abs", x)
    if m.p == float("inf"):
        norm = g.op("ReduceMax", size, axes=[-1], keepdims=1)
        return g.op("Div", x, g.op("Add", norm, g.constant(m.eps)))
    powers = g.op("ReduceSum", g.op("Pow", size, g.constant(m.p)), g.ints(-1), keepdims=1)
    root = g.op("Pow", g.op("Add", powers, g.constant(m.eps)), g.constant(1 / m.p))
    return g.op("Div", x, root)


@writes(nn.SpatialCrossMapLRN)
def _cross_map_lrn(g: Graph, m: Any, x: Value) -> str:
    """Windows of even size, which LRN has not, reach one plane further after than before."""
    given, added = batched(g, x, 2)
    size = int(m.size)
    if size % 2:
        y = g.op("LRN", given, size=size, alpha=float(m.alpha), beta=float(m.beta), bias=float(m.k))
        return unbatched(g, y, added)
    planes, before = x.shape[-3], (size - 1) // 2
    distance = np.arange(planes) - np.arange(planes)[:, None]
    seen = (distance >= -before) & (distance < size - before)
    shares = np.where(seen, m.alpha / size, 0).reshape(planes, planes, 1, 1)
    squares = g.op("Conv", g.op("Mul", given, given), g.constant(shares), kernel_shape=[1, 1])
    scale = g.op("Pow", g.op("Add", squares, g.constant(m.k)), g.constant(-m.beta))
    return unbatched(g, g.op("Mul", given, scale), added)


def _mean(g: Graph, m: Any, estimator: Any, x: Value) -> str:
    """Weighted sums, divided by what they are of ones: less at the borders."""
    sums: Any = g.module(estimator, x, "estimator")
    m.forward(x.samples[0])  # makes coef
    of_one = m.coef[0] if x.ndim == 4 else m.coef
    return g.reshape(g.op("Div", sums, g.constant(of_one)), x.dims)


@writes(nn.SpatialSubtractiveNormalization, any_size=False)
def _subtractive(g: Graph, m: Any, x: Value) -> str:
    return g.op("Sub", x, _mean(g, m, m.meanestimator, x))


@writes(nn.SpatialDivisiveNormalization, any_size=False)
def _divisive(g: Graph, m: Any, x: Value) -> str:
    deviation = _mean(g, m, m.stdestimator, x)
    above = g.op("Greater", deviation, g.constant(m.threshold))
    return g.op("Div", x, g.op("Where", above, deviation, g.constant(m.thresval)))


@writes(nn.SpatialContrastiveNormalization, container=True, any_size=False)
def _contrastive(g: Graph, m: Any, x: Value) -> Any:
    return g.module(m.normalizer, x, "normalizer")

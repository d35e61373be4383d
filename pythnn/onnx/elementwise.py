"""Layers that act on every element alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nn
from .graph import Graph, Value, writes

_SAME_NAME = {
    nn.Abs: "Abs",
    nn.Exp: "Exp",
    nn.Log: "Log",
    nn.Sigmoid: "Sigmoid",
    nn.SoftSign: "Softsign",
    nn.Tanh: "Tanh",
}


@writes(*_SAME_NAME)
def _same_name(g: Graph, m: Any, x: Value) -> str:
    return g.op(_SAME_NAME[type(m)], x)


@writes(nn.AddConstant)
def _add_constant(g: Graph, m: Any, x: Value) -> str:
    return g.op("Add", x, g.constant(m.constant_scalar))


@writes(nn.MulConstant)
def _mul_constant(g: Graph, m: Any, x: Value) -> str:
    return g.op("Mul", x, g.constant(m.constant_scalar))


@writes(nn.Dropout, nn.SpatialDropout, nn.VolumetricDropout)
def _dropout(g: Graph, m: Any, x: Value) -> str:
    """In use, what the layer multiplies by: it depends on the version that wrote the file."""
    if m.field("stochastic_inference"):
        raise g.refuse(m, "it draws random numbers in use too")
    factor = float(np.ravel(m.forward(np.ones_like(x.samples[0])))[0])
    return g.op("Identity", x) if factor == 1 else g.op("Mul", x, g.constant(factor))


@writes(nn.WhiteNoise)
def _white_noise(g: Graph, m: Any, x: Value) -> str:
    return g.op("Add", x, g.constant(m.mean))


@writes(nn.CReLU)
def _crelu(g: Graph, m: Any, x: Value) -> str:
    halves = g.op("Relu", x), g.op("Relu", g.op("Neg", x))
    return g.op("Concat", *halves, axis=x.ndim - m.nInputDims)


@writes(nn.ELU)
def _elu(g: Graph, m: Any, x: Value) -> str:
    return g.op("Elu", x, alpha=float(m.alpha))


@writes(nn.GatedLinearUnit)
def _gated(g: Graph, m: Any, x: Value) -> str:
    first, second = g.ops("Split", 2, x, axis=(m.field("dim") or x.ndim) - 1)
    return g.op("Mul", first, g.op("Sigmoid", second))


@writes(nn.HardShrink)
def _hard_shrink(g: Graph, m: Any, x: Value) -> str:
    return g.op("Shrink", x, lambd=float(m.field("lambda")), bias=0.0)


@writes(nn.SoftShrink)
def _soft_shrink(g: Graph, m: Any, x: Value) -> str:
    threshold = float(m.field("lambda"))
    return g.op("Shrink", x, lambd=threshold, bias=threshold)


@writes(nn.HardTanh)
def _hard_tanh(g: Graph, m: Any, x: Value) -> str:
    return g.op("Clip", x, g.constant(m.min_val), g.constant(m.max_val))


@writes(nn.LeakyReLU)
def _leaky_relu(g: Graph, m: Any, x: Value) -> str:
    return g.op("LeakyRelu", x, alpha=float(m.negval))


@writes(nn.LogSigmoid)
def _log_sigmoid(g: Graph, _: Any, x: Value) -> str:
    return g.op("Neg", g.op("Softplus", g.op("Neg", x)))


@writes(nn.Power)
def _power(g: Graph, m: Any, x: Value) -> str:
    return g.op("Pow", x, g.constant(m.pow))


@writes(nn.PReLU)
def _prelu(g: Graph, m: Any, x: Value) -> str:
    slope = m.weight
    if m.nOutputPlane:
        slope = slope.reshape(-1, *[1] * max(x.ndim - 2, 0))
    return g.op("PRelu", x, g.constant(slope))


@writes(nn.ReLU6)
def _relu6(g: Graph, _: Any, x: Value) -> str:
    return g.op("Clip", x, g.constant(0.0), g.constant(6.0))


@writes(nn.RReLU)
def _rrelu(g: Graph, m: Any, x: Value) -> str:
    return g.op("LeakyRelu", x, alpha=(m.lower + m.upper) / 2)


@writes(nn.SoftPlus)
def _softplus(g: Graph, m: Any, x: Value) -> str:
    beta = g.constant(m.beta)
    return g.op("Div", g.op("Softplus", g.op("Mul", x, beta)), beta)


@writes(nn.Sqrt)
def _sqrt(g: Graph, _: Any, x: Value) -> str:
    return g.op("Sqrt", x)


@writes(nn.Square)
def _square(g: Graph, _: Any, x: Value) -> str:
    return g.op("Mul", x, x)


@writes(nn.TanhShrink)
def _tanh_shrink(g: Graph, _: Any, x: Value) -> str:
    return g.op("Sub", x, g.op("Tanh", x))


@writes(nn.Threshold)
def _threshold(g: Graph, m: Any, x: Value) -> str:
    if m.threshold == m.val == 0:
        return g.op("Relu", x)
    above = g.op("Greater", x, g.constant(m.threshold))
    return g.op("Where", above, x, g.constant(m.val))


@writes(nn.SoftMax, nn.SpatialSoftMax, nn.LogSoftMax, nn.SpatialLogSoftMax, nn.SoftMin)
def _softmax(g: Graph, m: Any, x: Value) -> str:
    """Along the planes, which are the first dimension of one and three."""
    axis = 0 if x.ndim in (1, 3) else 1
    if isinstance(m, nn.SoftMin):
        return g.op("Softmax", g.op("Neg", x), axis=axis)
    logarithm = isinstance(m, (nn.LogSoftMax, nn.SpatialLogSoftMax))
    return g.op("LogSoftmax" if logarithm else "Softmax", x, axis=axis)

"""Layers of the packages beside nn."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nn
from .graph import BAKED_IN, NOTHING_LIKE_IT, Graph, Table, Value, over_rows, values_in, writes

_LAST = np.iinfo(np.int64).min  # the end of what is taken backwards


@writes(
    nn.CategoricalEntropy, nn.ContentLoss, nn.NormStabilizer, nn.PCAColorTransform,
    nn.RegularizeLayer, nn.SimpleColorTransform, nn.SpatialRegionDropout, nn.StyleLoss,
    nn.TotalDropout,
)  # fmt: skip
def _only_in_training(g: Graph, _: Any, x: Value) -> str:
    return g.op("Identity", x)


@writes(nn.ReinforceBernoulli, nn.ReinforceCategorical, nn.ReinforceNormal)
def _reinforce(g: Graph, m: Any, x: Any) -> str:
    if m.field("stochastic"):
        raise g.refuse(m, "it draws random numbers in use too")
    return g.op("Identity", x[0] if isinstance(x, list) else x)


@writes(nn.ReinforceGamma)
def _reinforce_gamma(g: Graph, m: Any, x: Any) -> str:
    if m.field("stochastic"):
        raise g.refuse(m, "it draws random numbers in use too")
    first, second = x if isinstance(x, list) else (x, g.constant(m.scale))
    return g.op("Mul", first, second)


@writes(nn.Clip)
def _clip(g: Graph, m: Any, x: Value) -> str:
    return g.op("Clip", x, g.constant(m.minval), g.constant(m.maxval))


@writes(nn.SAdd)
def _sadd(g: Graph, m: Any, x: Value) -> str:
    total = g.op("Add", x, g.constant(m.addend))
    return g.op("Neg", total) if m.negate else total


@writes(nn.Minus)
def _minus(g: Graph, _: Any, x: Value) -> str:
    return g.op("Neg", x)


@writes(nn.MultiSoftMax)
def _multi_softmax(g: Graph, _: Any, x: Value) -> str:
    return g.op("Softmax", x, axis=-1)


@writes(nn.cudnn.VolumetricSoftMax, nn.cudnn.VolumetricLogSoftMax)
def _softmax_of_volumes(g: Graph, m: Any, x: Value) -> str:
    logarithm = isinstance(m, nn.cudnn.VolumetricLogSoftMax)
    return g.op("LogSoftmax" if logarithm else "Softmax", x, axis=x.ndim - 4)


@writes(nn.w2nn.LeakyReLU)
def _leaky_rectifier(g: Graph, m: Any, x: Value) -> str:
    return g.op("LeakyRelu", x, alpha=float(m.negative_scale))


@writes(nn.w2nn.InplaceClip01)
def _clip_to_one(g: Graph, _: Any, x: Value) -> str:
    return g.op("Clip", x, g.constant(0), g.constant(1))


@writes(nn.w2nn.ScaleTable)
def _scale_planes(g: Graph, _: Any, x: list[Value]) -> str:
    return g.op("Mul", x[0], x[1])


@writes(nn.BinActiveZ)
def _signs(g: Graph, _: Any, x: Value) -> str:
    return g.op("Sign", x)


@writes(nn.FeatExpander)
def _repeated_rows(g: Graph, m: Any, x: Value) -> str:
    row = g.op("Unsqueeze", x, g.ints(1))
    rows = g.op("Concat", *[row] * int(m.n), axis=1)
    return g.op("Reshape", rows, g.ints(-1, int(x.dims[1])))


@writes(nn.ArgMax)
def _arg_max(g: Graph, m: Any, x: Value) -> str:
    before = m.field("nInputDim") is not None and x.ndim > m.nInputDim
    axis = int(m.dim) - 1 + before if m.dim > 0 else x.ndim + int(m.dim)
    found = g.op("ArgMax", x, axis=axis, keepdims=0)
    found = g.op("Add", found, g.constant(1, np.int64))
    return found if m.asLong else g.op("Cast", found, to=1)


@writes(nn.SpatialFeatNormalization)
def _feature_normalization(g: Graph, m: Any, x: Value) -> str:
    shape = (-1, 1, 1)
    centred = g.op("Sub", x, g.constant(m.mean.reshape(shape)))
    return g.op("Div", centred, g.constant(m.std.reshape(shape)))


@writes(nn.inn.ConstAffine)
def _affine(g: Graph, m: Any, x: Value) -> str:
    shape = (-1, *[1] * max(x.ndim - 2, 0)) if x.ndim != 3 else (-1, 1, 1)
    product = g.op("Mul", x, g.constant(m.a.reshape(shape)))
    return g.op("Add", product, g.constant(m.b.reshape(shape)))


@writes(nn.inn.MeanSubtraction)
def _mean_subtraction(g: Graph, m: Any, x: Value) -> str:
    return g.op("Sub", x, g.constant(m.mean))


@writes(nn.LookupTableMaskZero)
def _lookup_of_padding(g: Graph, m: Any, x: Value) -> str:
    """The first row is that of padding."""
    weight = m.weight.copy()
    weight[0] = 0
    return g.op("Gather", g.constant(weight), g.op("Cast", x, to=7), axis=0)


@writes(nn.NCEModule)
def _nce(g: Graph, m: Any, x: list[Value]) -> str:
    if not m.field("normalized"):
        raise g.refuse(m, "it draws classes in use too, unless its field normalized is true")
    sums = g.op("Add", g.op("MatMul", x[0], g.constant(m.weight.T)), g.constant(m.bias))
    return g.op("LogSoftmax" if m.field("logsoftmax") else "Softmax", sums, axis=1)


# ---- As convolutions


@writes(nn.SpatialBinaryConvolution, container=True)
def _binary_convolution(g: Graph, m: Any, x: Value) -> Table:
    """A convolution with the weights that it computes with."""
    sizes = (m.nInputPlane, m.nOutputPlane, m.kW, m.kH, m.dW, m.dH, m.padW, m.padH)
    made = nn.SpatialConvolution(*map(int, sizes)).noBias().float()
    weight = m.weight.reshape(made.weight.shape)
    made.weight = np.sign(weight) * abs(weight).mean((1, 2, 3), keepdims=True)
    return g.module(made, x, "weights of one size")


@writes(nn.SpatialLinear, container=True)
def _spatial_linear(g: Graph, m: Any, x: Value) -> Table:
    made = nn.SpatialConvolution(m.weight.shape[1], m.weight.shape[0], 1, 1).float()
    made.weight = m.weight.reshape(made.weight.shape)
    made.bias = m.bias
    return g.module(made, x, "of one pixel")


@writes(nn.SpatialConvolutionUpsample, container=True)
def _upsampling_convolution(g: Graph, m: Any, x: Value) -> Table:
    if x.has_free_sizes:
        raise g.refuse(m, f"{BAKED_IN}; leave height and width as in the example")
    made = nn.SpatialConvolution(
        int(m.nInputPlane), int(m.nOutputPlane), int(m.kW), int(m.kH), 1, 1, int(m.padW),
        int(m.padH),
    ).float()  # fmt: skip
    made.weight, made.bias = m.weight, m.bias
    height, width = (int(m.factor) * int(size) for size in x.dims[-2:])
    larger = nn.View(int(m.nOutputPlaneU), height, width).setNumInputDims(3)
    return g.module(larger, g.module(made, x, "its convolution"), "larger images")


# ---- Order and size


def _reversed(g: Graph, x: Value, axis: int) -> str:
    return g.op("Slice", x, g.ints(-1), g.ints(_LAST), g.ints(axis), g.ints(-1))


@writes(nn.SeqReverseSequence)
def _reverse(g: Graph, m: Any, x: Value) -> str:
    return _reversed(g, x, int(m.dim) - 1)


@writes(nn.ReverseSequence)
def _reverse_steps(g: Graph, _: Any, x: Any) -> Any:
    if isinstance(x, list):
        return [_each(g, entry) for entry in reversed(x)]
    return _reversed(g, x, 0)


@writes(nn.ReverseTable)
def _reverse_table(g: Graph, _: Any, x: list[Value]) -> Any:
    return [_each(g, entry) for entry in reversed(x)]


def _each(g: Graph, x: Any) -> Any:
    return [_each(g, entry) for entry in x] if isinstance(x, list) else g.op("Identity", x)


@writes(
    nn.SpatialDownSampling, nn.SpatialReSampling, nn.SpatialReSamplingEx, nn.SpatialUpSampling,
    any_size=False,
)  # fmt: skip
def _resampling(g: Graph, m: Any, x: Value) -> str:
    """Shares of rows and of columns are products of matrices."""
    images = x.samples[0] if x.ndim == 4 else x.samples[0][None]
    rows, columns = m._matrices(images)
    return g.op("MatMul", g.op("MatMul", g.constant(rows), x), g.constant(columns.T))


@writes(nn.TemporalAdapter, container=True, any_size=False)
def _temporal_adapter(g: Graph, m: Any, x: Value) -> Table:
    return over_rows(g, m.modules[0], x)


@writes(nn.SpatialClassifier, container=True, any_size=False)
def _classifier(g: Graph, m: Any, x: Value) -> Table:
    """The pixels as rows."""
    if x.ndim != 4:
        raise g.refuse(m, "it is written for a batch of images alone")
    samples = [np.moveaxis(sample, 1, 3) for sample in x.samples]
    last = Value(g.op("Transpose", x, perm=[0, 2, 3, 1]), samples)
    rows = [np.ascontiguousarray(s).reshape(-1, s.shape[3]) for s in samples]
    found: Any = g.module(m.modules[0], Value(g.reshape(last, [-1, last.shape[3]]), rows), "1")
    shaped = [
        np.moveaxis(f.reshape(*s.shape[:3], -1), 3, 1)
        for f, s in zip(found.samples, samples, strict=True)
    ]
    back = g.reshape(found, [-1, *last.shape[1:3], found.shape[1]])
    return Value(g.op("Transpose", back, perm=[0, 3, 1, 2]), shaped)


@writes(nn.MaskZero, nn.TrimZero, container=True)
def _mask(g: Graph, m: Any, x: Table) -> Table:
    """What is not padding, times 1."""
    first = values_in(x)[0]
    if m.field("nInputDim") is None or first.ndim != int(m.nInputDim) + 1:
        raise g.refuse(m, "it is written for batches alone, whose zeros are padding")
    if m.field("maskinput"):
        raise g.refuse(m, "it masks its input too")
    largest = g.op("ReduceMax", g.op("Abs", first), axes=list(range(1, first.ndim)), keepdims=0)
    kept = g.op("Cast", g.op("Greater", largest, g.constant(0.0)), to=1)
    masks = [(one.reshape(len(one), -1) != 0).any(1) for one in first.samples]

    def masked(found: Table) -> Table:
        if isinstance(found, list):
            return [masked(one) for one in found]
        rest = [1] * (found.ndim - 1)
        samples = [
            one * mask.reshape(-1, *rest).astype(one.dtype)
            for one, mask in zip(found.samples, masks, strict=True)
        ]
        return Value(g.op("Mul", found, g.reshape(kept, [-1, *rest])), samples)

    return masked(g.module(m.modules[0], x, "1"))


@writes(nn.SpatialGlimpse, nn.VariableLength)
def _nothing_like_it(g: Graph, m: Any, _: Any) -> str:
    raise g.refuse(m, NOTHING_LIKE_IT)

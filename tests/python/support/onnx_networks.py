"""Random small networks of all kinds of layers, with parameters that few people choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pythnn import THNNError, nn

Rng = Any
Make = Callable[[Rng, tuple[int, ...]], Any]
"""Makes a layer for an input of this shape, without the batch."""


def one_of(rng: Rng, *values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def upto(rng: Rng, most: int, least: int = 1) -> int:
    return int(rng.integers(least, most + 1))


def flag(rng: Rng) -> bool:
    return bool(rng.integers(2))


def window(rng: Rng, most: int) -> tuple[int, int, int]:
    """A kernel, a stride that may be larger, padding up to half the kernel."""
    kernel = upto(rng, most)
    return kernel, upto(rng, 4), upto(rng, kernel // 2, 0)


def windows(rng: Rng, sizes: tuple[int, ...]) -> list[int]:
    """Kernels, strides and padding of some axes, in the order that constructors take."""
    found = [window(rng, min(size, 4)) for size in sizes]
    return [value for values in zip(*found, strict=True) for value in values]


def table(rng: Rng, planes: int) -> Any:
    """Connections to all outputs, which may leave out inputs, and name some twice."""
    outputs = upto(rng, 3)
    pairs = [[upto(rng, planes), i % outputs + 1] for i in range(outputs + upto(rng, 2, 0))]
    return np.array(pairs, float)


def _either_way(module: Any, rng: Rng) -> Any:
    """A pooling that rounds down or up."""
    return module.ceil() if flag(rng) else module


# ---- Layers on planes x height x width


def convolution(rng: Rng, shape: tuple[int, ...]) -> Any:
    c, h, w = shape
    made = nn.SpatialConvolution(c, upto(rng, 3), *windows(rng, (w, h)))
    return made.noBias() if flag(rng) else made


def dilated_convolution(rng: Rng, shape: tuple[int, ...]) -> Any:
    c, h, w = shape
    kernels = upto(rng, 2), upto(rng, 2)
    return nn.SpatialDilatedConvolution(
        c, upto(rng, 3), *kernels, upto(rng, 3), upto(rng, 3), upto(rng, 2, 0), upto(rng, 2, 0),
        upto(rng, 2) if w > 2 else 1, upto(rng, 2) if h > 2 else 1,
    )  # fmt: skip


def full_convolution(rng: Rng, shape: tuple[int, ...]) -> Any:
    strides = upto(rng, 3), upto(rng, 3)
    more = [upto(rng, stride - 1, 0) for stride in strides]
    padding = upto(rng, 1, 0), upto(rng, 1, 0)
    kernels = [upto(rng, 3) + 2 * pad for pad in padding]
    return nn.SpatialFullConvolution(shape[0], upto(rng, 3), *kernels, *strides, *padding, *more)


def depth_wise(rng: Rng, shape: tuple[int, ...]) -> Any:
    c, h, w = shape
    return nn.SpatialDepthWiseConvolution(c, upto(rng, 2), *windows(rng, (w, h)))


def map_convolution(rng: Rng, shape: tuple[int, ...]) -> Any:
    c, h, w = shape
    kernels = [upto(rng, min(size, 3)) for size in (w, h)]
    return nn.SpatialConvolutionMap(table(rng, c), *kernels, upto(rng, 3), upto(rng, 3))


def full_map_convolution(rng: Rng, shape: tuple[int, ...]) -> Any:
    made = table(rng, shape[0])
    return nn.SpatialFullConvolutionMap(
        made, upto(rng, 3), upto(rng, 3), upto(rng, 3), upto(rng, 3)
    )


def local_convolution(rng: Rng, shape: tuple[int, ...]) -> Any:
    c, h, w = shape
    return nn.SpatialConvolutionLocal(c, upto(rng, 2), w, h, *windows(rng, (w, h)))


def max_pooling(rng: Rng, shape: tuple[int, ...]) -> Any:
    return _either_way(nn.SpatialMaxPooling(*windows(rng, shape[:0:-1])), rng)


def dilated_max_pooling(rng: Rng, shape: tuple[int, ...]) -> Any:
    kernels = upto(rng, 2), upto(rng, 2)
    dilations = [upto(rng, 2) if size > 2 else 1 for size in shape[:0:-1]]
    strides = upto(rng, 4), upto(rng, 4)
    made = nn.SpatialDilatedMaxPooling(*kernels, *strides, 0, 0, *dilations)
    return _either_way(made, rng)


def average_pooling(rng: Rng, shape: tuple[int, ...]) -> Any:
    made = _either_way(nn.SpatialAveragePooling(*windows(rng, shape[:0:-1])), rng)
    made.count_include_pad = flag(rng)
    made.divide = flag(rng)
    return made


def unpooling(rng: Rng, shape: tuple[int, ...]) -> Any:
    kernels = [upto(rng, min(size, 3)) for size in shape[:0:-1]]
    pooling = _either_way(nn.SpatialMaxPooling(*kernels), rng)
    net = nn.Sequential().add(pooling).add(activation(rng, shape))
    return net.add(nn.SpatialMaxUnpooling(pooling))


def adaptive_pooling(rng: Rng, shape: tuple[int, ...]) -> Any:
    cls = one_of(rng, nn.SpatialAdaptiveMaxPooling, nn.SpatialAdaptiveAveragePooling)
    return cls(upto(rng, shape[2]), upto(rng, shape[1]))


def lp_pooling(rng: Rng, shape: tuple[int, ...]) -> Any:
    c, h, w = shape
    return nn.SpatialLPPooling(c, one_of(rng, 1, 2), upto(rng, min(w, 3)), upto(rng, min(h, 3)))


def sub_sampling(rng: Rng, shape: tuple[int, ...]) -> Any:
    c, h, w = shape
    kernels = [upto(rng, min(size, 3)) for size in (w, h)]
    return nn.SpatialSubSampling(c, *kernels, upto(rng, 3), upto(rng, 3))


def zero_padding(rng: Rng, shape: tuple[int, ...]) -> Any:
    least = -1 if min(shape[1:]) > 2 else 0
    return nn.SpatialZeroPadding(*(upto(rng, 2, least) for _ in range(4)))


def reflection_padding(rng: Rng, shape: tuple[int, ...]) -> Any:
    _, h, w = shape
    sides = [upto(rng, min(size - 1, 2), 0) for size in (w, w, h, h)]
    return nn.SpatialReflectionPadding(*sides)


def replication_padding(rng: Rng, _: tuple[int, ...]) -> Any:
    return nn.SpatialReplicationPadding(*(upto(rng, 2, 0) for _ in range(4)))


def plane_padding(rng: Rng, _: tuple[int, ...]) -> Any:
    return nn.Padding(upto(rng, 3), one_of(rng, -2, -1, 1, 2), 3, one_of(rng, 0, 0.5))


def up_sampling(rng: Rng, shape: tuple[int, ...]) -> Any:
    kind = one_of(rng, "nearest", "bilinear", "size", "both")
    if kind == "nearest":
        return nn.SpatialUpSamplingNearest(upto(rng, 3))
    if kind == "bilinear":
        return nn.SpatialUpSamplingBilinear(upto(rng, 3))
    if kind == "size":
        sizes = {"oheight": shape[1] + upto(rng, 3), "owidth": shape[2] + upto(rng, 3)}
        return nn.SpatialUpSamplingBilinear(sizes)
    return nn.UpSampling(upto(rng, 2), one_of(rng, "nearest", "linear"))


def normalisation(rng: Rng, shape: tuple[int, ...]) -> Any:
    c, h, w = shape
    kind = upto(rng, 6)
    if kind == 1:
        made = nn.SpatialBatchNormalization(c, 1e-3, 0.1, flag(rng))
        made.running_mean = rng.standard_normal(c)
        made.running_var = rng.random(c) + 0.5
        return made
    if kind == 2:
        return nn.SpatialCrossMapLRN(upto(rng, 6), 0.5, 0.75, one_of(rng, 1, 2))
    if kind == 3 and h * w > 1:
        return nn.InstanceNormalization(c, 1e-3, 0, flag(rng))
    kernel = rng.random((one_of(rng, 1, 3), one_of(rng, 1, 3))) + 0.1
    if kind == 4:
        return nn.SpatialSubtractiveNormalization(c, kernel)
    if kind == 5:
        return nn.SpatialDivisiveNormalization(c, kernel)
    return nn.SpatialContrastiveNormalization(c, kernel)


def planes(rng: Rng, shape: tuple[int, ...]) -> Any:
    """What works with a parameter for each plane, or moves or joins planes."""
    c, h, w = shape
    kind = upto(rng, 7)
    if kind == 1:
        return nn.PReLU(one_of(rng, 0, c))
    if kind == 2:
        return one_of(rng, nn.CMul, nn.CAdd)(1, c, 1, 1)
    if kind == 3:
        return one_of(rng, nn.CMul, nn.CAdd)(1, c, h, w)
    if kind == 4:
        return nn.CReLU(3, flag(rng))
    if kind == 5:
        return nn.PixelShuffle(2) if c % 4 == 0 else nn.SpatialSoftMax()
    if kind == 6:
        return one_of(rng, nn.SpatialSoftMax, nn.SpatialLogSoftMax, nn.SoftMax, nn.SoftMin)()
    first = upto(rng, c)
    return nn.Narrow(2, first, one_of(rng, -1, upto(rng, c - first + 1)))


def moved(rng: Rng, shape: tuple[int, ...]) -> Any:
    """Views of the input, and back into planes x height x width."""
    c, h, w = shape
    kind = upto(rng, 6)
    if kind == 1:
        return nn.Transpose((3, 4))
    if kind == 2:
        return nn.View(c, h * w, 1)
    if kind == 3:
        return nn.Reshape(1, c * h, w, True)
    if kind == 4:
        net = nn.Sequential().add(nn.Select(upto(rng, 3, 2), one_of(rng, -1, 1)))
        return net.add(nn.Unsqueeze(upto(rng, 3), 2))
    if kind == 5:
        return nn.Sequential().add(nn.Unsqueeze(upto(rng, 4), 3)).add(nn.Squeeze(None, 4))
    reduction = one_of(rng, nn.Sum, nn.Mean, nn.Max, nn.Min)(upto(rng, 3), 3)
    return nn.Sequential().add(reduction).add(nn.Replicate(upto(rng, 2), upto(rng, 3), 2))


ACTIVATIONS: tuple[Callable[[Rng], Any], ...] = (
    lambda rng: nn.ReLU(flag(rng)),
    lambda rng: nn.Threshold(0.2, one_of(rng, 0.1, -1), flag(rng)),
    lambda rng: nn.LeakyReLU(0.2, flag(rng)),
    lambda rng: nn.ELU(one_of(rng, 1, 0.5), flag(rng)),
    lambda rng: nn.HardTanh(-0.5, 0.7, flag(rng)),
    lambda _: nn.Clamp(-0.3, 0.8),
    lambda rng: nn.ReLU6(flag(rng)),
    lambda rng: nn.RReLU(0.1, 0.3, flag(rng)),
    lambda rng: nn.AddConstant(0.5, flag(rng)),
    lambda rng: nn.MulConstant(-1.5, flag(rng)),
    lambda rng: nn.Dropout(0.3, flag(rng), flag(rng)),
    lambda _: nn.SpatialDropout(0.3),
    lambda rng: one_of(rng, nn.Identity, nn.Contiguous, nn.GradientReversal, nn.WhiteNoise)(),
    lambda rng: one_of(rng, nn.Tanh, nn.Sigmoid, nn.LogSigmoid, nn.SoftSign, nn.TanhShrink)(),
    lambda rng: one_of(rng, nn.Abs, nn.Square, nn.Exp, nn.Mul)(),
    lambda rng: one_of(rng, nn.SoftShrink, nn.HardShrink)(0.4),
    lambda rng: nn.SoftPlus(one_of(rng, 1, 2)),
    lambda rng: nn.Sequential().add(nn.Abs()).add(one_of(rng, nn.Sqrt(), nn.Power(1.5))),
    lambda _: nn.Sequential().add(nn.Abs()).add(nn.AddConstant(0.1, True)).add(nn.Log()),
)  # fmt: skip


def activation(rng: Rng, _: tuple[int, ...]) -> Any:
    return one_of(rng, *ACTIVATIONS)(rng)


LAYERS: tuple[Make, ...] = (
    convolution, dilated_convolution, full_convolution, depth_wise, map_convolution,
    full_map_convolution, local_convolution, max_pooling, dilated_max_pooling, average_pooling,
    unpooling, adaptive_pooling, lp_pooling, sub_sampling, zero_padding, reflection_padding,
    replication_padding, plane_padding, up_sampling, normalisation, planes, moved, activation,
    activation, activation,
)  # fmt: skip


# ---- Containers


def branches(rng: Rng, shape: tuple[int, ...], depth: int) -> Any:
    """Layers side by side that read the same memory, some of which they change."""
    made = [same_size(rng, shape, depth) for _ in range(upto(rng, 3, 2))]
    kind = upto(rng, 6)
    if kind == 1:
        net = nn.Concat(2)
    elif kind == 2:
        net = nn.DepthConcat(2)
        made.append(nn.SpatialZeroPadding(-1, -1, -1, -1) if min(shape[1:]) > 3 else nn.Tanh())
    else:
        net = nn.ConcatTable()
    for module in made:
        net.add(module)
    if kind <= 2:
        return net
    if kind == 3:
        return in_a_graph(rng, made)
    net = nn.Sequential().add(net)
    if kind == 4:
        inner = nn.ParallelTable()
        for _ in made:
            inner.add(same_size(rng, shape, 0))
        net.add(inner)
    return net.add(joined(rng))


def joined(rng: Rng) -> Any:
    kind = upto(rng, 4)
    if kind == 1:
        return nn.JoinTable(1, 3)
    if kind == 2:
        return nn.CAddTable(flag(rng))
    return one_of(rng, nn.CMulTable, nn.CMaxTable, nn.CMinTable)()


def in_a_graph(rng: Rng, modules: list[Any]) -> Any:
    """Each module reads the input or what another gave; all are added."""
    start = nn.Identity()()
    nodes = [start]
    for module in modules:
        nodes.append(module(one_of(rng, *nodes)))
    return nn.gModule([start], [joined(rng)(nodes)])


def same_size(rng: Rng, shape: tuple[int, ...], depth: int) -> Any:
    """Modules that leave the shape as it is."""
    net = nn.Sequential()
    for _ in range(upto(rng, 3)):
        if depth > 0 and upto(rng, 6) == 1:
            parts = nn.ConcatTable().add(same_size(rng, shape, depth - 1)).add(nn.Identity())
            net.add(parts).add(nn.CAddTable(flag(rng)))
        else:
            net.add(activation(rng, shape))
    return net


def network(rng: Rng, shape: tuple[int, ...], sizes: int = 4) -> Any:
    """Layers one after the other, in some places several side by side, in float32."""
    net = nn.Sequential()
    given = rng.standard_normal((2, *shape), np.float32)
    for _ in range(upto(rng, sizes)):
        for _ in range(20):  # until one takes what it gets
            made = (
                branches(rng, shape, 1) if upto(rng, 4) == 1 else one_of(rng, *LAYERS)(rng, shape)
            )
            found = given_by(made, given)
            if found is not None and found.ndim == 4 and found.shape[0] == 2:
                net.add(made)
                given, shape = found, found.shape[1:]
                break
    return net if len(net) else nn.Sequential(nn.Identity()).float()


def given_by(layer: Any, given: Any) -> Any:
    """What a layer, from now on in float32, gives; None where it takes no such input.

    Windows without elements give the lowest number, of which other layers may make infinity, and
    NaN of that, with which each library does something else: None then, too.
    """
    layer.float().evaluate()
    try:
        found = np.array(layer.forward(given.copy()))
    except (ValueError, THNNError):
        return None
    return found if is_finite(layer) and 0 < found.size < 4000 else None


def is_finite(module: Any) -> bool:
    """Whether all that a module and those in it gave last are numbers."""
    held = (leaf for one in module.listModules() for leaf in leaves(one.output))
    return all(np.isfinite(np.array(leaf)).all() for leaf in held)


def leaves(value: Any) -> list[Any]:
    """The tensors of a table, of tables in it too."""
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, list) else [value]

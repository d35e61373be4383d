"""Lowerings of layers: those that are kernels, and those that only look at their input."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nn
from .._tensor import KINDS, Tensor
from ..nn.object.values import works_in_place
from .lowering import Lowering, called, lowers
from .operations import Call

KERNELS = (
    nn.Abs, nn.BatchNormalization, nn.Clamp, nn.ELU, nn.FeatureLPPooling, nn.GatedLinearUnit,
    nn.HardShrink, nn.HardTanh, nn.LeakyReLU, nn.Linear, nn.LogSigmoid, nn.LogSoftMax,
    nn.Max, nn.Min, nn.PReLU, nn.ReLU, nn.ReLU6, nn.Sigmoid, nn.SoftMax, nn.SoftPlus, nn.SoftShrink,
    nn.SpatialAdaptiveAveragePooling, nn.SpatialAdaptiveMaxPooling,
    nn.SpatialBatchNormalization, nn.SpatialConvolution, nn.SpatialConvolutionLocal,
    nn.SpatialConvolutionMM, nn.SpatialConvolutionMap, nn.SpatialCrossMapLRN,
    nn.SpatialDepthWiseConvolution,
    nn.SpatialDilatedConvolution, nn.SpatialDilatedMaxPooling, nn.SpatialFullConvolution,
    nn.SpatialFullConvolutionMap, nn.SpatialLogSoftMax, nn.SpatialMaxPooling,
    nn.SpatialMaxUnpooling, nn.SpatialReflectionPadding, nn.SpatialReplicationPadding,
    nn.SpatialSoftMax, nn.SpatialSubSampling, nn.SpatialUpSamplingBilinear,
    nn.SpatialUpSamplingNearest, nn.Sqrt, nn.Square, nn.Sum, nn.Tanh, nn.TemporalConvolution,
    nn.TemporalMaxPooling, nn.TemporalRowConvolution, nn.TemporalSubSampling, nn.Threshold,
    nn.UpSampling,
    nn.VolumetricAveragePooling, nn.VolumetricBatchNormalization, nn.VolumetricConvolution,
    nn.VolumetricDilatedConvolution, nn.VolumetricDilatedMaxPooling, nn.VolumetricFullConvolution,
    nn.VolumetricMaxPooling, nn.VolumetricMaxUnpooling, nn.VolumetricReplicationPadding,
)  # fmt: skip
"""Layers that are calls of kernels and views in evaluation, and nothing else."""

LARGEST_IDENTITY = 2**16
"""Elements of a table with a row for each unit vector, which then fits a second-level cache."""

LOOKS = (
    nn.Collapse, nn.Contiguous, nn.FlattenTable, nn.GradientReversal, nn.Identity, nn.L1Penalty,
    nn.NarrowTable, nn.Replicate, nn.Reshape, nn.SelectTable, nn.SplitTable, nn.Squeeze,
    nn.Unsqueeze, nn.View, nn.ZeroGrad, nn.ZipTable,
    nn.ZipTableOneToMany,
)  # fmt: skip
"""Layers whose output is their input or views of it, unless it has to be copied for that."""


@lowers(*KERNELS)
def _kernels(lowering: Lowering, module: Any, x: Any) -> Any:
    before = len(lowering.operations)
    output = lowering.recorded(module, x)
    if lowering.is_known(output):
        return output
    del lowering.operations[before:]
    return called(lowering, module, x)


@lowers(*LOOKS)
def _views(lowering: Lowering, module: Any, x: Any) -> Any:
    output = module.updateOutput(x)
    if lowering.is_known(output):
        return output
    if isinstance(x, Tensor) and isinstance(output, Tensor) and not x.is_contiguous:
        again = module.updateOutput(lowering.copied(x))
        if lowering.is_known(again):
            return again
    return called(lowering, module, x)


@lowers(nn.SpatialAveragePooling)
def _average(lowering: Lowering, module: Any, x: Any) -> Any:
    divides, module.divide = module.divide, True
    output = _kernels(lowering, module, x)
    if not divides:
        lowering.on_tensor("mul", output, output, module.kW * module.kH)
    return output


@lowers(nn.Dropout)
def _dropout(lowering: Lowering, module: Any, x: Any) -> Any:
    if not isinstance(x, Tensor) or (module.stochastic_inference and module.p > 0):
        return called(lowering, module, x)
    output = x if works_in_place(module, x) else lowering.copied(x)
    if not module.v2:
        lowering.on_tensor("mul", output, output, 1 - module.p)
    return output


@lowers(nn.SpatialDropout, nn.VolumetricDropout)
def _plane_dropout(lowering: Lowering, module: Any, x: Any) -> Any:
    if not isinstance(x, Tensor) or module.stochastic_inference:
        return called(lowering, module, x)
    output = Tensor.empty(*x.shape, dtype=x.dtype)
    lowering.on_tensor("mul", output, x, 1 - module.p)
    return output


@lowers(nn.LookupTable)
def _rows(lowering: Lowering, module: Any, x: Any) -> Any:
    if not isinstance(x, Tensor) or module.maxNorm is not None:
        return called(lowering, module, x)
    return _kernels(lowering, module, converted(lowering, x, np.dtype(np.int64)))


@lowers(nn.OneHot)
def _units(lowering: Lowering, module: Any, x: Any) -> Any:
    size = module.outputSize
    fits = isinstance(x, Tensor) and x.ndim <= 2 and size * size <= LARGEST_IDENTITY
    if not fits or module.dtype.kind != "f":
        return called(lowering, module, x)
    output = Tensor.empty(*x.shape, size, dtype=module.dtype)
    indices = converted(lowering, x, np.dtype(np.int64))
    rows = Tensor(np.eye(size), dtype=module.dtype)
    lowering.kernel("LookupTable_updateOutput", None, indices, rows, output)
    return output


@lowers(nn.Copy)
def _of_other_type(lowering: Lowering, module: Any, x: Any) -> Any:
    dtype = module.field("output").dtype
    if not isinstance(x, Tensor) or dtype.kind != "f":
        return called(lowering, module, x)
    if module._passes:
        return x
    return lowering.copied(x) if x.dtype == dtype else converted(lowering, x, dtype)


def converted(lowering: Lowering, x: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """A Tensor with its numbers as another type; itself where it has that type."""
    if x.dtype == dtype:
        return x
    made = Tensor.empty(*x.shape, dtype=dtype)
    lowering.on_tensor(f"copy{KINDS[x._kind].name}", made, x)
    return made


@lowers(nn.Narrow, nn.Select)
def _part(lowering: Lowering, module: Any, x: Any) -> Any:
    if not isinstance(x, Tensor):
        return called(lowering, module, x)
    return lowering.copied(module.part(x, x))


@lowers(nn.Transpose)
def _transposed(lowering: Lowering, module: Any, x: Any) -> Any:
    if not isinstance(x, Tensor):
        return called(lowering, module, x)
    return lowering.copied(module.exchanged(x, module.permutations))


@lowers(nn.SeqLSTM)
def _lstm(lowering: Lowering, module: Any, x: Any) -> Any:
    weight, bias = module.field("weight"), module.field("bias")
    is_plain = isinstance(x, Tensor) and x.dtype == weight.dtype and x.ndim in (2, 3)
    if not is_plain or not module.starts_from_zeros():
        return called(lowering, module, x)
    inputs, units = x.shape[-1], weight.shape[1] // 4
    if weight.shape[0] != inputs + units:
        return called(lowering, module, x)  # which refuses the input
    x = x if x.is_contiguous else lowering.copied(x)
    steps, batch = x.shape[0], 1 if x.ndim == 2 else x.shape[1]
    gates, *states = (
        Tensor.empty(*shape, dtype=x.dtype)
        for shape in ((steps, batch, 4 * units), *[(steps + 1, batch, units)] * 2)
    )
    rows = gates.view(steps * batch, 4 * units)
    for made in (gates, *states):
        lowering.view(made)
    of_input, fed_back = weight.narrow(0, 0, inputs), weight.narrow(0, inputs, units)
    products = None, rows, x.view(steps * batch, inputs), rows, of_input
    lowering.kernel("Linear_updateGradInput", *products)
    for state in states:
        lowering.on_tensor("zero", state.select(0, 0))
    lowering.kernel("SeqLSTM_updateOutput", None, gates, fed_back, bias, None, *states)
    output = states[0].narrow(0, 1, steps)
    return output.select(1, 0) if x.ndim == 2 else output


@lowers(nn.SpatialFractionalMaxPooling, nn.VolumetricFractionalMaxPooling)
def _fractional(lowering: Lowering, module: Any, x: Any) -> Any:
    output = called(lowering, module, x)
    call = lowering.operations[-1]
    assert isinstance(call, Call)  # noqa: S101 (called has written it)
    call.module = module  # with the places of windows that it has drawn, where they stay
    return output

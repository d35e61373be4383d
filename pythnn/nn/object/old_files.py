"""Fields that classes got over the years, for objects saved before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["added_fields", "rename_fields"]

_STRIDES_2D = {"dW": 1, "dH": 1}
_PADDING_2D = {"padW": 0, "padH": 0}
_PADDING_3D = {"padT": 0, **_PADDING_2D}

# What a class meant before it had the field; what it inherits is named at the parent.
_ADDED: dict[str, dict[str, Any]] = {
    "nn.AbsCriterion": {"sizeAverage": True},
    "nn.AddConstant": {"inplace": False},
    "nn.BCECriterion": {"sizeAverage": True},
    "nn.BatchNormalization": {"eps": 1e-5, "momentum": 0.1},
    "nn.CAddTable": {"inplace": False},
    "nn.ClassNLLCriterion": {"sizeAverage": True, "ignoreIndex": -100},
    "nn.CosineEmbeddingCriterion": {"margin": 0, "sizeAverage": True},
    "nn.CrossEntropyCriterion": {"sizeAverage": True, "oldSizeAverage": True},
    "nn.Criterion": {"output": 0},
    "nn.DistKLDivCriterion": {"sizeAverage": True},
    "nn.Dropout": {"inplace": False, "stochastic_inference": False},
    "nn.ELU": {"alpha": 1, "inplace": False},
    "nn.GradientReversal": {"lambda": 1},
    "nn.HardShrink": {"lambda": 0.5},
    "nn.HardTanh": {"min_val": -1, "max_val": 1, "inplace": False},
    "nn.HingeEmbeddingCriterion": {"margin": 1, "sizeAverage": True},
    "nn.LeakyReLU": {"negval": 0.01, "inplace": False},
    "nn.LookupTable": {"paddingValue": 0},
    "nn.MM": {"transA": False, "transB": False},
    "nn.MSECriterion": {"sizeAverage": True},
    "nn.MarginCriterion": {"margin": 1, "sizeAverage": True},
    "nn.MarginRankingCriterion": {"margin": 1, "sizeAverage": True},
    "nn.Max": {"dimension": 1},
    "nn.Min": {"dimension": 1},
    "nn.MulConstant": {"inplace": False},
    "nn.MultiLabelMarginCriterion": {"sizeAverage": True},
    "nn.MultiLabelSoftMarginCriterion": {"sizeAverage": True},
    "nn.MultiMarginCriterion": {"p": 1, "margin": 1, "sizeAverage": True},
    "nn.Narrow": {"length": 1},
    "nn.Normalize": {"eps": 1e-10},
    "nn.PReLU": {"nOutputPlane": 0},
    "nn.Padding": {"value": 0, "index": 1},
    "nn.PairwiseDistance": {"norm": 2},
    "nn.ParallelCriterion": {"repeatTarget": False},
    "nn.RReLU": {"inplace": False},
    "nn.Replicate": {"dim": 1},
    "nn.SmoothL1Criterion": {"sizeAverage": True},
    "nn.SoftMarginCriterion": {"sizeAverage": True},
    "nn.SoftPlus": {"beta": 1, "threshold": 20},
    "nn.SoftShrink": {"lambda": 0.5},
    "nn.SpatialAveragePooling": {
        **_STRIDES_2D,
        **_PADDING_2D,
        "ceil_mode": False,
        "count_include_pad": True,
        "divide": False,
    },
    "nn.SpatialClassNLLCriterion": {"sizeAverage": True},
    "nn.SpatialConvolution": {**_STRIDES_2D, **_PADDING_2D},
    "nn.SpatialConvolutionLocal": {**_STRIDES_2D, **_PADDING_2D},
    "nn.SpatialConvolutionMM": {**_STRIDES_2D, **_PADDING_2D},
    "nn.SpatialConvolutionMap": _STRIDES_2D,
    "nn.SpatialCrossMapLRN": {"alpha": 1e-4, "beta": 0.75, "k": 1},
    "nn.SpatialDepthWiseConvolution": {**_STRIDES_2D, **_PADDING_2D},
    "nn.SpatialDilatedConvolution": {"dilationW": 1, "dilationH": 1},
    "nn.SpatialDilatedMaxPooling": {"dilationW": 1, "dilationH": 1},
    "nn.SpatialDropout": {"stochastic_inference": False},
    "nn.SpatialFullConvolution": {**_STRIDES_2D, **_PADDING_2D, "adjW": 0, "adjH": 0},
    "nn.SpatialFullConvolutionMap": _STRIDES_2D,
    "nn.SpatialMaxPooling": {**_PADDING_2D, "ceil_mode": False},
    "nn.SpatialSubSampling": _STRIDES_2D,
    "nn.Sqrt": {"eps": 0},
    "nn.Sum": {"dimension": 1, "sizeAverage": False, "squeeze": True},
    "nn.TemporalConvolution": {"dW": 1},
    "nn.TemporalSubSampling": {"dW": 1},
    "nn.Threshold": {"threshold": 1e-6, "val": 0, "inplace": False},
    "nn.VolumetricConvolution": _PADDING_3D,
    "nn.VolumetricDilatedConvolution": {"dilationT": 1, "dilationW": 1, "dilationH": 1},
    "nn.VolumetricDilatedMaxPooling": {"dilationT": 1, "dilationW": 1, "dilationH": 1},
    "nn.VolumetricDropout": {"stochastic_inference": False},
    "nn.VolumetricFullConvolution": {**_PADDING_3D, "adjW": 0, "adjH": 0, "adjT": 0},
    "nn.VolumetricMaxPooling": {**_PADDING_3D, "ceil_mode": False},
}


def added_fields(names: list[str], fields: dict[str, Any]) -> dict[str, Any]:
    """Fields that are missing; `names` are those of the class and its parents, the class first."""
    added: dict[str, Any] = {}
    for name in reversed(names):
        added |= _ADDED.get(name, {})
    return {name: value for name, value in added.items() if name not in fields}


def _batch_normalization(fields: dict[str, Any]) -> None:
    """Once 1/sqrt(var + eps) was kept, and not the variance."""
    deviation = fields.pop("running_std", None)
    if deviation is not None and "running_var" not in fields:
        inverse = deviation.numpy()
        inverse[...] = inverse**-2.0 - fields.get("eps", 1e-5)
        fields["running_var"] = deviation


def _padding(fields: dict[str, Any]) -> None:
    """Once one number was for both directions."""
    padding = fields.pop("padding", None)
    if padding is not None:
        fields.setdefault("padW", padding)
        fields.setdefault("padH", padding)


def _square_padding(fields: dict[str, Any]) -> None:
    _padding(fields)
    if "padW" in fields:
        fields.setdefault("padH", fields["padW"])


def _concat(fields: dict[str, Any]) -> None:
    """The size of the output had another name."""
    if "outputSize" not in fields and "size" in fields:
        fields["outputSize"] = fields.pop("size")


_RENAMED: dict[str, Callable[[dict[str, Any]], None]] = {
    "nn.BatchNormalization": _batch_normalization,
    "nn.Concat": _concat,
    "nn.SpatialConvolution": _square_padding,
    "nn.SpatialConvolutionMM": _square_padding,
    "nn.SpatialDepthWiseConvolution": _square_padding,
}


def rename_fields(names: list[str], fields: dict[str, Any]) -> None:
    """Changes fields that once had another name or meaning."""
    for name in names:
        if name in _RENAMED:
            _RENAMED[name](fields)

"""Modules of the cudnn package as their twins in nn, which compute the same on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensor import Tensor

__all__ = ["CUDNN_TWINS", "nn_fields"]

_SAME = (
    "BatchNormalization",
    "LogSoftMax",
    "ReLU",
    "Sigmoid",
    "SoftMax",
    "SpatialAveragePooling",
    "SpatialBatchNormalization",
    "SpatialConvolution",
    "SpatialCrossMapLRN",
    "SpatialFullConvolution",
    "SpatialLogSoftMax",
    "SpatialMaxPooling",
    "SpatialSoftMax",
    "Tanh",
    "TemporalConvolution",
    "VolumetricAveragePooling",
    "VolumetricBatchNormalization",
    "VolumetricConvolution",
    "VolumetricFullConvolution",
    "VolumetricMaxPooling",
)
CUDNN_TWINS = {f"cudnn.{name}": f"nn.{name}" for name in _SAME}
CUDNN_TWINS["cudnn.ClippedReLU"] = "nn.HardTanh"
CUDNN_TWINS |= {
    f"inn.{name}": f"nn.{name}" for name in ("SpatialAveragePooling", "SpatialMaxPooling")
}


def nn_fields(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of the twin.

    Raises ValueError where the twin cannot do the same.
    """
    change = _CHANGES.get(name)
    return fields if change is None else change(dict(fields))


def _rectifier(fields: dict[str, Any]) -> dict[str, Any]:
    return {"threshold": 0, "val": 0, **fields}


def _clipped_rectifier(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "min_val": 0, "max_val": fields.get("ceiling", 6)}


def _average_pooling(fields: dict[str, Any]) -> dict[str, Any]:
    counts_padding = "EXCLUDE" not in str(fields.get("mode"))
    return {"divide": True, "count_include_pad": counts_padding, **fields}


def _normalization(fields: dict[str, Any]) -> dict[str, Any]:
    return {"k": fields["K"], **fields} if "K" in fields else fields


def _temporal_convolution(fields: dict[str, Any]) -> dict[str, Any]:
    """The weight is laid out as in nn, in four dimensions."""
    for name in ("weight", "gradWeight"):
        weight = fields.get(name)
        if isinstance(weight, Tensor) and weight.ndim > 2:
            fields[name] = weight.view(weight.shape[0], -1)
    return fields


def _ungrouped(fields: dict[str, Any]) -> dict[str, Any]:
    if fields.get("groups", 1) != 1:
        raise ValueError(f"{fields['groups']} groups; only SpatialConvolution can have several")
    return fields


def _pooling_of_inn(fields: dict[str, Any]) -> dict[str, Any]:
    """Windows may end beside the image."""
    return {"padW": 0, "padH": 0, "count_include_pad": False, **fields, "ceil_mode": True}


_CHANGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "cudnn.ClippedReLU": _clipped_rectifier,
    "cudnn.ReLU": _rectifier,
    "cudnn.SpatialAveragePooling": _average_pooling,
    "cudnn.SpatialCrossMapLRN": _normalization,
    "cudnn.SpatialFullConvolution": _ungrouped,
    "cudnn.TemporalConvolution": _temporal_convolution,
    "cudnn.VolumetricAveragePooling": _average_pooling,
    "cudnn.VolumetricConvolution": _ungrouped,
    "cudnn.VolumetricFullConvolution": _ungrouped,
    "inn.SpatialAveragePooling": _pooling_of_inn,
    "inn.SpatialMaxPooling": _pooling_of_inn,
}

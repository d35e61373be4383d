"""Modules of the cudnn package as their twins in nn, which compute the same on the CPU."""

from __future__ import annotations

from typing import Any

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
CUDNN_TWINS |= {
    "cudnn.ClippedReLU": "nn.HardTanh",
    "cudnn.SpatialCrossEntropyCriterion": "nn.SpatialClassNLLCriterion",
}


def nn_fields(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of the twin."""
    if name == "cudnn.ClippedReLU":
        return {**fields, "min_val": 0, "max_val": fields.get("ceiling", 6)}
    if name == "cudnn.SpatialAveragePooling":
        return {"divide": True, **fields}
    return fields

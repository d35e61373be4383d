"""What files ask about classes: :mod:`pythnn.t7` makes objects of nothing else."""

from __future__ import annotations

from typing import Any

from ..t7._cudnn import CUDNN_TWINS
from .convolution.grouped import GroupedSpatialConvolution
from .object.registry import registry
from .object.types import has_own_type
from .object.values import list_of_storage
from .packages.neuraltalk import NeuraltalkLanguageModel
from .recurrent.torch_rnn import TorchRnnLSTM

__all__ = ["class_of", "has_own_type", "list_of_storage"]


def class_of(name: str, fields: dict[str, Any]) -> Any:
    """The class for objects of this name and with these fields in a file; None without any."""
    groups = fields.get("groups")
    if name == "cudnn.SpatialConvolution" and isinstance(groups, int) and groups > 1:
        return GroupedSpatialConvolution
    if name == "nn.LSTM" and "input_dim" in fields:
        return TorchRnnLSTM
    if name == "nn.LanguageModel" and "core" in fields:
        found: Any = NeuraltalkLanguageModel
    else:
        found = registry.get(CUDNN_TWINS.get(name, name))
    # Another package's class of the same name has other fields, and stays unknown.
    return found if set(getattr(found, "NEEDED_FIELDS", ())) <= fields.keys() else None

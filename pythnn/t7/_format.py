"""Facts of the format: type tags, and the classes of tensors and storages."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "CLASS_PAYLOADS",
    "CLASS_VERSIONS",
    "STORAGE_DTYPES",
    "TENSOR_DTYPES",
    "TORCH_NAMES",
    "Tag",
    "cpu_type_name",
    "real_type",
]


class Tag:
    """What stands before each value."""

    NIL = 0
    NUMBER = 1
    STRING = 2
    TABLE = 3
    OBJECT = 4
    BOOLEAN = 5
    OLD_FUNCTION = 6  # without an index, so never shared
    LEGACY_FUNCTION = 7  # upvalues as a list of values
    FUNCTION = 8  # upvalues as a list of tables with name, id and value


_CPU: dict[str, np.dtype[Any]] = {
    "Byte": np.dtype("u1"),
    "Char": np.dtype("i1"),
    "Short": np.dtype("<i2"),
    "Int": np.dtype("<i4"),
    "Long": np.dtype("<i8"),
    "Half": np.dtype("<f2"),
    "Float": np.dtype("<f4"),
    "Double": np.dtype("<f8"),
}
_CUDA = {"Cuda" + (name if name != "Float" else ""): dtype for name, dtype in _CPU.items()}
_ALL = _CPU | _CUDA

TENSOR_DTYPES = {f"torch.{name}Tensor": dtype for name, dtype in _ALL.items()}
STORAGE_DTYPES = {f"torch.{name}Storage": dtype for name, dtype in _ALL.items()}

# The name that arrays of a dtype are written under: torch.<name>Tensor.
TORCH_NAMES = {dtype: name for name, dtype in _CPU.items()}

# How many values stand after the name of a class, where it is not the one table of its fields.
CLASS_PAYLOADS = {"torch.Timer": 0, "nn.GPU": 2}

# Versions of classes whose fields have changed; of all others 1.
CLASS_VERSIONS = {
    "nn.BatchNormalization": 2,
    "nn.GradientReversal": 2,
    "nn.LookupTable": 4,
    "nn.SpatialBatchNormalization": 2,
    "nn.VolumetricMaxPooling": 2,
}


def cpu_type_name(name: str) -> str:
    """The CPU twin of a tensor's class name: torch.CudaDoubleTensor is torch.DoubleTensor here."""
    dtype = TENSOR_DTYPES.get(name)
    return name if dtype is None else f"torch.{TORCH_NAMES[dtype]}Tensor"


def real_type(name: str) -> str:
    """The type that modules of a type compute in: on the CPU, and float for half."""
    name = cpu_type_name(name)
    return "torch.FloatTensor" if name == "torch.HalfTensor" else name

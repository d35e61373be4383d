"""The convolutions of known networks, each as a network of one module."""

from __future__ import annotations

from functools import partial
from typing import Any

from pythnn import nn

from ..cases import suffix
from ..sweep import NETWORKS
from .models import Network

__all__ = ["LAYERS"]


def _convolution(n_in: int, n_out: int, k: int, s: int, p: int) -> Any:
    return nn.SpatialConvolution(n_in, n_out, k, k, s, s, p, p)


LAYERS = [
    Network(
        f"{n_in}-{n_out}_{size}_{suffix(k=k, s=s, p=p)}",
        partial(_convolution, n_in, n_out, k, s, p),
        (n_in, size, size),
        batches=(1, 4),
    )
    for n_in, n_out, size, k, s, p in NETWORKS
]
"""Their names are planes in and out, size, kernel, stride and padding."""

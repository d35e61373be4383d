"""Random small networks of vectors, frames and volumes; see onnx_networks.py for images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pythnn import nn
from support.onnx_networks import ACTIVATIONS, Rng, flag, given_by, one_of, upto, window

Shape = tuple[int, ...]


def on_vectors(rng: Rng, shape: Shape) -> list[Callable[[], Any]]:
    """Layers on features."""
    (size,), outputs = shape, upto(rng, 5)
    weighted = nn.Linear, nn.LinearWeightNorm, nn.Cosine, nn.Euclidean, nn.WeightedEuclidean
    return [
        *(lambda cls=cls: cls(size, outputs) for cls in weighted),
        lambda: nn.Add(size),
        lambda: one_of(rng, nn.CMul, nn.CAdd)(size),
        lambda: nn.BatchNormalization(size, 1e-3, 0.1, flag(rng)),
        lambda: nn.Normalize(one_of(rng, 1, 2, float("inf"))),
        lambda: one_of(rng, nn.SoftMax, nn.LogSoftMax, nn.SoftMin)(),
        lambda: nn.Maxout(size, outputs, 2),
        lambda: nn.PReLU(one_of(rng, 0, size)),
        lambda: nn.LayerNormalization(size),
    ]


def on_frames(rng: Rng, shape: Shape) -> list[Callable[[], Any]]:
    """Layers on frames x features."""
    frames, size = shape
    kernel = upto(rng, min(frames, 3))
    each = nn.MapTable().add(nn.Linear(size, 3))
    return [
        lambda: nn.TemporalConvolution(size, upto(rng, 4), kernel, upto(rng, 4)),
        lambda: nn.TemporalMaxPooling(kernel, upto(rng, 4)),
        lambda: nn.TemporalRowConvolution(size, kernel, upto(rng, 3)),
        lambda: nn.Bottle(nn.Linear(size, upto(rng, 4))),
        lambda: nn.Narrow(2, upto(rng, frames), 1),
        lambda: nn.Padding(upto(rng, 2), one_of(rng, -1, 2), 2, 0.5, upto(rng, min(shape))),
        lambda: nn.Sequential(nn.SplitTable(1, 2), nn.JoinTable(1, 1)),
        lambda: nn.Sequential(nn.SplitTable(2), each, nn.JoinTable(2)),
        lambda: nn.Parallel(2, 2, *(nn.Linear(size, 2) for _ in range(frames))),
        lambda: nn.Sequential(nn.Transpose((2, 3)), nn.Contiguous()),
    ]


def on_volumes(rng: Rng, shape: Shape) -> list[Callable[[], Any]]:
    """Layers on planes x time x height x width."""
    planes, time, height, width = shape
    found = [window(rng, min(size, 3)) for size in (time, width, height)]
    kernels, steps, padding = zip(*found, strict=True)
    strides = [upto(rng, 2) for _ in range(3)]
    more = [upto(rng, stride - 1, 0) for stride in strides]
    pooling = nn.VolumetricMaxPooling(*(upto(rng, min(k, 2)) for k in kernels))

    def either(made: Any) -> Any:
        return made.ceil() if flag(rng) else made

    return [
        lambda: nn.VolumetricConvolution(planes, upto(rng, 3), *kernels, *steps, *padding),
        lambda: nn.VolumetricFullConvolution(planes, 2, *kernels, *strides, 0, 0, 0, *more),
        lambda: either(nn.VolumetricMaxPooling(*kernels, *steps, *padding)),
        lambda: either(nn.VolumetricAveragePooling(*kernels, *steps)),
        lambda: nn.Sequential(either(pooling), nn.VolumetricMaxUnpooling(pooling)),
        lambda: nn.VolumetricBatchNormalization(planes),
        lambda: nn.VolumetricReplicationPadding(*(upto(rng, 2, 0) for _ in range(6))),
    ]


KINDS: dict[str, tuple[Callable[[Rng, Shape], list[Callable[[], Any]]], Shape]] = {
    "vectors": (on_vectors, (6,)),
    "frames": (on_frames, (6, 5)),
    "volumes": (on_volumes, (3, 5, 6, 6)),
}
"""The layers of each kind, and the largest shape of an input without its batch."""


def network_of(rng: Rng, kind: str) -> tuple[Any, Shape]:
    """A network in float32, and the shape of its input without the batch."""
    layers, largest = KINDS[kind]
    first = shape = tuple(upto(rng, size) for size in largest)
    net = nn.Sequential()
    given = rng.standard_normal((3, *shape), np.float32)
    for _ in range(upto(rng, 4)):
        for _ in range(20):  # until one takes what it gets
            made = one_of(rng, *layers(rng, shape), lambda: one_of(rng, *ACTIVATIONS)(rng))()
            found = given_by(made, given)
            if found is not None and found.ndim == len(first) + 1 and found.shape[0] == 3:
                net.add(made)
                given, shape = found, found.shape[1:]
                break
    return (net if len(net) else nn.Sequential(nn.Identity()).float()), first

"""Random models: trees of containers over images of 3 planes of 8 x 8."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import numpy as np

from pythnn import nn

PLANES, SIZE = 3, 8
LARGEST = 12
"""Images beyond this many rows are not enlarged."""


class Made(NamedTuple):
    """A module, and the image that it makes."""

    module: Any
    planes: int
    height: int
    width: int


class Trees:
    """Draws models; the seed decides which."""

    def __init__(self, seed: int, inplace: bool = True) -> None:
        self.inplace = inplace  # whether layers may work in place
        self.random = Random(seed)  # noqa: S311, models are no secrets
        self.numbers = np.random.default_rng(seed)

    def flip(self) -> bool:
        return self.random.random() < 0.5

    def normalization(self, planes: int) -> Any:
        layer = nn.SpatialBatchNormalization(planes, 1e-5, 0.1, self.flip())
        layer.running_mean = self.numbers.random(planes)
        layer.running_var = self.numbers.random(planes) + 0.1
        return layer

    def convolution(self, planes: int, outputs: int) -> Any:
        layer = nn.SpatialConvolution(planes, outputs, 3, 3, 1, 1, 1, 1)
        return layer.noBias() if self.flip() else layer

    def of_one_size(self, planes: int) -> Any:
        """A layer that leaves planes, height and width as they are."""
        inplace = self.flip() and self.inplace
        layers = (
            lambda: self.convolution(planes, planes),
            lambda: self.normalization(planes),
            lambda: nn.ReLU(inplace),
            lambda: nn.Threshold(0.3, 0.2, inplace),
            lambda: nn.ELU(1, inplace),
            lambda: nn.LeakyReLU(0.1, inplace),
            lambda: nn.HardTanh(-0.5, 0.5, inplace),
            lambda: nn.MulConstant(1.3, inplace),
            lambda: nn.AddConstant(0.3, inplace),
            lambda: nn.Dropout(0.3, self.flip(), inplace),
            lambda: nn.SpatialDropout(0.2),
            lambda: nn.SpatialCrossMapLRN(3),
            nn.Tanh,
            nn.Sigmoid,
            nn.SpatialSoftMax,
            nn.Identity,
        )
        return self.random.choice(layers)()

    def layer(self, c: int, h: int, w: int) -> Made:
        layers = [lambda: Made(self.of_one_size(c), c, h, w)] * 6
        outputs = self.random.randint(1, 4)
        layers += [
            lambda: Made(self.convolution(c, outputs), outputs, h, w),
            lambda: self.normalized(c, outputs, h, w),
            lambda: Made(nn.SpatialZeroPadding(1, 1, 0, 2), c, h + 2, w + 2),
            lambda: Made(nn.SpatialReplicationPadding(1, 0, 1, 0), c, h + 1, w + 1),
        ]
        if min(h, w) >= 2:
            pooling = self.random.choice((nn.SpatialMaxPooling, nn.SpatialAveragePooling))
            layers.append(lambda: Made(pooling(2, 2, 2, 2), c, h // 2, w // 2))
        if max(h, w) <= LARGEST:
            enlarged = nn.SpatialFullConvolution(c, outputs, 2, 2, 2, 2)
            both = nn.Sequential(enlarged, self.normalization(outputs))
            layers.append(lambda: Made(both, outputs, 2 * h, 2 * w))
            layers.append(lambda: Made(nn.SpatialUpSamplingNearest(2), c, 2 * h, 2 * w))
        if c > 1:
            layers.append(lambda: Made(nn.Narrow(2, 2, c - 1), c - 1, h, w))
        return self.random.choice(layers)()

    def normalized(self, c: int, outputs: int, h: int, w: int) -> Made:
        layers = [self.convolution(c, outputs), self.normalization(outputs)]
        if self.flip():
            layers.append(self.normalization(outputs))
        return Made(nn.Sequential(*layers), outputs, h, w)

    def chain(self, planes: int) -> Any:
        layers = [self.of_one_size(planes) for _ in range(self.random.randint(1, 3))]
        return nn.Sequential(*layers)

    def model(self, depth: int = 3, c: int = PLANES, h: int = SIZE, w: int = SIZE) -> Made:
        kinds = [self.layer]
        if depth:
            kinds += [self.sequence(depth)] * 3
            kinds += [self.joined, self.added, self.tables, self.split]
        return self.random.choice(kinds)(c, h, w)

    def sequence(self, depth: int) -> Any:
        def make(c: int, h: int, w: int) -> Made:
            modules = []
            for _ in range(self.random.randint(1, 4)):
                module, c, h, w = self.model(depth - 1, c, h, w)
                modules.append(module)
            return Made(nn.Sequential(*modules), c, h, w)

        return make

    def joined(self, c: int, h: int, w: int) -> Made:
        parts = [(self.chain(c), c) for _ in range(self.random.randint(1, 2))]
        first = self.layer(c, h, w)
        if first[2:] == (h, w):
            parts.append((first.module, first.planes))
        self.random.shuffle(parts)
        modules, planes = zip(*parts, strict=True)
        if self.flip():
            return Made(nn.Concat(2, *modules), sum(planes), h, w)
        return Made(nn.Sequential(nn.ConcatTable(*modules), nn.JoinTable(2)), sum(planes), h, w)

    def added(self, c: int, h: int, w: int) -> Made:
        branches = [self.chain(c) for _ in range(self.random.randint(2, 3))]
        both = (lambda: nn.CAddTable(self.flip() and self.inplace), nn.CMulTable, nn.CAddTable)
        last = self.random.choice(both)()
        return Made(nn.Sequential(nn.ConcatTable(*branches), last), c, h, w)

    def tables(self, c: int, h: int, w: int) -> Made:
        twice = nn.ConcatTable(nn.Identity(), nn.Identity())
        each = nn.ParallelTable(self.chain(c), self.chain(c))
        return Made(nn.Sequential(twice, each, nn.CSubTable()), c, h, w)

    def split(self, c: int, h: int, w: int) -> Made:
        each = nn.MapTable(nn.Unsqueeze(2))
        return Made(nn.Sequential(nn.SplitTable(2), each, nn.JoinTable(2)), c, h, w)

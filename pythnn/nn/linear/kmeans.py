"""Clustering as a layer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import _random
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module

__all__ = ["Kmeans"]

_EPSILON = 1e-7  # added to the number of samples of a cluster


@register
class Kmeans(Module):
    """k-means: output is the index of the nearest centroid (from 1) for each row of the input.

    ``loss`` is the sum of the squared distances, ``clusterSampleCount`` counts the samples of each
    centroid, and the gradient of a centroid is its distance from the mean of its samples.
    """

    scale: float | None = None
    p: float = 0.95

    def __init__(self, k: int, dim: int, scale: float | None = None) -> None:
        super().__init__()
        if k <= 0 or dim <= 0:
            raise THNNArgumentError.expected(
                "nn.Kmeans", 1, "k", "numbers from 1 on for k and dim", f"{k} and {dim}"
            )
        self.k = k
        self.dim = dim
        self.scale = scale
        own = self.tensors
        own.weight = Tensor.zeros(k, dim, dtype=np.float64)
        own.gradWeight = Tensor.zeros(k, dim, dtype=np.float64)
        own.clusterSampleCount = Tensor.zeros(k, dtype=np.float64)
        self.loss: Any = 0
        self.reset()

    def reset(self, stdv: Any = None) -> None:
        """Draws the centroids from [-stdv, stdv], by default 1 / sqrt(k)."""
        _random.fill_uniform(1.0 if stdv is None else stdv, self.tensors.weight)

    def initRandom(self, input: Any) -> None:
        """Takes random samples as centroids."""
        self.weight = np.stack([input[_random.integer(len(input)) - 1] for _ in range(self.k)])

    def initKmeansPlus(self, input: Any, p: float | None = None) -> None:
        """Takes a random sample, then one of those that are farthest from what was taken.

        The share `p` of all is nearer; by default that of the call before, at first 0.95.
        """
        self.p = p = self.p if p is None else p
        if not 0 <= p <= 1:
            function = f"{self.typename()}.initKmeansPlus"
            raise THNNArgumentError.expected(function, 2, "p", "a share from 0 to 1", repr(p))
        chosen = [input[_random.integer(len(input)) - 1]]
        candidates = max(math.ceil((1 - p) * len(input)), 1)
        while len(chosen) < self.k:
            distances = self._distances(input, np.stack(chosen)).min(1)
            farthest = np.argsort(-distances, kind="stable")
            chosen.append(input[farthest[_random.integer(candidates) - 1]])
        self.weight = np.stack(chosen)

    def _distances(self, samples: Any, centroids: Any) -> Any:
        """Squared distances, samples x centroids."""
        return ((samples[:, None] - centroids) ** 2).sum(2)

    def _samples(self, input: Any) -> Any:
        return input[None] if input.ndim == 1 else input

    def updateOutput(self, input: Any) -> Any:
        samples = self._samples(input)
        if samples.ndim != 2 or samples.shape[1] != self.dim:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"samples x {self.dim}", f"{input.shape}"
            )
        xp = array_module(input)
        distances = self._distances(samples, self.weight)
        nearest = distances.argmin(1)
        self.loss = float(distances.min(1).sum())
        self.output = (nearest + 1).astype(input.dtype)
        self.clusterSampleCount = xp.bincount(nearest, minlength=self.k)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = array_module(input).zeros_like(input)
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        samples, gradient = self._samples(input), self.gradWeight
        factor = scale if self.scale is None else self.scale
        for cluster, centroid in enumerate(self.weight):
            mine = samples[self.output == cluster + 1]
            away = (centroid - mine).sum(0) / (len(mine) + _EPSILON)
            gradient[cluster] += factor * away

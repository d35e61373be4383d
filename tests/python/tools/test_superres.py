"""The super-resolution example: what it computes, and that it learns."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples"))

import superres
from PIL import Image
from rich.console import Console


def _network(steps: int) -> superres.Network:
    rng = np.random.default_rng(0)
    network = superres.Network(rng)
    superres.train(network, steps, rng, Console(quiet=True))
    return network


def test_bilinear_is_pillows() -> None:
    low = superres.halved(superres.load(superres.TEST_PHOTOGRAPH))
    ours = superres.bilinear(superres.channels(low))
    for plane, grey in zip(ours[:, 0], superres.channels(low)[:, 0], strict=True):
        size = 2 * low.width, 2 * low.height
        theirs = Image.fromarray(grey).resize(size, Image.Resampling.BILINEAR)
        np.testing.assert_allclose(plane, np.asarray(theirs), rtol=0, atol=5e-7)


def test_gradients_are_those_of_the_loss() -> None:
    rng = np.random.default_rng(1)
    network, criterion = superres.Network(rng), superres.MeanSquaredError()
    margin, patch = superres.MARGIN, 4
    low = rng.random((2, 1, patch + 2 * margin, patch + 2 * margin), np.float32)
    base, high = (rng.random((2, 1, 2 * patch, 2 * patch), np.float32) for _ in range(2))

    def loss() -> float:
        return criterion.forward(network.forward(superres.Tensor(low), base), high)

    output = network.forward(superres.Tensor(low), base)
    network.backward(criterion.backward(output, high))
    for parameter, gradient in zip(network.parameters, network.gradients, strict=True):
        direction = gradient / np.linalg.norm(gradient)
        kept, step = parameter.copy(), 3e-3
        parameter += step * direction
        above = loss()
        parameter[...] = kept - step * direction
        below = loss()
        parameter[...] = kept
        slope = (above - below) / (2 * step)
        assert slope == pytest.approx(float(np.vdot(gradient, direction)), rel=0.05)


def test_beats_bicubic_on_the_other_photograph() -> None:
    original = superres.load(superres.TEST_PHOTOGRAPH)
    low = superres.halved(original)
    bicubic = low.resize(original.size, Image.Resampling.BICUBIC)
    doubled = _network(steps=120).double(low)
    for ours, theirs in zip(
        superres.psnr(doubled, original), superres.psnr(bicubic, original), strict=True
    ):
        assert ours > theirs + 0.5


def test_same_seed_same_network() -> None:
    first, second = _network(steps=3), _network(steps=3)
    for a, b in zip(first.parameters, second.parameters, strict=True):
        np.testing.assert_array_equal(a, b)

"""Convolution as its definition says it, in numpy: slow and plain, for comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

Ints = Sequence[int]


def _taps(
    kernel: Ints, image: Ints, output: Ints, stride: Ints, pad: Ints, dilation: Ints
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...], tuple[slice, ...]]]:
    """For each tap, the image positions that it reads and the output positions that they go to."""
    for tap in product(*(range(k) for k in kernel)):
        images, outputs = [], []
        for t, n, m, s, p, d in zip(tap, image, output, stride, pad, dilation, strict=True):
            positions = [o for o in range(m) if 0 <= o * s - p + t * d < n]
            if not positions:
                break
            first, last = positions[0], positions[-1]
            start = first * s - p + t * d
            images.append(slice(start, start + (last - first) * s + 1, s))
            outputs.append(slice(first, last + 1))
        else:
            yield tap, tuple(images), tuple(outputs)


def _rows(x: np.ndarray) -> np.ndarray:
    """Each plane as a row: batch x planes x positions."""
    return x.reshape(*x.shape[:2], -1)


def _planes(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Planes that are sums of the planes of x, as the rows of w say."""
    return (w @ _rows(x)).reshape(len(x), len(w), *x.shape[2:])


def forward(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    output: Ints,
    stride: Ints,
    pad: Ints,
    dilation: Ints,
) -> np.ndarray:
    """x is batch x planes x image, w is output planes x planes x kernel."""
    y = np.zeros((x.shape[0], w.shape[0], *output), x.dtype)
    for tap, image, place in _taps(w.shape[2:], x.shape[2:], output, stride, pad, dilation):
        y[(..., *place)] += _planes(w[(..., *tap)], x[(..., *image)])
    return y if bias is None else y + bias.reshape(-1, *[1] * len(output))


def backward_data(
    g: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    image: Ints,
    stride: Ints,
    pad: Ints,
    dilation: Ints,
) -> np.ndarray:
    """The gradient of the image; with a bias, the transposed convolution."""
    x = np.zeros((g.shape[0], w.shape[1], *image), g.dtype)
    for tap, source, place in _taps(w.shape[2:], image, g.shape[2:], stride, pad, dilation):
        x[(..., *source)] += _planes(w[(..., *tap)].T, g[(..., *place)])
    return x if bias is None else x + bias.reshape(-1, *[1] * len(image))


def backward_weight(
    x: np.ndarray, g: np.ndarray, kernel: Ints, stride: Ints, pad: Ints, dilation: Ints
) -> np.ndarray:
    """The gradient of the weight."""
    w = np.zeros((g.shape[1], x.shape[1], *kernel), x.dtype)
    for tap, image, place in _taps(kernel, x.shape[2:], g.shape[2:], stride, pad, dilation):
        sources, gradients = _rows(x[(..., *image)]), _rows(g[(..., *place)])
        w[(..., *tap)] = (gradients @ sources.swapaxes(1, 2)).sum(axis=0)
    return w

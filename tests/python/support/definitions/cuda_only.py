"""GRUFused, LSTMFused, LookupTableBag and SpatialCrossMapLRN by their definitions, in numpy.

The original has them on CUDA only, and no calls of it are recorded: these stand in for them, on the
CPU and on CUDA. Indices and bags are counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Arrays = dict[str, np.ndarray]
Norm = tuple[int, float, float, float]
"""Of SpatialCrossMapLRN: size, alpha, beta, k."""

SUM, MEAN = 0, 1

NUMERICAL_STEP = 1e-5
"""To either side of an element, of `numerical_gradient`."""


def sigmoid(x: np.ndarray) -> np.ndarray:
    result: np.ndarray = 1 / (1 + np.exp(-x))
    return result


def numerical_gradient(loss: Callable[[Arrays], float], a: Arrays, name: str) -> np.ndarray:
    """Central differences with respect to every element of a[name]."""
    gradient = np.empty_like(a[name])
    for at in np.ndindex(*a[name].shape):
        sides = []
        for sign in (1, -1):
            moved = a[name].copy()
            moved[at] += sign * NUMERICAL_STEP
            sides.append(loss({**a, name: moved}))
        gradient[at] = (sides[0] - sides[1]) / (2 * NUMERICAL_STEP)
    return gradient


# ---- Cells


def gru_cell(a: Arrays) -> Arrays:
    """One step; biases may be missing."""
    x = a["input"] + a.get("bias1", 0)
    h = a["hidden"] + a.get("bias2", 0)
    (xr, xz, xn), (hr, hz, hn) = np.split(x, 3, -1), np.split(h, 3, -1)
    r, z = sigmoid(xr + hr), sigmoid(xz + hz)
    n = np.tanh(xn + r * hn)
    hy = n + z * (a["hx"] - n)
    return {"output": hy, "storage": np.concatenate([r, z, n, a["hx"], hn], -1)}


def gru_cell_backward(storage: np.ndarray, g: np.ndarray) -> Arrays:
    r, z, n, hx, m = np.split(storage, 5, -1)
    new = g * (1 - z) * (1 - n * n)
    gates = [new * m * r * (1 - r), g * (hx - n) * z * (1 - z)]
    return {
        "input": np.concatenate([*gates, new], -1),
        "hidden": np.concatenate([*gates, new * r], -1),
        "hx": g * z,
    }


def lstm_cell(a: Arrays) -> Arrays:
    """One step; biases may be missing."""
    gates = a["input"] + a.get("bias1", 0) + a["hidden"] + a.get("bias2", 0)
    xi, xf, xc, xo = np.split(gates, 4, -1)
    i, f, c, o = sigmoid(xi), sigmoid(xf), np.tanh(xc), sigmoid(xo)
    cy = f * a["cell"] + i * c
    return {
        "output": o * np.tanh(cy),
        "outputCell": cy,
        "gates": np.concatenate([i, f, c, o], -1),
    }


def lstm_cell_backward(forward: Arrays, cell: np.ndarray, g: np.ndarray, gc: np.ndarray) -> Arrays:
    i, f, c, o = np.split(forward["gates"], 4, -1)
    t = np.tanh(forward["outputCell"])
    d = g * o * (1 - t * t) + gc
    gates = [d * c * i * (1 - i), d * cell * f * (1 - f), d * i * (1 - c * c), g * t * o * (1 - o)]
    return {"input": np.concatenate(gates, -1), "cell": d * f}


# ---- Bags of a lookup table


def sum_bags(weight: np.ndarray, indices: np.ndarray, bag: np.ndarray, count: int) -> np.ndarray:
    """The sum of each bag's rows; an empty bag gives zeros."""
    sums = np.zeros((count, weight.shape[1]), weight.dtype)
    np.add.at(sums, bag - 1, weight[indices - 1])
    return sums


def bag_gradient(
    indices: np.ndarray,
    bag: np.ndarray,
    lengths: list[int],
    g: np.ndarray,
    rows: int,
    mode: int,
    by_frequency: bool,
) -> np.ndarray:
    """What the gradient of a table with so many rows becomes larger by."""
    gradient = np.zeros((rows, g.shape[1]))
    for index, b in zip(indices, bag, strict=True):
        factor = 1 / (lengths[b - 1] if mode == MEAN else 1)
        factor /= (indices == index).sum() if by_frequency else 1
        gradient[index - 1] += factor * g[b - 1]
    return gradient


# ---- Normalisation across channels


def window(channels: int, size: int) -> np.ndarray:
    """matrix[c, d]: whether the window of channel c holds channel d."""
    before = (size - 1) // 2
    c, d = np.indices((channels, channels))
    held: np.ndarray = (d >= c - before) & (d <= c + size - 1 - before)
    return held.astype(float)


def lrn(
    x: np.ndarray, size: int, alpha: float, beta: float, k: float
) -> tuple[np.ndarray, np.ndarray]:
    """output and scale."""
    held = window(x.shape[-3], size)
    scale = k + alpha / size * np.einsum("cd,...dhw->...chw", held, x * x)
    return x * scale**-beta, scale


def lrn_backward(
    x: np.ndarray, g: np.ndarray, size: int, alpha: float, beta: float, k: float
) -> np.ndarray:
    y, scale = lrn(x, size, alpha, beta, k)
    held = window(x.shape[-3], size)
    sums = np.einsum("dc,...dhw->...chw", held, g * y / scale)
    result: np.ndarray = g * scale**-beta - 2 * alpha * beta / size * x * sums
    return result

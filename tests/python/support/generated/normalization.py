"""Normalisation, softmax and recurrent cells, whose results are rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from pythnn import Tensor
from support.definitions.cuda_only import (
    gru_cell,
    gru_cell_backward,
    lrn,
    lrn_backward,
    lstm_cell,
    lstm_cell_backward,
    window,
)

from . import RESULT, Added, Draw, family


def shape_of(draw: Draw, least: int = 2) -> tuple[int, ...]:
    """Batch, planes and up to three more dimensions."""
    return draw.sizes("shape", draw.between("dimensions", least, 5), 9)


@family(300)
def batch_normalization(draw: Draw) -> None:
    shape = shape_of(draw)
    planes, count = shape[1], int(np.prod(shape)) // shape[1]
    axes = (0, *range(2, len(shape)))
    eps, momentum = draw.one_of("eps", [0.01, 0.1]), draw.one_of("momentum", [0.0, 0.25, 1.0])
    train, affine = draw.one_of("train", [True, False]), draw.one_of("affine", [True, False])
    x, g = draw.integers(*shape), draw.integers(*shape)
    weight, bias = (draw.integers(planes), draw.integers(planes)) if affine else (None, None)
    mean, var = draw.integers(planes), np.abs(draw.integers(planes))
    running = mean.copy(), var.copy()

    def along(values: Any) -> np.ndarray:
        return np.asarray(values, float).reshape(-1, *[1] * (len(shape) - 2))

    factor = 1 if weight is None else along(weight)
    shift = 0 if bias is None else along(bias)
    wide = x.astype(float)
    center, spread = (wide.mean(axes), wide.var(axes)) if train else (mean, var.astype(float))
    std = 1 / np.sqrt(spread + eps)
    # The variance of numbers up to 4 is off by roundings of squares, which eps makes few of std's.
    roundings = count + 16 * (1 + 16 / eps)
    output, saved = np.empty_like(x), np.zeros((2, planes), draw.real)
    draw.call(
        "BatchNormalization_updateOutput",
        *(draw.laid_out(x), output, weight, bias, *running, *saved, train, momentum, eps),
    )
    normal = (wide - along(center)) * along(std)
    magnitude = 8 * along(std) * np.abs(factor) + np.abs(shift)
    draw.close("output", output, normal * factor + shift, magnitude, 16 if not train else roundings)
    if train and count > 1:
        draw.close(
            "running_mean", running[0], momentum * center + (1 - momentum) * mean, 8, count + 8
        )
        wanted = momentum * spread * count / (count - 1) + (1 - momentum) * var
        draw.close("running_var", running[1], wanted, 64, count + 8)
        draw.close("save_mean", saved[0], center, 4, count + 8)
        draw.close("save_std", saved[1], std, std, roundings)
    if not train:
        draw.equal("running_mean", running[0], mean)
        draw.equal("running_var", running[1], var)
    slope, wide_g = np.empty_like(x), g.astype(float)
    added = [np.ones(planes, draw.real) for _ in range(2)] if affine else [None, None]
    draw.call(
        "BatchNormalization_backward",
        *(draw.laid_out(x), draw.laid_out(g), slope, *added, weight, mean, var, *saved),
        *(train, draw.scale, eps),
    )
    total = wide_g.sum(axes)
    projection = (wide_g * (wide - along(center))).sum(axes)
    wanted = wide_g
    if train:
        wanted = wide_g - along(total / count) - normal * along(std * projection / count)
    # |g| and |x - center| are at most 4 and 8: their products' mean is at most 32.
    limit = along(std) * np.abs(factor) * (8 + 8 * 32 * along(std) ** 2)
    draw.close(
        "gradInput", slope, wanted * factor * along(std), limit, 4 * roundings if train else 16
    )
    if affine:
        draw.close(
            "gradWeight",
            added[0],
            1 + draw.scale * projection * std,
            1 + 32 * count * std,
            roundings,
        )
        draw.close("gradBias", added[1], 1 + draw.scale * total, 0, 0)


@family(200)
def across_channels(draw: Draw) -> None:
    shape = draw.sizes("shape", draw.between("dimensions", 3, 4), 17)
    size, alpha = draw.between("size", 1, 7), draw.one_of("alpha", [1e-2, 1.0])
    beta, k = draw.one_of("beta", [0.5, 0.75, 1.0]), draw.one_of("k", [1.0, 2.0])
    x, g = draw.integers(*shape), draw.integers(*shape)
    norm = (size, alpha, beta, k)
    output, scale = draw.results("SpatialCrossMapLRN_updateOutput", x, RESULT, RESULT, *norm)
    wanted, wanted_scale = lrn(x.astype(float), *norm)
    draw.close("scale", scale, wanted_scale, wanted_scale, size + 8)
    draw.close("output", output, wanted, wanted, size + 40)
    found = draw.result("SpatialCrossMapLRN_updateGradInput", x, g, RESULT, scale, output, *norm)
    wide, slopes = x.astype(float), g.astype(float)
    held = window(shape[-3], size)
    terms = np.einsum("dc,...dhw->...chw", held, np.abs(slopes * wanted) / wanted_scale)
    limit = np.abs(slopes) * wanted_scale**-beta + 2 * alpha * beta / size * np.abs(wide) * terms
    draw.close("gradInput", found, lrn_backward(wide, slopes, *norm), limit, 2 * size + 100)


@family(400)
def softmax(draw: Draw) -> None:
    shape = draw.sizes("shape", draw.between("dimensions", 1, 4), 17)
    axis = (0, 1, 0, 1)[len(shape) - 1]
    x, g = draw.integers(*shape), draw.integers(*shape)
    wide, slopes = x.astype(float), g.astype(float)
    powers = np.exp(wide - wide.max(axis, keepdims=True))
    share = powers / powers.sum(axis, keepdims=True)
    terms = shape[axis]
    module = draw.one_of("module", ["SoftMax", "LogSoftMax"])
    output = draw.result(f"{module}_updateOutput", x, RESULT)
    if module == "SoftMax":
        draw.close("output", output, share, share, terms + 40)
        flow = (slopes * share).sum(axis, keepdims=True)
        wanted = share * (slopes - flow)
        limit = share * (np.abs(slopes) + (np.abs(slopes) * share).sum(axis, keepdims=True))
    else:
        draw.close("output", output, np.log(share), 16 + np.abs(np.log(share)), terms + 40)
        total = slopes.sum(axis, keepdims=True)
        wanted = slopes - share * total
        limit = np.abs(slopes) + 20 * share * np.abs(slopes).sum(axis, keepdims=True)
    found = draw.result(f"{module}_updateGradInput", x, g, RESULT, output)
    draw.close("gradInput", found, wanted, limit, 3 * terms + 120)


@family(200)
def prelu(draw: Draw) -> None:
    shape = draw.sizes("shape", draw.between("dimensions", 1, 4), 17)
    shared = draw.one_of("shared", [True, False])
    planes = 0 if shared else shape[min(1, len(shape) - 1)]
    x, g, weight = draw.integers(*shape), draw.integers(*shape), draw.integers(max(planes, 1))
    slope = weight if shared or len(shape) == 1 else weight.reshape(-1, *[1] * (len(shape) - 2))
    output = draw.result("PReLU_updateOutput", x, RESULT, weight, planes)
    draw.equal("output", output, np.where(x > 0, x, x * slope))
    found = draw.result("PReLU_updateGradInput", x, g, RESULT, weight, planes)
    draw.equal("gradInput", found, np.where(x > 0, g, g * slope))
    (gw,) = draw.added(
        "PReLU_accGradParameters",
        *(x, g, None, weight, Added(weight.shape), None, None, planes, draw.scale),
    )
    terms = np.where(x > 0, 0, x * g)
    if shared:
        wanted = terms.sum().reshape(1)
    else:
        wanted = terms if len(shape) == 1 else terms.sum((0, *range(2, len(shape))))
    draw.equal("gradWeight", gw, draw.scale * wanted)


@family(150)
def gated(draw: Draw) -> None:
    shape = list(draw.sizes("shape", draw.between("dimensions", 1, 4), 9))
    axis = draw.between("axis", 0, len(shape) - 1)
    shape[axis] *= 2
    x = draw.integers(*shape)
    a, gate = np.split(x.astype(float), 2, axis)
    open_ = 1 / (1 + np.exp(-gate))
    g = draw.integers(*a.shape)
    output = draw.result("GatedLinear_updateOutput", x, RESULT, axis + 1)
    draw.close("output", output, a * open_, a * open_, 20)
    found = draw.result("GatedLinear_updateGradInput", x, g, RESULT, axis + 1)
    wanted = np.concatenate([g * open_, g * a * open_ * (1 - open_)], axis)
    draw.close("gradInput", found, wanted, wanted, 120)


@family(150)
def gru(draw: Draw) -> None:
    rows, units = draw.size("rows", 9), draw.size("units")
    a = {
        "input": draw.normal(rows, 3 * units),
        "hidden": draw.normal(rows, 3 * units),
        "hx": draw.normal(rows, units),
    }
    if draw.one_of("biased", [True, False]):
        a |= {"bias1": draw.normal(3 * units), "bias2": draw.normal(3 * units)}
    tensors = {name: Tensor(values) for name, values in a.items()}
    output, storage = (Tensor(dtype=draw.real) for _ in range(2))
    draw.call(
        "GRUFused_updateOutput",
        *(tensors["input"], tensors["hidden"], tensors.get("bias1"), tensors.get("bias2")),
        *(tensors["hx"], output, storage),
    )
    wanted = gru_cell({name: values.astype(float) for name, values in a.items()})
    # Pre-activations are sums of four normal numbers; |slopes| of the gates are at most 1.
    limit = 8 + sum(np.abs(values).max() for values in a.values())
    draw.close("output", output.numpy(), wanted["output"], limit, 40)
    draw.close("storage", storage.numpy(), wanted["storage"], limit, 20)
    g = draw.normal(rows, units)
    gradients = [Tensor(dtype=draw.real) for _ in range(3)]
    draw.call(
        "GRUFused_updateGradInput", *gradients[:2], Tensor(g), gradients[2], Tensor(storage.numpy())
    )
    back = gru_cell_backward(storage.numpy().astype(float), g.astype(float))
    for name, found in zip(("input", "hidden", "hx"), gradients, strict=True):
        draw.close(name, found.numpy(), back[name], limit * np.abs(g).max(), 20)


@family(150)
def lstm(draw: Draw) -> None:
    rows, units = draw.size("rows", 9), draw.size("units")
    a = {
        "input": draw.normal(rows, 4 * units),
        "hidden": draw.normal(rows, 4 * units),
        "cell": draw.normal(rows, units),
    }
    if draw.one_of("biased", [True, False]):
        a |= {"bias1": draw.normal(4 * units), "bias2": draw.normal(4 * units)}
    tensors = {name: Tensor(values) for name, values in a.items()}
    output, after = (Tensor(dtype=draw.real) for _ in range(2))
    draw.call(
        "LSTMFused_updateOutput",
        *(tensors["input"], tensors["hidden"], tensors.get("bias1"), tensors.get("bias2")),
        *(tensors["cell"], output, after),
    )
    wanted = lstm_cell({name: values.astype(float) for name, values in a.items()})
    limit = 8 + sum(np.abs(values).max() for values in a.values())
    found = {"output": output, "outputCell": after, "gates": tensors["input"]}
    for name, values in found.items():
        draw.close(name, values.numpy(), wanted[name], limit, 40)
    g, gc = draw.normal(rows, units), draw.normal(rows, units)
    gates, cell = (Tensor(dtype=draw.real) for _ in range(2))
    saved = {name: values.numpy().astype(float) for name, values in found.items()}
    draw.call(
        "LSTMFused_updateGradInput",
        *(Tensor(found["gates"].numpy()), gates, Tensor(a["cell"]), after, Tensor(g), Tensor(gc)),
        cell,
    )
    back = lstm_cell_backward(saved, a["cell"].astype(float), g.astype(float), gc.astype(float))
    most = limit * (np.abs(g).max() + np.abs(gc).max()) * (1 + np.abs(a["cell"]).max())
    draw.close("gradInput", gates.numpy(), back["input"], most, 40)
    draw.close("gradCell", cell.numpy(), back["cell"], most, 40)

"""Cases of functions that are layers, losses and operations of their own, beside THNN's modules."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from .functional_cases import Case, F, apart, loss, normal, of_output, plain, pooling, with_bias

DROPPED = np.where(normal(3, 4) > 0, 2.0, 0.0)


def normalisation(name: str, shape: tuple[int, ...], sizes: Any, *rest: Any, **named: Any) -> Case:
    """An array with a weight and a bias, of which a function returns the output first."""

    def forward(x: Any, weight: Any, bias: Any) -> Any:
        return getattr(F, name)(x, *rest, weight, bias, **named)

    def backward(grad: Any, x: Any, weight: Any, bias: Any) -> Any:
        saved = forward(x, weight, bias)[1:]
        return getattr(F, f"{name}_backward")(grad, x, *rest, weight, *saved, **named)

    return Case(
        (normal(*shape), normal(*sizes), normal(*sizes)), lambda *a: forward(*a)[0], backward
    )


def fixed_statistics(shape: tuple[int, ...], sizes: tuple[int, ...], axes: Any) -> Case:
    """Batch normalisation by a mean and a variance that have gradients themselves."""
    named = {"training": False, "axes": axes, "statistics": True}

    def forward(x: Any, weight: Any, bias: Any, mean: Any, var: Any) -> Any:
        return F.batch_norm(x, weight, bias, mean, var, training=False, axes=axes)

    def backward(grad: Any, x: Any, weight: Any, *rest: Any) -> Any:
        saved = forward(x, weight, *rest)[1:]
        return F.batch_norm_backward(grad, x, weight, *saved, **named)

    arrays = normal(*shape), normal(*sizes), normal(*sizes), normal(*sizes)
    return Case((*arrays, np.abs(normal(*sizes)) + 0.5), lambda *a: forward(*a)[0], backward)


def recurrent(
    name: str, gates: int, *, biases: bool = True, grouped: bool = False, **named: Any
) -> Case:
    """A recurrent layer of the input, the states and all parameters."""
    time, batch, features, units = 3, 2, 2, 3
    layers, directions = named.get("layers", 1), 1 + named.get("bidirectional", False)
    states = 2 if name == "lstm" else 1
    arrays = [normal(time, batch, features)]
    arrays += [normal(layers * directions, batch, units) for _ in range(states)]
    for layer in range(layers):
        for _ in range(directions):
            inputs = directions * units if layer else features
            arrays += [normal(gates * units, inputs) / 2, normal(gates * units, units) / 2]
            arrays += [normal(gates * units) for _ in range(2 * biases)]

    def nested(flat: tuple[Any, ...]) -> tuple[Any, ...]:
        each = 4 if biases else 2
        sets = tuple(flat[i : i + each] for i in range(0, len(flat), each))
        if not grouped:
            return sets
        return tuple(sets[i : i + directions] for i in range(0, len(sets), directions))

    def flat(entry: Any) -> Iterator[Any]:
        if isinstance(entry, tuple):
            for one in entry:
                yield from flat(one)
        else:
            yield entry

    def forward(x: Any, *rest: Any) -> Any:
        start = rest[0] if states == 1 else rest[:2]
        return getattr(F, name)(x, start, nested(rest[states:]), **named)

    def joined(x: Any, *rest: Any) -> Any:
        y, last, _ = forward(x, *rest)
        return np.concatenate([one.ravel() for one in (y, *flat(last))])

    def backward(grad: Any, x: Any, *rest: Any) -> Any:
        y, last, saved = forward(x, *rest)
        ends = np.cumsum([y.size, *(one.size for one in flat(last))]).tolist()
        grad_y = grad[: ends[0]].reshape(y.shape)
        shape = (layers * directions, batch, units)
        grads = tuple(grad[a:b].reshape(shape) for a, b in pairwise(ends))
        given = grads if states == 2 else grads[0]
        return tuple(flat(getattr(F, f"{name}_backward")(grad_y, given, saved)))

    return Case(tuple(arrays), joined, backward)


def mixture() -> Case:
    """The loss as a function of what a network computes: softmax, exp and tanh come before it."""
    x1, x2 = normal(3, 1), normal(3, 1)

    def given(logits: Any, mean1: Any, mean2: Any, log1: Any, log2: Any, raw: Any) -> Any:
        weight = F.softmax(logits)
        return x1, x2, weight, mean1, mean2, np.exp(log1), np.exp(log2), F.tanh(raw)

    return Case(
        tuple(normal(3, 4) / 2 for _ in range(6)),
        lambda *a: F.gaussian_mixture2d(*given(*a))[0],
        lambda g, *a: F.gaussian_mixture2d_backward(g, *given(*a)),
    )


def resized(shape: tuple[int, ...], *size: Any, **named: Any) -> Case:
    return Case(
        (normal(*shape),),
        lambda x: F.interpolate(x, *size, **named),
        lambda g, x: F.interpolate_backward(g, x.shape, *size, **named),
    )


def padded(shape: tuple[int, ...], *rest: Any) -> Case:
    return Case(
        (normal(*shape),),
        lambda x: F.pad(x, *rest),
        lambda g, x: F.pad_backward(g, x.shape, *rest[:2]),
    )


def summed(*rest: Any) -> Case:
    return Case(
        (normal(2, 3, 4),),
        lambda x: F.sum(x, *rest),
        lambda g, x: F.sum_backward(g, x.shape, *rest),
    )


WIDE = {"padding": (2, 1), "ceil_mode": True}

CASES = {
    "softmax of two axes": of_output("softmax", normal(3, 4, 2), (0, 2)),
    "log_softmax of neighbouring axes": of_output("log_softmax", normal(3, 4, 2), (1, 2)),
    "batch_norm over the batch": normalisation("batch_norm", (4, 3, 2), (3, 2), axes=0),
    "batch_norm over two axes": normalisation("batch_norm", (4, 3, 2), (1, 3, 1), axes=(0, -1)),
    "batch_norm over the middle": normalisation("batch_norm", (4, 3, 2), (4, 2), axes=(1,)),
    "batch_norm in use over the batch": fixed_statistics((4, 3, 2), (1, 3, 2), (0,)),
    "batch_norm in use": fixed_statistics((4, 3, 2), (3,), None),
    "layer_norm": normalisation("layer_norm", (4, 3, 5), (5,)),
    "layer_norm over two axes": normalisation("layer_norm", (4, 3, 5), (4, 5), axis=(0, 2)),
    "group_norm": normalisation("group_norm", (2, 6, 3), (6,), 2),
    "instance_norm": normalisation("instance_norm", (2, 3, 2, 3), (3,)),
    "linear of more dimensions": with_bias("linear", (normal(2, 3, 2), normal(4, 6), normal(4))),
    "prelu of elements": plain("prelu", (apart(2, 3, 4), normal(3, 4))),
    "prelu of planes and rows": plain("prelu", (apart(2, 3, 2, 2), normal(3, 2))),
    "bilinear": Case(
        (normal(3, 2), normal(3, 4), normal(2, 4, 5), normal(2, 5), normal(4, 5), normal(5)),
        lambda *a: F.bilinear(*a),
        lambda g, *a: F.bilinear_backward(g, *a[:-1]),
    ),
    "matmul": plain("matmul", (normal(2, 3), normal(3, 4))),
    "matmul of stacks": plain(
        "matmul",
        (normal(5, 1, 3, 2), normal(2, 4, 3)),
        transpose_a=True,
        transpose_b=True,
        transpose_out=True,
    ),
    "matmul of vectors": plain("matmul", (normal(3), normal(3))),
    "matmul of a vector and a stack": plain(
        "matmul", (normal(3), normal(2, 3, 4)), transpose_out=True
    ),
    "matmul of a stack and a vector": plain("matmul", (normal(2, 4, 3), normal(3))),
    "sum": summed(),
    "sum of two axes": summed((0, -1), True),
    "sum of an axis": summed(1),
    "cross_entropy": loss("cross_entropy", normal(3, 4), np.array([0, 3, 1])),
    "cross_entropy of planes": loss(
        "cross_entropy", normal(2, 3, 2, 2), np.array([[[0, 2], [1, 1]], [[2, 0], [0, 1]]]),
        [1.0, 2.0, 3.0], ignore_index=1,
    ),
    "cross_entropy of all planes": loss(
        "cross_entropy", normal(2, 3, 2), np.array([[0, 2], [1, 1]]), [1.0, 2.0, 3.0],
    ),
    "gaussian_mixture2d": mixture(),
    "rnn": recurrent("rnn", 1),
    "rnn with max": recurrent("rnn", 1, nonlinearity="relu", layers=2, biases=False),
    "lstm": recurrent("lstm", 4),
    "lstm of layers": recurrent("lstm", 4, layers=2, bidirectional=True, grouped=True),
    "gru": recurrent("gru", 3),
    "gru of layers": recurrent("gru", 3, layers=2, bidirectional=True, biases=False),
    "gelu": plain("gelu", (normal(3, 4),)),
    "gelu by tanh": plain("gelu", (normal(3, 4),), approximate="tanh"),
    "silu": plain("silu", (normal(3, 4),)),
    "dropout": Case(
        (normal(3, 4),),
        lambda x: F.dropout(x, mask=DROPPED)[0],
        lambda g, _: F.dropout_backward(g, DROPPED),
    ),
    "max_pool1d with padding": pooling("max_pool1d", apart(2, 7, 3), 3, 2, padding=2, dilation=2),
    "max_pool1d of the last axis with padding": pooling(
        "max_pool1d", apart(2, 3, 6), 3, 2, axis=-1, padding=1, ceil_mode=True
    ),
    "max_pool2d with wide padding": pooling("max_pool2d", apart(2, 2, 5, 4), 3, 2, **WIDE),
    "max_pool3d with wide padding": pooling(
        "max_pool3d", apart(2, 3, 4, 3), (3, 2, 3), 2, padding=(2, 1, 1)
    ),
    "avg_pool1d": plain("avg_pool1d", (normal(2, 7, 3),), 3, 2, padding=2, count_padding=False),
    "avg_pool1d of the last axis": plain("avg_pool1d", (normal(2, 3, 7),), 3, 2, axis=-1),
    "avg_pool2d with wide padding": plain("avg_pool2d", (normal(2, 5, 4),), 3, 2, **WIDE),
    "avg_pool3d with wide padding": plain(
        "avg_pool3d", (normal(2, 3, 4, 3),), (3, 2, 3), 2, padding=(2, 1, 1), count_padding=False
    ),
    "sum_pool1d": plain("sum_pool1d", (normal(7, 3),), 3, 2, padding=1),
    "sum_pool2d": plain("sum_pool2d", (normal(2, 5, 4),), (2, 3), 2, padding=1),
    "sum_pool2d of windows cut off": plain("sum_pool2d", (normal(2, 6, 4),), 3, 2, ceil_mode=True),
    "sum_pool3d": plain("sum_pool3d", (normal(2, 3, 4, 3),), 2, padding=(1, 0, 1)),
    "pad": padded((2, 3, 4), [(1, -1), (2, 0)], "constant", 5.0),
    "pad by mirroring": padded((2, 3, 4), [(2, 1), (-1, 2)], "reflect"),
    "pad by repeating": padded((2, 3, 4), 2, "replicate"),
    "pad with the other end": padded((2, 3, 4), [(1, 2), (3, 0)], "circular"),
    "pad four axes": padded((2, 3, 2, 2, 3), [(1, 0), (0, 1), (1, -1), (1, 1)], "replicate"),
    "interpolate": resized((2, 1, 3, 4), (5, 2)),
    "interpolate by repeating": resized((2, 1, 3, 2), scale=2.0),
    "interpolate by scale": resized((2, 1, 5), scale=1.7, mode="linear"),
    "interpolate between corners": resized((1, 2, 3, 2, 4), 3, mode="linear", align_corners=True),
    "interpolate by cubic convolution": resized((1, 2, 3, 4), scale=(1.5, 2.0), mode="cubic"),
}  # fmt: skip

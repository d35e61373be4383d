"""What Chainer, Theano and PyTorch computed, but for convolutions: every recorded call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.seeds import Case, cases, check

from pythnn import functional as F  # noqa: N812

Arrays = dict[str, Any]
Results = dict[str, Any]
"""By name of a recorded array."""


def linear(_: dict[str, Any], a: Arrays) -> Results:
    grads = F.linear_backward(a["gradOutput"], a["x"], a["W"])
    found = {"output": F.linear(a["x"], a["W"], a.get("b")), "grad_x": grads[0], "grad_W": grads[1]}
    return found | ({"grad_b": grads[2]} if a.get("b") is not None else {})


def bilinear(_: dict[str, Any], a: Arrays) -> Results:
    given = a["e1"], a["e2"], a["W"], a.get("V1"), a.get("V2")
    names = ("grad_e1", "grad_e2", "grad_W", "grad_V1", "grad_V2", "grad_b")
    grads = dict(zip(names, F.bilinear_backward(a["gradOutput"], *given), strict=True))
    found = {n: grad for n, grad in grads.items() if n in a and a[n] is not None}
    return {"output": F.bilinear(*given, a.get("b"))} | found


def prelu(_: dict[str, Any], a: Arrays) -> Results:
    grad_x, grad_weight = F.prelu_backward(a["gradOutput"], a["x"], a["W"])
    return {"output": F.prelu(a["x"], a["W"]), "grad_x": grad_x, "grad_W": grad_weight}


def matmul(args: dict[str, Any], a: Arrays) -> Results:
    named = {"transpose_a": args["transa"], "transpose_b": args["transb"]}
    grads = F.matmul_backward(a["gradOutput"], a["a"], a["b"], **named)
    return {"output": F.matmul(a["a"], a["b"], **named), "grad_a": grads[0], "grad_b": grads[1]}


def summed(args: dict[str, Any], a: Arrays) -> Results:
    axis, keepdims = args["axis"], args["keepdims"]
    grad_x = F.sum_backward(a["gradOutput"], a["x"].shape, axis, keepdims)
    return {"output": F.sum(a["x"], axis, keepdims), "grad_x": grad_x}


def chainer_batch_norm(args: dict[str, Any], a: Arrays) -> Results:
    axes = args["axis"] or (0,)
    running_mean, running_var = np.zeros_like(a["gamma"]), np.ones_like(a["gamma"])
    output, *saved = F.batch_norm(
        a["x"], a["gamma"], a["beta"], running_mean, running_var,
        momentum=1 - args["decay"], eps=args["eps"], axes=axes,
    )  # fmt: skip
    grads = F.batch_norm_backward(a["gradOutput"], a["x"], a["gamma"], *saved, axes=axes)
    names = ("grad_x", "grad_gamma", "grad_beta")
    return {
        "output": output,
        "running_mean_after": running_mean,
        "running_var_after": running_var,
        **dict(zip(names, grads, strict=True)),
    }


def fixed_batch_norm(args: dict[str, Any], a: Arrays) -> Results:
    axes = args["axis"] or (0,)
    output, *saved = F.batch_norm(
        a["x"], a["gamma"], a["beta"], a["mean"], a["var"],
        training=False, eps=args["eps"], axes=axes,
    )  # fmt: skip
    grads = F.batch_norm_backward(
        a["gradOutput"], a["x"], a["gamma"], *saved, training=False, axes=axes, statistics=True
    )
    names = ("grad_x", "grad_gamma", "grad_beta", "grad_mean", "grad_var")
    return {"output": output, **dict(zip(names, grads, strict=True))}


def pool(args: dict[str, Any], a: Arrays) -> Results:
    kind, _, counted = args["mode"].partition("_")
    dimensions = len(args["ws"])
    name = {"max": "max", "sum": "sum", "average": "avg"}[kind] + f"_pool{dimensions}d"
    forward, backward = getattr(F, name), getattr(F, f"{name}_backward")
    sizes = {"padding": args["pad"]}
    if kind == "average":
        sizes["count_padding"] = counted == "inc_pad"
    found = forward(a["img"], args["ws"], args["stride"], **sizes)
    output, *more = found if kind == "max" else (found,)
    grad = backward(a["gradOutput"], a["img"], *more, args["ws"], args["stride"], **sizes)
    return {"output": output, "gradinput": grad}


def _theano_axes(args: dict[str, Any], a: Arrays) -> tuple[int, ...]:
    return (0,) if args["mode"] == "per-activation" else (0, *range(2, a["inputs"].ndim))


def theano_batch_norm(args: dict[str, Any], a: Arrays) -> Results:
    axes = _theano_axes(args, a)
    running_mean, running_var = a["running_mean"].copy(), a["running_var"].copy()
    output, mean, inverse_std = F.batch_norm(
        a["inputs"], a["gamma"], a["beta"], running_mean, running_var,
        momentum=args["running_average_factor"], eps=args["epsilon"], axes=axes,
    )  # fmt: skip
    grads = F.batch_norm_backward(
        a["gradOutput"], a["inputs"], a["gamma"], mean, inverse_std, axes=axes
    )
    names = ("grad_inputs", "grad_gamma", "grad_beta")
    return {
        "output": output,
        "mean": mean,
        "invstd": inverse_std,
        "new_running_mean": running_mean,
        "new_running_var": running_var,
        **dict(zip(names, grads, strict=True)),
    }


def theano_batch_norm_test(args: dict[str, Any], a: Arrays) -> Results:
    output, _, _ = F.batch_norm(
        a["inputs"], a["gamma"], a["beta"], a["mean"], a["var"],
        training=False, eps=args["epsilon"], axes=_theano_axes(args, a),
    )  # fmt: skip
    return {"output": output}


def softmax(args: dict[str, Any], a: Arrays) -> Results:
    axis = tuple(range(1, a["x"].ndim)) if args["mode"] == "instance" else 1
    name = "log_softmax" if args["algo"] == "log" else "softmax"
    output = getattr(F, name)(a["x"], axis)
    grad = getattr(F, f"{name}_backward")(a["gradOutput"], output, axis)
    return {"output": output, "gradinput": grad}


def _parameter_names(args: dict[str, Any]) -> list[list[tuple[str, ...]]]:
    """By layer and direction."""
    kinds = ["weight_ih", "weight_hh", *(["bias_ih", "bias_hh"] if args["bias"] else [])]
    return [
        [
            tuple(f"{kind}_l{layer}{direction}" for kind in kinds)
            for direction in (["", "_reverse"] if args["bidirectional"] else [""])
        ]
        for layer in range(args["layers"])
    ]


def recurrent(kind: str, args: dict[str, Any], a: Arrays) -> Results:
    names = _parameter_names(args)
    parameters = [[tuple(a[n] for n in one) for one in layer] for layer in names]
    named = {"layers": args["layers"], "bidirectional": args["bidirectional"]}
    if kind.startswith("rnn"):
        named["nonlinearity"] = kind.removeprefix("rnn_")
    module = kind.partition("_")[0]
    forward, backward = getattr(F, module), getattr(F, f"{module}_backward")
    if kind == "lstm":
        y, (hn, cn), saved = forward(a["x"], (a["h0"], a["c0"]), parameters, **named)
        grad_x, (grad_h0, grad_c0), grads = backward(
            a["grad_y"], (a["grad_hn"], a["grad_cn"]), saved
        )
        found = {"cn": cn, "grad_c0": grad_c0}
    else:
        y, hn, saved = forward(a["x"], a["h0"], parameters, **named)
        grad_x, grad_h0, grads = backward(a["grad_y"], a["grad_hn"], saved)
        found = {}
    for layer, of_layer in zip(names, grads, strict=True):
        for one, of_one in zip(layer, of_layer, strict=True):
            found |= {f"grad_{n}": grad for n, grad in zip(one, of_one, strict=True)}
    return {"y": y, "hn": hn, "grad_x": grad_x, "grad_h0": grad_h0, **found}


def mixture(_: dict[str, Any], a: Arrays) -> Results:
    given = [a[n] for n in ("x1", "x2", "w", "m1", "m2", "s1", "s2", "c")]
    loss, responsibilities = F.gaussian_mixture2d(*given)
    grads = F.gaussian_mixture2d_backward(np.ones_like(loss), *given)
    names = ("grad_logits", "grad_m1", "grad_m2", "grad_log_s1", "grad_log_s2", "grad_r")
    found = {"loss": loss, "responsibilities": responsibilities}
    return found | dict(zip(names, grads, strict=True))


SYSTEMS: dict[str, dict[str, Any]] = {
    "chainer": {
        "linear": linear,
        "bilinear": bilinear,
        "prelu": prelu,
        "matmul": matmul,
        "sum": summed,
        "batch_normalization": chainer_batch_norm,
        "fixed_batch_normalization": fixed_batch_norm,
    },
    "theano": {
        "pool": pool,
        "batch_normalization_train": theano_batch_norm,
        "batch_normalization_test": theano_batch_norm_test,
        "softmax": softmax,
    },
    "sequences": {
        **{
            kind: lambda args, a, kind=kind: recurrent(kind, args, a)
            for kind in ("rnn_relu", "rnn_tanh", "lstm", "gru")
        },
        "gaussian_mixture_2d": mixture,
    },
}
CASES = [case for system, ops in SYSTEMS.items() for case in cases(system, *ops)]
GIVEN = {
    *("x", "W", "b", "e1", "e2", "V1", "V2", "a", "gamma", "beta", "img", "inputs", "h0", "c0"),
    *("x1", "x2", "w", "m1", "m2", "s1", "s2", "c", "running_mean", "running_var"),
    *("gradOutput", "grad_y", "grad_hn", "grad_cn"),
}
"""Arrays that are arguments; `mean` and `var` are with statistics that are given."""


def is_argument(case: Case, name: str) -> bool:
    if name in ("mean", "var"):
        return case.op in ("fixed_batch_normalization", "batch_normalization_test")
    if case.op in ("matmul",) and name == "b":
        return True
    return name in GIVEN or name.startswith(("weight_", "bias_"))


def run(case: Case, arrays: Arrays) -> Results:
    """What the functions make of a recorded call's arrays."""
    found: Results = SYSTEMS[case.name.partition(" ")[0]][case.op](case.args, arrays)
    return found


def compare(case: Case, found: Results, real: Any) -> None:
    """Results are those that were recorded.

    What was recorded in single precision is no nearer than that to what double gives.
    """
    single = case.arrays[next(iter(case.arrays))].dtype == np.float32
    for name, result in found.items():
        assert result.dtype == real
        result = result.astype(np.float32) if single else result
        check(result, case.arrays[name], result.dtype.type, f"{case.name}: {name}")


@pytest.mark.parametrize("gaps", [False, True], ids=["dense", "gaps"])
@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_recorded(case: Case, real: Any, gaps: bool) -> None:
    given = case.as_(real, gaps)
    before = {n: a.copy() for n, a in given.items() if a is not None}
    found = run(case, given)
    compare(case, found, real)
    missing = {n for n, a in case.arrays.items() if a is not None and not is_argument(case, n)}
    assert missing == set(found)
    for name, array in before.items():
        np.testing.assert_array_equal(given[name], array, err_msg=f"{name} has changed")

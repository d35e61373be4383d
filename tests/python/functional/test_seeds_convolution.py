"""Recorded convolutions of Chainer, MXNet and Theano through pythnn.functional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import seeds

from pythnn import functional as F  # noqa: N812

REALS = [np.float64, np.float32]
CHAINER = seeds.cases("chainer", "convolution_2d", "deconvolution_2d")
MXNET = seeds.cases("mxnet", "Convolution", "Deconvolution")
THEANO = seeds.cases("theano", "conv2d", "conv3d")


@pytest.fixture(params=REALS)
def real(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=[False, True], ids=["dense", "gaps"])
def gaps(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def function(name: str, n: int, suffix: str = "") -> Any:
    return getattr(F, f"{name}{n}d{suffix}")


Results = dict[str, Any]
"""By the name of the recorded array."""


def chainer(case: seeds.Case, a: dict[str, Any]) -> Results:
    args = case.args
    settings = {"stride": tuple(args["stride"]), "padding": tuple(args["pad"])}
    settings["groups"] = args["groups"]
    name = "conv"
    if case.op == "deconvolution_2d":
        name, settings["output_size"] = "conv_transpose", tuple(args["outsize"])
    else:
        settings["dilation"] = tuple(args["dilate"])
    grads = function(name, 2, "_backward")(a["gradOutput"], a["x"], a["W"], **settings)
    found = dict(zip(("grad_x", "grad_W", "grad_b"), grads, strict=True))
    found = {of: one for of, one in found.items() if of in case.arrays}
    return {"output": function(name, 2)(a["x"], a["W"], a.get("b"), **settings)} | found


def mxnet(case: seeds.Case, a: dict[str, Any]) -> Results:
    args = case.args
    n = len(args["kernel"])
    settings = {"stride": tuple(args["stride"]), "padding": tuple(args["pad"])}
    settings["groups"] = args["num_group"]
    name = "conv"
    if case.op == "Deconvolution":
        name, settings["output_padding"] = "conv_transpose", tuple(args["adj"])
    else:
        settings["dilation"] = tuple(args["dilate"])
    by_name = {"x": "x", "weight": "W", "bias": "b"}
    asked = {of: case.needs.get(mine, "null") for of, mine in by_name.items()}
    needs = [of for of, what in asked.items() if what != "null"]
    add_to = {of: a[f"start_{by_name[of]}"] for of, what in asked.items() if what == "add"}
    grads = function(name, n, "_backward")(
        a["gradOutput"], a["x"], a["W"], **settings, needs=needs, add_to=add_to
    )
    found = {"output": function(name, n)(a["x"], a["W"], a["b"], **settings)}
    for (of, mine), one in zip(by_name.items(), grads, strict=True):
        assert (one is not None) == (of in needs)
        assert one is add_to.get(of, one)
        if one is not None:
            found[f"after_{mine}"] = one
    return found


def theano(case: seeds.Case, a: dict[str, Any]) -> Results:
    args = case.args
    n = int(case.op[4])
    border = args["border_mode"]
    settings = {
        "stride": tuple(args["subsample"]),
        "padding": tuple(border) if isinstance(border, list) else border,
        "flip": args["conv_mode"] == "conv",
    }
    grad, sizes = a["topgrad"], (a["img"].shape[2:], a["kerns"].shape[2:])
    grads = function("conv", n, "_backward")(grad, a["img"], a["kerns"], **settings)
    alone = (
        function("conv", n, "_grad_input")(grad, a["kerns"], sizes[0], **settings),
        function("conv", n, "_grad_weight")(grad, a["img"], sizes[1], **settings),
    )
    for one, other in zip(alone, grads, strict=False):
        assert (one == other).all()
    output = function("conv", n)(a["img"], a["kerns"], **settings)
    return {"output": output, "gradinput": grads[0], "gradweight": grads[1]}


ARGUMENTS = {"x", "W", "b", "img", "kerns", "gradOutput", "topgrad"}


def is_argument(name: str) -> bool:
    return name in ARGUMENTS or name.startswith("start_")


CASES = [
    *((chainer, case) for case in CHAINER),
    *((mxnet, case) for case in MXNET),
    *((theano, case) for case in THEANO),
]
every_case = pytest.mark.parametrize(
    ("replay", "case"), CASES, ids=[case.name for _, case in CASES]
)


@every_case
def test_recorded_calls(
    replay: Callable[..., Results], case: seeds.Case, real: Any, gaps: bool
) -> None:
    given = case.as_(real, gaps)
    before = {n: a.copy() for n, a in given.items() if a is not None}
    found = replay(case, given)
    for name, one in found.items():
        seeds.check(one, case.arrays[name], real, name)
    kept = {f"after_{n}" for n, what in case.needs.items() if what == "null"}
    recorded = {n for n, array in case.arrays.items() if array is not None and n not in kept}
    assert recorded - set(found) == {n for n in recorded if is_argument(n)}
    for name, array in before.items():
        if not name.startswith("start_"):
            np.testing.assert_array_equal(given[name], array, err_msg=f"{name} has changed")

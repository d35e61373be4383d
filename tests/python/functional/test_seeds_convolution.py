"""Recorded convolutions of Chainer, MXNet and Theano through pythnn.functional."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import seeds

from pythnn import functional as F  # noqa: N812

REALS = [np.float64, np.float32]
CHAINER = seeds.cases("chainer", "convolution_2d", "deconvolution_2d")
MXNET = seeds.cases("mxnet", "Convolution", "Deconvolution")
THEANO = seeds.cases("theano", "conv2d", "conv3d")


def names(cases: list[seeds.Case]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=[c.name for c in cases])


@pytest.fixture(params=REALS)
def real(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=[False, True], ids=["dense", "gaps"])
def gaps(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def function(name: str, n: int, suffix: str = "") -> Any:
    return getattr(F, f"{name}{n}d{suffix}")


@names(CHAINER)
def test_chainer(case: seeds.Case, real: Any, gaps: bool) -> None:
    a, args = case.as_(real, gaps), case.args
    settings = {"stride": tuple(args["stride"]), "padding": tuple(args["pad"])}
    settings["groups"] = args["groups"]
    name = "conv"
    if case.op == "deconvolution_2d":
        name, settings["output_size"] = "conv_transpose", tuple(args["outsize"])
    else:
        settings["dilation"] = tuple(args["dilate"])
    output = function(name, 2)(a["x"], a["W"], a.get("b"), **settings)
    seeds.check(output, case.arrays["output"], real, "output")
    found = function(name, 2, "_backward")(a["gradOutput"], a["x"], a["W"], **settings)
    for one, of in zip(found, ("grad_x", "grad_W", "grad_b"), strict=True):
        if of in case.arrays:
            seeds.check(one, case.arrays[of], real, of)


@names(MXNET)
def test_mxnet(case: seeds.Case, real: Any, gaps: bool) -> None:
    a, args = case.as_(real, gaps), case.args
    n = len(args["kernel"])
    settings = {"stride": tuple(args["stride"]), "padding": tuple(args["pad"])}
    settings["groups"] = args["num_group"]
    name = "conv"
    if case.op == "Deconvolution":
        name, settings["output_padding"] = "conv_transpose", tuple(args["adj"])
    else:
        settings["dilation"] = tuple(args["dilate"])
    output = function(name, n)(a["x"], a["W"], a["b"], **settings)
    seeds.check(output, case.arrays["output"], real, "output")

    by_name = {"x": "x", "weight": "W", "bias": "b"}
    needs = [of for of, mine in by_name.items() if case.needs.get(mine, "null") != "null"]
    add_to = {
        of: a[f"start_{mine}"] for of, mine in by_name.items() if case.needs.get(mine) == "add"
    }
    found = function(name, n, "_backward")(
        a["gradOutput"], a["x"], a["W"], **settings, needs=needs, add_to=add_to
    )
    for (of, mine), one in zip(by_name.items(), found, strict=True):
        assert (one is not None) == (of in needs)
        if of in add_to:
            assert one is add_to[of]
        if one is not None:
            seeds.check(one, case.arrays[f"after_{mine}"], real, of)


@names(THEANO)
def test_theano(case: seeds.Case, real: Any, gaps: bool) -> None:
    a, args = case.as_(real, gaps), case.args
    n = int(case.op[4])
    border = args["border_mode"]
    settings = {
        "stride": tuple(args["subsample"]),
        "padding": tuple(border) if isinstance(border, list) else border,
        "flip": args["conv_mode"] == "conv",
    }
    output = function("conv", n)(a["img"], a["kerns"], **settings)
    seeds.check(output, case.arrays["output"], real, "output")
    grad = a["topgrad"]
    found = function("conv", n, "_backward")(grad, a["img"], a["kerns"], **settings)
    sizes = a["img"].shape[2:], a["kerns"].shape[2:]
    alone = (
        function("conv", n, "_grad_input")(grad, a["kerns"], sizes[0], **settings),
        function("conv", n, "_grad_weight")(grad, a["img"], sizes[1], **settings),
    )
    for one in (found[:2], alone):
        seeds.check(one[0], case.arrays["gradinput"], real, "gradinput")
        seeds.check(one[1], case.arrays["gradweight"], real, "gradweight")

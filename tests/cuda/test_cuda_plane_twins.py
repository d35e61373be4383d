"""Convolutions, pooling, sampling and padding on CUDA against their twins on the CPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.bounds import AROUND_A_SUM
from twins import DEVICE, RANDOM, Calls, Limit, compare, indices, outcome, quarters, uniform

CALLS = Calls()
call = CALLS.add

# ---- Convolutions -------------------------------------------------------------------------------


def convolution(
    module: str, case: str, source: np.ndarray, weight: np.ndarray, planes: int, **scalars: Any
) -> None:
    """The three functions of a module; each of ``planes`` output planes has a bias."""
    bias = scalars.pop("bias", quarters(planes))
    given = {"input": source, **scalars}
    function = f"{module}_updateOutput"
    output = outcome(function, "output", weight=weight, bias=bias, **given)
    call(function, case, weight=weight, bias=bias, **given)
    if "inputFrameSize" in given:
        del given["inputFrameSize"], given["outputFrameSize"]
    given["gradOutput"] = quarters(*output.shape)
    call(f"{module}_updateGradInput", case, weight=weight, **given)
    gradients = {"gradWeight": quarters(*weight.shape), "gradBias": quarters(*bias.shape)}
    call(f"{module}_accGradParameters", case, **gradients, scale=0.75, **given)


def spatial(**changed: int) -> dict[str, Any]:
    """Scalars of a 2-D module, of which each function takes what it has."""
    return {"kW": 3, "kH": 2, "dW": 1, "dH": 2, "padW": 1, "padH": 0, **changed}


def volumetric(**changed: int) -> dict[str, Any]:
    return {"dT": 1, "dW": 2, "dH": 1, "padT": 1, "padW": 0, "padH": 1, **changed}


IMAGES, VOLUMES = quarters(3, 5, 19, 23), quarters(2, 3, 5, 7, 11)
convolution("SpatialConvolutionMM", "", IMAGES, quarters(7, 5, 2, 3), 7, **spatial())
dilated = spatial(dilationW=2, dilationH=3)
convolution("SpatialDilatedConvolution", "", IMAGES, quarters(7, 5, 2, 3), 7, **dilated)
full = spatial(dW=2, adjW=1, adjH=1)
convolution("SpatialFullConvolution", "", IMAGES, quarters(5, 4, 2, 3), 4, **full)
full |= {"dilationW": 2, "dilationH": 3}
convolution("SpatialFullDilatedConvolution", "", IMAGES, quarters(5, 4, 2, 3), 4, **full)
sizes = {"inputWidth": 23, "inputHeight": 19, "outputWidth": 23, "outputHeight": 9}
local = spatial(**sizes)
weight = quarters(9, 23, 6, 5, 2, 3)
convolution("SpatialConvolutionLocal", "", IMAGES, weight, 6, bias=quarters(6, 9, 23), **local)
depthwise = {"bias": quarters(3, 5), **spatial()}
convolution("SpatialDepthWiseConvolution", "", IMAGES, quarters(3, 5, 2, 3), 15, **depthwise)
table = np.stack([indices(5, 17), indices(4, 17)], 1)
joined = {"connTable": table, "nInputPlane": 5, "nOutputPlane": 4, "dW": 2, "dH": 1}
convolution("SpatialConvolutionMap", "", IMAGES, quarters(17, 3, 4), 4, **joined)
convolution("SpatialFullConvolutionMap", "", IMAGES[0], quarters(17, 3, 4), 4, **joined)
kernel = {"kT": 2, "kW": 3, "kH": 2}
convolution("VolumetricConvolution", "", VOLUMES, quarters(4, 3, 2, 2, 3), 4, **volumetric())
mm = volumetric(**kernel, pT=1, pW=0, pH=1)
convolution("VolumetricConvolutionMM", "", VOLUMES, quarters(4, 3, 2, 2, 3), 4, **mm)
mm |= {"dilationT": 2, "dilationW": 1, "dilationH": 2}
convolution("VolumetricDilatedConvolution", "", VOLUMES, quarters(4, 3, 2, 2, 3), 4, **mm)
full = volumetric(adjT=0, adjW=1, adjH=0)
convolution("VolumetricFullConvolution", "", VOLUMES, quarters(3, 4, 2, 2, 3), 4, **full)
full |= {"dilationT": 1, "dilationW": 2, "dilationH": 2}
convolution("VolumetricFullDilatedConvolution", "", VOLUMES, quarters(3, 4, 2, 2, 3), 4, **full)
SIDES = (("Front", "Top", "Left"), ("Back", "Bottom", "Right"))


def grouped(
    case: str,
    x: np.ndarray,
    weight: np.ndarray,
    groups: int,
    image: tuple[int, ...],
    *,
    transposed: bool = False,
    stride: int = 1,
    before: int = 0,
    after: int = 0,
    dilation: int = 1,
    **more: Any,
) -> None:
    """A convolution in groups with the same settings in all dimensions; `image` has the sizes of
    the image of the ordinary convolution, and x those of the function's input."""
    n = len(image)
    module = "GroupedFullConvolution" if transposed else "GroupedConvolution"
    settings = {"groups": groups, **more}
    for axes, kind, value in (
        ("THW", "d", stride),
        (SIDES[0], "pad", before),
        (SIDES[1], "pad", after),
        ("THW", "dilation", dilation),
    ):
        settings |= {f"{kind}{axis}": value for axis in axes}
    extent = [dilation * (k - 1) + 1 for k in weight.shape[2:]]
    sizes = [(i + before + after - e) // stride + 1 for i, e in zip(image, extent, strict=True)]
    bias = quarters(weight.shape[1] * groups if transposed else weight.shape[0])
    g = quarters(x.shape[0], len(bias), *(image if transposed else sizes))
    axes = ("Depth", "Height", "Width")
    image, near = ((1,) * (3 - n) + sizes for sizes in (image, x.shape[2:]))
    of_output = {f"output{a}": i for a, i in zip(axes, image, strict=True)} if transposed else {}
    of_input = {f"input{a}": i for a, i in zip(axes, near, strict=True)}
    given = {"input": x, "gradOutput": g, "weight": weight, **settings}
    call(f"{module}_updateOutput", case, bias=bias, **given, **of_output)
    for add in (False, True):
        call(
            f"{module}_updateGradInput", f"{case} {add}", **given, **of_input, add=add,
            gradInput=quarters(*x.shape) if add else np.empty(0),
        )  # fmt: skip
    for parts in ("weight", "bias", "both"):
        call(
            f"{module}_accGradParameters", f"{case} {parts}", **given, dimensions=n, scale=0.5,
            gradWeight=None if parts == "bias" else quarters(*weight.shape),
            gradBias=None if parts == "weight" else quarters(len(bias)),
        )  # fmt: skip


GROUPED = quarters(3, 6, 19, 23)
grouped("2-D", GROUPED, quarters(9, 2, 2, 3), 3, (19, 23), before=1, after=2, flip=True, stride=2)
grouped("one", GROUPED, quarters(4, 6, 3, 3), 1, (19, 23), before=1, dilation=2, flip=False)
grouped("1x1", GROUPED, quarters(4, 3, 1, 1), 2, (19, 23), flip=False)
grouped("depth-wise", GROUPED, quarters(12, 1, 3, 2), 6, (19, 23), after=1, flip=True, stride=2)
grouped("dilated planes", GROUPED, quarters(6, 1, 3, 2), 6, (19, 23), dilation=2, flip=False)
grouped("1-D", quarters(2, 4, 67), quarters(6, 2, 5), 2, (67,), before=3, flip=True)
grouped("3-D", quarters(2, 4, 5, 6, 7), quarters(4, 2, 2, 1, 2), 2, (5, 6, 7), after=1, flip=False)
grouped("full", GROUPED, quarters(6, 5, 2, 3), 2, (37, 46), transposed=True, stride=2, before=1)
grouped("full 1x1", GROUPED, quarters(6, 2, 1, 1), 3, (19, 23), transposed=True)
grouped("full of planes", GROUPED, quarters(6, 1, 3, 2), 3, (21, 24), transposed=True)
for width, step in ((1, 1), (3, 1), (5, 2), (2, 3)):
    frames = {"kW": width, "dW": step, "inputFrameSize": 11, "outputFrameSize": 37}
    weight = quarters(37, 11 * width)
    convolution("TemporalConvolution", f"{width} {step}", quarters(5, 67, 11), weight, 37, **frames)
    for first in (False, True):
        rows = {"kW": width, "dW": step, "padW": 1, "featFirst": first}
        source = quarters(3, 41, 67) if first else quarters(3, 67, 41)
        weight = quarters(41, 1, width)
        convolution("TemporalRowConvolution", f"{width} {step} {first}", source, weight, 41, **rows)

# ---- Pooling ------------------------------------------------------------------------------------


def pooling(module: str, case: str, source: np.ndarray, crowd: int = 1, **scalars: Any) -> None:
    """Forward, and backward with the indices of the forward call, if there are any.

    Of an average, which divides an exact sum, up to ``crowd`` windows hold one element.
    """
    given = {"input": source, **scalars}
    output = outcome(f"{module}_updateOutput", "output", **given)
    forward, backward = (AROUND_A_SUM, crowd + AROUND_A_SUM) if "Average" in module else (0, 0)
    call(f"{module}_updateOutput", case, forward, **given)
    if "Average" not in module:
        given["indices"] = outcome(f"{module}_updateOutput", "indices", **given)
    gradients = quarters(*output.shape)
    call(f"{module}_updateGradInput", case, backward, 2 * crowd, **given, gradOutput=gradients)


def flags(geometry: dict[str, Any]) -> dict[str, Any]:
    return {"ceil_mode": True, "ceilMode": True, "count_include_pad": False, **geometry}


for count in (2, 3):
    name, source = ("Spatial", IMAGES) if count == 2 else ("Volumetric", VOLUMES)
    for stride in (1, 2, 3):
        case, pads = str(stride), {"padW": 1, "padH": 1, "padT": 1}
        geometry = {"kW": 3, "kH": 2, "kT": 2, "dW": stride, "dH": stride, "dT": 1, **pads}
        geometry = flags(geometry)
        pooling(f"{name}MaxPooling", case, source, **geometry)
        gaps = geometry | {"dilationW": 2, "dilationH": 3, "dilationT": 2}
        pooling(f"{name}DilatedMaxPooling", case, source, **gaps)
        for counted in (False, True):
            geometry["count_include_pad"] = counted
            case = f"{stride} {counted}"
            pooling(f"{name}AveragePooling", case, source, crowd=12, **geometry)
cropped = flags({"kW": 3, "kH": 3, "dW": 2, "dH": 1, "padW": -2, "padH": -1})
WITH_NAN = quarters(5, 67, 41)  # and many equal ones
WITH_NAN[RANDOM.random(WITH_NAN.shape) < 0.02] = np.nan
for mode in range(4):
    for dim, source in (
        *((dim, quarters(5, 67, 41)) for dim in (1, 2, 3)),
        *((1, quarters(*shape)) for shape in ((7,), (4001,), (1, 37), (301, 1), (5003, 2))),
        (2, quarters(3, 5003)),
        *((dim, WITH_NAN) for dim in (1, 2, 3) if mode > 1),
    ):
        case = f"{'x'.join(map(str, source.shape))} {dim} {mode}"
        given = {"input": source, "indices": np.empty(0), "dim": dim, "mode": mode}
        mean = AROUND_A_SUM * (mode == 1)
        call("Reduction_updateOutput", case, mean, **given, keep=dim == 2)
        if mode > 1:
            given["indices"] = outcome("Reduction_updateOutput", "indices", **given, keep=dim == 2)
        gradients = quarters(*(source.take(0, dim - 1).shape or (1,)))
        call("Reduction_updateGradInput", case, mean, **given, gradOutput=gradients)
pooling("SpatialMaxPooling", "cropped", IMAGES, **cropped)
pooling("SpatialAveragePooling", "cropped", IMAGES, crowd=9, **cropped)
call(
    "SpatialMaxPooling_updateGradInput",
    "stray indices",
    input=IMAGES,
    gradOutput=quarters(3, 5, 9, 11),
    indices=indices(19 * 23 + 1, 3, 5, 9, 11, first=0),
    **flags({"kW": 2, "kH": 2, "dW": 2, "dH": 2, "padW": 0, "padH": 0, "ceil_mode": False}),
)
for width, step in ((2, 2), (5, 3), (3, 1)):
    pooling("TemporalMaxPooling", f"{width} {step}", quarters(5, 67, 41), kW=width, dW=step)
for rows, columns in ((7, 5), (1, 1), (19, 23), (40, 29)):
    for kind in ("Max", "Average"):
        size = {"nOutputCols": columns, "nOutputRows": rows}
        # Up to four rows of windows, and as many columns, hold one element.
        pooling(f"SpatialAdaptive{kind}Pooling", f"{rows} {columns}", IMAGES, crowd=16, **size)
fractional = {"outputW": 9, "outputH": 7, "poolSizeW": 3, "poolSizeH": 2}
samples = uniform(3, 5, 2)
pooling("SpatialFractionalMaxPooling", "", IMAGES, **fractional, randomSamples=samples)
fractional |= {"outputT": 5, "outputW": 3, "outputH": 2, "poolSizeT": 4}
samples = uniform(2, 3, 3)
pooling("VolumetricFractionalMaxPooling", "", VOLUMES, **fractional, randomSamples=samples)
call(
    "SpatialFractionalMaxPooling_updateGradInput",
    "crowded",
    input=IMAGES,
    gradOutput=quarters(3, 5, 7, 9),
    indices=indices(9, 3, 5, 7, 9),
    **fractional | {"outputW": 9, "outputH": 7},
)
crowded = {"input": IMAGES, "indices": indices(250, 3, 5, 19, 23), "owidth": 25, "oheight": 21}
call("SpatialMaxUnpooling_updateOutput", "crowded", **crowded)
call("SpatialMaxUnpooling_updateGradInput", "", **crowded, gradOutput=quarters(3, 5, 21, 25))
taps = indices(2, 2, 3, 5, 7, 11, first=0) + 256 * indices(3, 2, 3, 5, 7, 11, first=0)
unpooled = {"input": VOLUMES, "indices": taps + 65536 * indices(2, 2, 3, 5, 7, 11, first=0)}
unpooled |= {"outputTime": 6, "outputWidth": 23, "outputHeight": 9}
unpooled |= volumetric(padT=0, padH=0)
call("VolumetricMaxUnpooling_updateOutput", "", **unpooled)
gradients = quarters(2, 3, 6, 9, 23)
call("VolumetricMaxUnpooling_updateGradInput", "", **unpooled, gradOutput=gradients)
windows = {"kW": 3, "kH": 2, "dW": 2, "dH": 1}
convolution("SpatialSubSampling", "", IMAGES, quarters(5), 5, **windows)
frames = {"kW": 4, "dW": 3, "inputFrameSize": 41, "outputFrameSize": 41}
convolution("TemporalSubSampling", "", quarters(667, 41), quarters(41), 41, **frames)

# ---- Sampling and padding -----------------------------------------------------------------------


def sampling(
    module: str, case: str, source: np.ndarray, mixed: int = 0, crowd: int = 0, **scalars: Any
) -> None:
    """Forward, where a result mixes elements by ``mixed`` roundings, and backward, where ``crowd``
    results mix the same element."""
    output = outcome(f"{module}_updateOutput", "output", input=source, **scalars)
    call(f"{module}_updateOutput", case, mixed, input=source, **scalars)
    gradients = {"input": source, "gradOutput": quarters(*output.shape)}
    call(f"{module}_updateGradInput", case, mixed + crowd, 2 * crowd, **gradients, **scalars)


def crowded(source: np.ndarray, *sizes: int) -> int:
    """How many results of these sizes, on both its sides, one element is mixed into at most."""
    lines = zip(sizes, source.shape[2:], strict=True)
    return math.prod(min(many, 2 * math.ceil(many / few) + 2) for many, few in lines)


for factor in (2, 3):
    sampling("SpatialUpSamplingNearest", str(factor), IMAGES, scale_factor=factor)
    sampling("VolumetricUpSamplingNearest", str(factor), VOLUMES, scale_factor=factor)
for size in ((9, 38, 46), (5, 19, 23), (2, 7, 9), (1, 1, 1), (3, 57, 101)):
    depth, rows, columns = size
    given = {"outputDepth": depth, "outputHeight": rows, "outputWidth": columns, "nbatch": 3}
    given |= {"nchannels": 5, "inputHeight": 19, "inputWidth": 23}
    bilinear = crowded(IMAGES, rows, columns)
    sampling("SpatialUpSamplingBilinear", str(size), IMAGES, 12, bilinear, **given)
    given |= {"nbatch": 2, "nchannels": 3, "inputDepth": 5, "inputHeight": 7, "inputWidth": 11}
    trilinear = crowded(VOLUMES, *size)
    sampling("VolumetricUpSamplingTrilinear", str(size), VOLUMES, 16, trilinear, **given)
for size in ((9, 14, 21), (2, 3, 5), (1, 1, 1), (3, 57, 101)):
    for mode in range(5):
        sizes = dict(zip(("outputDepth", "outputHeight", "outputWidth"), size, strict=True))
        before = VOLUMES.shape[2:]
        pairs = zip(before, size, strict=True)
        steps = [(n - 1) / max(m - 1, 1) if mode in (1, 4) else n / m for n, m in pairs]
        names = ("stepDepth", "stepHeight", "stepWidth")
        given = {**dict(zip(names, steps, strict=True)), "mode": mode}
        case = f"{size} {mode}"
        call("Interpolation_updateOutput", case, 16, input=VOLUMES, **sizes, **given)
        call(
            "Interpolation_updateGradInput",
            case,
            16 + crowded(VOLUMES, *size),
            4 * crowded(VOLUMES, *size),
            gradOutput=quarters(*VOLUMES.shape[:2], *size),
            **dict(zip(("inputDepth", "inputHeight", "inputWidth"), before, strict=True)),
            **given,
        )
for left, right, top, bottom in ((3, 5, 2, 7), (-2, 6, 4, -3), (18, 0, 0, 18)):
    case = f"{left} {right} {top} {bottom}"
    pads = {"padL": left, "padR": right, "padT": top, "padB": bottom}
    sampling("SpatialReflectionPadding", case, IMAGES, **pads)
    sampling("SpatialReplicationPadding", case, IMAGES, **pads)
pads = {"pleft": 3, "pright": -2, "ptop": 1, "pbottom": 4, "pfront": -1, "pback": 3}
sampling("VolumetricReplicationPadding", "", VOLUMES, **pads)
for mode in range(4):
    for sides in ((3, -2, 1, 4, -1, 3), (-1, 2, 3, -1, 4, 0), (0, 0, 2, 1, 0, 0)):
        names = ("pleft", "pright", "ptop", "pbottom", "pfront", "pback")
        pads = {**dict(zip(names, sides, strict=True)), "mode": mode}
        case = f"{mode} {sides}"
        volumes = quarters(5, 7, 11, 13)
        call("Padding_updateOutput", case, input=volumes, **pads, value=0.25)
        added = (sides[4] + sides[5], sides[2] + sides[3], sides[0] + sides[1])
        grown = [n + more for n, more in zip(volumes.shape[1:], added, strict=True)]
        call("Padding_updateGradInput", case, gradOutput=quarters(5, *grown), **pads)
for inside in (True, False):
    # Points at quarters of the way between elements, so that their shares are exact.
    reach = 4 if inside else 6
    places = RANDOM.integers(-4 * reach, 4 * reach + 1, (3, 21, 17, 2)) / 16
    points = {"input": quarters(3, 5, 9, 9), "grid": places}
    case, gradients = "inside" if inside else "outside too", quarters(3, 5, 21, 17)
    call("SpatialGridSamplerBilinear_updateOutput", case, **points)
    call("SpatialGridSamplerBilinear_updateGradInput", case, **points, gradOutput=gradients)


@pytest.mark.parametrize("real", DEVICE)
@pytest.mark.parametrize(("function", "given", "limit"), CALLS)
def test_twins(function: str, given: dict[str, Any], limit: Limit, real: str) -> None:
    compare(function, given, limit, real)

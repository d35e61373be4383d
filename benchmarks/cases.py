"""The case table: what is measured, as data.

A case is a set of named tensors and a few parts; a part is one call of ours and the same
computation in PyTorch. To add a case, add it to its family's list below; to add a family, add its
list to CASES. Names are batch x channels, spatial size, then kernel k, stride s, padding p,
adjustment a, dilation d; T marks a transposed convolution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Shape: TypeAlias = tuple[int, ...]
Peer: TypeAlias = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Normal:
    """A tensor of normally distributed values."""

    shape: Shape


@dataclass(frozen=True)
class Zeros:
    """A tensor that calls add to, or that must have its size before a call writes to it."""

    shape: Shape


@dataclass(frozen=True)
class Part:
    """One call, ours and PyTorch's.

    ``arguments`` are those after the state: a str is the name of a tensor; outputs need no entry
    in the case's ``tensors``. ``peer(torch, t)`` gets the same tensors as attributes of ``t`` and
    returns what our call writes, in the order of the arguments.
    """

    name: str
    function: str
    arguments: tuple[str | int | float | bool | None, ...]
    peer: Peer
    flops: int = 0
    """0 where moving the data is the work: the limit then is the speed of copying."""
    peer_cpp: str | None = None
    """The peer in C++, for calls so short that Python would be most of the time."""


@dataclass(frozen=True)
class Case:
    name: str
    family: str
    tensors: Mapping[str, Normal | Zeros]
    parts: tuple[Part, ...]
    arrays: bool = False
    """Pass numpy arrays where other cases pass Tensors."""
    tolerance: Mapping[str, float] = field(
        default_factory=lambda: {"float32": 2e-5, "float64": 1e-12}
    )
    """Largest error of a result, as a part of the largest value in it, by type."""


# --- Convolutions ---------------------------------------------------------------------------------


def _backward(t: Any, torch: Any, geometry: tuple[Any, ...], mask: list[bool]) -> Any:
    """aten's convolution_backward, of which oneDNN computes each result apart."""
    bias = [t.bias.shape[0]]
    results = torch.ops.aten.convolution_backward.default(
        t.gradOutput, t.input, t.weight, bias, *geometry, 1, mask
    )
    return [result for result, wanted in zip(results, mask, strict=True) if wanted]


def _convolution(
    module: str,
    name: str,
    tensors: Mapping[str, Normal | Zeros],
    forward: tuple[Any, ...],
    backward_data: tuple[Any, ...],
    backward_weight: tuple[Any, ...],
    geometry: tuple[Any, ...],
    flops: int,
) -> Case:
    """The three parts of a convolution module.

    The tuples are the arguments that follow (input, output, weight, bias), (input, gradOutput,
    gradInput, weight) and (input, gradOutput, gradWeight, gradBias); `geometry` is aten's.
    """
    parts = (
        Part(
            "output",
            f"{module}_updateOutput",
            ("input", "output", "weight", "bias", *forward),
            lambda torch, t: torch.ops.aten.convolution.default(
                t.input, t.weight, t.bias, *geometry, 1
            ),
            flops,
        ),
        Part(
            "gradInput",
            f"{module}_updateGradInput",
            ("input", "gradOutput", "gradInput", "weight", *backward_data),
            lambda torch, t: _backward(t, torch, geometry, [True, False, False]),
            flops,
        ),
        Part(
            "gradParameters",
            f"{module}_accGradParameters",
            ("input", "gradOutput", "gradWeight", "gradBias", *backward_weight, 1.0),
            lambda torch, t: _backward(t, torch, geometry, [False, True, True]),
            flops,
        ),
    )
    return Case(name, "convolution", tensors, parts)


def _tensors(input: Shape, output: Shape, weight: Shape, planes: int) -> dict[str, Normal | Zeros]:
    return {
        "input": Normal(input),
        "weight": Normal(weight),
        "bias": Normal((planes,)),
        "gradOutput": Normal(output),
        "gradWeight": Zeros(weight),
        "gradBias": Zeros((planes,)),
    }


def _suffix(**values: int) -> str:
    """k3s2p1, without what is at its default."""
    default = {"s": 1, "p": 0, "a": 0, "d": 1}
    return "".join(f"{key}{value}" for key, value in values.items() if value != default.get(key))


def convolution(
    batch: int, n_in: int, n_out: int, size: int | tuple[int, int], k: int, s: int = 1, p: int = 0
) -> Case:
    """SpatialConvolutionMM."""
    h, w = size if isinstance(size, tuple) else (size, size)
    out = tuple((n + 2 * p - k) // s + 1 for n in (h, w))
    area = f"{h}" if h == w else f"{h}x{w}"
    window = k, k, s, s, p, p
    return _convolution(
        "SpatialConvolutionMM",
        f"{batch}x{n_in}-{n_out}_{area}_{_suffix(k=k, s=s, p=p)}",
        _tensors((batch, n_in, h, w), (batch, n_out, *out), (n_out, n_in, k, k), n_out),
        (None, None, *window),
        (None, None, *window),
        (None, None, *window),
        ([s, s], [p, p], [1, 1], False, [0, 0]),
        2 * batch * n_in * n_out * math.prod(out) * k * k,
    )


def dilated(batch: int, n_in: int, n_out: int, size: int, k: int, p: int, d: int) -> Case:
    """SpatialDilatedConvolution."""
    out = size + 2 * p - d * (k - 1)
    window = k, k, 1, 1, p, p, d, d
    return _convolution(
        "SpatialDilatedConvolution",
        f"{batch}x{n_in}-{n_out}_{size}_{_suffix(k=k, p=p, d=d)}",
        _tensors((batch, n_in, size, size), (batch, n_out, out, out), (n_out, n_in, k, k), n_out),
        (None, None, *window),
        (None, *window),
        (None, None, *window),
        ([1, 1], [p, p], [d, d], False, [0, 0]),
        2 * batch * n_in * n_out * out * out * k * k,
    )


def transposed(
    batch: int, n_in: int, n_out: int, size: int, k: int, s: int = 1, p: int = 0, a: int = 0
) -> Case:
    """SpatialFullConvolution."""
    out = (size - 1) * s - 2 * p + k + a
    window = k, k, s, s, p, p, a, a
    return _convolution(
        "SpatialFullConvolution",
        f"T{batch}x{n_in}-{n_out}_{size}_{_suffix(k=k, s=s, p=p, a=a)}",
        _tensors((batch, n_in, size, size), (batch, n_out, out, out), (n_in, n_out, k, k), n_out),
        (None, None, *window),
        (None, *window),
        (None, None, *window),
        ([s, s], [p, p], [1, 1], True, [a, a]),
        2 * batch * n_in * n_out * size * size * k * k,
    )


def volumetric(
    batch: int, n_in: int, n_out: int, size: tuple[int, int, int], k: int, p: int
) -> Case:
    """VolumetricConvolutionMM."""
    out = tuple(n + 2 * p - k + 1 for n in size)
    window = k, k, k, 1, 1, 1, p, p, p
    return _convolution(
        "VolumetricConvolutionMM",
        f"3d{batch}x{n_in}-{n_out}_{'x'.join(map(str, size))}_{_suffix(k=k, p=p)}",
        _tensors((batch, n_in, *size), (batch, n_out, *out), (n_out, n_in, k, k, k), n_out),
        (None, *window),
        (None, None, *window),
        (None, *window),
        ([1] * 3, [p] * 3, [1] * 3, False, [0] * 3),
        2 * batch * n_in * n_out * math.prod(out) * k**3,
    )


CONVOLUTIONS = [
    convolution(8, 64, 64, 56, k=3, p=1),
    convolution(8, 256, 256, 14, k=3, p=1),
    convolution(8, 3, 64, 224, k=7, s=2, p=3),
    convolution(8, 256, 64, 56, k=1),
    convolution(4, 512, 512, 7, k=3, p=1),
    convolution(8, 512, 512, 7, k=3, p=1),
    convolution(4, 96, 128, 28, k=5, p=2),
    convolution(1, 64, 64, 112, k=3, p=1),
    convolution(8, 64, 64, 56, k=3, s=2, p=1),
    transposed(8, 128, 64, 28, k=4, s=2, p=1),
    transposed(4, 64, 64, 56, k=3, p=1),
    transposed(4, 96, 48, 31, k=5, s=2, p=2, a=1),
    volumetric(2, 16, 32, (16, 56, 56), k=3, p=1),
    # beyond the shapes that the kernels were tuned on
    convolution(8, 128, 128, 28, k=3, p=1),
    convolution(8, 64, 256, 56, k=1),
    convolution(8, 1024, 256, 14, k=1),
    convolution(1, 256, 256, 14, k=3, p=1),
    convolution(1, 512, 1000, 1, k=1),
    convolution(8, 64, 128, 56, k=1, s=2),
    convolution(4, 3, 32, (97, 131), k=3, s=2, p=1),
    convolution(2, 20, 24, (45, 37), k=3),
    convolution(64, 1, 6, 28, k=5),
    convolution(16, 1, 32, 34, k=5),
    convolution(16, 32, 32, 30, k=3),
    convolution(1, 3, 16, 512, k=3, p=1),
    convolution(1, 16, 3, 512, k=3, p=1),
    dilated(4, 128, 128, 28, k=3, p=2, d=2),
    transposed(16, 32, 1, 26, k=6, s=2, p=4),
    transposed(1, 256, 128, 16, k=3, s=2, p=1, a=1),
]


# --- Element by element, criteria, resampling -----------------------------------------------------


def threshold(shape: Shape) -> Case:
    return Case(
        f"Threshold_{_shape(shape)}",
        "pointwise",
        {"input": Normal(shape), "gradOutput": Normal(shape)},
        (
            Part(
                "output",
                "Threshold_updateOutput",
                ("input", "output", 0.0, 0.0, False),
                lambda torch, t: torch.ops.aten.threshold.default(t.input, 0.0, 0.0),
                peer_cpp="at::threshold(input, 0, 0)",
            ),
            Part(
                "gradInput",
                "Threshold_updateGradInput",
                ("input", "gradOutput", "gradInput", 0.0, 0.0, False),
                lambda torch, t: torch.ops.aten.threshold_backward.default(
                    t.gradOutput, t.input, 0.0
                ),
                peer_cpp="at::threshold_backward(gradOutput, input, 0)",
            ),
        ),
    )


def mean_squared_error(shape: Shape) -> Case:
    return Case(
        f"MSECriterion_{_shape(shape)}",
        "criteria",
        {"input": Normal(shape), "target": Normal(shape), "output": Zeros((1,))},
        (
            Part(
                "output",
                "MSECriterion_updateOutput",
                ("input", "target", "output", True),
                lambda torch, t: torch.ops.aten.mse_loss.default(t.input, t.target, 1),
                peer_cpp="at::mse_loss(input, target)",
            ),
            Part(
                "gradInput",
                "MSECriterion_updateGradInput",
                ("input", "target", "gradInput", True),
                lambda torch, t: torch.ops.aten.mse_loss_backward.default(
                    torch.ones((), dtype=t.input.dtype), t.input, t.target, 1
                ),
                peer_cpp="at::mse_loss_backward(at::ones({}, input.options()), input, target, 1)",
            ),
        ),
    )


def bilinear(batch: int, planes: int, size: int, output: int) -> Case:
    small, large = (batch, planes, size, size), (batch, planes, output, output)
    return Case(
        f"SpatialUpSamplingBilinear_{batch}x{planes}_{size}to{output}",
        "resampling",
        {"input": Normal(small), "gradOutput": Normal(large)},
        (
            Part(
                "output",
                "SpatialUpSamplingBilinear_updateOutput",
                ("input", "output", output, output),
                lambda torch, t: torch.ops.aten.upsample_bilinear2d.default(
                    t.input, [output, output], True, None, None
                ),
                peer_cpp=f"at::upsample_bilinear2d(input, {{{output}, {output}}}, true)",
            ),
            Part(
                "gradInput",
                "SpatialUpSamplingBilinear_updateGradInput",
                ("gradOutput", "gradInput", *small, output, output),
                lambda torch, t: torch.ops.aten.upsample_bilinear2d_backward.default(
                    t.gradOutput, [output, output], list(small), True, None, None
                ),
                peer_cpp=f"at::upsample_bilinear2d_backward(gradOutput, {{{output}, {output}}}, "
                f"{{{', '.join(map(str, small))}}}, true)",
            ),
        ),
        # places are computed in single precision, as in the original
        tolerance={"float32": 1e-4, "float64": 1e-4},
    )


def _shape(shape: Shape) -> str:
    return "x".join(map(str, shape))


POINTWISE = [threshold((32, 100)), threshold((8, 64, 56, 56)), threshold((32, 64, 112, 112))]
CRITERIA = [
    mean_squared_error((32, 100)),
    mean_squared_error((8, 64, 56, 56)),
    mean_squared_error((32, 64, 112, 112)),
]
RESAMPLING = [bilinear(1, 3, 16, 32), bilinear(8, 64, 56, 112), bilinear(1, 3, 512, 1024)]


# --- The cost of a call ---------------------------------------------------------------------------


def overhead(arrays: bool) -> Iterator[Case]:
    """Calls on so little data that nothing but the call is measured."""
    kind = "arrays" if arrays else "Tensors"
    for case in (threshold((16,)), mean_squared_error((16,))):
        name = f"{case.name.split('_')[0]}_{kind}"
        tensors = dict(case.tensors, output=Zeros(case.tensors["input"].shape))
        if "target" in case.tensors:
            tensors["output"] = Zeros((1,))
        tensors["gradInput"] = Zeros(case.tensors["input"].shape)
        yield Case(name, "overhead", tensors, case.parts, arrays)
    full = transposed(1, 1, 1, 4, k=2)
    tensors = dict(full.tensors, output=Zeros((1, 1, 5, 5)), gradInput=Zeros((1, 1, 4, 4)))
    yield Case(f"SpatialFullConvolution_{kind}", "overhead", tensors, full.parts, arrays)


OVERHEAD = [*overhead(arrays=False), *overhead(arrays=True)]

CASES: list[Case] = [*CONVOLUTIONS, *POINTWISE, *CRITERIA, *RESAMPLING, *OVERHEAD]

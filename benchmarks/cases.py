"""The case table: what is measured, as data.

A case is a set of named tensors and a few parts; a part is a call of ours and the same
computation in PyTorch. To add a case, add it to its family's list below or in layers.py; to add a
family, add its list to CASES in table.py. Names are batch x channels, spatial size, then kernel k,
stride s, padding p, adjustment a, dilation d; T marks a transposed convolution, D one that is
depthwise, G one in so many groups; p0-1 is padding before and after.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

Shape: TypeAlias = tuple[int, ...]
Argument: TypeAlias = str | int | float | bool | None
Peer: TypeAlias = Callable[[Any, Any], Any]
"""Of `torch` and `t`, whose attributes are the case's tensors."""


@dataclass(frozen=True)
class Normal:
    """A tensor of normally distributed values."""

    shape: Shape


@dataclass(frozen=True)
class Uniform:
    """A tensor of values from `low` to `high`."""

    shape: Shape
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class Indices:
    """An index tensor of whole numbers from 1 to `most`."""

    shape: Shape
    most: int


@dataclass(frozen=True)
class Labels:
    """An index tensor whose rows begin with `count` whole numbers from 1 to `most`; then zeros."""

    shape: Shape
    most: int
    count: int


@dataclass(frozen=True)
class Steps:
    """An index tensor of the numbers 1, 1 + step, 1 + 2*step and so on."""

    shape: Shape
    step: int


@dataclass(frozen=True)
class Chosen:
    """What max pooling of planes leaves: an element of each 2 x 2 window, by its number from 1."""

    shape: Shape


@dataclass(frozen=True)
class Taps:
    """What max pooling of volumes leaves: packed taps in windows of 2 x 2 x 2."""

    shape: Shape


@dataclass(frozen=True)
class Zeros:
    """A tensor that calls add to, or that must have its size before a call writes to it."""

    shape: Shape


Contents: TypeAlias = Normal | Uniform | Indices | Labels | Steps | Chosen | Taps | Zeros


@dataclass(frozen=True)
class Call:
    """One of our calls, without the state; a str is the name of a tensor."""

    function: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Part:
    """The same computation in both libraries: one call of ours, or several in turn.

    What our calls write needs no entry in the case's ``tensors``. ``peer`` returns the real tensors
    that we write, in the order of the arguments; it may leave out the last ones.
    """

    name: str
    calls: tuple[Call, ...]
    peer: Peer
    flops: int = 0
    """0 where moving the data is the work: the limit then is the speed of copying."""
    peer_cpp: str | None = None
    """The peer in C++, for calls so short that Python would be most of the time."""
    elements: int = 0
    """Elements read and written, where that is not all of the tensors."""
    function: Callable[[Any], Any] | None = None
    """Ours, where that is no call of C: of the case's arrays, as attributes; returns arrays in the
    order of the peer's tensors."""


@dataclass(frozen=True)
class Case:
    """Tensors and parts; a later part may read what an earlier one of ours wrote."""

    name: str
    family: str
    tensors: Mapping[str, Contents]
    parts: tuple[Part, ...]
    prepare: Callable[[Any, Any], dict[str, Any]] | None = None
    """More tensors for PyTorch: what its own forward pass leaves for its backward pass."""
    arrays: bool = False
    """Pass numpy arrays where other cases pass Tensors."""
    tolerance: Mapping[str, float] = field(
        default_factory=lambda: {"float32": 2e-5, "float64": 1e-12}
    )
    """Largest error of a result, as a part of the largest value in it, by type."""


def part(
    name: str,
    function: str,
    arguments: tuple[Argument, ...],
    peer: Peer,
    flops: int = 0,
    peer_cpp: str | None = None,
    elements: int = 0,
) -> Part:
    """A part of one call."""
    return Part(name, (Call(function, arguments),), peer, flops, peer_cpp, elements)


# --- Convolutions ---------------------------------------------------------------------------------


def convolution_gradients(
    t: Any, torch: Any, geometry: tuple[Any, ...], mask: list[bool], image: Any = None
) -> Any:
    """aten's convolution_backward, of which oneDNN computes each result apart.

    `image` is the input where that is not the case's.
    """
    bias = [t.bias.shape[0]]
    image = t.input if image is None else image
    results = torch.ops.aten.convolution_backward.default(
        t.gradOutput, image, t.weight, bias, *geometry, mask
    )
    return [result for result, wanted in zip(results, mask, strict=True) if wanted]


def convolution_parts(
    module: str,
    arguments: tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]],
    geometry: tuple[Any, ...],
    flops: int,
) -> tuple[Part, Part, Part]:
    """The three parts of a convolution module.

    `arguments` are those that follow (input, output, weight, bias), (input, gradOutput, gradInput,
    weight) and (input, gradOutput, gradWeight, gradBias); `geometry` is aten's, with the groups.
    """
    forward, backward_data, backward_weight = arguments
    return (
        part(
            "output",
            f"{module}_updateOutput",
            ("input", "output", "weight", "bias", *forward),
            lambda torch, t: torch.ops.aten.convolution.default(
                t.input, t.weight, t.bias, *geometry
            ),
            flops,
        ),
        part(
            "gradInput",
            f"{module}_updateGradInput",
            ("input", "gradOutput", "gradInput", "weight", *backward_data),
            lambda torch, t: convolution_gradients(t, torch, geometry, [True, False, False]),
            flops,
        ),
        part(
            "gradParameters",
            f"{module}_accGradParameters",
            ("input", "gradOutput", "gradWeight", "gradBias", *backward_weight, 1.0),
            lambda torch, t: convolution_gradients(t, torch, geometry, [False, True, True]),
            flops,
        ),
    )


def _convolution(
    module: str,
    name: str,
    tensors: Mapping[str, Contents],
    forward: tuple[Any, ...],
    backward_data: tuple[Any, ...],
    backward_weight: tuple[Any, ...],
    geometry: tuple[Any, ...],
    flops: int,
) -> Case:
    """A convolution module whose planes are all joined."""
    arguments = forward, backward_data, backward_weight
    parts = convolution_parts(module, arguments, (*geometry, 1), flops)
    return Case(name, "convolution", tensors, parts)


def _tensors(input: Shape, output: Shape, weight: Shape, planes: int) -> dict[str, Contents]:
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
    volumetric(8, 3, 16, (8, 16, 16), k=3, p=1),
    # beyond the shapes that the kernels were tuned on
    convolution(8, 128, 128, 28, k=3, p=1),
    convolution(8, 64, 256, 56, k=1),
    convolution(8, 1024, 256, 14, k=1),
    convolution(1, 256, 256, 14, k=3, p=1),
    convolution(1, 512, 1000, 1, k=1),
    convolution(8, 64, 128, 56, k=1, s=2),
    convolution(4, 3, 32, (97, 131), k=3, s=2, p=1),
    convolution(2, 20, 24, (45, 37), k=3),
    convolution(8, 256, 512, 56, k=1, s=2),
    convolution(64, 1, 6, 28, k=5),
    convolution(128, 1, 32, 28, k=3, p=1),
    convolution(64, 3, 64, 32, k=4, s=2, p=1),
    convolution(256, 8, 16, 6, k=3, p=1),
    convolution(16, 1, 32, 34, k=5),
    convolution(16, 32, 32, 30, k=3),
    convolution(1, 3, 16, 512, k=3, p=1),
    convolution(1, 16, 3, 512, k=3, p=1),
    convolution(1, 64, 3, 256, k=7, p=3),
    convolution(128, 16, 16, 16, k=7, p=3),
    dilated(4, 128, 128, 28, k=3, p=2, d=2),
    dilated(1, 512, 512, 32, k=3, p=4, d=4),
    dilated(1, 256, 256, 33, k=3, p=12, d=12),
    dilated(2, 32, 32, 128, k=3, p=8, d=8),
    transposed(16, 32, 1, 26, k=6, s=2, p=4),
    transposed(1, 256, 128, 16, k=3, s=2, p=1, a=1),
]


# --- Element by element ---------------------------------------------------------------------------


def pointwise(
    module: str,
    shape: Shape,
    forward: tuple[Argument, ...],
    backward: tuple[Argument, ...],
    peer_forward: Peer,
    peer_backward: Peer,
    cpp: tuple[str, str] | None = None,
    contents: Contents | None = None,
) -> Case:
    """A module without parameters.

    `forward` are the arguments after (input, output), `backward` those after (input, gradOutput,
    gradInput); among the latter, and in `peer_backward`, `output` is each side's own.
    """
    forward_cpp, backward_cpp = cpp or (None, None)
    return Case(
        f"{module}_{_shape(shape)}",
        "pointwise",
        {"input": contents or Normal(shape), "gradOutput": Normal(shape)},
        (
            part(
                "output",
                f"{module}_updateOutput",
                ("input", "output", *forward),
                peer_forward,
                peer_cpp=forward_cpp,
            ),
            part(
                "gradInput",
                f"{module}_updateGradInput",
                ("input", "gradOutput", "gradInput", *backward),
                peer_backward,
                peer_cpp=backward_cpp,
                elements=3 * math.prod(shape),  # of input and output it reads one
            ),
        ),
        prepare=lambda torch, t: {"output": peer_forward(torch, t)},
    )


def threshold(shape: Shape) -> Case:
    return pointwise(
        "Threshold",
        shape,
        (0.0, 0.0, False),
        (0.0, 0.0, False),
        lambda torch, t: torch.ops.aten.threshold.default(t.input, 0.0, 0.0),
        lambda torch, t: torch.ops.aten.threshold_backward.default(t.gradOutput, t.input, 0.0),
        ("at::threshold(input, 0, 0)", "at::threshold_backward(gradOutput, input, 0)"),
    )


def leaky_relu(shape: Shape) -> Case:
    return pointwise(
        "LeakyReLU",
        shape,
        (0.01, False),
        (0.01, False),
        lambda torch, t: torch.ops.aten.leaky_relu.default(t.input, 0.01),
        lambda torch, t: torch.ops.aten.leaky_relu_backward.default(
            t.gradOutput, t.input, 0.01, False
        ),
        (
            "at::leaky_relu(input, 0.01)",
            "at::leaky_relu_backward(gradOutput, input, 0.01, false)",
        ),
    )


def elu(shape: Shape) -> Case:
    return pointwise(
        "ELU",
        shape,
        (1.0, False),
        ("output", 1.0, False),
        lambda torch, t: torch.ops.aten.elu.default(t.input),
        lambda torch, t: torch.ops.aten.elu_backward.default(t.gradOutput, 1, 1, 1, True, t.output),
        ("at::elu(input)", "at::elu_backward(gradOutput, 1, 1, 1, true, output)"),
    )


def sigmoid(shape: Shape) -> Case:
    return pointwise(
        "Sigmoid",
        shape,
        (),
        ("output",),
        lambda torch, t: torch.ops.aten.sigmoid.default(t.input),
        lambda torch, t: torch.ops.aten.sigmoid_backward.default(t.gradOutput, t.output),
        ("at::sigmoid(input)", "at::sigmoid_backward(gradOutput, output)"),
    )


def tanh(shape: Shape) -> Case:
    return pointwise(
        "Tanh",
        shape,
        (),
        ("output",),
        lambda torch, t: torch.ops.aten.tanh.default(t.input),
        lambda torch, t: torch.ops.aten.tanh_backward.default(t.gradOutput, t.output),
        ("at::tanh(input)", "at::tanh_backward(gradOutput, output)"),
    )


def softplus(shape: Shape) -> Case:
    return pointwise(
        "SoftPlus",
        shape,
        (1.0, 20.0),
        ("output", 1.0, 20.0),
        lambda torch, t: torch.ops.aten.softplus.default(t.input),
        lambda torch, t: torch.ops.aten.softplus_backward.default(t.gradOutput, t.input, 1, 20),
        ("at::softplus(input)", "at::softplus_backward(gradOutput, input, 1, 20)"),
    )


def log_sigmoid(shape: Shape) -> Case:
    case = pointwise(
        "LogSigmoid",
        shape,
        (None,),
        (None,),
        lambda torch, t: torch.ops.aten.log_sigmoid_forward.default(t.input)[0],
        lambda torch, t: torch.ops.aten.log_sigmoid_backward.default(
            t.gradOutput, t.input, t.buffer
        ),
    )
    return replace(
        case,
        prepare=lambda torch, t: {"buffer": torch.ops.aten.log_sigmoid_forward.default(t.input)[1]},
    )


def hard_tanh(shape: Shape) -> Case:
    return pointwise(
        "HardTanh",
        shape,
        (-1.0, 1.0, False),
        (-1.0, 1.0, False),
        lambda torch, t: torch.ops.aten.hardtanh.default(t.input, -1, 1),
        lambda torch, t: torch.ops.aten.hardtanh_backward.default(t.gradOutput, t.input, -1, 1),
    )


def soft_shrink(shape: Shape) -> Case:
    return pointwise(
        "SoftShrink",
        shape,
        (0.5,),
        (0.5,),
        lambda torch, t: torch.ops.aten.softshrink.default(t.input, 0.5),
        lambda torch, t: torch.ops.aten.softshrink_backward.default(t.gradOutput, t.input, 0.5),
    )


def hard_shrink(shape: Shape) -> Case:
    return pointwise(
        "HardShrink",
        shape,
        (0.5,),
        (0.5,),
        lambda torch, t: torch.ops.aten.hardshrink.default(t.input, 0.5),
        lambda torch, t: torch.ops.aten.hardshrink_backward.default(t.gradOutput, t.input, 0.5),
    )


def absolute(shape: Shape) -> Case:
    return pointwise(
        "Abs",
        shape,
        (),
        (),
        lambda torch, t: torch.ops.aten.abs.default(t.input),
        lambda _, t: t.gradOutput * t.input.sgn(),
    )


def gelu(shape: Shape) -> Case:
    return pointwise(
        "GELU",
        shape,
        (),
        (),
        lambda torch, t: torch.ops.aten.gelu.default(t.input),
        lambda torch, t: torch.ops.aten.gelu_backward.default(t.gradOutput, t.input),
    )


def square(shape: Shape) -> Case:
    return pointwise(
        "Square",
        shape,
        (),
        (),
        lambda _, t: t.input * t.input,
        lambda _, t: t.gradOutput * (2 * t.input),
    )


def square_root(shape: Shape) -> Case:
    return pointwise(
        "Sqrt",
        shape,
        (0.0,),
        ("output",),
        lambda torch, t: torch.ops.aten.sqrt.default(t.input),
        lambda _, t: t.gradOutput / (2 * t.output),
        contents=Uniform(shape, 0.1, 2.0),
    )


def prelu(shape: Shape) -> Case:
    """One weight per plane; PyTorch computes both gradients at once."""
    planes = shape[1]
    added = ("gradWeight", None, None, planes, 1.0)

    def backward(torch: Any, t: Any) -> Any:
        weight = t.weight.view(1, -1, *[1] * (len(shape) - 2))
        grad_input, grads = torch.ops.aten._prelu_kernel_backward.default(
            t.gradOutput, t.input, weight
        )
        return grad_input, grads.sum([0, *range(2, len(shape))])

    return Case(
        f"PReLU_{_shape(shape)}",
        "pointwise",
        {
            "input": Normal(shape),
            "gradOutput": Normal(shape),
            "weight": Uniform((planes,)),
            "gradWeight": Zeros((planes,)),
        },
        (
            part(
                "output",
                "PReLU_updateOutput",
                ("input", "output", "weight", planes),
                lambda torch, t: torch.prelu(t.input, t.weight),
            ),
            Part(
                "gradients",
                (
                    Call(
                        "PReLU_updateGradInput",
                        ("input", "gradOutput", "gradInput", "weight", planes),
                    ),
                    Call(
                        "PReLU_accGradParameters",
                        ("input", "gradOutput", None, "weight", *added),
                    ),
                ),
                backward,
            ),
        ),
    )


def _shape(shape: Shape) -> str:
    return "x".join(map(str, shape))


SMALL, MEDIUM, LARGE = (32, 100), (8, 64, 56, 56), (32, 64, 112, 112)

POINTWISE = [
    *(threshold(shape) for shape in (SMALL, MEDIUM, LARGE)),
    *(leaky_relu(shape) for shape in (SMALL, MEDIUM)),
    *(elu(shape) for shape in (SMALL, MEDIUM)),
    *(sigmoid(shape) for shape in (SMALL, MEDIUM)),
    *(tanh(shape) for shape in (SMALL, MEDIUM, LARGE)),
    *(softplus(shape) for shape in (SMALL, MEDIUM)),
    log_sigmoid(MEDIUM),
    hard_tanh(MEDIUM),
    soft_shrink(MEDIUM),
    hard_shrink(MEDIUM),
    absolute(MEDIUM),
    square(MEDIUM),
    gelu(MEDIUM),
    square_root(MEDIUM),
    prelu(MEDIUM),
]


# --- Softmax, normalisation -----------------------------------------------------------------------


def softmax(shape: Shape, module: str = "SoftMax") -> Case:
    """Over dimension 1; also LogSoftMax."""
    aten = {"SoftMax": "_softmax", "LogSoftMax": "_log_softmax"}[module]

    def forward(torch: Any, t: Any) -> Any:
        return getattr(torch.ops.aten, aten).default(t.input, 1, False)

    def backward(torch: Any, t: Any) -> Any:
        function = getattr(torch.ops.aten, f"{aten}_backward_data").default
        return function(t.gradOutput, t.output, 1, t.input.dtype)

    return replace(
        pointwise(module, shape, (), ("output",), forward, backward),
        family="softmax",
    )


SOFTMAX = [
    softmax((128, 1000)),
    softmax((8, 10)),
    softmax(MEDIUM),
    softmax((128, 1000), "LogSoftMax"),
    softmax((8, 10), "LogSoftMax"),
    softmax(MEDIUM, "LogSoftMax"),
]


def batch_normalization(shape: Shape) -> Case:
    """In training."""
    planes = (shape[1],)

    def forward(torch: Any, t: Any) -> Any:
        return torch.ops.aten.native_batch_norm.default(
            t.input, t.weight, t.bias, t.mean, t.variance, True, 0.1, 1e-5
        )

    def backward(torch: Any, t: Any, mask: list[bool]) -> Any:
        results = torch.ops.aten.native_batch_norm_backward.default(
            t.gradOutput, t.input, t.weight, t.mean, t.variance, *t.saved, True, 1e-5, mask
        )
        return [result for result, wanted in zip(results, mask, strict=True) if wanted]

    statistics = ("mean", "variance", "saveMean", "saveStd", True)
    saved = ("weight", *statistics)
    return Case(
        f"BatchNormalization_{_shape(shape)}",
        "normalisation",
        {
            "input": Normal(shape),
            "gradOutput": Normal(shape),
            "weight": Normal(planes),
            "bias": Normal(planes),
            "mean": Zeros(planes),
            "variance": Uniform(planes),
            "saveMean": Zeros(planes),
            "saveStd": Zeros(planes),
            "gradWeight": Zeros(planes),
            "gradBias": Zeros(planes),
        },
        (
            part(
                "output",
                "BatchNormalization_updateOutput",
                ("input", "output", "weight", "bias", *statistics, 0.1, 1e-5),
                lambda torch, t: forward(torch, t)[:1],
            ),
            part(
                "gradInput",
                "BatchNormalization_backward",
                ("input", "gradOutput", "gradInput", None, None, *saved, 1.0, 1e-5),
                lambda torch, t: backward(torch, t, [True, False, False]),
            ),
            part(
                "gradients",
                "BatchNormalization_backward",
                ("input", "gradOutput", "gradInput", "gradWeight", "gradBias", *saved, 1.0, 1e-5),
                lambda torch, t: backward(torch, t, [True, True, True]),
            ),
        ),
        prepare=lambda torch, t: {"saved": forward(torch, t)[1:]},
    )


NORMALISATION = [batch_normalization(MEDIUM), batch_normalization((64, 128))]


# --- Criteria -------------------------------------------------------------------------------------


def criterion(
    module: str,
    shape: Shape,
    peer_forward: Peer,
    peer_backward: Peer,
    cpp: tuple[str, str] | None = None,
    input: Contents | None = None,
    target: Contents | None = None,
    more: tuple[Argument, ...] = (),
) -> Case:
    """A criterion that averages; `peer_backward` finds a gradient of 1 in ``t.one``."""
    forward_cpp, backward_cpp = cpp or (None, None)
    return Case(
        f"{module}_{_shape(shape)}",
        "criteria",
        {
            "input": input or Normal(shape),
            "target": target or Normal(shape),
            "output": Zeros((1,)),
        },
        (
            part(
                "output",
                f"{module}_updateOutput",
                ("input", "target", "output", True, *more),
                peer_forward,
                peer_cpp=forward_cpp,
            ),
            part(
                "gradInput",
                f"{module}_updateGradInput",
                ("input", "target", "gradInput", True, *more),
                peer_backward,
                peer_cpp=backward_cpp,
            ),
        ),
        prepare=lambda torch, t: {"one": torch.ones((), dtype=t.input.dtype)},
    )


def mean_squared_error(shape: Shape) -> Case:
    return criterion(
        "MSECriterion",
        shape,
        lambda torch, t: torch.ops.aten.mse_loss.default(t.input, t.target, 1),
        lambda torch, t: torch.ops.aten.mse_loss_backward.default(t.one, t.input, t.target, 1),
        (
            "at::mse_loss(input, target)",
            "at::mse_loss_backward(at::ones({}, input.options()), input, target, 1)",
        ),
    )


def smooth_l1(shape: Shape) -> Case:
    return criterion(
        "SmoothL1Criterion",
        shape,
        lambda torch, t: torch.ops.aten.smooth_l1_loss.default(t.input, t.target, 1, 1.0),
        lambda torch, t: torch.ops.aten.smooth_l1_loss_backward.default(
            t.one, t.input, t.target, 1, 1.0
        ),
    )


def binary_cross_entropy(shape: Shape) -> Case:
    case = criterion(
        "BCECriterion",
        shape,
        lambda torch, t: torch.ops.aten.binary_cross_entropy.default(t.input, t.target, None, 1),
        lambda torch, t: torch.ops.aten.binary_cross_entropy_backward.default(
            t.one, t.input, t.target, None, 1
        ),
        input=Uniform(shape, 0.05, 0.95),
        target=Uniform(shape),
        more=(None,),
    )
    # ours adds 1e-12 to the argument of the logarithm, as the original does
    return replace(case, tolerance={"float32": 2e-5, "float64": 1e-9})


def soft_margin(shape: Shape) -> Case:
    return criterion(
        "SoftMarginCriterion",
        shape,
        lambda torch, t: torch.ops.aten.soft_margin_loss.default(t.input, t.target, 1),
        lambda torch, t: torch.ops.aten.soft_margin_loss_backward.default(
            t.one, t.input, t.target, 1
        ),
    )


def class_nll(batch: int, classes: int) -> Case:
    """Ours writes the targets' elements only; PyTorch also clears the others."""
    rest = ("totalWeight", -100)
    return Case(
        f"ClassNLLCriterion_{batch}x{classes}",
        "criteria",
        {
            "input": Normal((batch, classes)),
            "target": Indices((batch,), classes),
            "output": Zeros((1,)),
            "totalWeight": Zeros((1,)),
            "gradInput": Zeros((batch, classes)),
        },
        (
            part(
                "output",
                "ClassNLLCriterion_updateOutput",
                ("input", "target", "output", True, None, *rest),
                lambda torch, t: torch.ops.aten.nll_loss_forward.default(
                    t.input, t.zeroBased, None, 1, -100
                )[0],
                elements=2 * batch,
            ),
            part(
                "gradInput",
                "ClassNLLCriterion_updateGradInput",
                ("input", "target", "gradInput", True, None, *rest),
                lambda torch, t: torch.ops.aten.nll_loss_backward.default(
                    t.one, t.input, t.zeroBased, None, 1, -100, t.weightSum
                ),
                elements=2 * batch,
            ),
        ),
        prepare=lambda torch, t: {
            "one": torch.ones((), dtype=t.input.dtype),
            "zeroBased": t.target - 1,
            "weightSum": torch.tensor(float(batch), dtype=t.input.dtype),
        },
    )


CRITERIA = [
    *(mean_squared_error(shape) for shape in (SMALL, MEDIUM, LARGE)),
    smooth_l1(MEDIUM),
    binary_cross_entropy(MEDIUM),
    soft_margin(MEDIUM),
    class_nll(128, 1000),
]


# --- Products and tables --------------------------------------------------------------------------


def linear(batch: int, n_in: int, n_out: int) -> Case:
    flops = 2 * batch * n_in * n_out
    gradients = ("gradWeight", "gradBias")
    return Case(
        f"Linear_{batch}x{n_in}x{n_out}",
        "products",
        {
            "input": Normal((batch, n_in)),
            "weight": Normal((n_out, n_in)),
            "bias": Normal((n_out,)),
            "gradOutput": Normal((batch, n_out)),
            "gradWeight": Zeros((n_out, n_in)),
            "gradBias": Zeros((n_out,)),
        },
        (
            part(
                "output",
                "Linear_updateOutput",
                ("input", "output", "weight", "bias", None),
                lambda torch, t: torch.ops.aten.addmm.default(t.bias, t.input, t.weight.t()),
                flops,
            ),
            part(
                "gradInput",
                "Linear_updateGradInput",
                ("input", "gradOutput", "gradInput", "weight"),
                lambda _, t: t.gradOutput @ t.weight,
                flops,
            ),
            part(
                "gradParameters",
                "Linear_accGradParameters",
                ("input", "gradOutput", None, "weight", "bias", *gradients, None, 1.0),
                lambda _, t: (t.gradOutput.t() @ t.input, t.gradOutput.sum(0)),
                flops,
            ),
        ),
    )


def lookup_table(words: int, width: int, batch: int) -> Case:
    """Ours adds to the gradient; PyTorch writes a new one."""
    return Case(
        f"LookupTable_{words}x{width}_{batch}",
        "tables",
        {
            "input": Indices((batch,), words),
            "gradOutput": Normal((batch, width)),
            "gradWeight": Zeros((words, width)),
        },
        (
            part(
                "gradWeight",
                "LookupTable_accGradParameters",
                ("input", "gradOutput", "gradWeight", None, None, None, False, 0, 1.0),
                lambda torch, t: torch.ops.aten.embedding_dense_backward.default(
                    t.gradOutput, t.zeroBased, words, -1, False
                ),
                elements=3 * batch * width,
            ),
        ),
        prepare=lambda _, t: {"zeroBased": t.input - 1},
    )


def unfolding(planes: int, size: int, k: int, p: int) -> Case:
    """One image into columns and back: the functions without a state."""
    out = size + 2 * p - k + 1
    columns = planes * k * k * out * out
    geometry = (k, k, 1, 1, p, p, planes, size, size, out, out)
    return Case(
        f"unfolded_{planes}_{size}_{_suffix(k=k, p=p)}",
        "tables",
        {
            "input": Normal((1, planes, size, size)),
            "finput": Zeros((1, planes * k * k, out * out)),
            "gradColumns": Normal((1, planes * k * k, out * out)),
            "gradInput": Zeros((1, planes, size, size)),
        },
        (
            part(
                "columns",
                "unfolded_copy",
                ("finput", "input", *geometry),
                lambda torch, t: torch.nn.functional.unfold(t.input, k, padding=p),
                elements=columns + planes * size * size,
            ),
            part(
                "gradInput",
                "unfolded_acc",
                ("gradColumns", "gradInput", *geometry),
                lambda torch, t: torch.nn.functional.fold(
                    t.gradColumns, (size, size), k, padding=p
                ),
                elements=columns + 2 * planes * size * size,
            ),
        ),
    )


PRODUCTS = [
    linear(1, 512, 1000),
    linear(2, 1024, 1000),
    linear(8, 1024, 1000),
    linear(32, 1024, 1000),
    linear(128, 1024, 1000),
    linear(64, 84, 10),
    linear(16, 4096, 4096),
]
TABLES = [lookup_table(10000, 256, 4096), unfolding(64, 56, k=3, p=1)]


# --- Pooling --------------------------------------------------------------------------------------


def pooling(
    name: str,
    input: Shape,
    output: Shape,
    forward: Call,
    backward: Call,
    peer_forward: Peer,
    peer_backward: Peer,
    prepare: Callable[[Any, Any], dict[str, Any]] | None = None,
) -> Case:
    return Case(
        name,
        "pooling",
        {"input": Normal(input), "gradOutput": Normal(output)},
        (
            Part("output", (forward,), peer_forward),
            Part("gradInput", (backward,), peer_backward),
        ),
        prepare,
    )


def max_pooling(batch: int, planes: int, size: int, k: int, s: int, p: int) -> Case:
    out = (size + 2 * p - k) // s + 1
    window = (k, k, s, s, p, p, False)

    def forward(torch: Any, t: Any) -> Any:
        return torch.ops.aten.max_pool2d_with_indices.default(t.input, [k, k], [s, s], [p, p])

    return pooling(
        f"SpatialMaxPooling_{batch}x{planes}_{size}_{_suffix(k=k, s=s, p=p)}",
        (batch, planes, size, size),
        (batch, planes, out, out),
        Call("SpatialMaxPooling_updateOutput", ("input", "output", "indices", *window)),
        Call(
            "SpatialMaxPooling_updateGradInput",
            ("input", "gradOutput", "gradInput", "indices", *window),
        ),
        lambda torch, t: forward(torch, t)[0],
        lambda torch, t: torch.ops.aten.max_pool2d_with_indices_backward.default(
            t.gradOutput, t.input, [k, k], [s, s], [p, p], [1, 1], False, t.indices
        ),
        lambda torch, t: {"indices": forward(torch, t)[1]},
    )


def average_pooling(batch: int, planes: int, size: int, k: int, s: int, p: int) -> Case:
    out = (size + 2 * p - k) // s + 1
    window = (k, k, s, s, p, p, False, True)
    peer_window = ([k, k], [s, s], [p, p], False, True, None)
    return pooling(
        f"SpatialAveragePooling_{batch}x{planes}_{size}_{_suffix(k=k, s=s, p=p)}",
        (batch, planes, size, size),
        (batch, planes, out, out),
        Call("SpatialAveragePooling_updateOutput", ("input", "output", *window)),
        Call(
            "SpatialAveragePooling_updateGradInput",
            ("input", "gradOutput", "gradInput", *window),
        ),
        lambda torch, t: torch.ops.aten.avg_pool2d.default(t.input, *peer_window),
        lambda torch, t: torch.ops.aten.avg_pool2d_backward.default(
            t.gradOutput, t.input, *peer_window
        ),
    )


def adaptive_max_pooling(batch: int, planes: int, size: int, out: int) -> Case:
    def forward(torch: Any, t: Any) -> Any:
        return torch.ops.aten.adaptive_max_pool2d.default(t.input, [out, out])

    return pooling(
        f"SpatialAdaptiveMaxPooling_{batch}x{planes}_{size}to{out}",
        (batch, planes, size, size),
        (batch, planes, out, out),
        Call("SpatialAdaptiveMaxPooling_updateOutput", ("input", "output", "indices", out, out)),
        Call(
            "SpatialAdaptiveMaxPooling_updateGradInput",
            ("input", "gradOutput", "gradInput", "indices"),
        ),
        lambda torch, t: forward(torch, t)[0],
        lambda torch, t: torch.ops.aten.adaptive_max_pool2d_backward.default(
            t.gradOutput, t.input, t.indices
        ),
        lambda torch, t: {"indices": forward(torch, t)[1]},
    )


POOLING = [
    max_pooling(8, 64, 112, k=3, s=2, p=1),
    max_pooling(8, 64, 112, k=2, s=2, p=0),
    average_pooling(8, 64, 112, k=3, s=2, p=1),
    adaptive_max_pooling(8, 64, 56, 7),
]


# --- Resampling, padding --------------------------------------------------------------------------


def bilinear(batch: int, planes: int, size: int, output: int) -> Case:
    small, large = (batch, planes, size, size), (batch, planes, output, output)
    sizes, small_sizes = f"{{{output}, {output}}}", f"{{{', '.join(map(str, small))}}}"
    return Case(
        f"SpatialUpSamplingBilinear_{batch}x{planes}_{size}to{output}",
        "resampling",
        {"input": Normal(small), "gradOutput": Normal(large)},
        (
            part(
                "output",
                "SpatialUpSamplingBilinear_updateOutput",
                ("input", "output", output, output),
                lambda torch, t: torch.ops.aten.upsample_bilinear2d.default(
                    t.input, [output, output], True, None, None
                ),
                peer_cpp=f"at::upsample_bilinear2d(input, {sizes}, true)",
            ),
            part(
                "gradInput",
                "SpatialUpSamplingBilinear_updateGradInput",
                ("gradOutput", "gradInput", *small, output, output),
                lambda torch, t: torch.ops.aten.upsample_bilinear2d_backward.default(
                    t.gradOutput, [output, output], list(small), True, None, None
                ),
                peer_cpp="at::upsample_bilinear2d_backward"
                f"(gradOutput, {sizes}, {small_sizes}, true)",
            ),
        ),
        # places are computed in single precision, as in the original
        tolerance={"float32": 1e-4, "float64": 1e-4},
    )


def nearest(batch: int, planes: int, size: int, scale: int) -> Case:
    small = (batch, planes, size, size)
    large = (batch, planes, scale * size, scale * size)
    return Case(
        f"SpatialUpSamplingNearest_{batch}x{planes}_{size}to{scale * size}",
        "resampling",
        {"input": Normal(small), "gradOutput": Normal(large)},
        (
            part(
                "output",
                "SpatialUpSamplingNearest_updateOutput",
                ("input", "output", scale),
                lambda torch, t: torch.ops.aten.upsample_nearest2d.default(
                    t.input, list(large[2:]), None, None
                ),
            ),
            part(
                "gradInput",
                "SpatialUpSamplingNearest_updateGradInput",
                ("input", "gradOutput", "gradInput", scale),
                lambda torch, t: torch.ops.aten.upsample_nearest2d_backward.default(
                    t.gradOutput, list(large[2:]), list(small), None, None
                ),
            ),
        ),
    )


def reflection_padding(batch: int, planes: int, size: int, p: int) -> Case:
    large = (batch, planes, size + 2 * p, size + 2 * p)
    return Case(
        f"SpatialReflectionPadding_{batch}x{planes}_{size}_p{p}",
        "resampling",
        {"input": Normal((batch, planes, size, size)), "gradOutput": Normal(large)},
        (
            part(
                "output",
                "SpatialReflectionPadding_updateOutput",
                ("input", "output", p, p, p, p),
                lambda torch, t: torch.ops.aten.reflection_pad2d.default(t.input, [p] * 4),
            ),
            part(
                "gradInput",
                "SpatialReflectionPadding_updateGradInput",
                ("input", "gradOutput", "gradInput", p, p, p, p),
                lambda torch, t: torch.ops.aten.reflection_pad2d_backward.default(
                    t.gradOutput, t.input, [p] * 4
                ),
            ),
        ),
    )


def grid_sampler(batch: int, planes: int, size: int) -> Case:
    shape = (batch, planes, size, size)
    return Case(
        f"SpatialGridSamplerBilinear_{batch}x{planes}_{size}",
        "resampling",
        {
            "input": Normal(shape),
            "grid": Uniform((batch, size, size, 2), -1.0, 1.0),
            "gradOutput": Normal(shape),
        },
        (
            part(
                "output",
                "SpatialGridSamplerBilinear_updateOutput",
                ("input", "grid", "output"),
                lambda torch, t: torch.ops.aten.grid_sampler_2d.default(
                    t.input, t.grid, 0, 0, True
                ),
            ),
            part(
                "gradients",
                "SpatialGridSamplerBilinear_updateGradInput",
                ("input", "gradInput", "grid", "gradGrid", "gradOutput"),
                lambda torch, t: torch.ops.aten.grid_sampler_2d_backward.default(
                    t.gradOutput, t.input, t.grid, 0, 0, True, [True, True]
                ),
            ),
        ),
        tolerance={"float32": 1e-4, "float64": 1e-11},
    )


RESAMPLING = [
    bilinear(1, 3, 16, 32),
    bilinear(8, 64, 56, 112),
    bilinear(1, 3, 512, 1024),
    nearest(8, 64, 56, 2),
    reflection_padding(8, 64, 56, 2),
    grid_sampler(8, 64, 56),
]


# --- The cost of a call ---------------------------------------------------------------------------


def overhead(arrays: bool) -> Iterator[Case]:
    """Calls on so little data that nothing but the call is measured."""
    kind = "arrays" if arrays else "Tensors"
    for case in (threshold((16,)), mean_squared_error((16,))):
        name = f"{case.name.split('_')[0]}_{kind}"
        tensors: dict[str, Contents] = dict(case.tensors, output=Zeros(case.tensors["input"].shape))
        if "target" in case.tensors:
            tensors["output"] = Zeros((1,))
        tensors["gradInput"] = Zeros(case.tensors["input"].shape)
        yield replace(case, name=name, family="overhead", tensors=tensors, arrays=arrays)
    full = transposed(1, 1, 1, 4, k=2)
    tensors = dict(full.tensors, output=Zeros((1, 1, 5, 5)), gradInput=Zeros((1, 1, 4, 4)))
    name = f"SpatialFullConvolution_{kind}"
    yield replace(full, name=name, family="overhead", tensors=tensors, arrays=arrays)


OVERHEAD = [*overhead(arrays=False), *overhead(arrays=True)]
